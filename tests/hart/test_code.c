/* Stores to code: they take effect at the next instruction, without FENCE.I, whoever stores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/block.h"
#include "emu/hart/mmu.h"
#include "emu/hart/probe.h"
#include "emu/hart/stream.h"
#include "emu/mem/phys/bytes.h"
#include "tests/hart/fixture.h"

enum { SIZE = 0x10000, RA = 1, T0 = 5, T1 = 6, T2 = 7, A0 = 10, A1 = 11, A2 = 12 };

static uint32_t load_immediate(uint8_t rd, int32_t value)
{
    return encode(INSN_addi, &OP(.rd = rd, .imm = value));
}

static void ecall(struct fixture *f)
{
    fixture_row(f, INSN_ecall, OP(.imm = 0));
}

static void run(struct fixture *f, enum fixture_way way)
{
    assert_int_equal(fixture_run(f, way, 100000), HART_STOP_TRAP);
    assert_int_equal(f->hart.trap.cause, TRAP_ECALL_USER);
    assert_int_equal(fixture_class_sum(f), f->hart.instret);
}

/* A store in front of a jump to code that never ran. */
static void before_its_first_run(void **state)
{
    (void)state;
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        struct fixture f;
        fixture_init(&f, SIZE);
        fixture_row(&f, INSN_sw, OP(.rs1 = A0, .rs2 = A1, .imm = 0));
        fixture_jump(&f, 0, FIXTURE_BASE + 64);
        f.at = FIXTURE_BASE + 64;
        fixture_word(&f, load_immediate(A2, 1));
        ecall(&f);
        f.hart.x[A0] = FIXTURE_BASE + 64;
        f.hart.x[A1] = load_immediate(A2, 2);
        run(&f, (enum fixture_way)way);
        assert_int_equal(f.hart.x[A2], 2);
        assert_int_equal(f.hart.instret, 3);
        fixture_free(&f);
    }
}

/* A loop that adds a constant and increases it with a store to the same block, before or behind the addition. */
static void in_the_current_block(void **state)
{
    (void)state;
    for (unsigned case_ = 0; case_ < 2 * FIXTURE_WAYS; case_++) {
        bool behind = case_ % 2;
        struct fixture f;
        fixture_init(&f, SIZE);
        uint64_t add = FIXTURE_BASE + (behind ? 0 : 12);
        if (behind)
            fixture_row(&f, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 1));
        fixture_row(&f, INSN_lw, OP(.rd = T0, .rs1 = A0, .imm = 0));
        fixture_row(&f, INSN_add, OP(.rd = T0, .rs1 = T0, .rs2 = T1));
        fixture_row(&f, INSN_sw, OP(.rs1 = A0, .rs2 = T0, .imm = 0));
        if (!behind)
            fixture_row(&f, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 1));
        fixture_row(&f, INSN_addi, OP(.rd = T2, .rs1 = T2, .imm = -1));
        fixture_row(&f, INSN_bne, OP(.rs1 = T2, .imm = (int32_t)(FIXTURE_BASE - f.at)));
        ecall(&f);
        f.hart.x[A0] = add;
        f.hart.x[T1] = 1 << 20;
        f.hart.x[T2] = 100;
        run(&f, (enum fixture_way)(case_ / 2));
        assert_int_equal(f.hart.x[A2], behind ? 100 * 101 / 2 : 100 * 101 / 2 + 100);
        assert_int_equal(f.hart.instret, 600);
        fixture_free(&f);
    }
}

/* A function that is called, patched and called again, in turn; half of its first instruction is on the page before, and
 * either half is patched. */
static void across_pages(void **state)
{
    (void)state;
    for (unsigned case_ = 0; case_ < 2 * FIXTURE_WAYS; case_++) {
        bool second = case_ % 2;
        const uint64_t function = FIXTURE_BASE + 2 * MMU_PAGE - 2;
        struct fixture f;
        fixture_init(&f, SIZE);
        fixture_jump(&f, RA, function);
        fixture_row(&f, INSN_sh, OP(.rs1 = A0, .rs2 = A1, .imm = 0));
        fixture_jump(&f, RA, function);
        fixture_row(&f, INSN_sh, OP(.rs1 = A0, .rs2 = T1, .imm = 0));
        fixture_jump(&f, RA, function);
        ecall(&f);
        f.at = function;
        fixture_row(&f, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 1));
        fixture_narrow(&f, 0x8082); /* ret */
        uint32_t old = encode(INSN_addi, &OP(.rd = A2, .rs1 = A2, .imm = 1));
        uint32_t new = second ? encode(INSN_addi, &OP(.rd = A2, .rs1 = A2, .imm = 16))
                              : encode(INSN_xori, &OP(.rd = A2, .rs1 = A2, .imm = 1));
        f.hart.x[A0] = function + (second ? 2 : 0);
        f.hart.x[A1] = second ? new >> 16 : new;
        f.hart.x[T1] = second ? old >> 16 : old;
        run(&f, (enum fixture_way)(case_ / 2));
        assert_int_equal(f.hart.x[A2], second ? 1 + 16 + 1 : (1 ^ 1) + 1);
        assert_int_equal(f.hart.instret, 3 * 3 + 2);
        fixture_free(&f);
    }
}

