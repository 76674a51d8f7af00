/* Loads and stores: hits, misses, copies of words that other maps of the stash have (sections 4.2 and 4.5). */
#include <assert.h>
#include <stddef.h>

#include "emu/sim/alloc.h"
#include "emu/stash/hardware/state.h"

/* Returns the entry of a selector of the block, or STASH_NONE for unmapped space. */
static unsigned entry_of(const struct stash *stash, unsigned block, unsigned selector)
{
    assert(selector <= stash->blocks[block].count);
    return selector ? stash->blocks[block].table[selector - 1] : STASH_NONE;
}

/* Adds a word to the list of lines with misses, or with words that move. */
static void gather(struct stash_miss *list, uint8_t *count, uint64_t line, uint64_t bit, unsigned entry)
{
    unsigned i = 0;
    while (i < *count && (list[i].line != line || list[i].entry != entry))
        i++;
    if (i == *count)
        list[(*count)++] = (struct stash_miss){.line = line, .entry = (uint8_t)entry};
    list[i].mask |= bit;
}

/* Writes back what another map has left in the word's chunk. Returns false if it has to wait. */
static bool make_way(struct stash *stash, uint32_t word, unsigned entry, uint64_t now)
{
    const uint32_t chunk = word / CHUNK_WORDS;
    const unsigned index = stash->index[chunk];
    if (index == STASH_NONE || stash_is_active(&stash->entries[index]) ||
        (entry != STASH_NONE && stash_belongs(stash, chunk, entry)))
        return true;
    return stash_clean(stash, chunk, STASH_CODE_INVALID, now);
}

/* Returns the word of the map that the entry's reuseBit points to, if it is Valid there, or NO_WORD. */
static uint32_t old_place(const struct stash *stash, const struct stash_entry *entry, uint32_t word)
{
    if (!entry->reuse)
        return NO_WORD;
    const struct stash_entry *old = &stash->entries[entry->reuse_of];
    const uint32_t there = word - entry->mapping.first / STASH_WORD + old->mapping.first / STASH_WORD;
    return stash_is_active(old) && stash->code[there] == STASH_CODE_VALID ? there : NO_WORD;
}

/* Returns the index with which a word of the entry is registered: that of its chunk, if it has one. */
static unsigned index_for(const struct stash *stash, uint32_t word, unsigned e)
{
    const unsigned index = stash->index[word / CHUNK_WORDS];
    return index == STASH_NONE ? e : index;
}

static void copy(struct stash *stash, unsigned selector, uint32_t from, uint32_t to)
{
    stash->version[to] = stash->version[from];
    stash->counters[selector].copies++;
    stash->code[to] = STASH_CODE_VALID;
}

/* A word of an access that is registered at another place of the stash. */
struct elsewhere {
    uint32_t word, old; /* NO_WORD: nowhere */
    uint64_t physical;
};

static struct elsewhere find_elsewhere(struct stash *stash, unsigned e, uint32_t word)
{
    const struct stash_entry *entry = &stash->entries[e];
    if (!entry->near)
        return (struct elsewhere){.old = NO_WORD};
    const uint64_t va = stash_mapping_global(&entry->mapping, word * STASH_WORD);
    const uint32_t old = stash_elsewhere(stash, e, va);
    return (struct elsewhere){word, old, old == NO_WORD ? 0 : stash_translate(stash, va)};
}

