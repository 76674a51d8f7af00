#include "emu/mem/cache/prefetch.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

const char *const cache_prefetch_names[] = {
    [CACHE_PREFETCH_NONE] = "none",
    [CACHE_PREFETCH_NEXT_LINE] = "next_line",
    [CACHE_PREFETCH_STRIDE] = "stride",
    [CACHE_PREFETCH_STREAM] = "stream",
    NULL,
};

enum { CONFIDENCE_MAX = 3 };

static uint64_t page_of(uint64_t address)
{
    return address & ~(uint64_t)(PREFETCH_PAGE - 1);
}

void prefetch_init(struct prefetcher *prefetcher, const struct prefetch_config *config)
{
    *prefetcher = (struct prefetcher){.config = *config};
    if (config->kind == CACHE_PREFETCH_NONE)
        return;
    assert(config->degree > 0 && config->degree <= PREFETCH_DEGREE);
    assert(config->table > 0 && config->line > 0 && config->step >= config->line);
    if (config->kind != CACHE_PREFETCH_NEXT_LINE)
        prefetcher->table = alloc(config->table, sizeof *prefetcher->table);
}

void prefetch_free(struct prefetcher *prefetcher)
{
    free(prefetcher->table);
    prefetcher->table = NULL;
}

/* Returns the lines at address + step, address + 2 step, ... that the entry, or NULL, has not requested. */
static unsigned lines_ahead(struct prefetcher *prefetcher, struct prefetch_entry *entry, uint64_t address,
                            int64_t step, uint64_t lines[PREFETCH_DEGREE])
{
    const struct prefetch_config *config = &prefetcher->config;
    uint32_t reach = config->distance && entry ? config->distance : config->degree;
    uint64_t mask = ~(uint64_t)(config->line - 1), at = address;
    unsigned count = 0;
    prefetcher->trained = entry;
    prefetcher->ran = entry && entry->running;
    prefetcher->before = prefetcher->ran ? entry->ahead : 0;
    for (uint32_t i = 0; i < reach && count < config->degree; i++) {
        at += (uint64_t)step;
        if (page_of(at) != page_of(address))
            break;
        uint64_t line = at & mask;
        if (entry && entry->running && (step > 0 ? line <= entry->ahead : line >= entry->ahead))
            continue;
        lines[count++] = line;
        if (entry) {
            entry->ahead = line;
            entry->running = true;
        }
    }
    return count;
}

/* Returns the entry of a pc, which is new if another pc had it. */
static struct prefetch_entry *entry_of_pc(struct prefetcher *prefetcher, uint64_t pc)
{
    return &prefetcher->table[(pc >> 1) % prefetcher->config.table];
}

static uint32_t search(const struct prefetcher *prefetcher, uint64_t tag)
{
    const struct prefetch_entry *table = prefetcher->table;
    uint32_t oldest = 0;
    for (uint32_t i = 0; i < prefetcher->config.table; i++) {
        if (table[i].tag == tag)
            return i;
        oldest = table[i].age < table[oldest].age ? i : oldest;
    }
    return oldest;
}

/* Returns the entry of a page, or else the one that was not used for longest. */
static struct prefetch_entry *entry_of_page(struct prefetcher *prefetcher, uint64_t tag)
{
    uint64_t hash = tag / PREFETCH_PAGE * MIX_FACTOR;
    uint16_t *found = &prefetcher->found[(hash >> 32) % PREFETCH_FOUND];
    if (prefetcher->table[*found].tag != tag)
        *found = (uint16_t)search(prefetcher, tag);
    struct prefetch_entry *entry = &prefetcher->table[*found];
    entry->age = ++prefetcher->accesses;
    return entry;
}

/* Begins a new pattern if the entry has another tag. Returns whether it has. */
static bool replace(struct prefetch_entry *entry, uint64_t tag, uint64_t address)
{
    if (entry->tag == tag)
        return false;
    *entry = (struct prefetch_entry){.tag = tag, .last = address, .age = entry->age};
    return true;
}

/* One odd step does not change the stride of a confident entry, but its run of prefetches ends. */
static void count_stride(struct prefetch_entry *entry, int64_t stride)
{
    if (stride == entry->stride) {
        if (entry->confidence < CONFIDENCE_MAX)
            entry->confidence++;
        return;
    }
    entry->running = false;
    if (entry->confidence > 0)
        entry->confidence--;
    else
        entry->stride = stride;
}

static unsigned train_stride(struct prefetcher *prefetcher, uint64_t pc, uint64_t address,
                             uint64_t lines[PREFETCH_DEGREE])
{
    bool by_page = pc == PREFETCH_NO_PC;
    uint64_t tag = by_page ? page_of(address) + 1 : pc;
    struct prefetch_entry *entry = by_page ? entry_of_page(prefetcher, tag) : entry_of_pc(prefetcher, pc);
    int64_t least = (int64_t)prefetcher->config.step;
    if (replace(entry, tag, address))
        return 0;
    int64_t stride = (int64_t)(address - entry->last);
    entry->last = address;
    count_stride(entry, stride);
    if (stride == 0 || stride != entry->stride || entry->confidence < PREFETCH_CONFIDENT)
        return 0;
    if (stride > -least && stride < least)
        stride = stride < 0 ? -least : least;
    return lines_ahead(prefetcher, entry, address, stride, lines);
}

static unsigned train_stream(struct prefetcher *prefetcher, uint64_t address, uint64_t lines[PREFETCH_DEGREE])
{
    uint64_t tag = page_of(address) + 1, line = address & ~(uint64_t)(prefetcher->config.line - 1);
    struct prefetch_entry *entry = entry_of_page(prefetcher, tag);
    int64_t step = (int64_t)prefetcher->config.step;
    if (replace(entry, tag, line) || line == entry->last)
        return 0;
    int64_t moved = (int64_t)(line - entry->last) / step, direction = moved < 0 ? -step : step;
    entry->last = line;
    if (moved > PREFETCH_WINDOW || moved < -PREFETCH_WINDOW) {
        entry->confidence = 0;
        entry->stride = 0;
        entry->running = false;
        return 0;
    }
    if (direction != entry->stride) {
        entry->confidence = 0;
        entry->running = false;
    }
    entry->stride = direction;
    if (entry->confidence < CONFIDENCE_MAX)
        entry->confidence++;
    return entry->confidence < PREFETCH_CONFIDENT ? 0
                                                  : lines_ahead(prefetcher, entry, line, direction, lines);
}

unsigned prefetch_train(struct prefetcher *prefetcher, uint64_t pc, uint64_t address, bool fresh,
                        uint64_t lines[PREFETCH_DEGREE])
{
    int64_t step = (int64_t)prefetcher->config.step;
    switch (prefetcher->config.kind) {
    case CACHE_PREFETCH_NEXT_LINE: return fresh ? lines_ahead(prefetcher, NULL, address, step, lines) : 0;
    case CACHE_PREFETCH_STRIDE: return train_stride(prefetcher, pc, address, lines);
    case CACHE_PREFETCH_STREAM: return fresh ? train_stream(prefetcher, address, lines) : 0;
    default: return 0;
    }
}

void prefetch_take_back(struct prefetcher *prefetcher, const uint64_t lines[PREFETCH_DEGREE], unsigned issued)
{
    struct prefetch_entry *entry = prefetcher->trained;
    if (!entry)
        return;
    entry->running = issued > 0 || prefetcher->ran;
    entry->ahead = issued > 0 ? lines[issued - 1] : prefetcher->before;
}
