/* The engine with a core and accelerators that do as they are told: when packets leave and arrive, what is cleaned, what
 * waits for what, and what becomes of faults. */
#include "emu/nucd/engine.h"
#include "tests/core/rig.h"
#include "tests/sim/value.h"

enum {
    GP = 3,
    TP = 4,
    XN = 6,
    XD = 12, /* and XT = 13 */
    XT = 13,
    VALUE = 10,
    POINTER = 11,
    TASKS = 8,
    LINK = 24, /* clocks, as all of these */
    TIMEOUT = 5000,
    HANDLER = 0x400,
};
#define NS    UINT64_C(1000000)
#define INPUT (RIG_BASE + 0x8000)

struct push {
    unsigned target;
    uint64_t time;
    struct nucd_packet packet;
};

struct bench {
    struct rig *rig;
    struct engine *engine;
    const struct ahead_ops *ops;
    struct stats *stats;
    struct stream stream;
    struct event report_event;
    struct task_unit_report report;
    unsigned reporter;
    struct push pushes[TASKS];
    unsigned push_count, resumed, killed, warned, expired, squashes, gone_on;
    uint64_t resumed_at, expired_at, completed, completed_at, squashed, storing;
};

static struct bench *current; /* of the core's functions, which have no context */

static void completed(struct core *core, uint64_t number, uint64_t now)
{
    (void)core;
    current->completed = number;
    current->completed_at = now / NS;
}

static void squashed(struct core *core, uint64_t number, uint64_t now)
{
    (void)core;
    (void)now;
    current->squashed = number;
    current->squashes++;
}

static void go_on(struct core *core, uint64_t now)
{
    (void)core;
    (void)now;
    current->gone_on++;
}

static void arrived(struct core *core, uint64_t number, uint64_t now)
{
    (void)core;
    (void)number;
    (void)now;
}

static bool storing(struct core *core, uint64_t first, uint64_t last)
{
    (void)core;
    return first <= current->storing && current->storing <= last;
}

static void push(void *context, unsigned target, const uint64_t *words, unsigned count)
{
    struct bench *b = context;
    for (unsigned at = 0; at < count; at += nucd_packet_length(words[at])) {
        struct push *push = &b->pushes[b->push_count++];
        push->target = target;
        push->time = b->rig->queue.now / NS;
        nucd_packet_read(&words[at], &push->packet);
    }
}

static void resume(void *context, unsigned target)
{
    struct bench *b = context;
    (void)target;
    b->resumed++;
    b->resumed_at = b->rig->queue.now / NS;
}

static void kill_task(void *context, unsigned target)
{
    (void)target;
    ((struct bench *)context)->killed++;
}

static void warn(void *context, const char *text)
{
    (void)text;
    ((struct bench *)context)->warned++;
}

static void expired(void *context, unsigned target, const struct nucd_task *task)
{
    struct bench *b = context;
    assert_int_equal(target, 0);
    assert_int_equal(task->pc, RIG_BASE);
    b->expired++;
    b->expired_at = b->rig->queue.now / NS;
}

static void send_report(void *owner, uint64_t now)
{
    struct bench *b = owner;
    (void)now;
    engine_report(b->engine, b->reporter, &b->report);
}

