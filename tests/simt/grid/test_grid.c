/* Grids: every thread executes once with its coordinates; barrier, scratchpad, limits; runs that stop and
 * continue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/hart.h"
#include "emu/simt/grid/grid.h"
#include "tests/simt/code_fixture.h"

#define BASE CODE_BASE
#define DATA (BASE + 0x10000)

enum {
    RA = 1,
    T0 = 5,
    T1 = 6,
    T2 = 7,
    A0 = 10,
    A1 = 11,
    A2 = 12,
    SIZE = 0x200000,
    SHIFT = 8,
    THREAD_X = 0xcc0,
    MULTIPROCESSOR = 0xcce,
    THREAD_ID = 0xccf,
    SHARED = 0xcd0,
    BARRIER = 0x8c0
};

struct rig {
    struct code_fixture code;
    struct grid_host host;
    struct grid grid;
    unsigned calls, refuse; /* calls served; calls still to refuse */
};

static bool serve(void *context, struct warp *warp, unsigned lane, uint64_t *result)
{
    struct rig *rig = context;
    if (rig->refuse > 0) {
        rig->refuse--;
        return false;
    }
    rig->calls++;
    *result = warp_thread_id(warp, lane) * 2;
    return true;
}

static void rig_init(struct rig *rig, uint32_t count, uint32_t width)
{
    memset(rig, 0, sizeof *rig);
    code_fixture_init(&rig->code, SIZE,
                      (struct warp_memory_setup){.width = width,
                                                 .stack_shift = SHIFT,
                                                 .stack_physical = BASE + SIZE / 2,
                                                 .stack_warps = 1024 / width});
    rig->host = (struct grid_host){.call = serve, .context = rig};
    rig->grid =
        (struct grid){.memory = &rig->code.memory,
                      .host = &rig->host,
                      .limits = {.count = count, .width = width, .block_threads = 1024, .scratchpad = 4096}};
}

static void rig_free(struct rig *rig)
{
    grid_free(&rig->grid);
    code_fixture_free(&rig->code);
}

static void row(struct rig *rig, enum insn_id id, struct operands operands)
{
    code_fixture_row(&rig->code, id, operands);
}

/* Emits a1 = a0 + number of the thread * 2^shift. */
static void own_slot(struct rig *rig, int shift)
{
    row(rig, INSN_csrrs, OP(.rd = A1, .imm = THREAD_ID));
    row(rig, INSN_slli, OP(.rd = A1, .rs1 = A1, .imm = shift));
    row(rig, INSN_add, OP(.rd = A1, .rs1 = A1, .rs2 = A0));
}

static uint64_t word(const struct rig *rig, uint64_t address)
{
    return code_fixture_word(&rig->code, address);
}

static enum grid_end run_for(struct rig *rig, uint64_t quantum, struct grid_launch launch)
{
    struct error err;
    launch.entry = BASE;
    launch.argument = DATA;
    assert_true(grid_possible(&launch, &rig->grid.limits));
    grid_begin(&rig->grid, &launch);
    return grid_advance(&rig->grid, quantum, &err);
}

static enum grid_end run(struct rig *rig, struct grid_launch launch)
{
    return run_for(rig, UINT64_MAX, launch);
}

/* The 15 coordinates of each thread as 64-bit words, for a grid and a block whose extents all differ. */
static void coordinates(void **state)
{
    const struct grid_launch launch = {.grid = {3, 2, 2}, .block = {5, 3, 4}};
    (void)state;
    for (uint32_t width = 1; width <= 32; width *= 4) {
        struct rig rig;
        rig_init(&rig, 5, width);
        own_slot(&rig, 7);
        for (int i = 0; i < 15; i++) {
            row(&rig, INSN_csrrs, OP(.rd = T0, .imm = THREAD_X + i));
            row(&rig, INSN_sd, OP(.rs1 = A1, .rs2 = T0, .imm = 8 * i));
        }
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        assert_int_equal(run(&rig, launch), GRID_DONE);
        for (uint32_t id = 0; id < 12 * 60; id++) {
            uint32_t thread = id % 60, block = id / 60;
            const uint64_t expected[15] = {thread % 5,
                                           thread / 5 % 3,
                                           thread / 15,
                                           block % 3,
                                           block / 3 % 2,
                                           block / 6,
                                           5,
                                           3,
                                           4,
                                           3,
                                           2,
                                           2,
                                           thread % width,
                                           thread / width,
                                           block % 5};
            for (unsigned i = 0; i < 15; i++)
                assert_int_equal(word(&rig, DATA + id * 128 + 8 * i), expected[i]);
        }
        assert_int_equal(rig.grid.blocks, 12);
        assert_int_equal(rig.grid.thread_insns, 720 * 34);
        rig_free(&rig);
    }
}

