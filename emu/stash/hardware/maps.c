/* AddMap and ChgMap: the stash-map's ring, pages, and maps of the same tile (sections 4.2 and 4.5). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/stash/hardware/state.h"

enum { PAGES_LIMIT = 1025 };

/* A map that is being added or changed. */
struct plan {
    struct stash_mapping mapping;
    uint64_t pages[PAGES_LIMIT];
    unsigned page_count;
};

static bool any_touches(const struct stash_mapping *mappings, unsigned count, uint64_t page)
{
    for (unsigned i = 0; i < count; i++)
        if (stash_touches(&mappings[i], page))
            return true;
    return false;
}

/* Returns how many pages the mappings and all active entries but `except` need together, each page once. */
static unsigned pages_together(const struct stash *stash, const struct stash_mapping *mappings,
                               unsigned count, unsigned except)
{
    unsigned together = 0;
    uint64_t pages[PAGES_LIMIT];
    for (unsigned i = 0; i < count; i++)
        for (unsigned left = stash_pages_of(&mappings[i], pages, stash->config.pages + 1); left > 0; left--)
            together += !any_touches(mappings, i, pages[left - 1]);
    for (uint32_t i = 0; i < stash->config.pages; i++) {
        const struct stash_page *page = &stash->pages[i];
        bool active = false;
        for (unsigned e = 0; page->used && e < stash->config.entries && !active; e++)
            active = e != except && stash_is_active(&stash->entries[e]) &&
                     stash_touches(&stash->entries[e].mapping, page->virtual);
        together += active && !any_touches(mappings, count, page->virtual);
    }
    return together;
}

static void make_plan(const struct stash *stash, struct plan *plan, unsigned block,
                      const struct stash_tile *tile)
{
    stash_mapping_set(&plan->mapping, tile, stash->blocks[block].first);
    plan->page_count = stash_pages_of(&plan->mapping, plan->pages, stash->config.pages + 1);
}

/* Returns the first entry behind one that is not active, or STASH_NONE. */
static unsigned next_free(const struct stash *stash, unsigned after)
{
    for (unsigned i = 1; i <= stash->config.entries; i++) {
        const unsigned e = (after + i) % stash->config.entries;
        if (!stash_is_active(&stash->entries[e]))
            return e;
    }
    return STASH_NONE;
}

/* Empties an entry that is not active: its words are written back, its pages are left. Returns false if that has to wait. */
static bool evict(struct stash *stash, unsigned e, uint64_t now)
{
    if (!stash_clean_entry(stash, e, now))
        return false;
    stash_set_valid(stash, &stash->entries[e], false);
    stash_pages_leave(stash, e);
    for (unsigned i = 0; i < stash->config.entries; i++)
        if (stash->entries[i].reuse_of == e)
            stash->entries[i].reuse = false;
    return true;
}

/* Makes room in the VP-map: evicts entries in order, from the one behind `from` on. */
static enum stash_outcome find_pages(struct stash *stash, const struct plan *plan, unsigned from,
                                     uint64_t now)
{
    unsigned e = from;
    for (unsigned i = 0; i < stash->config.entries; i++) {
        if (stash_pages_missing(stash, plan->pages, plan->page_count) <= stash_pages_free(stash))
            return STASH_DONE;
        e = (e + 1) % stash->config.entries;
        if (!stash_is_active(&stash->entries[e]) && !evict(stash, e, now))
            return STASH_WAIT;
    }
    return stash_pages_missing(stash, plan->pages, plan->page_count) <= stash_pages_free(stash) ? STASH_DONE
                                                                                                : STASH_ERROR;
}

/* Counts the registered words that an entry finds at its place. */
static void count_kept(struct stash *stash, unsigned e, uint64_t now)
{
    const struct stash_mapping *mapping = &stash->entries[e].mapping;
    uint64_t *kept = &stash->counters[1 + stash->entries[e].slot].kept;
    const uint64_t before = *kept;
    for (uint32_t word = mapping->first / STASH_WORD; word < (mapping->first + mapping->bytes) / STASH_WORD;
         word++)
        if (stash->code[word] >= STASH_CODE_REGISTERED && stash->index[word / CHUNK_WORDS] != e &&
            stash_belongs(stash, word / CHUNK_WORDS, e))
            (*kept)++;
    stash->blocks[stash->entries[e].block].counters.kept += *kept - before;
    stash_tell(stash, STASH_REUSES, e, *kept - before, now);
}