/* Moves words of a line that another map holds as registered, and tells the registry. Returns false if they have to wait. */
static bool move(struct stash *stash, const struct stash_access *access, const struct elsewhere *one,
                 unsigned e, unsigned map, uint64_t now)
{
    const uint64_t line = stash_line_of(stash, one->physical);
    struct elsewhere moved[STASH_WORDS];
    unsigned count = 0;
    uint64_t mask = 0;
    for (unsigned i = 0; i < access->count; i++) {
        const uint32_t word = access->words[i].word;
        if (entry_of(stash, access->block, access->words[i].selector) != e ||
            stash->code[word] >= STASH_CODE_REGISTERED || index_for(stash, word, e) != map)
            continue;
        moved[count] = find_elsewhere(stash, e, word);
        if (moved[count].old == NO_WORD || stash_line_of(stash, moved[count].physical) != line ||
            (mask & stash_bit_of(stash, moved[count].physical)))
            continue;
        mask |= stash_bit_of(stash, moved[count++].physical);
    }
    if ((stash->ops->pending(stash->below, line) & mask) ||
        !stash->ops->remap(stash->below, line, map, mask, now))
        return false;
    for (unsigned i = 0; i < count; i++) {
        copy(stash, 1 + stash->entries[e].slot, moved[i].old, moved[i].word);
        stash->counters[1 + stash->entries[e].slot].kept++;
        stash_leave(stash, moved[i].old, STASH_CODE_INVALID);
        stash_claim(stash, moved[i].word, map);
    }
    stash->blocks[stash->entries[e].block].counters.kept += count;
    stash_tell(stash, STASH_REUSES, e, count, now);
    return true;
}

/* Brings a word that another map of the stash holds as registered, if one does. Returns false if that has to wait. */
static bool fetch_elsewhere(struct stash *stash, const struct stash_access *access, unsigned i, unsigned e,
                            uint64_t now)
{
    const uint32_t word = access->words[i].word;
    if (stash->code[word] >= STASH_CODE_REGISTERED ||
        (!access->store && stash->code[word] == STASH_CODE_VALID) ||
        (access->store && !stash->entries[e].coherent))
        return true;
    const struct elsewhere one = find_elsewhere(stash, e, word);
    if (one.old == NO_WORD)
        return true;
    if (!stash->config.replication)
        return stash_clean(stash, one.old / CHUNK_WORDS, STASH_CODE_INVALID, now);
    if (stash->entries[e].coherent)
        return move(stash, access, &one, e, index_for(stash, word, e), now);
    copy(stash, access->words[i].selector, one.old, word);
    stash_tell(stash, STASH_REUSES, e, 1, now);
    return true;
}

static void miss(struct stash *stash, struct stash_access *access, unsigned i, unsigned e)
{
    const struct stash_entry *entry = &stash->entries[e];
    const uint64_t physical = stash_address(stash, entry, access->words[i].word);
    access->misses++;
    stash->counters[access->words[i].selector].misses++;
    gather(access->misses_of, &access->miss_count, stash_line_of(stash, physical),
           stash_bit_of(stash, physical), e);
}

static void hit(struct stash *stash, struct stash_access *access, unsigned i)
{
    access->hits++;
    stash->counters[access->words[i].selector].hits++;
}

/* Looks up a load's word: a hit, a copy, or a miss. */
static void look_load(struct stash *stash, struct stash_access *access, unsigned i, unsigned e, uint64_t now)
{
    const uint32_t word = access->words[i].word;
    const uint32_t old =
        stash->code[word] == STASH_CODE_INVALID ? old_place(stash, &stash->entries[e], word) : NO_WORD;
    if (stash->code[word] == STASH_CODE_INVALID && old == NO_WORD) {
        miss(stash, access, i, e);
        return;
    }
    hit(stash, access, i);
    stash->fresh[word] = false;
    if (old == NO_WORD)
        return;
    copy(stash, access->words[i].selector, old, word);
    stash_tell(stash, STASH_REUSES, e, 1, now);
}

static void look_store(struct stash *stash, struct stash_access *access, unsigned i, unsigned e)
{
    const uint32_t word = access->words[i].word;
    if (stash->code[word] < STASH_CODE_REGISTERED && stash->entries[e].coherent) {
        miss(stash, access, i, e);
        return;
    }
    hit(stash, access, i);
    stash_claim(stash, word,
                e); /* a hit of a coherent map sets the dirty bit again, if an earlier block had the chunk */
    if (stash->code[word] == STASH_CODE_MARKED)
        stash->code[word] = STASH_CODE_REGISTERED;
}

