#include <stddef.h>

#include "emu/hart/hart.h"
#include "emu/jit/quick/selection.h"
#include "emu/jit/row_table.h"

static void select_place(struct selection *s, const struct micro *micro)
{
    struct value a = value_operand(s, micro, 0);
    bool touches = false;
    if (!s->checked) {
        struct place address = value_place(s, a);
        const uint8_t size = insn_table[s->insn->id].size;
        const struct page page = {false, micro->extra, 0, size, 0, size};
        s->failed |= (s->taken & (1U << RCX | 1U << RDX)) != 0;
        if (s->q->looks)
            quick_page(s->q, address, &page);
        else
            quick_check(s->q, address, 0, 0, micro->extra);
        a = (struct value){.kind = PLACED, .at = address};
        touches = s->q->mirrored && insn_table[s->insn->id].access != ACCESS_LR;
    }
    int32_t displacement = 0;
    if (a.kind == SUM && value_fits(a.constant)) {
        displacement = (int32_t)a.constant;
        a.kind = PLACED;
    }
    unsigned reg = value_register(s, a);
    if (touches) { /* faults before the row changes anything: or [place], 0, as wide as the load, which the host forwards then */
        const bool wide = insn_table[s->insn->id].size == 8;
        x86_op(&s->q->code, 0, 0x83, wide, X86_OR, indexed(AT_MEMORY, reg, 0, displacement));
        x86_byte(&s->q->code, 0);
    }
    value_set(s, (struct value){.kind = ADDRESS, .at = indexed(AT_MEMORY, reg, 0, displacement), .bits = 64});
}

static void select_load(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value at = value_operand(s, micro, 0);
    bool is_float = format_table[insn_table[s->insn->id].format].rd == ROLE_F;
    if (micro->bits == 64 && at.kind == ADDRESS && is_float) {
        unsigned home = s->q->float_home[s->insn->rd];
        unsigned to = home != NO_REGISTER && s->current + 2 == s->count ? home : scratch_xmm(s);
        quick_load_float(s->q, to, at.at);
        value_set(s, (struct value){.kind = IN_XMM, .at = in_register(to), .bits = 64});
    } else if (micro->bits == 64 && at.kind == ADDRESS) {
        unsigned to = s->target != NO_REGISTER ? s->target : scratch_any(s);
        x86_load(code, to, at.at);
        value_set(s, value_in_scratch(to, 64));
    } else {
        integer_extend(s, at.at, micro->bits, micro->operation == MICRO_LOAD_SIGNED, (struct value){0});
        s->failed |= at.kind != ADDRESS;
    }
}

