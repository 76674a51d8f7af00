#include "emu/hart/fp/flags.h"

#include "emu/hart/fp.h"
#include "emu/hart/hart.h"
#include "isa/csr.h"

enum { ALL_FLAGS = FP_NX | FP_UF | FP_OF | FP_DZ | FP_NV, FRM_SHIFT = 5 };

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

#define NV(host)      ((host)&MXCSR_IE ? FP_NV : 0)
#define DZ(host)      ((host)&MXCSR_ZE ? FP_DZ : 0)
#define OF(host)      ((host)&MXCSR_OE ? FP_OF : 0)
#define UF(host)      ((host)&MXCSR_UE ? FP_UF : 0)
#define NX(host)      ((host)&MXCSR_PE ? FP_NX : 0)
#define ONE(host)     NV(host) | DZ(host) | OF(host) | UF(host) | NX(host)
#define FOUR(host)    ONE(host), ONE((host) + 1), ONE((host) + 2), ONE((host) + 3)
#define SIXTEEN(host) FOUR(host), FOUR((host) + 4), FOUR((host) + 8), FOUR((host) + 12)
const uint8_t flags_of_host[64] = {SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)};

uint64_t flags_access(struct hart *hart, unsigned number, enum flags_operation operation, uint64_t operand,
                      bool writes)
{
    const uint32_t host = _mm_getcsr();
    const uint64_t flags = hart->fflags | flags_of_host[host & 63];
    if (writes) {
        const uint64_t value = operation == FLAGS_SWAP  ? operand
                               : operation == FLAGS_SET ? flags | operand
                                                        : flags & ~operand;
        hart->fflags = value & ALL_FLAGS;
        _mm_setcsr(host & ~63U);
    }
    return number == CSR_fflags ? flags
           : number == CSR_frm  ? hart->frm
                                : (uint64_t)hart->frm << FRM_SHIFT | flags;
}
