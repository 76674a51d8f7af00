/* The offload controllers of the multiprocessors in front. */
#include <assert.h>
#include <stdio.h>

#include "emu/hart/custom.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/say.h"
#include "emu/simt/warp_lend.h"
#include "emu/tom/check.h"

const char *const tom_policy_names[] = {
    [TOM_CTRL] = "ctrl", [TOM_NO_CTRL] = "no_ctrl", [TOM_NONE] = "none", [TOM_IDEAL] = "ideal", NULL};

const char *const tom_destination_names[] = {
    [TOM_OF_FIRST] = "first", [TOM_OF_OWN] = "own", [TOM_OF_EMPTIEST] = "emptiest", NULL};

/* The operation at which a warp waits for all its earlier instructions before the controller takes its block. */
static const struct stream_op send_op = {.id = INSN_tom_begin,
                                         .iclass = CLASS_HINT,
                                         .length = 4,
                                         .rd = STREAM_NONE,
                                         .rs1 = STREAM_NONE,
                                         .rs2 = STREAM_NONE,
                                         .rs3 = STREAM_NONE};

/* The table. */

static bool fetch(void *context, uint64_t pc, uint32_t *bits)
{
    static const struct warp_scratchpad none = {0};
    struct warp_memory *memory = context;
    *bits = 0;
    return warp_memory_load(memory, &none, pc, bits, 4) || warp_memory_load(memory, &none, pc, bits, 2);
}

static void warn(void *context, const char *message)
{
    (void)context;
    say_warning("%s", message);
}

/* Drops entries whose blocks do not fit on the multiprocessor of some stack. */
static void fit(struct tom *tom)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < tom->table.count; i++) {
        struct tom_entry *entry = &tom->table.entries[i];
        bool fits = true;
        if (tom->config.registers_by_number)
            entry->registers /= 2;
        for (uint32_t j = 0; j < tom->stack_count; j++)
            fits = fits && (!tom->stacks[j].unit || tom_unit_could(tom->stacks[j].unit, entry));
        if (fits)
            tom->table.entries[kept++] = *entry;
        else
            say_warning(
                "entry %u of " CANDIDATE_SECTION
                " is not offloaded: it names %u 32-bit registers, and a stack's multiprocessor has fewer "
                "for a warp (simt.registers)",
                entry->number, entry->registers);
    }
    tom->table.count = kept;
}

/* Reads the table when the first thread runs, because before that its code cannot be read. */
static void prepare(struct tom *tom)
{
    const struct reach_code code = {fetch, simt_grid_memory(tom->grid)};
    tom->ready = true;
    tom_table_load(&tom->table, tom->listed, tom->listed_count, tom->decoder, &code, warn, NULL);
    fit(tom);
    tom_mapper_begin(&tom->mapper, tom->queue->now);
}

/* Tasks. */

/* The task's event: continues by the task's state. */
static void settle(void *owner, uint64_t now)
{
    struct tom_task *task = owner;
    switch (task->state) {
    case TOM_DECIDING:
        tom_decide(task, now);
        custom_returned(task->waiter, now);
        break;
    case TOM_SENDING:
        task->state = TOM_AWAY;
        tom_leave(task, now);
        break;
    case TOM_AWAY:
        task->packed = true;
        tom_send_if_ready(task, now);
        break;
    case TOM_HERE: custom_returned(task->waiter, now); break;
    case TOM_STOPPED:
    case TOM_ASKING:
    case TOM_PROBING: assert(false);
    }
}

static struct tom_task *take_task(struct tom_front *front, struct simt_member *member)
{
    struct tom *tom = front->tom;
    struct tom_task *task = tom->free;
    if (task) {
        tom->free = task->next;
    } else {
        task = alloc(1, sizeof *task);
        task->push = alloc(1 + tom->most_slices, sizeof *task->push);
        task->tom = tom;
        tom->tasks = alloc_resize(tom->tasks, (tom->task_count + 1) * sizeof(struct tom_task *));
        tom->tasks[tom->task_count++] = task;
    }
    event_init(&task->event, tom->component, settle, task);
    task->front = front;
    task->member = member;
    task->state = TOM_HERE;
    task->inside = 0;
    task->inside_of = NULL;
    task->reach = TOM_NEAR;
    task->observed = false;
    member->attached = task;
    return task;
}

static void free_task(struct tom_task *task)
{
    assert(task->state == TOM_HERE);
    tom_mapper_forget(task);
    task->member->attached = NULL;
    task->next = task->tom->free;
    task->tom->free = task;
}

