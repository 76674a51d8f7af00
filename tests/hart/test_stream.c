/* The entries and effects of a stream equal the reports of steps, for any division into batches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/block.h"
#include "emu/hart/probe.h"
#include "tests/hart/oracle/generate.h"
#include "tests/hart/pair.h"

enum { SIZE = 0x20000, T0 = 5, T1 = 6, T2 = 7, A0 = 10, A1 = 11, RA = 1 };
#define DATA PAIR_DATA

#define E(extension) (UINT64_C(1) << EXTENSION_##extension)

static const uint64_t limits[] = {1, 2, 3, 127, 1000, 33, 128, 64};
enum { LIMITS = sizeof limits / sizeof *limits };

static const struct suite suite = {"mixed",
                                   E(I) | E(M) | E(A) | E(F) | E(D) | E(C) | E(Zicsr) | E(Zifencei) | E(Zba) |
                                       E(Zbb) | E(Zbc) | E(Zbs) | E(Zicond) | E(Zcb) | E(Zfh) | E(Zfhmin) |
                                       E(Zicbop) | E(Xnucd) | E(Xmarker),
                                   E(I),
                                   100,
                                   40,
                                   false};

static void load_block(struct pair *pair, const struct batch *batch, uint64_t index)
{
    const struct state *state = &batch->states[index];
    pair_write(pair, batch_code_at(index), batch->code[index], BATCH_CODE_BYTES);
    pair_write(pair, batch_state_at(index), state, sizeof *state);
    struct hart *harts[] = {&pair->run.hart, &pair->step.hart};
    for (unsigned i = 0; i < 2; i++) {
        memcpy(harts[i]->x, state->x, sizeof state->x);
        memcpy(harts[i]->f, state->f, sizeof harts[i]->f);
        harts[i]->fflags = state->fcsr & 31;
        harts[i]->frm = state->fcsr >> 5 & 7;
        harts[i]->pc = batch_code_at(index);
    }
}

/* Blocks of all kinds of instructions. BATCH_END is where they end. */
static void run_blocks(struct pair *pair, uint64_t blocks, uint64_t seed)
{
    struct random random = {seed};
    struct batch *batch = malloc(sizeof *batch);
    assert_non_null(batch);
    for (uint64_t i = 0; i < blocks; i++) {
        (void)generate_block(&random, pair->decoder, &suite, batch, i);
        load_block(pair, batch, i);
        /* The second run of a block uses its translation. */
        for (unsigned again = 0; again < 2; again++) {
            pair_go(pair, batch_code_at(i));
            pair_run(pair, BATCH_END, &limits[(i + again) % LIMITS], 1, 5000);
        }
    }
    pair_compare(pair);
    free(batch);
}

static void random_blocks(void **state)
{
    (void)state;
    const struct exec_table *const tables[] = {&exec_base, exec_choose(false)};
    for (unsigned i = 0; i < 2; i++) {
        struct pair pair;
        pair_init(&pair, BATCH_LIMIT - PAIR_BASE, false, tables[i]);
        hart_protect(&pair.run.hart, BATCH_STATES);
        hart_protect(&pair.step.hart, BATCH_STATES);
        run_blocks(&pair, 600, 11 + i);
        assert_true(pair.listed > 20000);
        pair_free(&pair);
    }
}

static void random_blocks_translated(void **state)
{
    (void)state;
    const struct exec_table *const tables[] = {&exec_base_tlb, exec_choose(true)};
    for (unsigned i = 0; i < 2; i++) {
        struct pair pair;
        pair_init(&pair, BATCH_LIMIT - PAIR_BASE + 0x10000, true, tables[i]);
        pair_translate(&pair, (BATCH_LIMIT - PAIR_BASE) / 4096);
        run_blocks(&pair, 600, 21 + i);
        assert_true(pair.listed > 20000);
        pair_free(&pair);
    }
}

/* Loads and stores of every size and alignment around every byte of a page's end, 200 times. */
static void write_crossing(struct pair *pair)
{
    static const enum insn_id rows[] = {INSN_sd,  INSN_ld, INSN_sw, INSN_lw,  INSN_sh,
                                        INSN_lhu, INSN_sb, INSN_lb, INSN_fsd, INSN_flw};
    for (int32_t offset = -9; offset < 9; offset++)
        for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
            pair_row(pair, rows[i], OP(.rd = T1, .rs1 = A0, .rs2 = T0, .imm = offset));
    pair_row(pair, INSN_add, OP(.rd = T0, .rs1 = T0, .rs2 = A1));
    pair_row(pair, INSN_addi, OP(.rd = T2, .rs1 = T2, .imm = -1));
    pair_row(pair, INSN_bne, OP(.rs1 = T2, .imm = (int32_t)(PAIR_BASE - pair->at)));
}

