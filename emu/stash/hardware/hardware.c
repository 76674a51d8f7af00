/* Construction, space for blocks, and the ends of blocks and kernels. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/stash/hardware/state.h"

const char *const stash_answer_names[] = {
    [STASH_ANSWER_WORD] = "word", [STASH_ANSWER_MAPPED] = "mapped", [STASH_ANSWER_LINE] = "line", NULL};

struct stash *stash_new(const struct stash_config *config, uint32_t bytes, uint32_t line_bytes,
                        const struct stash_user *user)
{
    struct stash *stash = alloc(1, sizeof *stash);
    assert(bytes % STASH_CHUNK == 0 && bytes <= UINT32_C(1) << STASH_ADDRESS_BITS);
    stash->config = *config;
    stash->user = *user;
    stash->words = bytes / STASH_WORD;
    stash->chunks = bytes / STASH_CHUNK;
    stash->line_bytes = line_bytes;
    stash->code = alloc(stash->words, sizeof *stash->code);
    stash->fresh = alloc(stash->words, sizeof *stash->fresh);
    stash->selector = alloc(stash->words, sizeof *stash->selector);
    stash->version = alloc(stash->words, sizeof *stash->version);
    stash->dirty = alloc(stash->chunks, sizeof *stash->dirty);
    stash->index = alloc(stash->chunks, sizeof *stash->index);
    stash->block = alloc(stash->chunks, sizeof *stash->block);
    memset(stash->index, STASH_NONE, stash->chunks);
    stash->pages = alloc(config->pages, sizeof *stash->pages);
    for (unsigned e = 0; e < STASH_ENTRIES; e++)
        stash->entries[e] = (struct stash_entry){.block = STASH_NONE, .cursor = NO_WORD};
    stash->tail = config->entries - 1;
    return stash;
}

static void free_waits(struct stash_wait *wait)
{
    while (wait) {
        struct stash_wait *next = wait->next;
        free(wait);
        wait = next;
    }
}

void stash_free(struct stash *stash)
{
    if (!stash)
        return;
    free_waits(stash->waits);
    free_waits(stash->free_waits);
    free(stash->code);
    free(stash->fresh);
    free(stash->selector);
    free(stash->version);
    free(stash->dirty);
    free(stash->index);
    free(stash->block);
    free(stash->pages);
    free(stash);
}

void stash_connect(struct stash *stash, const struct stash_below_ops *ops, void *below)
{
    stash->ops = ops;
    stash->below = below;
}

/* Stores the first byte of the lowest hole for a block. Returns false if there is none. */
static bool find_hole(const struct stash *stash, uint64_t bytes, uint32_t *first)
{
    uint32_t at = 0;
    for (unsigned i = 0; i < STASH_BLOCKS; i++) {
        const struct stash_block *block = &stash->blocks[i];
        if (block->used && at < block->first + block->bytes && block->first < at + bytes) {
            at = block->first + block->bytes;
            i = UINT32_MAX; /* look at all again */
        }
    }
    *first = at;
    return at + bytes <= (uint64_t)stash->chunks * STASH_CHUNK;
}

static uint64_t in_chunks(uint64_t bytes)
{
    return (bytes + STASH_CHUNK - 1) / STASH_CHUNK * STASH_CHUNK;
}

bool stash_fits(const struct stash *stash, uint64_t bytes)
{
    uint32_t first;
    unsigned used = 0;
    for (unsigned i = 0; i < STASH_BLOCKS; i++)
        used += stash->blocks[i].used;
    return used < STASH_BLOCKS && find_hole(stash, in_chunks(bytes), &first);
}

unsigned stash_active(const struct stash *stash)
{
    unsigned active = 0;
    for (unsigned e = 0; e < stash->config.entries; e++)
        active += stash_is_active(&stash->entries[e]);
    return active;
}

