/* What the offload controllers decide: whether a block is offloaded, and where. */

#include "emu/simt/warp_debug.h"
#include "emu/simt/warp_lend.h"
#include "emu/tom/controller/controller.h"

void tom_stay(struct tom_task *task, enum tom_reason reason)
{
    task->tom->refused[reason]++;
    task->inside = task->lanes;
    task->inside_of = task->entry;
    task->stayed = reason == TOM_CONDITION || reason == TOM_NO_STACK ? 0 : task->tom->queue->now;
    task->reason = reason;
    task->begins = true;
    task->state = TOM_HERE;
}

bool tom_condition_holds(const struct tom_task *task)
{
    const struct candidate_entry *of = &task->entry->of;
    const struct warp *warp = task->member->warp;
    if (!(of->flags & CANDIDATE_CONDITION))
        return true;
    for (uint32_t left = task->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        if (candidate_holds(of, warp_register(warp, of->minuend, lane),
                            warp_register(warp, of->subtrahend, lane), warp_register(warp, of->step, lane)))
            return true;
    }
    return false;
}

/* Returns whether the block would add bytes to a busy channel (receive: from the stacks, else to them). */
static bool is_busy(struct tom *tom, const struct tom_entry *entry, bool receive, uint64_t now)
{
    bool saves = entry->of.flags & (receive ? CANDIDATE_RX : CANDIDATE_TX);
    bool busy = false;
    for (uint32_t i = 0; i < tom->stack_count; i++) {
        tom_monitor_look(&tom->monitors[i], now, tom->config.window, tom->config.busy_percent);
        busy = busy || tom->monitors[i].percent[receive] >= tom->config.busy_percent;
    }
    return busy && !saves;
}

static uint32_t limit_of(const struct tom *tom, const struct tom_unit *unit)
{
    return tom->config.pending ? tom->config.pending : tom_unit_warps(unit);
}

/* Returns the part of the unit's multiprocessor that a warp of the entry's block fills, by warps and registers, if limit_of() warps
 * fill it. */
static uint64_t room_of(const struct tom *tom, const struct tom_unit *unit, const struct tom_entry *entry)
{
    return (uint64_t)TOM_PLACE * limit_of(tom, unit) /
           (tom->config.pending ? limit_of(tom, unit) : tom_unit_holds(unit, entry));
}

/* Returns the places that a warp of the entry's block fills, in parts of TOM_PLACE. A stack's vaults give its multiprocessor
 * alu_ratio instructions' time for each access, so a block with more of them keeps its pipelines busy for longer than one place allows. */
static uint64_t places_of(const struct tom *tom, const struct tom_entry *entry)
{
    const uint64_t fits = entry->accesses * tom->config.alu_ratio;
    return fits < entry->instructions && fits ? TOM_PLACE * entry->instructions / fits : TOM_PLACE;
}

/* Takes the time into a mean in which the latest counts a sixteenth. */
static void take_time(uint64_t *mean, uint64_t time)
{
    *mean = *mean ? *mean - *mean / 16 + time / 16 : time;
}

void tom_stayed(const struct tom_task *task)
{
    if (task->stayed)
        take_time(&task->inside_of->front, task->tom->queue->now - task->stayed);
}

void tom_returned(const struct tom_task *task, uint64_t now)
{
    take_time(&task->entry->inside, task->ended - task->begun);
    take_time(&task->entry->outside, task->arrived - task->asked + now - task->ended);
}

/* Returns whether times of the entry's block tell where it would end sooner. If so, *there tells whether it is the unit's stack, whose
 * warps share the work that is under way to it. An idle stack gets one block, so that its times do not grow old. */
static bool is_balanced(const struct tom *tom, struct tom_unit *unit, const struct tom_entry *entry,
                        bool *there)
{
    const struct tom_load *load = tom_unit_load(unit);
    if (!tom->config.balance || tom->config.policy != TOM_CTRL || !entry->front || !entry->inside)
        return false;
    *there = load->pending == 0 ||
             entry->outside + entry->inside + load->work / tom_unit_holds(unit, entry) < entry->front;
    return true;
}

/* Returns TOM_REASONS if the unit can be sent the entry's block. A block that fills more places than there are goes alone. */
static enum tom_reason room_for(const struct tom *tom, struct tom_unit *unit, const struct tom_entry *entry)
{
    const bool limited =
        tom->config.policy == TOM_CTRL || (tom->config.policy == TOM_IDEAL && tom->config.pending);
    const struct tom_load *load = tom_unit_load(unit);
    const uint64_t most = (uint64_t)TOM_PLACE * limit_of(tom, unit);
    bool there;
    if (!limited)
        return TOM_REASONS;
    if (is_balanced(tom, unit, entry, &there))
        return there ? TOM_REASONS : TOM_FULL;
    if (load->room + room_of(tom, unit, entry) > most)
        return TOM_FULL;
    const bool fits = load->places + places_of(tom, entry) <= most;
    return fits || load->pending == 0 || tom->config.policy != TOM_CTRL ? TOM_REASONS : TOM_COMPUTE;
}

/* Returns why no stack can be sent the entry's block, or TOM_REASONS. */
static enum tom_reason no_room(const struct tom *tom, const struct tom_entry *entry)
{
    enum tom_reason reason = TOM_FULL;
    for (uint32_t i = 0; i < tom->stack_count; i++) {
        enum tom_reason here = tom->stacks[i].unit ? room_for(tom, tom->stacks[i].unit, entry) : TOM_FULL;
        if (here == TOM_REASONS)
            return here;
        reason = here == TOM_COMPUTE ? here : reason;
    }
    return reason;
}

