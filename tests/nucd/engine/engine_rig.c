#include "tests/nucd/engine/engine_rig.h"

/* The engine only passes its core to the functions below, so the rig itself serves as the core. */
static struct engine_rig *of_core(struct core *core)
{
    return (struct engine_rig *)core;
}

static void completed(struct core *core, uint64_t number, uint64_t now)
{
    struct engine_rig *b = of_core(core);
    b->completed = number;
    b->completed_at = now / NS;
}

static void squashed(struct core *core, uint64_t number, uint64_t now)
{
    struct engine_rig *b = of_core(core);
    (void)now;
    b->squashed = number;
    b->squashes++;
}

static void go_on(struct core *core, uint64_t now)
{
    (void)now;
    of_core(core)->gone_on++;
}

static void arrived(struct core *core, uint64_t number, uint64_t now)
{
    (void)core;
    (void)number;
    (void)now;
}

static bool storing(struct core *core, uint64_t first, uint64_t last)
{
    const struct engine_rig *b = of_core(core);
    return first <= b->storing && b->storing <= last;
}

static void push(void *context, unsigned accelerator, const uint64_t *words, unsigned count)
{
    struct engine_rig *b = context;
    for (unsigned at = 0; at < count; at += nucd_packet_length(words[at])) {
        struct engine_rig_push *push = &b->pushes[b->push_count++];
        push->accelerator = accelerator;
        push->time = b->rig->queue.now / NS;
        nucd_packet_read(&words[at], &push->packet);
    }
}

static void resume(void *context, unsigned accelerator)
{
    struct engine_rig *b = context;
    (void)accelerator;
    b->resumed++;
    b->resumed_at = b->rig->queue.now / NS;
}

static void kill_task(void *context, unsigned accelerator)
{
    (void)accelerator;
    ((struct engine_rig *)context)->killed++;
}

static void warn(void *context, uint64_t pc, const char *text)
{
    (void)pc;
    (void)text;
    ((struct engine_rig *)context)->warned++;
}

static void expired(void *context, const struct nucd_record *record)
{
    struct engine_rig *b = context;
    assert_int_equal(record->accelerator, 0);
    b->expired++;
    b->expired_task = record->number;
    b->expired_pc = record->task->pc;
    b->expired_at = b->rig->queue.now / NS;
}

static void began(void *context, const struct nucd_record *record)
{
    struct engine_rig *b = context;
    b->began++;
    assert_int_not_equal(record->at.begun, CLOCK_NEVER);
}

static void left(void *context, const struct nucd_record *record)
{
    struct engine_rig *b = context;
    if (b->record_count < 2 * TASKS)
        b->records[b->record_count++] = *record;
}

static void send_report(void *owner, uint64_t now)
{
    struct engine_rig *b = owner;
    (void)now;
    engine_report(b->engine, b->reporter, &b->report);
}

