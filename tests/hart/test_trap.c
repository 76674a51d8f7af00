/* Traps: cause and value, and that a trapping instruction changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/hart/fixture.h"

enum { SIZE = 0x10000, LIMIT = 1000 };

/* a0 = x10 points to FIXTURE_DATA; a1 = x11 is odd. */
struct trapping {
    const char *text;
    uint32_t bits;
    uint8_t frm;
    enum trap_cause cause;
    uint64_t value;
};

#define ILLEGAL(text, bits)                                                                                  \
    {                                                                                                        \
        text, bits, 0, TRAP_ILLEGAL_INSTRUCTION, bits                                                        \
    }

static const struct trapping trapping[] = {
    ILLEGAL("all zeros", 0x0000),
    ILLEGAL("all ones", 0xffffffff),
    ILLEGAL("c.addiw zero, 1", 0x2005),
    ILLEGAL("c.lui a0, 0", 0x6501),
    ILLEGAL("c.addi16sp sp, 0", 0x6101),
    ILLEGAL("c.jr zero", 0x8002),
    ILLEGAL("c.lwsp zero", 0x4002),
    ILLEGAL("c.ldsp zero", 0x6002),
    ILLEGAL("csrrw a0, cycle, a1", 0xc0059573),
    ILLEGAL("csrrw zero, cycle, zero", 0xc0001073),
    ILLEGAL("csrrs a0, instret, a1", 0xc025a573),
    ILLEGAL("csrrc a0, time, a1", 0xc015b573),
    ILLEGAL("csrrwi a0, cycle, 0", 0xc0005573),
    ILLEGAL("csrrsi a0, cycle, 1", 0xc000e573),
    ILLEGAL("csrrs a0, mstatus, zero", 0x30002573),
    ILLEGAL("csrrw zero, 0x800, a1", 0x80059073),
    ILLEGAL("mret", 0x30200073),
    ILLEGAL("wfi", 0x10500073),
    ILLEGAL("fadd.d rm 5", 0x0220d053),
    ILLEGAL("fadd.d rm 6", 0x0220e053),
    ILLEGAL("fcvt.d.w rm 5", 0xd2055053),
    ILLEGAL("config.axram", 0x00b5000b),
    ILLEGAL("stash.addmap", 0x0005062b),
    ILLEGAL("slliw by 32", 0x0205151b),
    ILLEGAL("lr.w with rs2", 0x1015252f),
    {"fadd.d, frm 5", 0x0220f053, 5, TRAP_ILLEGAL_INSTRUCTION, 0x0220f053},
    {"fadd.d, frm 6", 0x0220f053, 6, TRAP_ILLEGAL_INSTRUCTION, 0x0220f053},
    {"fadd.s, frm 7", 0x0020f053, 7, TRAP_ILLEGAL_INSTRUCTION, 0x0020f053},
    {"fsqrt.d, frm 5", 0x5a00f053, 5, TRAP_ILLEGAL_INSTRUCTION, 0x5a00f053},
    {"fmadd.d, frm 5", 0x1a20f043, 5, TRAP_ILLEGAL_INSTRUCTION, 0x1a20f043},
    {"fcvt.w.d, frm 5", 0xc200f553, 5, TRAP_ILLEGAL_INSTRUCTION, 0xc200f553},
    {"fcvt.d.w rm 7, frm 5", 0xd2057053, 5, TRAP_ILLEGAL_INSTRUCTION, 0xd2057053},
    {"fcvt.d.s rm 7, frm 7", 0x4200f053, 7, TRAP_ILLEGAL_INSTRUCTION, 0x4200f053},
    {"ebreak", 0x00100073, 0, TRAP_BREAKPOINT, FIXTURE_BASE},
    {"c.ebreak", 0x9002, 0, TRAP_BREAKPOINT, FIXTURE_BASE},
    {"ecall", 0x00000073, 0, TRAP_ECALL_USER, 0},
    {"lr.w, misaligned", 0x1005a52f, 0, TRAP_LOAD_MISALIGNED, FIXTURE_DATA + 1},
    {"lr.d, misaligned", 0x1005b52f, 0, TRAP_LOAD_MISALIGNED, FIXTURE_DATA + 1},
    {"sc.w, misaligned", 0x18c5a52f, 0, TRAP_STORE_MISALIGNED, FIXTURE_DATA + 1},
    {"amoadd.w, misaligned", 0x00c5a52f, 0, TRAP_STORE_MISALIGNED, FIXTURE_DATA + 1},
    {"amoswap.d, misaligned", 0x08c5b52f, 0, TRAP_STORE_MISALIGNED, FIXTURE_DATA + 1},
    {"ld at 0", 0x00003503, 0, TRAP_LOAD_ACCESS, 0},
    {"lb below memory", 0xfff00503, 0, TRAP_LOAD_ACCESS, UINT64_MAX},
    {"sd at 0", 0x00a03023, 0, TRAP_STORE_ACCESS, 0},
    {"fld at 8", 0x00803507, 0, TRAP_LOAD_ACCESS, 8},
    {"fsd at 8", 0x00a03427, 0, TRAP_STORE_ACCESS, 8},
    {"amoadd.d at 0", 0x00a0352f, 0, TRAP_STORE_ACCESS, 0},
    {"lr.d at 0", 0x1000352f, 0, TRAP_LOAD_ACCESS, 0},
    {"sc.d at 0", 0x18a0352f, 0, TRAP_STORE_ACCESS, 0},
};

