/* The out-of-order core ahead of offloaded tasks: expected times are computed by hand from d, the nucd's dispatch.
 *
 * The nucd issues at d + 1 and is ready then, if nothing older is under way. Fetch continues redirect_clocks (1) later,
 * and the next instructions are dispatched frontend_clocks (12) after that, at d + 14, and issue a cycle later. A task
 * of c clocks completes at T = d + 1 + c. */
#include "tests/core/ooo/test_ahead.h"

static void goes_on(void **state)
{
    (void)state;
    struct scene *s = scene_new(300, NULL);
    s->fake->result = 10;
    s->fake->task[0].way = 50;
    scene_task(s);
    RIG_EMIT(s->rig, add, .rd = 5, .rs1 = 6, .rs2 = 7);
    RIG_EMIT(s->rig, add, .rd = 11, .rs1 = 10, .rs2 = 10);
    RIG_EMIT(s->rig, add, .rd = 12, .rs1 = 11, .rs2 = 5);
    scene_run(s);
    uint64_t d = nth(s, 0)->dispatch, end = d + 301;
    assert_int_equal(s->fake->task[0].decoded, d * RIG_CLOCK);
    assert_int_equal(s->fake->task[0].ready, (d + 1) * RIG_CLOCK);
    assert_int_equal(nth(s, 0)->complete, end);
    assert_int_equal(nth(s, 1)->dispatch, d + BEHIND);
    assert_int_equal(nth(s, 1)->complete, d + BEHIND + 2);
    assert_int_equal(nth(s, 1)->retire, end);
    assert_int_equal(nth(s, 2)->dispatch, d + BEHIND);
    assert_int_equal(nth(s, 2)->issue, end);
    assert_int_equal(nth(s, 3)->complete, end + 2);
    assert_int_equal(s->fake->left_at, (end + 2) * RIG_CLOCK);
    assert_int_equal(s->fake->left_retired, 4);
    /* The task blocks retirement from its issue on; the pipeline takes the cycle of issue. */
    assert_int_equal(s->o->core.cpi[CPI_offload], 49);
    assert_int_equal(s->o->core.cpi[CPI_task], 250);
    scene_free(s);
}

/* A task is ready when the older misses, and the instructions that depend on them, are complete. */
static void waits_for_older(void **state)
{
    (void)state;
    struct scene *s = scene_new(300, NULL);
    while (s->rig->at % 64 != 56)
        RIG_EMIT(s->rig, addi, 0);
    RIG_EMIT(s->rig, ld, .rd = 5, .rs1 = 23);
    RIG_EMIT(s->rig, mul, .rd = 6, .rs1 = 5, .rs2 = 5);
    fake_emit(s->rig);
    scene_run(s);
    const struct core_note *load = nth(s, 0) - 2;
    uint64_t older = load->complete + latency(s, INSN_mul);
    assert_int_equal(load->complete, load->issue + latency(s, INSN_ld) + FAR_MISS);
    assert_int_equal(s->fake->task[0].ready, older * RIG_CLOCK);
    assert_int_equal(nth(s, 0)->complete, older + 300);
    scene_free(s);
}

static void holds_loads(void **state)
{
    (void)state;
    struct scene *s = scene_new(300, NULL);
    s->fake->task[0].out = NEAR;
    s->fake->task[0].bytes = 64;
    scene_task(s);
    RIG_EMIT(s->rig, ld, .rd = 5, .rs1 = 22, .imm = 8);
    RIG_EMIT(s->rig, ld, .rd = 6, .rs1 = 22, .imm = 64);
    RIG_EMIT(s->rig, add, .rd = 7, .rs1 = 6, .rs2 = 6);
    RIG_EMIT(s->rig, add, .rd = 8, .rs1 = 5, .rs2 = 5);
    scene_run(s);
    uint64_t d = nth(s, 0)->dispatch, end = d + 301, hit = latency(s, INSN_ld) + 2;
    assert_int_equal(nth(s, 1)->issue, d + BEHIND + 1);
    assert_int_equal(nth(s, 1)->complete, end + 2);
    assert_int_equal(nth(s, 2)->complete, d + BEHIND + 2 + hit); /* the port was taken for a cycle */
    assert_int_equal(nth(s, 3)->complete, d + BEHIND + 2 + hit + 1);
    assert_int_equal(nth(s, 4)->complete, end + 3);
    assert_int_equal(s->o->count.held, 1);
    scene_free(s);
}

