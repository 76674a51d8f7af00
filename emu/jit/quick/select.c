#include <stddef.h>
#include <string.h>

#include "emu/hart/hart.h"
#include "emu/jit/quick/micro.h"
#include "emu/jit/quick/state.h"
#include "emu/jit/row_table.h"

/* A value of a row. All but those in scratch registers are computed where they are used, because guest registers do not change before the
 * row's end. */
enum value_kind {
    NO_VALUE,
    CONSTANT, /* constant */
    PLACED,   /* in `at` */
    SUM,      /* at + constant */
    MASKED,   /* at & constant */
    SHIFTED,  /* at << constant */
    COMPARED, /* the comparison `micro` */
    ADDRESS,  /* the memory at `at` */
    IN_XMM,   /* in the floating-point register at.reg */
};

struct value {
    enum value_kind kind;
    struct place at;
    uint64_t constant;
    const struct micro *micro;
    uint8_t bits;
    bool positive; /* of 32 bits: the register has it extended, by zeros and by its sign */
    uint8_t last;  /* number of the micro-operation that uses it last */
};

enum { XMM_SCRATCH = 6 }; /* floating-point registers 0 to 5 hold values within a row */
enum { VEX_F2 = 3 };      /* x86_vex(): scalar double precision */

struct selection {
    struct quick *q;
    const struct insn *insn;
    const struct micro *micros;
    uint32_t count, current;
    struct value values[MICRO_FIRST + MICRO_MOST];
    uint32_t taken, kept; /* scratch registers of the current micro-operation, and of the row's outcome */
    uint8_t target; /* the host register for the result of the current micro-operation; NO_REGISTER: any */
    unsigned xmms;  /* in use */
    const struct block_insn *site;
    bool failed;
    bool checked; /* the access is in bounds */
    struct outcome *outcome;
};

static bool fits(uint64_t value)
{
    return (int64_t)value == (int32_t)value;
}

