/* Congestion management of a network's routers: critical paths and link widths (Punniyamurthy and Gerstlauer, "Off-chip
 * congestion management for GPU-based non-uniform processing-in-memory networks", sections III-A and III-D).
 *
 * Time is divided into epochs. A router knows the stalls (stalls.h) of each of its outputs in the epoch before. At the start of an
 * epoch it sends a tracker along the output with the most stalls: the next flit that leaves by it carries the tracker's bit.
 * A router that receives a tracker sends one along its most stalled output that has had none in this epoch, has at least
 * `threshold` percent of the stalls of the router's most stalled output, and does not lead back to where the tracker came
 * from. An output by which a tracker has left is critical. If an arriving tracker has caused the one that leaves, the pair
 * of its input and this output is appended to the router's list of critical pairs. A pair's rank is its place in the list.
 * With `reorder`, the pairs selected in an epoch move to the front of the list at the end of the epoch, in the order of
 * their selection. Outputs and pairs stop being critical after 2^hysteresis epochs in a row in which no tracker has
 * selected them. A tracker is dropped if no flit leaves by its output before the end of the epoch. Of outputs with equal
 * stalls, the lowest one is taken.
 *
 * Link widths change by a rule of the paper at the end of an epoch; W is the full width, FR the flits of the epoch (credits
 * received), BW those that the full width could carry, T the stalls, Tmax those of the router's most stalled output:
 *
 *   critical      W if T > FR or FR > BW / 4; W / 2 if FR > BW / 8; else W / 4
 *   others        twice the width, at most W, if T > width_threshold percent of Tmax; else half of it, at least W / 8
 *
 * Only candidates are tracked and count for Tmax. With `carries`, no link gets narrower than the flits of the epoch need. */
#ifndef EMU_NET_CONGESTION_CONGESTION_H
#define EMU_NET_CONGESTION_CONGESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/net/bits.h"

enum {
    CONGESTION_NONE = 0xffff, /* no rank; no input */
    CONGESTION_NARROWEST = 8, /* 1/8 of a link's width */
};

struct congestion_setup {
    uint32_t routers;
    const uint32_t *first_port,
        *ports;                 /* by router: its first port of the network, and their number, at most 64 */
    const uint64_t *candidates; /* by router: outputs that can be critical */
    uint32_t threshold;         /* percent (the paper's k) */
    uint32_t hysteresis;        /* log2 of a number of epochs */
    bool reorder;               /* at the end of an epoch, pairs selected in it go before the others */
};

/* The counts of an output in one epoch. */
struct congestion_epoch {
    uint64_t stalls, credits;
};

struct congestion_pair {
    uint16_t in, out;    /* ports of the router */
    uint16_t turn;       /* place among those selected in this epoch */
    uint32_t unselected; /* epochs in a row */
    bool selected;       /* in this epoch */
};

/* The state of a router. Bits of its sets are ports. */
struct congestion_router {
    uint64_t pending;  /* outputs whose next flit carries a tracker */
    uint64_t tracked;  /* outputs selected in this epoch */
    uint64_t critical; /* outputs by which a tracker has left */
    uint64_t selected; /* of these, outputs by which one has left in this epoch */
    uint64_t most;     /* stalls of the most stalled candidate */
    uint64_t candidates;
    uint32_t first_port, ports;
    uint32_t pair_count;
    uint32_t selected_pairs;       /* in this epoch */
    struct congestion_pair *pairs; /* in the order of their ranks */
    struct congestion_pair *kept;  /* scratch of the same size: age_pairs() exchanges it with `pairs` */
    uint16_t *ranks;               /* [in * ports + out]; CONGESTION_NONE: not critical */
    uint16_t *causes;              /* of pending outputs: the input of the tracker, or CONGESTION_NONE */
    uint64_t *stalls;              /* of outputs, in the epoch before */
    uint32_t *unselected;          /* of critical outputs: epochs in a row */
};

struct congestion_counters {
    uint64_t epochs, trackers; /* epochs ended; trackers sent */
    uint64_t pairs_added, pairs_removed;
};

struct congestion {
    struct congestion_router *routers;
    uint32_t router_count, threshold, limit;
    bool reorder;
    struct congestion_counters counters;
};

/* Makes the state of routers that have seen no epoch. Never NULL; aborts when out of memory. Free it with
 * congestion_free(), which accepts NULL. */
struct congestion *congestion_new(const struct congestion_setup *setup);
void congestion_free(struct congestion *congestion);

/* Ends an epoch and begins the next one, with a tracker of each router that had stalls. epoch: by port of the network. */
void congestion_end_epoch(struct congestion *congestion, const struct congestion_epoch *epoch);

/* Takes a tracker that has arrived at an input of a router, and selects the output by which the router sends one, if any. */
void congestion_arrived(struct congestion *congestion, uint32_t router, uint32_t in);

/* Sends the pending tracker of an output with the flit that leaves now. */
void congestion_send(struct congestion *congestion, uint32_t router, uint32_t out);

/* Returns whether the next flit by an output carries a tracker. */
static inline bool congestion_pends(const struct congestion *congestion, uint32_t router, uint32_t out)
{
    return congestion->routers[router].pending & BIT(out);
}

/* Returns the rank of a pair of ports of a router; the lower, the more critical. CONGESTION_NONE: not critical. */
static inline uint32_t congestion_rank(const struct congestion_router *router, uint32_t in, uint32_t out)
{
    return router->ranks[in * router->ports + out];
}

/* A link at the end of an epoch. */
struct congestion_link {
    uint64_t flits;     /* that the full width could have carried in the epoch */
    uint64_t most;      /* stalls of the router's most stalled candidate */
    uint32_t parts;     /* its width, as the divisor of the full width */
    uint32_t threshold; /* percent (the paper's w, 0.9) */
    bool critical;
    bool carries; /* it stays wide enough for the flits of the epoch */
};

/* Returns the width that a link gets at the end of an epoch, as the divisor of the full width: 1, 2, 4 or 8. */
uint32_t congestion_width(const struct congestion_link *link, const struct congestion_epoch *epoch);

#endif
