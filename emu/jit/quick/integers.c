#include "emu/jit/quick/selection.h"

static uint64_t folded(const struct micro *micro, uint64_t a, uint64_t b)
{
    unsigned bits = micro->bits, count = (unsigned)b & (bits - 1);
    uint64_t narrow = value_truncated(a, bits);
    switch ((enum micro_operation)micro->operation) {
    case MICRO_ADD: return a + b;
    case MICRO_SUB: return a - b;
    case MICRO_MUL: return a * b;
    case MICRO_AND: return a & b;
    case MICRO_OR: return a | b;
    case MICRO_XOR: return a ^ b;
    case MICRO_SHL: return narrow << count;
    case MICRO_LSHR: return narrow >> count;
    default: return (uint64_t)((int64_t)value_extended(a, bits) >> count);
    }
}

static bool same_register(struct place place, unsigned reg)
{
    return !place.memory && place.reg == reg;
}

/* Emits to = a OP b for an operation of two operands. */
static void emit_binary(struct selection *s, const struct micro *micro, struct value a, struct value b)
{
    static const uint8_t arithmetic[] = {[MICRO_ADD] = X86_ADD,
                                         [MICRO_SUB] = X86_SUB,
                                         [MICRO_AND] = X86_AND,
                                         [MICRO_OR] = X86_OR,
                                         [MICRO_XOR] = X86_XOR};
    struct code *code = &s->q->code;
    bool wide = micro->bits == 64, multiplies = micro->operation == MICRO_MUL;
    bool small = b.kind == CONSTANT && (value_fits(b.constant) || !wide);
    struct place from = small ? in_register(RAX) : value_place(s, b);
    unsigned to = value_result_register(s, a), wanted = to;
    if (!small && same_register(from, to) && !(a.kind == PLACED && same_register(a.at, to)))
        to = scratch_any(s);
    if (multiplies && small) {
        struct place factor = value_place(s, a);
        x86_op(code, 0, 0x69, wide, to, factor);
        x86_word(code, (uint32_t)b.constant);
    } else {
        value_load(s, a, to);
        if (multiplies)
            x86_op(code, 0, 0x0faf, wide, to, from);
        else if (small)
            x86_arithmetic_constant(code, arithmetic[micro->operation], wide, in_register(to),
                                    (int32_t)b.constant);
        else
            x86_arithmetic(code, arithmetic[micro->operation], wide, to, from);
    }
    if (s->target != NO_REGISTER)
        x86_move(code, wanted, to);
    else
        wanted = to;
    value_set(s, value_in_scratch(wanted, micro->bits));
}

/* Adds two registers, or a shifted one and another, by LEA. */
static bool emit_lea(struct selection *s, struct value a, struct value b)
{
    if (b.kind == SHIFTED) {
        struct value other = a;
        a = b;
        b = other;
    }
    bool shifted = a.kind == SHIFTED && a.constant <= 3;
    if ((!shifted && (a.kind != PLACED || a.at.memory)) || (b.kind == SHIFTED) ||
        (!shifted && (b.kind != PLACED || b.at.memory)))
        return false;
    struct value unshifted = {.kind = PLACED, .at = a.at};
    unsigned index = value_register(s, unshifted), base = value_register(s, b);
    unsigned to = value_result_register(s, b);
    x86_lea(&s->q->code, to, indexed(base, index, shifted ? (unsigned)a.constant : 0, 0));
    value_set(s, value_in_scratch(to, 64));
    return true;
}

static bool is_commutative(const struct micro *micro)
{
    return micro->operation != MICRO_SUB;
}

/* Returns whether the operation on a value and a constant can wait until it is used. */
static bool defer(struct selection *s, const struct micro *micro, struct value a, struct value b)
{
    if (b.kind != CONSTANT || micro->bits != 64)
        return false;
    bool adds = micro->operation == MICRO_ADD, subtracts = micro->operation == MICRO_SUB;
    uint64_t addend = adds ? b.constant : 0 - b.constant;
    if (a.kind == PLACED && (adds || subtracts) && addend == 0) {
        value_set(s, a);
        return true;
    }
    if ((adds || subtracts) && a.kind == SUM && value_fits(a.constant + addend)) {
        a.constant += addend;
    } else if (a.kind == PLACED && (adds || subtracts) && value_fits(addend)) {
        a.kind = SUM;
        a.constant = addend;
    } else if (a.kind == PLACED && micro->operation == MICRO_AND) {
        a.kind = MASKED;
        a.constant = b.constant;
    } else {
        return false;
    }
    a.bits = 64;
    value_set(s, a);
    return true;
}

