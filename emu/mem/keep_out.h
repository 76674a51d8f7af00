/* Ranges of lines that prefetches and wrong-path accesses must not bring into any cache of a coherent
 * domain, because something outside the domain writes them. All caches of the domain share one list; each
 * owner of the list has one range in it. Demand accesses are not affected. */
#ifndef EMU_MEM_KEEP_OUT_H
#define EMU_MEM_KEEP_OUT_H

#include <stdbool.h>
#include <stdint.h>

struct keep_out_range {
    uint64_t first, last; /* physical addresses of the first and last byte; first > last: none */
};

struct keep_out {
    struct keep_out_range hull; /* of all ranges */
    unsigned owners;
    struct keep_out_range *range; /* by owner */
};

/* Initializes a list without ranges for `owners` owners. Aborts if the host has no memory. Release it with
 * keep_out_free(). */
void keep_out_init(struct keep_out *list, unsigned owners);
void keep_out_free(struct keep_out *list);

/* Adds an owner without a range. Returns its number. */
unsigned keep_out_add(struct keep_out *list);

/* Replaces the range of an owner. */
void keep_out_set(struct keep_out *list, unsigned owner, struct keep_out_range range);

bool keep_out_search(const struct keep_out *list, uint64_t first, uint64_t last);

/* Returns whether a range contains a byte of [first, last]. The list may be NULL. */
static inline bool keep_out_has(const struct keep_out *list, uint64_t first, uint64_t last)
{
    return list && last >= list->hull.first && first <= list->hull.last && keep_out_search(list, first, last);
}

#endif
