/* The offload unit of a stack: takes packets from its link, spawns warps on the multiprocessor, and answers. */
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/hart/custom.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"
#include "emu/sim/report/track.h"
#include "emu/sim/text/say.h"
#include "emu/simt/shared_banks.h"
#include "emu/simt/warp_lend.h"
#include "emu/tom/check.h"
#include "emu/tom/held.h"
#include "emu/tom/site.h"
#include "emu/tom/task.h"

enum { LINE_SPREE = 4, LINE_FIRST = 64, FFLAGS = 1 };

/* Other requests. */

static bool pass(struct tom_unit *unit, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    if (!unit->lower.waiting && mem_link_request(&unit->lower, request, now))
        return true;
    mem_waiters_add(&unit->waiters, link);
    return false;
}

static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    struct tom_unit *unit = client;
    while (!link->waiting && mem_waiters_wake(&unit->waiters, now))
        continue;
}

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct tom_unit *unit = client;
    (void)link;
    if (mem_request_respond(request, now))
        return true;
    unit->refused = true;
    return false;
}

static const struct mem_client_ops client_ops = {respond, request_room};

static bool warm(void *port, struct mem_link *link, uint64_t address, bool exclusive)
{
    (void)link;
    return mem_link_warm(&((struct tom_unit *)port)->lower, address, exclusive);
}

static void maintain(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size)
{
    (void)link;
    mem_link_maintain(&((struct tom_unit *)port)->lower, op, address, size);
}

/* Tasks. */

static struct tom_task *task_of(struct mem_request *request)
{
    return CONTAINER_OF(request, struct tom_task, request);
}

static struct tom_slot *free_slot(struct tom_unit *unit)
{
    for (uint32_t i = 0; i < unit->slot_count; i++) {
        if (!unit->slots[i])
            unit->slots[i] = alloc(1, sizeof *unit->slots[i]);
        if (!unit->slots[i]->task)
            return unit->slots[i];
    }
    return NULL;
}

static struct simt_need need_of(const struct tom_unit *unit, const struct tom_entry *entry)
{
    return (struct simt_need){.warps = 1, .threads = unit->config_simt->width, .registers = entry->registers};
}

/* Begins waiting tasks while the multiprocessor has room for the first of them. */
static void spawn(struct tom_unit *unit, uint64_t now)
{
    while (unit->first) {
        struct tom_task *task = unit->first;
        const struct simt_need need = need_of(unit, task->entry);
        struct tom_slot *slot = simt_fits(unit->simt, &need) ? free_slot(unit) : NULL;
        if (!slot)
            return;
        unit->first = task->next;
        unit->waiting--;
        if (unit->config_tom->drop_near)
            cache_expire_all(unit->l1);
        slot->task = task;
        slot->unit = unit;
        slot->block.need = need;
        slot->block.owner = slot;
        slot->block.warps[0] = &task->guest;
        task->begun = now;
        unit->tasks++;
        unit->running++;
        unit->running_peak = unit->running > unit->running_peak ? unit->running : unit->running_peak;
        if (unit->check)
            tom_check_spawned(unit->check, task, now);
        simt_place(unit->simt, &slot->block, now);
        mem_waiters_wake(&unit->waiters, now);
    }
}

static void enqueue(struct tom_unit *unit, struct tom_task *task, uint64_t now)
{
    task->arrived = now;
    LIST_APPEND(unit->first, unit->last, task, next);
    unit->waiting++;
    unit->waiting_peak = unit->waiting > unit->waiting_peak ? unit->waiting : unit->waiting_peak;
    unit->packet_bytes += task->request.size;
    spawn(unit, now);
}

void tom_unit_take(struct tom_unit *unit, struct tom_task *task,
                   void (*answered)(struct tom_task *task, uint64_t now), uint64_t now)
{
    task->answered = answered;
    enqueue(unit, task, now);
}

/* The data of an access to a scratchpad have arrived: the warp executes it. */
static void reached(struct tom_unit *unit, struct tom_task *task, uint64_t now)
{
    unit->packet_bytes += task->request.size;
    unit->reaching--;
    task->reach = TOM_REACHED;
    custom_returned(task->reach_waiter, now);
}

