/* Results computed by hand from the specification: cases in which the oracles are wrong, and easy mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/hart/fixture.h"

enum { SIZE = 0x10000, NX = 1, UF = 2, OF = 4, DZ = 8, NV = 16 };

#define BOX(bits)   (UINT64_C(0xffffffff00000000) | (bits))
#define MIN64       UINT64_C(0x8000000000000000)
#define CANONICAL32 BOX(0x7fc00000)
#define CANONICAL64 UINT64_C(0x7ff8000000000000)
#define ONE         UINT64_C(0x3ff0000000000000)

struct meaning {
    enum insn_id id;
    uint8_t rm;
    uint8_t flags;
    uint64_t a, b, c, result;
};

static const struct meaning integers[] = {
    {INSN_ctzw, 0, 0, 0, 0, 0, 32},
    {INSN_ctzw, 0, 0, 0x40000000000000, 0, 0, 32},
    {INSN_ctzw, 0, 0, 0x80000000, 0, 0, 31},
    {INSN_clzw, 0, 0, 0xffffffff00000000, 0, 0, 32},
    {INSN_clzw, 0, 0, 0xffffffff00000001, 0, 0, 31},
    {INSN_ctz, 0, 0, 0, 0, 0, 64},
    {INSN_clz, 0, 0, 0, 0, 0, 64},
    {INSN_cpop, 0, 0, UINT64_MAX, 0, 0, 64},
    {INSN_cpopw, 0, 0, UINT64_MAX, 0, 0, 32},
    {INSN_div, 0, 0, 7, 0, 0, UINT64_MAX},
    {INSN_div, 0, 0, MIN64, UINT64_MAX, 0, MIN64},
    {INSN_rem, 0, 0, MIN64, UINT64_MAX, 0, 0},
    {INSN_rem, 0, 0, (uint64_t)-7, 2, 0, UINT64_MAX},
    {INSN_rem, 0, 0, 7, 0, 0, 7},
    {INSN_divu, 0, 0, 7, 0, 0, UINT64_MAX},
    {INSN_remu, 0, 0, 7, 0, 0, 7},
    {INSN_divw, 0, 0, 0x80000000, UINT64_MAX, 0, 0xffffffff80000000},
    {INSN_remw, 0, 0, 0x80000000, UINT64_MAX, 0, 0},
    {INSN_divuw, 0, 0, 5, UINT64_C(1) << 32, 0, UINT64_MAX},
    {INSN_remuw, 0, 0, 0x80000005, 0, 0, 0xffffffff80000005},
    {INSN_mulh, 0, 0, UINT64_MAX, UINT64_MAX, 0, 0},
    {INSN_mulhu, 0, 0, UINT64_MAX, UINT64_MAX, 0, UINT64_MAX - 1},
    {INSN_mulhsu, 0, 0, UINT64_MAX, UINT64_MAX, 0, UINT64_MAX},
    {INSN_mulhsu, 0, 0, MIN64, 2, 0, UINT64_MAX},
    {INSN_addw, 0, 0, 0x7fffffff, 1, 0, 0xffffffff80000000},
    {INSN_sllw, 0, 0, 1, 31, 0, 0xffffffff80000000},
    {INSN_sraw, 0, 0, 0x80000000, 31, 0, UINT64_MAX},
    {INSN_sll, 0, 0, 1, 64 + 3, 0, 8},
    {INSN_orc_b, 0, 0, 0x0100800000000010, 0, 0, 0xff00ff00000000ff},
    {INSN_rev8, 0, 0, 0x0102030405060708, 0, 0, 0x0807060504030201},
    {INSN_rol, 0, 0, MIN64, 1, 0, 1},
    {INSN_rorw, 0, 0, 1, 1, 0, 0xffffffff80000000},
    {INSN_add_uw, 0, 0, UINT64_MAX, 1, 0, 0x100000000},
    {INSN_sh3add_uw, 0, 0, 0x1ffffffff, 1, 0, 0x7fffffff9},
    {INSN_max, 0, 0, UINT64_MAX, 1, 0, 1},
    {INSN_maxu, 0, 0, UINT64_MAX, 1, 0, UINT64_MAX},
    {INSN_bext, 0, 0, MIN64, 63, 0, 1},
    {INSN_zext_h, 0, 0, UINT64_MAX, 0, 0, 0xffff},
};

static const struct meaning doubles[] = {
    /* Ties: to even, and away from zero; RUP gives one unit in the last place more. */
    {INSN_fadd_d, RM_RNE, NX, ONE, 0x3ca0000000000000, 0, ONE},
    {INSN_fadd_d, RM_RMM, NX, ONE, 0x3ca0000000000000, 0, ONE + 1},
    {INSN_fadd_d, RM_RMM, NX, ONE | MIN64, 0x3ca0000000000000 | MIN64, 0, (ONE + 1) | MIN64},
    {INSN_fadd_d, RM_RUP, NX, ONE, 1, 0, ONE + 1},
    {INSN_fadd_d, RM_RDN, NX, ONE, 1, 0, ONE},
    {INSN_fsub_d, RM_RTZ, NX, ONE, 1, 0, ONE - 1},
    /* x - x is +0, but -0 in RDN. */
    {INSN_fsub_d, RM_RNE, 0, ONE, ONE, 0, 0},
    {INSN_fsub_d, RM_RDN, 0, ONE, ONE, 0, MIN64},
    {INSN_fsub_d, RM_RMM, 0, ONE, ONE, 0, 0},
    /* Overflow: infinity, or the largest number. */
    {INSN_fmul_d, RM_RNE, OF | NX, 0x7fefffffffffffff, 0x4000000000000000, 0, 0x7ff0000000000000},
    {INSN_fmul_d, RM_RMM, OF | NX, 0x7fefffffffffffff, 0x4000000000000000, 0, 0x7ff0000000000000},
    {INSN_fmul_d, RM_RTZ, OF | NX, 0x7fefffffffffffff, 0x4000000000000000, 0, 0x7fefffffffffffff},
    {INSN_fmul_d, RM_RDN, OF | NX, 0x7fefffffffffffff, 0x4000000000000000, 0, 0x7fefffffffffffff},
    {INSN_fmul_d, RM_RUP, OF | NX, 0xffefffffffffffff, 0x4000000000000000, 0, 0xffefffffffffffff},
    /* Underflow: only inexact results that are tiny when rounded as if exponents had no limit. */
    {INSN_fmul_d, RM_RNE, 0, 0x0010000000000000, 0x3fe0000000000000, 0, 0x0008000000000000},
    {INSN_fmul_d, RM_RNE, UF | NX, 1, 0x3fe0000000000000, 0, 0},
    {INSN_fmul_d, RM_RMM, UF | NX, 1, 0x3fe0000000000000, 0, 1},
    {INSN_fmul_d, RM_RNE, UF | NX, 0x0010000000000000, 0x3fefffffffffffff, 0, 0x0010000000000000},
    {INSN_fmul_d, RM_RNE, NX, 0x0010000000000001, 0x3feffffffffffffe, 0, 0x0010000000000000},
    {INSN_fmul_d, RM_RMM, NX, 0x0010000000000001, 0x3feffffffffffffe, 0, 0x0010000000000000},
    {INSN_fdiv_d, RM_RNE, DZ, ONE, MIN64, 0, 0xfff0000000000000},
    {INSN_fdiv_d, RM_RNE, NV, 0, 0, 0, CANONICAL64},
    {INSN_fdiv_d, RM_RNE, 0, 0x7ff0000000000000, 0, 0, 0x7ff0000000000000},
    {INSN_fsqrt_d, RM_RNE, NV, ONE | MIN64, 0, 0, CANONICAL64},
    {INSN_fsqrt_d, RM_RNE, 0, MIN64, 0, 0, MIN64},
    {INSN_fsqrt_d, RM_RMM, NX, 0x4000000000000000, 0, 0, 0x3ff6a09e667f3bcd},
    /* NaNs lose their payload; a signalling NaN raises NV. */
    {INSN_fadd_d, RM_RNE, 0, 0xfff8000000000123, ONE, 0, CANONICAL64},
    {INSN_fadd_d, RM_RNE, NV, 0x7ff0000000000001, ONE, 0, CANONICAL64},
    {INSN_fmadd_d, RM_RNE, NV, 0x7ff0000000000000, 0, CANONICAL64, CANONICAL64},
    {INSN_fmadd_d, RM_RNE, 0, ONE, ONE, CANONICAL64, CANONICAL64},
    /* 1 * 1 - 1 is +0, as is -(1 * 1) + 1; in RDN both are -0. */
    {INSN_fmsub_d, RM_RNE, 0, ONE, ONE, ONE, 0},
    {INSN_fnmsub_d, RM_RNE, 0, ONE, ONE, ONE, 0},
    {INSN_fnmadd_d, RM_RNE, 0, ONE, ONE, ONE | MIN64, 0},
    {INSN_fnmadd_d, RM_RDN, 0, ONE, ONE, ONE | MIN64, MIN64},
    {INSN_fmin_d, 0, 0, 0, MIN64, 0, MIN64},
    {INSN_fmax_d, 0, 0, MIN64, 0, 0, 0},
    {INSN_fmin_d, 0, 0, CANONICAL64, ONE, 0, ONE},
    {INSN_fmax_d, 0, NV, ONE, 0x7ff0000000000001, 0, ONE},
    {INSN_fmin_d, 0, NV, 0x7ff0000000000001, 0xfff8000000000001, 0, CANONICAL64},
    {INSN_fmin_d, 0, 0, 0xfff8000000000001, 0xfff8000000000001, 0, CANONICAL64},
    {INSN_fcvt_s_d, RM_RNE, NX, 0x3ff0000010000000, 0, 0, BOX(0x3f800000)},
    {INSN_fcvt_s_d, RM_RMM, NX, 0x3ff0000010000000, 0, 0, BOX(0x3f800001)},
    {INSN_fcvt_s_d, RM_RNE, 0, 0xfff8000000000001, 0, 0, CANONICAL32},
    {INSN_fcvt_d_s, 0, NV, BOX(0x7f800001), 0, 0, CANONICAL64},
    {INSN_fcvt_d_s, 0, 0, 0x3f800000, 0, 0, CANONICAL64},
};

