/* The routers of a network: their ports, virtual channels and buffers, and their pipeline: RC (router_input.h), VA (vc_alloc.h),
 * SA (switch_alloc.h) and ST. */
#ifndef EMU_NET_NETWORK_ROUTER_H
#define EMU_NET_NETWORK_ROUTER_H

#include "emu/net/allocator/islip.h"
#include "emu/net/flits/calendar.h"
#include "emu/net/flits/channels.h"
#include "emu/net/workset.h"

enum vc_state {
    VC_IDLE,
    VC_PARTIAL, /* store and forward: waits for the packet's last flit */
    VC_ROUTING, /* in RC, or in the clocks of VA before the last */
    VC_WAITING, /* bids for a virtual channel */
    VC_ACTIVE,  /* has a virtual channel of an output */
};

/* A virtual channel at the input of a router. */
struct input_vc {
    uint32_t ready; /* VC_ROUTING: tick at which it bids for a virtual channel */
    uint32_t since; /* tick at which it began to wait for a virtual channel or a credit */
    uint16_t first, count;
    uint8_t state, out_port, out_vc;
    uint8_t group; /* class of its packet * sets + set of the channels that it may get */
};

/* A virtual channel at the output of a router, or at a node. */
struct output_vc {
    uint16_t credits;
    uint16_t owner; /* the input channel (port * vcs + vc) that has it, or NO_OWNER */
};
enum { NO_OWNER = ISLIP_NOBODY };

/* Both directions of a router's port. Bits are virtual channels. */
struct port {
    uint64_t ready;   /* input: can bid for the switch: active, not empty, with a credit */
    uint64_t routing; /* input: VC_ROUTING */
    uint64_t free;    /* output: without an owner */
    uint64_t busy;    /* output: clock from which the link is free */
    uint32_t router, peer;
    uint16_t latency, flit_clocks;
    uint8_t turn;  /* SA, input: channel with the highest priority */
    bool node;     /* the other end is a node */
    uint8_t piece; /* of the other end (pieces.c) */
};

/* Bits are ports of the router. */
struct router {
    uint64_t ready, routing; /* inputs with such channels */
    uint64_t waiting;        /* outputs that VC_WAITING channels want */
    uint32_t first_port, ports;
    size_t bids; /* place in those of VA (vc_alloc.h) */
};

/* All routers of a network. */
struct routers {
    struct port *ports;
    struct router *all;
    struct input_vc *inputs;   /* [port * vcs + vc] */
    struct output_vc *outputs; /* [port * vcs + vc]; then those of nodes */
    struct flit *buffers;      /* [(port * vcs + vc) * buffer + i] */
    uint32_t head_ticks;       /* from a head's arrival to its first bid */
    /* congestion management or priority buffers: router.c calls manage() for each flit that leaves */
    bool managed;
    struct workset active; /* in the next clock */
    struct workset busy;   /* in this clock */
    uint64_t *urgent; /* with priority buffers, by port: channels with a non-divergent packet at their head */
    uint32_t *begun;  /* with path_priority, by input channel: tick at which its packet came to the head */
    struct network_waits waits;
};

/* Returns the clocks that a flit takes on a link of a width; both in bytes. */
static inline uint32_t link_flit_clocks(uint32_t flit, uint32_t width)
{
    return (flit + width - 1) / width;
}

/* Compares ticks, which may wrap around. */
static inline bool tick_later(uint32_t tick, uint32_t than)
{
    return (int32_t)(tick - than) > 0;
}

/* Returns those of a sender's channels that are empty: all their credits are back. Only then may a packet get a shared
 * channel. outputs: the sender's. */
static inline uint64_t output_empty(const struct channels *channels, const struct output_vc *outputs,
                                    uint64_t mask)
{
    uint64_t empty = 0;
    while (mask) {
        uint32_t vc = take_bit(&mask);
        empty |= outputs[vc].credits == channels->depth[vc] ? BIT(vc) : 0;
    }
    return empty;
}

/* Returns those of a sender's channels that have the most credits. outputs: the sender's. */
static inline uint64_t output_most_credits(const struct output_vc *outputs, uint64_t channels)
{
    uint64_t best = 0;
    uint32_t most = 0;
    while (channels) {
        uint32_t vc = take_bit(&channels);
        if (best && outputs[vc].credits < most)
            continue;
        best = (outputs[vc].credits > most ? 0 : best) | BIT(vc);
        most = outputs[vc].credits;
    }
    return best;
}

/* Makes the routers of a network, whose channels are made. */
void routers_make(struct network *network);
void routers_free(struct routers *routers);

/* Runs one tick of a router's pipeline. The switch serves channels that were active before this tick. tick: the clock of
 * the links times speedup, plus the number of the tick within that clock. */
void router_step(struct network *network, struct router *router, uint64_t tick);

#endif