static bool request_offered(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct tom_unit *unit = port;
    if (request->op != MEM_COMMAND)
        return pass(unit, link, request, now);
    if (task_of(request)->reach == TOM_REACHING) {
        reached(unit, task_of(request), now);
        return true;
    }
    /* The data of an access to a scratchpad may come behind this packet, which therefore must not stay on the link. */
    if (unit->waiting >= unit->config.queue && unit->reaching == 0) {
        mem_waiters_add(&unit->waiters, link);
        return false;
    }
    enqueue(unit, task_of(request), now);
    return true;
}

/* Answers. */

static bool answer(struct tom_unit *unit, struct tom_task *task, uint64_t now)
{
    const uint64_t bytes = task->request.size;
    if (!mem_request_respond(&task->request, now))
        return false;
    unit->answer_bytes += bytes;
    return true;
}

/* Answers the task's packet, which has the size of the answer, behind the answers that wait. */
static void send_answer(struct tom_unit *unit, struct tom_task *task, uint64_t now)
{
    struct tom_task **at = &unit->unanswered;
    if (!unit->unanswered && answer(unit, task, now))
        return;
    while (*at)
        at = &(*at)->next;
    task->next = NULL;
    *at = task;
}

static void answer_refused(struct tom_unit *unit, uint64_t now)
{
    while (unit->unanswered) {
        struct tom_task *task = unit->unanswered, *next = task->next;
        if (!answer(unit, task, now))
            return;
        unit->unanswered = next;
    }
}

static void response_room(void *port, struct mem_link *link, uint64_t now)
{
    struct tom_unit *unit = port;
    (void)link;
    answer_refused(unit, now);
    if (!unit->refused || unit->unanswered)
        return;
    unit->refused = false;
    mem_link_response_room(&unit->lower, now);
}

const struct mem_port_ops tom_unit_ops = {request_offered, response_room, warm, maintain, NULL};