/* A load is held first for the younger task, then for the older. */
static void holds_again(void **state)
{
    (void)state;
    struct scene *s = scene_new(600, NULL);
    for (unsigned i = 0; i < 2; i++) {
        s->fake->task[i].out = NEAR;
        s->fake->task[i].bytes = 64;
        fake_emit(s->rig);
    }
    s->fake->task[1].clocks = 100;
    s->fake->task[1].out = NEAR + 4; /* each task writes some of the load's 8 bytes */
    RIG_EMIT(s->rig, ld, .rd = 5, .rs1 = 22);
    scene_run(s);
    assert_true(completed(s, 1) < completed(s, 0));
    assert_int_equal(nth(s, 2)->complete, completed(s, 0) + 2);
    assert_int_equal(s->o->count.held, 2);
    scene_free(s);
}

/* A load that is held for a store whose data come from a task takes its bytes from that store. */
static void forwards(void **state)
{
    (void)state;
    struct scene *s = scene_new(300, NULL);
    s->fake->result = 10;
    scene_task(s);
    RIG_EMIT(s->rig, sd, .rs1 = 22, .rs2 = 10);
    RIG_EMIT(s->rig, ld, .rd = 5, .rs1 = 22);
    scene_run(s);
    uint64_t end = nth(s, 0)->dispatch + 301;
    assert_int_equal(nth(s, 1)->complete, end);
    assert_int_equal(nth(s, 2)->complete, end + 2);
    assert_int_equal(s->o->count.forwarded, 1);
    scene_free(s);
}

/* Tasks return base registers: addresses become known later, and loads wait behind a store of unknown address. */
static void late_addresses(void **state)
{
    (void)state;
    struct scene *s = scene_new(300, NULL);
    s->fake->result = 10;
    rig_set(s->rig, 10, NEAR);
    scene_task(s);
    RIG_EMIT(s->rig, ld, .rd = 5, .rs1 = 10, .imm = 128);
    RIG_EMIT(s->rig, sb, .rs1 = 10, .rs2 = 6);
    RIG_EMIT(s->rig, sd, .rs1 = 22, .rs2 = 7);
    RIG_EMIT(s->rig, ld, .rd = 8, .rs1 = 22);
    scene_run(s);
    uint64_t d = nth(s, 0)->dispatch, end = d + 301;
    assert_int_equal(nth(s, 1)->complete, end + latency(s, INSN_ld) + 2);
    uint64_t known = end + latency(s, INSN_sb);
    assert_int_equal(nth(s, 2)->complete, known);
    assert_int_equal(nth(s, 3)->dispatch, d + BEHIND);
    /* The load is dispatched when its address is known; the younger store has all of its bytes. */
    assert_int_equal(nth(s, 4)->dispatch, known);
    assert_int_equal(nth(s, 4)->complete, known + 1 + latency(s, INSN_ld) + 2);
    assert_int_equal(s->o->count.forwarded, 1);
    assert_int_equal(s->o->count.partial, 0);
    scene_free(s);
}

/* A branch that depends on a task's result, and a nucd with such an operand. */
static void late_branches(void **state)
{
    (void)state;
    struct scene *s = scene_new(300, NULL);
    s->fake->result = 28;
    scene_task(s);
    RIG_EMIT(s->rig, addi, .rd = 5, .imm = 1);
    rig_branch(s->rig, INSN_bne, 28, 28, s->rig->at + 8);
    RIG_EMIT(s->rig, addi, .rd = 5, .imm = 1);
    fake_emit(s->rig);
    fake_emit(s->rig);
    scene_run(s);
    uint64_t d = nth(s, 0)->dispatch, end = d + 301;
    assert_int_equal(nth(s, 1)->dispatch, d + BEHIND);
    assert_int_equal(nth(s, 2)->dispatch, end);
    assert_int_equal(nth(s, 2)->issue, end + 1);
    assert_int_equal(nth(s, 4)->dispatch, end);
    assert_int_equal(completed(s, 1), end + 2 + 300); /* behind the branch */
    assert_int_equal(nth(s, 5)->dispatch, completed(s, 1));
    assert_int_equal(completed(s, 2), completed(s, 1) + 301);
    scene_free(s);
}