static const struct meaning floats[] = {
    /* A float that is not boxed reads as the canonical NaN. */
    {INSN_fadd_s, RM_RNE, 0, 0x3f800000, BOX(0x3f800000), 0, CANONICAL32},
    {INSN_fmin_s, 0, 0, ONE, BOX(0x3f800000), 0, BOX(0x3f800000)},
    {INSN_fsgnj_s, 0, 0, 0x3f800000, BOX(0x80000000), 0, BOX(0xffc00000)},
    {INSN_fsgnjx_s, 0, 0, BOX(0xff800001), BOX(0x80000000), 0, BOX(0x7f800001)},
    {INSN_fmadd_s, RM_RNE, NV, BOX(0x7f800000), BOX(0), 0, CANONICAL32},
    {INSN_fadd_s, RM_RMM, NX, BOX(0x3f800000), BOX(0x33800000), 0, BOX(0x3f800001)},
    {INSN_fadd_s, RM_RNE, NX, BOX(0x3f800000), BOX(0x33800000), 0, BOX(0x3f800000)},
    {INSN_fmul_s, RM_RNE, UF | NX, BOX(0x00800000), BOX(0x3f7fffff), 0, BOX(0x00800000)},
    {INSN_fmul_s, RM_RNE, UF | NX, BOX(0x00800000), BOX(0x3f7ffffd), 0, BOX(0x007ffffe)},
    {INSN_fmul_s, RM_RMM, UF | NX, BOX(0x00800000), BOX(0x3f7ffffd), 0, BOX(0x007fffff)},
    {INSN_fmul_s, RM_RNE, NX, BOX(0x00800001), BOX(0x3f7ffffe), 0, BOX(0x00800000)},
};