void integer_binary(struct selection *s, const struct micro *micro)
{
    struct value a = value_operand(s, micro, 0), b = value_operand(s, micro, 1);
    if (a.kind == CONSTANT && b.kind == CONSTANT) {
        value_set(s, (struct value){.kind = CONSTANT,
                                    .constant = folded(micro, a.constant, b.constant),
                                    .bits = micro->bits});
        return;
    }
    if (is_commutative(micro) && (a.kind == CONSTANT || (b.kind == PLACED && s->target != NO_REGISTER &&
                                                         same_register(b.at, s->target)))) {
        struct value other = a;
        a = b;
        b = other;
    }
    if (defer(s, micro, a, b) || (micro->operation == MICRO_ADD && micro->bits == 64 && emit_lea(s, a, b)))
        return;
    emit_binary(s, micro, a, b);
}

void integer_extend(struct selection *s, struct place from, unsigned bits, bool sign, struct value dying)
{
    struct code *code = &s->q->code;
    unsigned to = value_result_register(s, dying);
    if (bits == 32)
        x86_op(code, 0, sign ? 0x63 : 0x8b, sign, to, from);
    else if (bits == 16)
        x86_op(code, 0, sign ? 0x0fbf : 0x0fb7, sign, to, from);
    else if (bits == 8 && sign)
        x86_op(code, 0, 0x0fbe, true, to, from);
    else if (bits == 8)
        x86_op8(code, 0x0fb6, to, from);
    else
        s->failed = true;
    value_set(s, value_in_scratch(to, 64));
}

/* Returns whether the next micro-operation extends this one's result. */
static bool is_extended_next(const struct selection *s)
{
    const struct micro *next = &s->micros[s->current + 1];
    return s->current + 1 < s->count && next->operation == MICRO_SEXT && !(next->constants & 1) &&
           next->operand[0] == MICRO_FIRST + (int64_t)s->current;
}

void integer_shift(struct selection *s, const struct micro *micro)
{
    static const uint8_t pp[] = {[MICRO_SHL] = 1, [MICRO_LSHR] = 3, [MICRO_ASHR] = 2};
    static const uint8_t shifts[] = {[MICRO_SHL] = X86_SHL, [MICRO_LSHR] = X86_SHR, [MICRO_ASHR] = X86_SAR};
    struct code *code = &s->q->code;
    struct value a = value_operand(s, micro, 0), b = value_operand(s, micro, 1);
    bool wide = micro->bits == 64;
    unsigned mask = micro->bits - 1U;
    if (a.kind == CONSTANT && b.kind == CONSTANT) {
        value_set(s, (struct value){.kind = CONSTANT,
                                    .constant = folded(micro, a.constant, b.constant),
                                    .bits = micro->bits});
    } else if (b.kind == CONSTANT && wide && micro->operation == MICRO_SHL) {
        struct place from = value_place(s, a);
        value_set(s, (struct value){.kind = SHIFTED, .at = from, .constant = b.constant & mask, .bits = 64});
    } else if (b.kind == CONSTANT && micro->operation == MICRO_ASHR && a.kind == SHIFTED &&
               a.constant == b.constant && (a.constant == 32 || a.constant == 48 || a.constant == 56)) {
        integer_extend(s, a.at, 64 - (unsigned)a.constant, true, a);
    } else if (b.kind == CONSTANT) {
        unsigned count = (unsigned)b.constant & mask;
        bool positive = !wide && count && micro->operation == MICRO_LSHR;
        if (positive && s->target == NO_REGISTER && is_extended_next(s))
            s->target = value_target(s, s->current + 1);
        unsigned to = value_result_register(s, a);
        if (positive && a.kind == PLACED)
            x86_op(code, 0, 0x8b, false, to, a.at);
        else
            value_load(s, a, to);
        x86_shift(code, shifts[micro->operation], wide, to, count);
        struct value result = value_in_scratch(to, micro->bits);
        result.positive = positive;
        value_set(s, result);
    } else {
        bool masked = b.kind == MASKED && b.constant == mask;
        struct value plain = {.kind = PLACED, .at = b.at};
        unsigned count = value_register(s, masked ? plain : b);
        struct place from = value_place(s, a);
        unsigned to = value_result_register(s, a);
        x86_vex(code, 2, pp[micro->operation], 0xf7, wide, to, count, from);
        value_set(s, value_in_scratch(to, micro->bits));
    }
}

