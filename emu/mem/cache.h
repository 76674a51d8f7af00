/* A first-level cache of a core. Hits are answered at once; misses are sent down a link and answered by a
 * callback.
 *
 * The cache holds only tags, states and times; the bytes are in physical memory. A core that has run ahead of
 * the event queue may give times in the future; requests leave the cache when the queue reaches those times.
 *
 * Timing. A lookup takes hit_clocks. A miss sends its request at the end of the lookup and is done when the
 * response arrives; of several accesses to a line, the earliest determines the time. A read of a line with a
 * write on its way down is sent when that write has been answered. A line arrives whole and chooses its
 * victim then. A victim for which the write buffer has no free entry keeps the MSHR of the line that replaces
 * it. The level below refuses reads and writes independently; refused requests are sent in order when there
 * is room.
 *
 * Stores that go down (write-through, or misses without write-allocate) are done when they are in the write
 * buffer. They are sent as the aligned 8 bytes around them, and merge with an unsent store to the same line.
 * When a store to a line that is not in the cache is answered, observers are told of an access, a write_back
 * and an evict.
 *
 * The prefetcher (prefetch.h) learns from loads, stores and fetches; stride from all of them, the others
 * from misses and first uses of prefetched lines. Prefetches give way to accesses: they use no reserved
 * MSHR, are sent at the end of a lookup like misses, and are given up if the level below refuses or drops
 * them, or if a write of the line is under way. An access to a line that is being prefetched turns the
 * prefetch into its own miss.
 *
 * Prefetch instructions (cache_prefetch()) are counted as prefetches, too. They may use the reserved MSHRs, wait for
 * room in the level below as misses do, and teach the prefetcher nothing.
 *
 * Thread stacks (cache_set_stacks()) are write-back in any cache, with a mask of valid words for each line. A
 * store that misses takes a line without bringing it in, because a stack has no contents until it is written;
 * a load of words that are not valid brings the line in. Only valid words are written back. cache_drop()
 * forgets stacks whose threads have ended, here and in the caches below; it takes no time.
 *
 * By word (cache_join()). The cache is a unit of a DeNovo domain: its words have states, misses and stores are messages, and it is
 * write-back (cache/by_word.c). A hit takes hit_clocks, and so does a forward until it is answered. Up to `mshrs` lines can have
 * loads that wait, and twice as many lines anything under way; write_buffer is the number of write-backs. Prefetch instructions are
 * dropped, and warming changes nothing.
 *
 * Not modelled: ports and banks of the arrays, the time and energy of the prefetcher's table, critical word
 * first (a response is a whole line), loads served from the write buffer, and the time for which probes
 * occupy the tags. */
#ifndef EMU_MEM_CACHE_H
#define EMU_MEM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/cache/prefetch.h"
#include "emu/mem/cache/tags.h"
#include "emu/mem/cache/waiter.h"
#include "emu/mem/keep_out.h"
#include "emu/mem/protocol.h"
#include "emu/mem/push.h"
#include "emu/mem/request.h"
#include "emu/sim/clock.h"
#include "emu/sim/error.h"
#include "emu/sim/observer.h"
#include "emu/sim/part.h"
#include "emu/sim/report/energy.h"
#include "emu/sim/report/stats.h"

/* Numbers of the states in the built-in protocols. A cache without coherence has no SHARED. */
enum cache_state { CACHE_INVALID, CACHE_SHARED, CACHE_EXCLUSIVE, CACHE_MODIFIED };

struct cache_config {
#include "emu/sim/fields_struct.h"

#include "emu/mem/cache.def"
    /* the level below keeps a directory and grants states; set by the cache's place in the machine */
    bool coherent;
    const struct protocol *protocol; /* grain PROTOCOL_LINE; NULL: MESI if coherent, else by write_through */
};

extern const struct part_kind cache_kind;

struct cache;
struct denovo_domain;
struct denovo_place;
struct track_sink;
struct word_versions;

