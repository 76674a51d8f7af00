/* The channel busy monitor (TOM 4.1): which part of the time the lanes of a stack's link were busy.
 *
 * It is looked at when a controller decides. The use of a channel is that over the time since it was measured before, if this
 * is at least a window; otherwise the last measured one. */
#ifndef EMU_TOM_MONITOR_H
#define EMU_TOM_MONITOR_H

#include "emu/net/link.h"

struct tom_monitor {
    const struct link *link;
    uint64_t since;             /* fs: time of the last measurement */
    uint64_t busy[2];           /* fs: busy time until then: requests (TX), responses (RX) */
    uint32_t percent[2];        /* use that was measured last */
    uint64_t measured, over[2]; /* measurements; of these, with a use from the threshold on */
};

/* Measures the use up to now if a window has passed. threshold: percent from which it counts as over. */
void tom_monitor_look(struct tom_monitor *monitor, uint64_t now, uint64_t window, uint32_t threshold);

#endif
