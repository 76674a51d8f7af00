/* The internals of a first-level cache, private to its files: cache.c (accesses, and the responses of the
 * level below), by_word.c (states by word), maintain.c (ranges), probe.c (changes without time), lines.c (arriving and departing lines),
 * stacks.c (thread stacks), lower.c (requests to the level below), report.c. */
#ifndef EMU_MEM_CACHE_STATE_H
#define EMU_MEM_CACHE_STATE_H

#include "emu/mem/cache.h"
#include "emu/mem/cache/mshr.h"
#include "emu/sim/list.h"
#include "emu/sim/mix.h"

enum {
    CACHE_STATE_MASK = PROTOCOL_STATES - 1,
    CACHE_FLAG_PREFETCHED = 4, /* with the state in the tags: prefetched and not used yet */
    CACHE_HASHES = 64,         /* hashes of lines, for the write buffer */
    CACHE_SCAN = 64,           /* lookups of a maintenance operation in one event */
};

/* X(name, unit, meaning) for all statistics that are plain counters. */
#define CACHE_COUNTERS(X)                                                                                    \
    X(misses, "accesses", "Demand accesses that requested a line from the level below")                      \
    X(merged, "accesses", "Demand accesses to outstanding lines")                                            \
    X(upgrades, "accesses", "Stores that needed ownership of a shared copy")                                 \
    X(upgrades_lost, "accesses", "Upgrades whose copy was taken away before the response")                   \
    X(upgrades_behind, "lines",                                                                              \
      "Lines that arrived as shared while stores waited, and were requested again")                          \
    X(full, "accesses", "Accesses repeated for lack of an MSHR, target or write-buffer entry")               \
    X(evictions, "lines", "Lines evicted to make room")                                                      \
    X(fills, "lines", "Lines filled")                                                                        \
    X(write_backs, "lines", "Dirty lines written back")                                                      \
    X(writes_through, "stores", "Stores sent to the level below")                                            \
    X(writes_united, "stores", "Stores of writes_through that merged with an unsent one")                    \
    X(probes, "probes", "Probes by the last level")                                                          \
    X(invalidated, "lines", "Lines invalidated by probes and maintenance")                                   \
    X(prefetches, "lines", "Prefetches issued")                                                              \
    X(prefetches_useful, "lines", "Prefetched lines that were used")                                         \
    X(prefetches_late, "lines", "Prefetches still outstanding at the first demand access")                   \
    X(prefetches_unused, "lines", "Prefetched lines that left the cache without having been used")           \
    X(prefetches_returned, "lines", "Prefetches issued that gave way to others, and brought no line")        \
    X(prefetches_dropped, "lines", "Prefetches not issued for lack of an MSHR, or because of other writers") \
    X(maintenance, "operations", "Clean and invalidate operations")                                          \
    X(refusals, "requests", "Requests that the level below refused")                                         \
    X(miss_latency, "fs", "Time from access to response, summed over misses, merged accesses and upgrades")

/* Counters that few programs need (stats_rare()). */
#define CACHE_RARE_COUNTERS(X)                                                                               \
    X(prefetches_software, "lines", "Prefetches issued by prefetch instructions, part of \"prefetches\"")

struct cache_counters {
#define CACHE_COUNTER(name, unit, meaning) uint64_t name;
    CACHE_COUNTERS(CACHE_COUNTER)
    CACHE_RARE_COUNTERS(CACHE_COUNTER)
#undef CACHE_COUNTER
};

enum cache_write_state { CACHE_WRITE_PLANNED, CACHE_WRITE_REFUSED, CACHE_WRITE_SENT };

/* An entry of the write buffer: a dirty line, or stores to a line, on the way down. */
struct cache_write {
    struct cache_write *next;     /* in the list of busy or of free entries */
    struct cache_write *previous; /* in the list of busy ones */
    uint64_t line;
    uint64_t words;  /* set of 32-bit words of the line */
    uint64_t number; /* in the order in which entries were taken */
    enum cache_write_state state;
    bool keep;                /* the cache keeps a clean copy */
    bool alone;               /* contains a store to a line that was not in the cache */
    bool taken;               /* a probe has taken the newest version from this entry */
    struct cache_actor actor; /* of the latest store, if `alone` */
    struct cache *cache;
    struct mem_request request;
};

