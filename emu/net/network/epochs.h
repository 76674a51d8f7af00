/* Epochs of a network: at their end, stalls and credits of outputs go to congestion management (congestion.h), and links between
 * modules change their widths. */
#ifndef EMU_NET_NETWORK_EPOCHS_H
#define EMU_NET_NETWORK_EPOCHS_H

#include "emu/net/congestion/congestion.h"
#include "emu/net/congestion/stalls.h"
#include "emu/net/network.h"

/* The width of the link that begins at a port. */
struct link_width {
    uint8_t parts;     /* divisor of the full width: 1, 2, 4, 8 */
    uint8_t next;      /* parts from clock `at` on */
    uint64_t at;       /* UINT64_MAX: no change waits */
    uint64_t ready;    /* clock from which an epoch's end may change it again */
    uint64_t since;    /* clock of the last change */
    uint64_t idle;     /* bits that it could have carried before `since`, but did not */
    uint64_t occupied; /* clocks before `since` in which it was busy, but not stopped */
};

struct epochs {
    uint64_t due;                    /* the earliest of `end`, `change` and `settle` */
    struct stalls *stalls;           /* with critical paths, by port */
    struct congestion *congestion;   /* NULL: none */
    struct congestion_epoch *before; /* by port: stalls and credits before this epoch */
    struct congestion_epoch *ended;  /* by port: of the epoch that ends */
    struct link_width *widths;       /* by port */
    uint64_t clocks, end;            /* of an epoch; the next epoch's first clock, UINT64_MAX: no epochs */
    uint64_t hops;                   /* totals.hops before this epoch */
    uint64_t change;                 /* first clock of a late change of a width; UINT64_MAX: none */
    /* clock at which all stalls are counted, so that no count is older than 32-bit ticks allow */
    uint64_t settle;
    uint32_t width_clocks;
};

/* Makes the state that critical paths and link widths need, when the routers are made. */
void epochs_make(struct network *network);
void epochs_free(struct epochs *epochs);

/* Does what is due next: the end of an epoch, late changes of widths, or the count of stalls that last long. */
void epochs_pass(struct network *network);

/* Sets the width of the link that begins at a port to 1/parts of the full width, from `clock` on. The link sends nothing
 * for `pause` clocks, and uses the energy of an idle link meanwhile. */
void epochs_change_width(struct network *network, uint32_t number, uint32_t parts, uint32_t pause,
                         uint64_t clock);

/* Returns the bits that a link could have carried before `clock`, in addition to those that it did carry. */
uint64_t epochs_idle_bits(const struct network *network, uint32_t port, uint64_t clock);

#endif