static void set_registers(struct fixture *f)
{
    for (unsigned i = 1; i < 32; i++) {
        f->hart.x[i] = 0x1000 + i;
        f->hart.f[i] = 0x3ff0000000000000 + i;
    }
    f->hart.x[10] = FIXTURE_DATA;
    f->hart.x[11] = FIXTURE_DATA + 1;
}

static void each_cause(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        for (size_t i = 0; i < sizeof trapping / sizeof trapping[0]; i++) {
            const struct trapping *t = &trapping[i];
            fixture_restart(&f);
            fixture_word(&f, t->bits);
            set_registers(&f);
            f.hart.frm = t->frm;
            struct hart before = f.hart;
            enum hart_stop stop = fixture_run(&f, (enum fixture_way)way, LIMIT);
            if (stop != HART_STOP_TRAP || f.hart.trap.cause != t->cause || f.hart.trap.value != t->value)
                fail_msg("%s: stop %d, cause %d, value 0x%llx", t->text, (int)stop, (int)f.hart.trap.cause,
                         (unsigned long long)f.hart.trap.value);
            assert_int_equal(f.hart.pc, FIXTURE_BASE);
            assert_int_equal(f.hart.instret, before.instret);
            assert_memory_equal(f.hart.x, before.x, 32 * sizeof before.x[0]);
            assert_memory_equal(f.hart.f, before.f, sizeof before.f);
            assert_int_equal(f.hart.fflags, 0);
            assert_int_equal(fixture_class_sum(&f), f.hart.instret);
        }
    }
    fixture_free(&f);
}

static void exact_after_other_instructions(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        for (unsigned before = 0; before < 200; before += 7) {
            fixture_restart(&f);
            uint64_t instret = f.hart.instret;
            for (unsigned i = 0; i < before; i++)
                fixture_row(&f, i % 3 ? INSN_addi : INSN_lui,
                            (struct operands){.rd = 5, .rs1 = 5, .imm = i % 3 ? 1 : 0});
            fixture_row(&f, INSN_ld, (struct operands){.rd = 5, .rs1 = 0, .imm = 64});
            fixture_row(&f, INSN_addi, (struct operands){.rd = 6, .rs1 = 0, .imm = 1});
            assert_int_equal(fixture_run(&f, (enum fixture_way)way, LIMIT), HART_STOP_TRAP);
            assert_int_equal(f.hart.trap.cause, TRAP_LOAD_ACCESS);
            assert_int_equal(f.hart.trap.value, 64);
            assert_int_equal(f.hart.pc, FIXTURE_BASE + 4 * before);
            assert_int_equal(f.hart.instret - instret, before);
            assert_int_equal(fixture_class_sum(&f), f.hart.instret);
            assert_int_equal(f.hart.x[6], 0);
        }
    }
    fixture_free(&f);
}