static void crossing_pages(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 3; way++) {
        struct pair pair;
        pair_init(&pair, SIZE + 0x10000, way > 0, NULL);
        if (way == 2)
            pair_translate(&pair, SIZE / 4096);
        write_crossing(&pair);
        pair_set(&pair, A0, DATA);
        pair_set(&pair, A1, UINT64_C(0x0123456789abcdef));
        pair_set(&pair, T2, 200);
        pair_run(&pair, pair.at, limits, LIMITS, 1000000);
        assert_int_equal(pair.run.hart.instret, 200 * (18 * 10 + 3));
        /* stream_step() executes none of them. */
        assert_int_equal(pair.listed, pair.run.hart.instret);
        pair_compare(&pair);
        pair_free(&pair);
    }
}

/* A store across pages, which lie in reverse order, ends others' reservations on both, and only there. */
static void reservations_across_pages(void **state)
{
    (void)state;
    const struct {
        uint64_t address;
        bool ends;
    } cases[] = {
        {DATA - 64, true}, {DATA, true}, {DATA + 64, false}, {DATA - 128, false}, {DATA + 4096, false}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hart *other = calloc(1, sizeof *other);
        assert_non_null(other);
        struct stream_peers peers = {.harts = other, .count = 1, .reserved = true};
        struct pair pair;
        pair_init(&pair, SIZE + 0x10000, true, NULL);
        pair_translate(&pair, SIZE / 4096);
        pair_row(&pair, INSN_sd, OP(.rs1 = A0, .rs2 = T0, .imm = -4));
        pair_set(&pair, A0, DATA);
        other->reserved = true;
        other->reservation_physical = pair_physical(&pair, cases[i].address);
        pair.stream.peers = &peers;
        pair_run(&pair, pair.at, limits, LIMITS, 10);
        assert_int_equal(other->reserved, !cases[i].ends);
        assert_int_equal(peers.reserved, !cases[i].ends);
        pair_free(&pair);
        free(other);
    }
}

/* A loop with a call, and accesses at the address in A0. */
static void write_loop(struct pair *pair)
{
    pair_row(pair, INSN_addi, OP(.rd = T0, .rs1 = T0, .imm = 3));
    pair_row(pair, INSN_sd, OP(.rs1 = A1, .rs2 = T0));
    pair_row(pair, INSN_jal, OP(.rd = RA, .imm = 20));
    pair_row(pair, INSN_ld, OP(.rd = T1, .rs1 = A1));
    pair_row(pair, INSN_lw, OP(.rd = T1, .rs1 = A0));
    pair_row(pair, INSN_sw, OP(.rs1 = A0, .rs2 = T0));
    pair_row(pair, INSN_jal, OP(.imm = (int32_t)(PAIR_BASE - pair->at)));
    pair_row(pair, INSN_add, OP(.rd = T2, .rs1 = T2, .rs2 = T0));
    pair_row(pair, INSN_jalr, OP(.rs1 = RA));
    pair_set(pair, A1, DATA);
}

/* Almost all of a long run takes the fast path. */
static void fast(void **state)
{
    (void)state;
    const uint64_t batch = STREAM_BATCH;
    for (unsigned way = 0; way < 3; way++) {
        struct pair pair;
        pair_init(&pair, SIZE + 0x10000, way > 0, NULL);
        if (way == 2)
            pair_translate(&pair, SIZE / 4096);
        write_loop(&pair);
        pair_set(&pair, A0, DATA + 64);
        pair_run(&pair, 0, &batch, 1, 20000);
        uint64_t stepped = 0;
        for (unsigned i = 0; i < CLASS_COUNT; i++)
            stepped += pair.run.hart.stepped[i];
        assert_true(stepped < 10);
        assert_int_equal(pair.listed, pair.run.hart.instret);
        pair_compare(&pair);
        pair_free(&pair);
    }
}