/* The hart is privileged if a handler is to take its traps. */
static struct bench *bench_new(bool ideal, bool privileged, unsigned targets)
{
    static const struct engine_core_ops core_ops = {completed, squashed, go_on, arrived, storing};
    struct rig_options options = rig_options_default();
    options.privileged = privileged;
    struct bench *b = calloc(1, sizeof *b);
    struct error err;
    assert_non_null(b);
    b->rig = rig_new(&options);
    struct engine_config config = {.rob = 32,
                                   .stores = 8,
                                   .tasks = 4,
                                   .ideal = ideal,
                                   .read_ports = 2,
                                   .write_words = 1,
                                   .table_clocks = 1,
                                   .schedule_clocks = 2,
                                   .link_width = 16,
                                   .link_clocks = LINK,
                                   .timeout = TIMEOUT * NS};
    nucd_scheduler_config_default(&config.scheduler);
    config.scheduler.targets = targets;
    config.scheduler.coalesce = false;
    const struct engine_parts parts = {.hart = &b->rig->hart,
                                       .queue = &b->rig->queue,
                                       .clock = b->rig->clock,
                                       .component = 5,
                                       .l1d = b->rig->l1d,
                                       .l1i = b->rig->l1i,
                                       .core = &core_ops,
                                       .targets = {push, NULL, resume, kill_task, b},
                                       .warn = warn,
                                       .expired = expired,
                                       .context = b};
    b->engine = engine_new(&config, &parts, &err);
    assert_non_null(b->engine);
    b->ops = engine_ahead(b->engine).ops;
    b->stats = stats_new();
    engine_publish(b->engine, b->stats, "nucd");
    engine_attach(b->engine, NULL, &b->stream);
    event_init(&b->report_event, 9, send_report, b);
    current = b;
    struct hart *hart = &b->rig->hart;
    hart->pc = RIG_BASE;
    hart->x[GP] = 0x1111;
    hart->x[TP] = 0x2222;
    hart->x[VALUE] = 7;
    hart->x[POINTER] = INPUT;
    for (unsigned i = 0; i < TASKS; i++) { /* each a nucd, and a region of one instruction */
        RIG_EMIT(b->rig, nucd, .rs1 = XN, .rs2 = XD);
        RIG_EMIT(b->rig, addi, .rd = VALUE, .rs1 = VALUE, .imm = 1);
    }
    return b;
}

static void bench_free(struct bench *b)
{
    stats_free(b->stats);
    engine_free(b->engine);
    rig_free(b->rig);
    free(b);
}

/* Xn, Xd and Xt: 2 parcels; x10 in and out, if asked for; a line at x11 in and the next granule's address out. */
static void set_operands(struct bench *b, bool memory_in, bool memory_out)
{
    struct hart *hart = &b->rig->hart;
    uint64_t range = POINTER | 1 << 5;
    hart->x[XN] = UINT64_C(0x4e554344) << 32 | (uint64_t)(memory_in ? 2 : 0) << 24 |
                  (uint64_t)(memory_out ? 2 : 0) << 28 | 2;
    hart->x[XD] = VALUE | (memory_in ? range << 16 : 0);
    hart->x[XT] = VALUE | (memory_out ? range << 16 : 0);
}

static struct ahead_step step(struct bench *b)
{
    return b->ops->step(b->engine);
}

/* Dispatches the task that stands next, ready at a time in clocks. */
static uint64_t start(struct bench *b, uint64_t ready)
{
    struct ahead_step next = step(b);
    assert_int_equal(next.stop, AHEAD_TASK);
    b->ops->task_ready(b->engine, next.number, ready * NS, ready * NS);
    return next.number;
}

static void run(struct bench *b, uint64_t until)
{
    event_queue_run(&b->rig->queue, until * NS);
}

/* The unit's report leaves it at a time in clocks. */
static void report(struct bench *b, uint64_t at, unsigned push, struct task_unit_report report)
{
    report.tag = b->pushes[push].packet.tag;
    b->report = report;
    b->reporter = b->pushes[push].target;
    event_schedule(&b->rig->queue, &b->report_event, at * NS);
    run(b, at);
}

static void complete(struct bench *b, uint64_t at, unsigned push, uint64_t result)
{
    report(b, at, push, (struct task_unit_report){.event = TASK_UNIT_COMPLETED, .result = result});
}

static void stop(struct bench *b, uint64_t at, unsigned push)
{
    report(b, at, push,
           (struct task_unit_report){
               .event = TASK_UNIT_STOPPED, .cause = TRAP_LOAD_PAGE, .value = 0x5000, .offset = 4});
}

/* Xn, Xd, Xt take 2 clocks at 2 ports, and x3, x4, x10 2 more; a packet has 3 + 3 words, 6 clocks. Then the table's 1,
 * the scheduler's 2, 6 words in 3 flits, and the link's 24:
 *   100 + 4 + 6 + 1 + 2 + 3 + 24 = 140.
 * The second is read from 104 to 108 and written from 110 to 116: 116 + 1 + 2 + 3 + 24 = 146. */