/* A queue of requests that wait for room in the level below. */
struct cache_requests {
    struct mem_request *first, *last;
};

/* A clean or invalidate operation under way. */
struct cache_upkeep {
    struct cache_upkeep *next;
    struct cache *cache;
    struct cache_waiter *waiter;
    enum mem_op op;
    enum { CACHE_UPKEEP_ARRIVALS, CACHE_UPKEEP_SCAN, CACHE_UPKEEP_WRITES, CACHE_UPKEEP_BELOW } step;
    bool stalled;        /* waits until something has been answered */
    uint64_t first, end; /* bytes, in whole lines; end is one past the last */
    /* of the scan: number of the line in the range, or index of an entry if all entries are checked */
    uint64_t cursor;
    uint64_t arrivals; /* MSHRs for which the operation has to wait */
    struct event event;
    struct mem_request request;
};

/* Thread stacks, X(name, unit, meaning). */
#define CACHE_STACK_COUNTERS(X)                                                                              \
    X(allocated, "lines", "Lines of thread stacks taken by stores, without bringing them in")                \
    X(write_backs, "lines", "Lines of thread stacks written back to make room")                              \
    X(dropped, "lines", "Lines of thread stacks dropped because their threads had ended")

struct cache_stacks {
    uint64_t first, size; /* bytes; 0: none */
    uint64_t *valid;      /* by index of the tags: set of valid 32-bit words of a line of a stack */
#define CACHE_COUNTER(name, unit, meaning) uint64_t name;
    CACHE_STACK_COUNTERS(CACHE_COUNTER)
#undef CACHE_COUNTER
};

struct cache {
    struct cache_front front; /* must be first: cache.h casts struct cache to it */
    struct event_queue *queue;
    uint64_t hit_time, period; /* fs */
    struct mshr_file mshrs;
    /* waiters answered CACHE_FULL, until an MSHR or a write buffer entry is free */
    struct cache_waiters for_miss, for_write;
    struct cache_counters counters;
    struct observer_list observers; /* struct cache_observer */
    struct cache_track *track;      /* one of the observers, or NULL */

    struct cache_write *writes_busy, *writes_free; /* youngest first */
    uint32_t writes_used;
    uint64_t writes_taken; /* number of the next entry */
    struct mem_pushes pushes;
    uint16_t writes_of[CACHE_HASHES]; /* number of busy entries by hash of the line */
    struct cache_write *writes;       /* array of all entries */
    struct cache_requests refused_reads, refused_writes;
    struct mem_link link;
    /* or NULL */
    void (*received)(void *receiver, const struct mem_link *link, uint64_t line, uint64_t now);
    void *receiver;
    struct event room; /* calls the waiters of for_miss and for_write, and resumes upkeep */

    struct cache_by_word *by_word; /* NULL: lines have states; else by_word.c has the accesses */
    struct cache_stacks stacks;
    struct prefetcher prefetcher;
    const struct keep_out *keep_out;           /* or NULL */
    struct cache_upkeep *upkeep, *upkeep_free; /* operations under way; finished ones, for reuse */

    struct cache_config config;
    struct protocol_rules rules; /* of config.protocol */
    uint32_t component;
    uint16_t requester;
    char *name;
};

static inline unsigned cache_state_of(const struct cache *cache, uint32_t index)
{
    return tags_state(&cache->front.tags, index) & CACHE_STATE_MASK;
}

/* Returns the protocol's step for an event in a state. */
static inline struct protocol_step cache_step(const struct cache *cache, unsigned state,
                                              enum protocol_event event)
{
    return protocol_step(&cache->rules, state, event);
}

