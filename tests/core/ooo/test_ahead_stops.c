/* The out-of-order core ahead of offloaded tasks: squashes, interrupts, limits, and leaving. Times as in
 * test_ahead.c. */
#include "tests/core/ooo/test_ahead.h"

static void squash_event(void *owner, uint64_t now)
{
    struct scene *s = owner;
    fake_squash(s->fake, s->number, now);
}

static void squash_at(struct scene *s, uint64_t number, uint64_t cycle)
{
    s->number = number;
    s->fake->once = true;
    event_init(&s->event, 40, squash_event, s);
    event_schedule(&s->rig->queue, &s->event, cycle * RIG_CLOCK);
}

/* Returns the cycle in which a program's first nucd is dispatched. */
static uint64_t dispatch_of_task(void (*program)(struct scene *))
{
    struct scene *s = scene_new(300, NULL);
    program(s);
    scene_run(s);
    uint64_t d = nth(s, 0)->dispatch;
    scene_free(s);
    return d;
}

static void misses(struct scene *s)
{
    scene_task(s);
    RIG_EMIT(s->rig, ld, .rd = 5, .rs1 = 23);
    RIG_EMIT(s->rig, sd, .rs1 = 22, .rs2 = 5, .imm = 16);
    RIG_EMIT(s->rig, ld, .rd = 6, .rs1 = 22, .imm = 16);
    RIG_EMIT(s->rig, div, .rd = 7, .rs1 = 6, .rs2 = 6);
    for (unsigned i = 0; i < 40; i++)
        RIG_EMIT(s->rig, addi, .rd = 8, .rs1 = 8, .imm = 1);
}

/* Everything is squashed while a load misses: the core leaves when the miss has ended, and executes everything
 * normally; nothing is counted twice. */
static void squashes_all(void **state)
{
    (void)state;
    uint64_t d = dispatch_of_task(misses);
    struct scene *s = scene_new(10000, NULL);
    misses(s);
    squash_at(s, 1, d + 60);
    scene_run(s);
    uint64_t over = d + BEHIND + 1 + latency(s, INSN_ld) + FAR_MISS;
    assert_int_equal(s->fake->left_at, over * RIG_CLOCK);
    assert_int_equal(s->fake->left_retired, 0);
    assert_int_equal(s->rig->hart.x[29], 2); /* the region was executed */
    assert_int_equal(s->rig->hart.x[8], 40);
    /* After redirect, front end and dispatch: the nucd again, as a hint; then the region and the load. */
    assert_int_equal(nth(s, 0)->dispatch, over + 1 + 12);
    /* The fence retired at d. */
    assert_int_equal(s->o->core.cpi[CPI_offload], over - d);
    assert_int_equal(s->o->core.cpi[CPI_task], 0);
    scene_free(s);
}

/* Squashes from the load on: the task before it retires first. */
static void squashes_younger(void **state)
{
    (void)state;
    uint64_t d = dispatch_of_task(misses);
    struct scene *s = scene_new(400, NULL);
    misses(s);
    squash_at(s, 2, d + 60);
    scene_run(s);
    assert_int_equal(s->fake->left_at, (d + 401) * RIG_CLOCK);
    assert_int_equal(s->fake->left_retired, 1);
    assert_int_equal(s->rig->hart.x[29], 0);
    assert_int_equal(s->rig->hart.x[8], 40);
    assert_int_equal(nth(s, 1)->dispatch, d + 401 + 1 + 12);
    /* The load hits now, because its line has arrived. */
    assert_int_equal(nth(s, 1)->complete, nth(s, 1)->dispatch + 1 + latency(s, INSN_ld) + 2);
    scene_free(s);
}

static void interrupt_event(void *owner, uint64_t now)
{
    struct scene *s = owner;
    hart_set_interrupt(&s->rig->hart, 7, true);
    core_offload_interrupted(s->rig->core, now);
}

/* The interrupt is taken at the nucd at once. With a checkpoint, the task and the instructions after it have left the
 * reorder buffer: restoring takes its clocks. */