/* Data on a page with code: stores to it drop nothing. A store that changes one function leaves the others. */
static void only_what_is_stored_to(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    fixture_jump(&f, 0, FIXTURE_BASE + 16);
    f.at = FIXTURE_BASE + 16;
    fixture_row(&f, INSN_sd, OP(.rs1 = A0, .rs2 = T2, .imm = 0));
    fixture_row(&f, INSN_addi, OP(.rd = T2, .rs1 = T2, .imm = -1));
    fixture_row(&f, INSN_bne, OP(.rs1 = T2, .imm = -8));
    ecall(&f);
    f.hart.x[A0] = FIXTURE_BASE + 8; /* between the jump and its target */
    f.hart.x[T2] = 1000;
    run(&f, FIXTURE_RUN);
    assert_int_equal(block_drops(f.hart.blocks), 0);
    assert_true(block_translations(f.hart.blocks) < 8);
    assert_true(phys_has_code(&f.memory, FIXTURE_BASE));
    assert_false(phys_has_code(&f.memory, FIXTURE_BASE + MMU_PAGE));
    /* All code of the page goes, so that stores to it are fast again. */
    const uint8_t zeros[128] = {0};
    assert_int_equal(bytes_write(&(struct bytes){&f.memory, NULL}, FIXTURE_BASE, zeros, sizeof zeros),
                     sizeof zeros);
    assert_true(block_drops(f.hart.blocks) > 0);
    assert_false(phys_has_code(&f.memory, FIXTURE_BASE));
    fixture_free(&f);
}

/* A hart that runs without end; another hart, a device and a debugger change its code. */
static void by_others(void **state)
{
    (void)state;
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        struct fixture f;
        struct hart other;
        struct error err;
        uint32_t word = encode(INSN_addi, &OP(.rd = A2, .rs1 = A2, .imm = 3));
        fixture_init(&f, SIZE);
        assert_true(hart_init(&other, &f.memory, f.decoder, &err));
        fixture_row(&f, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 1));
        fixture_jump(&f, 0, FIXTURE_BASE);
        f.at = FIXTURE_BASE + 0x2000;
        fixture_row(&f, INSN_sw, OP(.rs1 = A0, .rs2 = A1, .imm = 0));
        ecall(&f);
        assert_int_equal(fixture_run(&f, (enum fixture_way)way, 2000), HART_STOP_LIMIT);
        assert_int_equal(f.hart.x[A2], 1000);
        for (unsigned round = 0; round < 2; round++) { /* the second time, its store is in its own code */
            other.pc = FIXTURE_BASE + 0x2000;
            other.x[A0] = FIXTURE_BASE;
            other.x[A1] = encode(INSN_addi, &OP(.rd = A2, .rs1 = A2, .imm = 2));
            assert_int_equal(hart_run(&other, 1000), HART_STOP_TRAP);
            assert_int_equal(fixture_run(&f, (enum fixture_way)way, 2000), HART_STOP_LIMIT);
            assert_int_equal(f.hart.x[A2], 1000 + 2000 + round * 5000);
            assert_int_equal(bytes_write(&(struct bytes){&f.memory, NULL}, FIXTURE_BASE, &word, 4), 4);
            assert_int_equal(fixture_run(&f, (enum fixture_way)way, 2000), HART_STOP_LIMIT);
            assert_int_equal(f.hart.x[A2], 1000 + 5000 + round * 5000);
        }
        hart_free(&other);
        fixture_free(&f);
    }
}

