/* The coherence checker: finds accesses whose newest version is elsewhere, and write-backs that undo others.
 *
 * Machines with caches outside of the coherent side leave it to programs to clean and invalidate. The bytes
 * of such a program are right in the emulator all the same, because caches hold none; on silicon they would
 * not be. So the checker keeps, for each line, the newest version and who has which: the coherent side as one
 * holder, each other cache, and memory. A store makes a new version at its holder; a fill copies memory's; a
 * write-back gives memory the holder's. An access is stale when its holder's version is not the newest. A
 * write-back of a whole line loses an update when memory's version is not the one that the holder's copy
 * comes from. An access of a holder without a copy, a store that goes down alone, is memory's, as an uncached
 * one.
 *
 * Accesses are known by line only: data of two sides in one line are one datum, as they are to caches that
 * write whole lines back. An access that is told after a store but lies before it in time, because a core ran
 * ahead, is not stale. While warming, stores count and loads do not. A copy that was cleaned and stored to again before
 * memory has answered counts as written back as it is then.
 */
#ifndef EMU_MEM_COHERENCE_H
#define EMU_MEM_COHERENCE_H

#include <stddef.h>

#include "emu/mem/llc_slices.h"

enum coherence_problem {
    COHERENCE_STALE_LOAD,  /* it gets an old value */
    COHERENCE_STALE_STORE, /* it changes an old line */
    COHERENCE_LOST_UPDATE, /* an old line overwrites memory's newer one */
    COHERENCE_PROBLEMS
};

/* One of the two sides of a finding. */
struct coherence_side {
    const char *holder; /* its name; "memory": uncached */
    uint64_t pc, time;  /* fs */
    uint16_t core;
};

struct coherence_finding {
    enum coherence_problem problem;
    uint64_t line;                /* physical address of the first byte */
    struct coherence_side access; /* the stale access; of a lost update, the store that memory gets */
    struct coherence_side writer; /* who wrote the newest version; of a lost update, the one that is lost */
    bool clean_writer;            /* what was missing: the writer's line had to be cleaned */
    bool invalidate_reader;       /* ... and the other side's older copy invalidated, after that */
    bool fetch;                   /* the stale load is of an instruction */
    bool dropped;                 /* the newest version was invalidated and is nowhere */
    uint64_t found;               /* time at which it was found */
};

struct coherence_counters {
    uint64_t problems[COHERENCE_PROBLEMS]; /* all of them */
    uint64_t reports;                      /* pairs of places that were reported */
};

struct coherence;

/* A checker without holders. granule: bytes, a power of two from 16 on, at most the smallest line of what is
 * watched. report() is called at once, for the first finding of a problem between two pcs. Memory grows with
 * the lines touched (out of memory aborts); never NULL. Free with coherence_free(), after the last event. */
struct coherence *coherence_new(uint32_t granule,
                                void (*report)(void *context, const struct coherence_finding *finding),
                                void *context);
void coherence_free(struct coherence *checker);

/* Watches the last level: its slices and all first-level caches above it are one holder. Each of these caches has
 * to be watched too, and be given the last level. */
void coherence_watch_llc(struct coherence *checker, struct llc_slices *llc);

/* Watches a cache: above the last level, which is watched already, or on its own and filled from memory (NULL). */
void coherence_watch_cache(struct coherence *checker, struct cache *cache, const struct llc_slices *llc);

/* An access of [address, address + size) that passes all caches. */
void coherence_uncached(struct coherence *checker, uint64_t address, uint64_t size, bool store,
                        struct cache_actor actor, uint64_t now);

/* What watching comes down to, for other holders of lines. A holder is known by its number; `line` is the
 * bytes that it deals in; write_through: it writes back only what was stored, and so loses nothing of others.
 * The name must outlive the checker. */
unsigned coherence_holder(struct coherence *checker, const char *name, uint32_t line, bool write_through);
void coherence_access(struct coherence *checker, unsigned holder, uint64_t line, bool store,
                      struct cache_actor actor, uint64_t now);
void coherence_fill(struct coherence *checker, unsigned holder, uint64_t line, uint64_t now);
void coherence_write_back(struct coherence *checker, unsigned holder, uint64_t line, uint64_t now);
void coherence_evict(struct coherence *checker, unsigned holder, uint64_t line);

const struct coherence_counters *coherence_counted(const struct coherence *checker);

/* Registers "stale_loads", "stale_stores", "lost_updates" and "reports". */
void coherence_publish(struct coherence *checker, struct stats *stats, struct scope scope);

/* What to do about a finding, in one sentence. The result is constant. */
const char *coherence_advice(const struct coherence_finding *finding);

#endif