static const struct meaning to_integers[] = {
    {INSN_feq_d, 0, 0, CANONICAL64, ONE, 0, 0},
    {INSN_feq_d, 0, NV, 0x7ff0000000000001, ONE, 0, 0},
    {INSN_flt_d, 0, NV, CANONICAL64, ONE, 0, 0},
    {INSN_fle_d, 0, 0, MIN64, 0, 0, 1},
    {INSN_flt_d, 0, 0, MIN64, 0, 0, 0},
    {INSN_feq_s, 0, NV, BOX(0x7f800001), 0x3f800000, 0, 0},
    {INSN_feq_s, 0, 0, 0x3f800000, 0x3f800000, 0, 0},
    {INSN_fcvt_w_d, RM_RNE, NX, 0x4004000000000000, 0, 0, 2},
    {INSN_fcvt_w_d, RM_RMM, NX, 0x4004000000000000, 0, 0, 3},
    {INSN_fcvt_w_d, RM_RDN, NX, 0xc004000000000000, 0, 0, (uint64_t)-3},
    {INSN_fcvt_w_d, RM_RTZ, NV, 0x41e0000000000000, 0, 0, 0x7fffffff},
    {INSN_fcvt_w_d, RM_RTZ, NX, 0x41dfffffffe00000, 0, 0, 0x7fffffff},
    {INSN_fcvt_w_d, RM_RNE, NV, 0x41dfffffffe00000, 0, 0, 0x7fffffff},
    {INSN_fcvt_w_d, RM_RNE, NV, CANONICAL64 | MIN64, 0, 0, 0x7fffffff},
    {INSN_fcvt_wu_d, RM_RTZ, NX, 0xbfefffffffffffff, 0, 0, 0},
    {INSN_fcvt_wu_d, RM_RTZ, NV, 0xbff0000000000000, 0, 0, 0},
    {INSN_fcvt_wu_d, RM_RNE, NV, 0x7ff0000000000000, 0, 0, UINT64_MAX},
    {INSN_fcvt_wu_d, RM_RNE, 0, 0x41efffffffe00000, 0, 0, UINT64_MAX},
    {INSN_fcvt_l_d, RM_RNE, NV, 0x43e0000000000000, 0, 0, INT64_MAX},
    {INSN_fcvt_l_d, RM_RNE, 0, 0xc3e0000000000000, 0, 0, MIN64},
    {INSN_fcvt_lu_d, RM_RNE, 0, 0x43e0000000000000, 0, 0, MIN64},
    {INSN_fcvt_lu_d, RM_RNE, NV, 0x43f0000000000000, 0, 0, UINT64_MAX},
    {INSN_fcvt_lu_s, RM_RNE, NV, 0x3f800000, 0, 0, UINT64_MAX},
    {INSN_fmv_x_w, 0, 0, 0x1234567880000000, 0, 0, 0xffffffff80000000},
    {INSN_fclass_d, 0, 0, 0xfff0000000000000, 0, 0, 1 << 0},
    {INSN_fclass_d, 0, 0, ONE | MIN64, 0, 0, 1 << 1},
    {INSN_fclass_d, 0, 0, MIN64 | 1, 0, 0, 1 << 2},
    {INSN_fclass_d, 0, 0, MIN64, 0, 0, 1 << 3},
    {INSN_fclass_d, 0, 0, 0, 0, 0, 1 << 4},
    {INSN_fclass_d, 0, 0, 1, 0, 0, 1 << 5},
    {INSN_fclass_d, 0, 0, ONE, 0, 0, 1 << 6},
    {INSN_fclass_d, 0, 0, 0x7ff0000000000000, 0, 0, 1 << 7},
    {INSN_fclass_d, 0, 0, 0x7ff0000000000001, 0, 0, 1 << 8},
    {INSN_fclass_d, 0, 0, CANONICAL64, 0, 0, 1 << 9},
    {INSN_fclass_s, 0, 0, 0x3f800000, 0, 0, 1 << 9},
};