static void packets_take_their_clocks(void **state)
{
    (void)state;
    struct bench *b = bench_new(false, false, 2);
    set_operands(b, false, false);
    assert_true(b->ops->takes(b->engine));
    (void)start(b, 100);
    set_operands(b, false, false);
    b->rig->hart.x[VALUE] = 8;
    run(b, 200);
    assert_int_equal(b->push_count, 1);
    assert_int_equal(b->pushes[0].time, 140);
    assert_int_equal(b->pushes[0].packet.begin, RIG_BASE + 4);
    assert_int_equal(b->pushes[0].packet.end, RIG_BASE + 8);
    assert_int_equal(b->pushes[0].packet.live_ins.value[2], 7);
    /* The report takes a flit and the link: 200 + 1 + 24. */
    engine_begun(b->engine, b->pushes[0].packet.tag, 190 * NS);
    complete(b, 200, 0, 99);
    run(b, 224);
    assert_int_equal(b->completed, 0);
    run(b, 225);
    assert_int_equal(b->completed, 1);
    b->ops->retired(b->engine, 1, 225 * NS);
    assert_int_equal(b->rig->hart.x[VALUE], 99);
    assert_int_equal(b->rig->hart.pc, RIG_BASE + 8);
    assert_int_equal(b->rig->hart.instret, 1);
    /* 100 to 190: generator 10, transfer 30, start 50. */
    assert_int_equal(stats_value(b->stats, "nucd.generator_cycles"), 10);
    assert_int_equal(stats_value(b->stats, "nucd.transfer_cycles"), 30);
    assert_int_equal(stats_value(b->stats, "nucd.start_cycles"), 50);
    assert_int_equal(stats_value(b->stats, "nucd.offload_cycles"), 90);
    bench_free(b);
}

/* Without results, so that the second is not deferred. */
static void the_generator_is_a_pipeline(void **state)
{
    (void)state;
    struct bench *b = bench_new(false, false, 2);
    set_operands(b, false, false);
    b->rig->hart.x[XT] = 0;
    (void)start(b, 100);
    (void)start(b, 100);
    run(b, 300);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(b->pushes[0].time, 140);
    assert_int_equal(b->pushes[1].time, 146);
    assert_int_not_equal(b->pushes[0].target, b->pushes[1].target);
    bench_free(b);
}

static void ideal_takes_no_time(void **state)
{
    (void)state;
    struct bench *b = bench_new(true, false, 1);
    set_operands(b, true, true);
    cache_warm(b->rig->l1d, INPUT, true);
    (void)start(b, 100);
    run(b, 100);
    assert_int_equal(b->push_count, 1);
    assert_int_equal(b->pushes[0].time, 100);
    assert_int_equal(cache_line_state(b->rig->l1d, INPUT), CACHE_INVALID);
    complete(b, 500, 0, 1);
    assert_int_equal(b->completed_at, 500);
    bench_free(b);
}

/* The packet is ready at 100 + 2 + 2 (four registers) + 7; the cache is not before its line is written back: a lookup,
 * and twice the way to memory, RIG_NEAR_CLOCKS, for line and range. */
static void ranges_are_cleaned_first(void **state)
{
    (void)state;
    for (unsigned out = 0; out < 2; out++) {
        struct bench *b = bench_new(false, false, 1);
        struct cache_actor actor = {0};
        set_operands(b, !out, out);
        cache_warm(b->rig->l1d, INPUT, true);
        (void)start(b, 100);
        run(b, 145);
        assert_int_equal(cache_line_state(b->rig->l1d, INPUT), out ? CACHE_INVALID : CACHE_EXCLUSIVE);
        if (out) { /* nothing brings it back */
            assert_int_equal(cache_access(b->rig->l1d, INPUT, CACHE_PREFETCH, 145 * NS, actor, NULL),
                             CACHE_FULL);
            actor.speculative = true;
            assert_int_equal(cache_access(b->rig->l1i, INPUT, CACHE_FETCH, 145 * NS, actor, NULL),
                             CACHE_FULL);
        }
        run(b, 1000);
        assert_int_equal(b->push_count, 1);
        assert_int_equal(b->rig->writes, 1);
        assert_int_equal(b->rig->maintained, 1);
        engine_begun(b->engine, b->pushes[0].packet.tag, 1000 * NS);
        uint64_t cleaning = stats_value(b->stats, "nucd.cleaning_cycles");
        assert_true(cleaning >= 2 * RIG_NEAR_CLOCKS - 12 && cleaning <= 2 * RIG_NEAR_CLOCKS);
        assert_int_equal(b->pushes[0].time, 111 + cleaning + 1 + 2 + 4 + LINK);
        complete(b, 1000, 0, 1);
        run(b, 1025);
        actor.speculative = false;
        assert_int_equal(cache_access(b->rig->l1d, INPUT, CACHE_PREFETCH, 1025 * NS, actor, NULL),
                         out ? CACHE_MISS : CACHE_HIT);
        run(b, 2000);
        bench_free(b);
    }
}

