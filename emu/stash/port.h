/* The level below a stash in machines without the DeNovo protocol (emu/mem): requests to the port below the first-level cache.
 * It has the interface of below.h, so a unit of that protocol takes its place.
 *
 *   read         a read of the words that are needed and of those that an answer may bring, from the first to the last
 *   enroll       a read of one word: a message to the shared level, and one back. It stands for Reg and RegAck
 *   remap        likewise
 *   write_back   a write of the words
 *
 * Nobody takes words away from the stash: there is no registry, so other multiprocessors and hosts read what memory has. Bytes
 * of coherent maps are in memory at once (space.c), so the function is right all the same. Left out: the time of forwards; a
 * read by others of words that have not been written back takes the time of memory. */
#ifndef EMU_STASH_PORT_H
#define EMU_STASH_PORT_H

#include "emu/mem/request.h"
#include "emu/stash/hardware.h"

struct stash_port;

struct stash_port_parts {
    struct event_queue *queue;
    uint32_t component;
    uint16_t requester;
    /* The multiprocessor's, whose port is known when the first request is sent. */
    const struct mem_link *link;
    struct stash *stash;
    uint32_t line; /* bytes */
};

struct stash_port_counters {
    uint64_t reads, registrations, write_backs;
    uint64_t words_read, words_written;
};

extern const struct stash_below_ops stash_port_ops;

struct stash_port *stash_port_new(const struct stash_config *config, const struct stash_port_parts *parts);
/* Takes the port from the link of the multiprocessor. Call it when the machine is connected, before the first request. */
void stash_port_start(struct stash_port *port);
void stash_port_free(struct stash_port *port);
const struct stash_port_counters *stash_port_counted(const struct stash_port *port);

#endif
