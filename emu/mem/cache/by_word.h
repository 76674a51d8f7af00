/* A first-level cache as the holder of a DeNovo unit (by_word.c). */
#ifndef EMU_MEM_CACHE_BY_WORD_H
#define EMU_MEM_CACHE_BY_WORD_H

#include "emu/mem/cache/state.h"
#include "emu/mem/coherence/word_versions.h"
#include "emu/mem/denovo_domain.h"

/* The state in the tags of a line with words that cannot be read; with CACHE_EXCLUSIVE, all words of the line can be read, and
 * with CACHE_MODIFIED all are registered. As the number is beyond CACHE_MODIFIED, no such line hits inline. */
enum { CACHE_PARTIAL = CACHE_MODIFIED + 2 };

/* X(name, unit, meaning) for the statistics by word. */
#define CACHE_WORD_COUNTERS(X)                                                                               \
    X(registrations, "requests", "Registrations of words of a line")                                         \
    X(words_registered, "words", "Words that were registered because they were stored")                      \
    X(words_installed, "words", "Words that answers have brought and the cache has kept")                    \
    X(words_written_back, "words", "Registered words that left to make room")                                \
    X(words_taken, "words",                                                                                  \
      "Registered words that others have registered, or the last level has called back")                     \
    X(acquires, "operations", "Self-invalidations")                                                          \
    X(words_dropped, "words", "Valid words that self-invalidations have dropped")                            \
    X(operations, "operations", "Atomics, done at the last level")

struct cache_by_word {
    struct denovo_domain *domain;
    struct denovo_place place;
    struct denovo_unit *unit;
    uint64_t *valid, *registered; /* by index of the tags: sets of words */
    uint64_t all;                 /* the set of all words of a line */
    bool some_valid;              /* since the last self-invalidation */
    bool leaving;                 /* the cache itself writes words back */
    uint8_t level;                /* of the message that is being received */
    uint16_t number;              /* of the unit */
    unsigned agent;
    struct word_versions *versions; /* NULL: words have no versions */
    uint32_t *version;              /* by index, and by word of its line */
    const uint32_t *kept;           /* versions of the words that set() is about to install */
    struct cache_waiters settles;   /* waiters for the end of a release */
    struct cache_waiter **operated; /* by tag: who waits for an atomic; NULL: free */
#define CACHE_COUNTER(name, unit, meaning) uint64_t name;
    CACHE_WORD_COUNTERS(CACHE_COUNTER)
#undef CACHE_COUNTER
};

/* An access to words of a line, as cache_access() has it. `part`: it stores only some bytes of a word. */
struct cache_word_access {
    uint64_t line, words;
    bool part;
    struct mshr_target target;
};
enum cache_outcome cache_word_access(struct cache *cache, const struct cache_word_access *access);

/* Makes the line's registered words leave, and drops the others if `drop`. Returns false if they cannot leave now. */
bool cache_word_clean(struct cache *cache, uint32_t index, bool drop, uint64_t now);
/* Returns whether words are on their way to the last level. */
bool cache_word_writing(const struct cache *cache);
/* Drop the Valid words of a line, or all of them. */
void cache_word_drop(struct cache *cache, uint32_t index);
void cache_word_acquire(struct cache *cache);
/* Fills in and frees the state. */
void cache_word_join(struct cache *cache, struct denovo_domain *domain, const struct denovo_place *place);
void cache_word_free(struct cache *cache);

#endif