/* A store of the host is on its way to the cache until 300. */
static void stores_reach_the_cache_before_it_is_cleaned(void **state)
{
    (void)state;
    struct bench *b = bench_new(false, false, 1);
    set_operands(b, true, false);
    b->storing = INPUT + 8;
    (void)start(b, 100);
    run(b, 300);
    assert_int_equal(b->rig->maintained, 0);
    b->storing = 0;
    b->ops->drained(b->engine);
    run(b, 1000);
    assert_int_equal(b->rig->maintained, 1);
    assert_int_equal(b->push_count, 1);
    engine_begun(b->engine, b->pushes[0].packet.tag, 1000 * NS);
    assert_int_equal(stats_value(b->stats, "nucd.held_cycles"), 300 - 111);
    bench_free(b);
}

/* The second reads what the first writes, and leaves when the first is complete: at 425 the table frees it, 1 more is a
 * look, 2 the scheduler, 4 flits of 7 words, 24 the link. */
static void a_dependent_task_waits(void **state)
{
    (void)state;
    struct bench *b = bench_new(false, false, 2);
    set_operands(b, false, true);
    b->rig->hart.x[XT] &= ~UINT64_C(0xffff); /* no result */
    (void)start(b, 100);
    (void)start(b, 100);
    run(b, 400);
    assert_int_equal(b->push_count, 1);
    complete(b, 400, 0, 0);
    run(b, 1000);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(b->pushes[1].time, 425 + 1 + 2 + 4 + LINK);
    bench_free(b);
}

static void late_tasks_are_told(void **state)
{
    (void)state;
    struct bench *b = bench_new(false, false, 1);
    set_operands(b, false, false);
    (void)start(b, 100);
    run(b, 20000); /* sent at 113 */
    assert_int_equal(b->expired, 1);
    assert_int_equal(b->expired_at, 113 + TIMEOUT);
    bench_free(b);
}

static void malformed_ones_are_hints(void **state)
{
    (void)state;
    struct bench *b = bench_new(false, false, 1);
    set_operands(b, false, false);
    b->rig->hart.x[XN] &= ~UINT64_C(0xffff); /* N = 0 */
    for (unsigned i = 0; i < 3; i++)
        assert_false(b->ops->takes(b->engine));
    assert_int_equal(b->warned, 1);
    assert_int_equal(stats_value(b->stats, "nucd.malformed.no_length"), 3);
    struct ahead_step next = step(b);
    assert_int_equal(next.stop, AHEAD_DISPATCHED);
    assert_int_equal(next.next_pc, RIG_BASE + 4);
    b->rig->hart.x[XN] = UINT64_C(0x4e554343) << 32; /* a mark for drivers */
    assert_false(b->ops->takes(b->engine));
    assert_int_equal(stats_value(b->stats, "nucd.malformed.signature"), 0);
    bench_free(b);
}