/* Searches the stash-map for the latest coherent map of the same tile. */
static void find_reuse(struct stash *stash, unsigned e)
{
    struct stash_entry *entry = &stash->entries[e];
    uint64_t latest = 0;
    entry->reuse = false;
    for (unsigned i = 0; i < stash->config.entries && stash->config.replication; i++) {
        const struct stash_entry *old = &stash->entries[i];
        if (i == e || !old->valid || !old->coherent || old->age <= latest ||
            !stash_mapping_matches(&old->mapping, &entry->mapping))
            continue;
        latest = old->age;
        entry->reuse = true;
        entry->reuse_of = (uint8_t)i;
    }
}

static bool overlap(const struct stash_mapping *a, const struct stash_mapping *b)
{
    return a->global < stash_mapping_end(b) && b->global < stash_mapping_end(a);
}

/* Notes which entries' addresses are in the range of the entry's, and the other way round. */
static void find_near(struct stash *stash, unsigned e)
{
    struct stash_entry *entry = &stash->entries[e];
    entry->near = 0;
    for (unsigned i = 0; i < stash->config.entries; i++) {
        struct stash_entry *other = &stash->entries[i];
        const bool near = i != e && other->age && overlap(&other->mapping, &entry->mapping);
        other->near &= ~(UINT64_C(1) << e);
        other->near |= (uint64_t)near << e;
        entry->near |= (uint64_t)near << i;
    }
}

/* Sets the entry's tile. Its words are Invalid, but for registered ones of the same map. */
static void set_tile(struct stash *stash, unsigned e, const struct plan *plan, bool coherent, uint64_t now)
{
    struct stash_entry *entry = &stash->entries[e];
    entry->mapping = plan->mapping;
    entry->coherent = coherent;
    stash_set_valid(stash, entry, true);
    entry->cursor = NO_WORD;
    entry->age = ++stash->age;
    stash_pages_point(stash, plan->pages, plan->page_count, e);
    find_reuse(stash, e);
    find_near(stash, e);
    if (coherent && stash->config.replication)
        count_kept(stash, e, now);
}

/* Starts write-backs of the entries ahead of the tail. */
static void scout(struct stash *stash, uint64_t now)
{
    for (unsigned i = 1; i <= stash->config.scout && i < stash->config.entries; i++) {
        const unsigned e = (stash->tail + i) % stash->config.entries;
        if (stash->entries[e].valid && !stash_is_active(&stash->entries[e]))
            (void)stash_clean_entry(stash, e, now);
    }
}

unsigned stash_needs(const struct stash *stash, unsigned block, int change,
                     const struct stash_tile *const *tiles, unsigned count)
{
    struct stash_mapping *mappings = alloc(count, sizeof *mappings);
    for (unsigned i = 0; i < count; i++)
        stash_mapping_set(&mappings[i], tiles[i], 0); /* the place in the storage does not matter */
    const unsigned pages =
        pages_together(stash, mappings, count, change < 0 ? STASH_NONE : stash->blocks[block].table[change]);
    free(mappings);
    return pages;
}

enum stash_outcome stash_add(struct stash *stash, unsigned block, const struct stash_tile *tile, uint64_t now)
{
    struct stash_block *owner = &stash->blocks[block];
    struct plan plan;
    const unsigned e = next_free(stash, stash->tail);
    assert(owner->used && owner->count < stash->config.maps);
    make_plan(stash, &plan, block, tile);
    if (e == STASH_NONE || plan.page_count > stash->config.pages)
        return STASH_ERROR;
    if (!evict(stash, e, now))
        return STASH_WAIT;
    const enum stash_outcome pages = find_pages(stash, &plan, e, now);
    if (pages != STASH_DONE)
        return pages;
    stash->entries[e] = (struct stash_entry){.block = (uint8_t)block, .slot = owner->count};
    owner->table[owner->count++] = (uint8_t)e;
    stash->tail = e;
    set_tile(stash, e, &plan, tile->coherent, now);
    stash->counters[owner->count].maps++;
    scout(stash, now);
    return STASH_DONE;
}

/* Empties the chunks of the entry's map, also of those words that it has found there. Registered words become `code`. */
static bool empty(struct stash *stash, unsigned e, enum stash_code code, uint64_t now)
{
    const struct stash_mapping *mapping = &stash->entries[e].mapping;
    const uint32_t end = (mapping->first + mapping->bytes + STASH_CHUNK - 1) / STASH_CHUNK;
    bool all = true;
    for (uint32_t chunk = mapping->first / STASH_CHUNK; chunk < end; chunk++)
        if (stash->index[chunk] != STASH_NONE && stash_belongs(stash, chunk, e))
            all &= stash_clean(stash, chunk, code, now);
    return all;
}