unsigned stash_begin_block(struct stash *stash, uint64_t bytes, uint32_t *first)
{
    unsigned number = 0;
    while (stash->blocks[number].used)
        number++;
    const bool fits = find_hole(stash, in_chunks(bytes), first);
    assert(fits);
    (void)fits;
    stash->blocks[number] =
        (struct stash_block){.used = true, .first = *first, .bytes = (uint32_t)in_chunks(bytes)};
    memset(stash->block + *first / STASH_CHUNK, (int)number, in_chunks(bytes) / STASH_CHUNK);
    return number;
}

/* Turns a chunk's dirty bit into marks, or drops what a non-coherent map has stored. */
static void end_chunk(struct stash *stash, uint32_t chunk)
{
    const unsigned index = stash->index[chunk];
    const bool coherent = stash->entries[index].coherent;
    for (uint32_t word = chunk * CHUNK_WORDS; word < (chunk + 1) * CHUNK_WORDS; word++) {
        if (stash->code[word] < STASH_CODE_REGISTERED)
            continue;
        if (coherent)
            stash->code[word] = STASH_CODE_MARKED;
        else
            stash_leave(stash, word, STASH_CODE_INVALID);
    }
    stash->dirty[chunk] = false;
}

void stash_end_block(struct stash *stash, unsigned number)
{
    struct stash_block *block = &stash->blocks[number];
    assert(block->used);
    for (uint32_t chunk = block->first / STASH_CHUNK; chunk < (block->first + block->bytes) / STASH_CHUNK;
         chunk++)
        if (stash->dirty[chunk])
            end_chunk(stash, chunk);
    stash_drop_valid(stash, block->first, block->bytes);
    for (unsigned i = 0; i < block->count; i++) {
        stash->entries[block->table[i]].block = STASH_NONE;
        OBSERVER_TELL(&stash->observers, struct stash_observer, left, block->table[i]);
        stash_retire(stash, &stash->entries[block->table[i]]);
    }
    block->used = false;
}

void stash_self_invalidate(struct stash *stash, uint64_t now)
{
    stash_drop_valid(stash, 0, stash->chunks * STASH_CHUNK);
    for (struct stash_wait *wait = stash->waits; wait; wait = wait->next)
        wait->stale = !wait->waiter;
    stash->ops->acquire(stash->below, now);
}

unsigned stash_maps(const struct stash *stash, unsigned block)
{
    return stash->blocks[block].count;
}

static const struct stash_entry *entry_of(const struct stash *stash, unsigned block, unsigned i)
{
    return i < stash->blocks[block].count ? &stash->entries[stash->blocks[block].table[i]] : NULL;
}

const struct stash_mapping *stash_map(const struct stash *stash, unsigned block, unsigned i)
{
    const struct stash_entry *entry = entry_of(stash, block, i);
    return entry ? &entry->mapping : NULL;
}

bool stash_map_coherent(const struct stash *stash, unsigned block, unsigned i)
{
    const struct stash_entry *entry = entry_of(stash, block, i);
    return entry && entry->coherent;
}

bool stash_physical(struct stash *stash, unsigned block, unsigned i, uint32_t word, uint64_t *physical)
{
    const struct stash_entry *entry = entry_of(stash, block, i);
    if (!entry || word * STASH_WORD - entry->mapping.first >= entry->mapping.bytes)
        return false;
    *physical = stash_address(stash, entry, word);
    return true;
}

enum stash_code stash_code(const struct stash *stash, uint32_t word)
{
    return (enum stash_code)stash->code[word];
}

uint32_t *stash_version(struct stash *stash, uint32_t word)
{
    return &stash->version[word];
}

const struct stash_mapping *stash_entry_mapping(const struct stash *stash, unsigned e, unsigned *block,
                                                unsigned *slot, bool *coherent)
{
    const struct stash_entry *entry = &stash->entries[e];
    *block = entry->block;
    *slot = entry->slot;
    *coherent = entry->coherent;
    return &entry->mapping;
}

void stash_observe(struct stash *stash, struct stash_observer *observer)
{
    observer_add(&stash->observers, &observer->link);
}

const struct stash_counters *stash_counted(const struct stash *stash, unsigned selector)
{
    return &stash->counters[selector];
}

const struct stash_block_counters *stash_block_counted(const struct stash *stash, unsigned block)
{
    return &stash->blocks[block].counters;
}