void integer_rotate(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value a = value_operand(s, micro, 0), count = value_operand(s, micro, 2);
    bool wide = micro->bits == 64, left = micro->operation == MICRO_FSHL;
    if (micro->operand[0] != micro->operand[1] || (micro->constants & 3)) {
        s->failed = true;
        return;
    }
    if (count.kind == CONSTANT) {
        unsigned bits = (unsigned)(left ? 0 - count.constant : count.constant) & (micro->bits - 1U);
        struct place from = value_place(s, a);
        unsigned to = value_result_register(s, a);
        x86_vex(code, 3, 3, 0xf0, wide, to, 0, from);
        x86_byte(code, bits);
        value_set(s, value_in_scratch(to, micro->bits));
        return;
    }
    unsigned rcx = scratch_take(s, 1U << RCX), to = scratch_any(s);
    value_load(s, count, rcx);
    value_load(s, a, to);
    x86_op(code, 0, 0xd3, wide, left ? X86_ROL : X86_ROR, in_register(to));
    value_set(s, value_in_scratch(to, micro->bits));
}

void integer_count(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value a = value_operand(s, micro, 0);
    bool wide = micro->bits == 64;
    struct place from = value_place(s, a);
    unsigned to = value_result_register(s, a);
    if (micro->operation == MICRO_BSWAP) {
        x86_load(code, to, from);
        x86_byte(code, 0x48 | to >> 3);
        x86_byte(code, 0x0f);
        x86_byte(code, 0xc8 | (to & 7));
        s->failed |= !wide;
    } else {
        unsigned opcode = micro->operation == MICRO_CTLZ   ? 0x0fbd
                          : micro->operation == MICRO_CTTZ ? 0x0fbc
                                                           : 0x0fb8;
        x86_op(code, 0xf3, opcode, wide, to, from);
    }
    value_set(s, value_in_scratch(to, micro->bits));
}

/* The high half of a product: RDX times a place. */
void integer_high(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value a = value_operand(s, micro, 0), b = value_operand(s, micro, 1);
    unsigned rdx = scratch_take(s, 1U << RDX);
    struct place from;
    if (micro->extra) {
        unsigned rax = scratch_take(s, 1U << RAX);
        from = value_place(s, b);
        value_load(s, a, rax);
        x86_op(code, 0, 0xf7, true, 5, from);
        value_set(s, value_in_scratch(rdx, 64));
        return;
    }
    from = value_place(s, b);
    value_load(s, a, rdx);
    unsigned to = s->target != NO_REGISTER ? s->target : scratch_any(s);
    x86_vex(code, 2, 3, 0xf6, true, to, to, from);
    value_set(s, value_in_scratch(to, 64));
}

/* Divides RDX and RAX; checks of the divisor come before. */
void integer_divide(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    bool wide = micro->bits == 64, sign = micro->operation == MICRO_SDIV || micro->operation == MICRO_SREM;
    unsigned rax = scratch_take(s, 1U << RAX), rdx = scratch_take(s, 1U << RDX);
    struct place divisor = value_place(s, value_operand(s, micro, 1));
    value_load(s, value_operand(s, micro, 0), rax);
    if (sign && wide)
        x86_byte(code, 0x48);
    if (sign)
        x86_byte(code, 0x99); /* cqo, cdq */
    else
        x86_constant(code, rdx, 0);
    x86_op(code, 0, 0xf7, wide, sign ? 7 : 6, divisor);
    bool quotient = micro->operation == MICRO_UDIV || micro->operation == MICRO_SDIV;
    value_set(s, value_in_scratch(quotient ? rax : rdx, micro->bits));
}