static void check(struct fixture *f, const struct meaning *m, enum fixture_way way, bool dynamic)
{
    const struct format_info *format = &format_table[insn_table[m->id].format];
    fixture_restart(f);
    fixture_row(f, m->id,
                OP(.rd = 13, .rs1 = 10, .rs2 = 11, .rs3 = 12, .rm = dynamic ? (uint8_t)RM_DYN : m->rm));
    fixture_row(f, INSN_ecall, OP(.imm = 0));
    f->hart.frm = dynamic ? m->rm : (uint8_t)RM_RUP;
    f->hart.x[10] = f->hart.f[10] = m->a;
    f->hart.x[11] = f->hart.f[11] = m->b;
    f->hart.x[12] = f->hart.f[12] = m->c;
    assert_int_equal(fixture_run(f, way, 1000), HART_STOP_TRAP);
    uint64_t got = format->rd == ROLE_F ? f->hart.f[13] : f->hart.x[13];
    if (f->hart.trap.cause != TRAP_ECALL_USER || got != m->result || f->hart.fflags != m->flags)
        fail_msg(
            "%s(%016llx, %016llx, %016llx), rm %u, way %d: %016llx flags %02x, expected %016llx flags %02x",
            insn_table[m->id].name, (unsigned long long)m->a, (unsigned long long)m->b,
            (unsigned long long)m->c, m->rm, (int)way, (unsigned long long)got, f->hart.fflags,
            (unsigned long long)m->result, m->flags);
}

