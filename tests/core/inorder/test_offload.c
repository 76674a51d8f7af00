/* The in-order core with an offload mechanism: expected times are computed by hand from i, the nucd's issue.
 *
 * The task is ready a cycle later. A task of c clocks completes at T = i + 1 + c, when the code after its region is
 * fetched. */
#include <stdio.h>

#include "emu/core/inorder.h"
#include "emu/hart/probe.h"
#include "tests/core/fake_ahead.h"

enum {
    NOTES = 64,
    REFETCH = 8, /* from the first fetch to issue: 2 + 6 cycles */
};

struct scene {
    struct rig *rig;
    struct fake *fake;
    unsigned count;
    struct core_note notes[NOTES];
    struct event event;
};

static void note(void *context, const struct core *core, const struct core_note *told)
{
    struct scene *s = context;
    (void)core;
    assert_true(s->count < NOTES);
    assert_int_equal(told->number, s->count);
    s->notes[s->count++] = *told;
}

static struct scene *scene_new(uint64_t clocks)
{
    struct scene *s = calloc(1, sizeof *s);
    struct core_config config;
    struct error err;
    assert_non_null(s);
    s->rig = rig_new(NULL);
    s->fake = fake_new(s->rig);
    s->fake->task[0].clocks = clocks;
    struct core_parts parts = rig_parts(s->rig);
    parts.offload = fake_ahead(s->fake);
    core_config_default(&config, CORE_INORDER);
    s->rig->core = inorder_new(&config, &parts, &err);
    assert_non_null(s->rig->core);
    s->rig->observer = (struct core_observer){.retired = note, .context = s};
    core_observe(s->rig->core, &s->rig->observer);
    return s;
}

static void scene_free(struct scene *s)
{
    rig_free(s->rig);
    free(s->fake);
    free(s);
}

static uint64_t run(struct scene *s)
{
    RIG_EMIT(s->rig, ecall, 0);
    return rig_run(s->rig);
}

/* The note of the i-th nucd. */
static const struct core_note *nth_nucd(const struct scene *s, unsigned i)
{
    for (unsigned at = 0; at < s->count; at++)
        if (s->notes[at].insn.id == INSN_nucd && i-- == 0)
            return &s->notes[at];
    fail_msg("%u instructions, too few nucds", s->count);
    return NULL;
}

static void waits_for_tasks(void **state)
{
    (void)state;
    struct scene *s = scene_new(300);
    s->fake->result = 10;
    s->fake->task[0].way = 50;
    RIG_EMIT(s->rig, addi, .rd = 5, .rs1 = 0, .imm = 1);
    fake_emit(s->rig);
    RIG_EMIT(s->rig, add, .rd = 6, .rs1 = 5, .rs2 = 5);
    RIG_EMIT(s->rig, add, .rd = 7, .rs1 = 6, .rs2 = 10);
    (void)run(s);
    const struct core_note *nucd = nth_nucd(s, 0), *behind = nucd + 1;
    uint64_t end = nucd->issue + 1 + 300;
    assert_int_equal(s->fake->task[0].ready, (nucd->issue + 1) * RIG_CLOCK);
    assert_int_equal(nucd->complete, end);
    assert_int_equal(behind->insn.id, INSN_add); /* the region is not executed */
    assert_int_equal(s->rig->hart.x[29], 0);
    assert_int_equal(behind->issue, end + REFETCH);
    assert_int_equal(s->rig->core->cpi[CPI_offload], 51);
    assert_int_equal(s->rig->core->cpi[CPI_task], 250);
    assert_int_equal(s->fake->lefts, 1);
    assert_int_equal(s->fake->left_at, end * RIG_CLOCK);
    assert_int_equal(s->fake->looks, 0);
    assert_int_equal(s->rig->hart.x[6], 2);
    assert_int_equal(s->rig->hart.instret, s->count);
    scene_free(s);
}

/* A store that misses has left the buffer before the task is ready. */
static void waits_for_stores(void **state)
{
    (void)state;
    struct scene *s = scene_new(10);
    rig_set(s->rig, 20, RIG_FAR);
    RIG_EMIT(s->rig, sd, .rs1 = 20, .rs2 = 20);
    fake_emit(s->rig);
    (void)run(s);
    const struct core_note *nucd = nth_nucd(s, 0), *store = nucd - 1;
    assert_true(s->fake->task[0].ready >= (store->issue + RIG_FAR_CLOCKS) * RIG_CLOCK);
    assert_true(s->fake->task[0].ready <= (store->issue + RIG_FAR_CLOCKS + 20) * RIG_CLOCK);
    scene_free(s);
}