static void jumps_out_of_memory(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        fixture_restart(&f);
        uint64_t instret = f.hart.instret;
        fixture_row(&f, INSN_jalr, (struct operands){.rd = 1, .rs1 = 0, .imm = 17});
        assert_int_equal(fixture_run(&f, (enum fixture_way)way, LIMIT), HART_STOP_TRAP);
        assert_int_equal(f.hart.trap.cause, TRAP_FETCH_ACCESS);
        assert_int_equal(f.hart.trap.value, 16); /* bit 0 of a jump's target is cleared */
        assert_int_equal(f.hart.pc, 16);
        assert_int_equal(f.hart.x[1], FIXTURE_BASE + 4);
        assert_int_equal(f.hart.instret - instret, 1);
        /* An instruction that begins in memory and ends outside. */
        fixture_restart(&f);
        fixture_write(&f, FIXTURE_BASE + SIZE - 2, 2, 0x0003);
        f.hart.pc = FIXTURE_BASE + SIZE - 2;
        assert_int_equal(fixture_run(&f, (enum fixture_way)way, LIMIT), HART_STOP_TRAP);
        assert_int_equal(f.hart.trap.cause, TRAP_FETCH_ACCESS);
        assert_int_equal(f.hart.trap.value, FIXTURE_BASE + SIZE);
        assert_int_equal(f.hart.pc, FIXTURE_BASE + SIZE - 2);
        /* The last one may be compressed. */
        fixture_write(&f, FIXTURE_BASE + SIZE - 2, 2, 0x0505);
        hart_flush_code(&f.hart);
        assert_int_equal(fixture_run(&f, (enum fixture_way)way, LIMIT), HART_STOP_TRAP);
        assert_int_equal(f.hart.pc, FIXTURE_BASE + SIZE);
        assert_int_equal(f.hart.x[10], 1);
    }
    fixture_free(&f);
}

static void protected_memory(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    hart_protect(&f.hart, FIXTURE_DATA);
    static const struct {
        enum insn_id id;
        unsigned size;
    } stores[] = {{INSN_sb, 1}, {INSN_sh, 2}, {INSN_sw, 4}, {INSN_sd, 8}};
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        for (unsigned i = 0; i < 4; i++) {
            for (int offset = -9; offset <= 1; offset++) {
                fixture_restart(&f);
                fixture_row(&f, stores[i].id, (struct operands){.rs1 = 10, .rs2 = 11, .imm = offset});
                f.hart.x[10] = FIXTURE_DATA;
                f.hart.x[11] = UINT64_MAX;
                fixture_write(&f, FIXTURE_DATA - 16, 8, 0);
                fixture_write(&f, FIXTURE_DATA - 8, 8, 0);
                enum hart_stop stop = fixture_run(&f, (enum fixture_way)way, 1);
                assert_int_equal(stop, offset < 0 ? HART_STOP_TRAP : HART_STOP_LIMIT);
                if (offset < 0) {
                    assert_int_equal(f.hart.trap.cause, TRAP_STORE_ACCESS);
                    assert_int_equal(f.hart.trap.value, FIXTURE_DATA + (uint64_t)(int64_t)offset);
                }
                assert_int_equal(fixture_read(&f, FIXTURE_DATA - 16, 8), 0);
                assert_int_equal(fixture_read(&f, FIXTURE_DATA - 8, 8), 0);
            }
        }
    }
    fixture_free(&f);
}

static void ends_of_memory(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    static const struct {
        enum insn_id load, store;
        unsigned size;
    } widths[] = {
        {INSN_lbu, INSN_sb, 1}, {INSN_lhu, INSN_sh, 2}, {INSN_lwu, INSN_sw, 4}, {INSN_ld, INSN_sd, 8}};
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        for (unsigned i = 0; i < 4; i++) {
            for (unsigned back = 0; back <= 9; back++) {
                bool inside = back >= widths[i].size;
                for (unsigned store = 0; store < 2; store++) {
                    fixture_restart(&f);
                    fixture_row(&f, store ? widths[i].store : widths[i].load,
                                (struct operands){.rd = 12, .rs1 = 10, .rs2 = 11, .imm = -(int32_t)back});
                    f.hart.x[10] = FIXTURE_BASE + SIZE;
                    f.hart.x[11] = 0x1122334455667788;
                    assert_int_equal(fixture_run(&f, (enum fixture_way)way, 1),
                                     inside ? HART_STOP_LIMIT : HART_STOP_TRAP);
                    if (!inside)
                        assert_int_equal(f.hart.trap.value, FIXTURE_BASE + SIZE - back);
                }
            }
        }
    }
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cause),          cmocka_unit_test(exact_after_other_instructions),
        cmocka_unit_test(jumps_out_of_memory), cmocka_unit_test(protected_memory),
        cmocka_unit_test(ends_of_memory),
    };
    return cmocka_run_group_tests_name("traps", tests, NULL, NULL);
}