/* Accesses to a device are left to stream_step(), and happen once. */
static void devices(void **state)
{
    (void)state;
    for (unsigned translated = 0; translated < 2; translated++) {
        struct pair pair;
        pair_init(&pair, SIZE + 0x10000, true, NULL);
        if (translated)
            pair_translate(&pair, SIZE / 4096);
        write_loop(&pair);
        pair_set(&pair, A0, PAIR_DEVICE + 8);
        for (unsigned i = 0; i < 50; i++) {
            assert_int_equal(pair_advance(&pair, 1000), STREAM_STEP); /* lw */
            assert_int_equal(pair.stream.stepped.id, INSN_lw);
            assert_int_equal(pair.stream.step_entry.physical, PAIR_DEVICE + 8);
            assert_int_equal(pair_advance(&pair, 1000), STREAM_STEP); /* sw */
            assert_int_equal(pair.stream.stepped.id, INSN_sw);
        }
        assert_int_equal(pair.run.hart.instret, 50 * 9 - 1);
        /* 50 reads, and 3 + 6 + ... + 150 written. */
        assert_int_equal(pair.run.device, 50 + 3 * 50 * 51 / 2);
        pair_compare(&pair);
        pair_free(&pair);
    }
}

static void breakpoints(void **state)
{
    (void)state;
    struct pair pair;
    pair_init(&pair, SIZE, false, NULL);
    write_loop(&pair);
    pair_set(&pair, A0, DATA + 64);
    assert_true(hart_breakpoint_add(&pair.run.hart, PAIR_BASE + 12));
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(pair_advance(&pair, i % 2 ? 1000 : 20), STREAM_STOP);
        assert_int_equal(pair.stream.stepped.pc, PAIR_BASE + 12);
        assert_int_equal(pair.stream.count, i == 0 ? 5 : 8);
    }
    assert_true(hart_breakpoint_remove(&pair.run.hart, PAIR_BASE + 12));
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(pair_advance(&pair, 100), STREAM_MORE);
    pair_compare(&pair);
    pair_free(&pair);
}

/* A breakpoint of the machine stays when a debugger adds and removes one at the same address, and moves as a whole. */
static void comparators(void **state)
{
    (void)state;
    struct pair pair;
    pair_init(&pair, SIZE, false, NULL);
    write_loop(&pair);
    pair_set(&pair, A0, DATA + 64);
    struct hart *hart = &pair.run.hart;
    hart_compare(hart, PAIR_BASE + 12);
    assert_true(hart_breakpoint_add(hart, PAIR_BASE + 12));
    assert_true(hart_breakpoint_remove(hart, PAIR_BASE + 12));
    assert_false(hart_breakpoint_remove(hart, PAIR_BASE + 12));
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pair_advance(&pair, 1000), STREAM_STOP);
        assert_int_equal(pair.stream.stepped.pc, PAIR_BASE + 12);
    }
    hart_compare(hart, PAIR_BASE + 2048);
    assert_false(hart_has_breakpoint(hart, PAIR_BASE + 12));
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(pair_advance(&pair, 100), STREAM_MORE);
    pair_compare(&pair);
    pair_free(&pair);
}

/* Only instructions that touch a watchpoint are left to stream_step(), which reports it. */
static void watchpoints(void **state)
{
    (void)state;
    struct pair pair;
    pair_init(&pair, SIZE, false, NULL);
    write_loop(&pair);
    pair_set(&pair, A0, DATA + 64);
    assert_true(hart_watchpoint_add(&pair.run.hart, DATA + 66, 1, HART_WATCH_WRITE));
    assert_true(hart_watchpoint_add(&pair.step.hart, DATA + 66, 1, HART_WATCH_WRITE));
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(pair_advance(&pair, 1000), STREAM_STEP);
        assert_int_equal(pair.stop, HART_STOP_WATCH);
        assert_int_equal(pair.stream.stepped.id, INSN_sw);
        assert_int_equal(pair.stream.count, i == 0 ? 7 : 8);
    }
    pair_free(&pair);
}

static void hooked(void *context, uint64_t address, uint64_t size)
{
    struct pair_machine *machine = context;
    assert_int_equal(address, DATA + 68);
    assert_int_equal(size, 4);
    machine->hooked++;
}

static void hooks(void **state)
{
    (void)state;
    struct pair pair;
    pair_init(&pair, SIZE, true, NULL);
    write_loop(&pair);
    pair_set(&pair, A0, DATA + 68);
    hart_set_hook(&pair.run.hart, DATA + 64, hooked, &pair.run);
    hart_set_hook(&pair.step.hart, DATA + 64, hooked, &pair.step);
    for (unsigned i = 1; i <= 20; i++) {
        assert_int_equal(pair_advance(&pair, 1000), STREAM_STEP);
        assert_int_equal(pair.stream.stepped.id, INSN_sw);
        assert_int_equal(pair.run.hooked, i);
    }
    pair_compare(&pair);
    pair_free(&pair);
}