/* Returns whether a state has the property (PROTOCOL_READABLE ...). */
static inline bool cache_has(const struct cache *cache, unsigned state, unsigned property)
{
    return cache->rules.properties[state & CACHE_STATE_MASK] & property;
}

/* Returns whether the write buffer has room for a store or a clean operation. A victim needs no room: it uses
 * the MSHR of the line that replaces it. */
static inline bool cache_can_write(const struct cache *cache)
{
    return cache->writes_used < cache->config.write_buffer;
}

/* Returns how many MSHRs are free, not counting those that are kept by victims for which the write buffer has
 * no room. */
static inline uint32_t cache_free_mshrs(const struct cache *cache)
{
    uint32_t buffer = cache->config.write_buffer, used = cache->mshrs.used;
    if (cache->writes_used > buffer)
        used += cache->writes_used - buffer;
    return used < cache->mshrs.limit ? cache->mshrs.limit - used : 0;
}

/* Removes a line from the array, without a write-back or a call of observers. */
static inline void cache_remove(struct cache *cache, uint32_t index)
{
    cache->counters.prefetches_unused += (tags_state(&cache->front.tags, index) & CACHE_FLAG_PREFETCHED) != 0;
    tags_remove(&cache->front.tags, index);
}

/* Counts the first use of a prefetched line. Returns whether it was one. */
static inline bool cache_first_use(struct cache *cache, uint32_t index)
{
    unsigned state = tags_state(&cache->front.tags, index);
    if (!(state & CACHE_FLAG_PREFETCHED))
        return false;
    cache->counters.prefetches_useful++;
    tags_set_state(&cache->front.tags, index, state & CACHE_STATE_MASK);
    return true;
}

/* Marks the read of an outstanding line as needed by an access, so no level drops it as a prefetch or, unless
 * `speculative`, as speculative. */
static inline void cache_need(struct cache *cache, struct mshr *mshr, bool speculative)
{
    cache->counters.prefetches_late += mshr->prefetch;
    mshr->prefetch = false;
    /* Otherwise not written, because another thread of the host may have the request. */
    if (mshr->request.prefetch)
        mshr->request.prefetch = false;
    if (!speculative && mshr->request.speculative)
        mshr->request.speculative = false;
}

/* Returns whether prefetches and wrong-path accesses must not bring in the line. */
static inline bool cache_keeps_out(const struct cache *cache, uint64_t line)
{
    return keep_out_has(cache->keep_out, line, line + (cache->config.line - 1));
}

/* lower.c: the requests to the level below. */
/* Schedules the event that makes all waiters and stalled operations try again at `now`. */
void cache_stir(struct cache *cache, uint64_t now);
/* Schedules the sending of the register's request at `time`. */
void cache_plan(struct cache *cache, struct mshr *mshr, uint64_t time);
/* Sends a read or maintenance request, after those that were refused. */
void cache_offer(struct cache *cache, struct mem_request *request, uint64_t now);
/* Sends what was refused, until the level below refuses again. */
void cache_send_refused(struct cache *cache, uint64_t now);
/* Gives up the read of a line for a prefetch or the wrong path only. Wrong-path accesses may be repeated. */
void cache_abandon(struct cache *cache, struct mshr *mshr, uint64_t now);
static inline struct mshr *cache_mshr_of(struct mem_request *request)
{
    return CONTAINER_OF(request, struct mshr, request);
}

/* lower.c: the write buffer. */
/* Makes all entries free. */
void cache_write_init(struct cache *cache);
static inline struct cache_write *cache_write_of(struct mem_request *request)
{
    return CONTAINER_OF(request, struct cache_write, request);
}
/* Returns the number of busy entries of all lines with this line's hash. */
static inline uint16_t *cache_writes_of(struct cache *cache, uint64_t line)
{
    return &cache->writes_of[line * MIX_FACTOR >> 58];
}
static inline bool cache_write_absent(const struct cache *cache, uint64_t line)
{
    return cache->writes_of[line * MIX_FACTOR >> 58] == 0;
}
/* Returns the youngest entry of a line, or NULL. Entries with `taken` count, because their write is still
 * under way. */
