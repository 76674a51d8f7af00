/* When the in-order core's event runs it again. */
#include "emu/core/inorder/state.h"

void inorder_go_on(struct inorder *c, uint64_t now)
{
    struct core *core = &c->core;
    if (!c->blocked || event_pending(&core->event))
        return;
    event_schedule(core->parts.queue, &core->event, clock_edge(&core->parts.clock, now));
}

bool inorder_reach(struct inorder *c, uint64_t cycle)
{
    struct event_queue *queue = c->core.parts.queue;
    uint64_t time = clock_time(&c->core.parts.clock, cycle);
    if (time <= queue->now)
        return true;
    event_schedule(queue, &c->core.event, time);
    return false;
}
