/* CSR instructions that access the floating-point flags. */
#include "emu/hart/fp/flags.h"

#include <stddef.h>

#include "emu/hart/fp.h"
#include "emu/hart/hart.h"
#include "emu/jit/quick/state.h"
#include "isa/csr.h"

static void load_byte(struct code *code, unsigned to, struct place from)
{
    x86_op8(code, 0x0fb6, to, from);
}

static void or_to(struct code *code, unsigned to, unsigned from)
{
    x86_arithmetic(code, X86_OR, false, to, in_register(from));
}

/* Loads what the instruction reads into RAX; MXCSR is in `host`. */
static void emit_read(struct code *code, unsigned number, struct place host)
{
    if (number == CSR_frm) {
        load_byte(code, RAX, quick_field(offsetof(struct hart, frm)));
        return;
    }
    x86_op(code, 0, 0x8b, false, RAX, host);
    x86_arithmetic_constant(code, X86_AND, false, in_register(RAX), MXCSR_EXCEPTIONS);
    x86_constant(code, RCX, (uint64_t)(uintptr_t)flags_of_host);
    load_byte(code, RAX, indexed(RCX, RAX, 0, 0));
    load_byte(code, RCX, quick_field(offsetof(struct hart, fflags)));
    or_to(code, RAX, RCX);
    if (number == CSR_fcsr) {
        load_byte(code, RCX, quick_field(offsetof(struct hart, frm)));
        x86_shift(code, X86_SHL, false, RCX, FCSR_FRM_SHIFT);
        or_to(code, RAX, RCX);
    }
}

/* Writes fflags, whose old value is in RAX: the operand is in RDX. The host's flags are cleared. */
static void emit_write(struct code *code, enum insn_id id, struct place host)
{
    if (id == INSN_csrrs || id == INSN_csrrsi) {
        or_to(code, RDX, RAX);
    } else if (id == INSN_csrrc || id == INSN_csrrci) {
        x86_op(code, 0, 0xf7, false, 2, in_register(RDX)); /* not */
        x86_arithmetic(code, X86_AND, false, RDX, in_register(RAX));
    }
    x86_arithmetic_constant(code, X86_AND, false, in_register(RDX), FCSR_FLAGS);
    x86_op8(code, 0x88, RDX, quick_field(offsetof(struct hart, fflags)));
    x86_arithmetic_constant(code, X86_AND, false, host, ~MXCSR_EXCEPTIONS);
    x86_op(code, 0, 0x0fae, false, 2, host); /* ldmxcsr */
}

void quick_flags(struct quick *q, const struct insn *insn)
{
    struct code *code = &q->code;
    const struct place host = quick_field(offsetof(struct hart, x) + 8 * (size_t)HART_SINK);
    x86_op(code, 0, 0x0fae, false, 3, host); /* stmxcsr */
    emit_read(code, (unsigned)insn->imm & 0xfff, host);
    if (flags_writes(insn)) {
        if (insn_table[insn->id].format == FORMAT_CSRI || insn->rs1 == 0)
            x86_constant(code, RDX, insn->rs1);
        else
            x86_load(code, RDX, quick_x(q, insn->rs1));
        emit_write(code, insn->id, host);
    }
    if (insn->rd) {
        x86_store(code, quick_x(q, insn->rd), RAX);
        quick_note_write(q, insn->rd);
    }
}
