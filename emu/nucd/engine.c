#include "emu/nucd/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/step.h"
#include "emu/nucd/engine_state.h"
#include "emu/nucd/foresee.h"

/* The window stays open for this number of instructions after the last task that has retired: leaving drains
 * the core, and a loop over tasks should not pay for that in each iteration. */
enum { LINGER = 4096 };

static uint64_t read_hart(const void *context, unsigned reg)
{
    return ((const struct hart *)context)->x[reg];
}

/* Fetches the instruction at pc. Returns false if it is not a nucd. */
static bool fetch_nucd(struct hart *hart, uint64_t pc, struct insn *insn)
{
    struct trap trap = hart->trap;
    bool fetched = step_fetch(hart, pc, insn);
    hart->trap = trap;
    return fetched && insn->id == INSN_nucd;
}

bool engine_describe(struct engine *e, const struct insn *insn, struct nucd_operands operands,
                     struct nucd_task *task)
{
    struct error warning;
    operands.xn = insn->rs1;
    operands.xd = insn->rs2;
    enum nucd_cause cause = nucd_packet_task(&operands, &e->parts.limits, task);
    if (cause == NUCD_WELL_FORMED)
        return true;
    if (cause != NUCD_CAUSE_SIGNATURE)
        engine_tell_refused(e, operands.pc, nucd_cause_text(cause));
    if (cause == NUCD_CAUSE_SIGNATURE && operands.read(operands.context, insn->rs1) >> 32 == HART_NUCD_MARK)
        return false; /* a call of the kernel's driver */
    if (nucd_causes_note(&e->causes, cause, operands.pc, &warning) && e->parts.warn)
        e->parts.warn(e->parts.context, operands.pc, warning.text);
    return false;
}

static struct offload_step make_step(const struct engine *e, enum offload_stop stop, uint64_t number)
{
    struct offload_step step = {.stop = stop, .number = number};
    if (stop == OFFLOAD_DISPATCHED || stop == OFFLOAD_TASK) {
        const struct window_entry *entry = window_entry(e->window, number);
        step.entry = (struct stream_entry){&entry->op, entry->address, entry->physical};
        step.next_pc = entry->next_pc;
    }
    return step;
}

static bool same_task(const struct nucd_task *a, const struct nucd_task *b)
{
    unsigned count = (unsigned)__builtin_popcount(a->live_ins.mask);
    return a->pc == b->pc && a->begin == b->begin && a->end == b->end && a->result == b->result &&
           a->live_ins.mask == b->live_ins.mask &&
           memcmp(a->live_ins.value, b->live_ins.value, count * sizeof a->live_ins.value[0]) == 0;
}

/* Enters a squashed task, which had been sent, into the window again, because its nucd is reached. Either its
 * result has come, or it is frozen and is resumed. */
static struct offload_step enter_again(struct engine *e, struct engine_task *t)
{
    engine_list_remove(&e->records, t);
    e->count.kept++;
    if (!t->done) {
        t->slot = nucd_depend_add(&e->depend, &t->task, t->access);
        assert(t->stopped && t->told && t->slot != NUCD_NO_TASK);
        engine_task_resume(t);
    }
    engine_task_enter(t, window_task(e->window, &t->task, t->slot));
    if (!t->done)
        return make_step(e, OFFLOAD_TASK, t->number);
    (void)window_complete(e->window, t->number, t->report.result, t->report.fflags);
    return make_step(e, OFFLOAD_DISPATCHED, t->number);
}

static void count_launch(struct engine *e, uint64_t number)
{
    if (e->last_nucd != WINDOW_NONE && number > e->last_nucd) {
        e->count.launches++;
        e->count.gaps += number - e->last_nucd;
    }
    e->last_nucd = e->last_task = number;
}

/* Drops the first record, which was not sent, when its nucd is reached again. */
static void forget_first(struct engine *e)
{
    struct engine_task *t = e->records.first;
    engine_list_remove(&e->records, t);
    engine_task_drop(t);
}

/* Returns whether the host must run the region of the nucd at pc itself, this time. */
static bool is_returned(struct engine *e, uint64_t pc)
{
    const struct engine_task *t = e->records.first;
    bool returned = pc == e->host_pc;
    e->host_pc = ENGINE_NOWHERE;
    if (returned)
        engine_tell_refused(e, pc, "faults of younger tasks hold all accelerators");
    if (returned && t && !t->sent && t->task.pc == pc)
        forget_first(e);
    return returned;
}

static bool takes(void *context)
{
    struct engine *e = context;
    const struct hart *hart = e->parts.hart;
    struct nucd_task task;
    struct insn insn;
    return fetch_nucd(e->parts.hart, hart->pc, &insn) && !is_returned(e, hart->pc) &&
           engine_describe(
               e, &insn,
               (struct nucd_operands){.pc = hart->pc, .frm = hart->frm, .read = read_hart, .context = hart},
               &task);
}

