/* The channel busy monitor (TOM 4.1): the part of the time for which the lanes of a stack's link were busy.
 *
 * Controllers look at it for their decisions. If at least a window has passed since the last measurement, it measures the use
 * of the channels over that time; otherwise the last measurement holds. Left out: the way of the measurement to the controllers. */
#ifndef EMU_TOM_MONITOR_H
#define EMU_TOM_MONITOR_H

#include "emu/net/link.h"

struct tom_monitor {
    const struct link *link;
    uint64_t since;             /* fs: time of the last measurement */
    uint64_t busy[2];           /* fs: busy time until then: requests (TX), responses (RX) */
    uint32_t percent[2];        /* use that was measured last */
    uint64_t measured, over[2]; /* measurements; of these, with a use of at least the threshold */
};

/* Measures the use up to `now` if a window has passed (fs). threshold: percent from which a measurement counts in `over`. */
void tom_monitor_look(struct tom_monitor *monitor, uint64_t now, uint64_t window, uint32_t threshold);

#endif
