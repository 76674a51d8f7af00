/* The tags of a set-associative array: lookup, replacement and states, for caches of all levels and TLBs.
 *
 * An entry is one word: the key, whose low four bits are 0, with a state of 1 to 15 in those bits. An invalid
 * entry is 0. So a single comparison tells whether an entry is valid and has the key. The owner keeps its
 * other data of an entry in its own arrays, by the entry's index. */
#ifndef EMU_MEM_CACHE_TAGS_H
#define EMU_MEM_CACHE_TAGS_H

#include <stdbool.h>
#include <stdint.h>

/* LRU is exact. Tree-PLRU keeps a bit for each inner node of a binary tree over the ways, which points away
 * from the half that was used last; the victim is the leaf to which the bits lead (Al-Zoubi, Milenkovic,
 * Milenkovic, "Performance evaluation of cache replacement policies", 2004, section 2). Both choose invalid
 * ways first. */
enum tags_replacement { TAGS_LRU, TAGS_TREE_PLRU };
extern const char *const tags_replacement_names[]; /* by value, then NULL */

enum { TAGS_WAYS = 64, TAGS_STATE_BITS = 4, TAGS_STATES = 1 << TAGS_STATE_BITS };

#define TAGS_NONE UINT32_MAX

struct tags {
    uint64_t *entries; /* the ways of set 0, those of set 1, ... */
    uint32_t *recent;  /* index of the entry used last, by set */
    uint32_t shift;    /* set number = key >> shift, modulo the number of sets */
    uint32_t set_mask;
    uint32_t ways;
    uint32_t levels; /* depth of the tree: log2 of ways */
    enum tags_replacement replacement;
    uint64_t age; /* number of the latest use */
    /* LRU: age of the last use, by entry; PLRU: bits of the tree, by set; node 1 is the root */
    uint64_t *use;
};

/* Makes an array without valid entries. sets is a power of two; ways is 1 to TAGS_WAYS, for tree-PLRU a power
 * of two; shift is at least TAGS_STATE_BITS. Aborts if the host has no memory. Release it with
 * tags_free(). */
void tags_init(struct tags *tags, uint32_t sets, uint32_t ways, uint32_t shift,
               enum tags_replacement replacement);
void tags_free(struct tags *tags);

static inline uint32_t tags_size(const struct tags *tags)
{
    return (tags->set_mask + 1) * tags->ways;
}

static inline uint32_t tags_set(const struct tags *tags, uint64_t key)
{
    return (uint32_t)(key >> tags->shift) & tags->set_mask;
}

/* Returns the index of the first way of the key's set. */
static inline uint32_t tags_first(const struct tags *tags, uint64_t key)
{
    return tags_set(tags, key) * tags->ways;
}

/* Returns the state of the entry if it is valid and has the key, else 0. */
static inline unsigned tags_match(const struct tags *tags, uint32_t index, uint64_t key)
{
    uint64_t state = tags->entries[index] ^ key;
    return state < TAGS_STATES ? (unsigned)state : 0;
}

/* Compares all ways without branches, which the host could mispredict. */
static inline uint32_t tags_find_way(const struct tags *tags, uint64_t key)
{
    uint32_t first = tags_first(tags, key), found = TAGS_NONE;
    for (uint32_t index = first; index < first + tags->ways; index++)
        found = tags_match(tags, index, key) ? index : found;
    return found;
}

/* Returns the index of the key's entry, or TAGS_NONE. Does not count as a use. */
static inline uint32_t tags_find(const struct tags *tags, uint64_t key)
{
    uint32_t recent = tags->recent[tags_set(tags, key)];
    if (tags_match(tags, recent, key))
        return recent;
    return tags_find_way(tags, key);
}

/* Count a use of the entry, which becomes the most recently used one of its set. */
void tags_touch_other(struct tags *tags, uint32_t set, uint32_t index);
static inline void tags_touch(struct tags *tags, uint32_t index)
{
    uint32_t set = tags_set(tags, tags->entries[index]);
    if (tags->recent[set] != index)
        tags_touch_other(tags, set, index);
}

/* Returns the index of the key's entry and counts a use of it, or returns TAGS_NONE. */
static inline uint32_t tags_lookup(struct tags *tags, uint64_t key)
{
    uint32_t index = tags_find(tags, key);
    if (index != TAGS_NONE)
        tags_touch(tags, index);
    return index;
}

/* Return the state (0: invalid) and the key of any entry. */
static inline unsigned tags_state(const struct tags *tags, uint32_t index)
{
    return (unsigned)(tags->entries[index] & (TAGS_STATES - 1));
}
static inline uint64_t tags_key(const struct tags *tags, uint32_t index)
{
    return tags->entries[index] & ~(uint64_t)(TAGS_STATES - 1);
}

/* Changes the state of a valid entry. The new state is not 0. */
static inline void tags_set_state(struct tags *tags, uint32_t index, unsigned state)
{
    tags->entries[index] = tags_key(tags, index) | state;
}

static inline void tags_remove(struct tags *tags, uint32_t index)
{
    tags->entries[index] = 0;
}

/* Returns the index of the entry to replace by the key, which is not in the array: an invalid entry or the
 * victim of the policy. Does not choose ways whose bit is set in `locked`; TAGS_NONE if all are locked. Under
 * PLRU, the next way that is not locked replaces a locked victim. Changes nothing. */
uint32_t tags_victim(const struct tags *tags, uint64_t key, uint64_t locked);

/* Puts the key, which is not in the array, into an entry of its set and counts a use. */
void tags_fill(struct tags *tags, uint32_t index, uint64_t key, unsigned state);

/* Makes all entries invalid, as after tags_init(). */
void tags_clear(struct tags *tags);

#endif