/* Registers dirty words of an entry that has become coherent, from its cursor on: those of one line, or one that another map
 * holds, too, for which the registry is told the new index. Returns false if they have to wait. */
static bool enroll_some(struct stash *stash, unsigned e, uint32_t end, uint64_t now)
{
    struct stash_entry *entry = &stash->entries[e];
    uint32_t word = entry->cursor;
    const uint64_t line = stash_line_of(stash, stash_address(stash, entry, word));
    uint32_t other = stash_elsewhere(stash, e, stash_mapping_global(&entry->mapping, word * STASH_WORD));
    uint64_t mask = stash_bit_of(stash, stash_address(stash, entry, word));
    if (other != NO_WORD) {
        if ((stash->ops->pending(stash->below, line) & mask) ||
            !stash->ops->remap(stash->below, line, e, mask, now))
            return false;
        stash_leave(stash, other, STASH_CODE_INVALID);
        entry->cursor++;
        return true;
    }
    for (word++;
         word < end && stash->code[word] >= STASH_CODE_REGISTERED && stash->index[word / CHUNK_WORDS] == e;
         word++) {
        const uint64_t physical = stash_address(stash, entry, word);
        other = stash_elsewhere(stash, e, stash_mapping_global(&entry->mapping, word * STASH_WORD));
        if (stash_line_of(stash, physical) != line || other != NO_WORD)
            break;
        mask |= stash_bit_of(stash, physical);
    }
    if (!stash->ops->enroll(stash->below, line, e, mask, now))
        return false;
    stash->counters[1 + entry->slot].registered += (unsigned)__builtin_popcountll(mask);
    stash_tell(stash, STASH_REGISTERS, e, (unsigned)__builtin_popcountll(mask), now);
    entry->cursor = word;
    return true;
}

static bool enroll_rest(struct stash *stash, unsigned e, uint64_t now)
{
    struct stash_entry *entry = &stash->entries[e];
    const uint32_t end = (entry->mapping.first + entry->mapping.bytes) / STASH_WORD;
    while (entry->cursor < end) {
        const uint32_t word = entry->cursor;
        if (stash->code[word] < STASH_CODE_REGISTERED || stash->index[word / CHUNK_WORDS] != e)
            entry->cursor++;
        else if (!enroll_some(stash, e, end, now))
            return false;
    }
    entry->cursor = NO_WORD;
    return true;
}

/* Changes the mode of a map whose tile stays. */
static enum stash_outcome change_mode(struct stash *stash, unsigned e, bool coherent, uint64_t now)
{
    struct stash_entry *entry = &stash->entries[e];
    if (entry->coherent && !coherent) {
        if (!empty(stash, e, STASH_CODE_VALID, now))
            return STASH_WAIT;
        entry->coherent = false;
        return STASH_DONE;
    }
    if (!entry->coherent && coherent) {
        entry->coherent = true;
        entry->cursor = entry->mapping.first / STASH_WORD;
    }
    return entry->cursor == NO_WORD || enroll_rest(stash, e, now) ? STASH_DONE : STASH_WAIT;
}

enum stash_outcome stash_change(struct stash *stash, unsigned block, unsigned i,
                                const struct stash_tile *tile, uint64_t now)
{
    struct plan plan;
    assert(stash->blocks[block].used && i < stash->blocks[block].count);
    const unsigned e = stash->blocks[block].table[i];
    struct stash_entry *entry = &stash->entries[e];
    make_plan(stash, &plan, block, tile);
    if (plan.mapping.first == entry->mapping.first && stash_mapping_matches(&plan.mapping, &entry->mapping))
        return change_mode(stash, e, tile->coherent, now);
    if (pages_together(stash, &plan.mapping, 1, e) > stash->config.pages)
        return STASH_ERROR;
    /* If evictions do not free enough pages, those of the old map are enough. */
    if (find_pages(stash, &plan, e, now) == STASH_WAIT || !empty(stash, e, STASH_CODE_INVALID, now))
        return STASH_WAIT;
    stash_set_valid(stash, entry, false);
    if (stash_pages_missing(stash, plan.pages, plan.page_count) > stash_pages_free(stash))
        stash_pages_leave(stash, e);
    stash_drop_valid(stash, entry->mapping.first, entry->mapping.bytes);
    for (unsigned other = 0; other < stash->config.entries; other++)
        if (stash->entries[other].reuse_of == e)
            stash->entries[other].reuse = false;
    set_tile(stash, e, &plan, tile->coherent, now);
    stash_pages_leave(stash, e);
    return STASH_DONE;
}
