/* A first-level cache beside a core: hits are answered at once, misses go down a link and come back by
 * callback.
 *
 * Only tags, states and times are here; the bytes are in physical memory. A core that has run ahead of the
 * event queue may give times that lie in the future; requests leave the cache when the queue gets there.
 *
 * Time: a lookup takes hit_clocks. A miss sends its request when the lookup is over, and is done when the
 * answer comes; of several accesses to the line the earliest counts. A line of which a write is on its way
 * down is read when that has been answered. Lines come in whole, and choose their victim then. A victim for
 * which the write buffer has no place keeps the MSHR for which it had to leave. Reads and writes are refused
 * by the level below apart from each other, and go in their order when there is room.
 *
 * Stores that go down (write-through, or misses without write-allocate) are done when the write buffer has
 * them; they go as the aligned 8 bytes around them, and unite with one to the same line that has not been
 * sent. Whoever watches is told of a store that goes down alone when it has been answered: access,
 * write_back, evict.
 *
 * Not modelled: ports and banks of the arrays, critical word first (an answer is a whole line), loads served
 * from the write buffer, and the time that probes occupy the tags.
 */
#ifndef EMU_MEM_CACHE_H
#define EMU_MEM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/cache_waiter.h"
#include "emu/mem/prefetch.h"
#include "emu/mem/protocol.h"
#include "emu/mem/request.h"
#include "emu/mem/tags.h"
#include "emu/sim/clock.h"
#include "emu/sim/energy.h"
#include "emu/sim/error.h"
#include "emu/sim/observer.h"
#include "emu/sim/part.h"
#include "emu/sim/stats.h"

/* Numbers of the states in the shipped protocols; a cache without coherence has no SHARED. */
enum cache_state { CACHE_INVALID, CACHE_SHARED, CACHE_EXCLUSIVE, CACHE_MODIFIED };

struct cache_config {
#include "emu/sim/fields_struct.h"

#include "emu/mem/cache.def"
    bool coherent; /* the level below keeps a directory and grants states; follows from where the cache is */
    const struct protocol *protocol; /* by line; NULL: MESI if coherent, else as write_through says */
};

extern const struct part_kind cache_kind;

struct cache;
struct track_sink;

/* Is told what happens at a cache; any of the functions may be NULL. Times are simulated. */
struct cache_observer {
    struct observer link;
    /* An access to a line that the cache has, or has just got; `store` whether it makes it newer. Of
     * speculative ones and prefetches only the fills are told. */
    void (*access)(void *context, const struct cache *cache, uint64_t line, bool store,
                   const struct cache_actor *actor, uint64_t now);
    /* A line has come in / was written back, which the level below has answered / has gone (written back
     * first if it was dirty, unless it was probed away or invalidated). A level of MEM_LEVEL_MEMORY and
     * asked == now tells of warming too. */
    void (*fill)(void *context, const struct cache *cache, uint64_t line, uint64_t asked, uint64_t now,
                 unsigned level);
    void (*write_back)(void *context, const struct cache *cache, uint64_t line, uint64_t now);
    void (*evict)(void *context, const struct cache *cache, uint64_t line, uint64_t now);
    /* Of a last level (llc.h): a holder above has been asked for its copy, which was dirty or not. */
    void (*probe)(void *context, const struct cache *cache, uint64_t line, bool dirty, uint64_t now);
    void *context;
};

/* A cache, all lines invalid, whose events have the given component number and whose requests go to
 * lower_ops/lower with number `requester`. Config must have passed cache_kind's check; queue, clock and what observer
 * points to must outlive it. Allocates (out of memory aborts); never NULL. Free with cache_free(). */
struct cache *cache_new(const char *name, const struct cache_config *config, struct event_queue *queue,
                        const struct clock *clock, uint32_t component, uint16_t requester,
                        const struct mem_port_ops *lower_ops, void *lower);
void cache_free(struct cache *cache);

/* Joins it to the port below, when cache_new() was given none. To be called before the first access. */
void cache_connect(struct cache *cache, const struct mem_port_ops *ops, void *port);

/* It is the last level: requests get their homes from this map, which outlives it, when they leave. */
void cache_set_homes(struct cache *cache, struct home_map *homes);

/* The link to the level below, by which that level knows the cache. */
struct mem_link *cache_link(struct cache *cache);

const char *cache_name(const struct cache *cache);
const struct cache_config *cache_configuration(const struct cache *cache);

/* Adds an observer, which stays the caller's (emu/sim/observer.h). To be called before the first access. */
void cache_observe(struct cache *cache, struct cache_observer *observer);

/* Shows the cache on tracks of the sink (cache_track.h), as a group of the cache's name. To be called once, before the first
 * access. */
void cache_track(struct cache *cache, struct track_sink *sink);

/* What cache_access() needs of a cache, and what the cache begins with; here so that hits are inline.
 * Private. */
struct cache_front {
    struct tags tags;
    uint64_t line_mask;        /* of an address */
    uint64_t inline_span;      /* states up to this one are hits without further ado; 0: none are */
    uint64_t uses[CACHE_USES]; /* accesses, by enum cache_use; those answered CACHE_FULL do not count */
};