/* A due interrupt comes before the batch, a masked one does not; the same for a yield. */
static void interrupts(void **state)
{
    (void)state;
    struct pair pair;
    pair_init(&pair, SIZE, true, NULL);
    write_loop(&pair);
    pair_set(&pair, A0, DATA + 64);
    struct hart *harts[] = {&pair.run.hart, &pair.step.hart};
    for (unsigned i = 0; i < 2; i++) {
        harts[i]->priv.mtvec = PAIR_BASE;
        harts[i]->priv.mie = IRQ_BIT(IRQ_MSI);
        hart_set_interrupt(harts[i], IRQ_MSI, true);
    }
    assert_int_equal(pair_advance(&pair, 100), STREAM_MORE);
    for (unsigned i = 0; i < 2; i++) {
        harts[i]->priv.mstatus |= MSTATUS_MIE;
        harts[i]->attention = true;
    }
    assert_int_equal(pair_advance(&pair, 100), STREAM_STEP);
    assert_int_equal(pair.stream.count, 0);
    assert_int_equal(pair.interrupt, IRQ_MSI);
    assert_int_equal(pair.run.hart.pc, PAIR_BASE);
    assert_int_equal(pair_advance(&pair, 100), STREAM_MORE);
    hart_request_yield(harts[0]);
    hart_request_yield(harts[1]);
    assert_int_equal(pair_advance(&pair, 100), STREAM_STEP);
    assert_int_equal(pair.stream.count, 0);
    assert_int_equal(pair.stop, HART_STOP_YIELD);
    assert_int_equal(pair_advance(&pair, 100), STREAM_MORE);
    pair_free(&pair);
}

/* The counters of a timed hart are those of its core; a timer becomes due when the clock advances. */
static void clocks(void **state)
{
    (void)state;
    struct pair pair;
    struct step_report report;
    pair_init(&pair, SIZE, true, NULL);
    struct hart *hart = &pair.run.hart;
    pair_row(&pair, INSN_csrrs, OP(.rd = T0, .imm = 0xb00));           /* mcycle */
    pair_row(&pair, INSN_csrrw, OP(.rd = 0, .rs1 = A0, .imm = 0xb00)); /* := 1000 */
    pair_row(&pair, INSN_csrrs, OP(.rd = T1, .imm = 0xc00));           /* cycle */
    pair_row(&pair, INSN_csrrs, OP(.rd = T2, .imm = 0xc01));           /* time */
    pair_row(&pair, INSN_csrrs, OP(.rd = A1, .imm = 0xc02));           /* instret */
    hart->x[A0] = 1000;
    hart->time_offset = 7;
    const uint64_t cycles[] = {40, 50, 75, 80, 85};
    for (unsigned i = 0; i < 5; i++) {
        hart_set_clock(hart, cycles[i], 2 * cycles[i]);
        assert_int_equal(stream_step(&pair.stream, &report), HART_STOP_LIMIT);
    }
    assert_int_equal(hart->x[T0], 40);
    assert_int_equal(hart->x[T1], 1000 + 75 - 50);
    assert_int_equal(hart->x[T2], 160 + 7);
    assert_int_equal(hart->x[A1], 4);

    pair_row(&pair, INSN_jal, OP(.imm = 0));
    hart->priv.menvcfg = ENVCFG_STCE;
    hart->priv.stimecmp = 300;
    hart->priv.mie = hart->priv.mideleg = IRQ_BIT(IRQ_STI);
    hart->priv.mstatus |= MSTATUS_SIE;
    hart->privilege = PRIV_S;
    hart->priv.stvec = PAIR_BASE;
    priv_changed(hart);
    hart_set_clock(hart, 90, 292); /* with the offset: 299 */
    assert_int_equal(stream_run(&pair.stream, 100), STREAM_MORE);
    hart_set_clock(hart, 90, 293);
    assert_int_equal(stream_run(&pair.stream, 100), STREAM_STEP);
    assert_int_equal(stream_step(&pair.stream, &report), HART_STOP_LIMIT);
    assert_int_equal(report.interrupt, IRQ_STI);
    pair_free(&pair);
}

