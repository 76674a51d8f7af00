/* The engine on the out-of-order and the in-order core compared with instruction-by-instruction execution.
 * Regions of random programs run on accelerators at random speeds, some fault and are resumed, and the host
 * is interrupted. Registers, memory and flags must be equal at the end, and traps must be at the same
 * place. */
#include "emu/core/inorder.h"
#include "emu/core/ooo.h"
#include "emu/nucd/engine.h"
#include "tests/core/rig.h"
#include "tests/nucd/window/random_program.h"
#include "tests/sim/value.h"

enum { UNITS = 16, STEPS_MOST = 200000, PROGRAMS = 1500, FAULT = 99, NS = 1000000 };

struct machine;

/* An accelerator: the real task unit, with firmware simulated in C. */
struct unit {
    struct machine *machine;
    unsigned number;
    struct task_unit *unit;
    struct task_unit_observer observer;
    struct hart hart;
    struct event event;
    unsigned until_fault; /* steps of the region until it faults; 0: no fault */
};

struct seen {
    unsigned tasks, faults, resumed, interrupts, kept, squashed, blocked, held, traps, full;
    unsigned checkpoints;
};

struct machine {
    struct rig *rig;
    struct keep_out keep_out;
    struct engine *engine;
    struct stats *stats;
    struct unit units[UNITS];
    unsigned count;
    struct program random;
    struct event interrupt;
    bool in_order;
    bool ended, interrupted;
    unsigned started;  /* regions of this program that ran on accelerators */
    uint64_t returned; /* regions that ran on the host */
    struct seen seen;
};

static uint64_t any_delay(struct machine *m, unsigned most)
{
    return (1 + below(&m->random, most)) * (uint64_t)NS;
}

static void write_unit(struct unit *u, uint64_t offset, uint64_t value)
{
    task_unit_ops.write(u->unit, offset, 8, value);
}

static void wake(struct unit *u)
{
    if (!event_pending(&u->event))
        event_schedule(&u->machine->rig->queue, &u->event,
                       u->machine->rig->queue.now +
                           any_delay(u->machine, below(&u->machine->random, 3) ? 20 : 400));
}

static void set_work(void *context, unsigned number, bool level)
{
    (void)number;
    if (level)
        wake(context);
}

static void tell(void *context, const struct task_unit_report *report)
{
    struct unit *u = context;
    engine_report(u->machine->engine, u->number, report);
}

/* Registers that are not handed over have arbitrary values. */
static void load_context(struct unit *u)
{
    const struct nucd_packet *packet = task_unit_packet(u->unit);
    struct hart *hart = &u->hart;
    for (unsigned r = 1; r < 32; r++)
        hart->x[r] = hart->f[r] = program_random(&u->machine->random);
    unsigned next = 0;
    for (uint32_t mask = packet->live_ins.mask; mask != 0; mask &= mask - 1)
        hart->x[__builtin_ctz(mask)] = packet->live_ins.value[next++];
    hart->frm = packet->frm;
    hart->fflags = 0;
    hart->pc = packet->begin;
    hart_flush_code(hart);
    u->until_fault = below(&u->machine->random, 8) == 0 ? 1 + below(&u->machine->random, 20) : 0;
}

/* Executes a few instructions of the region, its end, or a fault. */
static void run_region(struct unit *u)
{
    const struct nucd_packet *packet = task_unit_packet(u->unit);
    struct hart *hart = &u->hart;
    for (unsigned steps = below(&u->machine->random, 12); steps > 0 && hart->pc != packet->end; steps--) {
        struct step_report report;
        if (u->until_fault > 0 && --u->until_fault == 0) {
            write_unit(u, TASK_UNIT_CAUSE, FAULT);
            write_unit(u, TASK_UNIT_VALUE, hart->pc);
            write_unit(u, TASK_UNIT_PC, hart->pc);
            write_unit(u, TASK_UNIT_COMMAND, TASK_UNIT_FAULT);
            return;
        }
        assert_int_equal(hart_step(hart, &report), HART_STOP_LIMIT);
    }
    if (hart->pc == packet->end) {
        assert_true(task_unit_arrive(u->unit, hart->pc));
        write_unit(u, TASK_UNIT_RESULT, hart->x[packet->result]);
        write_unit(u, TASK_UNIT_FFLAGS, hart->fflags);
        write_unit(u, TASK_UNIT_COMMAND, TASK_UNIT_COMPLETE);
    }
    wake(u);
}

