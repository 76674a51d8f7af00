#include "emu/hart/fp/flags.h"

#include "emu/hart/fp.h"
#include "emu/hart/hart.h"
#include "isa/csr.h"

bool flags_accesses(const struct insn *insn)
{
    const unsigned number = (unsigned)insn->imm & 0xfff;
    if (insn_table[insn->id].iclass != CLASS_CSR)
        return false;
    return number == CSR_fflags || ((number == CSR_frm || number == CSR_fcsr) && !flags_writes(insn));
}

bool flags_writes(const struct insn *insn)
{
    return insn->id == INSN_csrrw || insn->id == INSN_csrrwi || insn->rs1 != 0;
}

#define FOUR(host)                                                                                           \
    FP_FLAGS_OF(host), FP_FLAGS_OF((host) + 1), FP_FLAGS_OF((host) + 2), FP_FLAGS_OF((host) + 3)
#define SIXTEEN(host) FOUR(host), FOUR((host) + 4), FOUR((host) + 8), FOUR((host) + 12)
const uint8_t flags_of_host[MXCSR_EXCEPTIONS + 1] = {SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)};

uint64_t flags_access(struct hart *hart, unsigned number, enum flags_operation operation, uint64_t operand,
                      bool writes)
{
    const uint32_t host = _mm_getcsr();
    const uint64_t flags = hart->fflags | flags_of_host[host & MXCSR_EXCEPTIONS];
    if (writes) {
        const uint64_t value = operation == FLAGS_SWAP  ? operand
                               : operation == FLAGS_SET ? flags | operand
                                                        : flags & ~operand;
        hart->fflags = value & FCSR_FLAGS;
        _mm_setcsr(host & ~(uint32_t)MXCSR_EXCEPTIONS);
    }
    return number == CSR_fflags ? flags
           : number == CSR_frm  ? hart->frm
                                : (uint64_t)hart->frm << FCSR_FRM_SHIFT | flags;
}