/* Arithmetic that waits for a task does not delay the next task, nor do a load of bytes that the task writes and a
 * store of its result: they can neither trap nor be squashed. */
static void launches_before_dependents(void **state)
{
    (void)state;
    struct scene *s = scene_new(500, NULL);
    s->fake->result = 10;
    s->fake->task[0].out = NEAR;
    s->fake->task[0].bytes = 64;
    s->fake->task[1].out = s->fake->task[1].bytes = 1;
    scene_task(s);
    RIG_EMIT(s->rig, add, .rd = 11, .rs1 = 10, .rs2 = 10);
    RIG_EMIT(s->rig, div, .rd = 12, .rs1 = 11, .rs2 = 10);
    RIG_EMIT(s->rig, mul, .rd = 22, .rs1 = 22, .rs2 = 1); /* delays the address */
    RIG_EMIT(s->rig, ld, .rd = 5, .rs1 = 22, .imm = 8);
    RIG_EMIT(s->rig, sd, .rs1 = 22, .rs2 = 10, .imm = 128);
    fake_emit(s->rig);
    scene_run(s);
    uint64_t d = nth(s, 0)->dispatch, second = nth(s, 6)->dispatch, end = d + 501;
    const struct fake_task *task = &s->fake->task[1];
    assert_int_equal(second, d + BEHIND + 1); /* three in a cycle */
    assert_int_equal(task->freed, task->decoded);
    uint64_t load = nth(s, 4)->issue + latency(s, INSN_ld), store = nth(s, 5)->issue + latency(s, INSN_sd);
    assert_int_equal(nth(s, 4)->issue, nth(s, 3)->complete);
    assert_true(load > second + 1);
    assert_int_equal(task->ready, (load > store ? load : store) * RIG_CLOCK);
    assert_int_equal(nth(s, 1)->complete, end + 1);
    assert_int_equal(nth(s, 4)->complete, end + 2);
    assert_int_equal(nth(s, 5)->complete, end);
    assert_int_equal(completed(s, 1), task->ready / RIG_CLOCK + 500);
    scene_free(s);
}

/* A load or store whose address comes from a task can trap: the next task waits for its translation. The part of the
 * wait until the address is known is told apart. */
static void waits_for_late_addresses(void **state)
{
    static const enum insn_id accesses[] = {INSN_ld, INSN_sd};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct scene *s = scene_new(300, NULL);
        s->fake->result = 10;
        rig_set(s->rig, 10, NEAR);
        scene_task(s);
        rig_emit(s->rig, accesses[i], (struct operands){.rd = i ? 0 : 5, .rs1 = 10, .rs2 = i ? 6 : 0});
        fake_emit(s->rig);
        scene_run(s);
        uint64_t end = nth(s, 0)->dispatch + 301;
        const struct fake_task *task = &s->fake->task[1];
        assert_int_equal(task->decoded, nth(s, 2)->dispatch * RIG_CLOCK);
        assert_true(nth(s, 2)->dispatch < end);
        assert_int_equal(task->freed, end * RIG_CLOCK);
        assert_int_equal(task->ready, nth(s, 1)->complete * RIG_CLOCK);
        scene_free(s);
    }
}

/* The page walk of a held load precedes the next task, and does not delay the load. */
static void translates_held_loads(void **state)
{
    (void)state;
    struct rig_options options = rig_options_default();
    options.privileged = true;
    struct scene *s = scene_new(2000, &options);
    struct tlb_config config;
    part_defaults(&tlb_kind, 0, &config);
    rig_map(s->rig);
    s->rig->tlb = tlb_new(&config, &s->rig->hart, &s->rig->queue, &s->rig->clock, 4, 0, s->rig->l1d);
    s->fake->task[0].out = NEAR;
    s->fake->task[0].bytes = 64;
    s->fake->task[1].out = s->fake->task[1].bytes = 1;
    scene_task(s);
    RIG_EMIT(s->rig, ld, .rd = 5, .rs1 = 22, .imm = 8);
    fake_emit(s->rig);
    assert_true(hart_breakpoint_add(&s->rig->hart, s->rig->at));
    scene_run(s);
    uint64_t end = completed(s, 0), walked = s->o->load_ring[0].walked;
    assert_true(walked > nth(s, 1)->issue + 100 && walked < end);
    assert_int_equal(s->fake->task[1].ready, walked * RIG_CLOCK);
    assert_int_equal(s->fake->task[1].freed, s->fake->task[1].decoded);
    assert_int_equal(nth(s, 1)->complete, end + 2);
    scene_free(s);
}

