/* Miss status holding registers (MSHRs): the lines that a cache has requested, and the accesses that wait for
 * them (Kroft, "Lockup-free instruction fetch/prefetch cache organization", ISCA 1981). */
#ifndef EMU_MEM_CACHE_MSHR_H
#define EMU_MEM_CACHE_MSHR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/mem/cache/waiter.h"
#include "emu/mem/request.h"
#include "emu/sim/mix.h"

enum { MSHR_LIMIT = 64 };

enum mshr_state {
    MSHR_PLANNED, /* its request's event is scheduled and will send it */
    MSHR_HELD,    /* waits until an older write of the same line has been answered */
    MSHR_REFUSED, /* waits for room in the level below */
    MSHR_SENT,
};

/* An access that waits for the line. */
struct mshr_target {
    struct cache_waiter *waiter;
    uint64_t time;   /* of the access */
    uint64_t words;  /* of a cache by word: those that have not come */
    uint64_t issued; /* with versions: word_versions_clock() when it was made */
    struct cache_actor actor;
    enum cache_use use;
};

struct mshr {
    uint64_t line;
    uint64_t asked; /* time of the access that allocated it */
    enum mshr_state state;
    bool prefetch;    /* no demand access has asked for the line */
    bool expired;     /* the arriving line is old: it is not kept, and no further access may wait for it */
    bool ahead;       /* buffered writes of the line are younger and need not be answered first */
    uint32_t targets; /* at most the file's limit of targets */
    struct mshr_target *target;
    struct cache_waiters blocked; /* waiters that found no free target, and will repeat their access */
    struct mem_request request;
    void *owner; /* the cache, for the request's event */
};

struct mshr_file {
    uint64_t busy;               /* set of the registers in use */
    uint64_t hashed[MSHR_LIMIT]; /* by hash of the line: set of the registers in use for such lines */
    uint32_t used, peak;
    uint32_t limit, targets;
    struct mshr *mshrs;
    struct mshr_target *pool;
};

/* Initializes `limit` free registers (1 to MSHR_LIMIT) of `targets` targets each. Aborts if the host has no
 * memory. */
void mshr_init(struct mshr_file *file, uint32_t limit, uint32_t targets, void *owner);
void mshr_free(struct mshr_file *file);

static inline unsigned mshr_hash(uint64_t line)
{
    return (unsigned)(line * MIX_FACTOR >> 58);
}

/* Returns the register of a line, or NULL. */
static inline struct mshr *mshr_find(const struct mshr_file *file, uint64_t line)
{
    for (uint64_t left = file->hashed[mshr_hash(line)]; left; left &= left - 1) {
        struct mshr *mshr = &file->mshrs[__builtin_ctzll(left)];
        if (mshr->line == line)
            return mshr;
    }
    return NULL;
}

/* Allocates a register, of which one must be free, for a line that has none. It is planned and has no
 * targets. */
struct mshr *mshr_take(struct mshr_file *file, uint64_t line, uint64_t asked);

/* Appends a target. Returns false if there is no room for it. */
bool mshr_add(const struct mshr_file *file, struct mshr *mshr, const struct mshr_target *target);

void mshr_release(struct mshr_file *file, struct mshr *mshr);

#endif