bool tom_tells_stack(const struct tom_task *task, const struct stream_op *op)
{
    const bool passes = task->tom->config.destination == TOM_OF_OWN && tom_entry_passes(task->entry, op->pc);
    return op->flags & (STREAM_LOAD | STREAM_STORE) && !passes;
}

/* Returns the unit with the fewest offloads under way, of equal ones the first. */
static struct tom_unit *emptiest(const struct tom *tom, struct tom_unit *unit)
{
    for (uint32_t i = 0; i < tom->stack_count; i++)
        if (tom->stacks[i].unit && tom_unit_load(tom->stacks[i].unit)->pending < tom_unit_load(unit)->pending)
            unit = tom->stacks[i].unit;
    return unit;
}

enum tom_reason tom_destination(struct tom_task *task, const struct warp *warp, const struct stream_op *op,
                                uint32_t mask)
{
    struct tom *tom = task->tom;
    unsigned lane = (unsigned)__builtin_ctz(mask);
    uint64_t base = op->rs1 < STREAM_NONE ? warp_register(warp, op->rs1, lane) : 0;
    enum warp_access access = op->flags & STREAM_STORE ? WARP_STORE : WARP_LOAD;
    struct home home;
    if (warp_memory_place(simt_grid_memory(tom->grid), base + (uint64_t)(int64_t)op->imm, access,
                          &task->address) == WARP_SHARED ||
        !task->address)
        return TOM_NO_STACK;
    home_resolve(tom->memory->homes, task->address, &home);
    uint32_t number = (uint32_t)home.module * tom->memory->stacks + home.stack;
    task->unit = number < tom->stack_count ? tom->stacks[number].unit : NULL;
    if (!task->unit)
        return TOM_NO_STACK;
    if (tom->config.destination == TOM_OF_EMPTIEST)
        task->unit = emptiest(tom, task->unit);
    return room_for(tom, task->unit, task->entry);
}

void tom_choose(struct tom_task *task, enum tom_reason reason)
{
    if (reason != TOM_REASONS) {
        tom_stay(task, reason);
        return;
    }
    struct tom_load *load = tom_unit_load(task->unit);
    task->places = places_of(task->tom, task->entry);
    task->room = room_of(task->tom, task->unit, task->entry);
    task->work = task->entry->inside;
    load->work += task->work;
    load->pending++;
    load->room += task->room;
    load->places += task->places;
    task->state = TOM_SENDING;
}

/* Returns whether a block that stayed for the reason may go when there is room. */
static bool is_passing(enum tom_reason reason)
{
    return reason == TOM_FULL || reason == TOM_COMPUTE || reason == TOM_TX_BUSY || reason == TOM_RX_BUSY ||
           reason == TOM_LEARNING;
}

bool tom_may_leave(struct tom_task *task, const struct stream_op *op, uint32_t mask)
{
    const struct tom *tom = task->tom;
    if (!tom->config.each_round || task->begins || mask != task->inside || !is_passing(task->reason))
        return false;
    task->lanes = mask;
    task->entry = task->inside_of;
    if (!tom_condition_holds(task))
        return false;
    return (tom_tells_stack(task, op) ? tom_destination(task, task->member->warp, op, mask)
                                      : no_room(tom, task->entry)) == TOM_REASONS;
}

void tom_unstay(struct tom_task *task)
{
    task->tom->refused[task->reason]--;
    task->inside = 0;
    task->stayed = 0;
}

/* Returns whether a debugger must see the block's instructions: it does not see warps in stacks. */
static bool is_debugged(const struct tom_task *task)
{
    const struct warp_debug *debug = simt_grid_memory(task->tom->grid)->debug;
    for (uint32_t i = 0; debug && i < debug->count; i++)
        if (debug->breakpoints[i] >= task->entry->lowest && debug->breakpoints[i] <= task->entry->highest)
            return true;
    return debug && warp_debug_steps(task->member->warp);
}

void tom_decide(struct tom_task *task, uint64_t now)
{
    struct tom *tom = task->tom;
    struct warp *warp = task->member->warp;
    uint32_t mask;
    enum tom_reason reason;
    const struct stream_op *op = warp_next(warp, &mask);
    if (!tom_condition_holds(task)) {
        tom_stay(task, TOM_CONDITION);
    } else if (is_debugged(task)) {
        tom_stay(task, TOM_DEBUGGED);
    } else if (tom->config.policy == TOM_CTRL && is_busy(tom, task->entry, false, now)) {
        tom_stay(task, TOM_TX_BUSY);
    } else if (tom->config.policy == TOM_CTRL && is_busy(tom, task->entry, true, now)) {
        tom_stay(task, TOM_RX_BUSY);
    } else if ((reason = no_room(tom, task->entry)) != TOM_REASONS) {
        tom_stay(task, reason);
    } else if (tom_tells_stack(task, op)) {
        tom_choose(task, tom_destination(task, warp, op, mask));
    } else {
        task->guest.warp = tom_take_warp(tom);
        warp_lend(task->guest.warp, warp, WARP_ALL_REGISTERS);
        task->probed = task->probed_threads = 0;
        task->state = TOM_PROBING;
    }
}

void tom_adopt(struct tom_task *task, enum tom_reason reason)
{
    uint64_t pc;
    uint32_t mask = warp_group(task->guest.warp, &pc);
    tom_stay(task, reason);
    if (mask == task->lanes) {
        warp_take_back(task->member->warp, task->guest.warp, mask, WARP_ALL_REGISTERS, pc);
    } else {
        task->tom->redundant_instructions += task->probed;
        task->tom->redundant_thread_instructions += task->probed_threads;
    }
    tom_give_warp(task);
}
