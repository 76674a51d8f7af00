/* The packets of a network, by index. */
#ifndef EMU_NET_FLITS_PACKETS_H
#define EMU_NET_FLITS_PACKETS_H

#include <stdlib.h>

#include "emu/net/network.h"
#include "emu/sim/alloc.h"

struct packets {
    struct network_packet *items;
    uint32_t *free; /* indices that are not in use */
    uint32_t free_count, room;
};

/* Copies a packet. Returns its index. */
static inline uint32_t packets_add(struct packets *packets, const struct network_packet *packet)
{
    if (packets->free_count == 0) {
        uint32_t room = packets->room ? 2 * packets->room : 256;
        packets->items = alloc_resize(packets->items, room * sizeof *packets->items);
        packets->free = alloc_resize(packets->free, room * sizeof *packets->free);
        for (uint32_t i = room; i-- > packets->room;)
            packets->free[packets->free_count++] = i;
        packets->room = room;
    }
    uint32_t index = packets->free[--packets->free_count];
    packets->items[index] = *packet;
    return index;
}

static inline void packets_drop(struct packets *packets, uint32_t index)
{
    packets->free[packets->free_count++] = index;
}

static inline void packets_free(struct packets *packets)
{
    free(packets->items);
    free(packets->free);
}

#endif