static void check_all(const struct meaning *table, size_t count)
{
    struct fixture f;
    fixture_init(&f, SIZE);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        for (size_t i = 0; i < count; i++) {
            check(&f, &table[i], (enum fixture_way)way, false);
            if (format_table[insn_table[table[i].id].format].rm)
                check(&f, &table[i], (enum fixture_way)way, true);
        }
    }
    fixture_free(&f);
}

#define CHECK_ALL(table) check_all(table, sizeof(table) / sizeof(table)[0])

static void integer_results(void **state)
{
    (void)state;
    CHECK_ALL(integers);
}

static void double_results(void **state)
{
    (void)state;
    CHECK_ALL(doubles);
}

static void float_results(void **state)
{
    (void)state;
    CHECK_ALL(floats);
}

static void conversions_and_comparisons(void **state)
{
    (void)state;
    CHECK_ALL(to_integers);
}

/* All widths at all alignments, across a page. */
static void misaligned_accesses(void **state)
{
    (void)state;
    static const struct {
        enum insn_id load, store;
        unsigned size;
        bool is_signed;
    } widths[] = {
        {INSN_lb, INSN_sb, 1, true},   {INSN_lbu, INSN_sb, 1, false}, {INSN_lh, INSN_sh, 2, true},
        {INSN_lhu, INSN_sh, 2, false}, {INSN_lw, INSN_sw, 4, true},   {INSN_lwu, INSN_sw, 4, false},
        {INSN_ld, INSN_sd, 8, true},
    };
    const uint64_t value = 0x8182838485868788;
    struct fixture f;
    fixture_init(&f, SIZE);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
            for (uint64_t at = FIXTURE_DATA + 0xff0; at < FIXTURE_DATA + 0x1008; at++) {
                unsigned bits = 8 * widths[i].size;
                uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
                fixture_restart(&f);
                fixture_row(&f, widths[i].store, OP(.rs1 = 10, .rs2 = 11, .imm = 0));
                fixture_row(&f, widths[i].load, OP(.rd = 12, .rs1 = 10, .imm = 0));
                fixture_row(&f, INSN_ecall, OP(.imm = 0));
                memset(phys_at(&f.memory, at - 8, 24), 0x5a, 24);
                f.hart.x[10] = at;
                f.hart.x[11] = value;
                assert_int_equal(fixture_run(&f, (enum fixture_way)way, 1000), HART_STOP_TRAP);
                assert_int_equal(f.hart.x[12], widths[i].is_signed ? value | ~mask : value & mask);
                assert_int_equal(fixture_read(&f, at - 8, 8), 0x5a5a5a5a5a5a5a5a);
                assert_int_equal(fixture_read(&f, at + widths[i].size, 8), 0x5a5a5a5a5a5a5a5a);
            }
        }
    }
    fixture_free(&f);
}

