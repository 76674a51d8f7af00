/* Loads and stores of a group whose addresses are equal, adjacent, in runs, or anywhere, in program memory, the scratchpad and the
 * stacks, up to the ends of each, for any set of lanes: every lane must get what a copy of one access after the other gets. For
 * the build variants that the host can execute. */
#include "emu/simt/warp/code/code.h"
#include "tests/isa/random.h"
#include "tests/simt/code_fixture.h"

enum {
    SIZE = 0x20000,
    STACKS = 0x10000, /* of SIZE; the data are from 0x8000 on */
    DATA = 0x8000,
    SHIFT = 8,
    WARPS = 2,
    PAD = 0x400,
    POINTER = 10,
    VALUE = 11,
    ROUNDS = 4000,
};

struct rig {
    struct code_fixture code;
    struct warp *warp;
    struct random random;
    uint8_t pad[PAD];
    uint64_t address[WARP_LANES];
};

static const struct {
    enum insn_id load, store;
    unsigned size;
} kinds[] = {{INSN_lbu, INSN_sb, 1}, {INSN_lhu, INSN_sh, 2}, {INSN_lwu, INSN_sw, 4}, {INSN_ld, INSN_sd, 8}};

/* The last access of some is 1 or 2 bytes too far. */
static void choose_addresses(struct rig *rig, unsigned size)
{
    static const unsigned runs[] = {1, 4, 8, 16, 32};
    static const struct {
        uint64_t first, size;
    } spaces[] = {{CODE_BASE + DATA, SIZE - DATA},
                  {WARP_SHARED_WINDOW, PAD},
                  {WARP_STACK_WINDOW, UINT64_C(WARPS * 32) << SHIFT}};
    const unsigned space = random_below(&rig->random, 3), run = runs[random_below(&rig->random, 5)];
    const uint64_t first = spaces[space].first, room = spaces[space].size - size;
    const bool equal = random_chance(&rig->random, 50), late = random_chance(&rig->random, 10);
    uint64_t at = 0;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        if (lane % run == 0)
            at = random_below(&rig->random, (uint32_t)(room - (run - 1) * (equal ? 0 : size)) + 1);
        if (lane % run == 0 && late)
            at = room - (run - 1) * (equal ? 0 : size) + random_below(&rig->random, 3) / 2;
        rig->address[lane] = first + at + (equal ? 0 : lane % run * size);
        if (space == 2 && random_chance(&rig->random, 99)) /* the same bytes of each lane's stack */
            rig->address[lane] = lane ? rig->address[0] + ((uint64_t)lane << SHIFT) : first + at % 248;
        if (random_chance(&rig->random, 1))
            rig->address[lane] = spaces[random_below(&rig->random, 3)].first;
    }
}

/* A warp whose lanes in `mask` are together at the instruction. */
static void place_lanes(struct rig *rig, uint32_t mask, enum insn_id id, bool store)
{
    const struct warp_place place = {.block_size = {WARP_LANES, 1, 1},
                                     .grid_size = {1, 1, 1},
                                     .scratchpad = rig->pad,
                                     .scratchpad_size = PAD};
    rig->code.at = CODE_BASE;
    code_fixture_row(&rig->code, id,
                     store ? OP(.rs1 = POINTER, .rs2 = VALUE) : OP(.rd = VALUE, .rs1 = POINTER));
    warp_memory_flush(&rig->code.memory);
    warp_start(rig->warp, &place, CODE_BASE, 0, 0);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        warp_set_register(rig->warp, POINTER, lane, rig->address[lane]);
        warp_set_register(rig->warp, VALUE, lane, random_next(&rig->random));
        if (!(mask >> lane & 1))
            warp_end(rig->warp, lane);
    }
}

