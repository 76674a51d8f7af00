/* The coherence checker: finds accesses to stale lines, and write-backs that overwrite newer data.
 *
 * In a machine with caches outside the coherent domain, programs must clean and invalidate. The emulator
 * computes such a program's data correctly even if it does not, because caches hold no bytes; hardware would
 * not. So the checker keeps the newest version of each line and the version at each holder: the coherent
 * domain (as one holder), each other cache, and memory. A store creates a new version at its holder; a fill
 * copies memory's version; a write-back copies the holder's version to memory. An access is stale if its
 * holder's version is not the newest. A write-back of a whole line loses an update if memory's version is not
 * the one from which the holder's copy comes. An access by a holder without a copy (a store that goes down
 * alone, or an uncached access) is an access to memory's version.
 *
 * Accesses are tracked by line only, so data of two holders in one line are not distinguished. Caches that
 * write back whole lines do not distinguish them either. An access that is reported after a store but is
 * earlier in time, because a core has run ahead, is not stale. While warming, stores count and loads do not.
 * If a copy is cleaned and stored to again before memory has answered, memory gets the later version. */
#ifndef EMU_MEM_COHERENCE_H
#define EMU_MEM_COHERENCE_H

#include <stddef.h>

#include "emu/mem/llc_slices.h"

enum coherence_problem {
    COHERENCE_STALE_LOAD,  /* gets an old value */
    COHERENCE_STALE_STORE, /* changes an old line */
    COHERENCE_LOST_UPDATE, /* overwrites a newer line in memory with an old one */
    COHERENCE_PROBLEMS
};

/* One of the two accesses of a finding. */
struct coherence_side {
    const char *holder; /* name of the holder; "memory": uncached */
    uint64_t pc, time;  /* fs */
    uint16_t core;
};

struct coherence_finding {
    enum coherence_problem problem;
    uint64_t line;                /* physical address of the first byte */
    struct coherence_side access; /* the stale access; for a lost update, the store that memory gets */
    /* the store of the newest version; for a lost update, the store that is lost */
    struct coherence_side writer;
    bool clean_writer;      /* the writer's line should have been cleaned */
    bool invalidate_reader; /* the other side's older copy should then have been invalidated */
    bool fetch;             /* the stale load is an instruction fetch */
    bool dropped;           /* the newest version was invalidated and exists nowhere */
    uint64_t found;         /* time of the finding */
};

struct coherence_counters {
    uint64_t problems[COHERENCE_PROBLEMS]; /* findings, by problem */
    uint64_t reports;                      /* reports: one for each problem and pair of pcs */
};

struct coherence;

/* Makes a checker without holders. granule is in bytes: a power of two, at least 16 and at most the smallest
 * line of the watched caches. report() is called at once for the first finding of a problem between two pcs.
 * Memory use grows with the lines touched. Never NULL; aborts if the host has no memory. Free with
 * coherence_free(), after the last event. */
struct coherence *coherence_new(uint32_t granule,
                                void (*report)(void *context, const struct coherence_finding *finding),
                                void *context);
void coherence_free(struct coherence *checker);

/* Watches the last level. Its slices and all first-level caches above it are one holder. Each of those caches
 * must also be watched, with this last level. */
void coherence_watch_llc(struct coherence *checker, struct llc_slices *llc);

/* Watches a cache above a watched last level, or, if llc is NULL, one that is filled from memory. */
void coherence_watch_cache(struct coherence *checker, struct cache *cache, const struct llc_slices *llc);

/* Records an uncached access to [address, address + size). */
void coherence_uncached(struct coherence *checker, uint64_t address, uint64_t size, bool store,
                        struct cache_actor actor, uint64_t now);

/* The same events for other holders. coherence_holder() adds a holder and returns its number; `line` is the
 * size of its lines in bytes. write_through: it writes back only stored bytes, so it loses no updates of
 * others. The name must outlive the checker. */
unsigned coherence_holder(struct coherence *checker, const char *name, uint32_t line, bool write_through);
void coherence_access(struct coherence *checker, unsigned holder, uint64_t line, bool store,
                      struct cache_actor actor, uint64_t now);
void coherence_fill(struct coherence *checker, unsigned holder, uint64_t line, uint64_t now);
void coherence_write_back(struct coherence *checker, unsigned holder, uint64_t line, uint64_t now);
void coherence_evict(struct coherence *checker, unsigned holder, uint64_t line);

const struct coherence_counters *coherence_counted(const struct coherence *checker);

/* Registers "stale_loads", "stale_stores", "lost_updates" and "reports". */
void coherence_publish(struct coherence *checker, struct stats *stats, struct scope scope);

/* Returns a sentence that tells how to repair a finding. The result is constant. */
const char *coherence_advice(const struct coherence_finding *finding);

#endif
