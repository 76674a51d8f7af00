/* Random programs: every lane of a warp must end like a scalar hart that executes the program with the lane's
 * registers and memory, however the lanes diverge. For the build variants that the host can execute, and three widths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/hart.h"
#include "emu/simt/warp/code/code.h"
#include "tests/hart/oracle/generate.h"

#define E(extension) (UINT64_C(1) << EXTENSION_##extension)
#define CODE_AT      batch_code_at(0)

enum { ECALL = 0x73, MEMORY = BATCH_LIMIT - BATCH_END, STEPS = 200000, TP = 4 };

static const struct suite suites[] = {
    {"integer",
     E(I) | E(M) | E(A) | E(C) | E(Zba) | E(Zbb) | E(Zbc) | E(Zbs) | E(Zcb) | E(Zicond) | E(Zicbop), E(I),
     100, 20, false},
    {"float", E(I) | E(F) | E(D) | E(Zfh) | E(Zfhmin) | E(Zicsr), E(I), 80, 60, false},
    {"mixed", E(I) | E(M) | E(A) | E(F) | E(D) | E(C) | E(Zicsr) | E(Zifencei) | E(Zbb) | E(Xnucd), E(I), 100,
     40, false},
};

struct rig {
    struct phys scalar, lanes;
    struct hart hart;
    struct decoder *decoder;
    struct warp_memory memory;
    struct warp *warp;
    struct batch *batch; /* code of block 0; states of all blocks */
    unsigned width;
    uint64_t parted; /* instructions executed for some lanes only */
};

static void rig_init(struct rig *rig, unsigned width, const struct warp_table *table)
{
    struct error err;
    memset(rig, 0, sizeof *rig);
    rig->width = width;
    rig->decoder = decoder_new();
    rig->batch = malloc(sizeof *rig->batch);
    assert_non_null(rig->batch);
    assert_true(phys_init(&rig->scalar, BATCH_END, MEMORY, &err));
    assert_true(phys_init(&rig->lanes, BATCH_END, MEMORY, &err));
    assert_true(hart_init(&rig->hart, &rig->scalar, rig->decoder, &err));
    const struct warp_memory_setup setup = {.memory = &rig->lanes,
                                            .decoder = rig->decoder,
                                            .width = width,
                                            .stack_shift = 8,
                                            .stack_physical = BATCH_END + MEMORY - 0x2000,
                                            .stack_warps = 1};
    assert_true(warp_memory_init(&rig->memory, &setup, &err));
    warp_code_use(rig->memory.code, table);
    rig->warp = warp_new(&rig->memory, &err);
    assert_non_null(rig->warp);
}

static void rig_free(struct rig *rig)
{
    warp_free(rig->warp);
    warp_memory_free(&rig->memory);
    hart_free(&rig->hart);
    phys_free(&rig->scalar);
    phys_free(&rig->lanes);
    decoder_free(rig->decoder);
    free(rig->batch);
}

/* Initial state of a lane: registers of some other block's start, but pointers into the window depend on the
 * lane, and a possible loop counter stays small. */
static void adapt_state(struct rig *rig, unsigned lane)
{
    const struct state *first = &rig->batch->states[0];
    struct state *state = &rig->batch->states[lane];
    for (unsigned r = 1; r < 32; r++) {
        uint64_t offset = first->x[r] - batch_state_at(0);
        if (offset < sizeof *state)
            state->x[r] = batch_state_at(lane) + offset;
        else if (first->x[r] < 6)
            state->x[r] = (first->x[r] + lane) % 6;
        else if (first->x[r] == CODE_AT)
            state->x[r] = CODE_AT;
    }
}

static void write_both(struct rig *rig, uint64_t address, const void *bytes, uint64_t length)
{
    memcpy(phys_at(&rig->scalar, address, length), bytes, length);
    memcpy(phys_at(&rig->lanes, address, length), bytes, length);
}

static void load(struct rig *rig, struct random *random, const struct suite *suite)
{
    static const uint32_t end = ECALL;
    for (unsigned lane = 1; lane < rig->width; lane++)
        (void)generate_block(random, rig->decoder, suite, rig->batch, lane);
    (void)generate_block(random, rig->decoder, suite, rig->batch, 0);
    for (unsigned lane = 1; lane < rig->width; lane++)
        adapt_state(rig, lane);
    write_both(rig, BATCH_END, &end, sizeof end);
    write_both(rig, CODE_AT, rig->batch->code[0], BATCH_CODE_BYTES);
    write_both(rig, BATCH_STATES, rig->batch->states, rig->width * sizeof(struct state));
    warp_memory_flush(&rig->memory);
    hart_flush_code(&rig->hart);
}

static void start(struct rig *rig)
{
    const struct warp_place place = {.block_size = {rig->width, 1, 1}, .grid_size = {1, 1, 1}};
    warp_start(rig->warp, &place, CODE_AT, 0, 0);
    for (unsigned lane = 0; lane < rig->width; lane++) {
        const struct state *state = &rig->batch->states[lane];
        for (unsigned r = 1; r < 32; r++)
            warp_set_register(rig->warp, r, lane, state->x[r]);
        for (unsigned r = 0; r < 32; r++)
            warp_set_register(rig->warp, 32 + r, lane, state->f[r]);
        warp_set_fcsr(rig->warp, lane, (unsigned)state->fcsr);
    }
}

