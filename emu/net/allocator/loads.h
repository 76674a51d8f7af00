/* Counted loads for arbitration: what a router can know of the oracle's weight (oracle.h). For each pair of an input and an output
 * it counts the flits that pass, and halves the count after each LOADS_WINDOW clocks: ten bits and an adder. The oracle knows how
 * many flits of a pair are still to pass. By Little's law they are the pair's rate times the time that they still take, and the
 * count is in proportion to the rate.
 *
 * A packet's weight is the clocks since it was made, which its head carries and routers add to, and LOADS_WEIGHT for each counted
 * flit of its pair. Heavier packets go first, of equal ones that of the lower source. */
#ifndef EMU_NET_ALLOCATOR_LOADS_H
#define EMU_NET_ALLOCATOR_LOADS_H

#include "emu/net/topology/topology.h"

enum {
    LOADS_WINDOW = 256, /* clocks */
    LOADS_WEIGHT = 16,  /* clocks of age that a counted flit is worth */
    /* clocks: the most that a head's counter of 14 bits shows; more than a pair weighs by its count, so that none starves */
    LOADS_OLDEST = 16383,
};

struct loads;

/* Makes the counters of a network in which nothing has passed. Never NULL; aborts when out of memory. The topology must outlive
 * it. Free it with loads_free(), which accepts NULL. */
struct loads *loads_new(const struct topology *topology);
void loads_free(struct loads *loads);

/* Counts a flit that passes a router from one port of the network to another in a clock. Clocks never fall. */
void loads_passed(struct loads *loads, uint32_t in_port, uint32_t out_port, uint64_t clock);

/* Returns the count of a pair in a clock. */
uint32_t loads_of(const struct loads *loads, uint32_t in_port, uint32_t out_port, uint64_t clock);

#endif