static void fills_reorder_buffer(void **state)
{
    (void)state;
    struct scene *s = scene_new(500, NULL);
    s->config.rob = s->config.iq = s->config.fetch_queue = 16;
    scene_task(s);
    for (unsigned i = 0; i < 30; i++)
        RIG_EMIT(s->rig, addi, .rd = (uint8_t)(5 + i % 4), .imm = 1);
    scene_run(s);
    uint64_t d = nth(s, 0)->dispatch, end = d + 501;
    assert_int_equal(nth(s, 15)->dispatch, d + BEHIND + 14 / 3);
    assert_int_equal(nth(s, 16)->dispatch, end + 1);
    assert_int_equal(nth(s, 15)->retire, end + 1); /* 8 in a cycle */
    scene_free(s);
}

/* The fifth store waits until the first one is in the cache: that one retires with the task, accesses the cache a cycle
 * later, and is done another cycle later. */
static void fills_store_queue(void **state)
{
    (void)state;
    struct scene *s = scene_new(500, NULL);
    s->config.store_queue = 4;
    scene_task(s);
    for (unsigned i = 0; i < 6; i++)
        RIG_EMIT(s->rig, sd, .rs1 = 22, .rs2 = 5, .imm = (int32_t)(8 * i));
    scene_run(s);
    uint64_t d = nth(s, 0)->dispatch, end = d + 501;
    assert_int_equal(nth(s, 4)->dispatch, d + BEHIND + 1);
    assert_int_equal(nth(s, 5)->dispatch, end + 2);
    assert_true(s->o->count.store_queue_full > 0);
    scene_free(s);
}

static void two_in_flight(void **state)
{
    (void)state;
    struct scene *s = scene_new(500, NULL);
    s->fake->task[1].clocks = 100;
    scene_task(s);
    fake_emit(s->rig);
    RIG_EMIT(s->rig, addi, .rd = 5, .imm = 1);
    scene_run(s);
    uint64_t d = nth(s, 0)->dispatch;
    assert_int_equal(nth(s, 1)->dispatch, d + BEHIND);
    assert_int_equal(s->fake->task[1].ready, (d + BEHIND + 1) * RIG_CLOCK);
    assert_int_equal(nth(s, 1)->complete, d + BEHIND + 1 + 100);
    assert_int_equal(nth(s, 1)->retire, d + 501);
    assert_int_equal(nth(s, 2)->retire, d + 501);
    scene_free(s);
}

/* A task that was launched before completes while its nucd waits for an entry of the reorder buffer. */
static void ran_before(void **state)
{
    (void)state;
    struct scene *s = scene_new(500, NULL);
    s->config.rob = s->config.iq = s->config.fetch_queue = 16;
    s->fake->task[1].ran = true;
    s->fake->task[1].clocks = 100;
    scene_task(s);
    for (unsigned i = 0; i < 15; i++)
        RIG_EMIT(s->rig, addi, .rd = 5, .imm = 1);
    fake_emit(s->rig);
    scene_run(s);
    uint64_t end = nth(s, 0)->dispatch + 501;
    assert_true(completed(s, 1) < end);
    assert_int_equal(nth(s, 16)->dispatch, end + 1);
    assert_int_equal(nth(s, 16)->complete, end + 3);
    scene_free(s);
}

/* With a checkpoint, a task whose packet has arrived leaves the reorder buffer, and complete instructions follow. They
 * retire with the task; stores keep their entries in the store queue until then. */