static void compare(struct rig *rig, unsigned lane)
{
    struct hart *hart = &rig->hart;
    const struct state *state = &rig->batch->states[lane];
    memcpy(hart->x, state->x, sizeof state->x);
    memcpy(hart->f, state->f, sizeof hart->f);
    hart->fflags = state->fcsr & 31;
    hart->frm = state->fcsr >> 5 & 7;
    hart->reserved = false;
    hart->pc = CODE_AT;
    enum hart_stop stop = HART_STOP_MARKER;
    while (stop == HART_STOP_MARKER)
        stop = hart_run(hart, STEPS);
    assert_int_equal(stop, HART_STOP_TRAP);
    assert_int_equal(hart->pc, BATCH_END);
    for (unsigned r = 0; r < 32; r++) {
        assert_int_equal(warp_register(rig->warp, r, lane), hart->x[r]);
        assert_int_equal(warp_register(rig->warp, 32 + r, lane), hart->f[r]);
    }
    assert_int_equal(warp_fcsr(rig->warp, lane), (unsigned)hart->frm << 5 | hart->fflags);
    assert_memory_equal(phys_at(&rig->lanes, batch_state_at(lane), sizeof *state),
                        phys_at(&rig->scalar, batch_state_at(lane), sizeof *state), sizeof *state);
}

/* Alternates warp_step() and warp_run() until all lanes are at the end. */
static void run_block(struct rig *rig, unsigned turn)
{
    struct warp_report report;
    uint32_t all = rig->width == 32 ? UINT32_MAX : (1u << rig->width) - 1, ended = 0;
    start(rig);
    for (unsigned steps = 0; ended != all; steps++) {
        assert_true(steps < STEPS);
        bool quick = turn % 4 == 0 && steps & 8;
        enum warp_event event = quick ? warp_run(rig->warp, 5, &report) : warp_step(rig->warp, &report);
        assert_true(event == WARP_DONE || event == WARP_CALL);
        if (event == WARP_CALL) {
            assert_int_equal(warp_pc(rig->warp, report.lane), BATCH_END);
            ended |= 1u << report.lane;
            compare(rig, report.lane);
            warp_end(rig->warp, report.lane);
        } else if (!quick && report.mask != all) {
            rig->parted++;
        }
    }
    assert_int_equal(warp_step(rig->warp, &report), WARP_IDLE);
}

static void random_programs(void **state)
{
    (void)state;
    static const unsigned widths[] = {32, 4, 1};
    const struct warp_table *const tables[] = {&warp_rows_base, &warp_rows_v3, &warp_rows_v4};
    for (unsigned i = 0; i < 9; i++) {
        struct rig rig;
        struct random random = {100 + i};
        if (!warp_code_can(tables[i % 3]))
            continue;
        rig_init(&rig, widths[i / 3], tables[i % 3]);
        for (unsigned block = 0; block < 1500; block++) {
            load(&rig, &random, &suites[block % 3]);
            run_block(&rig, block);
        }
        if (rig.width == 32)
            assert_in_range(rig.parted, 10000, UINT64_MAX);
        rig_free(&rig);
    }
}

/* All lanes but one have the invalid flag; one of them multiplies infinity by zero, and the one that lacks it has a quiet NaN. */
static void nan_beside_invalid(void **state)
{
    (void)state;
    enum { FMADD_D_0_1_2_3 = 0x1a208043, NV = 16, LACKS = 5 };
    static const uint64_t infinity = 0x7ff0000000000000, nan = 0x7ff8000000000000, one = 0x3ff0000000000000;
    const struct warp_table *const tables[] = {&warp_rows_base, &warp_rows_v3, &warp_rows_v4};
    for (unsigned i = 0; i < 3; i++) {
        struct rig rig;
        struct random random = {1};
        const uint32_t back = (uint32_t)(BATCH_END - (CODE_AT + 4));
        const uint32_t code[2] = {FMADD_D_0_1_2_3, (back >> 20 & 1) << 31 | (back >> 1 & 0x3ff) << 21 |
                                                       (back >> 11 & 1) << 20 | (back >> 12 & 0xff) << 12 |
                                                       0x6f}; /* jal x0 */
        if (!warp_code_can(tables[i]))
            continue;
        rig_init(&rig, 32, tables[i]);
        load(&rig, &random, &suites[0]);
        write_both(&rig, CODE_AT, code, sizeof code);
        for (unsigned lane = 0; lane < 32; lane++) {
            struct state *of_lane = &rig.batch->states[lane];
            of_lane->f[1] = lane == LACKS ? nan : lane == 0 ? infinity : one;
            of_lane->f[2] = lane == 0 ? 0 : one;
            of_lane->f[3] = one;
            of_lane->fcsr = lane == LACKS ? 0 : NV;
        }
        warp_memory_flush(&rig.memory);
        hart_flush_code(&rig.hart);
        run_block(&rig, 1);
        rig_free(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs),
                                       cmocka_unit_test(nan_beside_invalid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