/* Each thread writes its number into the block's scratchpad, waits, and reads the number of the thread
 * opposite. Each block has a new scratchpad: a thread reads 0 before it writes. */
static void barrier_and_scratchpad(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 3; count += 2) {
        struct rig rig;
        rig_init(&rig, count, 32);
        own_slot(&rig, 4);
        row(&rig, INSN_csrrs, OP(.rd = T0, .imm = THREAD_X));
        row(&rig, INSN_csrrs, OP(.rd = A2, .imm = SHARED));
        row(&rig, INSN_slli, OP(.rd = T1, .rs1 = T0, .imm = 2));
        row(&rig, INSN_add, OP(.rd = T1, .rs1 = T1, .rs2 = A2));
        row(&rig, INSN_lwu, OP(.rd = T2, .rs1 = T1));
        row(&rig, INSN_sd, OP(.rs1 = A1, .rs2 = T2, .imm = 8));
        row(&rig, INSN_sw, OP(.rs1 = T1, .rs2 = T0));
        row(&rig, INSN_csrrw, OP(.imm = BARRIER));
        row(&rig, INSN_sub, OP(.rd = T1, .rs1 = T1, .rs2 = A2));
        row(&rig, INSN_sub, OP(.rd = T1, .rs1 = A2, .rs2 = T1));
        row(&rig, INSN_lwu, OP(.rd = T2, .rs1 = T1, .imm = 99 * 4));
        row(&rig, INSN_sd, OP(.rs1 = A1, .rs2 = T2));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        assert_int_equal(
            run(&rig, (struct grid_launch){.grid = {7, 1, 1}, .block = {100, 1, 1}, .scratchpad = 400}),
            GRID_DONE);
        for (uint32_t id = 0; id < 700; id++) {
            assert_int_equal(word(&rig, DATA + id * 16), 99 - id % 100);
            assert_int_equal(word(&rig, DATA + id * 16 + 8), 0);
        }
        rig_free(&rig);
    }
}

/* The barrier does not wait for threads that have ended: those below 40 of 64 end before it. */
static void the_ended_are_not_waited_for(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, 1, 32);
    own_slot(&rig, 3);
    row(&rig, INSN_csrrs, OP(.rd = T0, .imm = THREAD_X));
    row(&rig, INSN_sltiu, OP(.rd = T1, .rs1 = T0, .imm = 40));
    row(&rig, INSN_bne, OP(.rs1 = T1, .imm = 12));
    row(&rig, INSN_csrrw, OP(.imm = BARRIER));
    row(&rig, INSN_sd, OP(.rs1 = A1, .rs2 = T0));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    assert_int_equal(run(&rig, (struct grid_launch){.grid = {1, 1, 1}, .block = {64, 1, 1}}), GRID_DONE);
    for (uint32_t id = 0; id < 64; id++)
        assert_int_equal(word(&rig, DATA + id * 8), id < 40 ? 0 : id);
    rig_free(&rig);
}

/* A refused call stops the run before the call; the next grid_advance() repeats it. */
static void stops_and_goes_on(void **state)
{
    struct rig rig;
    struct error err;
    (void)state;
    rig_init(&rig, 1, 32);
    own_slot(&rig, 3);
    row(&rig, INSN_ecall, OP(.rd = 0));
    row(&rig, INSN_sd, OP(.rs1 = A1, .rs2 = A0));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    rig.refuse = 3;
    assert_int_equal(run(&rig, (struct grid_launch){.grid = {2, 1, 1}, .block = {40, 1, 1}}), GRID_STOP);
    assert_int_equal(rig.grid.report.event, WARP_CALL);
    assert_int_equal(grid_advance(&rig.grid, UINT64_MAX, &err), GRID_STOP);
    assert_int_equal(grid_advance(&rig.grid, UINT64_MAX, &err), GRID_STOP);
    assert_int_equal(grid_advance(&rig.grid, UINT64_MAX, &err), GRID_DONE);
    assert_int_equal(rig.calls, 80);
    for (uint32_t id = 0; id < 80; id++)
        assert_int_equal(word(&rig, DATA + id * 8), id * 2);
    rig_free(&rig);
}

/* A quantum ends after the slice that uses it up. The next grid_advance() continues with the next warp. The
 * rule of grid.h gives the number of instructions that each of the endless warps has executed. */
