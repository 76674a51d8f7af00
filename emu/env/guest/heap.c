#include "emu/env/guest/heap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/sim/alloc.h"

static uint64_t page_up(uint64_t address)
{
    return (address + GUEST_PAGE - 1) & ~(uint64_t)(GUEST_PAGE - 1);
}

void heap_init(struct heap *heap, const struct phys *memory, uint64_t program_end, uint64_t top)
{
    uint64_t start = page_up(program_end);
    *heap = (struct heap){
        .memory = memory, .start = start, .end_of_data = start, .top = top & ~(uint64_t)(GUEST_PAGE - 1)};
}

void heap_free(struct heap *heap)
{
    free(heap->maps);
    *heap = (struct heap){0};
}

void heap_reserve(struct heap *heap, struct heap_range range)
{
    heap->reserved = (struct heap_range){range.first & ~(uint64_t)(GUEST_PAGE - 1), page_up(range.end)};
}

/* Zeroes guest pages [first, end) and gives them back to the host. */
static void release(const struct heap *heap, uint64_t first, uint64_t end)
{
    if (first >= end)
        return;
    uint8_t *at = phys_at(heap->memory, first, end - first);
    uint64_t host_page = (uint64_t)sysconf(_SC_PAGESIZE);
    bool whole_pages = (uintptr_t)at % host_page == 0 && (end - first) % host_page == 0;
    if (!whole_pages || madvise(at, end - first, MADV_DONTNEED) != 0)
        memset(at, 0, end - first);
    phys_note_release(heap->memory, first, end - first);
}

uint64_t heap_break(struct heap *heap, uint64_t address)
{
    uint64_t limit = heap->count > 0 ? heap->maps[0].first : heap->top;
    if (heap->reserved.end > heap->start && heap->reserved.first < limit)
        limit = heap->reserved.first;
    if (address < heap->start || address > limit)
        return heap->end_of_data;
    release(heap, page_up(address), page_up(heap->end_of_data));
    heap->end_of_data = address;
    return address;
}

static void insert(struct heap *heap, size_t at, struct heap_range range)
{
    if (heap->count == heap->room) {
        size_t room = heap->room ? 2 * heap->room : 16;
        struct heap_range *grown = alloc_resize(heap->maps, room * sizeof *grown);
        heap->maps = grown;
        heap->room = room;
    }
    memmove(&heap->maps[at + 1], &heap->maps[at], (heap->count - at) * sizeof heap->maps[0]);
    heap->maps[at] = range;
    heap->count++;
}

static void erase(struct heap *heap, size_t at)
{
    heap->count--;
    memmove(&heap->maps[at], &heap->maps[at + 1], (heap->count - at) * sizeof heap->maps[0]);
}

/* Inserts a range between maps[at - 1] and maps[at] and merges adjacent ranges. */
static void add(struct heap *heap, size_t at, struct heap_range range)
{
    if (at < heap->count && heap->maps[at].first == range.end) {
        range.end = heap->maps[at].end;
        erase(heap, at);
    }
    if (at > 0 && heap->maps[at - 1].end == range.first)
        heap->maps[at - 1].end = range.end;
    else
        insert(heap, at, range);
}

/* Returns the highest place for `length` bytes in the free range [below, ceiling), or 0. */
static uint64_t place(const struct heap *heap, uint64_t below, uint64_t ceiling, uint64_t length)
{
    const struct heap_range *reserved = &heap->reserved;
    if (ceiling < below || ceiling - below < length)
        return 0;
    if (reserved->end <= ceiling - length || reserved->first >= ceiling)
        return ceiling - length;
    return place(heap, below, reserved->first, length);
}

uint64_t heap_map(struct heap *heap, uint64_t length)
{
    uint64_t floor = page_up(heap->end_of_data);
    if (length == 0 || length > heap->top - heap->start)
        return 0;
    length = page_up(length);
    uint64_t ceiling = heap->top;
    for (size_t i = heap->count;; i--) {
        uint64_t below = i > 0 ? heap->maps[i - 1].end : floor;
        const uint64_t at = place(heap, below, ceiling, length);
        if (at) {
            add(heap, i, (struct heap_range){at, at + length});
            return at;
        }
        if (i == 0)
            return 0;
        ceiling = heap->maps[i - 1].first;
    }
}

bool heap_unmap(struct heap *heap, uint64_t address, uint64_t length)
{
    if (address % GUEST_PAGE != 0 || length == 0 || address < heap->start || address > heap->top ||
        length > heap->top - address)
        return false;
    uint64_t end = page_up(address + length);
    for (size_t i = 0; i < heap->count;) {
        struct heap_range old = heap->maps[i];
        if (old.end <= address || old.first >= end) {
            i++;
            continue;
        }
        erase(heap, i);
        if (old.first < address)
            insert(heap, i++, (struct heap_range){old.first, address});
        if (old.end > end)
            insert(heap, i++, (struct heap_range){end, old.end});
        release(heap, old.first > address ? old.first : address, old.end < end ? old.end : end);
    }
    return true;
}

bool heap_is_mapped(const struct heap *heap, uint64_t address, uint64_t length)
{
    for (size_t i = 0; i < heap->count; i++) {
        const struct heap_range *map = &heap->maps[i];
        if (address >= map->first && address < map->end)
            return length <= map->end - address;
    }
    return false;
}
