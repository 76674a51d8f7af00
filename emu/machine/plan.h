/* The plan of a machine, worked out before any part is made: which ports are joined, where addresses live, and the way from
 * each crossbar to each memory. What cannot be is a message with file, line and part.
 *
 * Homes. With one memory, its own map (dram.map) is the machine's. Several memories have one organisation. They are numbered
 * by the parts with copies that hold them: the innermost number is the stack's, the next one the module's. Where modules hold
 * different numbers of stacks, the memories are numbered through, in the tree's order, as stacks of one module. `homes` of the
 * machine cuts addresses; without it, the memories' map does, with stacks in turn above the controllers, modules above these,
 * and both above what one request can span. */
#ifndef EMU_MACHINE_PLAN_H
#define EMU_MACHINE_PLAN_H

#include "emu/machine/machine.h"
#include "emu/machine/wiring.h"
#include "emu/mem/home.h"

/* The places that a wire takes: a client that asks by several ends takes one for each at its server, a crossbar has an output
 * for each channel of a memory. One of the two numbers is 1. */
struct plan_places {
    unsigned in, out;             /* how many, at the server and of the client */
    unsigned first_in, first_out; /* behind those of lower slots */
};

struct plan_memory {
    const struct instance *instance;
    uint32_t number;     /* among all: module * stacks + stack */
    uint32_t *distances; /* wires to it, by part number; UINT32_MAX: no way */
};

struct plan {
    const struct machine_config *machine;
    struct wiring wiring;
    struct plan_places *places; /* by wire */
    struct home_map *homes;
    uint32_t modules, stacks, controllers;
    struct plan_memory *memories; /* in the tree's order */
    size_t memory_count;
};

/* Plans a timed machine. False with err set; release with plan_free() in any case. */
bool plan_machine(struct plan *plan, const struct machine_config *machine, struct error *err);
void plan_free(struct plan *plan);

/* Returns the number of a memory among all (struct plan_memory); 0 for other parts. */
uint32_t plan_memory_number(const struct plan *plan, const struct instance *memory);

/* Returns a crossbar's outputs by home, [memory's number * controllers + controller]; the caller frees them. The outputs of
 * memories that cannot be reached from it are 0: no request for these comes there. */
uint16_t *plan_routes(const struct plan *plan, const struct instance *crossbar);

/* Returns whether a loaded machine can be made, as plan_machine() finds; true for machines without a clock, which have no
 * parts. */
bool plan_check(const struct machine_config *machine, struct error *err);

#endif