static void work(void *owner, uint64_t now)
{
    struct unit *u = owner;
    switch (task_unit_state(u->unit)) {
    case TASK_UNIT_IDLE:
        if (!(task_unit_ops.read(u->unit, TASK_UNIT_STATUS, 8) & TASK_UNIT_WAITS))
            return;
        write_unit(u, TASK_UNIT_COMMAND, TASK_UNIT_TAKE);
        wake(u);
        break;
    case TASK_UNIT_LOADED:
        load_context(u);
        write_unit(u, TASK_UNIT_COMMAND, TASK_UNIT_START);
        engine_begun(u->machine->engine, task_unit_packet(u->unit)->tag, now);
        u->machine->started++;
        wake(u);
        break;
    case TASK_UNIT_RUNNING:
        if (task_unit_ops.read(u->unit, TASK_UNIT_STATUS, 8) & TASK_UNIT_ANSWERED)
            write_unit(u, TASK_UNIT_COMMAND, TASK_UNIT_CLEAR);
        run_region(u);
        break;
    default: break;
    }
}

static void push(void *context, unsigned accelerator, const uint64_t *words, unsigned count)
{
    struct machine *m = context;
    assert_true(task_unit_push(m->units[accelerator].unit, words, count));
}

static void resume(void *context, unsigned accelerator)
{
    struct machine *m = context;
    m->seen.resumed++;
    assert_true(task_unit_resume(m->units[accelerator].unit));
}

static void kill_task(void *context, unsigned accelerator)
{
    (void)context;
    fail_msg("the task on %u is killed", accelerator);
}

static void expired(void *context, const struct nucd_record *record)
{
    struct machine *m = context;
    const struct nucd_task *task = record->task;
    const unsigned accelerator = record->accelerator;
    print_error("status %lx begin %lx end %lx\n", task_unit_ops.read(m->units[accelerator].unit, 0, 8),
                task->begin, task->end);
    fail_msg("the task of %lx on %u has not ended: state %u, pc %lx", task->pc, accelerator,
             (unsigned)task_unit_state(m->units[accelerator].unit), m->units[accelerator].hart.pc);
}

static void interrupt(void *owner, uint64_t now)
{
    struct machine *m = owner;
    if (m->ended)
        return;
    hart_request_yield(&m->rig->hart);
    core_offload_interrupted(m->rig->core, now);
    m->seen.interrupts++;
    event_schedule(&m->rig->queue, &m->interrupt, now + any_delay(m, 8000));
}

static struct machine *current; /* the rig's server has no context */

static enum core_next served(struct rig *rig, enum hart_stop stop)
{
    if (stop == HART_STOP_YIELD)
        return CORE_CONTINUE;
    if (stop == HART_STOP_TRAP && (unsigned)rig->hart.trap.cause == FAULT) {
        const struct engine_fault *fault = engine_fault(current->engine);
        assert_int_equal(fault->nucd, rig->hart.pc);
        assert_int_equal(fault->pc, rig->hart.trap.value);
        current->seen.faults++;
        return CORE_CONTINUE;
    }
    current->ended = true;
    return CORE_SLEEP;
}

static void make_unit(struct machine *m, unsigned i)
{
    struct error err;
    struct unit *u = &m->units[i];
    u->machine = m;
    u->number = i;
    const struct task_unit_config config = {
        .queue_lines = 2 + below(&m->random, 8), .capabilities = 0, .work = {set_work, u, 0}, .context = u};
    u->unit = task_unit_new(&config, &err);
    assert_non_null(u->unit);
    u->observer = (struct task_unit_observer){.told = tell, .context = u};
    task_unit_observe(u->unit, &u->observer);
    event_init(&u->event, 20 + i, work, u);
}

static uint32_t any_of(struct machine *m, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t values[] = {a, b, c};
    return values[below(&m->random, 3)];
}

static struct core_config any_core(struct machine *m)
{
    struct core_config config;
    struct error err;
    core_config_default(&config, CORE_OOO);
    config.rob = any_of(m, 16, 16 + below(&m->random, 100), OOO_ROB_MOST);
    config.store_queue = any_of(m, 1, 1 + below(&m->random, 24), OOO_QUEUE_MOST);
    config.load_queue = any_of(m, 1, 1 + below(&m->random, 32), OOO_QUEUE_MOST);
    config.iq = any_of(m, 1, 1 + below(&m->random, 16), 16);
    config.fetch_queue = 8 + below(&m->random, 9);
    config.speculate = below(&m->random, 2);
    if (!part_check(&core_kind, &config, &err))
        fail_msg("%s", err.text);
    return config;
}

