/* Dispatch ahead of retirement: nucds enter the window as tasks, and squashed tasks are found again. */
#include <string.h>

#include "emu/hart/step.h"
#include "emu/nucd/engine/state.h"
#include "emu/nucd/window/foresee.h"

/* The window stays open for this number of instructions after the last task that has retired: leaving drains
 * the core, and a loop over tasks should not pay for that in each iteration. */
enum { LINGER = 4096 };

enum { SP = 2 };

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

bool engine_takes(void *context)
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
    if (e->parts.hart->offload.settles && !engine_keeps(e))
        return make_step(e, OFFLOAD_WAIT, 0); /* until the interrupt for which it settles */
    const struct nucd_operands operands = {
        .pc = pc, .frm = e->parts.hart->frm, .read = window_read, .context = e->window};
    if (!is_returned(e, pc) && engine_describe(e, &insn, operands, &task)) {
        if (!window_knows(e->window, SP, &task.sp))
            task.sp = 0;
        return dispatch_task(e, &task);
    }
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

/* Lets the record go on at its order point if all instructions before its nucd have retired. The core need not leave then:
 * if it left without an instruction, it would execute the nucd as a HINT. Returns whether the record goes on. */
static bool pass_order_point(struct engine *e)
{
    struct engine_task *t = e->records.first;
    if (!engine_at_order_point(t) || window_oldest(e->window) != window_next(e->window))
        return false;
    t->told = true;
    return true;
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

struct offload_step engine_dispatch(void *context)
{
    struct engine *e = context;
    if (is_faulty(e) && !pass_order_point(e))
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