enum stash_outcome stash_look(struct stash *stash, struct stash_access *access, uint64_t now)
{
    access->miss_count = 0;
    access->hits = access->misses = 0;
    for (unsigned i = 0; i < access->count; i++) {
        const unsigned e = entry_of(stash, access->block, access->words[i].selector);
        if (!make_way(stash, access->words[i].word, e, now) ||
            (e != STASH_NONE && !fetch_elsewhere(stash, access, i, e, now)))
            return STASH_WAIT;
    }
    for (unsigned i = 0; i < access->count; i++) {
        const unsigned e = entry_of(stash, access->block, access->words[i].selector);
        if (e == STASH_NONE)
            hit(stash, access, i);
        else if (access->store)
            look_store(stash, access, i, e);
        else
            look_load(stash, access, i, e, now);
    }
    return STASH_DONE;
}

/* Returns the words of the line that an answer may install: those that the entry maps and does not have. */
static uint64_t installable(const struct stash *stash, const struct stash_miss *miss)
{
    uint64_t fill = 0;
    for (uint64_t at = miss->line; at < miss->line + stash->line_bytes; at += STASH_WORD) {
        const uint32_t word = stash_place(stash, at, miss->entry);
        if (word != NO_WORD && stash->code[word] == STASH_CODE_INVALID &&
            stash_belongs(stash, word / CHUNK_WORDS, miss->entry))
            fill |= stash_bit_of(stash, at);
    }
    return fill;
}

static void await(struct stash *stash, const struct stash_miss *miss, uint64_t need,
                  struct stash_waiter *waiter)
{
    struct stash_wait *wait = stash->free_waits;
    if (wait)
        stash->free_waits = wait->next;
    else
        wait = alloc(1, sizeof *wait);
    *wait = (struct stash_wait){stash->waits, miss->line, need, miss->entry, waiter, false};
    stash->waits = wait;
}

/* Returns the words of a miss that its entry still lacks; *first is one of them. */
static uint64_t lacking(struct stash *stash, const struct stash_access *access, const struct stash_miss *miss,
                        enum stash_code below, uint32_t *first)
{
    const struct stash_entry *entry = &stash->entries[miss->entry];
    uint64_t mask = 0;
    for (unsigned i = access->count; i-- > 0;) {
        const uint32_t word = access->words[i].word;
        if (entry_of(stash, access->block, access->words[i].selector) != miss->entry ||
            stash->code[word] >= below)
            continue;
        const uint64_t physical = stash_address(stash, entry, word);
        if (stash_line_of(stash, physical) == miss->line && (miss->mask & stash_bit_of(stash, physical))) {
            mask |= stash_bit_of(stash, physical);
            *first = word;
        }
    }
    return mask;
}

/* Registers the words of a line with one index, that of `first`. Returns false if they have to wait. */
static bool enroll(struct stash *stash, const struct stash_access *access, const struct stash_miss *miss,
                   uint32_t first, uint64_t now)
{
    const struct stash_entry *entry = &stash->entries[miss->entry];
    const unsigned map = index_for(stash, first, miss->entry);
    uint32_t words[STASH_WORDS], count = 0;
    uint64_t mask = 0;
    for (unsigned i = 0; i < access->count; i++) {
        const uint32_t word = access->words[i].word;
        if (entry_of(stash, access->block, access->words[i].selector) != miss->entry ||
            stash->code[word] >= STASH_CODE_REGISTERED || index_for(stash, word, miss->entry) != map)
            continue;
        const uint64_t physical = stash_address(stash, entry, word);
        if (stash_line_of(stash, physical) != miss->line || !(miss->mask & stash_bit_of(stash, physical)))
            continue;
        mask |= stash_bit_of(stash, physical);
        words[count++] = word;
    }
    if (!stash->ops->enroll(stash->below, miss->line, map, mask, now))
        return false;
    stash->counters[1 + entry->slot].registered += (unsigned)__builtin_popcountll(mask);
    stash_tell(stash, STASH_REGISTERS, miss->entry, (unsigned)__builtin_popcountll(mask), now);
    for (uint32_t i = 0; i < count; i++)
        stash_claim(stash, words[i], map);
    return true;
}