static void quanta_end_between_slices(void **state)
{
    static const uint64_t quanta[] = {1, 2 * GRID_SLICE, GRID_SLICE + 1, GRID_SLICE, 3 * GRID_SLICE - 1};
    struct rig rig;
    struct error err;
    uint64_t slices = 0;
    (void)state;
    rig_init(&rig, 1, 32);
    row(&rig, INSN_jal, OP(.imm = 0));
    for (unsigned i = 0; i < sizeof quanta / sizeof *quanta; i++) {
        enum grid_end end =
            i == 0 ? run_for(&rig, quanta[0], (struct grid_launch){.grid = {1, 1, 1}, .block = {96, 1, 1}})
                   : grid_advance(&rig.grid, quanta[i], &err);
        assert_int_equal(end, GRID_PAUSE);
        slices += (quanta[i] + GRID_SLICE - 1) / GRID_SLICE;
        assert_int_equal(rig.grid.insns, slices * GRID_SLICE);
        for (uint64_t warp = 0; warp < 3; warp++)
            assert_int_equal(warp_insns(rig.grid.block.warps[warp]), (slices + 2 - warp) / 3 * GRID_SLICE);
    }
    rig_free(&rig);
}

/* A launch may end together with its last quantum: the next call finds nothing left. */
static void quanta_reach_the_end(void **state)
{
    struct rig rig;
    struct error err;
    unsigned pauses = 0;
    enum grid_end end;
    (void)state;
    rig_init(&rig, 1, 32);
    own_slot(&rig, 3);
    row(&rig, INSN_sd, OP(.rs1 = A1, .rs2 = A1));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    end = run_for(&rig, 1, (struct grid_launch){.grid = {2, 1, 1}, .block = {64, 1, 1}});
    for (; end == GRID_PAUSE; end = grid_advance(&rig.grid, 1, &err))
        pauses++;
    assert_int_equal(end, GRID_DONE);
    assert_int_equal(pauses, 4); /* one slice per warp */
    assert_int_equal(rig.grid.blocks, 2);
    assert_int_equal(rig.grid.insns, 4 * 5);
    for (uint32_t id = 0; id < 128; id++)
        assert_int_equal(word(&rig, DATA + id * 8), DATA + id * 8);
    rig_free(&rig);
}

/* A thread that traps stops the run. */
static void stops_for_good(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, 1, 32);
    row(&rig, INSN_ebreak, OP(.rd = 0));
    warp_memory_flush(&rig.code.memory);
    assert_int_equal(run(&rig, (struct grid_launch){.grid = {1, 1, 1}, .block = {1, 1, 1}}), GRID_TRAP);
    assert_int_equal(rig.grid.report.trap.cause, TRAP_BREAKPOINT);
    rig_free(&rig);
}

static void limits(void **state)
{
    const struct grid_limits limits = {.count = 1, .width = 32, .block_threads = 1024, .scratchpad = 4096};
    static const char threads[] =
        "1 to 1024 in all (the least of simt.block_threads and, on a timed machine, simt.threads and "
        "simt.warps * simt.width)";
    const struct {
        struct grid_launch launch;
        const char *refused; /* the last words of the message; NULL: the launch is allowed */
    } cases[] = {
        {{.grid = {1, 1, 1}, .block = {1024, 1, 1}, .scratchpad = 4096}, NULL},
        {{.grid = {1, 1, 1}, .block = {1025, 1, 1}}, threads},
        {{.grid = {1, 1, 1}, .block = {32, 32, 1}}, NULL},
        {{.grid = {1, 1, 1}, .block = {32, 32, 2}}, threads},
        {{.grid = {1, 1, 1}, .block = {65536, 65536, 1}}, threads}, /* the product is 2^32 */
        {{.grid = {1, 1, 1}, .block = {1, 1, 1}, .scratchpad = 4097}, "up to 4096 B (simt.scratchpad)"},
        {{.grid = {0, 1, 1}, .block = {1, 1, 1}}, "1 to 4294967295 in all"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 0}}, threads},
        {{.grid = {65535, 65535, 1}, .block = {1, 1, 1}}, NULL},
        {{.grid = {65536, 65536, 65536}, .block = {1, 1, 1}}, "1 to 4294967295 in all"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err;
        assert_int_equal(grid_possible(&cases[i].launch, &limits), !cases[i].refused);
        assert_int_equal(grid_check(&cases[i].launch, &limits, &err), !cases[i].refused);
        if (!cases[i].refused)
            continue;
        assert_true(strlen(err.text) > strlen(cases[i].refused));
        assert_string_equal(err.text + strlen(err.text) - strlen(cases[i].refused), cases[i].refused);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinates),
        cmocka_unit_test(barrier_and_scratchpad),
        cmocka_unit_test(the_ended_are_not_waited_for),
        cmocka_unit_test(stops_and_goes_on),
        cmocka_unit_test(quanta_end_between_slices),
        cmocka_unit_test(quanta_reach_the_end),
        cmocka_unit_test(stops_for_good),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