/* The host traps at the nucd, with the fault's details in its CSRs, and when it comes back, the task goes on. */
static void a_fault_traps_and_is_resumed(void **state)
{
    (void)state;
    struct bench *b = bench_new(false, true, 1);
    struct hart *hart = &b->rig->hart;
    hart->offload.present = true;
    hart->priv.mtvec = RIG_BASE + HANDLER;
    set_operands(b, false, false);
    uint64_t number = start(b, 100);
    run(b, 200);
    stop(b, 300, 0);
    run(b, 325);
    assert_int_equal(b->squashes, 1);
    assert_int_equal(b->squashed, number);
    assert_int_equal(b->ops->left(b->engine, 325 * NS), HART_STOP_LIMIT);
    assert_int_equal(hart->pc, RIG_BASE + HANDLER);
    assert_int_equal(hart->priv.mcause, 24);
    assert_int_equal(hart->priv.mepc, RIG_BASE);
    assert_int_equal(hart->priv.mtval, 0);
    assert_int_equal(hart->offload.cause, TRAP_LOAD_PAGE);
    assert_int_equal(hart->offload.value, 0x5000);
    assert_int_equal(hart->offload.offset, 4);
    assert_true(hart->offload.frozen);
    run(b, 600);
    hart->pc = RIG_BASE;
    assert_int_equal(b->resumed, 0);
    struct ahead_step next = step(b);
    assert_int_equal(next.stop, AHEAD_TASK);
    b->ops->task_ready(b->engine, next.number, 600 * NS, 600 * NS);
    run(b, 1000);
    assert_int_equal(b->resumed, 1);
    assert_int_equal(b->resumed_at, 600 + LINK);
    assert_false(hart->offload.frozen);
    assert_int_equal(b->push_count, 1);
    complete(b, 1000, 0, 5);
    run(b, 1100);
    assert_int_equal(b->completed, next.number);
    b->ops->retired(b->engine, next.number, 1100 * NS);
    assert_int_equal(hart->x[VALUE], 5);
    bench_free(b);
}

static void a_killed_task_begins_anew(void **state)
{
    (void)state;
    struct bench *b = bench_new(false, true, 1);
    struct hart *hart = &b->rig->hart;
    set_operands(b, false, false);
    (void)start(b, 100);
    run(b, 200);
    stop(b, 300, 0);
    run(b, 325);
    (void)b->ops->left(b->engine, 325 * NS);
    hart->offload.control(hart->offload.context, 1); /* resume is what happens anyway */
    assert_true(hart->offload.frozen);
    hart->offload.control(hart->offload.context, 2);
    assert_false(hart->offload.frozen);
    run(b, 400);
    assert_int_equal(b->killed, 1);
    report(b, 400, 0, (struct task_unit_report){.event = TASK_UNIT_KILLED});
    hart->pc = RIG_BASE;
    run(b, 500);
    (void)start(b, 500);
    run(b, 1000);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(stats_value(b->stats, "nucd.killed"), 1);
    bench_free(b);
}

/* Harts that take no traps stop, as for a fault of their own. */
static void a_user_program_stops(void **state)
{
    (void)state;
    struct bench *b = bench_new(false, false, 1);
    set_operands(b, false, false);
    (void)start(b, 100);
    run(b, 200);
    stop(b, 300, 0);
    run(b, 325);
    assert_int_equal(b->ops->left(b->engine, 325 * NS), HART_STOP_TRAP);
    assert_int_equal(b->rig->hart.trap.cause, TRAP_LOAD_PAGE);
    assert_int_equal(b->rig->hart.trap.value, 0x5000);
    assert_int_equal(engine_fault(b->engine)->pc, RIG_BASE + 8);
    assert_int_equal(b->rig->hart.pc, RIG_BASE);
    bench_free(b);
}

/* An interrupt squashes both; the one that has left is waited for and not sent again, the other begins anew. */
static void what_has_left_is_not_run_again(void **state)
{
    (void)state;
    struct bench *b = bench_new(false, false, 1);
    set_operands(b, false, true);
    b->rig->hart.x[XT] &= ~UINT64_C(0xffff);
    uint64_t first = start(b, 100);
    (void)start(b, 100); /* blocked */
    run(b, 250);
    assert_int_equal(b->push_count, 1);
    assert_int_equal(b->ops->interrupt(b->engine), first);
    assert_int_equal(b->ops->left(b->engine, 250 * NS), HART_STOP_LIMIT);
    assert_true(b->ops->takes(b->engine));
    struct ahead_step next = step(b);
    assert_int_equal(next.stop, AHEAD_WAIT);
    assert_int_equal(next.number, 0);
    complete(b, 400, 0, 0);
    run(b, 425);
    assert_int_equal(b->gone_on, 1);
    next = step(b);
    assert_int_equal(next.stop, AHEAD_DISPATCHED);
    struct ahead_view view;
    b->ops->look(b->engine, next.number, &view);
    assert_true(view.evaluated);
    (void)start(b, 425);
    b->ops->retired(b->engine, next.number, 430 * NS);
    run(b, 1000);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(b->pushes[1].packet.begin, RIG_BASE + 12);
    bench_free(b);
}

