#include "emu/hart/hart.h"
#include "emu/jit/quick/selection.h"

bool value_fits(uint64_t value)
{
    return (int64_t)value == (int32_t)value;
}

uint64_t value_truncated(uint64_t value, unsigned bits)
{
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

uint64_t value_extended(uint64_t value, unsigned bits)
{
    return (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
}

static uint32_t place_registers(struct place place)
{
    uint32_t set = UINT32_C(1) << place.reg;
    if (place.memory && place.index != NO_REGISTER)
        set |= UINT32_C(1) << place.index;
    return set & SCRATCH_REGISTERS;
}

uint32_t scratch_held(const struct selection *s, uint32_t after)
{
    uint32_t set = 0;
    for (uint32_t i = 1; i < MICRO_FIRST + s->current; i++) {
        const struct value *value = &s->values[i];
        if (value->last > after && value->kind >= PLACED && value->kind != COMPARED && value->kind != IN_XMM)
            set |= place_registers(value->at);
    }
    return set;
}

unsigned scratch_take(struct selection *s, uint32_t among)
{
    uint32_t free = among & SCRATCH_REGISTERS & ~s->taken;
    if (!free) {
        s->failed = true;
        return RAX;
    }
    unsigned reg = (unsigned)__builtin_ctz(free);
    s->taken |= UINT32_C(1) << reg;
    return reg;
}

unsigned scratch_any(struct selection *s)
{
    uint32_t others = 1U << RAX | 1U << RDX;
    return scratch_take(s, others & ~s->taken ? others : SCRATCH_REGISTERS);
}

/* Returns a floating-point register: each of a row's few values has another one. */
unsigned scratch_xmm(struct selection *s)
{
    s->failed |= s->xmms == XMM_SCRATCH;
    return s->xmms++ % XMM_SCRATCH;
}

struct value value_operand(const struct selection *s, const struct micro *micro, unsigned i)
{
    if (micro->constants >> i & 1)
        return (struct value){.kind = CONSTANT, .constant = (uint64_t)micro->operand[i], .bits = 64};
    return s->values[micro->operand[i]];
}

struct value value_in_scratch(unsigned reg, unsigned bits)
{
    return (struct value){.kind = PLACED, .at = in_register(reg), .bits = (uint8_t)bits};
}

/* Emits the computation of a masked value. */
static void emit_mask(struct selection *s, unsigned to, struct place from, uint64_t mask)
{
    struct code *code = &s->q->code;
    if (mask == 0xff || mask == 0xffff) {
        if (mask == 0xff)
            x86_op8(code, 0x0fb6, to, from);
        else
            x86_op(code, 0, 0x0fb7, false, to, from);
    } else if (mask == UINT32_MAX) {
        x86_op(code, 0, 0x8b, false, to, from);
    } else if (value_fits(mask)) {
        x86_load(code, to, from);
        x86_arithmetic_constant(code, X86_AND, true, in_register(to), (int32_t)mask);
    } else if (from.memory || from.reg != to) {
        x86_constant(code, to, mask);
        x86_arithmetic(code, X86_AND, true, to, from);
    } else {
        unsigned other = scratch_any(s);
        x86_constant(code, other, mask);
        x86_arithmetic(code, X86_AND, true, to, in_register(other));
    }
}

static void emit_sum(struct selection *s, unsigned to, struct place from, uint64_t addend)
{
    struct code *code = &s->q->code;
    if (from.memory || from.reg == to) {
        x86_load(code, to, from);
        x86_arithmetic_constant(code, X86_ADD, true, in_register(to), (int32_t)addend);
    } else {
        x86_lea(code, to, in_memory(from.reg, (int32_t)addend));
    }
}

void value_load(struct selection *s, struct value value, unsigned to)
{
    struct code *code = &s->q->code;
    switch (value.kind) {
    case CONSTANT: x86_constant(code, to, value.constant); break;
    case PLACED: x86_load(code, to, value.at); break;
    case SUM: emit_sum(s, to, value.at, value.constant); break;
    case MASKED: emit_mask(s, to, value.at, value.constant); break;
    case SHIFTED:
        x86_load(code, to, value.at);
        x86_shift(code, X86_SHL, true, to, (unsigned)value.constant);
        break;
    case IN_XMM: x86_op(code, 0x66, 0x0f7e, true, value.at.reg, in_register(to)); break;
    default: s->failed = true;
    }
}

struct place value_place(struct selection *s, struct value value)
{
    if (value.kind == PLACED)
        return value.at;
    unsigned reg = scratch_any(s);
    value_load(s, value, reg);
    return in_register(reg);
}

unsigned value_register(struct selection *s, struct value value)
{
    struct place place = value_place(s, value);
    if (!place.memory)
        return place.reg;
    unsigned reg = scratch_any(s);
    x86_load(&s->q->code, reg, place);
    return reg;
}

unsigned value_result_register(struct selection *s, struct value operand_)
{
    if (s->target != NO_REGISTER)
        return s->target;
    if (operand_.kind >= PLACED && operand_.kind != COMPARED && operand_.kind != IN_XMM &&
        !operand_.at.memory) {
        uint32_t bit = place_registers(operand_.at);
        if (bit && !(bit & scratch_held(s, s->current)))
            return operand_.at.reg;
    }
    return scratch_any(s);
}

void value_set(struct selection *s, struct value value)
{
    struct value *result = &s->values[MICRO_FIRST + s->current];
    value.last = result->last;
    *result = value;
}
uint8_t value_target(const struct selection *s, uint32_t i)
{
    const struct format_info *format = &format_table[insn_table[s->insn->id].format];
    const struct micro *last = &s->micros[s->count - 1];
    if (i + 2 != s->count || format->rd != ROLE_X || !s->insn->rd || (last->constants & 1) ||
        last->operand[0] != MICRO_FIRST + (int64_t)i)
        return NO_REGISTER;
    struct place place = quick_x(s->q, s->insn->rd);
    return place.memory ? NO_REGISTER : place.reg;
}

void value_call_if(struct selection *s, enum x86_condition condition)
{
    struct open_jump *jump = quick_jump(s->q, x86_jump_if(&s->q->code, condition));
    jump->kind = TO_SIDE;
    jump->side = SIDE_CALL;
    jump->insn = *s->site;
}
