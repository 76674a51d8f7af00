/* The partitions of a machine for a parallel simulation: cut at links and at networks' wires between routers, because these have
 * latency. All that is connected otherwise is one partition. A link belongs to the part that sends requests to it, a router
 * to the parts at its nodes. Parts without connections belong to the partition of the first core. */
#ifndef EMU_MACHINE_STUDY_CUT_H
#define EMU_MACHINE_STUDY_CUT_H

#include "emu/machine/builder.h"

struct cut_network {
    const struct instance *instance;
    uint32_t first; /* element of its first router */
    const struct topology *topology;
};

struct cut {
    uint32_t count; /* partitions, numbered in the order in which their first parts were made */
    uint64_t
        lookahead; /* the shortest time in which one acts on another: fs; CLOCK_NEVER: there is one partition */
    const char *limit;    /* path of the link or network that has it; or NULL */
    uint32_t *partitions; /* by element: instances by number, then all routers */
    const char **names;   /* of partitions: path of their first part, or a network */
    uint64_t *weights;    /* of partitions: components (multiprocessors, controllers ...) and routers */
    struct cut_network *networks;
    uint32_t network_count;
    uint32_t elements;
};

/* The builder has made its parts. Free with cut_free(). */
void cut_make(struct cut *cut, const struct builder *builder);
void cut_free(struct cut *cut);

#endif