static void passes_tasks(void **state)
{
    (void)state;
    struct scene *s = scene_new(500, NULL);
    s->fake->checkpoints = 1;
    s->fake->checkpoint_clocks = 8;
    s->fake->task[0].way = 50;
    s->config.rob = s->config.iq = s->config.fetch_queue = 16;
    s->config.store_queue = 4;
    scene_task(s);
    for (unsigned i = 0; i < 40; i++)
        RIG_EMIT(s->rig, addi, .rd = (uint8_t)(5 + i % 4), .imm = 1);
    for (unsigned i = 0; i < 6; i++)
        RIG_EMIT(s->rig, sd, .rs1 = 22, .rs2 = 9, .imm = (int32_t)(8 * i));
    scene_run(s);
    uint64_t d = nth(s, 0)->dispatch, end = d + 501, left = d + 1 + 50 + 8;
    assert_int_equal(nth(s, 15)->dispatch, d + BEHIND + 14 / 3);
    assert_int_equal(nth(s, 16)->dispatch, left + 1);
    for (unsigned i = 0; i < 45; i++)
        assert_int_equal(nth(s, i)->retire, end);
    assert_true(nth(s, 44)->dispatch < left + 40);
    assert_int_equal(nth(s, 45)->dispatch, end + 2);
    assert_int_equal(s->fake->passed, 1);
    assert_int_equal(s->fake->used, 0);
    scene_free(s);
}

/* The second task waits for the checkpoint of the first. An instruction that waits for the first task's result stays in
 * the reorder buffer, and so do those after it. */
static void waits_for_checkpoints(void **state)
{
    (void)state;
    for (unsigned checkpoints = 1; checkpoints <= 2; checkpoints++) {
        struct scene *s = scene_new(500, NULL);
        s->fake->checkpoints = checkpoints;
        s->fake->checkpoint_clocks = 8;
        s->fake->result = 10;
        s->fake->task[0].way = s->fake->task[1].way = 50;
        s->fake->task[1].clocks = 2000;
        s->config.rob = s->config.iq = s->config.fetch_queue = 16;
        scene_task(s);
        fake_emit(s->rig);
        for (unsigned i = 0; i < 20; i++)
            RIG_EMIT(s->rig, addi, .rd = 5, .imm = 1);
        RIG_EMIT(s->rig, addi, .rd = 6, .rs1 = 10, .imm = 1);
        for (unsigned i = 0; i < 20; i++)
            RIG_EMIT(s->rig, addi, .rd = 5, .imm = 1);
        scene_run(s);
        uint64_t first = completed(s, 0), second = completed(s, 1);
        uint64_t arrived = s->fake->task[1].ready / RIG_CLOCK + 50;
        /* The 15th instruction after the second task is dispatched when that task has left. */
        assert_int_equal(nth(s, 17)->dispatch, (checkpoints == 1 ? first : arrived) + 8 + 1);
        assert_int_equal(nth(s, 22)->complete, second + 1);
        assert_true(nth(s, 37)->dispatch < second && nth(s, 38)->dispatch > second);
        assert_int_equal(nth(s, 0)->retire, first);
        assert_int_equal(nth(s, 21)->retire, second);
        assert_int_equal(s->fake->used_most, checkpoints);
        scene_free(s);
    }
}

/* A front end that stalls fetches the code after a region when the task's packet has arrived. */
static void stalls_fetch(void **state)
{
    (void)state;
    struct scene *s = scene_new(500, NULL);
    s->fake->stalls = true;
    s->fake->task[0].way = 50;
    s->fake->task[1].way = 70;
    scene_task(s);
    fake_emit(s->rig);
    RIG_EMIT(s->rig, addi, .rd = 5, .imm = 1);
    scene_run(s);
    uint64_t d = nth(s, 0)->dispatch, first = d + 1 + 50, second = first + BEHIND - 1;
    assert_int_equal(nth(s, 1)->dispatch, second);
    assert_int_equal(s->fake->task[1].ready, (second + 1) * RIG_CLOCK);
    assert_int_equal(nth(s, 2)->dispatch, second + 1 + 70 + BEHIND - 1);
    scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on),
        cmocka_unit_test(waits_for_older),
        cmocka_unit_test(holds_loads),
        cmocka_unit_test(holds_again),
        cmocka_unit_test(forwards),
        cmocka_unit_test(late_addresses),
        cmocka_unit_test(late_branches),
        cmocka_unit_test(fills_reorder_buffer),
        cmocka_unit_test(fills_store_queue),
        cmocka_unit_test(two_in_flight),
        cmocka_unit_test(ran_before),
        cmocka_unit_test(launches_before_dependents),
        cmocka_unit_test(waits_for_late_addresses),
        cmocka_unit_test(translates_held_loads),
        cmocka_unit_test(passes_tasks),
        cmocka_unit_test(waits_for_checkpoints),
        cmocka_unit_test(stalls_fetch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