static void interrupted_once(unsigned checkpoints, uint32_t clocks)
{
    struct rig_options options = rig_options_default();
    options.privileged = true;
    struct scene *s = scene_new(100000, &options);
    struct rig *rig = s->rig;
    s->fake->checkpoints = checkpoints;
    s->fake->checkpoint_clocks = clocks;
    s->fake->task[0].way = 50;
    RIG_EMIT(rig, addi, .rd = 5, .imm = 128);
    RIG_EMIT(rig, csrrs, .rd = 0, .rs1 = 5, .imm = 0x304); /* mie.MTIE */
    RIG_EMIT(rig, csrrw, .rd = 0, .rs1 = 22, .imm = 0x305);
    RIG_EMIT(rig, csrrsi, .rd = 0, .rs1 = 8, .imm = 0x300); /* mstatus.MIE */
    scene_task(s);
    uint64_t pc = rig->at - 12;
    for (unsigned i = 0; i < 10; i++)
        RIG_EMIT(rig, addi, .rd = 8, .rs1 = 8, .imm = 1);
    scene_make(s);
    assert_true(hart_breakpoint_add(&rig->hart, NEAR));
    event_init(&s->event, 40, interrupt_event, s);
    event_schedule(&rig->queue, &s->event, 5000 * RIG_CLOCK);
    scene_run(s);
    assert_int_equal(s->fake->interrupts, 1);
    assert_int_equal(s->fake->left_at, 5000 * RIG_CLOCK);
    assert_int_equal(rig->stops[0], HART_STOP_BREAK);
    assert_int_equal(rig->hart.priv.mepc, pc);
    assert_int_equal(rig->hart.x[8], 0);
    assert_int_equal(s->fake->passed, checkpoints);
    assert_in_range(rig->stop_times[0], (5014 + clocks) * RIG_CLOCK, (5030 + clocks) * RIG_CLOCK);
    scene_free(s);
}

static void interrupts(void **state)
{
    (void)state;
    interrupted_once(0, 0);
    interrupted_once(1, 100);
}

static enum core_next raise_limit(struct rig *rig, enum hart_stop stop)
{
    if (stop != HART_STOP_LIMIT)
        return CORE_SLEEP;
    assert_int_equal(hart_progress(&rig->hart), rig->core->limit);
    rig->core->limit += 3;
    return CORE_CONTINUE;
}

/* The core stops after exactly that many instructions, of which a task is one. */
static void limits(void **state)
{
    (void)state;
    struct scene *s = scene_new(300, NULL);
    fake_emit(s->rig);
    for (unsigned i = 0; i < 10; i++)
        RIG_EMIT(s->rig, addi, .rd = 8, .imm = 1);
    scene_make(s);
    s->rig->core->limit = FRONT + 1;
    s->rig->served = raise_limit;
    scene_run(s);
    /* A nucd and 10 instructions: stops after 1, 4, 7, 10 of them, and at the ECALL after 11. */
    assert_int_equal(s->rig->hart.instret, FRONT + 11);
    assert_int_equal(s->rig->stop_count, 4 + 1);
    assert_int_equal(s->fake->lefts, 1);
    scene_free(s);
}

static void go_on_event(void *owner, uint64_t now)
{
    struct scene *s = owner;
    s->fake->halt = false;
    core_offload_go_on(s->rig->core, now);
}

/* step() cannot dispatch anything at first. */
static void halts(void **state)
{
    (void)state;
    struct scene *s = scene_new(300, NULL);
    scene_task(s);
    s->fake->halt = true;
    event_init(&s->event, 40, go_on_event, s);
    event_schedule(&s->rig->queue, &s->event, 2000 * RIG_CLOCK);
    scene_run(s);
    assert_int_equal(nth(s, 0)->dispatch, 2000);
    assert_true(s->o->core.cpi[CPI_offload] >= 2000 - 60 + 300);
    scene_free(s);
}

/* A load that waits for a store to drain is squashed, and must not be woken when the store is done. By then the core
 * executes normally, or still waits for the task. */
static void forget_waiter(uint64_t number)
{
    struct scene *s = scene_new(400, NULL);
    RIG_EMIT(s->rig, sb, .rs1 = 23, .rs2 = 5); /* in the cache at about 140 */
    fake_emit(s->rig);
    RIG_EMIT(s->rig, ld, .rd = 6, .rs1 = 23); /* overlaps the store only in part */
    for (unsigned i = 0; i < 200; i++)
        RIG_EMIT(s->rig, mul, .rd = 7, .rs1 = 7, .rs2 = 7);
    squash_at(s, number, 80);
    scene_run(s);
    const struct cache_front *front = (const void *)s->rig->l1d;
    assert_true(number == 1 ? s->fake->left_at < 100 * RIG_CLOCK : s->fake->left_at > 400 * RIG_CLOCK);
    assert_int_equal(front->uses[CACHE_LOAD], 1);
    scene_free(s);
}

static void forgets_waiters(void **state)
{
    (void)state;
    forget_waiter(1);
    forget_waiter(2);
}

