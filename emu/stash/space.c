/* Function: where the bytes of mapped local memory are. Those of coherent maps are the program's memory; those of non-coherent ones
 * are in the block's scratchpad, to which words are copied when they are first used. */
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/stash/part.h"

enum { WINDOW_BITS = 40 }; /* of an offset: byte and selector */

struct stash_space *stash_space_of(struct stash_part *part, const uint8_t *bytes)
{
    if (!bytes)
        return NULL;
    struct stash_space **recent = &part->recent[(uintptr_t)bytes / STASH_CHUNK % STASH_RECENT];
    if (*recent && (*recent)->block && (*recent)->bytes == bytes)
        return *recent;
    for (uint32_t i = 0; i < part->core_count; i++)
        for (unsigned j = 0; j < STASH_BLOCKS; j++) {
            struct stash_space *space = &part->cores[i].spaces[j];
            if (space->block && space->bytes == bytes)
                return *recent = space;
        }
    return NULL;
}

/* Returns the map of an offset, or NULL if it has none or the byte is outside of it. */
static struct stash_view *view_of(struct stash_space *space, uint64_t offset)
{
    const uint64_t selector = offset >> CROFT_STASH_SELECTOR_BIT;
    if (!space || selector == 0 || selector > space->map_count)
        return NULL;
    struct stash_view *view = &space->maps[selector - 1];
    return (uint32_t)offset - view->mapping.first < view->mapping.bytes ? view : NULL;
}

/* Copies a word of a non-coherent map from memory, unless it is here. Returns false if it cannot be read. */
static bool bring(struct stash_space *space, const struct stash_view *view, struct warp_memory *memory,
                  uint32_t word)
{
    static const struct warp_scratchpad none = {0};
    if (space->copied[word])
        return true;
    const uint64_t va = stash_mapping_global(&view->mapping, word * STASH_WORD);
    if (!warp_memory_load(memory, &none, va, space->bytes + word * STASH_WORD, STASH_WORD))
        return false;
    space->copied[word] = true;
    return true;
}

static uint8_t *reach_global(struct warp_memory *memory, const struct stash_view *view, uint32_t s,
                             enum warp_access access, uint64_t *room)
{
    static const struct warp_scratchpad none = {0};
    uint64_t words = STASH_WORD - s % STASH_WORD, all;
    const uint64_t va = stash_mapping_global(&view->mapping, s);
    uint8_t *bytes = warp_memory_reach(memory, &none, va, access, &all);
    if (s + words < view->mapping.first + view->mapping.bytes &&
        stash_mapping_global(&view->mapping, (uint32_t)(s + words)) == va + words)
        words += STASH_WORD;
    *room = all < words ? all : words;
    return bytes;
}

uint8_t *stash_space_reach(void *context, struct warp_memory *memory, const struct warp_scratchpad *pad,
                           uint64_t offset, enum warp_access access, uint64_t *room)
{
    struct stash_space *space = stash_space_of(context, pad->bytes);
    const struct stash_view *view = view_of(space, offset);
    const uint32_t s = (uint32_t)offset;
    if (!view)
        return NULL;
    if (view->tile.coherent)
        return reach_global(memory, view, s, access, room);
    if (!bring(space, view, memory, s / STASH_WORD))
        return NULL;
    space->stored[s / STASH_WORD] |= access == WARP_STORE;
    *room = STASH_WORD - s % STASH_WORD;
    return space->bytes + s;
}

uint64_t stash_space_place(void *context, struct warp_memory *memory, const struct warp_scratchpad *pad,
                           uint64_t offset)
{
    const struct stash_view *view = view_of(stash_space_of(context, pad->bytes), offset);
    uint64_t physical;
    if (!view || !view->tile.coherent)
        return UINT64_MAX;
    (void)warp_memory_place(memory, stash_mapping_global(&view->mapping, (uint32_t)offset), WARP_LOAD,
                            &physical);
    return physical;
}

static struct trap error_trap(enum croft_stash_error error, uint64_t value)
{
    return (struct trap){(enum trap_cause)CROFT_STASH_CAUSE, error | value << CROFT_STASH_NUMBER_BITS};
}