static void select_store(struct selection *s, const struct micro *micro)
{
    struct code *code = &s->q->code;
    struct value value = value_operand(s, micro, 0), to = value_operand(s, micro, 1);
    unsigned bits = micro->bits, prefix = bits == 16 ? 0x66 : 0;
    s->failed |= to.kind != ADDRESS;
    if (value.kind == CONSTANT && (bits == 32 || (bits == 64 && value_fits(value.constant)))) {
        x86_op(code, 0, 0xc7, bits == 64, 0, to.at);
        x86_word(code, (uint32_t)value.constant);
        return;
    }
    if (value.kind == IN_XMM && bits == 64) {
        quick_store_float(s->q, to.at, value.at.reg);
        return;
    }
    unsigned reg = value_register(s, value);
    if (bits == 8)
        x86_op8(code, 0x88, reg, to.at);
    else
        x86_op(code, prefix, 0x89, bits == 64, reg, to.at);
}
/* Writes the row's result to its register. */
static void select_return(struct selection *s, const struct micro *micro)
{
    struct quick *q = s->q;
    struct code *code = &q->code;
    const struct insn *insn = s->insn;
    const struct format_info *format = &format_table[insn_table[insn->id].format];
    if (format->rd == ROLE_F) {
        float_write(s, value_operand(s, micro, 0));
        q->boxed = (q->boxed & ~(UINT32_C(1) << insn->rd)) | (uint32_t)micro->extra << insn->rd;
        return;
    }
    if (format->rd != ROLE_X || insn->rd == 0)
        return;
    struct value value = value_operand(s, micro, 0);
    struct place rd = quick_x(q, insn->rd);
    if (!rd.memory)
        value_load(s, value, rd.reg);
    else if (value.kind == CONSTANT && value_fits(value.constant)) {
        x86_op(code, 0, 0xc7, true, 0, rd);
        x86_word(code, (uint32_t)value.constant);
    } else if (value.kind == SUM && value.at.memory && value.at.reg == rd.reg &&
               value.at.displacement == rd.displacement)
        x86_arithmetic_constant(code, X86_ADD, true, rd, (int32_t)value.constant);
    else
        x86_store(code, rd, value_register(s, value));
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
    case MICRO_XOR: integer_binary(s, micro); break;
    case MICRO_SHL:
    case MICRO_LSHR:
    case MICRO_ASHR: integer_shift(s, micro); break;
    case MICRO_MULH: integer_high(s, micro); break;
    case MICRO_UDIV:
    case MICRO_SDIV:
    case MICRO_UREM:
    case MICRO_SREM: integer_divide(s, micro); break;
    case MICRO_CALL_IF: value_call_if(s, integer_compare(s, value_operand(s, micro, 0))); break;
    case MICRO_ICMP: value_set(s, (struct value){.kind = COMPARED, .micro = micro, .bits = 1}); break;
    case MICRO_SELECT: integer_choose(s, micro); break;
    case MICRO_ZEXT:
    case MICRO_SEXT: integer_convert(s, micro); break;
    case MICRO_TRUNC: integer_truncate(s, micro); break;
    case MICRO_CTLZ:
    case MICRO_CTTZ:
    case MICRO_CTPOP:
    case MICRO_BSWAP: integer_count(s, micro); break;
    case MICRO_FSHL:
    case MICRO_FSHR: integer_rotate(s, micro); break;
    case MICRO_AT: select_place(s, micro); break;
    case MICRO_FIELD:
        value_set(s,
                  (struct value){.kind = ADDRESS, .at = quick_field((size_t)micro->operand[0]), .bits = 64});
        break;
    case MICRO_LOAD:
    case MICRO_LOAD_SIGNED: select_load(s, micro); break;
    case MICRO_STORE: select_store(s, micro); break;
    case MICRO_REQUIRE: {
        enum x86_condition holds = integer_compare(s, value_operand(s, micro, 0));
        quick_exit_if(s->q, holds ^ 1U, quick_resume(s->q));
        break;
    }
    case MICRO_BRANCH:
        s->outcome->branches = true;
        s->outcome->taken = integer_compare(s, value_operand(s, micro, 0));
        break;
    case MICRO_JUMP:
        value_load(s, value_operand(s, micro, 0), RAX);
        s->kept = 1U << RAX;
        break;
    case MICRO_NOTHING: break;
    case MICRO_RET: select_return(s, micro); break;
    case MICRO_FADD:
    case MICRO_FSUB:
    case MICRO_FMUL:
    case MICRO_FDIV:
    case MICRO_FSQRT:
    case MICRO_FMA: float_compute(s, micro); break;
    case MICRO_FROM_INTEGER: float_from_integer(s, micro); break;
    case MICRO_TRUNCATE: float_truncate(s, micro); break;
    case MICRO_WIDEN:
    case MICRO_NARROW: float_convert(s, micro); break;
    case MICRO_BOXED: float_boxed(s, micro); break;
    case MICRO_CALL_UNLESS: float_call_unless(s, micro); break;
    case MICRO_FCMP:
    case MICRO_FMASK: float_compare(s, micro); break;
    case MICRO_NUMBER: float_number(s, micro); break;
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

/* Computes a row of bitwise operations for two equal operands. Returns false if it has others. */
static bool evaluate(const struct selection *s, uint64_t operand, uint64_t *result)
{
    uint64_t values[MICRO_FIRST + MICRO_MOST] = {[ROW_FRS1] = operand, [ROW_FRS2] = operand};
    for (uint32_t i = 0; i < s->count; i++) {
        const struct micro *micro = &s->micros[i];
        uint64_t of[2];
        for (unsigned k = 0; k < 2; k++)
            of[k] = micro->constants >> k & 1 ? (uint64_t)micro->operand[k] : values[micro->operand[k]];
        switch ((enum micro_operation)micro->operation) {
        case MICRO_AND: values[MICRO_FIRST + i] = of[0] & of[1]; break;
        case MICRO_OR: values[MICRO_FIRST + i] = of[0] | of[1]; break;
        case MICRO_XOR: values[MICRO_FIRST + i] = of[0] ^ of[1]; break;
        case MICRO_RET: *result = of[0]; break;
        case MICRO_BOXED:
        case MICRO_ICMP: break; /* whatever uses an outcome is none of these */
        default: return false;
        }
    }
    return true;
}

/* Returns whether the row only moves a number: its operands are the same f register, and its result is that one. A bit of what bitwise
 * operations compute depends on that bit alone, so zeros and ones tell. */
static bool is_move(const struct selection *s)
{
    const struct format_info *format = &format_table[insn_table[s->insn->id].format];
    uint64_t zeros = 0, result = 0;
    if (format->rs1 != ROLE_F || format->rs2 != ROLE_F || s->insn->rs1 != s->insn->rs2)
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->micros[i].operation == MICRO_BOXED)
            zeros = UINT64_MAX << 32;
    return evaluate(s, zeros, &result) && result == zeros && evaluate(s, UINT64_MAX, &result) &&
           result == UINT64_MAX;
}

static bool computes(const struct micro *micro)
{
    return micro->operation == MICRO_AND || micro->operation == MICRO_OR || micro->operation == MICRO_XOR;
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
    const bool moves = is_move(&s);
    for (s.current = 0; s.current < s.count && !s.failed; s.current++) {
        s.taken = (s.current ? scratch_held(&s, s.current - 1) : 0) | s.kept;
        s.target = value_target(&s, s.current);
        if (moves && computes(&s.micros[s.current]))
            value_set(&s, s.values[ROW_FRS1]);
        else
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
    quick_end_counts(q);
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
    if (format->rd == ROLE_F) {
        x86_store(code, quick_f(at->insn->rd), RAX);
        q->boxed &= ~(UINT32_C(1) << at->insn->rd);
    }
    quick_load(q, CALLS_CHANGE, UINT32_MAX);
    quick_begin_counts(q);
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
    uint32_t size = q->code.size, jumps = q->jump_count, touches = q->code.touch_count;
    *outcome = (struct outcome){0};
    if (row.count && select_micros(q, at, &row, outcome))
        return true;
    q->code.size = size;
    q->code.touch_count = touches;
    q->jump_count = jumps;
    if (!is_callable(at->insn, &row))
        return false;
    emit_call(q, at, &row);
    return true;
}
