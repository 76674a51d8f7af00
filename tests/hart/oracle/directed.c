#include "tests/hart/oracle/directed.h"

#include <stddef.h>
#include <string.h>

#include "isa/decode.h"
#include "tests/hart/oracle/values.h"
#include "tests/isa/encode.h"

enum {
    CASES = 9, /* of a block: three operand registers each, three words of the window and 24 bytes of code */
    MODES = 6,
    TP = 4,
    WINDOW_OFFSET = offsetof(struct state, window),
};

/* Registers for operands and results: not x0, gp (holds the block's address) or tp. */
static const uint8_t operand_registers[27] = {1,  2,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                              17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
enum { RESULT = 30, FLAGS = 31 };

bool directed_applies(enum insn_id id)
{
    unsigned class = insn_table[id].iclass;
    if (insn_table[id].extension == EXTENSION_Zicond)
        return false; /* qemu-riscv64 7.2 lacks it; random blocks prepare it for known_batch() */
    return class == CLASS_ALU || class == CLASS_MUL || class == CLASS_DIV ||
           (class >= CLASS_FADD && class <= CLASS_FMISC);
}

/* Returns the precision of the row's floating-point operands. */
static enum insn_precision source_of(enum insn_id id)
{
    switch ((int)id) {
    case INSN_fcvt_d_s:
    case INSN_fcvt_h_s: return PRECISION_S;
    case INSN_fcvt_s_h:
    case INSN_fcvt_d_h: return PRECISION_H;
    default: return (enum insn_precision)insn_table[id].precision;
    }
}

static unsigned choices(enum insn_role role, enum insn_precision source)
{
    if (role == ROLE_X)
        return VALUES_INTEGER;
    if (role == ROLE_N)
        return 1;
    return source == PRECISION_H ? VALUES_F16 + 1 : source == PRECISION_S ? VALUES_F32 + 1 : VALUES_F64;
}

/* Corner case n of an operand; the last one of floats and halves is a double or a float, which is badly boxed. */
static uint64_t choice(enum insn_role role, enum insn_precision source, unsigned n)
{
    if (role == ROLE_X)
        return values_integer[n];
    if (role == ROLE_N)
        return 0;
    if (source == PRECISION_H)
        return n < VALUES_F16 ? UINT64_C(0xffffffffffff0000) | values_f16[n] : UINT64_C(0xffffffff3f803c00);
    if (source != PRECISION_S)
        return values_f64[n];
    return n < VALUES_F32 ? UINT64_C(0xffffffff00000000) | values_f32[n] : UINT64_C(0x3ff000003f800000);
}

/* Varied are the operands, the rounding mode or the immediate. The third operand of multiply-add takes every third
 * corner case, in turn with the first two, which keeps the number of cases moderate. */
struct space {
    unsigned rs1, rs2, rs3, last;
};

static unsigned immediates(enum insn_id id)
{
    switch (format_table[insn_table[id].format].immediate) {
    case IMMEDIATE_SH5: return 32;
    case IMMEDIATE_SH6: return 64;
    case IMMEDIATE_NONE: return 1;
    default: return 26;
    }
}

static int32_t immediate(enum insn_id id, unsigned n)
{
    switch (format_table[insn_table[id].format].immediate) {
    case IMMEDIATE_SH5:
    case IMMEDIATE_SH6: return (int32_t)n;
    case IMMEDIATE_I:
        return n == 0   ? 0
               : n == 1 ? -1
               : n < 14 ? (int32_t)(1u << (n - 2)) - (n == 13)
                        : -(int32_t)(1u << (n - 14));
    case IMMEDIATE_U: return (int32_t)(n < 20 ? 1u << (n + 12) : 0xfffff000u << (n - 20));
    default: return 0;
    }
}

static struct space space_of(enum insn_id id)
{
    const struct format_info *format = &format_table[insn_table[id].format];
    enum insn_precision source = source_of(id);
    return (struct space){choices((enum insn_role)format->rs1, source),
                          choices((enum insn_role)format->rs2, source), format->rs3 ? 6 : 1,
                          format->rm ? MODES : immediates(id)};
}

unsigned directed_cases(enum insn_id id)
{
    struct space s = space_of(id);
    return s.rs1 * s.rs2 * s.rs3 * s.last;
}

struct writer {
    uint8_t *code;
    unsigned used;
};

static void emit(struct writer *w, enum insn_id id, struct operands o)
{
    uint32_t bits = encode(id, &o);
    memcpy(w->code + w->used, &bits, sizeof bits);
    w->used += 4;
}

static void set_register(struct state *state, enum insn_role role, unsigned reg, uint64_t value)
{
    if (role == ROLE_X)
        state->x[reg] = value;
    else if (role == ROLE_F)
        state->f[reg] = value;
}

/* Emits case n as instruction k of the block. */
static void emit_case(struct writer *w, struct state *state, enum insn_id id, unsigned n, unsigned k)
{
    static const uint8_t modes[MODES] = {RM_RNE, RM_RTZ, RM_RDN, RM_RUP, RM_RMM, RM_DYN};
    const struct format_info *format = &format_table[insn_table[id].format];
    const enum insn_role role1 = (enum insn_role)format->rs1, role2 = (enum insn_role)format->rs2;
    struct space s = space_of(id);
    enum insn_precision source = source_of(id);
    unsigned last = n % s.last, a = n / s.last % s.rs1, b = n / s.last / s.rs1 % s.rs2;
    unsigned c = format->rs3 ? (a + b + 6 * (n / s.last / s.rs1 / s.rs2)) % choices(ROLE_F, source) : 0;
    struct operands o = {RESULT,
                         operand_registers[3 * k],
                         operand_registers[3 * k + 1],
                         operand_registers[3 * k + 2],
                         format->rm ? modes[last] : (uint8_t)0,
                         format->rm ? 0 : immediate(id, last)};
    uint64_t first = choice(role1, source, a);
    if (id == INSN_ctzw && (uint32_t)first == 0)
        first = 1u << 31; /* qemu-riscv64 7.2 examines the upper word if the lower one is zero */
    set_register(state, role1, o.rs1, first);
    set_register(state, role2, o.rs2, choice(role2, source, b));
    set_register(state, format->rs3 ? ROLE_F : ROLE_N, o.rs3, choice(ROLE_F, source, c));
    int32_t at = (int32_t)(WINDOW_OFFSET + 16 * k);
    emit(w, INSN_csrrwi, (struct operands){.rd = 0, .rs1 = 0, .imm = 1});
    emit(w, id, o);
    emit(w, format->rd == ROLE_F ? INSN_fsd : INSN_sd,
         (struct operands){.rs1 = TP, .rs2 = RESULT, .imm = at});
    emit(w, INSN_csrrs, (struct operands){.rd = FLAGS, .rs1 = 0, .imm = 1});
    emit(w, INSN_sd, (struct operands){.rs1 = TP, .rs2 = FLAGS, .imm = at + 8});
}

unsigned directed_block(enum insn_id id, unsigned first, struct batch *batch, uint64_t index)
{
    struct state *state = &batch->states[index];
    struct writer w = {batch->code[index], 0};
    unsigned left = directed_cases(id) - first, count = left < CASES ? left : CASES;
    memset(w.code, 0, BATCH_CODE_BYTES);
    memset(state, 0, sizeof *state);
    state->x[3] = batch_code_at(index);
    state->x[TP] = batch_state_at(index);
    state->fcsr = (uint64_t)(index % 5) << 5; /* what RM_DYN stands for */
    for (unsigned k = 0; k < count; k++)
        emit_case(&w, state, id, first + k, k);
    emit(&w, INSN_jal, (struct operands){.imm = (int32_t)(BATCH_END - (batch_code_at(index) + w.used))});
    return count;
}
