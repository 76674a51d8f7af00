/* The builder: a description becomes parts that are joined.
 *
 * Plan: ports are joined (wiring.h), addresses get homes, and each crossbar a route to every memory, the shortest; what
 * cannot be is a message with file, line and part, before anything is made. Make: parts are made without their neighbours, in
 * the order of the kinds (kinds.c), then of the tree, which numbers components; then ports are connected. Cores and
 * multiprocessors, which need harts and a program, are made by timed_core.c and timed_simt.c behind these, and ask for the
 * ends of their ports.
 *
 * Homes. With one memory, its own map (dram.map) is the machine's. Several memories are of one organisation. They are numbered
 * by the parts with copies that hold them: the innermost number is the stack's, the next one the module's. Where modules hold
 * different numbers of stacks, the memories are numbered through, in the tree's order, as stacks of one module. `homes` of the
 * machine cuts addresses, and follows the memories' map with stacks in turn above the controllers, modules above these. */
#ifndef EMU_MACHINE_BUILDER_H
#define EMU_MACHINE_BUILDER_H

#include "emu/machine/machine.h"
#include "emu/machine/wiring.h"
#include "emu/mem/site.h"

struct built_part {
    const struct instance *instance;
    void *object;
    struct clock clock;
    struct mem_site place;
    uint16_t *routes;
};

struct builder {
    const struct machine_config *machine;
    const struct phys *bytes;
    struct wiring wiring;
    struct home_map *homes;
    uint32_t modules, stacks, controllers;
    bool through;             /* memories are numbered through: one module, whose stacks they are */
    struct built_part *parts; /* of kinds with make(), in the order of making */
    size_t count;
};

/* Plans the machine over the bytes of its main memory. False with err set; release with builder_free() in any case. */
bool builder_plan(struct builder *builder, const struct machine_config *machine, const struct phys *bytes,
                  struct error *err);

/* Makes and connects the parts; *component is the next number, and is moved on. They show themselves on sink, if not NULL. */
bool builder_make(struct builder *builder, struct event_queue *queue, uint32_t *component,
                  struct track_sink *sink, struct error *err);

/* Registers statistics and energy accounts of the last levels, or of all other parts, from the kinds that are made last. */
void builder_publish(const struct builder *builder, bool levels, struct stats *stats,
                     struct energy_ledger *ledger);

/* Brings what parts count up to a time. */
void builder_sync(const struct builder *builder, uint64_t now);

/* Frees parts in the reverse order of their making, and the plan. */
void builder_free(struct builder *builder);

/* What serves a client's only port of that name: its instance in *server, if not NULL. A client that takes several places
 * (multiprocessors, for each slice) numbers them by `place`. ops is NULL when the port is open. */
struct part_end builder_server(const struct builder *builder, const struct instance *client, const char *port,
                               unsigned place, const struct instance **server);

/* The part that was made of an instance, or NULL. */
void *builder_object(const struct builder *builder, const struct instance *instance);

/* Places that the multiprocessors of a part take of what they are joined to: one for each slice of their last level or, without
 * one, for their crossbar, or else for each of them. */
unsigned builder_simt_places(const struct instance *simt);

/* The part below an instance under that name, or NULL when there is none. */
const struct instance *builder_below(const struct instance *instance, const char *name);

#endif