static struct engine_config any_engine(struct machine *m, const struct core_config *core)
{
    struct engine_config config = {.rob = m->in_order ? 1 : core->rob,
                                   .stores = m->in_order ? 1 : core->store_queue,
                                   .checkpoints =
                                       m->in_order ? 0 : below(&m->random, 2) * below(&m->random, 8),
                                   .checkpoint_clocks = 1 + below(&m->random, 20),
                                   .checkpoint_window = core->rob + below(&m->random, 600),
                                   .granule = below(&m->random, 4) ? NUCD_LINE : 4096,
                                   .stalls = below(&m->random, 4) == 0,
                                   .tasks = 1 + below(&m->random, 16),
                                   .ideal = below(&m->random, 4) == 0,
                                   .read_ports = 1 + below(&m->random, 4),
                                   .write_words = 1 + below(&m->random, 4),
                                   .table_clocks = 1 + below(&m->random, 4),
                                   .schedule_clocks = 1 + below(&m->random, 4),
                                   .link_width = 1 + below(&m->random, 32),
                                   .link_clocks = 1 + below(&m->random, 200),
                                   .timeout = UINT64_C(100000) * NS};
    config.scheduler = (struct nucd_scheduler_config){
        .accelerators = m->count, .queue_lines = UINT32_MAX, .transfer_lines = 4};
    config.scheduler.buffer_lines = 2 + below(&m->random, 7);
    config.scheduler.coalesce = below(&m->random, 2);
    return config;
}

static void make(struct machine *m, uint64_t seed)
{
    static const struct engine_core_ops core_ops = {core_offload_complete, core_offload_squash,
                                                    core_offload_go_on, core_offload_arrived,
                                                    core_offload_storing};
    struct rig *rig = m->rig;
    struct error err;
    m->random.random = seed * UINT64_C(0xd1342543de82ef95) | 1;
    m->count = any_of(m, 1, 4, UNITS);
    m->interrupted = below(&m->random, 3) == 0;
    m->ended = false;
    m->started = 0;
    struct core_config core = any_core(m);
    struct engine_config config = any_engine(m, &core);
    for (unsigned i = 0; i < m->count; i++)
        make_unit(m, i);
    config.scheduler.queue_lines = 10;
    for (unsigned i = 0; i < m->count; i++) {
        uint32_t lines = (uint32_t)task_unit_ops.read(m->units[i].unit, TASK_UNIT_CREDITS, 8);
        config.scheduler.queue_lines =
            lines < config.scheduler.queue_lines ? lines : config.scheduler.queue_lines;
    }
    config.scheduler.transfer_lines = 2;
    keep_out_init(&m->keep_out, 1);
    cache_keep_out(rig->l1d, &m->keep_out);
    cache_keep_out(rig->l1i, &m->keep_out);
    const struct engine_parts parts = {.hart = &rig->hart,
                                       .queue = &rig->queue,
                                       .clock = rig->clock,
                                       .component = 5,
                                       .l1d = rig->l1d,
                                       .keep_out = &m->keep_out,
                                       .core = &core_ops,
                                       .accelerators = {push, NULL, resume, kill_task, m},
                                       .expired = expired,
                                       .context = m};
    m->engine = engine_new(&config, &parts, &err);
    assert_non_null(m->engine);
    m->stats = stats_new();
    engine_publish(m->engine, m->stats, scope_enter(NULL, "nucd"));
    struct core_parts core_parts = rig_parts(rig);
    core_parts.offload = engine_offload(m->engine);
    if (m->in_order)
        core_config_default(&core, CORE_INORDER);
    rig->core = m->in_order ? inorder_new(&core, &core_parts, &err) : ooo_new(&core, &core_parts, &err);
    if (!rig->core)
        fail_msg("%s", err.text);
    engine_attach(m->engine, rig->core, &rig->core->stream);
}

/* Ends everything under way, so that it does not affect the next program. */
static void unmake(struct machine *m)
{
    struct rig *rig = m->rig;
    uint64_t sum = 0;
    for (unsigned i = 0; i < CPI_CAUSES; i++)
        sum += rig->core->cpi[i];
    assert_int_equal(sum, rig->core->cycles);
    m->seen.kept += stats_value(m->stats, "nucd.kept") > 0;
    m->seen.squashed += stats_value(m->stats, "nucd.squashed") > 0;
    m->seen.blocked += stats_value(m->stats, "nucd.blocked_cycles") > 0;
    m->seen.held += stats_value(m->stats, "nucd.held_cycles") > 0;
    m->seen.checkpoints += stats_value(m->stats, "nucd.checkpoints") > 0;
    m->seen.full += stats_value(m->stats, "nucd.table_full") > 0;
    m->returned = stats_value(m->stats, "nucd.returned");
    core_free(rig->core);
    rig->core = NULL;
    stats_free(m->stats);
    engine_free(m->engine);
    keep_out_free(&m->keep_out);
    for (unsigned i = 0; i < m->count; i++)
        task_unit_free(m->units[i].unit);
}