/* Makes the warp wait for the controller for `clocks` clocks of its multiprocessor, from `cycle` on. Then settle() is called. */
static void hold(struct tom_task *task, uint64_t cycle, uint32_t clocks, struct custom_waiter *waiter,
                 struct warp_report *report)
{
    report->event = WARP_LATER;
    task->waiter = waiter;
    event_schedule(task->tom->queue, &task->event, clock_time(&task->front->clock, cycle + clocks));
}

/* The source of the multiprocessors in front. */

/* Sets the operation at which the warp waits for the registers of the condition, before the decision. */
static void set_ask(struct tom_task *task, uint64_t pc)
{
    const struct candidate_entry *of = &task->entry->of;
    bool condition = of->flags & CANDIDATE_CONDITION;
    task->ask = (struct stream_op){.pc = pc,
                                   .id = INSN_addi,
                                   .iclass = CLASS_ALU,
                                   .length = 4,
                                   .rd = STREAM_NONE,
                                   .rs1 = condition && of->minuend ? of->minuend : STREAM_NONE,
                                   .rs2 = condition && of->subtrahend ? of->subtrahend : STREAM_NONE,
                                   .rs3 = condition && of->step ? of->step : STREAM_NONE};
}

/* Replaces a hint of the program by an operation that does nothing and does not wait: blocks are found by address. */
static const struct stream_op *plain(struct tom *tom, const struct stream_op *op)
{
    if (op->id != INSN_tom_begin)
        return op;
    tom->hint = *op;
    tom->hint.id = INSN_addi;
    tom->hint.iclass = CLASS_ALU;
    return &tom->hint;
}

/* Lets the multiprocessor in front execute the block; the analyzer sees it if its condition holds. */
static void observe(struct tom_task *task)
{
    const bool instance = tom_condition_holds(task);
    tom_mapper_leave(task);
    tom_stay(task, instance ? TOM_LEARNING : TOM_CONDITION);
    if (instance)
        tom_mapper_enter(task);
}

/* Lets the controller decide anew about a block that stayed. */
static const struct stream_op *ask_anew(struct tom_task *task, uint64_t pc)
{
    tom_mapper_leave(task);
    tom_unstay(task);
    task->state = TOM_ASKING;
    set_ask(task, pc);
    return &task->ask;
}

/* Looks at an instruction at which a block may begin or end. Returns what the warp executes. */
static const struct stream_op *look(struct tom_front *front, struct simt_member *member,
                                    const struct stream_op *op)
{
    struct tom *tom = front->tom;
    struct tom_task *task = member->attached;
    uint64_t pc;
    uint32_t mask = warp_group(member->warp, &pc);
    if (!tom->ready)
        prepare(tom);
    if (task && task->inside && pc == task->inside_of->of.end) {
        task->inside &= ~mask;
        if (!task->inside) {
            tom_mapper_leave(task);
            tom_stayed(task);
        }
    }
    const bool observes = tom_mapper_observes(&tom->mapper);
    struct tom_entry *entry =
        tom->config.policy == TOM_NONE && !observes ? NULL : tom_table_find(&tom->table, pc);
    if (!entry)
        return plain(tom, op);
    if (task && task->inside_of == entry && !(mask & ~task->inside))
        return !observes && tom_may_leave(task, op, mask) ? ask_anew(task, pc) : plain(tom, op);
    if (!task)
        task = take_task(front, member);
    task->entry = entry;
    task->lanes = mask;
    if (observes && !task->observed && tom_mapper_full(&tom->mapper) && tom_condition_holds(task)) {
        task->state = TOM_STOPPED;
        return &send_op;
    }
    tom->instances_of[entry->number]++;
    tom->instances++;
    if (observes) {
        observe(task);
        return plain(tom, op);
    }
    task->state = TOM_ASKING;
    set_ask(task, pc);
    return &task->ask;
}

static const struct stream_op *next_of(void *context, void *name);

/* Returns the next instruction of a block that is executed up to its first access. */
static const struct stream_op *probe(struct tom_front *front, struct tom_task *task)
{
    uint32_t mask;
    const struct stream_op *op = warp_next(task->guest.warp, &mask);
    if (op && op->pc != task->entry->of.end && !tom_tells_stack(task, op))
        return op;
    enum tom_reason reason = TOM_NO_ACCESS;
    if (op && op->pc != task->entry->of.end)
        reason = tom_destination(task, task->guest.warp, op, mask);
    if (reason != TOM_REASONS) {
        tom_adopt(task, reason);
        return next_of(front, task->member);
    }
    if (front->tom->config.policy != TOM_IDEAL) {
        front->tom->redundant_instructions += task->probed;
        front->tom->redundant_thread_instructions += task->probed_threads;
    }
    tom_choose(task, reason);
    return &send_op;
}

