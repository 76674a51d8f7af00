/* The plan of a machine, computed before any part is made: the connected ports, the homes of addresses, and
 * the path from each crossbar to each memory. Errors give a message with file, line and part.
 *
 * Homes. If there is one memory, its own map (dram.map) is the machine's. Several memories have the same
 * organisation. They are numbered by the parts with copies that contain them: the innermost number is the
 * stack's, the next one the module's. If modules have different numbers of stacks, all memories are numbered
 * consecutively, in the tree's order, as stacks of one module. The machine's `homes` splits addresses. It is
 * derived from the memories' map, with the stack's bits above the controller's, the module's above these, and
 * both above the bytes that one request can span. */
#ifndef EMU_MACHINE_PLAN_PLAN_H
#define EMU_MACHINE_PLAN_PLAN_H

#include "emu/machine/machine.h"
#include "emu/machine/plan/wiring.h"
#include "emu/mem/home.h"
#include "emu/mem/site.h"

/* The slots that a wire takes: a client with several ends takes one for each at its server; a crossbar has an
 * output for each channel of a memory. One of the two numbers is 1. */
struct plan_places {
    unsigned in, out;             /* numbers of slots at the server's and at the client's port */
    unsigned first_in, first_out; /* first ones, after those of lower slots */
};

struct plan_memory {
    const struct instance *instance;
    uint32_t number;     /* among all memories: module * stacks + stack */
    uint32_t *distances; /* wires to it, by part number; UINT32_MAX: no path */
};

struct plan {
    const struct machine_config *machine;
    struct wiring wiring;
    struct plan_places *places; /* by wire */
    struct home_map *homes;
    struct home_layout layout; /* of main memory's homes; of one memory, that of its own map */
    uint32_t modules, stacks, controllers;
    struct plan_memory *memories; /* in the tree's order */
    size_t memory_count;
};

/* Plans a timed machine. Returns false with err set on failure. Release with plan_free() in any case. */
bool plan_machine(struct plan *plan, const struct machine_config *machine, struct error *err);
void plan_free(struct plan *plan);

/* Derives the root's `homes` of a loaded machine with several memories, unless the description sets it. Leaves it empty if
 * that fails; plan_machine() then gives the reason. */
void plan_derive_homes(const struct machine_config *machine);

/* Returns the number of a memory (struct plan_memory); 0 for other parts. */
uint32_t plan_memory_number(const struct plan *plan, const struct instance *memory);

/* Returns the bytes of a burst of the memories. */
uint32_t plan_burst(const struct plan *plan);

/* Returns a crossbar's outputs by home, indexed by [memory's number * controllers + controller]. The caller
 * frees them. The outputs of unreachable memories are 0: no request for these arrives there. */
uint16_t *plan_routes(const struct plan *plan, const struct instance *crossbar);

/* Returns which memories a part reaches, by number (struct plan_memory). The caller frees them. NULL: all or none. */
bool *plan_reached(const struct plan *plan, const struct instance *part);

/* Of a network with slices of a last level among its outputs (LLC_BY_NODE): plan_below() returns, by input, whether it has
 * requests of the slices; the caller frees it. NULL: it has no slices. plan_slices() describes the slices. */
bool *plan_below(const struct plan *plan, const struct instance *network);
struct mem_site_slices plan_slices(const struct plan *plan, const struct instance *network,
                                   const bool *below);

/* Returns whether a loaded machine can be made, as found by plan_machine(). True for machines without a
 * clock, which have no such parts. On false, err is set, with file and line if the description has them. */
bool plan_check(const struct machine_config *machine, struct error *err);

#endif
