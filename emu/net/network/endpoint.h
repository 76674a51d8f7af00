/* The nodes of a network. Packets wait at a node to be sent, and are delivered to the client when their last flit arrives.
 * A packet that the client refuses waits at the node. */
#ifndef EMU_NET_NETWORK_ENDPOINT_H
#define EMU_NET_NETWORK_ENDPOINT_H

#include "emu/net/flits/calendar.h"
#include "emu/net/network.h"
#include "emu/net/workset.h"

/* The end of a node's link. */
struct endpoint {
    uint64_t free;    /* virtual channels without a packet that is being sent */
    uint64_t blocked; /* virtual channels whose packet the client refused */
    uint64_t busy;    /* clock from which the link is free */
    uint32_t port;    /* the router's port */
    uint16_t latency, flit_clocks;
    uint8_t last_class;
    uint8_t refused_count;
    uint8_t retry;                    /* set of the classes whose refused packets are offered again */
    uint8_t last_vc[NETWORK_CLASSES]; /* the channel that the last packet of the class was sent on */
    uint8_t vc[NETWORK_CLASSES];      /* of the packet at the head of the queue, if part of it is sent */
    uint16_t sent[NETWORK_CLASSES];   /* flits of that packet sent */
    uint32_t first[NETWORK_CLASSES], count[NETWORK_CLASSES]; /* queues of packets: endpoints.sends */
    uint8_t refused[NETWORK_VCS];                            /* blocked channels, in the order of refusal */
};

/* Flits that wait at a node behind a refused packet, and that packet. */
struct arrivals {
    uint16_t first, count;
    uint32_t packet;
    bool owes; /* a shared channel: the credit of the refused packet's last flit */
};

/* All nodes of a network. */
struct endpoints {
    struct endpoint *nodes;
    struct arrivals *arrivals; /* [node * vcs + vc] */
    struct flit *held;         /* [(node * vcs + vc) * buffer + i] */
    uint32_t *sends;           /* [(node * classes + class) * send_queue + i]: packets */
    struct workset active;     /* in the next clock */
    struct workset busy;       /* in this clock */
};

/* Makes the nodes of a network, when its routers are made. */
void endpoints_make(struct network *network);
void endpoints_free(struct endpoints *endpoints);

/* Queues a packet at its source. False if the queue is full. */
bool endpoint_send(struct network *network, const struct network_packet *packet);

/* Takes a flit that arrives at a node. */
void endpoint_take_flit(struct network *network, uint32_t number, struct flit flit);

/* Sends a flit of the class whose turn it is. Returns whether the node has more to do without a credit. */
bool endpoint_step(struct network *network, uint32_t number);

#endif