bool stash_space_fault(void *context, struct warp_memory *memory, const struct warp_scratchpad *pad,
                       uint64_t offset, uint64_t size, enum warp_access access, bool atomic,
                       struct trap *trap)
{
    struct stash_space *space = stash_space_of(context, pad->bytes);
    const uint64_t selector = offset >> CROFT_STASH_SELECTOR_BIT;
    static const struct warp_scratchpad none = {0};
    if (!space || offset >> WINDOW_BITS || selector == 0 || selector > space->map_count)
        return false;
    for (uint64_t at = offset; at < offset + size; at++) {
        const struct stash_view *view = view_of(space, at);
        if (!view) {
            *trap = error_trap(CROFT_STASH_ERROR_OUTSIDE, WARP_SHARED_WINDOW + offset);
            return true;
        }
        const uint64_t va = stash_mapping_global(&view->mapping, (uint32_t)at);
        if (atomic || warp_memory_can(memory, &none, va, 1, view->tile.coherent ? access : WARP_LOAD))
            continue;
        const bool store = view->tile.coherent && access == WARP_STORE;
        *trap = (struct trap){memory->setup.translate ? (store ? TRAP_STORE_PAGE : TRAP_LOAD_PAGE)
                                                      : (store ? TRAP_STORE_ACCESS : TRAP_LOAD_ACCESS),
                              va};
        return true;
    }
    *trap = error_trap(CROFT_STASH_ERROR_ATOMIC, WARP_SHARED_WINDOW + offset);
    return atomic;
}

void stash_space_begin(struct stash_space *space, const struct simt_block *block,
                       const struct warp_place *place)
{
    const size_t words = (place->scratchpad_size + STASH_WORD - 1) / STASH_WORD;
    space->block = block;
    space->bytes = place->scratchpad;
    space->size = place->scratchpad_size;
    space->map_count = space->change_count = 0;
    space->hits = space->misses = 0;
    space->threads = place->block_size[0] * place->block_size[1] * place->block_size[2];
    space->added = alloc(space->threads, sizeof *space->added);
    space->changed = alloc(space->threads, sizeof *space->changed);
    space->copied = alloc(words, sizeof *space->copied);
    space->stored = alloc(words, sizeof *space->stored);
}

void stash_space_end(struct stash_space *space)
{
    free(space->added);
    free(space->changed);
    free(space->copied);
    free(space->stored);
    free(space->changes);
    space->added = space->changed = NULL;
    space->copied = space->stored = NULL;
    space->changes = NULL;
    space->change_room = 0;
    space->block = NULL;
}

/* Forgets what is known of the words of a map. */
static void forget(struct stash_space *space, const struct stash_mapping *mapping)
{
    memset(space->copied + mapping->first / STASH_WORD, 0, mapping->bytes / STASH_WORD);
    memset(space->stored + mapping->first / STASH_WORD, 0, mapping->bytes / STASH_WORD);
}

void stash_space_add(struct stash_space *space, const struct stash_tile *tile)
{
    struct stash_view *view = &space->maps[space->map_count++];
    view->added = view->tile = *tile;
    stash_mapping_set(&view->mapping, tile, 0);
    forget(space, &view->mapping);
}

/* Stores to memory what a map's block has stored here. */
static void publish_words(struct stash_space *space, const struct stash_mapping *mapping,
                          struct warp_memory *memory)
{
    static const struct warp_scratchpad none = {0};
    for (uint32_t s = mapping->first; s < mapping->first + mapping->bytes; s += STASH_WORD)
        if (space->stored[s / STASH_WORD])
            (void)warp_memory_store(memory, &none, stash_mapping_global(mapping, s), space->bytes + s,
                                    STASH_WORD);
}

void stash_space_change(struct stash_space *space, unsigned map, const struct stash_tile *tile,
                        struct warp_memory *memory)
{
    struct stash_view *view = &space->maps[map];
    struct stash_mapping mapping;
    stash_mapping_set(&mapping, tile, 0);
    const bool same = mapping.first == view->mapping.first && stash_mapping_matches(&mapping, &view->mapping);
    if (same && tile->coherent == view->tile.coherent)
        return;
    if (same && tile->coherent)
        publish_words(space, &mapping, memory);
    forget(space, &view->mapping);
    view->tile = *tile;
    view->mapping = mapping;
    forget(space, &view->mapping);
}