static void ask_oracle(struct engine_task *t)
{
    struct engine *e = t->engine;
    if (!e->config.oracle)
        return;
    t->access = foresee(e->window, e->parts.hart, &e->depend, &t->task);
    e->count.foreseen += t->access != NULL;
    e->count.unforeseen += !t->access;
}

static struct offload_step dispatch_task(struct engine *e, const struct nucd_task *task)
{
    if (e->depend.used == UINT64_MAX >> (64 - e->depend.size)) {
        e->count.table_full += !e->full;
        e->full = true;
        return make_step(e, OFFLOAD_WAIT, 0);
    }
    struct engine_task *first = e->records.first;
    if (first && same_task(&first->task, task) && first->sent)
        return enter_again(e, first);
    if (first && same_task(&first->task, task))
        forget_first(e);
    else
        engine_forget_records(e);
    struct engine_task *t = engine_task_new(e, task);
    ask_oracle(t);
    t->slot = nucd_depend_add(&e->depend, task, t->access);
    engine_tell_dispatched(t);
    engine_task_enter(t, window_task(e->window, task, t->slot));
    count_launch(e, t->number);
    struct offload_step step = make_step(e, OFFLOAD_TASK, t->number);
    step.stalls = e->config.stalls;
    return step;
}

static struct offload_step dispatch_nucd(struct engine *e)
{
    struct nucd_task task;
    struct insn insn;
    uint64_t pc = window_pc(e->window);
    bool found = fetch_nucd(e->parts.hart, pc, &insn);
    assert(found);
    (void)found;
    const struct nucd_operands operands = {
        .pc = pc, .frm = e->parts.hart->frm, .read = window_read, .context = e->window};
    if (!is_returned(e, pc) && engine_describe(e, &insn, operands, &task))
        return dispatch_task(e, &task);
    return make_step(e, OFFLOAD_DISPATCHED, window_hint(e->window));
}

/* Returns whether the core can leave: there are no tasks, at least LINGER instructions follow the last one,
 * and the next instruction is not a nucd. */
static bool is_over(struct engine *e)
{
    struct insn insn;
    return !e->ahead.first && !e->records.first && window_next(e->window) > e->last_task + LINGER &&
           !fetch_nucd(e->parts.hart, window_pc(e->window), &insn);
}

/* Returns whether the host must trap at the window's next instruction, because of a fault in a region. */
static bool is_faulty(const struct engine *e)
{
    const struct engine_task *t = e->records.first;
    return t && t->stopped && !t->told && window_pc(e->window) == t->task.pc;
}

static bool is_behind_frozen(const struct engine *e, const struct engine_task *task)
{
    for (const struct engine_task *t = e->records.first; t; t = t->next)
        if (t->stopped && t->accelerator == task->accelerator)
            return true;
    return false;
}

/* Returns whether squashed tasks run, or will run without the host. A task queued behind a frozen one will
 * not. */
static bool records_run(const struct engine *e)
{
    for (const struct engine_task *t = e->records.first; t && e->running > 0; t = t->next)
        if (t->sent && !t->done && !t->stopped && !is_behind_frozen(e, t))
            return true;
    return false;
}

/* Lets the core wait: nothing is dispatched while squashed tasks run. They may be queued behind a frozen
 * task, which is resumed when its nucd is reached. */
static struct offload_step wait_for_records(struct engine *e)
{
    struct engine_task *t = e->records.first;
    if (t->stopped && window_pc(e->window) == t->task.pc) {
        engine_task_resume(t);
        e->running++;
    }
    return make_step(e, OFFLOAD_WAIT, 0);
}

static struct offload_step step(void *context)
{
    struct engine *e = context;
    if (is_faulty(e))
        return make_step(e, OFFLOAD_LEAVE, 0);
    if (records_run(e))
        return wait_for_records(e);
    if (is_over(e))
        return make_step(e, OFFLOAD_LEAVE, 0);
    struct window_step done = window_step(e->window);
    switch (done.stop) {
    case WINDOW_DISPATCHED: return make_step(e, OFFLOAD_DISPATCHED, done.number);
    case WINDOW_NUCD: return dispatch_nucd(e);
    case WINDOW_SERIAL: return make_step(e, OFFLOAD_LEAVE, done.number);
    default: return make_step(e, OFFLOAD_WAIT, done.number);
    }
}

static void look(const void *context, uint64_t number, struct offload_view *view)
{
    const struct engine *e = context;
    const struct window_entry *entry = window_entry(e->window, number);
    *view = (struct offload_view){.evaluated = entry->evaluated,
                                  .address_known = entry->address_known,
                                  .address = entry->address,
                                  .physical = entry->physical,
                                  .held_for = entry->held_for};
}