static int by_address(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

static void sort_lines(struct tom_task *task)
{
    uint32_t count = 0;
    if (task->line_count)
        qsort(task->lines, task->line_count, sizeof *task->lines, by_address);
    for (uint32_t i = 0; i < task->line_count; i++)
        if (count == 0 || task->lines[count - 1] != task->lines[i])
            task->lines[count++] = task->lines[i];
    task->line_count = count;
}

/* Answers the packet when all of the block's stores are in memory, or need not be (`push`). */
static void complete(struct tom_task *task, uint64_t now)
{
    struct tom_unit *unit = task->unit;
    const struct tom_entry *entry = task->entry;
    const uint32_t width = unit->config_simt->width;
    if (unit->config_tom->policy == TOM_IDEAL) {
        task->answered(task, now);
        return;
    }
    sort_lines(task);
    unit->lines += task->line_count;
    const uint32_t registers = unit->config_tom->send_held
                                   ? tom_held_bytes(task->guest.warp, entry->of.out, task->lanes)
                                   : entry->out * width * unit->config_tom->register_bytes;
    task->request.size = TOM_STATUS_BYTES + registers +
                         (entry->of.flags & CANDIDATE_FLOATS ? FFLAGS * width : 0) +
                         TOM_ADDRESS_BYTES * task->line_count;
    send_answer(unit, task, now);
}

static void pushed(struct mem_push *push, uint64_t now)
{
    complete(push->owner, now);
}

static void show(const struct tom_unit *unit, const struct tom_task *task, uint64_t now)
{
    char name[32];
    if (!unit->track.sink)
        return;
    (void)snprintf(name, sizeof name, "0x%" PRIx64, task->entry->of.begin);
    const struct track_step steps[] = {{"waits", task->sent, task->begun}, {"executes", task->begun, now}};
    (void)track_write(unit->track, &(struct track_record){.kind = TRACK_SPAN,
                                                          .name = name,
                                                          .category = "offload",
                                                          .from = task->sent,
                                                          .to = now,
                                                          .steps = steps,
                                                          .step_count = 2});
}

/* Pushes the stores of a block that has ended, then answers; spawns the next one. */
static void finish(void *owner, uint64_t now)
{
    struct tom_task *task = owner;
    struct tom_unit *unit = task->unit;
    task->ended = now;
    show(unit, task, now);
    task->push[0].done = pushed;
    task->push[0].owner = task;
    if (!unit->config_tom->push || !cache_push(unit->l1, &task->push[0]))
        complete(task, now);
    spawn(unit, now);
}

/* Accesses of blocks to scratchpads, which stay in front. */

static void send_reach(void *owner, uint64_t now)
{
    struct tom_task *task = owner;
    struct tom_unit *unit = task->unit;
    send_answer(unit, task, now);
    mem_waiters_wake(&unit->waiters, now);
}

/* If the task's warp executes an access to its scratchpad next, sends the addresses, and a store's data, to the multiprocessor in
 * front: as an answer to the task's packet, to which another packet answers. Returns whether the warp waits for that before it
 * executes the access. */
static bool reaches(struct tom_unit *unit, struct tom_task *task, uint64_t cycle,
                    struct custom_waiter *waiter)
{
    uint64_t addresses[WARP_LANES];
    uint32_t mask, shared = 0;
    const struct stream_op *op = warp_next(task->guest.warp, &mask);
    if (!op || !(op->flags & (STREAM_LOAD | STREAM_STORE)) || unit->config_tom->policy == TOM_IDEAL)
        return false;
    if (task->reach == TOM_REACHED) {
        task->reach = TOM_NEAR;
        return false;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t base = op->rs1 < STREAM_NONE ? warp_register(task->guest.warp, op->rs1, lane) : 0;
        addresses[lane] = base + (uint64_t)(int64_t)op->imm - WARP_SHARED_WINDOW;
        shared |= (uint32_t)(base + (uint64_t)(int64_t)op->imm >= WARP_SHARED_WINDOW) << lane;
    }
    if (!shared)
        return false;
    const uint32_t lanes = (uint32_t)__builtin_popcount(shared), data = lanes * op->size;
    task->reach = TOM_REACHING;
    task->reach_waiter = waiter;
    task->reach_passes = shared_banks_passes(addresses, shared, op->size, task->front->banks, false);
    task->reach_bytes = TOM_STATUS_BYTES + (op->flags & STREAM_LOAD ? data : 0);
    task->request.size = TOM_STATUS_BYTES + lanes * TOM_ADDRESS_BYTES + (op->flags & STREAM_STORE ? data : 0);
    unit->reaching++;
    event_init(&task->reach_event, unit->component, send_reach, task);
    event_schedule(unit->queue, &task->reach_event, clock_time(&unit->clock, cycle + 1));
    return true;
}

/* The source of the multiprocessor. */

static struct tom_task *guest_of(void *name)
{
    return CONTAINER_OF(name, struct tom_task, guest);
}

static const struct stream_op *next_of(void *context, void *name)
{
    struct tom_task *task = guest_of(name);
    uint32_t mask;
    (void)context;
    while (warp_arrive(task->guest.warp, task->entry->of.end))
        continue;
    return warp_next(task->guest.warp, &mask);
}

/* Drops repeated lines. If that does not free more than half of the room, doubles it. */
static void make_room(struct tom_task *task)
{
    sort_lines(task);
    if (2 * task->line_count < task->line_room)
        return;
    task->line_room = task->line_room ? 2 * task->line_room : LINE_FIRST;
    task->lines = alloc_resize(task->lines, task->line_room * sizeof *task->lines);
}

static void note_line(struct tom_task *task, uint64_t line)
{
    for (uint32_t i = 1; i <= LINE_SPREE && i <= task->line_count; i++)
        if (task->lines[task->line_count - i] == line)
            return;
    if (task->line_count == task->line_room)
        make_room(task);
    task->lines[task->line_count++] = line;
}

/* Notes the lines of a store. */
static void note_store(struct tom_task *task, const struct warp_report *report, uint64_t line_bytes)
{
    for (uint32_t left = report->mask & ~report->shared_mask; left; left &= left - 1) {
        uint64_t first = report->physical[__builtin_ctz(left)];
        note_line(task, first & ~(line_bytes - 1));
        if ((first ^ (first + report->op->size - 1)) & line_bytes)
            note_line(task, (first + report->op->size - 1) & ~(line_bytes - 1));
    }
}

static void step_of(void *context, void *name, uint64_t cycle, struct custom_waiter *waiter,
                    struct warp_report *report, bool *ended)
{
    struct tom_unit *unit = context;
    struct tom_task *task = guest_of(name);
    if (reaches(unit, task, cycle, waiter)) {
        report->event = WARP_LATER;
        return;
    }
    report->mask = 0; /* stays 0 if the run ends for another reason than a trap */
    simt_grid_execute(unit->grid, unit->simt, &task->guest, cycle, waiter, report, true);
    if (report->event == WARP_TRAP && report->mask)
        fprintf(say_stream(),
                "croft: %s was executing this block, 0x%" PRIx64 " to 0x%" PRIx64
                ", for %s (entry %u of " CANDIDATE_SECTION ")\n",
                unit->simt_name, task->entry->of.begin, task->entry->of.end, simt_name(task->front->simt),
                task->entry->number);
    if (report->event == WARP_IDLE)
        *ended = warp_live(task->guest.warp) == 0;
    if (report->event != WARP_DONE)
        return;
    task->entry->instructions++;
    task->entry->accesses += (report->op->flags & (STREAM_LOAD | STREAM_STORE)) != 0;
    if (report->op->flags & STREAM_STORE)
        note_store(task, report, unit->line);
    if (report->op->flags & (STREAM_LOAD | STREAM_STORE))
        unit->scratchpad_accesses += report->shared_mask != 0;
    if (unit->check && report->op->flags & STREAM_LOAD)
        tom_check_loaded(unit->check, task, report, clock_time(&unit->clock, cycle));
}

/* The block, which is one warp, has ended. */
static void ended_of(void *context, struct simt *simt, struct simt_block *block, uint64_t now)
{
    struct tom_unit *unit = context;
    struct tom_slot *slot = block->owner;
    struct tom_task *task = slot->task;
    (void)simt;
    slot->task = NULL;
    unit->running--;
    unit->executed_time += now - task->begun;
    event_init(&task->end, unit->component, finish, task);
    event_schedule(unit->queue, &task->end, now > unit->queue->now ? now : unit->queue->now);
}

static void missing_of(void *context, void *name)
{
    const struct tom_unit *unit = context;
    simt_grid_missing(unit->grid, name);
}

static const struct warp_place *where_of(void *context, void *name)
{
    (void)context;
    return warp_where(((const struct simt_member *)name)->warp);
}

/* Blocks with breakpoints are not offloaded. */
static bool breaks_of(void *context, void *name)
{
    (void)context;
    (void)name;
    return false;
}

/* The kind. */

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    const struct tom_unit_site *place = site->place;
    if (!place->cluster || simt_cluster_count(place->cluster) != 1) {
        (void)error_set(err,
                        "one multiprocessor must stand beside it (simt: {count: 1, launches: false}), not %u",
                        place->cluster ? simt_cluster_count(place->cluster) : 0);
        return NULL;
    }
    const struct simt_config *simt = simt_cluster_config(place->cluster);
    if (simt->launches || simt->stack_write_back) {
        (void)error_set(err, "the multiprocessor beside it needs %s: false",
                        simt->launches ? "simt.launches" : "simt.stack_write_back");
        return NULL;
    }
    struct tom_unit *unit = alloc(1, sizeof *unit);
    const struct simt_beside beside = simt_cluster_beside(place->cluster, 0);
    unit->config = *(const struct tom_unit_config *)config;
    unit->queue = site->queue;
    unit->component = part_component(site);
    unit->grid = place->grid;
    unit->simt = beside.simt;
    unit->l1 = beside.l1;
    unit->clock = beside.clock;
    unit->line = cache_configuration(beside.l1)->line;
    unit->config_simt = simt;
    unit->slot_count = simt->warps < simt->blocks ? simt->warps : simt->blocks;
    unit->slots = alloc(unit->slot_count, sizeof *unit->slots);
    (void)snprintf(unit->simt_name, sizeof unit->simt_name, "%s", simt_name(beside.simt));
    const struct simt_source source = {.next = next_of,
                                       .step = step_of,
                                       .ended = ended_of,
                                       .missing = missing_of,
                                       .where = where_of,
                                       .breaks = breaks_of,
                                       .context = unit};
    simt_set_source(unit->simt, &source);
    return unit;
}

