/* Custom instructions of warps: each lane of the group is served once, lane by lane or all at once. If a lane
 * traps, all registers stay unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/custom.h"
#include "emu/simt/warp.h"
#include "tests/isa/encode.h"

#define BASE UINT64_C(0x80000000)

enum { SIZE = 0x10000, WIDTH = 8, ALL = (1 << WIDTH) - 1, ODD = 0xaa, T0 = 5, T1, T2, FAILS = 5 };

struct rig {
    struct phys phys;
    struct decoder *decoder;
    struct custom_units units;
    struct warp_memory memory;
    struct warp *warp;
    uint64_t at;
    uint32_t served;                /* set of lanes served by execute() */
    unsigned calls, group_calls;    /* of execute(); of the function for all lanes */
    bool fails, chooses;            /* lane FAILS traps; the unit chooses the cause */
    struct custom_lanes last_group; /* without results */
};

static uint64_t answer(uint64_t first, uint64_t second)
{
    return first * 1000 + second;
}

static bool execute(void *context, struct custom_call *call)
{
    struct rig *rig = context;
    assert_null(call->hart);
    assert_ptr_equal(call->warp, rig->warp);
    assert_int_equal(rig->served >> call->lane, 0); /* lowest lane first, each once */
    rig->served |= 1u << call->lane;
    rig->calls++;
    call->result = answer(call->operand[0], call->operand[1]);
    if (rig->chooses)
        call->trap = (struct trap){TRAP_STORE_ACCESS, call->lane};
    return !rig->fails || call->lane != FAILS;
}

static bool execute_lanes(void *context, struct custom_lanes *lanes)
{
    struct rig *rig = context;
    rig->group_calls++;
    rig->last_group = *lanes;
    if (rig->fails) {
        lanes->lane = FAILS;
        lanes->trap = (struct trap){TRAP_STORE_ACCESS, 77};
        return false;
    }
    for (uint32_t left = lanes->mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        lanes->result[lane] = answer(lanes->operand[0][lane], lanes->operand[1][lane]);
    }
    return true;
}

static void put(struct rig *rig, enum insn_id id, struct operands operands)
{
    uint32_t bits = encode(id, &operands);
    memcpy(phys_at(&rig->phys, rig->at, 4), &bits, 4);
    rig->at += 4;
}

static void rig_init(struct rig *rig, bool group)
{
    struct error err;
    memset(rig, 0, sizeof *rig);
    rig->decoder = decoder_new();
    rig->at = BASE;
    assert_true(phys_init(&rig->phys, BASE, SIZE, &err));
    custom_serve(&rig->units, EXTENSION_Xstash,
                 &(struct custom_unit){execute, group ? execute_lanes : NULL, .context = rig});
    custom_serve(&rig->units, EXTENSION_Xaxram, &(struct custom_unit){execute, .context = rig});
    const struct warp_memory_setup setup = {.memory = &rig->phys,
                                            .decoder = rig->decoder,
                                            .width = WIDTH,
                                            .stack_shift = 6,
                                            .stack_physical = BASE + SIZE / 2,
                                            .stack_warps = 1,
                                            .custom = &rig->units};
    assert_true(warp_memory_init(&rig->memory, &setup, &err));
    rig->warp = warp_new(&rig->memory, &err);
    assert_non_null(rig->warp);
}

static void rig_free(struct rig *rig)
{
    warp_free(rig->warp);
    warp_memory_free(&rig->memory);
    phys_free(&rig->phys);
    decoder_free(rig->decoder);
}

/* t0 = lane, t1 = 10 * lane, t2 = 1 in odd lanes. */
static void start(struct rig *rig)
{
    const struct warp_place place = {.block_size = {WIDTH, 1, 1}, .grid_size = {1, 1, 1}};
    warp_start(rig->warp, &place, BASE, 0, 0);
    for (unsigned lane = 0; lane < WIDTH; lane++) {
        warp_set_register(rig->warp, T0, lane, lane);
        warp_set_register(rig->warp, T1, lane, 10 * lane);
        warp_set_register(rig->warp, T2, lane, lane & 1);
    }
}

static void expect(const struct rig *rig, unsigned reg, uint32_t served)
{
    for (unsigned lane = 0; lane < WIDTH; lane++)
        assert_int_equal(warp_register(rig->warp, reg, lane),
                         served >> lane & 1 ? answer(lane, 10 * lane) : lane);
}