static const struct stream_op *next_of(void *context, void *name)
{
    struct tom_front *front = context;
    struct simt_member *member = name;
    struct tom_task *task = member->attached;
    if (task && task->state != TOM_HERE) {
        if (task->state == TOM_PROBING)
            return probe(front, task);
        assert(task->state == TOM_ASKING || task->state == TOM_SENDING || task->state == TOM_STOPPED);
        return task->state == TOM_ASKING ? &task->ask : &send_op;
    }
    const struct stream_op *op = front->source.next(front->source.context, name);
    if (op && tom_mapper_stops(&front->tom->mapper)) {
        task = task ? task : take_task(front, member);
        task->state = TOM_STOPPED;
        return &send_op;
    }
    if (!op || !tom_table_near(&front->tom->table, op->pc))
        return op ? plain(front->tom, op) : NULL;
    return look(front, member, op);
}

static void step_of(void *context, void *name, uint64_t cycle, struct custom_waiter *waiter,
                    struct warp_report *report, bool *ended)
{
    struct tom_front *front = context;
    struct tom_task *task = ((struct simt_member *)name)->attached;
    if (!task || task->state == TOM_HERE) {
        front->source.step(front->source.context, name, cycle, waiter, report, ended);
        if (task && report->event == WARP_DONE)
            task->begins = false;
        if (front->tom->check && report->event == WARP_DONE &&
            (report->op->flags & STREAM_STORE || report->op->iclass == CLASS_AMO))
            tom_check_stored(front->tom->check, front, report, clock_time(&front->clock, cycle));
        if (task && task->observed && report->event == WARP_DONE && tom_tells_stack(task, report->op))
            tom_mapper_access(task, report);
    } else if (task->state == TOM_PROBING) {
        simt_grid_execute(front->tom->grid, front->simt, &task->guest, cycle, waiter, report, false);
        task->probed += report->event == WARP_DONE;
        task->probed_threads += report->event == WARP_DONE ? (unsigned)__builtin_popcount(report->mask) : 0;
    } else if (task->state == TOM_ASKING) {
        task->state = TOM_DECIDING;
        hold(task, cycle, front->tom->config.decide_clocks, waiter, report);
    } else if (task->state == TOM_STOPPED &&
               (tom_mapper_stops(&front->tom->mapper) || tom_mapper_full(&front->tom->mapper))) {
        report->event = WARP_LATER;
        task->waiter = waiter;
        tom_mapper_hold(&front->tom->mapper, task);
    } else {
        assert(task->state == TOM_SENDING || task->state == TOM_STOPPED);
        task->state = task->state == TOM_STOPPED ? TOM_HERE : TOM_SENDING;
        hold(task, cycle, 1, waiter, report);
    }
}

static void ended_of(void *context, struct simt *simt, struct simt_block *block, uint64_t now)
{
    struct tom_front *front = context;
    for (uint32_t i = 0; i < block->need.warps; i++) {
        const struct simt_member *member = block->warps[i];
        if (member->attached)
            free_task(member->attached);
    }
    front->source.ended(front->source.context, simt, block, now);
}

static void missing_of(void *context, void *name)
{
    const struct tom_front *front = context;
    const struct tom_task *task = ((struct simt_member *)name)->attached;
    if (task && task->state == TOM_PROBING)
        simt_grid_missing(front->tom->grid, &task->guest);
    else
        front->source.missing(front->source.context, name);
}

static const struct warp_place *where_of(void *context, void *name)
{
    const struct tom_front *front = context;
    return front->source.where(front->source.context, name);
}

static bool breaks_of(void *context, void *name)
{
    const struct tom_front *front = context;
    const struct tom_task *task = ((struct simt_member *)name)->attached;
    if (task && task->state != TOM_HERE && task->state != TOM_ASKING)
        return false;
    return front->source.breaks(front->source.context, name);
}

void tom_front_join(struct tom_front *front)
{
    const struct simt_source source = {.next = next_of,
                                       .step = step_of,
                                       .ended = ended_of,
                                       .missing = missing_of,
                                       .where = where_of,
                                       .breaks = breaks_of,
                                       .context = front};
    front->source = *simt_source_of(front->simt);
    simt_set_source(front->simt, &source);
    simt_offer(front->simt, EXTENSION_Xtom);
}
