#include "emu/analysis/tiles/evaluate.h"

#include "isa/csr.h"

/* Returns the largest power of two that divides all factors, as its exponent. */
static unsigned even(const struct sum *sum)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < sum->count; i++)
        all |= (uint64_t)sum->terms[i].factor;
    return all ? (unsigned)__builtin_ctzll(all) : 63;
}

static uint64_t common(const struct sum *sum)
{
    uint64_t a = 0;
    for (unsigned i = 0; i < sum->count; i++) {
        uint64_t b = (uint64_t)(sum->terms[i].factor < 0 ? -sum->terms[i].factor : sum->terms[i].factor);
        while (b) {
            const uint64_t rest = a % b;
            a = b;
            b = rest;
        }
    }
    return a;
}

/* Compilers divide by a constant d with a product by 2^shift / d, rounded up, and a shift. Returns d, or 0. */
static int64_t reciprocal(uint64_t factor, unsigned shift)
{
    if (shift < 32 || shift > 62 || factor < 3 || factor >> shift)
        return 0;
    const uint64_t power = UINT64_C(1) << shift, divisor = power / factor + (power % factor != 0);
    const uint64_t candidates[] = {divisor, divisor - 1};
    for (unsigned i = 0; i < 2; i++) {
        const unsigned __int128 product = (unsigned __int128)candidates[i] * factor;
        if (candidates[i] > 2 && product >= power && product - power <= candidates[i])
            return (int64_t)candidates[i];
    }
    return 0;
}

/* x >> shift, where x is not negative. */
static int shift_right(struct sums *s, int a, unsigned shift)
{
    if (a == SUM_UNKNOWN || shift == 0)
        return a;
    const struct sum sum = *sums_at(s, a);
    const unsigned exponent = even(&sum);
    if (exponent >= shift)
        return sum_exact(s, a, INT64_C(1) << shift);
    const uint64_t factor = common(&sum);
    const int64_t divisor = reciprocal(factor, shift);
    if (divisor)
        return sum_quotient(s, sum_exact(s, a, (int64_t)factor), divisor);
    if (shift - exponent > 62)
        return SUM_UNKNOWN;
    return sum_quotient(s, sum_exact(s, a, INT64_C(1) << exponent), INT64_C(1) << (shift - exponent));
}

static int shift_left(struct sums *s, int a, unsigned shift)
{
    return a == SUM_UNKNOWN || shift > 62 ? SUM_UNKNOWN
                                          : sum_add(s, sum_constant(s, 0), a, INT64_C(1) << shift);
}

static int remainder_of(struct sums *s, int a, int64_t divisor)
{
    return sum_add(s, a, sum_quotient(s, a, divisor), -divisor);
}

static int masked(struct sums *s, int a, int b)
{
    int64_t mask;
    if (!sum_is_constant(s, b, &mask)) {
        const int other = a;
        a = b;
        b = other;
    }
    if (!sum_is_constant(s, b, &mask) || a == SUM_UNKNOWN || mask == 0 || mask == INT64_MIN)
        return SUM_UNKNOWN;
    if (mask < 0 && (-mask & (-mask - 1)) == 0)
        return sum_add(s, sum_constant(s, 0), sum_quotient(s, a, -mask), -mask);
    if (mask < 0 || (mask & (mask + 1)) != 0)
        return SUM_UNKNOWN;
    return mask >= INT64_C(0x7fffffff) ? a : remainder_of(s, a, mask + 1);
}

static int divided(struct sums *s, int a, int b, bool remainder)
{
    const int quotient = sum_quotient_by(s, a, b);
    return remainder ? sum_add(s, a, sum_multiply(s, quotient, b), -1) : quotient;
}

/* The result for an operand that is a constant, where that of the operation on sums is another one, or none. */
static bool of_constant(const struct insn *i, int64_t value, int64_t *result)
{
    switch ((enum insn_id)i->id) {
    case INSN_srli: *result = (int64_t)((uint64_t)value >> i->imm); return true;
    case INSN_srliw: *result = (int32_t)((uint32_t)value >> i->imm); return true;
    case INSN_srai:
    case INSN_sraiw: *result = value >> i->imm; return true;
    case INSN_bseti: *result = (int64_t)((uint64_t)value | UINT64_C(1) << i->imm); return true;
    default: return false;
    }
}

static int of_immediate(struct sums *s, const struct cfg_insn *insn, int a)
{
    const struct insn *i = &insn->step.insn;
    int64_t value, result;
    if (sum_is_constant(s, a, &value) && of_constant(i, value, &result))
        return sum_constant(s, result);
    switch ((enum insn_id)i->id) {
    case INSN_lui: return sum_constant(s, i->imm);
    case INSN_auipc: return sum_constant(s, (int64_t)insn->step.pc + i->imm);
    case INSN_addi:
    case INSN_addiw: return sum_add(s, a, sum_constant(s, i->imm), 1);
    case INSN_slli:
    case INSN_slliw:
    case INSN_slli_uw: return shift_left(s, a, (unsigned)i->imm);
    case INSN_srli:
    case INSN_srliw:
    case INSN_srai:
    case INSN_sraiw: return shift_right(s, a, (unsigned)i->imm);
    case INSN_andi: return masked(s, a, sum_constant(s, i->imm));
    case INSN_fmv_x_w:
    case INSN_fmv_w_x:
    case INSN_fmv_x_d:
    case INSN_fmv_d_x: return a;
    default: return SUM_UNKNOWN;
    }
}

static int of_registers(struct sums *s, const struct insn *i, int a, int b)
{
    switch ((enum insn_id)i->id) {
    case INSN_add:
    case INSN_addw:
    case INSN_add_uw: return sum_add(s, a, b, 1);
    case INSN_sub:
    case INSN_subw: return sum_add(s, a, b, -1);
    case INSN_sh1add:
    case INSN_sh1add_uw: return sum_add(s, b, a, 2);
    case INSN_sh2add:
    case INSN_sh2add_uw: return sum_add(s, b, a, 4);
    case INSN_sh3add:
    case INSN_sh3add_uw: return sum_add(s, b, a, 8);
    case INSN_mul:
    case INSN_mulw: return sum_multiply(s, a, b);
    case INSN_and: return masked(s, a, b);
    case INSN_div:
    case INSN_divw:
    case INSN_divu:
    case INSN_divuw: return divided(s, a, b, false);
    case INSN_rem:
    case INSN_remw:
    case INSN_remu:
    case INSN_remuw: return divided(s, a, b, true);
    default: return SUM_UNKNOWN;
    }
}

int evaluate(struct sums *s, const struct cfg_insn *insn, int a, int b)
{
    const struct insn *i = &insn->step.insn;
    const struct atom csr = {.kind = ATOM_CSR, .number = i->imm & 0xfff, .operands = {-1, -1, -1}};
    switch ((enum insn_id)i->id) {
    case INSN_csrrs:
    case INSN_csrrc: return i->rs1 == 0 ? sum_of_atom(s, &csr) : SUM_UNKNOWN;
    case INSN_fsgnj_s:
    case INSN_fsgnj_d: return insn->regs.rs1 == insn->regs.rs2 ? a : SUM_UNKNOWN;
    default: break;
    }
    const int result = of_registers(s, i, a, b);
    return result == SUM_UNKNOWN ? of_immediate(s, insn, a) : result;
}
