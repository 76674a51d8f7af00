/* The offload controllers of the multiprocessors in front. */
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/custom.h"
#include "emu/mem/llc.h"
#include "emu/sim/alloc.h"
#include "emu/simt/warp_debug.h"
#include "emu/simt/warp_lend.h"
#include "emu/tom/check.h"

enum { MASK_BYTES = 4, ADDRESS_BYTES = 8, FRM_BYTES = 1 };

const char *const tom_policy_names[] = {
    [TOM_CTRL] = "ctrl", [TOM_NO_CTRL] = "no_ctrl", [TOM_NONE] = "none", [TOM_IDEAL] = "ideal", NULL};

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
    fprintf(stderr, "croft run: warning: %s\n", message);
}

/* Drops entries whose blocks do not fit on the multiprocessor of some stack. */
static void fit(struct tom *tom)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < tom->table.count; i++) {
        const struct tom_entry *entry = &tom->table.entries[i];
        bool fits = true;
        for (uint32_t j = 0; j < tom->stack_count; j++)
            fits = fits && (!tom->stacks[j].unit || tom_unit_could(tom->stacks[j].unit, entry));
        if (fits)
            tom->table.entries[kept++] = *entry;
        else
            fprintf(stderr,
                    "croft run: warning: entry %u of " CANDIDATE_SECTION
                    " is not offloaded: it names %u 32-bit registers, and a stack's multiprocessor has fewer "
                    "for a "
                    "warp (simt.registers)\n",
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

static struct warp *take_warp(struct tom *tom)
{
    struct error err;
    if (tom->warp_count > 0)
        return tom->warps[--tom->warp_count];
    struct warp *warp = warp_new(simt_grid_memory(tom->grid), &err);
    if (!warp)
        alloc_failed();
    return warp;
}

static void give_warp(struct tom_task *task)
{
    struct tom *tom = task->tom;
    if (!task->guest.warp)
        return;
    if (tom->warp_count == tom->warp_room) {
        tom->warp_room = tom->warp_room ? 2 * tom->warp_room : 64;
        tom->warps = alloc_resize(tom->warps, tom->warp_room * sizeof(struct warp *));
    }
    tom->warps[tom->warp_count++] = task->guest.warp;
    task->guest.warp = NULL;
}

static void settle(void *owner, uint64_t now);

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
    task->observed = false;
    member->attached = task;
    return task;
}

static void free_task(struct tom_task *task)
{
    assert(task->state == TOM_HERE);
    task->member->attached = NULL;
    task->next = task->tom->free;
    task->tom->free = task;
}

/* Decisions. */

/* Makes the warp wait for the controller for `clocks` clocks of its multiprocessor, from `cycle` on. Then settle() is called. */
static void hold(struct tom_task *task, uint64_t cycle, uint32_t clocks, struct custom_waiter *waiter,
                 struct warp_report *report)
{
    report->event = WARP_LATER;
    task->waiter = waiter;
    event_schedule(task->tom->queue, &task->event, clock_time(&task->front->clock, cycle + clocks));
}

/* Lets the multiprocessor in front execute the block, and counts the reason. */
static void stay(struct tom_task *task, enum tom_reason reason)
{
    task->tom->refused[reason]++;
    task->inside = task->lanes;
    task->inside_of = task->entry;
    task->state = TOM_HERE;
}

static bool holds(const struct tom_task *task)
{
    const struct candidate_entry *of = &task->entry->of;
    int64_t most = INT64_MIN;
    if (!(of->flags & CANDIDATE_CONDITION))
        return true;
    for (uint32_t left = task->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t difference = warp_register(task->member->warp, of->minuend, lane) -
                              warp_register(task->member->warp, of->subtrahend, lane);
        int64_t value = (int64_t)difference >> of->shift;
        most = value > most ? value : most;
    }
    return most >= of->threshold;
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

/* Returns the places that a warp of the entry's block fills, in parts of TOM_PLACE. A stack's vaults give its multiprocessor
 * alu_ratio instructions' time for each access, so a block with more of them needs its pipelines for longer than a place is. */
static uint64_t places_of(const struct tom *tom, const struct tom_entry *entry)
{
    const uint64_t fits = entry->accesses * tom->config.alu_ratio;
    return fits < entry->instructions && fits ? TOM_PLACE * entry->instructions / fits : TOM_PLACE;
}

/* Returns TOM_REASONS if the unit can be sent the entry's block. A block that fills more places than there are goes alone. */
static enum tom_reason room_for(const struct tom *tom, struct tom_unit *unit, const struct tom_entry *entry)
{
    const bool limited =
        tom->config.policy == TOM_CTRL || (tom->config.policy == TOM_IDEAL && tom->config.pending);
    const struct tom_load *load = tom_unit_load(unit);
    if (!limited)
        return TOM_REASONS;
    if (load->pending >= limit_of(tom, unit))
        return TOM_FULL;
    const bool fits = load->places + places_of(tom, entry) <= (uint64_t)TOM_PLACE * limit_of(tom, unit);
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

/* Finds the stack of the access that a warp executes next, by its lowest lane in `mask`. Returns why the block cannot be
 * offloaded there, or TOM_REASONS. */
static enum tom_reason destination(struct tom_task *task, const struct warp *warp, const struct stream_op *op,
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
    return room_for(tom, task->unit, task->entry);
}

/* Sends the block to task->unit, or lets it stay for the reason given. */
static void choose(struct tom_task *task, enum tom_reason reason)
{
    if (reason != TOM_REASONS) {
        stay(task, reason);
        return;
    }
    struct tom_load *load = tom_unit_load(task->unit);
    task->places = places_of(task->tom, task->entry);
    load->pending++;
    load->places += task->places;
    task->state = TOM_SENDING;
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

static void decide(struct tom_task *task, uint64_t now)
{
    struct tom *tom = task->tom;
    struct warp *warp = task->member->warp;
    uint32_t mask;
    enum tom_reason reason;
    const struct stream_op *op = warp_next(warp, &mask);
    if (!holds(task)) {
        stay(task, TOM_CONDITION);
    } else if (is_debugged(task)) {
        stay(task, TOM_DEBUGGED);
    } else if (tom->config.policy == TOM_CTRL && is_busy(tom, task->entry, false, now)) {
        stay(task, TOM_TX_BUSY);
    } else if (tom->config.policy == TOM_CTRL && is_busy(tom, task->entry, true, now)) {
        stay(task, TOM_RX_BUSY);
    } else if ((reason = no_room(tom, task->entry)) != TOM_REASONS) {
        stay(task, reason);
    } else if (op->flags & (STREAM_LOAD | STREAM_STORE)) {
        choose(task, destination(task, warp, op, mask));
    } else {
        task->guest.warp = take_warp(tom);
        warp_lend(task->guest.warp, warp, WARP_ALL_REGISTERS);
        task->probed = task->probed_threads = 0;
        task->state = TOM_PROBING;
    }
}

/* Ends the execution up to the first access of a block that is not offloaded. If the copy's lanes are still together, the warp
 * continues after the instructions that the copy has executed; otherwise it repeats them. */
static void adopt(struct tom_task *task, enum tom_reason reason)
{
    uint64_t pc;
    uint32_t mask = warp_group(task->guest.warp, &pc);
    stay(task, reason);
    if (mask == task->lanes) {
        warp_take_back(task->member->warp, task->guest.warp, mask, WARP_ALL_REGISTERS, pc);
    } else {
        task->tom->redundant += task->probed;
        task->tom->redundant_threads += task->probed_threads;
    }
    give_warp(task);
}

/* Sending. */

static void offer_all(struct tom_port *port, uint64_t now)
{
    while (port->first) {
        struct tom_task *task = port->first, *next = task->next;
        if (!mem_link_request(&port->link, &task->request, now))
            return;
        port->first = next;
    }
}

static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    (void)link;
    offer_all(client, now);
}

static uint32_t packet_bytes(const struct tom_task *task)
{
    const struct tom_entry *entry = task->entry;
    uint32_t width = simt_grid_memory(task->tom->grid)->setup.width;
    return 2 * ADDRESS_BYTES + MASK_BYTES + entry->in * width * task->tom->config.register_bytes +
           (entry->of.flags & CANDIDATE_FLOATS ? FRM_BYTES * width : 0);
}

/* The packet is packed, and all stores before it are in memory. */
static void send(struct tom_task *task, uint64_t now)
{
    struct tom_port *port = task->front->port;
    bool first = !port->first;
    task->sent = now;
    if (task->tom->config.policy == TOM_IDEAL) {
        task->request.size = 0;
        task->tom->packets++;
        tom_unit_take(task->unit, task, now);
        return;
    }
    task->tom->push_time += now - task->asked - task->tom->config.pack_clocks * task->front->clock.period;
    mem_request_init(&task->request, MEM_COMMAND, task->address, packet_bytes(task));
    task->request.kind = MEM_UNCACHED;
    task->request.requester = task->front->number;
    task->tom->packets++;
    task->tom->packet_bytes += task->request.size;
    task->next = NULL;
    if (first)
        port->first = task;
    else
        port->last->next = task;
    port->last = task;
    if (first)
        offer_all(port, now);
}

static void send_if_ready(struct tom_task *task, uint64_t now)
{
    if (task->packed && task->unpushed == 0)
        send(task, now);
}

static void slice_pushed(struct mem_push *push, uint64_t now)
{
    struct tom_task *task = push->owner;
    task->unpushed--;
    send_if_ready(task, now);
}

/* Pushes the stores of the second level, which has got those of the first-level cache. */
static void push_slices(struct tom_task *task)
{
    for (uint32_t i = 0; i < task->front->slice_count; i++) {
        struct mem_push *push = &task->push[1 + i];
        push->done = slice_pushed;
        push->owner = task;
        task->unpushed += llc_push(task->front->slices[i], push);
    }
}

static void cache_pushed(struct mem_push *push, uint64_t now)
{
    struct tom_task *task = push->owner;
    task->unpushed--;
    push_slices(task);
    send_if_ready(task, now);
}

/* Offloads the block: copies the registers that it reads, unless the copy goes on where it is (TOM_IDEAL), and begins to push
 * earlier stores and to pack. */
static void leave(struct tom_task *task, uint64_t now)
{
    struct tom *tom = task->tom;
    const bool begun = task->guest.warp && tom->config.policy == TOM_IDEAL;
    if (!task->guest.warp)
        task->guest.warp = take_warp(tom);
    if (!begun)
        warp_lend(task->guest.warp, task->member->warp, task->entry->of.in);
    tom->offloaded_of[task->entry->number]++;
    tom->offloaded++;
    task->asked = now;
    task->line_count = 0;
    task->packed = false;
    task->unpushed = 0;
    if (tom->config.push) {
        task->push[0].done = cache_pushed;
        task->push[0].owner = task;
        if (cache_push(task->front->l1, &task->push[0]))
            task->unpushed++;
        else
            push_slices(task);
    }
    event_schedule(tom->queue, &task->event, now + tom->config.pack_clocks * task->front->clock.period);
}

/* Answers. */

static void drop_line(const struct tom_front *front, uint64_t line, uint64_t now)
{
    cache_expire(front->l1, line, now);
    if (front->slice_count == 0)
        return;
    const struct cache_config *l1 = cache_configuration(front->l1);
    if (front->by_line)
        llc_expire(front->slices[line / l1->line % front->slice_count], line, now);
    for (uint32_t i = 0; !front->by_line && i < front->slice_count; i++)
        llc_expire(front->slices[i], line, now);
}

void tom_answered(struct tom_task *task, uint64_t now)
{
    struct tom *tom = task->tom;
    uint32_t lines = tom->config.drop_front ? task->line_count : 0;
    tom->answer_bytes += task->request.size;
    tom->away_time += now - task->asked;
    struct tom_load *load = tom_unit_load(task->unit);
    load->pending--;
    load->places -= task->places;
    warp_take_back(task->member->warp, task->guest.warp, task->lanes, task->entry->of.out,
                   task->entry->of.end);
    give_warp(task);
    for (uint32_t i = 0; i < lines; i++)
        drop_line(task->front, task->lines[i], now);
    tom->dropped += lines;
    if (tom->check)
        tom_check_answered(tom->check, task, now);
    uint64_t cycle = clock_cycle(&task->front->clock, now);
    event_init(&task->event, tom->component, settle, task);
    task->state = TOM_HERE;
    event_schedule(tom->queue, &task->event,
                   clock_time(&task->front->clock, cycle + 1 + lines * (uint64_t)tom->config.drop_clocks));
}

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    (void)client;
    (void)link;
    tom_answered((struct tom_task *)((char *)request - offsetof(struct tom_task, request)), now);
    return true;
}

const struct mem_client_ops tom_port_ops = {respond, request_room};

/* The task's event: continues by the task's state. */
static void settle(void *owner, uint64_t now)
{
    struct tom_task *task = owner;
    switch (task->state) {
    case TOM_DECIDING:
        decide(task, now);
        custom_returned(task->waiter, now);
        break;
    case TOM_SENDING:
        task->state = TOM_AWAY;
        leave(task, now);
        break;
    case TOM_AWAY:
        task->packed = true;
        send_if_ready(task, now);
        break;
    case TOM_HERE: custom_returned(task->waiter, now); break;
    case TOM_STOPPED:
    case TOM_ASKING:
    case TOM_PROBING: assert(false);
    }
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
                                   .rs3 = STREAM_NONE};
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
    const bool instance = holds(task);
    tom_mapper_leave(task);
    stay(task, instance ? TOM_LEARNING : TOM_CONDITION);
    if (instance)
        tom_mapper_enter(task);
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
        if (!task->inside)
            tom_mapper_leave(task);
    }
    const bool observes = tom_mapper_observes(&tom->mapper);
    struct tom_entry *entry =
        tom->config.policy == TOM_NONE && !observes ? NULL : tom_table_find(&tom->table, pc);
    if (!entry || (task && task->inside_of == entry && !(mask & ~task->inside)))
        return plain(tom, op);
    if (!task)
        task = take_task(front, member);
    tom->instances_of[entry->number]++;
    tom->instances++;
    task->entry = entry;
    task->lanes = mask;
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
    if (op && op->pc != task->entry->of.end && !(op->flags & (STREAM_LOAD | STREAM_STORE)))
        return op;
    enum tom_reason reason = TOM_NO_ACCESS;
    if (op && op->pc != task->entry->of.end)
        reason = destination(task, task->guest.warp, op, mask);
    if (reason != TOM_REASONS) {
        adopt(task, reason);
        return next_of(front, task->member);
    }
    if (front->tom->config.policy != TOM_IDEAL) {
        front->tom->redundant += task->probed;
        front->tom->redundant_threads += task->probed_threads;
    }
    choose(task, reason);
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
        if (front->tom->check && report->event == WARP_DONE &&
            (report->op->flags & STREAM_STORE || report->op->iclass == CLASS_AMO))
            tom_check_stored(front->tom->check, front, report, clock_time(&front->clock, cycle));
        if (task && task->observed && report->event == WARP_DONE &&
            report->op->flags & (STREAM_LOAD | STREAM_STORE))
            tom_mapper_access(task, report);
    } else if (task->state == TOM_PROBING) {
        simt_grid_execute(front->tom->grid, front->simt, &task->guest, cycle, waiter, report, false);
        task->probed += report->event == WARP_DONE;
        task->probed_threads += report->event == WARP_DONE ? (unsigned)__builtin_popcount(report->mask) : 0;
    } else if (task->state == TOM_ASKING) {
        task->state = TOM_DECIDING;
        hold(task, cycle, front->tom->config.decide_clocks, waiter, report);
    } else if (task->state == TOM_STOPPED && tom_mapper_stops(&front->tom->mapper)) {
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