struct engine_rig *engine_rig_new(bool ideal, bool privileged, unsigned accelerators)
{
    static const struct engine_core_ops core_ops = {completed, squashed, go_on, arrived, storing};
    struct rig_options options = rig_options_default();
    options.privileged = privileged;
    struct engine_rig *b = calloc(1, sizeof *b);
    struct error err;
    assert_non_null(b);
    b->rig = rig_new(&options);
    struct engine_config config = {.rob = 32,
                                   .stores = 8,
                                   .checkpoints = 1,
                                   .checkpoint_clocks = 8,
                                   .checkpoint_window = 64,
                                   .granule = NUCD_LINE,
                                   .tasks = 4,
                                   .ideal = ideal,
                                   .read_ports = 2,
                                   .write_words = 1,
                                   .table_clocks = 1,
                                   .schedule_clocks = 2,
                                   .link_width = 16,
                                   .link_clocks = LINK,
                                   .timeout = TIMEOUT * NS};
    config.scheduler = (struct nucd_scheduler_config){
        .accelerators = accelerators, .queue_lines = 8, .buffer_lines = 8, .transfer_lines = 4};
    keep_out_init(&b->keep_out, 1);
    cache_keep_out(b->rig->l1d, &b->keep_out);
    cache_keep_out(b->rig->l1i, &b->keep_out);
    const struct engine_parts parts = {.hart = &b->rig->hart,
                                       .queue = &b->rig->queue,
                                       .clock = b->rig->clock,
                                       .component = 5,
                                       .l1d = b->rig->l1d,
                                       .keep_out = &b->keep_out,
                                       .core = &core_ops,
                                       .accelerators = {push, NULL, resume, kill_task, b},
                                       .warn = warn,
                                       .expired = expired,
                                       .began = began,
                                       .left = left,
                                       .context = b};
    b->engine = engine_new(&config, &parts, &err);
    assert_non_null(b->engine);
    b->ops = engine_offload(b->engine).ops;
    b->stats = stats_new();
    engine_publish(b->engine, b->stats, scope_enter(NULL, "nucd"));
    engine_attach(b->engine, (struct core *)b, &b->stream);
    event_init(&b->report_event, 9, send_report, b);
    struct hart *hart = &b->rig->hart;
    hart->pc = RIG_BASE;
    hart->x[GP] = 0x1111;
    hart->x[TP] = 0x2222;
    hart->x[VALUE] = 7;
    hart->x[POINTER] = INPUT;
    for (unsigned i = 0; i < TASKS; i++) { /* each a nucd and a region of one instruction */
        RIG_EMIT(b->rig, nucd, .rs1 = XN, .rs2 = XD);
        RIG_EMIT(b->rig, addi, .rd = VALUE, .rs1 = VALUE, .imm = 1);
    }
    return b;
}

void engine_rig_free(struct engine_rig *b)
{
    stats_free(b->stats);
    engine_free(b->engine);
    keep_out_free(&b->keep_out);
    rig_free(b->rig);
    free(b);
}

void engine_rig_set_operands(struct engine_rig *b, bool memory_in, bool memory_out)
{
    struct hart *hart = &b->rig->hart;
    uint64_t range = POINTER | 1 << 5;
    hart->x[XN] = UINT64_C(0x4e554344) << 32 | (uint64_t)(memory_in ? 2 : 0) << 24 |
                  (uint64_t)(memory_out ? 2 : 0) << 28 | 2;
    hart->x[XD] = VALUE | (memory_in ? range << 16 : 0);
    hart->x[XT] = VALUE | (memory_out ? range << 16 : 0);
}

struct offload_step engine_rig_step(struct engine_rig *b)
{
    return b->ops->step(b->engine);
}

uint64_t engine_rig_start(struct engine_rig *b, uint64_t ready)
{
    struct offload_step next = engine_rig_step(b);
    assert_int_equal(next.stop, OFFLOAD_TASK);
    b->ops->task_ready(b->engine, next.number, ready * NS, ready * NS, ready * NS);
    return next.number;
}

void engine_rig_run(struct engine_rig *b, uint64_t until)
{
    event_queue_run(&b->rig->queue, until * NS);
}

void engine_rig_report(struct engine_rig *b, uint64_t at, unsigned push, struct task_unit_report report)
{
    report.tag = b->pushes[push].packet.tag;
    b->report = report;
    b->reporter = b->pushes[push].accelerator;
    event_schedule(&b->rig->queue, &b->report_event, at * NS);
    engine_rig_run(b, at);
}

void engine_rig_complete(struct engine_rig *b, uint64_t at, unsigned push, uint64_t result)
{
    engine_rig_report(b, at, push, (struct task_unit_report){.event = TASK_UNIT_COMPLETED, .result = result});
}

void engine_rig_stop(struct engine_rig *b, uint64_t at, unsigned push)
{
    engine_rig_report(b, at, push,
                      (struct task_unit_report){
                          .event = TASK_UNIT_STOPPED, .cause = TRAP_LOAD_PAGE, .value = 0x5000, .offset = 4});
}
