/* Write-backs by chunk, and where registered words are. */
#include <assert.h>

#include "emu/stash/hardware/state.h"

uint64_t stash_address(struct stash *stash, const struct stash_entry *entry, uint32_t word)
{
    return stash_translate(stash, stash_mapping_global(&entry->mapping, word * STASH_WORD));
}

/* Returns the words of the chunk, as a set, that are registered and stand in the same line as `word`; stores the line and their
 * mask in it. */
static uint32_t words_beside(struct stash *stash, const struct stash_entry *entry, uint32_t word,
                             uint64_t *line, uint64_t *mask)
{
    const uint32_t first = word / CHUNK_WORDS * CHUNK_WORDS;
    uint32_t set = 0;
    *line = stash_line_of(stash, stash_address(stash, entry, word));
    *mask = 0;
    for (uint32_t i = 0; i < CHUNK_WORDS; i++) {
        if (stash->code[first + i] < STASH_CODE_REGISTERED)
            continue;
        const uint64_t physical = stash_address(stash, entry, first + i);
        if (stash_line_of(stash, physical) != *line)
            continue;
        set |= UINT32_C(1) << i;
        *mask |= stash_bit_of(stash, physical);
    }
    return set;
}

/* The words have left. The level below may have told so already (stash_set()). */
static void leave_all(struct stash *stash, uint32_t first, uint32_t set, enum stash_code code)
{
    for (; set; set &= set - 1) {
        const uint32_t word = first + (uint32_t)__builtin_ctz(set);
        if (stash->code[word] >= STASH_CODE_REGISTERED)
            stash_leave(stash, word, code);
        else
            stash->code[word] = (uint8_t)code;
    }
}

/* Writes back the words of one line. Returns false if they have to wait. */
static bool clean_line(struct stash *stash, unsigned index, uint32_t word, enum stash_code code, uint64_t now)
{
    struct stash_entry *entry = &stash->entries[index];
    const uint32_t first = word / CHUNK_WORDS * CHUNK_WORDS;
    uint64_t line, mask;
    const uint32_t set = words_beside(stash, entry, word, &line, &mask);
    if (stash->ops->pending(stash->below, line) & mask)
        return false;
    entry->writing += (unsigned)__builtin_popcountll(mask);
    stash->cleaning = true;
    const bool taken = stash->ops->write_back(stash->below, line, index, mask, now);
    stash->cleaning = false;
    entry->writing -= taken ? 0 : (unsigned)__builtin_popcountll(mask);
    if (!taken)
        return false;
    stash->counters[1 + entry->slot].written_back += (unsigned)__builtin_popcountll(mask);
    stash_tell(stash, STASH_WRITES, index, (unsigned)__builtin_popcountll(mask), now);
    leave_all(stash, first, set, code);
    return true;
}

bool stash_clean(struct stash *stash, uint32_t chunk, enum stash_code code, uint64_t now)
{
    const unsigned index = stash->index[chunk];
    const uint32_t first = chunk * CHUNK_WORDS;
    for (uint32_t word = first; word < first + CHUNK_WORDS; word++) {
        if (stash->code[word] < STASH_CODE_REGISTERED)
            continue;
        if (!stash->entries[index].coherent)
            stash_leave(stash, word, STASH_CODE_INVALID);
        else if (!clean_line(stash, index, word, code, now))
            return false;
    }
    return true;
}

bool stash_clean_entry(struct stash *stash, unsigned entry, uint64_t now)
{
    bool all = true;
    for (uint32_t chunk = 0; chunk < stash->chunks && stash->entries[entry].dirty; chunk++)
        if (stash->index[chunk] == entry)
            all &= stash_clean(stash, chunk, STASH_CODE_INVALID, now);
    return all && stash->entries[entry].writing == 0;
}

/* Returns the word with the physical address that the entry has registered, or NO_WORD. */
static uint32_t find_in(const struct stash *stash, uint64_t physical, unsigned e)
{
    const struct stash_entry *entry = &stash->entries[e];
    uint64_t va;
    uint32_t s;
    if (!entry->valid)
        return NO_WORD;
    for (unsigned n = 0; stash_reverse(stash, physical, n, &va); n++)
        if (stash_mapping_local(&entry->mapping, va, &s) && stash_is_public(stash, entry, s / STASH_WORD) &&
            stash->index[s / STASH_CHUNK] == e)
            return s / STASH_WORD;
    return NO_WORD;
}

uint32_t stash_find(const struct stash *stash, uint64_t physical, unsigned map)
{
    uint32_t word = find_in(stash, physical, map);
    for (unsigned e = 0; e < stash->config.entries && word == NO_WORD; e++)
        if (stash->entries[e].dirty)
            word = find_in(stash, physical, e);
    return word;
}

uint32_t stash_elsewhere(const struct stash *stash, unsigned e, uint64_t va)
{
    for (uint64_t near = stash->entries[e].near; near; near &= near - 1) {
        const unsigned other = (unsigned)__builtin_ctzll(near);
        const struct stash_entry *entry = &stash->entries[other];
        uint32_t s;
        if (entry->valid && entry->dirty && stash_mapping_local(&entry->mapping, va, &s) &&
            stash_is_public(stash, entry, s / STASH_WORD) && stash->index[s / STASH_CHUNK] == other)
            return s / STASH_WORD;
    }
    return NO_WORD;
}