/* The older is held by a store, the younger has left: squashed, the one begins anew and the other does not. */
static void an_older_one_begins_anew(void **state)
{
    (void)state;
    struct bench *b = bench_new(false, false, 2);
    struct hart *hart = &b->rig->hart;
    set_operands(b, true, false);
    hart->x[XT] = 0;
    b->storing = INPUT;
    uint64_t older = start(b, 100);
    hart->x[XD] = VALUE;
    (void)start(b, 100);
    run(b, 200);
    assert_int_equal(b->push_count, 1);
    assert_int_equal(b->pushes[0].packet.begin, RIG_BASE + 12);
    assert_int_equal(b->ops->interrupt(b->engine), older);
    (void)b->ops->left(b->engine, 200 * NS);
    complete(b, 300, 0, 0);
    run(b, 400);
    b->storing = 0;
    set_operands(b, true, false);
    hart->x[XT] = 0;
    (void)start(b, 400);
    hart->x[XD] = VALUE;
    assert_int_equal(step(b).stop, AHEAD_DISPATCHED);
    run(b, 1000);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(b->pushes[1].packet.begin, RIG_BASE + 4);
    bench_free(b);
}

/* The older is held by a store, the younger has left for the only accelerator and faults. When the store has drained,
 * nobody can take the older: the host runs its region itself, and then traps for the younger. */
static void the_host_runs_what_nobody_can_take(void **state)
{
    (void)state;
    struct bench *b = bench_new(false, false, 1);
    struct hart *hart = &b->rig->hart;
    set_operands(b, true, false);
    hart->x[XT] = 0;
    b->storing = INPUT;
    uint64_t older = start(b, 100);
    hart->x[XD] = VALUE;
    uint64_t younger = start(b, 100);
    run(b, 200);
    assert_int_equal(b->push_count, 1);
    stop(b, 300, 0);
    run(b, 325);
    assert_int_equal(b->squashed, younger);
    b->storing = 0;
    b->ops->drained(b->engine);
    run(b, 1000);
    assert_int_equal(b->push_count, 1);
    assert_int_equal(b->squashes, 2);
    assert_int_equal(b->squashed, older);
    assert_int_equal(b->ops->left(b->engine, 1000 * NS), HART_STOP_LIMIT);
    set_operands(b, true, false);
    hart->x[XT] = 0;
    assert_false(b->ops->takes(b->engine));
    assert_int_equal(stats_value(b->stats, "nucd.returned"), 1);
    hart->pc += 8;
    hart->x[XD] = VALUE;
    assert_true(b->ops->takes(b->engine));
    assert_int_equal(step(b).stop, AHEAD_LEAVE);
    assert_int_equal(b->ops->left(b->engine, 1000 * NS), HART_STOP_TRAP);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_take_their_clocks),
        cmocka_unit_test(the_generator_is_a_pipeline),
        cmocka_unit_test(ideal_takes_no_time),
        cmocka_unit_test(ranges_are_cleaned_first),
        cmocka_unit_test(stores_reach_the_cache_before_it_is_cleaned),
        cmocka_unit_test(a_dependent_task_waits),
        cmocka_unit_test(late_tasks_are_told),
        cmocka_unit_test(malformed_ones_are_hints),
        cmocka_unit_test(a_fault_traps_and_is_resumed),
        cmocka_unit_test(a_killed_task_begins_anew),
        cmocka_unit_test(a_user_program_stops),
        cmocka_unit_test(what_has_left_is_not_run_again),
        cmocka_unit_test(an_older_one_begins_anew),
        cmocka_unit_test(the_host_runs_what_nobody_can_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