/* LR and SC: success, a second SC, another address, and SC without LR. */
static void reservations(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        fixture_restart(&f);
        fixture_row(&f, INSN_sc_w, OP(.rd = 5, .rs1 = 10, .rs2 = 11)); /* no reservation: 1 */
        fixture_row(&f, INSN_lr_w, OP(.rd = 6, .rs1 = 10));            /* sign-extended */
        fixture_row(&f, INSN_sc_w, OP(.rd = 7, .rs1 = 10, .rs2 = 11)); /* 0 */
        fixture_row(&f, INSN_sc_w, OP(.rd = 8, .rs1 = 10, .rs2 = 0));  /* used up: fails, 1 */
        fixture_row(&f, INSN_lr_d, OP(.rd = 9, .rs1 = 10));
        fixture_row(&f, INSN_sc_d, OP(.rd = 12, .rs1 = 13, .rs2 = 11)); /* another address: fails, 1 */
        fixture_row(&f, INSN_sc_d, OP(.rd = 14, .rs1 = 10, .rs2 = 11)); /* and used up: fails, 1 */
        fixture_row(&f, INSN_ecall, OP(.imm = 0));
        f.hart.x[10] = FIXTURE_DATA;
        f.hart.x[11] = 0x1122334455667788;
        f.hart.x[13] = FIXTURE_DATA + 8;
        fixture_write(&f, FIXTURE_DATA, 8, 0x80000000);
        fixture_write(&f, FIXTURE_DATA + 8, 8, 99);
        assert_int_equal(fixture_run(&f, (enum fixture_way)way, 1000), HART_STOP_TRAP);
        assert_int_equal(f.hart.x[5], 1);
        assert_int_equal(f.hart.x[6], 0xffffffff80000000);
        assert_int_equal(f.hart.x[7], 0);
        assert_int_equal(f.hart.x[8], 1);
        assert_int_equal(f.hart.x[9], 0x55667788);
        assert_int_equal(f.hart.x[12], 1);
        assert_int_equal(f.hart.x[14], 1);
        assert_int_equal(fixture_read(&f, FIXTURE_DATA, 8), 0x55667788);
        assert_int_equal(fixture_read(&f, FIXTURE_DATA + 8, 8), 99);
    }
    fixture_free(&f);
}

/* Each row: an access to a CSR that holds 0xe1 (fcsr), the value that it reads and the value that it leaves. */
static void csr_accesses(void **state)
{
    (void)state;
    static const struct {
        enum insn_id id;
        uint16_t number;
        uint8_t rs1; /* x10 = all ones, x11 = 0x47, x0, or the immediate */
        uint64_t read, fcsr;
    } cases[] = {
        {INSN_csrrw, 3, 10, 0xe1, 0xff}, {INSN_csrrw, 3, 11, 0xe1, 0x47}, {INSN_csrrw, 3, 0, 0xe1, 0},
        {INSN_csrrs, 3, 11, 0xe1, 0xe7}, {INSN_csrrs, 3, 0, 0xe1, 0xe1},  {INSN_csrrc, 3, 11, 0xe1, 0xa0},
        {INSN_csrrc, 3, 0, 0xe1, 0xe1},  {INSN_csrrw, 2, 10, 7, 0xe1},    {INSN_csrrw, 2, 0, 7, 0x01},
        {INSN_csrrw, 1, 10, 1, 0xff},    {INSN_csrrs, 1, 11, 1, 0xe7},    {INSN_csrrwi, 3, 31, 0xe1, 0x1f},
        {INSN_csrrsi, 3, 2, 0xe1, 0xe3}, {INSN_csrrci, 3, 1, 0xe1, 0xe0}, {INSN_csrrsi, 2, 0, 7, 0xe1},
        {INSN_csrrci, 2, 2, 7, 0xa1},    {INSN_csrrwi, 1, 0, 1, 0xe0},
    };
    struct fixture f;
    fixture_init(&f, SIZE);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            for (uint8_t rd = 0; rd <= 12; rd += 12) {
                fixture_restart(&f);
                fixture_row(&f, cases[i].id, OP(.rd = rd, .rs1 = cases[i].rs1, .imm = cases[i].number));
                fixture_row(&f, INSN_ecall, OP(.imm = 0));
                f.hart.x[10] = UINT64_MAX;
                f.hart.x[11] = 0x47;
                f.hart.frm = 7;
                f.hart.fflags = 1;
                assert_int_equal(fixture_run(&f, (enum fixture_way)way, 1000), HART_STOP_TRAP);
                assert_int_equal(f.hart.trap.cause, TRAP_ECALL_USER);
                assert_int_equal(f.hart.x[12], rd ? cases[i].read : 0);
                assert_int_equal(f.hart.frm << 5 | f.hart.fflags, cases[i].fcsr);
                assert_int_equal(f.hart.x[0], 0);
            }
        }
    }
    fixture_free(&f);
}

