/* A slice of the last level as the home of a DeNovo registry (registry.c). */
#ifndef EMU_MEM_LLC_REGISTRY_H
#define EMU_MEM_LLC_REGISTRY_H

#include "emu/mem/coherence/word_versions.h"
#include "emu/mem/denovo_domain.h"
#include "emu/mem/llc/state.h"

/* A message on its way through the slice, or refused by the registry. */
struct llc_letter {
    struct llc_letter *next, *all; /* in its list; of all that were made */
    struct llc *llc;
    struct event event;
    struct denovo_message message;
};

struct llc_letters {
    struct llc_letter *first, *last;
};

struct llc_registry {
    struct denovo_domain *domain;
    struct denovo_registry *registry;
    struct denovo_post post;        /* to the domain */
    struct denovo_line *lines;      /* by index of the tags */
    struct word_versions *versions; /* NULL: words have no versions */
    uint32_t *next_fetch;           /* by index: the next line that waits to be read from memory */
    uint32_t first_fetch, last_fetch;
    struct llc_letters refused;
    struct llc_letter *free, *all;
    uint32_t queued;      /* requests that the slice has and the registry has not taken */
    bool carrier_refused; /* requests wait outside */
    bool room;            /* the registry may take refused requests */
    uint64_t delay,
        array; /* what the messages that the registry sends now still take, and the data array's part of it */
    uint32_t evicting;       /* lines, each with a place in the write buffer */
    uint32_t victim;         /* index of a line to evict, or TAGS_NONE */
    struct llc_list waiting; /* ranges that wait for a line or for the write buffer */
    struct event work;       /* goes on with all that waits */
};

/* Makes the slice the home of a registry, which serves number `slice` of the domain. */
void llc_registry_serve(struct llc *llc, struct denovo_domain *domain, const struct denovo_place *place);
void llc_registry_free(struct llc *llc);

/* The tags have been looked up for a memory request of a client that is no unit. */
void llc_registry_request(struct llc_entry *entry, uint64_t now);

/* Memory has answered a read of a line, or a write. */
void llc_registry_filled(struct llc *llc, struct llc_mshr *mshr, uint64_t now);
void llc_registry_written(struct llc *llc, uint64_t now);

/* Empties the place of a range's line. Returns false if the entry has to wait; then it will look again. */
bool llc_registry_clean(struct llc_entry *entry, uint32_t index, uint64_t now);

#endif
