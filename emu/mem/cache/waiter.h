/* The interface between a cache and the cores that access it: kinds of access, outcomes and callbacks. */
#ifndef EMU_MEM_CACHE_WAITER_H
#define EMU_MEM_CACHE_WAITER_H

#include <stdbool.h>
#include <stdint.h>

enum cache_use {
    CACHE_LOAD,
    CACHE_STORE,
    CACHE_FETCH,
    CACHE_WALK,     /* a page-table entry */
    CACHE_PREFETCH, /* for no instruction: dropped if there is no room */
    CACHE_USES
};

/* Waits for a line, or for room. The core owns it. It is busy from CACHE_MISS or CACHE_FULL until its
 * callback. */
struct cache_waiter {
    struct cache_waiter *next; /* used by the cache while the waiter is busy */
    /* After CACHE_MISS: the access is done at time `now`; enum mem_level `level` has answered. To a core that
     * has run ahead, `now` may be before the access's own time; then the access is done hit_clocks after its
     * own time. After CACHE_FULL: there is room, so the access must be repeated; level is MEM_LEVELS. The
     * callback may access the cache, also with this waiter. */
    void (*done)(struct cache_waiter *waiter, uint64_t now, unsigned level);
    void *owner;
};

/* A queue of waiters, first come first served. */
struct cache_waiters {
    struct cache_waiter *first, *last;
    uint32_t count;
};

void cache_waiters_add(struct cache_waiters *waiters, struct cache_waiter *waiter);

/* Removes and returns the first waiter, or NULL if there is none. */
struct cache_waiter *cache_waiters_take(struct cache_waiters *waiters);

/* The instruction and the core that make an access, for observers and prefetchers. */
struct cache_actor {
    uint64_t pc; /* address of the instruction */
    /* 32 bits: with padding before the members below, GCC builds the struct in memory, and each call waits for that. */
    uint32_t core;
    /* a fetch on the wrong path: it brings its line in, but observers are not told of the access */
    bool speculative;
    bool fetch; /* for observers; set by cache_access() */
    /* for caches by word, which other caches need not know: the bytes of the access, 0: the aligned 8 bytes around it; an atomic */
    uint8_t bytes;
    bool atomic;
};

enum cache_outcome {
    CACHE_HIT,  /* done hit_clocks after the access; the waiter is free */
    CACHE_MISS, /* the waiter's callback will end the access */
    /* no free MSHR, target or write buffer entry: the waiter is called when the access may be repeated */
    CACHE_FULL,
};

#endif