/* Receives the events of a cache. Functions may be NULL. Times are simulated. */
struct cache_observer {
    struct observer link;
    /* An access to a line that is in the cache or has just arrived. `store`: the access writes the line.
     * Speculative accesses and prefetches are reported only by their fills. */
    void (*access)(void *context, const struct cache *cache, uint64_t line, bool store,
                   const struct cache_actor *actor, uint64_t now);
    /* fill: a line has arrived. write_back: the level below has answered the write-back of a line. evict: a
     * line has left, after its write-back if it was dirty, unless a probe or an invalidation took it. A fill
     * with level MEM_LEVEL_MEMORY and asked == now may come from warming. */
    void (*fill)(void *context, const struct cache *cache, uint64_t line, uint64_t asked, uint64_t now,
                 unsigned level);
    void (*write_back)(void *context, const struct cache *cache, uint64_t line, uint64_t now);
    void (*evict)(void *context, const struct cache *cache, uint64_t line, uint64_t now);
    /* Only from a last level (llc.h): a holder above was probed. dirty: its copy was dirty. */
    void (*probe)(void *context, const struct cache *cache, uint64_t line, bool dirty, uint64_t now);
    void *context;
};

/* Makes a cache with all lines invalid, whose events have the given component number and whose requests go to
 * lower_ops/lower with number `requester`. The configuration must have passed cache_kind's check. queue and
 * clock must outlive the cache. Never NULL; aborts if the host has no memory. Free with cache_free(). */
struct cache *cache_new(const char *name, const struct cache_config *config, struct event_queue *queue,
                        const struct clock *clock, uint32_t component, uint16_t requester,
                        const struct mem_port_ops *lower_ops, void *lower);
void cache_free(struct cache *cache);

/* Returns whether a cache of this configuration can be by word; false with err set. `role` is its key. */
bool cache_may_join(const struct cache_config *config, const char *role, struct error *err);

/* Makes the cache a unit of a DeNovo domain (denovo.h), at a place: it keeps its words' states, and is write-back. Its lines go to
 * the domain's registries; only ranges to clean or invalidate go to the port below. It must have no prefetcher and not be coherent.
 * Call it before the first access. */
void cache_join(struct cache *cache, struct denovo_domain *domain, const struct denovo_place *place);
/* Returns the domain and stores the place; NULL: the cache is in none. */
struct denovo_domain *cache_domain(const struct cache *cache, struct denovo_place *place);
bool cache_is_by_word(const struct cache *cache);

/* Synchronization of programs with such a cache; with others, it does nothing. cache_release() returns whether all stores so far are
 * registered and all atomics done; else it calls the waiter (or NULL) when they are. cache_acquire() drops the words that others
 * may have stored since. */
bool cache_release(struct cache *cache, struct cache_waiter *waiter);
void cache_acquire(struct cache *cache);

/* Makes the words of such a cache carry versions (word_versions.h), as an agent. Call it before the first access. cache_versions()
 * returns the checker, or NULL, and the agent; cache_released() tells it that the agent has completed a release. */
void cache_check_words(struct cache *cache, struct word_versions *versions, unsigned agent);
struct word_versions *cache_versions(const struct cache *cache, unsigned *agent);
void cache_released(struct cache *cache);

/* Connects the cache to the port below, if cache_new() was given none. Call it before the first access. */
void cache_connect(struct cache *cache, const struct mem_port_ops *ops, void *port);

/* Makes the cache the last level: its requests get their homes from this map, which must outlive it. */
void cache_set_homes(struct cache *cache, struct home_map *homes);

/* Returns the link to the level below, by which that level identifies the cache. */
struct mem_link *cache_link(struct cache *cache);

const char *cache_name(const struct cache *cache);
const struct cache_config *cache_configuration(const struct cache *cache);

/* Adds an observer, which the caller owns (emu/sim/observer.h). Call it before the first access. */
void cache_observe(struct cache *cache, struct cache_observer *observer);

/* Shows the cache as a group of tracks of the sink (emu/mem/cache/track.h) under the cache's name. Call it
 * at most once, before the first access. */
void cache_track(struct cache *cache, struct track_sink *sink);

/* The beginning of struct cache, which the inline functions below use. Private. */
struct cache_front {
    struct tags tags;
    uint64_t line_mask;        /* clears the bits of an address within its line */
    uint64_t inline_span;      /* states from 1 to this one are hits that need no further work; 0: none */
    uint64_t uses[CACHE_USES]; /* accesses, by enum cache_use, without those answered CACHE_FULL */
};

enum cache_outcome cache_access_slowly(struct cache *cache, uint64_t physical, enum cache_use use,
                                       uint64_t time, struct cache_actor actor, struct cache_waiter *waiter);