static void task_ready(void *context, uint64_t number, uint64_t decoded, uint64_t freed, uint64_t ready)
{
    struct engine_task *t = engine_numbered(context, number);
    assert(t->number == number);
    if (t->sent)
        return;
    t->at.decoded = decoded;
    t->at.freed = freed;
    t->at.ready = ready;
    engine_schedule(t, ENGINE_READY, ready);
}

static bool pass(void *context, uint64_t number, uint32_t *clocks)
{
    struct engine *e = context;
    struct engine_task *t = engine_numbered(e, number);
    assert(t->number == number && t->sent && !t->checkpoint);
    if (e->checkpoints == e->config.checkpoints) {
        e->count.checkpoints_full += !t->refused;
        t->refused = true;
        return false;
    }
    t->checkpoint = true;
    e->checkpoints++;
    e->count.checkpoints++;
    *clocks = e->config.ideal ? 0 : e->config.checkpoint_clocks;
    return true;
}

static void retired(void *context, uint64_t number, uint64_t at)
{
    struct engine *e = context;
    engine_commit(e, number, at);
    engine_clear_all(e, at);
}

static uint64_t interrupt(void *context)
{
    struct engine *e = context;
    struct engine_task *t = e->ahead.first;
    while (t && t->done)
        t = t->next;
    uint64_t number = t ? t->number : window_next(e->window);
    engine_squash(e, number);
    return number;
}

static enum hart_stop left(void *context, uint64_t now)
{
    struct engine *e = context;
    (void)now;
    e->last_nucd = WINDOW_NONE;
    e->full = false;
    return engine_trap(e);
}

static void drained(void *context)
{
    struct engine *e = context;
    engine_clear_all(e, e->parts.queue->now);
}

static const struct offload_ops engine_ops = {.takes = takes,
                                              .step = step,
                                              .look = look,
                                              .task_ready = task_ready,
                                              .pass = pass,
                                              .retired = retired,
                                              .interrupt = interrupt,
                                              .left = left,
                                              .drained = drained};

struct engine *engine_new(const struct engine_config *config, const struct engine_parts *parts,
                          struct error *err)
{
    struct engine *e = calloc(1, sizeof *e);
    if (!e) {
        (void)error_set(err, "no memory for an offload engine: %s", strerror(errno));
        return NULL;
    }
    e->config = *config;
    e->parts = *parts;
    e->parts.limits.capabilities = e->config.scheduler.capabilities;
    e->parts.limits.accelerators = config->scheduler.accelerators;
    e->host_pc = ENGINE_NOWHERE;
    nucd_depend_init(&e->depend, config->tasks, config->granule);
    nucd_scheduler_init(&e->scheduler, &config->scheduler);
    engine_generate_init(e);
    engine_send_init(e);
    engine_report_init(e);
    engine_spreads_init(&e->spreads);
    e->causes.runner = parts->core ? NULL : "thread";
    if (!parts->core)
        return e;
    unsigned size = config->checkpoints ? config->checkpoint_window : config->rob;
    e->window = window_new(parts->hart, &e->depend, size, config->stores, err);
    if (e->window)
        return e;
    engine_free(e);
    return NULL;
}

/* The run may end while events are pending. */
static void cancel_events(struct engine *e)
{
    struct event *const events[] = {&e->read_event, &e->write_event,  &e->send_event,
                                    &e->land_event, &e->answer_event, &e->timeout_event};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        event_cancel(e->parts.queue, events[i]);
    for (unsigned i = 0; i < e->places; i++)
        event_cancel(e->parts.queue, &e->tasks[i].event);
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    cancel_events(e);
    if (e->window)
        window_free(e->window);
    engine_threads_free(e);
    for (unsigned i = 0; i < e->places; i++)
        nucd_access_set_free(e->tasks[i].access);
    free(e->answers);
    free(e);
}

struct core_offload engine_offload(struct engine *e)
{
    uint32_t kept = e->config.checkpoints ? e->config.checkpoint_window : 0;
    return (struct core_offload){.ops = &engine_ops, .context = e, .kept = kept};
}

void engine_attach(struct engine *e, struct core *core, struct stream *stream)
{
    e->core = core;
    e->stream = stream;
    e->parts.hart->offload.control = engine_control;
    e->parts.hart->offload.context = e;
}

void engine_share(struct engine *e, unsigned number, struct engine *other, unsigned theirs,
                  struct nucd_turns *turns)
{
    nucd_scheduler_share(&e->scheduler, number, &other->scheduler, theirs, turns);
}

bool engine_owns(const struct engine *e, unsigned accelerator)
{
    return nucd_scheduler_owns(&e->scheduler, accelerator);
}

const struct engine_fault *engine_fault(const struct engine *e)
{
    return e->faulted ? &e->fault : NULL;
}