static void takes_one_after_the_other(void **state)
{
    (void)state;
    struct scene *s = scene_new(40);
    for (unsigned i = 0; i < 3; i++)
        fake_emit(s->rig);
    (void)run(s);
    assert_int_equal(s->fake->tasks, 3);
    assert_int_equal(s->fake->lefts, 3);
    for (unsigned i = 1; i < 3; i++)
        assert_true(s->fake->task[i].ready >= s->fake->task[i - 1].completed);
    scene_free(s);
}

/* An instruction that the mechanism refuses executes normally. */
static void runs_refused_regions(void **state)
{
    (void)state;
    struct scene *s = scene_new(40);
    s->fake->refuses = true;
    fake_emit(s->rig);
    (void)run(s);
    assert_int_equal(s->fake->tasks, 0);
    assert_int_equal(s->fake->takes, 2); /* including the ECALL */
    assert_int_equal(s->rig->hart.x[29], 2);
    scene_free(s);
}

static void yield(void *owner, uint64_t now)
{
    struct scene *s = owner;
    s->rig->hart.yield = true;
    core_offload_interrupted(s->rig->core, now);
}

static enum core_next go_on(struct rig *rig, enum hart_stop stop)
{
    rig->hart.yield = false;
    return stop == HART_STOP_TRAP ? CORE_SLEEP : CORE_CONTINUE;
}

/* A stop squashes the task; afterwards the nucd is reached again. */
static void stops_in_tasks(void **state)
{
    (void)state;
    struct scene *s = scene_new(300);
    uint64_t at = 100;
    fake_emit(s->rig);
    s->rig->served = go_on;
    event_init(&s->event, 31, yield, s);
    event_schedule(&s->rig->queue, &s->event, at * RIG_CLOCK);
    (void)run(s);
    assert_int_equal(s->fake->interrupts, 1);
    assert_int_equal(s->fake->tasks, 2);
    assert_int_equal(s->rig->stops[0], HART_STOP_YIELD);
    assert_in_range(s->rig->stop_times[0], at * RIG_CLOCK, (at + 1) * RIG_CLOCK);
    assert_int_equal(nth_nucd(s, 0)->complete, s->fake->task[1].completed / RIG_CLOCK);
    assert_int_equal(s->rig->hart.x[29], 0);
    scene_free(s);
}

static void squash(void *owner, uint64_t now)
{
    struct scene *s = owner;
    fake_squash(s->fake, s->fake->head, now);
}

/* The mechanism gives up a task and has the hart stop for it. */
static void stops_for_faults(void **state)
{
    (void)state;
    struct scene *s = scene_new(300);
    fake_emit(s->rig);
    s->fake->left_stop = HART_STOP_TRAP;
    event_init(&s->event, 31, squash, s);
    event_schedule(&s->rig->queue, &s->event, 77 * RIG_CLOCK);
    (void)run(s);
    assert_int_equal(s->rig->stops[0], HART_STOP_TRAP);
    assert_int_equal(s->rig->stop_times[0], 77 * RIG_CLOCK);
    assert_int_equal(s->rig->hart.pc, RIG_BASE);
    assert_int_equal(s->rig->hart.instret, 0);
    scene_free(s);
}

static void release(void *owner, uint64_t now)
{
    struct scene *s = owner;
    s->fake->halt = false;
    core_offload_go_on(s->rig->core, now);
}

/* The mechanism has no room; the core asks again when it has. */
static void waits_for_room(void **state)
{
    (void)state;
    struct scene *s = scene_new(10);
    fake_emit(s->rig);
    s->fake->halt = true;
    event_init(&s->event, 31, release, s);
    event_schedule(&s->rig->queue, &s->event, 90 * RIG_CLOCK);
    (void)run(s);
    assert_int_equal(s->fake->tasks, 1);
    assert_int_equal(s->fake->task[0].ready, 91 * RIG_CLOCK);
    assert_int_equal(nth_nucd(s, 0)->complete, 101);
    scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_for_tasks),
        cmocka_unit_test(waits_for_stores),
        cmocka_unit_test(takes_one_after_the_other),
        cmocka_unit_test(runs_refused_regions),
        cmocka_unit_test(stops_in_tasks),
        cmocka_unit_test(stops_for_faults),
        cmocka_unit_test(waits_for_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