static void free_part(void *part)
{
    struct tom_unit *unit = part;
    for (uint32_t i = 0; i < unit->slot_count; i++)
        free(unit->slots[i]);
    free(unit->slots);
    free(unit);
}

static struct part_end serve(void *part, unsigned port, unsigned slot)
{
    (void)port;
    (void)slot;
    return (struct part_end){&tom_unit_ops, part};
}

static void connect_part(void *part, unsigned port, unsigned slot, const struct part_end *server)
{
    struct tom_unit *unit = part;
    (void)port;
    (void)slot;
    unit->lower = (struct mem_link){
        .port_ops = server->ops, .port = server->object, .client_ops = &client_ops, .client = unit};
}

uint32_t tom_unit_warps(const struct tom_unit *unit)
{
    return unit->slot_count;
}

bool tom_unit_could(const struct tom_unit *unit, const struct tom_entry *entry)
{
    const struct simt_need need = need_of(unit, entry);
    return simt_could(unit->config_simt, &need);
}

uint32_t tom_unit_holds(const struct tom_unit *unit, const struct tom_entry *entry)
{
    const struct simt_need need = need_of(unit, entry);
    const char *limit;
    return simt_occupancy(unit->config_simt, &need, &limit);
}

const struct simt_counters *tom_unit_counted(const struct tom_unit *unit)
{
    return simt_counted(unit->simt);
}

