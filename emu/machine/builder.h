/* The builder makes a machine's parts by the plan (plan.h) and joins them.
 *
 * It makes the parts without connections, sorted by kind (kinds.c) and then by position in the tree; events'
 * component numbers follow this order. Then it connects the ports. The builder's caller supplies what a part
 * needs besides ports (a core's hart, a multiprocessor's launches) through builder_making.place(). Parts that
 * serve custom instructions fill in one table, which all harts use. */
#ifndef EMU_MACHINE_BUILDER_H
#define EMU_MACHINE_BUILDER_H

#include "emu/hart/custom.h"
#include "emu/machine/plan/cut.h"
#include "emu/mem/site.h"

struct built_part {
    const struct instance *instance;
    void *object;
    struct clock clock;
    struct mem_site place;
    uint16_t *routes;
    bool *reached, *below;
    uint16_t *nodes;
    uint32_t first_component, components; /* component numbers of its events */
};

struct builder {
    struct plan plan;
    struct built_part *parts; /* parts that the builder makes, in that order; object NULL: left out */
    size_t count;
    struct built_part **by_number; /* by number of the instance; NULL: the builder does not make it */
    struct custom_units units;     /* of all parts, for each hart */
};

/* Plans the machine. False with err set on failure, naming file and line if the description has them. Release
 * with builder_free() in any case. */
bool builder_plan(struct builder *builder, const struct machine_config *machine, struct error *err);

struct builder_making {
    struct event_queue *queues;
    unsigned queue_count;
    const struct cut *cut;        /* NULL: all parts use the first queue */
    const uint32_t *queue_of;     /* by element of the cut: number of the queue */
    struct part_numbers *numbers; /* the next free numbers; parts take theirs from here */
    struct track_sink *sink;      /* trace to which the parts add their tracks; or NULL */
    /* Returns the value of part_site.place for a part: *memory, which outlives the part, or a struct of the
     * part's room that refers to it. NULL: the part is left out. */
    const void *(*place)(void *context, const struct instance *instance, const struct mem_site *memory);
    void *context;
};

/* Makes and connects the parts. False with err set. */
bool builder_make(struct builder *builder, const struct builder_making *making, struct error *err);

/* Registers statistics and energy accounts of the parts of a kind. */
void builder_publish(const struct builder *builder, const struct part_kind *kind, struct stats *stats,
                     struct energy_ledger *ledger);

/* Resets all parts, while the harts are at rest. */
void builder_reset(const struct builder *builder);

/* Brings the counters of all parts up to date at `now` (fs). */
void builder_sync(const struct builder *builder, uint64_t now);

/* Call the hooks of all parts (emu/schema/assembly.h). builder_findings() returns the number of parts with findings. */
void builder_allocated(const struct builder *builder, uint64_t base, uint64_t bytes);
void builder_finish(const struct builder *builder);
unsigned builder_findings(const struct builder *builder);

/* Frees parts in the reverse order of their making, and the plan. */
void builder_free(struct builder *builder);

/* Returns the part made from an instance; NULL: the builder made none. */
void *builder_object(const struct builder *builder, const struct instance *instance);

#endif