static void load(struct rig *rig, unsigned kind, uint32_t mask)
{
    const struct warp_scratchpad *pad = warp_scratchpad(rig->warp);
    struct warp_report report;
    place_lanes(rig, mask, kinds[kind].load, false);
    (void)warp_step(rig->warp, &report);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        uint64_t value = 0;
        if (!(mask >> lane & 1))
            continue;
        bool can = warp_memory_load(&rig->code.memory, pad, rig->address[lane], &value, kinds[kind].size);
        if (!can) { /* the first lane that cannot traps */
            assert_int_equal(report.event, WARP_TRAP);
            assert_int_equal(report.lane, lane);
            return;
        }
        if (report.event == WARP_DONE)
            assert_int_equal(warp_register(rig->warp, VALUE, lane), value);
    }
    assert_int_equal(report.event, WARP_DONE);
}

static void store(struct rig *rig, unsigned kind, uint32_t mask)
{
    static uint8_t before[SIZE], after[SIZE];
    const struct warp_scratchpad *pad = warp_scratchpad(rig->warp);
    uint8_t pad_before[PAD], pad_after[PAD];
    uint8_t *all = phys_at(&rig->code.phys, CODE_BASE, SIZE);
    struct warp_report report;
    unsigned first = WARP_LANES;
    place_lanes(rig, mask, kinds[kind].store, true);
    memcpy(before, all, SIZE);
    memcpy(pad_before, rig->pad, PAD);
    (void)warp_step(rig->warp, &report);
    memcpy(after, all, SIZE);
    memcpy(pad_after, rig->pad, PAD);
    memcpy(all, before, SIZE);
    memcpy(rig->pad, pad_before, PAD);
    for (unsigned lane = WARP_LANES; lane-- > 0;)
        if (mask >> lane & 1 &&
            !warp_memory_can(&rig->code.memory, pad, rig->address[lane], kinds[kind].size, WARP_STORE))
            first = lane;
    for (unsigned lane = 0; lane < WARP_LANES && first == WARP_LANES; lane++) {
        const uint64_t value = warp_register(rig->warp, VALUE, lane);
        if (mask >> lane & 1)
            assert_true(
                warp_memory_store(&rig->code.memory, pad, rig->address[lane], &value, kinds[kind].size));
    }
    assert_int_equal(report.event, first < WARP_LANES ? WARP_TRAP : WARP_DONE);
    if (first < WARP_LANES)
        assert_int_equal(report.lane, first);
    assert_memory_equal(after, all, SIZE);
    assert_memory_equal(pad_after, rig->pad, PAD);
}

static void each_lane_gets_its_own(void **state)
{
    (void)state;
    const struct warp_table *const tables[] = {&warp_rows_base, &warp_rows_v3, &warp_rows_v4};
    for (unsigned table = 0; table < 3; table++) {
        static struct rig rig;
        struct error err;
        if (!warp_code_can(tables[table]))
            continue;
        rig.random = (struct random){7};
        code_fixture_init(&rig.code, SIZE,
                          (struct warp_memory_setup){.width = WARP_LANES,
                                                     .write_first = CODE_BASE + DATA,
                                                     .stack_shift = SHIFT,
                                                     .stack_physical = CODE_BASE + STACKS,
                                                     .stack_warps = WARPS});
        warp_code_use(rig.code.memory.code, tables[table]);
        rig.warp = warp_new(&rig.code.memory, &err);
        assert_non_null(rig.warp);
        for (unsigned i = 0; i < SIZE - DATA; i++)
            *phys_at(&rig.code.phys, CODE_BASE + DATA + i, 1) = (uint8_t)random_next(&rig.random);
        for (unsigned round = 0; round < ROUNDS; round++) {
            const unsigned kind = random_below(&rig.random, 4);
            const uint32_t some = (uint32_t)random_next(&rig.random);
            const uint32_t masks[] = {UINT32_MAX, some, some & (some >> 16), some | some << 16};
            const uint32_t mask = masks[random_below(&rig.random, 4)] | 1u << random_below(&rig.random, 32);
            choose_addresses(&rig, kinds[kind].size);
            load(&rig, kind, mask);
            store(&rig, kind, mask);
        }
        warp_free(rig.warp);
        code_fixture_free(&rig.code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_lane_gets_its_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
