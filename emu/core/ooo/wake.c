/* When the out-of-order core's event runs it again. */
#include "emu/core/ooo/state.h"

void ooo_callback(struct ooo *o, uint64_t now)
{
    o->floor = clock_cycle(&o->core.parts.clock, now);
}

void ooo_go_on(struct ooo *o)
{
    if (!o->blocked && o->phase != OOO_AHEAD)
        return;
    o->blocked = false;
    event_schedule(o->core.parts.queue, &o->core.event, o->floor * o->period);
}
