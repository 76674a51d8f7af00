/* Who asks a cache for what, and how it is answered. */
#ifndef EMU_MEM_CACHE_WAITER_H
#define EMU_MEM_CACHE_WAITER_H

#include <stdbool.h>
#include <stdint.h>

enum cache_use {
    CACHE_LOAD,
    CACHE_STORE,
    CACHE_FETCH,
    CACHE_WALK,     /* a page-table entry */
    CACHE_PREFETCH, /* for nobody in particular: dropped when there is no room */
    CACHE_USES
};

/* Who waits for a line, or for room; a part of the core, which owns it, and busy from CACHE_MISS or
 * CACHE_FULL until its callback. */
struct cache_waiter {
    struct cache_waiter *next; /* the cache's while the waiter is busy */
    /* CACHE_MISS: the access is done at time `now`, answered by enum mem_level `level`; to a core that has
     * run ahead, `now` may lie before the access's own time: then it is done hit_clocks after that.
     * CACHE_FULL: there is room again: the access has to be repeated; level is MEM_LEVELS.
     * The callback may access the cache, with this waiter too. */
    void (*done)(struct cache_waiter *waiter, uint64_t now, unsigned level);
    void *owner;
};

/* First come, first served. */
struct cache_waiters {
    struct cache_waiter *first, *last;
    uint32_t count;
};

void cache_waiters_add(struct cache_waiters *waiters, struct cache_waiter *waiter);

/* Takes the first one out, NULL if there is none. */
struct cache_waiter *cache_waiters_take(struct cache_waiters *waiters);

/* Who asks, for those who watch and for prefetchers. */
struct cache_actor {
    uint64_t pc; /* of the instruction */
    uint16_t core;
    bool
        speculative; /* a fetch down the wrong path: brings its line in, but those who watch are not told of an
                         access */
    bool fetch;      /* for those who watch; set by cache_access() */
};

enum cache_outcome {
    CACHE_HIT,  /* done hit_clocks after the access; the waiter is free */
    CACHE_MISS, /* the waiter will be called */
    CACHE_FULL, /* no MSHR, target or write buffer: the waiter will be called, and must ask again */
};

#endif
