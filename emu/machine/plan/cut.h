/* The partitions of a machine for a parallel simulation: cut at links and at networks' wires between routers, because these have
 * latency. All that is connected otherwise is one partition. A link belongs to the part that sends requests to it, a router
 * to the parts at its nodes. Parts without connections belong to the partition of the first core. */
#ifndef EMU_MACHINE_PLAN_CUT_H
#define EMU_MACHINE_PLAN_CUT_H

#include "emu/machine/plan/plan.h"
#include "emu/net/topology/shape.h"

struct cut_network {
    const struct instance *instance;
    uint32_t first; /* element of its first router */
    struct network_shape shape;
    uint32_t *in_nodes, *out_nodes; /* nodes of the inputs and outputs */
    bool divisible;                 /* into pieces with queues of their own (network_divide()) */
};

struct cut {
    uint32_t count; /* partitions, numbered in the order of their first elements */
    uint64_t
        lookahead; /* the shortest time in which one acts on another: fs; CLOCK_NEVER: there is one partition */
    const char *limit;    /* path of the link or network that has it; or NULL */
    uint32_t *partitions; /* by element: instances by number, then all routers */
    struct cut_network *networks;
    uint32_t network_count;
    uint32_t elements;
};

/* Cuts a planned machine. False with err set on failure. Free with cut_free() in any case. */
bool cut_make(struct cut *cut, const struct plan *plan, struct error *err);
void cut_free(struct cut *cut);

/* Divides partitions over groups: the heaviest first, the first of equals, to the group that has least. groups[partition] is the
 * result. */
void cut_share(const uint64_t *weights, uint32_t partitions, unsigned count, uint32_t *groups);

/* Divides the elements over groups, by partition, a multiprocessor being as heavy as another part. groups[element] is the result; the
 * first core is in group 0, and so are all routers of a network that is not divisible. */
void cut_divide(const struct cut *cut, const struct plan *plan, unsigned count, uint32_t *groups);

/* Returns the entry of a network. */
const struct cut_network *cut_network_of(const struct cut *cut, const struct instance *instance);

/* Returns the partition of a part. */
static inline uint32_t cut_of(const struct cut *cut, const struct instance *part)
{
    return cut->partitions[part->number];
}

#endif