enum cache_outcome cache_access_slowly(struct cache *cache, uint64_t physical, enum cache_use use,
                                       uint64_t time, struct cache_actor actor, struct cache_waiter *waiter);

/* The part of an access that is inline: whether it is a hit in the way that was used last, which then is
 * counted, and changes nothing else. Otherwise it has to be made by cache_access_slowly(). State numbers
 * say what hits in every protocol: protocol_check(). */
static inline bool cache_hit(struct cache *cache, uint64_t physical, enum cache_use use)
{
    struct cache_front *front = (void *)cache;
    const struct tags *tags = &front->tags;
    uint64_t line = physical & front->line_mask;
    uint32_t set = tags_set(tags, line);
    uint64_t state = tags->entries[set * tags->ways + tags->recent[set]] ^ line;
    bool hit =
        use == CACHE_STORE ? state == CACHE_MODIFIED && front->inline_span : state - 1 < front->inline_span;
    if (__builtin_expect(!hit, 0))
        return false;
    front->uses[use]++;
    return true;
}

/* An access at `time` (at least the queue's now), in one line. actor is kept by value. The waiter may be NULL
 * (a fetch down the wrong path): then nobody is called, and after CACHE_FULL nothing happens; it has to be
 * NULL for CACHE_PREFETCH. */
static inline enum cache_outcome cache_access(struct cache *cache, uint64_t physical, enum cache_use use,
                                              uint64_t time, struct cache_actor actor,
                                              struct cache_waiter *waiter)
{
    if (__builtin_expect(!cache_hit(cache, physical, use), 0))
        return cache_access_slowly(cache, physical, use, time, actor, waiter);
    return CACHE_HIT;
}

/* What a SIMT access wants of one line, as the coalescer makes it (emu/simt/coalesce.h). */
struct cache_words {
    uint64_t line;  /* its address */
    uint64_t words; /* bit: 32-bit word that a store writes */
    bool divergent; /* of the requests that this leads to: struct mem_request */
};

/* cache_access() of all these words in one lookup. A store to a line whose write has not been sent unites
 * with it. */
enum cache_outcome cache_access_words(struct cache *cache, const struct cache_words *words,
                                      enum cache_use use, uint64_t time, struct cache_actor actor,
                                      struct cache_waiter *waiter);

/* Clean, invalidate or both (op: MEM_CLEAN ...) of the lines of [physical, physical + size), here and in all
 * levels below up to memory. The waiter (or NULL) is called when the last write-back has been answered and
 * the levels below have answered the same for the range. Lines under way are dealt with when they have come.
 * One line is looked up each clock, or each set of the cache where those are fewer. A coherent cache keeps a
 * cleaned line as SHARED. */
void cache_maintain(struct cache *cache, enum mem_op op, uint64_t physical, uint64_t size, uint64_t time,
                    struct cache_actor actor, struct cache_waiter *waiter);

/* All lines at once, without writing anything back and without time: FENCE.I for an instruction cache, reset.
 */
void cache_invalidate_all(struct cache *cache);

/* Brings the line in as an access would, here and below, but without time and without counting:
 * fast-forwarding. A dirty line that it displaces needs no write-back below. A line that is under way already
 * is left to come, and a store made to it then. Whoever watches is told of stores, not of loads. */
void cache_warm_slowly(struct cache *cache, uint64_t physical, bool store, struct cache_actor actor);
static inline void cache_warm_by(struct cache *cache, uint64_t physical, bool store, struct cache_actor actor)
{
    const struct cache_front *front = (const void *)cache;
    const struct tags *tags = &front->tags;
    uint64_t line = physical & front->line_mask;
    uint32_t set = tags_set(tags, line);
    uint64_t state = tags->entries[set * tags->ways + tags->recent[set]] ^ line;
    if (store ? state != CACHE_MODIFIED || !front->inline_span : state - 1 >= CACHE_MODIFIED)
        cache_warm_slowly(cache, physical, store, actor);
}

/* The same for nobody in particular. */
static inline void cache_warm(struct cache *cache, uint64_t physical, bool store)
{
    cache_warm_by(cache, physical, store, (struct cache_actor){0});
}

/* cache_maintain() without time, here and below. Lines under way are left as they are. */
void cache_warm_maintain(struct cache *cache, enum mem_op op, uint64_t physical, uint64_t size);

/* Prefetches and speculative accesses do not touch [first, last]; one range, replaced by the next call;
 * first > last: none. */
void cache_keep_out(struct cache *cache, uint64_t first, uint64_t last);

/* What the last level does to a line: PROTOCOL_PROBE_... Returns whether the line was dirty (its
 * newest version then goes to the caller). */
bool cache_probe(struct cache *cache, uint64_t line, enum protocol_event probe, uint64_t now);

/* Takes a line that is not dirty out, without time; stores to it that wait to be written go on. */
void cache_forget(struct cache *cache, uint64_t line, uint64_t now);

/* The state of a line, for tests and debuggers. */
enum cache_state cache_line_state(const struct cache *cache, uint64_t physical);

/* Registers "hits", "misses" and all else that is counted. */
void cache_publish(struct cache *cache, struct stats *stats, struct scope scope);

/* Opens the account "access" in the ledger, unless both energies are 0. */
void cache_energy(struct cache *cache, struct energy_ledger *ledger, struct scope scope);

#endif