struct cache_write *cache_write_find(const struct cache *cache, uint64_t line);
/* Puts a dirty line into the buffer and sends it as soon as the level below accepts it. */
void cache_write_back(struct cache *cache, uint64_t line, bool keep, uint64_t now);
/* The same at `time`, for a set of 32-bit words of a line. The cache keeps no copy. */
void cache_write_words(struct cache *cache, uint64_t line, uint64_t words, uint64_t time);
/* A store to some 32-bit words of a line. */
struct cache_stored {
    uint64_t line, words;
    bool divergent, keep; /* keep: the cache has a clean copy */
};
/* Puts a store into the buffer at `time`; it merges with an unsent entry of the line. */
void cache_write_store(struct cache *cache, const struct cache_stored *stored, uint64_t time,
                       struct cache_actor actor);
/* Returns whether cache_write_store() has room. */
bool cache_write_fits(const struct cache *cache, uint64_t line);
void cache_write_answered(struct cache *cache, struct cache_write *write, uint64_t now);
/* Drops a write that has not been sent. */
void cache_write_drop(struct cache *cache, struct cache_write *write, uint64_t now);

/* lines.c: arriving and departing lines. */
/* The register's request was answered. */
void cache_fill(struct cache *cache, struct mshr *mshr, uint64_t now);
/* Removes a line. event is PROTOCOL_EVICT, which puts a dirty line into the write buffer, or
 * PROTOCOL_INVALIDATE. */
void cache_evict(struct cache *cache, uint32_t index, enum protocol_event event, uint64_t now);
/* Returns the set of ways of the line's set that must stay because they wait for an upgrade. */
uint64_t cache_locked(const struct cache *cache, uint64_t line);
/* The line's copy was taken away: an unsent upgrade becomes a read of the line. */
void cache_copy_lost(struct cache *cache, uint64_t line);

/* stacks.c: thread stacks. */
static inline bool cache_in_stacks(const struct cache *cache, uint64_t line)
{
    return line - cache->stacks.first < cache->stacks.size;
}
/* Returns whether the words of a line are valid, and counts a use of the line. */
bool cache_stack_load(struct cache *cache, uint64_t line, uint64_t words);
/* Makes the words that have arrived valid, if their line is in the array. fresh: the line was not there
 * before. */
void cache_stack_filled(struct cache *cache, uint64_t line, uint64_t words, bool fresh);
/* Removes a line; writes its valid words back at `time` if `write`. */
void cache_stack_evict(struct cache *cache, uint32_t index, bool write, uint64_t time);

/* maintain.c */
/* The request to the levels below was answered. */
void cache_upkeep_answered(struct cache_upkeep *upkeep, uint64_t now);
/* Makes the stalled operations try again at `now`. */
void cache_upkeep_resume(struct cache *cache, uint64_t now);
/* Frees all operations. */
void cache_upkeep_free(struct cache *cache);

/* Returns the configured protocol, or the default for NULL. */
static inline const struct protocol *cache_protocol(const struct cache_config *config)
{
    if (config->protocol)
        return config->protocol;
    if (config->coherent)
        return &protocol_mesi;
    return config->write_through ? &protocol_write_through : &protocol_write_back;
}

/* Calls all waiters, in order. */
static inline void cache_waiters_call(struct cache_waiters *waiters, uint64_t now, unsigned level)
{
    for (struct cache_waiter *waiter; (waiter = cache_waiters_take(waiters));)
        waiter->done(waiter, now, level);
}

/* report.c: call all observers. */
void cache_tell_access(const struct cache *cache, uint64_t line, bool store, const struct cache_actor *actor,
                       uint64_t now);
void cache_tell_fill(const struct cache *cache, uint64_t line, uint64_t asked, uint64_t now, unsigned level);
void cache_tell_write_back(const struct cache *cache, uint64_t line, uint64_t now);
void cache_tell_evict(const struct cache *cache, uint64_t line, uint64_t now);

#endif