static void lanes_of_the_group_are_served(void **state)
{
    (void)state;
    for (unsigned group = 0; group < 2; group++) {
        struct rig rig;
        struct warp_report report;
        rig_init(&rig, group);
        put(&rig, INSN_beq, OP(.rs1 = T2, .imm = 8));
        put(&rig, INSN_stash_chgmap, OP(.rd = T0, .rs1 = T0, .rs2 = T1));
        put(&rig, INSN_addi, OP(.rd = 0));
        start(&rig);
        assert_int_equal(warp_step(rig.warp, &report), WARP_DONE);
        assert_int_equal(warp_step(rig.warp, &report), WARP_DONE);
        assert_int_equal(report.op->id, INSN_stash_chgmap);
        assert_int_equal(report.op->flags, STREAM_SERIAL);
        assert_int_equal(report.mask, ODD);
        expect(&rig, T0, ODD);
        assert_int_equal(rig.calls, group ? 0 : WIDTH / 2);
        assert_int_equal(rig.group_calls, group);
        if (group) {
            assert_int_equal(rig.last_group.mask, ODD);
            assert_int_equal(rig.last_group.pc, BASE + 4);
            assert_ptr_equal(rig.last_group.warp, rig.warp);
        } else {
            assert_int_equal(rig.served, ODD);
        }
        assert_int_equal(warp_step(rig.warp, &report), WARP_DONE);
        assert_int_equal(report.mask, ALL); /* it continues after the instruction */
        rig_free(&rig);
    }
}

/* x0 stays 0, and rows without rd write no register. */
static void results_that_nobody_takes_are_dropped(void **state)
{
    (void)state;
    struct rig rig;
    struct warp_report report;
    rig_init(&rig, false);
    put(&rig, INSN_stash_chgmap, OP(.rd = 0, .rs1 = T0, .rs2 = T1));
    put(&rig, INSN_config_axram, OP(.rs1 = T0, .rs2 = T1));
    start(&rig);
    for (unsigned i = 0; i < 2; i++) {
        rig.served = 0;
        assert_int_equal(warp_step(rig.warp, &report), WARP_DONE);
        assert_int_equal(rig.served, ALL);
        for (unsigned lane = 0; lane < WIDTH; lane++)
            assert_int_equal(warp_register(rig.warp, 0, lane), 0);
    }
    rig_free(&rig);
}

static void a_lane_that_traps_ends_the_instruction(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 3; kind++) {
        struct rig rig;
        struct warp_report report;
        rig_init(&rig, kind == 2);
        rig.fails = true;
        rig.chooses = kind == 1;
        put(&rig, INSN_stash_chgmap, OP(.rd = T0, .rs1 = T0, .rs2 = T1));
        start(&rig);
        assert_int_equal(warp_step(rig.warp, &report), WARP_TRAP);
        assert_int_equal(report.lane, FAILS);
        assert_int_equal(report.trap.cause, kind ? TRAP_STORE_ACCESS : TRAP_ILLEGAL_INSTRUCTION);
        assert_int_equal(report.trap.value, kind == 2   ? 77
                                            : kind == 1 ? FAILS
                                                        : *(uint32_t *)(void *)phys_at(&rig.phys, BASE, 4));
        assert_int_equal(warp_pc(rig.warp, 0), BASE);
        expect(&rig, T0, 0);
        rig_free(&rig);
    }
}

static void without_a_unit_they_are_illegal(void **state)
{
    (void)state;
    struct rig rig;
    struct warp_report report;
    rig_init(&rig, false);
    memset(&rig.units, 0, sizeof rig.units);
    put(&rig, INSN_beq, OP(.rs1 = T2, .imm = 8));
    put(&rig, INSN_stash_addmap, OP(.rd = T0, .rs1 = T0));
    put(&rig, INSN_addi, OP(.rd = 0));
    start(&rig);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(warp_run(rig.warp, 100, &report), WARP_TRAP);
        assert_int_equal(report.lane, 1);
        assert_int_equal(report.pc, BASE + 4);
        assert_int_equal(report.trap.cause, TRAP_ILLEGAL_INSTRUCTION);
        assert_int_equal(warp_insns(rig.warp), 1);
    }
    expect(&rig, T0, 0);
    rig_free(&rig);
}

/* Takes the lanes of `taken` at nucds. */
struct taker {
    uint32_t taken, offered;
    struct custom_waiter waiter;
};

static void nobody_waits(struct custom_waiter *waiter, uint64_t now)
{
    (void)waiter;
    (void)now;
}

static uint32_t take(void *context, struct custom_lanes *lanes)
{
    struct taker *taker = context;
    taker->offered = lanes->mask;
    return taker->taken & lanes->mask;
}

