/* The construction parameters of memory-system parts, in addition to struct part_site. */
#ifndef EMU_MEM_SITE_H
#define EMU_MEM_SITE_H

#include "emu/mem/home.h"
#include "emu/mem/mail.h"

struct llc_slices;

/* Slices of a last-level cache below a network (LLC_BY_NODE): requests that do not come from the slices themselves go to them, by
 * line. */
struct mem_site_slices {
    uint32_t first, count; /* their outputs; count 0: there are none */
    uint32_t shift;        /* log2 of the bytes of a block */
    const bool *below;     /* by input: it has requests of the slices */
};

/* How a part whose requests go to a network sends messages to other parts' nodes (mail.h). */
struct mem_site_mail {
    const struct mail_ops *ops; /* NULL: the part is not connected to a network */
    void *carrier;
    const uint16_t
        *nodes; /* of the part's ends, in their order: a core's, each multiprocessor's, each slice's */
    uint32_t count;
};

struct mem_site {
    struct home_map *homes;                /* the homes of all addresses; outlives the part */
    uint32_t modules, stacks, controllers; /* upper bounds of the numbers in homes */
    uint32_t burst;                        /* bytes of a burst of the memories */
    uint16_t module, stack;                /* of a memory: its module and its stack */
    unsigned inputs, outputs;              /* of a crossbar: number of inputs and outputs */
    /* of a crossbar: number of the output for each home, indexed by
     * [(module * stacks + stack) * controllers + controller] */
    const uint16_t *routes;
    const bool *reached; /* by number of a memory: there is a way to it; NULL: to all memories */
    bool last;           /* of a requester: its requests leave the last level there, and get their homes */
    struct mem_site_slices slices; /* of a network */
    /* of a requester: the last-level cache to which it is connected, directly or by a network (`far`), if that has been made;
     * else NULL */
    struct llc_slices *level;
    bool far;
    struct mem_site_mail mail;
};

#endif