/* Counter reads return the instructions retired before them, at any place in a block. */
static void counters(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        fixture_restart(&f);
        uint64_t start = f.hart.instret;
        for (uint8_t i = 0; i < 3; i++) {
            for (unsigned k = 0; k < 5u * i; k++)
                fixture_row(&f, INSN_addi, OP(.rd = 5, .rs1 = 5, .imm = 1));
            fixture_row(&f, INSN_csrrs, OP(.rd = (uint8_t)(10 + i), .imm = 0xc00 + i));
        }
        fixture_row(&f, INSN_ecall, OP(.imm = 0));
        assert_int_equal(fixture_run(&f, (enum fixture_way)way, 1000), HART_STOP_TRAP);
        assert_int_equal(f.hart.x[10] - start, 0);
        assert_int_equal(f.hart.x[11] - start, 6);
        assert_int_equal(f.hart.x[12] - start, 17);
    }
    fixture_free(&f);
}

/* jalr with rd = rs1, an odd target, and x0 as destination of everything. */
static void jumps_and_x0(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        fixture_restart(&f);
        fixture_row(&f, INSN_jalr, OP(.rd = 10, .rs1 = 10, .imm = 3)); /* to base + 8 */
        fixture_row(&f, INSN_ebreak, OP(.imm = 0));
        fixture_row(&f, INSN_addi, OP(.rd = 0, .rs1 = 10, .imm = 5));
        fixture_row(&f, INSN_mul, OP(.rd = 0, .rs1 = 10, .rs2 = 10));
        fixture_row(&f, INSN_ld, OP(.rd = 0, .rs1 = 11, .imm = 0));
        fixture_row(&f, INSN_add, OP(.rd = 12, .rs1 = 0, .rs2 = 0));
        fixture_row(&f, INSN_amoadd_w, OP(.rd = 0, .rs1 = 11, .rs2 = 10));
        fixture_row(&f, INSN_jal, OP(.rd = 0, .imm = 4));
        fixture_row(&f, INSN_beq, OP(.rs1 = 0, .rs2 = 12, .imm = 8));
        fixture_row(&f, INSN_ebreak, OP(.imm = 0));
        fixture_row(&f, INSN_ecall, OP(.imm = 0));
        f.hart.x[10] = FIXTURE_BASE + 6;
        f.hart.x[11] = FIXTURE_DATA;
        f.hart.x[12] = 1;
        assert_int_equal(fixture_run(&f, (enum fixture_way)way, 1000), HART_STOP_TRAP);
        assert_int_equal(f.hart.trap.cause, TRAP_ECALL_USER);
        assert_int_equal(f.hart.x[10], FIXTURE_BASE + 4);
        assert_int_equal(f.hart.x[12], 0);
        assert_int_equal(f.hart.x[0], 0);
        assert_int_equal(f.hart.pc, FIXTURE_BASE + 40);
    }
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_results),     cmocka_unit_test(double_results),
        cmocka_unit_test(float_results),       cmocka_unit_test(conversions_and_comparisons),
        cmocka_unit_test(misaligned_accesses), cmocka_unit_test(reservations),
        cmocka_unit_test(csr_accesses),        cmocka_unit_test(counters),
        cmocka_unit_test(jumps_and_x0),
    };
    return cmocka_run_group_tests_name("meaning", tests, NULL, NULL);
}