/* nucd, then t1 += t1 as the region, then t0 += t0. Returns with the nucd executed. */
static void reach_nucd(struct rig *rig, struct taker *taker)
{
    struct warp_report report;
    rig_init(rig, false);
    taker->waiter = (struct custom_waiter){.done = nobody_waits};
    custom_serve(&rig->units, EXTENSION_Xnucd, &(struct custom_unit){.take_lanes = take, .context = taker});
    put(rig, INSN_nucd, OP(.rs1 = T0, .rs2 = T1));
    put(rig, INSN_add, OP(.rd = T1, .rs1 = T1, .rs2 = T1));
    put(rig, INSN_add, OP(.rd = T0, .rs1 = T0, .rs2 = T0));
    put(rig, INSN_jalr, OP(.rs1 = 1));
    start(rig);
    warp_set_waiter(rig->warp, &taker->waiter);
    assert_int_equal(warp_step(rig->warp, &report), WARP_DONE);
    assert_int_equal(report.mask, ALL);
    assert_int_equal(taker->offered, ALL);
    assert_int_equal(warp_live(rig->warp), ALL);
}

/* The unit runs the region for the odd lanes. They execute nothing meanwhile; the even lanes go on to
 * their end. */
static void lanes_that_a_unit_takes_are_away(void **state)
{
    (void)state;
    struct rig rig;
    struct taker taker = {.taken = ODD};
    struct warp_report report;
    reach_nucd(&rig, &taker);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(warp_step(rig.warp, &report), WARP_DONE);
        assert_int_equal(report.mask, ALL & ~ODD);
    }
    for (unsigned lane = 0; lane < WIDTH; lane++) {
        assert_int_equal(warp_register(rig.warp, T0, lane), lane % 2 ? lane : 2 * lane);
        assert_int_equal(warp_register(rig.warp, T1, lane), lane % 2 ? 10 * lane : 20 * lane);
    }
    assert_int_equal(warp_step(rig.warp, &report), WARP_EXIT);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(warp_step(rig.warp, &report), WARP_AWAY);
    assert_int_equal(warp_live(rig.warp), ODD);
    for (unsigned lane = 1; lane < WIDTH; lane += 2) {
        warp_set_register(rig.warp, T1, lane, 100 + lane);
        warp_return(rig.warp, lane, BASE + 8, NULL);
    }
    assert_int_equal(warp_step(rig.warp, &report), WARP_DONE);
    assert_int_equal(report.mask, ODD);
    assert_int_equal(report.pc, BASE + 8);
    for (unsigned lane = 1; lane < WIDTH; lane += 2) {
        assert_int_equal(warp_register(rig.warp, T0, lane), 2 * lane);
        assert_int_equal(warp_register(rig.warp, T1, lane), 100 + lane);
    }
    assert_int_equal(warp_step(rig.warp, &report), WARP_DONE);
    assert_int_equal(warp_step(rig.warp, &report), WARP_EXIT);
    assert_int_equal(warp_step(rig.warp, &report), WARP_IDLE);
    rig_free(&rig);
}

/* A lane that is returned with a trap traps in the next step, at its pc. */
static void a_lane_is_returned_with_a_trap(void **state)
{
    (void)state;
    struct rig rig;
    struct taker taker = {.taken = ALL};
    const struct trap trap = {TRAP_LOAD_ACCESS, 0x1234};
    struct warp_report report;
    reach_nucd(&rig, &taker);
    assert_int_equal(warp_step(rig.warp, &report), WARP_AWAY);
    warp_return(rig.warp, FAILS, BASE, &trap);
    assert_int_equal(warp_step(rig.warp, &report), WARP_TRAP);
    assert_int_equal(report.lane, FAILS);
    assert_int_equal(report.trap.cause, TRAP_LOAD_ACCESS);
    assert_int_equal(report.trap.value, 0x1234);
    assert_int_equal(warp_pc(rig.warp, FAILS), BASE);
    rig_free(&rig);
}

/* Without a clock, and where the unit takes none, a HINT does nothing. */
static void lanes_that_nobody_takes_go_on(void **state)
{
    (void)state;
    struct rig rig;
    struct taker taker = {.taken = 0};
    struct warp_report report;
    reach_nucd(&rig, &taker);
    assert_int_equal(warp_step(rig.warp, &report), WARP_DONE);
    assert_int_equal(report.mask, ALL);
    assert_int_equal(report.pc, BASE + 4);
    taker = (struct taker){.taken = ALL};
    start(&rig);
    warp_set_waiter(rig.warp, NULL);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(warp_step(rig.warp, &report), WARP_DONE);
    assert_int_equal(warp_step(rig.warp, &report), WARP_EXIT);
    assert_int_equal(taker.offered, 0);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_of_the_group_are_served),
        cmocka_unit_test(results_that_nobody_takes_are_dropped),
        cmocka_unit_test(a_lane_that_traps_ends_the_instruction),
        cmocka_unit_test(lanes_that_a_unit_takes_are_away),
        cmocka_unit_test(a_lane_is_returned_with_a_trap),
        cmocka_unit_test(lanes_that_nobody_takes_go_on),
        cmocka_unit_test(without_a_unit_they_are_illegal),
    };
    return cmocka_run_group_tests_name("custom instructions of warps", tests, NULL, NULL);
}