/* A streamed hart, as timing cores use: its batches see changed code, and what its entries point to stays. */
static void streamed(void **state)
{
    (void)state;
    struct fixture f;
    struct stream stream;
    struct error err;
    uint32_t word = encode(INSN_addi, &OP(.rd = A2, .rs1 = A2, .imm = 3));
    fixture_init(&f, SIZE);
    assert_true(stream_init(&stream, &f.hart, &err));
    fixture_row(&f, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 1));
    fixture_jump(&f, 0, FIXTURE_BASE);
    uint64_t expected = 0;
    for (unsigned i = 0; i < 10; i++) {
        uint64_t before = f.hart.instret;
        assert_int_equal(stream_run(&stream, 100), STREAM_MORE);
        assert_int_equal(f.hart.instret - before, stream.count);
        assert_true(stream.count > 0);
        if (stream.count % 2) /* begin every batch with the addition */
            assert_int_equal(stream_run(&stream, 1), STREAM_MORE);
        expected += (f.hart.instret - before) / 2 * (i % 2 ? 3 : 1);
        assert_int_equal(f.hart.x[A2], expected);
        word = encode(INSN_addi, &OP(.rd = A2, .rs1 = A2, .imm = i % 2 ? 1 : 3));
        assert_int_equal(bytes_write(&(struct bytes){&f.memory, NULL}, FIXTURE_BASE, &word, 4), 4);
        assert_int_equal(stream.entries[0].op->pc % 4, 0);
        assert_true(stream.entries[0].op->id == INSN_addi || stream.entries[0].op->id == INSN_jal);
    }
    stream_free(&stream);
    fixture_free(&f);
}

/* An unprivileged hart that runs code in memory that it can store to accesses data through a TLB: with the same results,
 * also at the ends of memory and of what it may store to, and for unaligned accesses. */
static void unprivileged(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    hart_protect(&f.hart, FIXTURE_BASE + 0x1100);
    fixture_row(&f, INSN_sd, OP(.rs1 = A0, .rs2 = A1, .imm = 0));
    fixture_row(&f, INSN_ld, OP(.rd = A2, .rs1 = A0, .imm = 0));
    ecall(&f);
    f.hart.x[A0] = FIXTURE_BASE + 0x1100;
    f.hart.x[A1] = 77;
    run(&f, FIXTURE_RUN);
    assert_int_equal(f.hart.x[A2], 77);
    assert_null(f.hart.tlb); /* the code is read-only */
    f.at = FIXTURE_BASE + 0x3000;
    fixture_row(&f, INSN_sd, OP(.rs1 = A0, .rs2 = A1, .imm = 0));
    fixture_row(&f, INSN_ld, OP(.rd = A2, .rs1 = A0, .imm = 0));
    ecall(&f);
    const struct {
        uint64_t address;
        bool allowed;
    } cases[] = {{FIXTURE_BASE + 0x10ff, false},   {FIXTURE_BASE + 0x1100, true},
                 {FIXTURE_BASE + 0x1ffc, true},    {FIXTURE_BASE + 0x2003, true},
                 {FIXTURE_BASE + 0x4000, true},    {FIXTURE_BASE + SIZE - 8, true},
                 {FIXTURE_BASE + SIZE - 7, false}, {FIXTURE_BASE, false},
                 {UINT64_MAX - 3, false},          {0, false}};
    for (unsigned i = 0; i < 3 * sizeof cases / sizeof *cases; i++) {
        unsigned k = i % (sizeof cases / sizeof *cases);
        f.hart.pc = FIXTURE_BASE + 0x3000;
        f.hart.x[A0] = cases[k].address;
        f.hart.x[A1] = i + 1;
        f.hart.x[A2] = 0;
        assert_int_equal(fixture_run(&f, FIXTURE_RUN, 1000), HART_STOP_TRAP);
        assert_int_equal(f.hart.trap.cause, cases[k].allowed ? TRAP_ECALL_USER : TRAP_STORE_ACCESS);
        assert_int_equal(f.hart.x[A2], cases[k].allowed ? i + 1 : 0);
        if (cases[k].allowed)
            assert_int_equal(fixture_read(&f, cases[k].address, 8), i + 1);
    }
    assert_non_null(f.hart.tlb);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_its_first_run),
        cmocka_unit_test(in_the_current_block),
        cmocka_unit_test(across_pages),
        cmocka_unit_test(only_what_is_stored_to),
        cmocka_unit_test(by_others),
        cmocka_unit_test(streamed),
        cmocka_unit_test(unprivileged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
