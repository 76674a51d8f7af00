#include "emu/mem/prefetch.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

const char *const cache_prefetch_names[] = {
    [CACHE_PREFETCH_NONE] = "none",
    [CACHE_PREFETCH_NEXT_LINE] = "next_line",
    [CACHE_PREFETCH_STRIDE] = "stride",
    NULL,
};

enum { CONFIDENT = 2, CONFIDENCE_MAX = 3 };

void prefetch_init(struct prefetcher *prefetcher, enum cache_prefetch kind, uint32_t degree, uint32_t line)
{
    assert(degree <= PREFETCH_DEGREE);
    *prefetcher = (struct prefetcher){.kind = kind, .degree = degree, .line = line};
    if (kind != CACHE_PREFETCH_STRIDE)
        return;
    prefetcher->table = alloc(PREFETCH_ENTRIES, sizeof *prefetcher->table);
}

void prefetch_free(struct prefetcher *prefetcher)
{
    free(prefetcher->table);
    prefetcher->table = NULL;
}

/* Computes the lines at address + step, address + 2 step, ... up to the end of the page. Returns their
 * number. */
static unsigned lines_ahead(const struct prefetcher *prefetcher, uint64_t address, int64_t step,
                            uint64_t lines[PREFETCH_DEGREE])
{
    uint64_t page = address & ~(uint64_t)(PREFETCH_PAGE - 1), at = address;
    unsigned count = 0;
    while (count < prefetcher->degree) {
        at += (uint64_t)step;
        if ((at & ~(uint64_t)(PREFETCH_PAGE - 1)) != page)
            break;
        lines[count++] = at & ~(uint64_t)(prefetcher->line - 1);
    }
    return count;
}

/* Updates the entry of pc. Returns the stride to prefetch with, or 0. */
static int64_t stride_of(struct prefetcher *prefetcher, uint64_t pc, uint64_t address)
{
    struct prefetch_entry *entry = &prefetcher->table[(pc >> 1) % PREFETCH_ENTRIES];
    if (entry->pc != pc) {
        *entry = (struct prefetch_entry){.pc = pc, .last = address};
        return 0;
    }
    int64_t stride = (int64_t)(address - entry->last);
    entry->last = address;
    if (stride == entry->stride) {
        if (entry->confidence < CONFIDENCE_MAX)
            entry->confidence++;
    } else if (entry->confidence > 0) {
        entry->confidence--;
    } else {
        entry->stride = stride;
    }
    return stride == entry->stride && entry->confidence >= CONFIDENT ? stride : 0;
}

unsigned prefetch_train(struct prefetcher *prefetcher, uint64_t pc, uint64_t address, bool fresh,
                        uint64_t lines[PREFETCH_DEGREE])
{
    int64_t line = (int64_t)prefetcher->line, step;
    switch (prefetcher->kind) {
    case CACHE_PREFETCH_NEXT_LINE: return fresh ? lines_ahead(prefetcher, address, line, lines) : 0;
    case CACHE_PREFETCH_STRIDE:
        step = stride_of(prefetcher, pc, address);
        if (step == 0)
            return 0;
        if (step > -line && step < line)
            step = step < 0 ? -line : line;
        return lines_ahead(prefetcher, address, step, lines);
    default: return 0;
    }
}
