/* The packets of offloads: what is pushed before them, their way through the crossbar, and their answers. */
#include <stddef.h>

#include "emu/mem/llc.h"
#include "emu/sim/list.h"
#include "emu/simt/warp_lend.h"
#include "emu/tom/check.h"
#include "emu/tom/held.h"

enum { MASK_BYTES = 4, ADDRESS_BYTES = 8, FRM_BYTES = 1, COORDINATE_BYTES = 4 };

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
    const struct tom_config *config = &task->tom->config;
    const uint32_t coordinates = (uint32_t)__builtin_popcount(entry->of.coordinates);
    const uint32_t registers = config->send_held
                                   ? tom_held_bytes(task->guest.warp, entry->of.in, task->lanes) +
                                         coordinates * width * COORDINATE_BYTES
                                   : entry->in * width * config->register_bytes;
    return 2 * ADDRESS_BYTES + MASK_BYTES + registers +
           (entry->of.flags & CANDIDATE_FLOATS ? FRM_BYTES * width : 0);
}

/* Offers a packet of so many bytes to the crossbar, behind those that wait. */
static void offer(struct tom_task *task, uint32_t bytes, uint64_t now)
{
    struct tom_port *port = task->front->port;
    const bool first = !port->first;
    mem_request_init(&task->request, MEM_COMMAND, task->address, bytes);
    task->request.kind = MEM_UNCACHED;
    task->request.requester = task->front->number;
    task->tom->packets++;
    task->tom->packet_bytes += bytes;
    LIST_APPEND(port->first, port->last, task, next);
    if (first)
        offer_all(port, now);
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

/* The answer to the task's packet has arrived. */
static void answered(struct tom_task *task, uint64_t now)
{
    struct tom *tom = task->tom;
    uint32_t lines = tom->config.drop_front ? task->line_count : 0;
    tom->answer_bytes += task->request.size;
    tom->away_time += now - task->asked;
    struct tom_load *load = tom_unit_load(task->unit);
    load->pending--;
    load->places -= task->places;
    load->room -= task->room;
    load->work -= task->work;
    tom_returned(task, now);
    warp_take_back(task->member->warp, task->guest.warp, task->lanes, task->entry->of.out,
                   task->entry->of.end);
    tom_give_warp(task);
    for (uint32_t i = 0; i < lines; i++)
        drop_line(task->front, task->lines[i], now);
    tom->dropped_lines += lines;
    if (tom->check)
        tom_check_answered(tom->check, task, now);
    uint64_t cycle = clock_cycle(&task->front->clock, now);
    task->state = TOM_HERE;
    event_schedule(tom->queue, &task->event,
                   clock_time(&task->front->clock, cycle + 1 + lines * (uint64_t)tom->config.drop_clocks));
}

/* Packets. */

/* The packet is packed, and all stores before it are in memory. */
static void send(struct tom_task *task, uint64_t now)
{
    task->sent = now;
    if (task->tom->config.policy == TOM_IDEAL) {
        task->request.size = 0;
        task->tom->packets++;
        tom_unit_take(task->unit, task, answered, now);
        return;
    }
    task->tom->push_time += now - task->asked - task->tom->config.pack_clocks * task->front->clock.period;
    offer(task, packet_bytes(task), now);
}

void tom_send_if_ready(struct tom_task *task, uint64_t now)
{
    if (task->packed && task->unpushed == 0)
        send(task, now);
}

static void slice_pushed(struct mem_push *push, uint64_t now)
{
    struct tom_task *task = push->owner;
    task->unpushed--;
    tom_send_if_ready(task, now);
}

/* Pushes the multiprocessor's stores of the second level, which has got those of the first-level cache. */
static void push_slices(struct tom_task *task)
{
    for (uint32_t i = 0; i < task->front->slice_count; i++) {
        struct mem_push *push = &task->push[1 + i];
        push->done = slice_pushed;
        push->owner = task;
        task->unpushed += task->tom->config.push_all
                              ? llc_push(task->front->slices[i], push)
                              : llc_push_of(task->front->slices[i], task->front->number, push);
    }
}

static void cache_pushed(struct mem_push *push, uint64_t now)
{
    struct tom_task *task = push->owner;
    task->unpushed--;
    push_slices(task);
    tom_send_if_ready(task, now);
}

/* Pushes the multiprocessor's stores of the first-level cache, which has got those of its memory pipeline. */
static void push_cache(struct tom_task *task)
{
    task->push[0].done = cache_pushed;
    if (cache_push(task->front->l1, &task->push[0]))
        task->unpushed++;
    else
        push_slices(task);
}

static void pipeline_pushed(struct mem_push *push, uint64_t now)
{
    struct tom_task *task = push->owner;
    task->unpushed--;
    push_cache(task);
    tom_send_if_ready(task, now);
}

void tom_leave(struct tom_task *task, uint64_t now)
{
    struct tom *tom = task->tom;
    const bool begun = task->guest.warp && tom->config.policy == TOM_IDEAL;
    if (!task->guest.warp)
        task->guest.warp = tom_take_warp(tom);
    if (!begun)
        warp_lend(task->guest.warp, task->member->warp, task->entry->of.in);
    tom->offloaded_of[task->entry->number]++;
    tom->offloaded++;
    task->asked = now;
    task->line_count = 0;
    task->packed = false;
    task->unpushed = 0;
    if (tom->config.push) {
        task->push[0].done = pipeline_pushed;
        task->push[0].owner = task;
        if (simt_push(task->front->simt, &task->push[0]))
            task->unpushed++;
        else
            push_cache(task);
    }
    event_schedule(tom->queue, &task->event, now + tom->config.pack_clocks * task->front->clock.period);
}

static void reached(void *owner, uint64_t now)
{
    struct tom_task *task = owner;
    offer(task, task->reach_bytes, now);
}

/* Lets an access of a block in a stack take its passes of the scratchpad in front; then its data go to the stack. */
static void reach(struct tom_task *task, uint64_t now)
{
    const struct clock *clock = &task->front->clock;
    task->tom->answer_bytes += task->request.size;
    event_init(&task->reach_event, task->tom->component, reached, task);
    event_schedule(task->tom->queue, &task->reach_event,
                   clock_time(clock, clock_cycle(clock, now) + 1 + task->reach_passes));
}

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct tom_task *task = CONTAINER_OF(request, struct tom_task, request);
    (void)client;
    (void)link;
    if (task->reach == TOM_REACHING)
        reach(task, now);
    else
        answered(task, now);
    return true;
}

const struct mem_client_ops tom_port_ops = {respond, request_room};