/* Returns whether a prefetch of the line is under way whose answer loads must not take. */
static bool is_stale(const struct stash *stash, const struct stash_miss *miss)
{
    for (const struct stash_wait *wait = stash->waits; wait; wait = wait->next)
        if (wait->stale && wait->line == miss->line && wait->map == miss->entry)
            return true;
    return false;
}

enum stash_outcome stash_send(struct stash *stash, const struct stash_access *access, unsigned i,
                              uint64_t now, uint64_t sent, struct stash_waiter *waiter, bool *waits)
{
    const struct stash_miss *miss = &access->misses_of[i];
    uint32_t first = 0;
    *waits = false;
    (void)now;
    if (access->store) {
        while (lacking(stash, access, miss, STASH_CODE_REGISTERED, &first))
            if (!enroll(stash, access, miss, first, sent))
                return STASH_WAIT;
        return STASH_DONE;
    }
    const uint64_t need = lacking(stash, access, miss, STASH_CODE_VALID, &first);
    if (!need)
        return STASH_DONE;
    const uint64_t mapped = installable(stash, miss),
                   line = UINT64_MAX >> (64 - stash->line_bytes / STASH_WORD);
    const uint64_t fills[] = {
        [STASH_ANSWER_WORD] = need, [STASH_ANSWER_MAPPED] = mapped, [STASH_ANSWER_LINE] = line};
    if (is_stale(stash, miss) || !stash->ops->read(stash->below, miss->line, miss->entry, need,
                                                   fills[stash->config.answer] | need, sent))
        return STASH_WAIT;
    stash_tell(stash, STASH_LOADS, miss->entry, (unsigned)__builtin_popcountll(need), sent);
    await(stash, miss, need, waiter);
    *waits = true;
    return STASH_DONE;
}

/* Returns whether a word of an entry has to come from the level below, and may. Writes back what another map has left in its chunk. */
static bool is_wanted(struct stash *stash, const struct stash_entry *entry, unsigned e, uint32_t word,
                      uint64_t now)
{
    return make_way(stash, word, e, now) && stash->code[word] == STASH_CODE_INVALID &&
           stash_belongs(stash, word / CHUNK_WORDS, e) &&
           stash_can_translate(stash, stash_mapping_global(&entry->mapping, word * STASH_WORD)) &&
           old_place(stash, entry, word) == NO_WORD && find_elsewhere(stash, e, word).old == NO_WORD;
}

void stash_prefetch(struct stash *stash, unsigned block, unsigned i, uint64_t sent, uint64_t gap)
{
    const unsigned e = stash->blocks[block].table[i];
    const struct stash_entry *entry = &stash->entries[e];
    const uint32_t first = entry->mapping.first / STASH_WORD, words = entry->mapping.bytes / STASH_WORD,
                   end = first + (words < stash->config.prefetch ? words : stash->config.prefetch);
    for (uint32_t word = first; word < end;) {
        if (!is_wanted(stash, entry, e, word, sent)) {
            word++;
            continue;
        }
        const uint64_t line = stash_line_of(stash, stash_address(stash, entry, word));
        uint64_t mask = 0;
        for (; word < end && is_wanted(stash, entry, e, word, sent); word++) {
            const uint64_t physical = stash_address(stash, entry, word);
            if (stash_line_of(stash, physical) != line)
                break;
            mask |= stash_bit_of(stash, physical);
        }
        const struct stash_miss miss = {.line = line, .mask = mask, .entry = (uint8_t)e};
        if (is_stale(stash, &miss) || !stash->ops->read(stash->below, line, e, mask, mask, sent))
            return;
        await(stash, &miss, mask, NULL);
        stash->counters[1 + entry->slot].prefetched += (unsigned)__builtin_popcountll(mask);
        stash_tell(stash, STASH_LOADS, e, (unsigned)__builtin_popcountll(mask), sent);
        sent += gap;
    }
}
