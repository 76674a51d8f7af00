#include "emu/jit/quick/selection.h"
#include "emu/jit/row_table.h"

enum { VEX_F3 = 2, VEX_F2 = 3 }; /* x86_vex(): scalar single and double precision */

static unsigned scalar(const struct micro *micro)
{
    return micro->bits == 32 ? VEX_F3 : VEX_F2;
}

/* Returns a floating-point value as the second source of an operation: a register or memory. */
static struct place float_place(struct selection *s, struct value value)
{
    if (value.kind == IN_XMM || (value.kind == PLACED && value.at.memory))
        return value.at;
    unsigned reg = value_register(s, value), xmm = scratch_xmm(s);
    x86_op(&s->q->code, 0x66, 0x0f6e, true, xmm, in_register(reg));
    return in_register(xmm);
}

static unsigned float_register(struct selection *s, struct value value)
{
    struct place place = float_place(s, value);
    if (!place.memory)
        return place.reg;
    unsigned xmm = scratch_xmm(s);
    quick_load_float(s->q, xmm, place);
    return xmm;
}

static void set_float(struct selection *s, unsigned xmm)
{
    value_set(s, (struct value){.kind = IN_XMM, .at = in_register(xmm), .bits = 64});
}

void float_compute(struct selection *s, const struct micro *micro)
{
    static const uint8_t opcodes[] = {
        [MICRO_FADD] = 0x58, [MICRO_FSUB] = 0x5c, [MICRO_FMUL] = 0x59, [MICRO_FDIV] = 0x5e};
    struct code *code = &s->q->code;
    struct value a = value_operand(s, micro, 0), b = value_operand(s, micro, 1);
    if (micro->operation == MICRO_FSQRT) {
        unsigned from = float_register(s, a), to = scratch_xmm(s);
        x86_vex(code, 1, scalar(micro), 0x51, false, to, from, in_register(from));
        set_float(s, to);
        return;
    }
    unsigned first = float_register(s, a);
    struct place second = float_place(s, b);
    unsigned to = scratch_xmm(s);
    if (micro->operation == MICRO_FMA) {
        unsigned factor = second.memory ? float_register(s, b) : second.reg;
        struct place addend = float_place(s, value_operand(s, micro, 2));
        x86_vex(code, 1, 0, 0x28, false, to, 0, in_register(first));      /* vmovaps */
        x86_vex(code, 2, 1, 0xa9, micro->bits == 64, to, factor, addend); /* vfmadd213sd, vfmadd213ss */
    } else {
        x86_vex(code, 1, scalar(micro), opcodes[micro->operation], false, to, first, second);
    }
    set_float(s, to);
}

/* Sets all bits of a register. */
static void fill(struct selection *s, unsigned xmm)
{
    x86_vex(&s->q->code, 1, 1, 0x76, false, xmm, xmm, in_register(xmm)); /* vpcmpeqd */
}

void float_from_integer(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct place from = value_place(s, value_operand(s, micro, 0));
    unsigned to = scratch_xmm(s);
    if (micro->extra)
        fill(s, to);
    else
        x86_vex(code, 1, 0, 0x57, false, to, to,
                in_register(to)); /* vxorps: the result depends on no older value */
    x86_vex(code, 1, micro->extra ? VEX_F3 : VEX_F2, 0x2a, micro->bits == 64, to, to, from);
    set_float(s, to);
}

void float_truncate(struct selection *s, const struct micro *micro)
{
    const unsigned from = float_register(s, value_operand(s, micro, 0));
    const unsigned to = s->target != NO_REGISTER ? s->target : scratch_any(s);
    x86_vex(&s->q->code, 1, VEX_F2, 0x2c, true, to, 0, in_register(from)); /* vcvttsd2si */
    value_set(s, value_in_scratch(to, 64));
}

void float_convert(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    const bool narrow = micro->operation == MICRO_NARROW;
    const unsigned from = float_register(s, value_operand(s, micro, 0)), to = scratch_xmm(s);
    if (narrow)
        fill(s, to);
    else
        x86_vex(code, 1, 0, 0x57, false, to, to, in_register(to));
    x86_vex(code, 1, narrow ? VEX_F2 : VEX_F3, 0x5a, false, to, to,
            in_register(from)); /* vcvtsd2ss, vcvtss2sd */
    set_float(s, to);
}

void float_boxed(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    const struct insn *insn = s->insn;
    const uint8_t registers[] = {insn->rs1, insn->rs2, insn->rs3};
    const unsigned r = registers[micro->operand[0] - ROW_FRS1];
    struct value value = value_operand(s, micro, 0);
    if (s->q->boxed >> r & 1)
        return;
    if (value.kind == PLACED && value.at.memory) {
        value.at.displacement += 4;
        x86_arithmetic_constant(code, X86_CMP, false, value.at, -1);
    } else {
        const unsigned reg = scratch_any(s);
        value_load(s, value, reg);
        x86_shift(code, X86_SHR, true, reg, 32);
        x86_arithmetic_constant(code, X86_CMP, false, in_register(reg), -1);
    }
    value_call_if(s, X86_NE);
}

void float_call_unless(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    const unsigned a = float_register(s, value_operand(s, micro, 0)), bound = scratch_xmm(s),
                   reg = scratch_any(s);
    const bool greater = micro->extra == MICRO_UGT;
    x86_constant(code, reg, (uint64_t)micro->operand[1]);
    x86_op(code, 0x66, 0x0f6e, true, bound, in_register(reg));
    x86_vex(code, 1, 1, 0x2f, false, greater ? a : bound, 0, in_register(greater ? bound : a)); /* vcomisd */
    value_call_if(s, X86_BE);
}

void float_compare(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    unsigned first = float_register(s, value_operand(s, micro, 0));
    struct place second = float_place(s, value_operand(s, micro, 1));
    if (micro->operation == MICRO_FMASK) {
        unsigned to = scratch_xmm(s);
        x86_vex(code, 1, scalar(micro), 0xc2, false, to, first, second);
        x86_byte(code, micro->extra);
        set_float(s, to);
        return;
    }
    unsigned reg = scratch_any(s), to = s->target != NO_REGISTER ? s->target : reg;
    x86_vex(code, 1, micro->bits == 64, 0x2f, false, first, 0, second); /* vcomisd, vcomiss */
    x86_op8(code, 0x0f90U | integer_conditions[micro->extra], 0, in_register(reg));
    x86_op8(code, 0x0fb6, to, in_register(reg));
    value_set(s, value_in_scratch(to, 64));
}
void float_number(struct selection *s, const struct micro *micro)
{
    unsigned xmm = float_register(s, value_operand(s, micro, 0));
    x86_vex(&s->q->code, 1, micro->bits == 64, 0x2e, false, xmm, 0,
            in_register(xmm)); /* vucomisd, vucomiss */
    value_call_if(s, X86_P);
}

void float_write(struct selection *s, struct value result)
{
    struct quick *q = s->q;
    unsigned rd = s->insn->rd, home = q->float_home[rd];
    if (home == NO_REGISTER && result.kind == IN_XMM)
        quick_store_float(q, quick_f(rd), result.at.reg);
    else if (home == NO_REGISTER)
        x86_store(&q->code, quick_f(rd), value_register(s, result));
    else if (result.kind != IN_XMM)
        x86_op(&q->code, 0x66, 0x0f6e, true, home, in_register(value_register(s, result)));
    else if (result.at.reg != home)
        x86_vex(&q->code, 1, 0, 0x28, false, home, 0, result.at); /* vmovaps */
}
