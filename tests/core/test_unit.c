/* Cores wait for the unit of a custom instruction as long as it requests. */
#include "emu/core/inorder.h"
#include "emu/core/ooo.h"
#include "tests/core/rig.h"

struct scene {
    struct rig *rig;
    struct custom_units units;
    struct custom_waiter *waiter;
    struct event event;
    uint64_t clocks; /* 0: the unit does not request time */
    unsigned calls;
    uint64_t done; /* time of the last call, fs */
};

static void unit_done(void *owner, uint64_t now)
{
    struct scene *s = owner;
    s->done = now;
    custom_done(s->waiter, now);
}

static bool execute(void *context, struct custom_call *call)
{
    struct scene *s = context;
    s->calls++;
    assert_int_equal(call->time, call->waiter ? s->rig->queue.now : 0);
    call->result = call->operand[0] + 1;
    if (s->clocks == 0)
        return true;
    s->waiter = custom_later(call->waiter);
    if (s->waiter)
        event_schedule(&s->rig->queue, &s->event, s->rig->queue.now + s->clocks * RIG_CLOCK);
    return true;
}

/* Returns the cycles of two custom instructions and a store before them that misses. */
static uint64_t run(unsigned kind, uint64_t clocks, bool warming)
{
    struct scene s = {.rig = rig_new(NULL), .clocks = clocks};
    const struct custom_unit unit = {.execute = execute, .context = &s};
    struct core_parts parts = rig_parts(s.rig);
    struct core_config config;
    struct error err;
    core_config_default(&config, kind);
    custom_serve(&s.units, insn_table[INSN_stash_chgmap].extension, &unit);
    s.rig->hart.custom = &s.units;
    event_init(&s.event, 30, unit_done, &s);
    s.rig->core = kind == CORE_OOO ? ooo_new(&config, &parts, &err) : inorder_new(&config, &parts, &err);
    assert_non_null(s.rig->core);
    core_set_warming(s.rig->core, warming);
    RIG_EMIT(s.rig, addi, .rd = 5, .rs1 = 0, .imm = 7);
    RIG_EMIT(s.rig, stash_chgmap, .rd = 6, .rs1 = 5, .rs2 = 5);
    RIG_EMIT(s.rig, addi, .rd = 7, .rs1 = 6, .imm = 1);
    RIG_EMIT(s.rig, stash_chgmap, .rd = 8, .rs1 = 7, .rs2 = 5);
    RIG_EMIT(s.rig, ecall, 0);
    uint64_t cycles = rig_run(s.rig);
    assert_int_equal(s.calls, 2);
    assert_int_equal(s.rig->hart.instret, 4);
    assert_true(cycles * RIG_CLOCK > s.done);
    rig_free(s.rig);
    return cycles;
}

static void cores_wait(void **state)
{
    (void)state;
    const unsigned kinds[] = {CORE_INORDER, CORE_OOO};
    for (unsigned i = 0; i < 2; i++) {
        uint64_t none = run(kinds[i], 0, false), some = run(kinds[i], 100, false);
        assert_in_range(some, none + 2 * 99 - 8, none + 2 * 100);
        assert_int_equal(run(kinds[i], 350, false), some + 2 * 250);
    }
}

static void nobody_waits_without_a_clock(void **state)
{
    (void)state;
    assert_int_equal(run(CORE_INORDER, 350, true), run(CORE_INORDER, 0, true));
    assert_int_equal(run(CORE_OOO, 350, true), run(CORE_OOO, 0, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cores_wait),
                                       cmocka_unit_test(nobody_waits_without_a_clock)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
