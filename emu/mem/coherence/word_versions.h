/* The coherence checker for DeNovo: versions of words.
 *
 * Each store makes a new version of its word. Places carry versions with the words: caches, stashes, lines of the last level, messages,
 * and memory, whose versions are here. A load of a version is stale if another store comes between, by happens-before: the version's store
 * happens before it, and it happens before the load. One access happens before another one of the same agent (a core, or a
 * multiprocessor with its cache and its stash), and of one that has acquired since the first agent completed a release after it. DeNovo keeps
 * this promise for any release and acquire in that order, whatever else synchronizes the two, so that a stale load is a fault of the
 * protocol or an event that should have synchronized and does not. A load of a version that is not the newest one is a race otherwise, and
 * the program is at fault: the load races with a later store, or the stores race, and then the registry may have ordered them the other
 * way round. A load that was sent before its agent has acquired, for another warp, is no stale one.
 *
 * Within a multiprocessor, a word must not be stored by one of cache and stash, and loaded or stored by the other, without a release
 * between ("Stash", ISCA 2015, section 4.3): these are split words.
 *
 * The last four stores of a word are kept. If those between them and an older one race, it is not known what that one happens before: a load of its
 * version is then told as a race. */
#ifndef EMU_MEM_WORD_VERSIONS_H
#define EMU_MEM_WORD_VERSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/report/stats.h"

enum word_problem { WORD_STALE, WORD_RACE, WORD_SPLIT, WORD_PROBLEMS };

/* One of the two accesses of a finding. */
struct word_side {
    const char *agent;
    bool stash, atomic;
    uint64_t pc, time; /* fs */
};

struct word_finding {
    enum word_problem problem;
    uint64_t address;                /* physical, of the word */
    bool store;                      /* the second access stores: WORD_SPLIT */
    struct word_side access, writer; /* the load or the second access; the later store or the first access */
};

struct word_versions;

/* line: bytes, at most 128. report() is called for the first finding of a problem between two pcs. Never NULL. */
struct word_versions *word_versions_new(uint32_t line,
                                        void (*report)(void *context, const struct word_finding *finding),
                                        void *context);
void word_versions_free(struct word_versions *versions);

/* Adds an agent and returns its number. The name must outlive the checker. */
unsigned word_versions_agent(struct word_versions *versions, const char *name);

/* An access to a word. */
struct word_access {
    unsigned agent;
    bool stash; /* by the agent's stash, not its cache */
    uint64_t address, pc, time;
    uint64_t issued; /* of a load: word_versions_clock() when it was sent; 0: now */
};
/* Returns a time of the checker, never 0: it counts stores and acquires. */
uint64_t word_versions_clock(const struct word_versions *versions);
/* Returns the version that a store makes. */
uint32_t word_versions_store(struct word_versions *versions, const struct word_access *access);
/* A load gets a version. If its word has been stored to since it was sent, it may be older. */
void word_versions_load(struct word_versions *versions, const struct word_access *access, uint32_t version);

/* An atomic of unit `unit` with this tag has been sent; the last level does it: values[] has the versions of the line's words, and gets
 * new ones in mask. unit DENOVO_CLIENT: somebody without a unit. */
void word_versions_send(struct word_versions *versions, uint16_t unit, uint32_t tag,
                        const struct word_access *access);
void word_versions_operate(struct word_versions *versions, uint16_t unit, uint32_t tag, uint64_t line,
                           uint64_t mask, uint32_t *values, uint64_t now);

/* The agent has completed a release; it acquires. */
void word_versions_release(struct word_versions *versions, unsigned agent);
void word_versions_acquire(struct word_versions *versions, unsigned agent);

/* Returns the versions that memory has of a line's words. */
uint32_t *word_versions_memory(struct word_versions *versions, uint64_t line);

/* Returns the number of findings of a problem. */
uint64_t word_versions_found(const struct word_versions *versions, enum word_problem problem);

/* Registers "stale_words", "races" and "split_words". */
void word_versions_publish(const struct word_versions *versions, struct stats *stats, struct scope scope);

#endif
