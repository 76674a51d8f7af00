/* What parts of the memory system are made with, beside struct part_site. */
#ifndef EMU_MEM_SITE_H
#define EMU_MEM_SITE_H

#include "emu/mem/home.h"
#include "emu/mem/phys.h"

struct llc_slices;

struct mem_site {
    struct home_map *homes;                /* of all addresses; outlives the part */
    const struct phys *bytes;              /* of main memory */
    uint32_t modules, stacks, controllers; /* numbers of homes are below these */
    uint16_t module, stack;                /* of a memory: which it is */
    unsigned inputs, outputs;              /* of a crossbar */
    const uint16_t *
        routes; /* of a crossbar: its output by home, [(module * stacks + stack) * controllers + controller] */
    /* Of what asks: */
    bool last;                /* its requests leave the last level there, and get their homes */
    struct llc_slices *level; /* the last level that it is joined to, if that has been made; else NULL */
};

#endif