static uint64_t truncated(uint64_t value, unsigned bits)
{
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static uint64_t extended(uint64_t value, unsigned bits)
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

/* Returns the scratch registers that values hold after micro-operation `after`. */
static uint32_t held(const struct selection *s, uint32_t after)
{
    uint32_t set = 0;
    for (uint32_t i = 1; i < MICRO_FIRST + s->current; i++) {
        const struct value *value = &s->values[i];
        if (value->last > after && value->kind >= PLACED && value->kind != COMPARED && value->kind != IN_XMM)
            set |= place_registers(value->at);
    }
    return set;
}

static unsigned take(struct selection *s, uint32_t among)
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

/* Returns a scratch register: not RCX, which shifts need, if there is another. */
static unsigned scratch(struct selection *s)
{
    uint32_t others = 1U << RAX | 1U << RDX;
    return take(s, others & ~s->taken ? others : SCRATCH_REGISTERS);
}

/* Returns a floating-point register: each of a row's few values has another one. */
static unsigned take_xmm(struct selection *s)
{
    s->failed |= s->xmms == XMM_SCRATCH;
    return s->xmms++ % XMM_SCRATCH;
}

static struct value operand(const struct selection *s, const struct micro *micro, unsigned i)
{
    if (micro->constants >> i & 1)
        return (struct value){.kind = CONSTANT, .constant = (uint64_t)micro->operand[i], .bits = 64};
    return s->values[micro->operand[i]];
}

static struct value in_scratch(unsigned reg, unsigned bits)
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
    } else if (fits(mask)) {
        x86_load(code, to, from);
        x86_arithmetic_constant(code, X86_AND, true, in_register(to), (int32_t)mask);
    } else if (from.memory || from.reg != to) {
        x86_constant(code, to, mask);
        x86_arithmetic(code, X86_AND, true, to, from);
    } else {
        unsigned other = scratch(s);
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

/* Computes a value into a register. */
static void materialize(struct selection *s, struct value value, unsigned to)
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

/* Returns a place with the value: a register or memory. */
static struct place place_of(struct selection *s, struct value value)
{
    if (value.kind == PLACED)
        return value.at;
    unsigned reg = scratch(s);
    materialize(s, value, reg);
    return in_register(reg);
}

static unsigned register_of(struct selection *s, struct value value)
{
    struct place place = place_of(s, value);
    if (!place.memory)
        return place.reg;
    unsigned reg = scratch(s);
    x86_load(&s->q->code, reg, place);
    return reg;
}

/* Returns the register for a result: the wanted one, one of an operand that is not used any more, or a new one. */
static unsigned result_register(struct selection *s, struct value operand_)
{
    if (s->target != NO_REGISTER)
        return s->target;
    if (operand_.kind >= PLACED && operand_.kind != COMPARED && operand_.kind != IN_XMM &&
        !operand_.at.memory) {
        uint32_t bit = place_registers(operand_.at);
        if (bit && !(bit & held(s, s->current)))
            return operand_.at.reg;
    }
    return scratch(s);
}

static void set_result(struct selection *s, struct value value)
{
    struct value *result = &s->values[MICRO_FIRST + s->current];
    value.last = result->last;
    *result = value;
}

static uint64_t folded(const struct micro *micro, uint64_t a, uint64_t b)
{
    unsigned bits = micro->bits, count = (unsigned)b & (bits - 1);
    uint64_t narrow = truncated(a, bits);
    switch ((enum micro_operation)micro->operation) {
    case MICRO_ADD: return a + b;
    case MICRO_SUB: return a - b;
    case MICRO_MUL: return a * b;
    case MICRO_AND: return a & b;
    case MICRO_OR: return a | b;
    case MICRO_XOR: return a ^ b;
    case MICRO_SHL: return narrow << count;
    case MICRO_LSHR: return narrow >> count;
    default: return (uint64_t)((int64_t)extended(a, bits) >> count);
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
    bool small = b.kind == CONSTANT && (fits(b.constant) || !wide);
    struct place from = small ? in_register(RAX) : place_of(s, b);
    unsigned to = result_register(s, a), wanted = to;
    if (!small && same_register(from, to) && !(a.kind == PLACED && same_register(a.at, to)))
        to = scratch(s);
    if (multiplies && small) {
        struct place factor = place_of(s, a);
        x86_op(code, 0, 0x69, wide, to, factor);
        x86_word(code, (uint32_t)b.constant);
    } else {
        materialize(s, a, to);
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
    set_result(s, in_scratch(wanted, micro->bits));
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
    unsigned index = register_of(s, unshifted), base = register_of(s, b);
    unsigned to = result_register(s, b);
    x86_lea(&s->q->code, to, indexed(base, index, shifted ? (unsigned)a.constant : 0, 0));
    set_result(s, in_scratch(to, 64));
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
        set_result(s, a);
        return true;
    }
    if ((adds || subtracts) && a.kind == SUM && fits(a.constant + addend)) {
        a.constant += addend;
    } else if (a.kind == PLACED && (adds || subtracts) && fits(addend)) {
        a.kind = SUM;
        a.constant = addend;
    } else if (a.kind == PLACED && micro->operation == MICRO_AND) {
        a.kind = MASKED;
        a.constant = b.constant;
    } else {
        return false;
    }
    a.bits = 64;
    set_result(s, a);
    return true;
}

static void select_binary(struct selection *s, const struct micro *micro)
{
    struct value a = operand(s, micro, 0), b = operand(s, micro, 1);
    if (a.kind == CONSTANT && b.kind == CONSTANT) {
        set_result(s, (struct value){.kind = CONSTANT,
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

/* Extends the low bits of a value. */
static void emit_extended(struct selection *s, struct place from, unsigned bits, bool sign,
                          struct value dying)
{
    struct code *code = &s->q->code;
    unsigned to = result_register(s, dying);
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
    set_result(s, in_scratch(to, 64));
}

/* Returns the host register into which the result of a micro-operation may be written at once: it is the row's result, nothing follows. */
static uint8_t target_of(const struct selection *s, uint32_t i)
{
    const struct format_info *format = &format_table[insn_table[s->insn->id].format];
    const struct micro *last = &s->micros[s->count - 1];
    if (i + 2 != s->count || format->rd != ROLE_X || !s->insn->rd || (last->constants & 1) ||
        last->operand[0] != MICRO_FIRST + (int64_t)i)
        return NO_REGISTER;
    struct place place = quick_x(s->q, s->insn->rd);
    return place.memory ? NO_REGISTER : place.reg;
}

/* Returns whether the next micro-operation extends this one's result. */
static bool is_extended_next(const struct selection *s)
{
    const struct micro *next = &s->micros[s->current + 1];
    return s->current + 1 < s->count && next->operation == MICRO_SEXT && !(next->constants & 1) &&
           next->operand[0] == MICRO_FIRST + (int64_t)s->current;
}

static void select_shift(struct selection *s, const struct micro *micro)
{
    static const uint8_t pp[] = {[MICRO_SHL] = 1, [MICRO_LSHR] = 3, [MICRO_ASHR] = 2};
    static const uint8_t shifts[] = {[MICRO_SHL] = X86_SHL, [MICRO_LSHR] = X86_SHR, [MICRO_ASHR] = X86_SAR};
    struct code *code = &s->q->code;
    struct value a = operand(s, micro, 0), b = operand(s, micro, 1);
    bool wide = micro->bits == 64;
    unsigned mask = micro->bits - 1U;
    if (a.kind == CONSTANT && b.kind == CONSTANT) {
        set_result(s, (struct value){.kind = CONSTANT,
                                     .constant = folded(micro, a.constant, b.constant),
                                     .bits = micro->bits});
    } else if (b.kind == CONSTANT && wide && micro->operation == MICRO_SHL) {
        struct place from = place_of(s, a);
        set_result(s, (struct value){.kind = SHIFTED, .at = from, .constant = b.constant & mask, .bits = 64});
    } else if (b.kind == CONSTANT && micro->operation == MICRO_ASHR && a.kind == SHIFTED &&
               a.constant == b.constant && (a.constant == 32 || a.constant == 48 || a.constant == 56)) {
        emit_extended(s, a.at, 64 - (unsigned)a.constant, true, a);
    } else if (b.kind == CONSTANT) {
        unsigned count = (unsigned)b.constant & mask;
        bool positive = !wide && count && micro->operation == MICRO_LSHR;
        if (positive && s->target == NO_REGISTER && is_extended_next(s))
            s->target = target_of(s, s->current + 1);
        unsigned to = result_register(s, a);
        if (positive && a.kind == PLACED)
            x86_op(code, 0, 0x8b, false, to, a.at);
        else
            materialize(s, a, to);
        x86_shift(code, shifts[micro->operation], wide, to, count);
        struct value result = in_scratch(to, micro->bits);
        result.positive = positive;
        set_result(s, result);
    } else {
        bool masked = b.kind == MASKED && b.constant == mask;
        struct value plain = {.kind = PLACED, .at = b.at};
        unsigned count = register_of(s, masked ? plain : b);
        struct place from = place_of(s, a);
        unsigned to = result_register(s, a);
        x86_vex(code, 2, pp[micro->operation], 0xf7, wide, to, count, from);
        set_result(s, in_scratch(to, micro->bits));
    }
}

static void select_rotate(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value a = operand(s, micro, 0), count = operand(s, micro, 2);
    bool wide = micro->bits == 64, left = micro->operation == MICRO_FSHL;
    if (micro->operand[0] != micro->operand[1] || (micro->constants & 3)) {
        s->failed = true;
        return;
    }
    if (count.kind == CONSTANT) {
        unsigned bits = (unsigned)(left ? 0 - count.constant : count.constant) & (micro->bits - 1U);
        struct place from = place_of(s, a);
        unsigned to = result_register(s, a);
        x86_vex(code, 3, 3, 0xf0, wide, to, 0, from);
        x86_byte(code, bits);
        set_result(s, in_scratch(to, micro->bits));
        return;
    }
    unsigned rcx = take(s, 1U << RCX), to = scratch(s);
    materialize(s, count, rcx);
    materialize(s, a, to);
    x86_op(code, 0, 0xd3, wide, left ? X86_ROL : X86_ROR, in_register(to));
    set_result(s, in_scratch(to, micro->bits));
}

static void select_count(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value a = operand(s, micro, 0);
    bool wide = micro->bits == 64;
    struct place from = place_of(s, a);
    unsigned to = result_register(s, a);
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
    set_result(s, in_scratch(to, micro->bits));
}

/* The high half of a product: RDX times a place. */
static void select_high(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value a = operand(s, micro, 0), b = operand(s, micro, 1);
    unsigned rdx = take(s, 1U << RDX);
    struct place from;
    if (micro->extra) {
        unsigned rax = take(s, 1U << RAX);
        from = place_of(s, b);
        materialize(s, a, rax);
        x86_op(code, 0, 0xf7, true, 5, from);
        set_result(s, in_scratch(rdx, 64));
        return;
    }
    from = place_of(s, b);
    materialize(s, a, rdx);
    unsigned to = s->target != NO_REGISTER ? s->target : scratch(s);
    x86_vex(code, 2, 3, 0xf6, true, to, to, from);
    set_result(s, in_scratch(to, 64));
}

/* Divides RDX and RAX; checks of the divisor come before. */
static void select_division(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    bool wide = micro->bits == 64, sign = micro->operation == MICRO_SDIV || micro->operation == MICRO_SREM;
    unsigned rax = take(s, 1U << RAX), rdx = take(s, 1U << RDX);
    struct place divisor = place_of(s, operand(s, micro, 1));
    materialize(s, operand(s, micro, 0), rax);
    if (sign && wide)
        x86_byte(code, 0x48);
    if (sign)
        x86_byte(code, 0x99); /* cqo, cdq */
    else
        x86_constant(code, rdx, 0);
    x86_op(code, 0, 0xf7, wide, sign ? 7 : 6, divisor);
    bool quotient = micro->operation == MICRO_UDIV || micro->operation == MICRO_SDIV;
    set_result(s, in_scratch(quotient ? rax : rdx, micro->bits));
}

static const enum x86_condition conditions[] = {
    [MICRO_EQ] = X86_E,  [MICRO_NE] = X86_NE,  [MICRO_ULT] = X86_B, [MICRO_ULE] = X86_BE,
    [MICRO_UGT] = X86_A, [MICRO_UGE] = X86_AE, [MICRO_SLT] = X86_L, [MICRO_SLE] = X86_LE,
    [MICRO_SGT] = X86_G, [MICRO_SGE] = X86_GE,
};
static const uint8_t swapped[] = {
    [MICRO_EQ] = MICRO_EQ,   [MICRO_NE] = MICRO_NE,   [MICRO_ULT] = MICRO_UGT, [MICRO_ULE] = MICRO_UGE,
    [MICRO_UGT] = MICRO_ULT, [MICRO_UGE] = MICRO_ULE, [MICRO_SLT] = MICRO_SGT, [MICRO_SLE] = MICRO_SGE,
    [MICRO_SGT] = MICRO_SLT, [MICRO_SGE] = MICRO_SLE,
};

/* Emits a comparison. Returns the condition under which it holds. */
static enum x86_condition emit_comparison(struct selection *s, struct value value)
{
    struct code *code = &s->q->code;
    if (value.kind != COMPARED) {
        s->failed = true;
        return X86_E;
    }
    const struct micro *micro = value.micro;
    struct value a = operand(s, micro, 0), b = operand(s, micro, 1);
    unsigned predicate = micro->extra;
    bool wide = micro->bits == 64;
    s->failed |= micro->bits < 32;
    if (a.kind == CONSTANT) {
        struct value other = a;
        a = b;
        b = other;
        predicate = swapped[predicate];
    }
    struct place first = place_of(s, a);
    if (b.kind == CONSTANT && (fits(b.constant) || !wide)) {
        if (b.constant == 0 && !first.memory)
            x86_op(code, 0, 0x85, wide, first.reg, first);
        else
            x86_arithmetic_constant(code, X86_CMP, wide, first, (int32_t)b.constant);
    } else {
        struct place second = place_of(s, b);
        if (first.memory && !second.memory) {
            x86_op(code, 0, 0x39, wide, second.reg, first);
        } else {
            unsigned reg = register_of(s, (struct value){.kind = PLACED, .at = first});
            x86_arithmetic(code, X86_CMP, wide, reg, second);
        }
    }
    return conditions[predicate];
}

static void select_extension(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value a = operand(s, micro, 0);
    bool sign = micro->operation == MICRO_SEXT;
    if (a.positive && micro->bits == 32) {
        a.bits = 64;
        a.positive = false;
        set_result(s, a);
    } else if (a.kind == CONSTANT) {
        uint64_t value = sign ? extended(a.constant, micro->bits) : truncated(a.constant, micro->bits);
        set_result(s, (struct value){.kind = CONSTANT, .constant = value, .bits = 64});
    } else if (a.kind == COMPARED) {
        enum x86_condition condition = emit_comparison(s, a);
        unsigned reg = scratch(s), to = s->target != NO_REGISTER ? s->target : reg;
        s->failed |= sign;
        x86_op8(code, 0x0f90U | condition, 0, in_register(reg));
        x86_op8(code, 0x0fb6, to, in_register(reg));
        set_result(s, in_scratch(to, 64));
    } else {
        struct place from = place_of(s, a);
        emit_extended(s, from, micro->bits, sign, a);
    }
}

static void select_truncation(struct selection *s, const struct micro *micro)
{
    struct value a = operand(s, micro, 0);
    s->failed |= micro->bits < 8;
    if (a.kind != CONSTANT && a.kind != PLACED) {
        unsigned to = scratch(s);
        materialize(s, a, to);
        a = in_scratch(to, micro->bits);
    }
    a.bits = micro->bits;
    set_result(s, a);
}

static void select_choice(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value condition = operand(s, micro, 0), a = operand(s, micro, 1), b = operand(s, micro, 2);
    unsigned to = scratch(s);
    materialize(s, b, to);
    struct place from = place_of(s, a);
    enum x86_condition holds = emit_comparison(s, condition);
    x86_op(code, 0, 0x0f40U | holds, micro->bits == 64, to, from);
    s->failed |= micro->bits < 32;
    set_result(s, in_scratch(to, micro->bits));
}

static void select_place(struct selection *s, const struct micro *micro)
{
    struct value a = operand(s, micro, 0);
    if (!s->checked) {
        struct place address = place_of(s, a);
        s->failed |= (s->taken & (1U << RCX | 1U << RDX)) != 0;
        quick_check(s->q, address, 0, 0, micro->extra);
        a = (struct value){.kind = PLACED, .at = address};
    }
    int32_t displacement = 0;
    if (a.kind == SUM && fits(a.constant)) {
        displacement = (int32_t)a.constant;
        a.kind = PLACED;
    }
    unsigned reg = register_of(s, a);
    set_result(s,
               (struct value){.kind = ADDRESS, .at = indexed(AT_MEMORY, reg, 0, displacement), .bits = 64});
}

static void select_load(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value at = operand(s, micro, 0);
    bool is_float = format_table[insn_table[s->insn->id].format].rd == ROLE_F;
    if (micro->bits == 64 && at.kind == ADDRESS && is_float) {
        unsigned home = s->q->float_home[s->insn->rd];
        unsigned to = home != NO_REGISTER && s->current + 2 == s->count ? home : take_xmm(s);
        quick_load_float(s->q, to, at.at);
        set_result(s, (struct value){.kind = IN_XMM, .at = in_register(to), .bits = 64});
    } else if (micro->bits == 64 && at.kind == ADDRESS) {
        unsigned to = s->target != NO_REGISTER ? s->target : scratch(s);
        x86_load(code, to, at.at);
        set_result(s, in_scratch(to, 64));
    } else {
        emit_extended(s, at.at, micro->bits, micro->operation == MICRO_LOAD_SIGNED, (struct value){0});
        s->failed |= at.kind != ADDRESS;
    }
}

static void select_store(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value value = operand(s, micro, 0), to = operand(s, micro, 1);
    unsigned bits = micro->bits, prefix = bits == 16 ? 0x66 : 0;
    s->failed |= to.kind != ADDRESS;
    if (value.kind == CONSTANT && (bits == 32 || (bits == 64 && fits(value.constant)))) {
        x86_op(code, 0, 0xc7, bits == 64, 0, to.at);
        x86_word(code, (uint32_t)value.constant);
        return;
    }
    if (value.kind == IN_XMM && bits == 64) {
        quick_store_float(s->q, to.at, value.at.reg);
        return;
    }
    unsigned reg = register_of(s, value);
    if (bits == 8)
        x86_op8(code, 0x88, reg, to.at);
    else
        x86_op(code, prefix, 0x89, bits == 64, reg, to.at);
}

/* Returns a floating-point value as the second source of an operation: a register or memory. */
static struct place float_place(struct selection *s, struct value value)
{
    if (value.kind == IN_XMM || (value.kind == PLACED && value.at.memory))
        return value.at;
    unsigned reg = register_of(s, value), xmm = take_xmm(s);
    x86_op(&s->q->code, 0x66, 0x0f6e, true, xmm, in_register(reg));
    return in_register(xmm);
}

static unsigned float_register(struct selection *s, struct value value)
{
    struct place place = float_place(s, value);
    if (!place.memory)
        return place.reg;
    unsigned xmm = take_xmm(s);
    quick_load_float(s->q, xmm, place);
    return xmm;
}

static void set_float(struct selection *s, unsigned xmm)
{
    set_result(s, (struct value){.kind = IN_XMM, .at = in_register(xmm), .bits = 64});
}

static void select_float(struct selection *s, const struct micro *micro)
{
    static const uint8_t opcodes[] = {
        [MICRO_FADD] = 0x58, [MICRO_FSUB] = 0x5c, [MICRO_FMUL] = 0x59, [MICRO_FDIV] = 0x5e};
    struct code *code = &s->q->code;
    struct value a = operand(s, micro, 0), b = operand(s, micro, 1);
    if (micro->operation == MICRO_FSQRT) {
        unsigned from = float_register(s, a), to = take_xmm(s);
        x86_vex(code, 1, VEX_F2, 0x51, false, to, from, in_register(from));
        set_float(s, to);
        return;
    }
    unsigned first = float_register(s, a);
    struct place second = float_place(s, b);
    unsigned to = take_xmm(s);
    if (micro->operation == MICRO_FMA) {
        unsigned factor = second.memory ? float_register(s, b) : second.reg;
        struct place addend = float_place(s, operand(s, micro, 2));
        x86_vex(code, 1, 0, 0x28, false, to, 0, in_register(first)); /* vmovaps */
        x86_vex(code, 2, 1, 0xa9, true, to, factor, addend);         /* vfmadd213sd */
    } else {
        x86_vex(code, 1, VEX_F2, opcodes[micro->operation], false, to, first, second);
    }
    set_float(s, to);
}

static void select_from_integer(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct place from = place_of(s, operand(s, micro, 0));
    unsigned to = take_xmm(s);
    x86_vex(code, 1, 0, 0x57, false, to, to,
            in_register(to)); /* vxorps: the result depends on no older value */
    x86_vex(code, 1, VEX_F2, 0x2a, micro->bits == 64, to, to, from);
    set_float(s, to);
}

static void select_float_comparison(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    unsigned first = float_register(s, operand(s, micro, 0));
    struct place second = float_place(s, operand(s, micro, 1));
    if (micro->operation == MICRO_FMASK) {
        unsigned to = take_xmm(s);
        x86_vex(code, 1, VEX_F2, 0xc2, false, to, first, second);
        x86_byte(code, micro->extra);
        set_float(s, to);
        return;
    }
    unsigned reg = scratch(s), to = s->target != NO_REGISTER ? s->target : reg;
    x86_vex(code, 1, 1, 0x2f, false, first, 0, second); /* vcomisd */
    x86_op8(code, 0x0f90U | conditions[micro->extra], 0, in_register(reg));
    x86_op8(code, 0x0fb6, to, in_register(reg));
    set_result(s, in_scratch(to, 64));
}

/* Lets the row's function do all if the condition holds. */
static void call_if(struct selection *s, enum x86_condition condition)
{
    struct open_jump *jump = quick_jump(s->q, x86_jump_if(&s->q->code, condition));
    jump->kind = TO_SIDE;
    jump->side = SIDE_CALL;
    jump->insn = *s->site;
}

static void select_number(struct selection *s, const struct micro *micro)
{
    unsigned xmm = float_register(s, operand(s, micro, 0));
    x86_vex(&s->q->code, 1, 1, 0x2e, false, xmm, 0, in_register(xmm)); /* vucomisd */
    call_if(s, X86_P);
}

/* Writes a value to the row's f register. */
static void write_float(struct selection *s, struct value result)
{
    struct quick *q = s->q;
    unsigned rd = s->insn->rd, home = q->float_home[rd];
    if (home == NO_REGISTER && result.kind == IN_XMM)
        quick_store_float(q, quick_f(rd), result.at.reg);
    else if (home == NO_REGISTER)
        x86_store(&q->code, quick_f(rd), register_of(s, result));
    else if (result.kind != IN_XMM)
        x86_op(&q->code, 0x66, 0x0f6e, true, home, in_register(register_of(s, result)));
    else if (result.at.reg != home)
        x86_vex(&q->code, 1, 0, 0x28, false, home, 0, result.at); /* vmovaps */
}

/* Writes the row's result to its register. */
static void select_return(struct selection *s, const struct micro *micro)
{
    struct quick *q = s->q;
    struct code *code = &q->code;
    const struct insn *insn = s->insn;
    const struct format_info *format = &format_table[insn_table[insn->id].format];
    if (format->rd == ROLE_F) {
        write_float(s, operand(s, micro, 0));
        return;
    }
    if (format->rd != ROLE_X || insn->rd == 0)
        return;
    struct value value = operand(s, micro, 0);
    struct place rd = quick_x(q, insn->rd);
    if (!rd.memory)
        materialize(s, value, rd.reg);
    else if (value.kind == CONSTANT && fits(value.constant)) {
        x86_op(code, 0, 0xc7, true, 0, rd);
        x86_word(code, (uint32_t)value.constant);
    } else if (value.kind == SUM && value.at.memory && value.at.reg == rd.reg &&
               value.at.displacement == rd.displacement)
        x86_arithmetic_constant(code, X86_ADD, true, rd, (int32_t)value.constant);
    else
        x86_store(code, rd, register_of(s, value));
    quick_note_write(q, insn->rd);
    if (value.kind == CONSTANT) {
        q->known |= UINT32_C(1) << insn->rd;
        q->constant[insn->rd] = value.constant;
    }
}

static void select_one(struct selection *s, const struct micro *micro)
{
    switch ((enum micro_operation)micro->operation) {
    case MICRO_ADD:
    case MICRO_SUB:
    case MICRO_MUL:
    case MICRO_AND:
    case MICRO_OR:
    case MICRO_XOR: select_binary(s, micro); break;
    case MICRO_SHL:
    case MICRO_LSHR:
    case MICRO_ASHR: select_shift(s, micro); break;
    case MICRO_MULH: select_high(s, micro); break;
    case MICRO_UDIV:
    case MICRO_SDIV:
    case MICRO_UREM:
    case MICRO_SREM: select_division(s, micro); break;
    case MICRO_CALL_IF: call_if(s, emit_comparison(s, operand(s, micro, 0))); break;
    case MICRO_ICMP: set_result(s, (struct value){.kind = COMPARED, .micro = micro, .bits = 1}); break;
    case MICRO_SELECT: select_choice(s, micro); break;
    case MICRO_ZEXT:
    case MICRO_SEXT: select_extension(s, micro); break;
    case MICRO_TRUNC: select_truncation(s, micro); break;
    case MICRO_CTLZ:
    case MICRO_CTTZ:
    case MICRO_CTPOP:
    case MICRO_BSWAP: select_count(s, micro); break;
    case MICRO_FSHL:
    case MICRO_FSHR: select_rotate(s, micro); break;
    case MICRO_AT: select_place(s, micro); break;
    case MICRO_LOAD:
    case MICRO_LOAD_SIGNED: select_load(s, micro); break;
    case MICRO_STORE: select_store(s, micro); break;
    case MICRO_REQUIRE: {
        enum x86_condition holds = emit_comparison(s, operand(s, micro, 0));
        quick_exit_if(s->q, holds ^ 1U, quick_resume(s->q));
        break;
    }
    case MICRO_BRANCH:
        s->outcome->branches = true;
        s->outcome->taken = emit_comparison(s, operand(s, micro, 0));
        break;
    case MICRO_JUMP:
        materialize(s, operand(s, micro, 0), RAX);
        s->kept = 1U << RAX;
        break;
    case MICRO_RET: select_return(s, micro); break;
    case MICRO_FADD:
    case MICRO_FSUB:
    case MICRO_FMUL:
    case MICRO_FDIV:
    case MICRO_FSQRT:
    case MICRO_FMA: select_float(s, micro); break;
    case MICRO_FROM_INTEGER: select_from_integer(s, micro); break;
    case MICRO_FCMP:
    case MICRO_FMASK: select_float_comparison(s, micro); break;
    case MICRO_NUMBER: select_number(s, micro); break;
    }
}

/* Notes which micro-operation uses each value last. A comparison's operands are used where its outcome is. */
static void note_last_uses(struct selection *s)
{
    for (uint32_t i = s->count; i-- > 0;) {
        const struct micro *micro = &s->micros[i];
        uint8_t last = micro->operation == MICRO_ICMP ? s->values[MICRO_FIRST + i].last : (uint8_t)i;
        for (unsigned k = 0; k < 3; k++)
            if (!(micro->constants >> k & 1) && micro->operand[k] && s->values[micro->operand[k]].last < last)
                s->values[micro->operand[k]].last = last;
    }
}

static struct value x_value(const struct quick *q, unsigned r)
{
    if (r == 0 || q->known >> r & 1)
        return (struct value){.kind = CONSTANT, .constant = r ? q->constant[r] : 0, .bits = 64};
    return (struct value){.kind = PLACED, .at = quick_x(q, r), .bits = 64};
}

static struct value f_value(const struct quick *q, unsigned r)
{
    unsigned home = q->float_home[r];
    if (home != NO_REGISTER)
        return (struct value){.kind = IN_XMM, .at = in_register(home), .bits = 64};
    return (struct value){.kind = PLACED, .at = quick_f(r), .bits = 64};
}

static void begin(struct selection *s, const struct block_insn *at)
{
    const struct insn *insn = at->insn;
    const struct format_info *format = &format_table[insn_table[insn->id].format];
    const uint64_t numbers[] = {
        [ROW_IMM] = (uint64_t)(int64_t)insn->imm, [ROW_PC] = at->pc, [ROW_NEXT] = at->pc + insn->length};
    const uint8_t registers[] = {insn->rs1, insn->rs2, insn->rs3};
    const uint8_t roles[] = {format->rs1, format->rs2, format->rs3};
    for (unsigned i = ROW_IMM; i <= ROW_NEXT; i++)
        s->values[i] = (struct value){.kind = CONSTANT, .constant = numbers[i], .bits = 64};
    for (unsigned i = 0; i < 3; i++) {
        if (roles[i] == ROLE_X)
            s->values[ROW_RS1 + i] = x_value(s->q, registers[i]);
        else if (roles[i] == ROLE_F)
            s->values[ROW_FRS1 + i] = f_value(s->q, registers[i]);
    }
}

static bool select_micros(struct quick *q, const struct block_insn *at, const struct micro_row *row,
                          struct outcome *outcome)
{
    enum insn_format kind = insn_table[at->insn->id].format;
    struct selection s = {
        .q = q, .insn = at->insn, .site = at, .micros = row->micros, .count = row->count, .outcome = outcome};
    s.checked = kind == FORMAT_LOAD || kind == FORMAT_STORE || kind == FORMAT_FLOAD || kind == FORMAT_FSTORE;
    uint32_t jumps = q->jump_count;
    if (row->count > MICRO_MOST)
        return false;
    begin(&s, at);
    note_last_uses(&s);
    for (s.current = 0; s.current < s.count && !s.failed; s.current++) {
        s.taken = (s.current ? held(&s, s.current - 1) : 0) | s.kept;
        s.target = target_of(&s, s.current);
        select_one(&s, &s.micros[s.current]);
    }
    quick_return_to(q, jumps);
    return !s.failed;
}

/* Emits a call of a row's function: the arguments are all in the hart, but what calls preserve. */
static void emit_call(struct quick *q, const struct block_insn *at, const struct micro_row *row)
{
    struct selection s = {.q = q, .insn = at->insn};
    struct code *code = &q->code;
    const struct format_info *format = &format_table[insn_table[at->insn->id].format];
    static const uint8_t arguments[] = {
        [ROW_RS1] = RSI, [ROW_RS2] = RDX, [ROW_FRS1] = RCX, [ROW_FRS2] = R8, [ROW_FRS3] = R9};
    begin(&s, at);
    quick_save(q, CALLS_CHANGE, UINT32_MAX);
    const uint8_t floats[] = {at->insn->rs1, at->insn->rs2, at->insn->rs3};
    for (unsigned i = ROW_RS1; i <= ROW_FRS3; i++)
        if (i >= ROW_FRS1 && s.values[i].kind != NO_VALUE)
            x86_load(code, arguments[i], quick_f(floats[i - ROW_FRS1]));
        else if (s.values[i].kind == CONSTANT)
            x86_constant(code, arguments[i], s.values[i].constant);
        else if (s.values[i].kind == PLACED)
            x86_load(code, arguments[i], quick_saved(q, &s.values[i].at));
    x86_lea(code, RDI, in_memory(AT_HART, -HART_BIAS));
    x86_constant(code, RAX, (uint64_t)(uintptr_t)row->native);
    x86_op(code, 0, 0xff, false, 2, in_register(RAX));
    if (format->rd == ROLE_F)
        x86_store(code, quick_f(at->insn->rd), RAX);
    quick_load(q, CALLS_CHANGE, UINT32_MAX);
    if (format->rd == ROLE_X && at->insn->rd) {
        x86_store(code, quick_x(q, at->insn->rd), RAX);
        quick_note_write(q, at->insn->rd);
    }
}

/* Returns whether a function can be called: its numbers are in registers. */
static bool is_callable(const struct insn *insn, const struct micro_row *row)
{
    return row->native && insn_table[insn->id].format != FORMAT_I &&
           insn_table[insn->id].format != FORMAT_SH6 && insn_table[insn->id].format != FORMAT_SH5;
}

bool select_knows(const struct insn *insn, bool rtz)
{
    struct micro_row row = micro_row(insn->id, rtz);
    return row.count || is_callable(insn, &row);
}

void select_call(struct quick *q, const struct block_insn *at, bool rtz)
{
    struct micro_row row = micro_row(at->insn->id, rtz);
    emit_call(q, at, &row);
}

bool select_calls(const struct insn *insn, bool rtz)
{
    struct micro_row row = micro_row(insn->id, rtz);
    return !row.count && is_callable(insn, &row);
}

bool select_row(struct quick *q, const struct block_insn *at, bool rtz, struct outcome *outcome)
{
    struct micro_row row = micro_row(at->insn->id, rtz);
    uint32_t size = q->code.size, jumps = q->jump_count;
    *outcome = (struct outcome){0};
    if (row.count && select_micros(q, at, &row, outcome))
        return true;
    q->code.size = size;
    q->jump_count = jumps;
    if (!is_callable(at->insn, &row))
        return false;
    emit_call(q, at, &row);
    return true;
}