static void run_ahead(struct machine *m, uint64_t seed)
{
    struct rig *rig = m->rig;
    make(m, seed);
    if (m->interrupted)
        event_schedule(&rig->queue, &m->interrupt, rig->queue.now + any_delay(m, 3000));
    core_wake(rig->core, rig->queue.now);
    unsigned events = 0;
    while (!rig->core->asleep || event_queue_next(&rig->queue) != CLOCK_NEVER) {
        if (!event_queue_step(&rig->queue))
            fail_msg("program %lu: nothing happens any more at pc %lx", seed, rig->hart.pc);
        assert_true(++events < 10 * STEPS_MOST);
    }
    unmake(m);
}

static void copy_program(struct machine *m, const struct fixture *f)
{
    struct hart *hart = &m->rig->hart;
    memcpy(m->rig->memory.bytes, f->memory.bytes, PROGRAM_BYTES);
    memcpy(hart->x, f->hart.x, sizeof hart->x);
    memcpy(hart->f, f->hart.f, sizeof hart->f);
    hart->pc = f->hart.pc;
    hart->fflags = f->hart.fflags;
    hart->frm = f->hart.frm;
    hart->reserved = false;
    hart->instret = 0;
    hart_flush_code(hart);
}

static uint64_t read_hart(const void *context, unsigned reg)
{
    return ((const struct hart *)context)->x[reg];
}

/* Returns whether the instruction at pc is a well-formed nucd. */
static bool is_task(const struct fixture *f)
{
    static const uint8_t capabilities[] = {0};
    static const struct nucd_limits limits = {.capabilities = capabilities, .accelerators = 1};
    const struct nucd_operands operands = {
        .pc = f->hart.pc, .xn = XN, .xd = XD, .read = read_hart, .context = &f->hart};
    struct operands nucd = {.rs1 = XN, .rs2 = XD};
    struct nucd_task task;
    return phys_at(&f->memory, f->hart.pc, 4) && fixture_read(f, f->hart.pc, 4) == encode(INSN_nucd, &nucd) &&
           nucd_packet_task(&operands, &limits, &task) == NUCD_WELL_FORMED;
}

/* Returns the number of tasks. */
static unsigned run_inline(struct fixture *f)
{
    struct step_report report;
    unsigned steps = 0, tasks = 0;
    do {
        assert_true(++steps < STEPS_MOST);
        tasks += is_task(f);
    } while (hart_step(&f->hart, &report) != HART_STOP_TRAP);
    return tasks;
}

static void run_programs(bool in_order)
{
    struct error err;
    struct fixture wanted;
    struct machine *m = calloc(1, sizeof *m);
    assert_non_null(m);
    fixture_init(&wanted, PROGRAM_BYTES);
    m->rig = rig_new(NULL);
    m->rig->served = served;
    m->in_order = in_order;
    current = m;
    for (unsigned i = 0; i < UNITS; i++)
        assert_true(hart_init(&m->units[i].hart, &m->rig->memory, m->rig->decoder, &err));
    event_init(&m->interrupt, 40, interrupt, m);
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        program_make(&wanted, seed, false);
        copy_program(m, &wanted);
        unsigned tasks = run_inline(&wanted);
        run_ahead(m, seed);
        m->seen.tasks += tasks;
        if (m->started + m->returned != tasks) /* each is counted once */
            fail_msg("program %lu: %u regions instead of %u, %lu on the host", seed, m->started, tasks,
                     m->returned);
        m->seen.traps += wanted.hart.trap.cause != TRAP_BREAKPOINT;
        program_compare(&wanted.hart, &wanted.memory, &m->rig->hart, &m->rig->memory, false, seed);
    }
    const struct seen *seen = &m->seen;
    assert_true(seen->tasks > PROGRAMS && seen->faults > PROGRAMS / 10 && seen->resumed > PROGRAMS / 10 &&
                seen->interrupts > PROGRAMS / 10);
    assert_true(seen->kept > PROGRAMS / 20 && seen->traps > 10);
    assert_true(in_order || (seen->kept > PROGRAMS / 10 && seen->squashed > PROGRAMS / 20 &&
                             seen->blocked > PROGRAMS / 10 && seen->held > PROGRAMS / 10 && seen->full > 10 &&
                             seen->checkpoints > PROGRAMS / 10));
    for (unsigned i = 0; i < UNITS; i++)
        hart_free(&m->units[i].hart);
    rig_free(m->rig);
    fixture_free(&wanted);
    free(m);
}

static void programs_mean_what_they_say(void **state)
{
    (void)state;
    run_programs(false);
}

static void and_on_a_core_that_waits(void **state)
{
    (void)state;
    run_programs(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_mean_what_they_say),
                                       cmocka_unit_test(and_on_a_core_that_waits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