const enum x86_condition integer_conditions[] = {
    [MICRO_EQ] = X86_E,  [MICRO_NE] = X86_NE,  [MICRO_ULT] = X86_B, [MICRO_ULE] = X86_BE,
    [MICRO_UGT] = X86_A, [MICRO_UGE] = X86_AE, [MICRO_SLT] = X86_L, [MICRO_SLE] = X86_LE,
    [MICRO_SGT] = X86_G, [MICRO_SGE] = X86_GE,
};
static const uint8_t swapped[] = {
    [MICRO_EQ] = MICRO_EQ,   [MICRO_NE] = MICRO_NE,   [MICRO_ULT] = MICRO_UGT, [MICRO_ULE] = MICRO_UGE,
    [MICRO_UGT] = MICRO_ULT, [MICRO_UGE] = MICRO_ULE, [MICRO_SLT] = MICRO_SGT, [MICRO_SLE] = MICRO_SGE,
    [MICRO_SGT] = MICRO_SLT, [MICRO_SGE] = MICRO_SLE,
};

enum x86_condition integer_compare(struct selection *s, struct value value)
{
    struct code *code = &s->q->code;
    if (value.kind != COMPARED) {
        s->failed = true;
        return X86_E;
    }
    const struct micro *micro = value.micro;
    struct value a = value_operand(s, micro, 0), b = value_operand(s, micro, 1);
    unsigned predicate = micro->extra;
    bool wide = micro->bits == 64;
    s->failed |= micro->bits < 32;
    if (a.kind == CONSTANT) {
        struct value other = a;
        a = b;
        b = other;
        predicate = swapped[predicate];
    }
    struct place first = value_place(s, a);
    if (b.kind == CONSTANT && (value_fits(b.constant) || !wide)) {
        if (b.constant == 0 && !first.memory)
            x86_op(code, 0, 0x85, wide, first.reg, first);
        else
            x86_arithmetic_constant(code, X86_CMP, wide, first, (int32_t)b.constant);
    } else {
        struct place second = value_place(s, b);
        if (first.memory && !second.memory) {
            x86_op(code, 0, 0x39, wide, second.reg, first);
        } else {
            unsigned reg = value_register(s, (struct value){.kind = PLACED, .at = first});
            x86_arithmetic(code, X86_CMP, wide, reg, second);
        }
    }
    return integer_conditions[predicate];
}

void integer_convert(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value a = value_operand(s, micro, 0);
    bool sign = micro->operation == MICRO_SEXT;
    if (a.positive && micro->bits == 32) {
        a.bits = 64;
        a.positive = false;
        value_set(s, a);
    } else if (a.kind == CONSTANT) {
        uint64_t value =
            sign ? value_extended(a.constant, micro->bits) : value_truncated(a.constant, micro->bits);
        value_set(s, (struct value){.kind = CONSTANT, .constant = value, .bits = 64});
    } else if (a.kind == COMPARED) {
        enum x86_condition condition = integer_compare(s, a);
        unsigned reg = scratch_any(s), to = s->target != NO_REGISTER ? s->target : reg;
        s->failed |= sign;
        x86_op8(code, 0x0f90U | condition, 0, in_register(reg));
        x86_op8(code, 0x0fb6, to, in_register(reg));
        value_set(s, value_in_scratch(to, 64));
    } else {
        struct place from = value_place(s, a);
        integer_extend(s, from, micro->bits, sign, a);
    }
}

void integer_truncate(struct selection *s, const struct micro *micro)
{
    struct value a = value_operand(s, micro, 0);
    s->failed |= micro->bits < 8;
    if (a.kind != CONSTANT && a.kind != PLACED) {
        unsigned to = scratch_any(s);
        value_load(s, a, to);
        a = value_in_scratch(to, micro->bits);
    }
    a.bits = micro->bits;
    value_set(s, a);
}

void integer_choose(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value condition = value_operand(s, micro, 0), a = value_operand(s, micro, 1),
                 b = value_operand(s, micro, 2);
    unsigned to = scratch_any(s);
    value_load(s, b, to);
    struct place from = value_place(s, a);
    enum x86_condition holds = integer_compare(s, condition);
    x86_op(code, 0, 0x0f40U | holds, micro->bits == 64, to, from);
    s->failed |= micro->bits < 32;
    value_set(s, value_in_scratch(to, micro->bits));
}