/* left() hands a stop to the server. */
static void stops(void **state)
{
    (void)state;
    struct scene *s = scene_new(10000, NULL);
    scene_task(s);
    uint64_t pc = s->rig->at - 12;
    RIG_EMIT(s->rig, addi, .rd = 8, .imm = 1);
    s->fake->left_stop = HART_STOP_TRAP;
    squash_at(s, 1, 200);
    scene_run(s);
    assert_int_equal(s->rig->stop_count, 1);
    assert_int_equal(s->rig->stops[0], HART_STOP_TRAP);
    assert_int_equal(s->rig->stop_times[0], 200 * RIG_CLOCK);
    assert_int_equal(s->rig->hart.pc, pc);
    scene_free(s);
}

static enum core_next pass(struct rig *rig, enum hart_stop stop)
{
    (void)rig;
    return stop == HART_STOP_BREAK || stop == HART_STOP_YIELD ? CORE_CONTINUE : CORE_SLEEP;
}

/* A breakpoint among the instructions ahead is reported when everything before it has retired. */
static void breakpoints(void **state)
{
    (void)state;
    struct scene *s = scene_new(300, NULL);
    scene_task(s);
    RIG_EMIT(s->rig, addi, .rd = 8, .rs1 = 8, .imm = 1);
    uint64_t pc = s->rig->at;
    RIG_EMIT(s->rig, addi, .rd = 9, .rs1 = 9, .imm = 1);
    scene_make(s);
    assert_true(hart_breakpoint_add(&s->rig->hart, pc));
    s->rig->served = pass;
    scene_run(s);
    assert_int_equal(s->rig->stops[0], HART_STOP_BREAK);
    assert_int_equal(s->rig->stop_times[0], nth(s, 1)->retire * RIG_CLOCK);
    assert_int_equal(nth(s, 1)->retire, completed(s, 0));
    assert_int_equal(s->rig->hart.x[9], 1);
    scene_free(s);
}

static void yield_event(void *owner, uint64_t now)
{
    struct scene *s = owner;
    hart_request_yield(&s->rig->hart);
    core_offload_interrupted(s->rig->core, now);
}

/* A yield is served soon while the core waits, and the task begins again. */
static void yields(void **state)
{
    (void)state;
    struct scene *s = scene_new(5000, NULL);
    scene_task(s);
    RIG_EMIT(s->rig, addi, .rd = 8, .imm = 1);
    s->rig->served = pass;
    event_init(&s->event, 40, yield_event, s);
    event_schedule(&s->rig->queue, &s->event, 2000 * RIG_CLOCK);
    scene_run(s);
    assert_int_equal(s->rig->stops[0], HART_STOP_YIELD);
    assert_in_range(s->rig->stop_times[0], 2013 * RIG_CLOCK, 2020 * RIG_CLOCK);
    assert_int_equal(s->fake->tasks, 2);
    assert_int_equal(nth(s, 0)->complete, completed(s, 1));
    assert_true(completed(s, 1) > 7000);
    scene_free(s);
}

/* Instructions that read a counter or order memory wait for the task; what follows them is not ahead. */
static void leaves(void **state)
{
    (void)state;
    struct scene *s = scene_new(300, NULL);
    scene_task(s);
    RIG_EMIT(s->rig, addi, .rd = 8, .imm = 1);
    RIG_EMIT(s->rig, csrrs, .rd = 5, .rs1 = 0, .imm = 0xc00); /* cycle */
    fake_emit(s->rig);
    scene_run(s);
    uint64_t end = nth(s, 0)->dispatch + 301;
    assert_int_equal(nth(s, 2)->issue, end);
    assert_in_range(s->rig->hart.x[5], end, end + 1);
    assert_int_equal(s->fake->tasks, 2);
    assert_true(completed(s, 1) > end + 300);
    scene_free(s);
}

/* Without a mechanism, and while warming, a nucd is a hint. */
static void stays_behind(void **state)
{
    (void)state;
    for (unsigned warming = 0; warming < 2; warming++) {
        struct scene *s = scene_new(300, NULL);
        scene_task(s);
        scene_make(s);
        if (!warming)
            s->rig->core->parts.offload = (struct core_offload){0};
        core_unobserve(s->rig->core, &s->rig->observer);
        core_set_warming(s->rig->core, warming);
        (void)run_program(s->rig, NULL, &s->cycles);
        assert_int_equal(s->fake->takes, 0);
        assert_int_equal(s->rig->hart.x[29], 2);
        scene_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squashes_all),    cmocka_unit_test(squashes_younger),
        cmocka_unit_test(interrupts),      cmocka_unit_test(limits),
        cmocka_unit_test(halts),           cmocka_unit_test(stays_behind),
        cmocka_unit_test(forgets_waiters), cmocka_unit_test(stops),
        cmocka_unit_test(breakpoints),     cmocka_unit_test(yields),
        cmocka_unit_test(leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