/* The inline part of an access. If the access hits in the set's most recently used way, counts it and returns
 * true; nothing else changes. Otherwise call cache_access_slowly(). protocol_check() ensures that the numbers
 * of states tell what hits, in every protocol. */
static inline bool cache_hit(struct cache *cache, uint64_t physical, enum cache_use use)
{
    struct cache_front *front = (void *)cache;
    const struct tags *tags = &front->tags;
    uint64_t line = physical & front->line_mask;
    uint64_t state = tags->entries[tags->recent[tags_set(tags, line)]] ^ line;
    bool hit =
        use == CACHE_STORE ? state == CACHE_MODIFIED && front->inline_span : state - 1 < front->inline_span;
    if (__builtin_expect(!hit, 0))
        return false;
    front->uses[use]++;
    return true;
}

/* Makes an access within one line at `time`, at least the queue's now. actor is copied. The waiter may be
 * NULL for a fetch on the wrong path: then there is no callback, and CACHE_FULL ends the access. It must be
 * NULL for CACHE_PREFETCH. */
static inline enum cache_outcome cache_access(struct cache *cache, uint64_t physical, enum cache_use use,
                                              uint64_t time, struct cache_actor actor,
                                              struct cache_waiter *waiter)
{
    if (actor.atomic || __builtin_expect(!cache_hit(cache, physical, use), 0))
        return cache_access_slowly(cache, physical, use, time, actor, waiter);
    return CACHE_HIT;
}

/* Prefetches a line for a prefetch instruction, at `time`, at least the queue's now. use: CACHE_LOAD, CACHE_STORE (the line comes
 * with ownership, if the cache is coherent), or CACHE_FETCH. Returns CACHE_HIT if nothing is left to request, CACHE_MISS if the
 * line is outstanding, and CACHE_FULL if the prefetch is dropped. Nobody is called. */
enum cache_outcome cache_prefetch(struct cache *cache, uint64_t physical, enum cache_use use, uint64_t time,
                                  struct cache_actor actor);

/* The part of a SIMT access in one line, from the coalescer (emu/simt/coalesce.h). */
struct cache_words {
    uint64_t line;  /* address of the line */
    uint64_t words; /* set of the 32-bit words that it touches */
    bool divergent; /* for the requests of this access (struct mem_request) */
};

/* cache_access() of all these words in one lookup. A store merges with an unsent write of its line. */
enum cache_outcome cache_access_words(struct cache *cache, const struct cache_words *words,
                                      enum cache_use use, uint64_t time, struct cache_actor actor,
                                      struct cache_waiter *waiter);

/* Returns whether a load of words of the line at `time`, which is not before the queue's, will certainly be refused because
 * all MSHRs are in use and no response comes until then. If so, the load has been made: it is counted, and its waiter is called
 * as after CACHE_FULL. So the caller need not wake up to make it. A run that ends before that time has counted it, too. */
bool cache_full_ahead(struct cache *cache, uint64_t line, uint64_t time, struct cache_waiter *waiter);

/* Does op (MEM_CLEAN, MEM_INVALIDATE or MEM_CLEAN_INVALIDATE) for the lines of [physical, physical + size),
 * in this cache and all levels below, down to memory. Calls the waiter (or NULL) when the last write-back and
 * the request to the levels below have been answered. Waits for outstanding lines of the range to arrive
 * first. Looks up one line each clock, or one set each clock if the cache has fewer sets than the range has
 * lines. A coherent cache keeps a cleaned line as SHARED. */
void cache_maintain(struct cache *cache, enum mem_op op, uint64_t physical, uint64_t size, uint64_t time,
                    struct cache_actor actor, struct cache_waiter *waiter);

/* Invalidates all lines except thread stacks, without write-backs and without time: for FENCE.I in an instruction
 * cache, for reset, and when a launch begins. */
void cache_invalidate_all(struct cache *cache);

/* Brings a line into this cache and those below, as an access would, but without time and statistics: for
 * fast-forwarding. A dirty victim is not written back below. An outstanding line is left to arrive, and then
 * stored to if `store`. Observers are told of stores, not of loads. */
