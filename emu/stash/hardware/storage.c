/* Storage: codes of words, dirty bits and indices of chunks, and the count of dirty chunks of entries. */
#include <assert.h>

#include "emu/stash/hardware/state.h"

void stash_set_valid(struct stash *stash, struct stash_entry *entry, bool valid)
{
    const unsigned e = (unsigned)(entry - stash->entries);
    if (entry->valid == valid)
        return;
    entry->valid = valid;
    if (valid)
        OBSERVER_TELL(&stash->observers, struct stash_observer, began, e);
    else
        OBSERVER_TELL(&stash->observers, struct stash_observer, ended, e);
}

void stash_retire(struct stash *stash, struct stash_entry *entry)
{
    if (!stash_is_active(entry) && !entry->dirty)
        stash_set_valid(stash, entry, false);
}

static void put(struct stash *stash, uint32_t word, enum stash_code code)
{
    if (code == STASH_CODE_INVALID && stash->fresh[word]) {
        stash->counters[stash->selector[word]].unused++;
        stash->blocks[stash->block[word / CHUNK_WORDS]].counters.unused++;
    }
    if (code != STASH_CODE_VALID)
        stash->fresh[word] = false;
    stash->code[word] = (uint8_t)code;
}

static bool has_registered(const struct stash *stash, uint32_t chunk)
{
    for (uint32_t i = 0; i < CHUNK_WORDS; i++)
        if (stash->code[chunk * CHUNK_WORDS + i] >= STASH_CODE_REGISTERED)
            return true;
    return false;
}

void stash_leave(struct stash *stash, uint32_t word, enum stash_code code)
{
    const uint32_t chunk = word / CHUNK_WORDS;
    assert(stash->code[word] >= STASH_CODE_REGISTERED);
    put(stash, word, code);
    if (has_registered(stash, chunk))
        return;
    struct stash_entry *entry = &stash->entries[stash->index[chunk]];
    stash->index[chunk] = STASH_NONE;
    stash->dirty[chunk] = false;
    assert(entry->dirty > 0);
    entry->dirty--;
    stash_retire(stash, entry);
}

void stash_claim(struct stash *stash, uint32_t word, unsigned map)
{
    const uint32_t chunk = word / CHUNK_WORDS;
    if (stash->index[chunk] == STASH_NONE) {
        stash->index[chunk] = (uint8_t)map;
        stash->entries[map].dirty++;
        stash_set_valid(stash, &stash->entries[map], true);
    }
    stash->dirty[chunk] = true;
    if (stash->code[word] < STASH_CODE_REGISTERED)
        put(stash, word, STASH_CODE_REGISTERED);
}

void stash_install_word(struct stash *stash, uint32_t word, unsigned selector)
{
    put(stash, word, STASH_CODE_VALID);
    stash->fresh[word] = true;
    stash->selector[word] = (uint8_t)selector;
    stash->counters[selector].fetched++;
    stash->blocks[stash->block[word / CHUNK_WORDS]].counters.fetched++;
}

void stash_drop_word(struct stash *stash, uint32_t word)
{
    put(stash, word, STASH_CODE_INVALID);
}

void stash_drop_valid(struct stash *stash, uint32_t first, uint32_t bytes)
{
    const uint32_t end = (first + bytes + STASH_CHUNK - 1) / STASH_CHUNK * CHUNK_WORDS;
    for (uint32_t word = first / STASH_WORD; word < end; word++)
        if (stash->code[word] == STASH_CODE_VALID)
            put(stash, word, STASH_CODE_INVALID);
}

bool stash_is_kin(const struct stash *stash, unsigned a, unsigned b)
{
    const struct stash_entry *one = &stash->entries[a], *other = &stash->entries[b];
    return stash->config.replication && one->valid && other->valid && one->coherent && other->coherent &&
           one->mapping.first == other->mapping.first &&
           stash_mapping_matches(&one->mapping, &other->mapping);
}
