/* The dump of all state, and the invariants. */
#include <inttypes.h>
#include <stddef.h>

#include "emu/stash/hardware/state.h"

static void dump_entry(const struct stash *stash, unsigned e, FILE *file)
{
    const struct stash_entry *entry = &stash->entries[e];
    fprintf(file, "entry %u%s: ", e, stash->tail == e ? " (tail)" : "");
    if (stash_is_active(entry))
        fprintf(file, "map %u of block %u", entry->slot, entry->block);
    else
        fprintf(file, "%s", entry->valid ? "ended" : "invalid");
    fprintf(file, ", %s, bytes %" PRIu32 " to %" PRIu32 ", 0x%" PRIx64 ", dirty %" PRIu32,
            entry->coherent ? "coherent" : "non-coherent", entry->mapping.first,
            entry->mapping.first + entry->mapping.bytes - 1, entry->mapping.global, entry->dirty);
    if (entry->writing)
        fprintf(file, ", writing %" PRIu32, entry->writing);
    if (entry->reuse)
        fprintf(file, ", reuses %u", entry->reuse_of);
    fprintf(file, "\n");
}

static void dump_chunk(const struct stash *stash, uint32_t chunk, FILE *file)
{
    static const char codes[] = {[STASH_CODE_INVALID] = '.',
                                 [STASH_CODE_VALID] = 'V',
                                 [STASH_CODE_REGISTERED] = 'R',
                                 [STASH_CODE_MARKED] = 'M'};
    char text[CHUNK_WORDS + 1] = "";
    bool used = stash->index[chunk] != STASH_NONE;
    for (uint32_t i = 0; i < CHUNK_WORDS; i++) {
        text[i] = codes[stash->code[chunk * CHUNK_WORDS + i]];
        used = used || text[i] != '.';
    }
    if (!used)
        return;
    fprintf(file, "chunk %" PRIu32 ": %s", chunk, text);
    if (stash->index[chunk] != STASH_NONE)
        fprintf(file, ", entry %u%s", stash->index[chunk], stash->dirty[chunk] ? ", dirty" : "");
    fprintf(file, "\n");
}

void stash_dump(const struct stash *stash, FILE *file)
{
    for (unsigned i = 0; i < STASH_BLOCKS; i++) {
        const struct stash_block *block = &stash->blocks[i];
        if (block->used)
            fprintf(file, "block %u: bytes %" PRIu32 " to %" PRIu32 ", maps %u\n", i, block->first,
                    block->first + block->bytes - 1, block->count);
    }
    for (unsigned e = 0; e < stash->config.entries; e++)
        if (stash->entries[e].age)
            dump_entry(stash, e, file);
    for (uint32_t i = 0; i < stash->config.pages; i++) {
        const struct stash_page *page = &stash->pages[i];
        if (!page->used)
            continue;
        fprintf(file, "page 0x%" PRIx64 ": ", page->virtual);
        if (page->known)
            fprintf(file, "0x%" PRIx64, page->physical);
        else
            fprintf(file, "not known");
        fprintf(file, ", entry %u\n", page->entry);
    }
    for (uint32_t chunk = 0; chunk < stash->chunks; chunk++)
        dump_chunk(stash, chunk, file);
}

/* Chunks: the index is there with registered words, dirty bits are of blocks that run. */
static const char *check_chunks(const struct stash *stash, uint32_t dirty[STASH_ENTRIES])
{
    for (uint32_t chunk = 0; chunk < stash->chunks; chunk++) {
        const unsigned index = stash->index[chunk];
        bool registered = false;
        for (uint32_t i = 0; i < CHUNK_WORDS; i++)
            registered = registered || stash->code[chunk * CHUNK_WORDS + i] >= STASH_CODE_REGISTERED;
        if (registered != (index != STASH_NONE))
            return "a chunk has an index exactly while it has registered words";
        if (index == STASH_NONE && stash->dirty[chunk])
            return "a dirty chunk has an index";
        if (index != STASH_NONE) {
            dirty[index]++;
            if (!stash_mapping_covers(&stash->entries[index].mapping, chunk * STASH_CHUNK))
                return "a chunk's index is that of an entry that maps it";
        }
    }
    return NULL;
}

static const char *check_entries(const struct stash *stash, const uint32_t dirty[STASH_ENTRIES])
{
    for (unsigned e = 0; e < stash->config.entries; e++) {
        const struct stash_entry *entry = &stash->entries[e];
        if (entry->dirty != dirty[e])
            return "#DirtyData is the number of chunks with the entry's index";
        if (entry->valid != (stash_is_active(entry) || entry->dirty))
            return "an entry is valid while it is active or has dirty chunks";
        if (stash_is_active(entry) &&
            (!stash->blocks[entry->block].used || stash->blocks[entry->block].table[entry->slot] != e))
            return "an active entry is in its block's map index table";
    }
    return NULL;
}

/* Returns the active entry that covers a chunk, or STASH_NONE. */
static unsigned active_at(const struct stash *stash, uint32_t chunk)
{
    for (unsigned e = 0; e < stash->config.entries; e++)
        if (stash_is_active(&stash->entries[e]) &&
            stash_mapping_covers(&stash->entries[e].mapping, chunk * STASH_CHUNK))
            return e;
    return STASH_NONE;
}

static const char *check_words(const struct stash *stash)
{
    for (uint32_t word = 0; word < stash->words; word++) {
        const uint32_t chunk = word / CHUNK_WORDS;
        const unsigned index = stash->index[chunk];
        if (stash->code[word] == STASH_CODE_VALID && active_at(stash, chunk) == STASH_NONE)
            return "Valid words belong to active maps";
        if (stash->code[word] < STASH_CODE_REGISTERED ||
            !stash_is_public(stash, &stash->entries[index], word))
            continue;
        if (stash->code[word] == STASH_CODE_REGISTERED && !stash->dirty[chunk])
            return "registered words without marks are in dirty chunks";
        const uint64_t va = stash_mapping_global(&stash->entries[index].mapping, word * STASH_WORD);
        bool found = false;
        for (uint32_t i = 0; i < stash->config.pages && !found; i++) {
            const struct stash_page *page = &stash->pages[i];
            if (!page->used || !page->known || page->virtual != (va & ~(uint64_t)(STASH_PAGE - 1)))
                continue;
            found = stash_find(stash, page->physical + va % STASH_PAGE, index) == word;
        }
        if (!found)
            return "a request for a registered word does not miss in the RTLB, and finds the word at one "
                   "place alone";
    }
    return NULL;
}

static const char *check_pages(const struct stash *stash)
{
    uint64_t pages[1025];
    for (unsigned e = 0; e < stash->config.entries; e++) {
        const struct stash_entry *entry = &stash->entries[e];
        const unsigned count =
            entry->valid ? stash_pages_of(&entry->mapping, pages, stash->config.pages + 1) : 0;
        if (stash_pages_missing(stash, pages, count))
            return "the pages of valid entries are in the VP-map";
    }
    for (uint32_t i = 0; i < stash->config.pages; i++)
        if (stash->pages[i].used &&
            !stash_touches(&stash->entries[stash->pages[i].entry].mapping, stash->pages[i].virtual))
            return "a page points to an entry that maps it";
    return NULL;
}

const char *stash_check(const struct stash *stash)
{
    uint32_t dirty[STASH_ENTRIES] = {0};
    const char *wrong = check_chunks(stash, dirty);
    wrong = wrong ? wrong : check_entries(stash, dirty);
    wrong = wrong ? wrong : check_words(stash);
    return wrong ? wrong : check_pages(stash);
}
