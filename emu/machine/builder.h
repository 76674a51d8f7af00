/* The builder makes a machine's parts by the plan (plan.h) and joins them.
 *
 * Parts are made without their neighbours, in the order of the kinds (kinds.c), then of the tree, which numbers components;
 * then ports are connected. What parts need besides ports (cores their harts, multiprocessors their launches) they are given at
 * their places by the builder's caller. Parts that serve custom instructions fill in one table, which all harts get. */
#ifndef EMU_MACHINE_BUILDER_H
#define EMU_MACHINE_BUILDER_H

#include "emu/hart/custom.h"
#include "emu/machine/plan.h"
#include "emu/mem/site.h"

struct built_part {
    const struct instance *instance;
    void *object;
    struct clock clock;
    struct mem_site place;
    uint16_t *routes;
};

struct builder {
    struct plan plan;
    struct built_part *parts; /* that the builder makes, in the order of making; object NULL: left out */
    size_t count;
    struct built_part **by_number; /* by number of the instance; NULL: part of another one */
    struct custom_units units;     /* of all parts, for each hart */
};

/* Plans the machine. False with err set, to file and line where the description has them; release with builder_free() in
 * any case. */
bool builder_plan(struct builder *builder, const struct machine_config *machine, struct error *err);

struct builder_making {
    struct event_queue *queue;
    struct part_numbers *numbers; /* the next ones; moved on */
    struct track_sink *sink;      /* parts show themselves on it; or NULL */
    /* The place of a part (part_site.place): *memory, which outlives the part, or a struct of the part's room around it.
     * NULL: the part is left out. */
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

/* Brings what parts count up to a time. */
void builder_sync(const struct builder *builder, uint64_t now);

/* Frees parts in the reverse order of their making, and the plan. */
void builder_free(struct builder *builder);

/* The part that was made of an instance; NULL: none, or it is part of another one. */
void *builder_object(const struct builder *builder, const struct instance *instance);

#endif