void cache_warm_slowly(struct cache *cache, uint64_t physical, bool store, struct cache_actor actor);
static inline void cache_warm_by(struct cache *cache, uint64_t physical, bool store, struct cache_actor actor)
{
    const struct cache_front *front = (const void *)cache;
    const struct tags *tags = &front->tags;
    uint64_t line = physical & front->line_mask;
    uint64_t state = tags->entries[tags->recent[tags_set(tags, line)]] ^ line;
    if (store ? state != CACHE_MODIFIED || !front->inline_span : state - 1 >= CACHE_MODIFIED)
        cache_warm_slowly(cache, physical, store, actor);
}

/* cache_warm_by() without an actor. */
static inline void cache_warm(struct cache *cache, uint64_t physical, bool store)
{
    cache_warm_by(cache, physical, store, (struct cache_actor){0});
}

/* Makes the lines of [first, first + size) thread stacks, for accesses by cache_access_words(); size 0: none. */
void cache_set_stacks(struct cache *cache, uint64_t first, uint64_t size);

/* Drops the bytes of [first, first + size), which are stacks of threads that have ended, without writing them
 * back, here and, if `below`, whole lines of them in the caches below. */
void cache_drop(struct cache *cache, uint64_t first, uint64_t size, bool below);

/* Returns the number of lines of stacks written back so far. */
uint64_t cache_stacks_written(const struct cache *cache);

/* Prepares an access that bypasses the cache: removes the line as cache_forget() does; a dirty line of a
 * thread stack goes to the write buffer. Returns false if the line is of a stack and the write buffer is
 * full; then the waiter is called when there is room. */
bool cache_give_up(struct cache *cache, uint64_t line, uint64_t now, struct cache_waiter *waiter);

/* Registers "stack.allocated" and the other counters of thread stacks. */
void cache_publish_stacks(struct cache *cache, struct stats *stats, struct scope scope);

/* cache_maintain() without time, here and below. Leaves outstanding lines as they are. */
void cache_warm_maintain(struct cache *cache, enum mem_op op, uint64_t physical, uint64_t size);

/* Keeps prefetches and speculative accesses out of the ranges of the list, also those that have not left the
 * cache when a range is set. The list, or NULL, must outlive the cache's last event. */
void cache_keep_out(struct cache *cache, const struct keep_out *list);

/* Applies a probe by the last level, PROTOCOL_PROBE_..., to a line. Returns whether the line was dirty; then
 * the caller gets its newest version. */
bool cache_probe(struct cache *cache, uint64_t line, enum protocol_event probe, uint64_t now);

/* Calls received(), with the cache's link, when the response to a read or a write of a line has arrived, after the accesses that
 * wait for it have been served. */
void cache_set_receiver(struct cache *cache,
                        void (*received)(void *context, const struct mem_link *link, uint64_t line,
                                         uint64_t now),
                        void *context);

/* Removes a line that is not dirty, without time. Unsent stores to it are still written. */
void cache_forget(struct cache *cache, uint64_t line, uint64_t now);

/* Remove a line, or all lines but thread stacks, without write-backs and without time. A line that was
 * requested from the level below and has not arrived serves the accesses that already wait for it, and is not
 * kept; later accesses wait until it has arrived, and then request it again. Not for coherent caches. */
void cache_expire(struct cache *cache, uint64_t line, uint64_t now);
void cache_expire_all(struct cache *cache);

/* Calls the push when all writes that are in the write buffer now have been answered. Returns false if there are none. */
bool cache_push(struct cache *cache, struct mem_push *push);

/* Returns whether the write buffer has words of the line. */
bool cache_writing(const struct cache *cache, uint64_t line);

/* Returns the state of a line, for tests and debuggers. */
enum cache_state cache_line_state(const struct cache *cache, uint64_t physical);

/* Returns the number of prefetches that are outstanding or whose lines are in the cache, not used so far. It
 * equals the statistic "prefetches" less "prefetches_useful", "prefetches_late", "prefetches_unused" and
 * "prefetches_returned". */
uint64_t cache_prefetches_pending(const struct cache *cache);

/* Registers "hits", "misses" and the other statistics. */
void cache_publish(struct cache *cache, struct stats *stats, struct scope scope);

/* Opens the account "access" in the ledger, unless both energies are 0. */
void cache_energy(struct cache *cache, struct energy_ledger *ledger, struct scope scope);

#endif