void tom_unit_join(struct tom_unit *unit, const struct tom_config *config)
{
    unit->config_tom = config;
}

struct cache *tom_unit_l1(const struct tom_unit *unit)
{
    return unit->l1;
}

struct tom_load *tom_unit_load(struct tom_unit *unit)
{
    return &unit->load;
}

static void publish(void *part, struct stats *stats, struct scope scope)
{
    const struct tom_unit *unit = part;
    const struct stats_row rows[] = {
#define TOM_UNIT_COUNTER(name, unit_of, meaning) {#name, &unit->name, unit_of, meaning},
        TOM_UNIT_COUNTERS(TOM_UNIT_COUNTER)
#undef TOM_UNIT_COUNTER
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
}

static void untrack(void *context, uint64_t now)
{
    (void)now;
    ((struct tom_unit *)context)->track.sink = NULL;
}

static void observe(void *part, struct track_sink *sink, const char *name)
{
    struct tom_unit *unit = part;
    if (!track_takes(sink, TRACK_TIMELINE))
        return;
    unit->track = track_group(sink, name);
    unit->untrack = (struct track_end){.end = untrack, .context = unit};
    observer_add_first(&sink->ends, &unit->untrack.link);
}

#define PART struct tom_unit_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/tom/unit/unit.def"
};

static const struct part_port ports[] = {
    {.name = "in",
     .type = "memory",
     .direction = PART_SERVES,
     .explanation = "Receives packets of offloads, and the requests that pass it, from the stack's link."},
    {.name = "memory",
     .type = "memory",
     .direction = PART_ASKS,
     .partners = "crossbar dram",
     .explanation = "Where all other requests go on to: the stack's crossbar."},
    {.name = NULL},
};

static const struct assembly_hooks hooks = {.plan = tom_unit_plan, .place = tom_unit_place};

const struct part_kind tom_unit_kind = {
    .name = "tom_unit",
    .explanation = "The offload unit of a stack, between its link and its crossbar, as in the TOM paper.",
    PART_CONFIG(struct tom_unit_config),
    .functional = "",
    .ports = ports,
    .hooks = &hooks,
    .make = make,
    .free = free_part,
    .serve = serve,
    .connect = connect_part,
    .publish = publish,
    .observe = observe,
};