/* Cache-block operations report their block, whose physical bytes may be elsewhere than at the virtual address. */
static void block_operations(void **state)
{
    (void)state;
    static const struct {
        enum insn_id id;
        enum block_operation block;
    } cases[] = {{INSN_cbo_inval, BLOCK_INVAL},
                 {INSN_cbo_clean, BLOCK_CLEAN},
                 {INSN_cbo_flush, BLOCK_FLUSH},
                 {INSN_cbo_zero, BLOCK_ZERO}};
    struct pair pair;
    pair_init(&pair, SIZE + 0x10000, true, NULL);
    pair.run.hart.priv.menvcfg = ENVCFG_CBIE | ENVCFG_CBCFE | ENVCFG_CBZE;
    pair_translate(&pair, SIZE / 4096);
    for (unsigned i = 0; i < 4; i++)
        pair_row(&pair, cases[i].id, OP(.rs1 = A0));
    pair_set(&pair, A0, DATA + 100);
    for (unsigned i = 0; i < 4; i++) {
        struct step_report report;
        assert_int_equal(stream_run(&pair.stream, 100), STREAM_STEP);
        assert_int_equal(pair.stream.count, 0);
        assert_int_equal(stream_step(&pair.stream, &report), HART_STOP_LIMIT);
        assert_int_equal(report.effects.block, cases[i].block);
        assert_int_equal(report.effects.address, DATA + 64);
        assert_int_equal(report.effects.physical, pair_physical(&pair, DATA + 64));
        assert_int_equal(pair.stream.step_entry.physical, report.effects.physical);
        assert_int_equal(report.effects.size, 64);
        assert_false(report.effects.loaded || report.effects.stored);
    }
    pair_free(&pair);
}

/* More blocks than the cache holds: what a batch points to stays valid until its end. */
static void full_cache(void **state)
{
    (void)state;
    enum { COUNT = 300000 };
    const uint64_t batch = STREAM_BATCH;
    struct pair pair;
    pair_init(&pair, 4 << 20, false, NULL);
    for (unsigned i = 0; i < COUNT; i++) {
        pair_row(&pair, INSN_beq, OP(.imm = 8));
        pair_row(&pair, INSN_jal, OP(.imm = 8));
        pair_row(&pair, INSN_jal, OP(.imm = -4));
    }
    pair_row(&pair, INSN_ecall, OP(.imm = 0));
    pair_run(&pair, pair.at, &batch, 1, UINT64_MAX / 2);
    assert_int_equal(pair.run.hart.instret, 3 * COUNT);
    assert_true(block_flushes(pair.run.hart.blocks) >= 2); /* one belongs to the stream */
    pair_compare(&pair);
    pair_free(&pair);
}

static void tell(void *context, struct hart *hart, const struct step_report *report)
{
    uint64_t *count = context;
    assert_true(hart->instret > *count || report->trapped);
    *count += report->retired;
}

static void observers(void **state)
{
    (void)state;
    uint64_t count = 0;
    struct pair pair;
    pair_init(&pair, SIZE, true, NULL);
    write_loop(&pair);
    pair_set(&pair, A0, PAIR_DEVICE);
    pair.stream.observe = tell;
    pair.stream.context = &count;
    for (unsigned i = 0; i < 300; i++)
        (void)pair_advance(&pair, limits[i % LIMITS]);
    assert_int_equal(count, pair.run.hart.instret);
    pair_compare(&pair);
    pair_free(&pair);
}

/* Freeing the stream restores the hart's former state. */
static void gone(void **state)
{
    (void)state;
    struct pair pair;
    pair_init(&pair, SIZE, false, NULL);
    const struct exec_table *exec = pair.step.hart.exec;
    write_loop(&pair);
    pair_set(&pair, A0, DATA + 64);
    (void)pair_advance(&pair, 100);
    uint64_t before = pair.run.hart.instret;
    assert_int_equal(hart_run(&pair.run.hart, 1000), HART_STOP_LIMIT); /* slowly */
    stream_free(&pair.stream);
    assert_ptr_equal(pair.run.hart.exec, exec);
    assert_int_equal(hart_run(&pair.run.hart, 1000), HART_STOP_LIMIT);
    assert_int_equal(hart_run(&pair.step.hart, 2000), HART_STOP_LIMIT);
    assert_int_equal(pair.run.hart.instret, before + 2000);
    pair_compare(&pair);
    pair_free(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_blocks),
        cmocka_unit_test(random_blocks_translated),
        cmocka_unit_test(crossing_pages),
        cmocka_unit_test(reservations_across_pages),
        cmocka_unit_test(fast),
        cmocka_unit_test(devices),
        cmocka_unit_test(breakpoints),
        cmocka_unit_test(comparators),
        cmocka_unit_test(watchpoints),
        cmocka_unit_test(hooks),
        cmocka_unit_test(interrupts),
        cmocka_unit_test(clocks),
        cmocka_unit_test(block_operations),
        cmocka_unit_test(full_cache),
        cmocka_unit_test(observers),
        cmocka_unit_test(gone),
    };
    return cmocka_run_group_tests_name("instruction stream", tests, NULL, NULL);
}
