/* The flits of a fabric by what their packets are for: reads, stores without their words, write-backs, others (emu/mem/mail.h). Only for
 * the files of the folder. */
#ifndef EMU_NET_FABRIC_PURPOSES_H
#define EMU_NET_FABRIC_PURPOSES_H

#include "emu/mem/mail.h"
#include "emu/net/network.h"

struct purposes {
    bool counted;
    uint64_t hops[MAIL_PURPOSES]; /* flits that crossed a router, summed over routers */
    struct network_observer observer;
};

/* Begins to count, unless it has begun. The struct must outlive the network. */
void purposes_count(struct purposes *purposes, struct network *network);

/* Registers the counters if it has begun. */
void purposes_publish(const struct purposes *purposes, struct stats *stats, struct scope scope);

#endif
