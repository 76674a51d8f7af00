/* Cleaning of a task's ranges in the host's caches, and the hull kept out of them while tasks are in
 * flight. */
#include "emu/hart/mmu.h"
#include "emu/nucd/engine/state.h"

enum { SWEEP_BLOCKS = 16 }; /* cache operations of a thread's task under way */

struct piece {
    uint64_t first, size; /* physical addresses */
};

/* Translates without setting A or D. Returns false if the address is not mapped to memory. */
static bool translate(struct hart *hart, uint64_t address, uint64_t *physical)
{
    struct trap trap = hart->trap;
    bool hardware_ad = hart->hardware_ad;
    hart->hardware_ad = false;
    bool found = mmu_check(hart, address, 1, MMU_LOAD, priv_data_mode(hart), physical);
    hart->hardware_ad = hardware_ad;
    hart->trap = trap;
    return found && phys_at(hart->memory, *physical, 1);
}

/* Finds the longest physically contiguous piece that begins at the first mapped page from *at on, within
 * [*at, last]. Moves *at behind the piece. Returns false when nothing mapped is left. */
static bool next_piece(struct hart *hart, uint64_t *at, uint64_t last, struct piece *piece)
{
    *piece = (struct piece){0, 0};
    bool more = *at <= last;
    while (more) {
        uint64_t physical, page_last = *at | (MMU_PAGE - 1);
        uint64_t size = (page_last < last ? page_last : last) - *at + 1;
        bool mapped = translate(hart, *at, &physical);
        if (piece->size && (!mapped || physical != piece->first + piece->size))
            return true;
        if (mapped) {
            piece->first = piece->size ? piece->first : physical;
            piece->size += size;
        }
        *at += size;
        more = *at <= last && *at != 0;
    }
    if (*at == 0) /* the range ends with the address space */
        *at = UINT64_MAX;
    return piece->size != 0;
}

/* Returns the clocks for which the first level's tags are busy: one per line, or per set if there are fewer
 * sets (cache_maintain()). */
static uint64_t lookups(const struct cache *cache, uint64_t size)
{
    const struct cache_config *config = cache_configuration(cache);
    uint64_t sets = config->size / config->line / config->ways, lines = size / config->line;
    return lines < sets ? lines : sets;
}

static bool has_input(const struct engine_task *t, const struct nucd_range *range)
{
    const struct nucd_ranges *in = &t->task.memory.in;
    for (unsigned i = 0; i < in->count; i++)
        if (in->range[i].first <= range->first && range->last <= in->range[i].last)
            return true;
    return false;
}

/* Returns whether an input range needs no cleaning, because the dependency table shows an older, incomplete
 * task with the range among its inputs. The host's stores before the older task are cleaned for that task;
 * later stores are held. */
static bool is_shared(struct engine_task *t, const struct nucd_range *range)
{
    for (struct engine_task *older = t->previous; older && !t->engine->config.ideal;
         older = older->previous) {
        if (!older->clear || older->done || older->group != t->group || !has_input(older, range))
            continue;
        if (older->cleaned)
            return true;
        if (t->follows && t->follows != older)
            continue;
        t->cleaning += !t->follows;
        t->follows = older;
        return true;
    }
    return false;
}

/* Begins the operation in a cache and those below. `free` is the time at which its tags are free. */
static void clean_piece(struct engine_task *t, struct cache *cache, uint64_t *free, enum mem_op op,
                        const struct piece *piece)
{
    struct engine *e = t->engine;
    if (e->config.ideal) {
        cache_warm_maintain(cache, op, piece->first, piece->size);
        return;
    }
    const struct cache_actor actor = {.pc = t->task.pc, .core = e->parts.number};
    t->cleaning++;
    cache_maintain(cache, op, piece->first, piece->size, *free, actor, &t->waiter);
    *free += engine_clocks(e, lookups(cache, piece->size));
}

static void clean_ranges(struct engine_task *t, const struct nucd_ranges *ranges, enum mem_op op)
{
    struct piece piece;
    for (unsigned i = 0; i < ranges->count; i++) {
        uint64_t at = ranges->range[i].first, last = ranges->range[i].last;
        if (op == MEM_CLEAN && is_shared(t, &ranges->range[i]))
            continue;
        while (next_piece(t->engine->parts.hart, &at, last, &piece)) {
            uint64_t piece_last = piece.first + piece.size - 1;
            clean_piece(t, t->engine->parts.l1d, &t->engine->scan_free, op, &piece);
            if (op == MEM_CLEAN)
                continue;
            if (t->outputs.first > t->outputs.last)
                t->outputs = (struct nucd_range){piece.first, piece_last};
            t->outputs.first = piece.first < t->outputs.first ? piece.first : t->outputs.first;
            t->outputs.last = engine_later(t->outputs.last, piece_last);
        }
    }
}

/* Returns the first mapped block of a thread's task that is not cleaned yet, by its physical address, and
 * the operation for it. Returns false if there is none. */
static bool next_block(struct engine_task *t, uint64_t *physical, enum mem_op *op)
{
    const struct engine *e = t->engine;
    struct engine_sweep *s = &t->sweep;
    while (s->range < s->count) {
        const struct nucd_range *range = &s->ranges[s->range];
        uint64_t at = s->at > range->first ? s->at : range->first;
        *op = s->range < s->inputs ? MEM_CLEAN : MEM_CLEAN_INVALIDATE;
        s->at = (at | (e->parts.block - 1)) + 1;
        if (s->at == 0 || s->at > range->last) {
            s->range++;
            s->at = 0;
        }
        if (translate(e->parts.hart, at, physical))
            return true;
    }
    return false;
}

bool engine_clean_block(struct engine_task *t)
{
    struct engine *e = t->engine;
    const struct cache_actor actor = {.pc = t->task.pc, .core = e->parts.number};
    uint64_t physical;
    enum mem_op op;
    if (!next_block(t, &physical, &op))
        return false;
    e->scan_free = engine_later(clock_edge(&e->parts.clock, e->parts.queue->now), e->scan_free);
    t->cleaning++;
    cache_maintain(e->parts.l1d, op, physical, 1, e->scan_free, actor, &t->block_waiter);
    e->scan_free += engine_clocks(e, 1);
    return true;
}

/* Cleans the ranges of the sweep in a cache, and in those below. */
static void clean_all(struct engine_task *t, struct cache *cache, uint64_t *free)
{
    struct engine_sweep *s = &t->sweep;
    struct piece piece;
    *free = engine_later(clock_edge(&t->engine->parts.clock, t->engine->parts.queue->now), *free);
    for (unsigned i = 0; i < s->count; i++) {
        uint64_t at = s->ranges[i].first, last = s->ranges[i].last;
        while (next_piece(t->engine->parts.hart, &at, last, &piece))
            clean_piece(t, cache, free, i < s->inputs ? MEM_CLEAN : MEM_CLEAN_INVALIDATE, &piece);
    }
}

/* Cleans input ranges, and cleans and invalidates output ranges, in the multiprocessor's caches. If an
 * operation reaches only one block, works block by block, with up to SWEEP_BLOCKS operations under way. */
static void sweep(struct engine_task *t)
{
    struct engine *e = t->engine;
    if (!e->parts.block || e->config.ideal) {
        clean_all(t, e->parts.l1d, &e->scan_free);
        t->sweep.range = t->sweep.count; /* no blocks are left for completions to begin */
        return;
    }
    for (unsigned i = 0; i < SWEEP_BLOCKS && engine_clean_block(t); i++)
        ;
}

/* Sets the ranges of a sweep. */
static void set_sweep(struct engine_task *t, const struct nucd_ranges *inputs,
                      const struct nucd_ranges *outputs)
{
    struct engine_sweep *s = &t->sweep;
    *s = (struct engine_sweep){0};
    for (unsigned i = 0; i < inputs->count; i++)
        if (!is_shared(t, &inputs->range[i]))
            s->ranges[s->count++] = inputs->range[i];
    s->inputs = s->count;
    for (unsigned i = 0; i < outputs->count; i++)
        s->ranges[s->count++] = outputs->range[i];
}

/* Returns the input ranges without those that lie in an output range: cleaning the output range cleans these
 * too. */
static struct nucd_ranges only_inputs(const struct nucd_footprint *memory)
{
    struct nucd_ranges left = {0};
    for (unsigned i = 0; i < memory->in.count; i++) {
        const struct nucd_range *in = &memory->in.range[i];
        bool output = false;
        for (unsigned k = 0; k < memory->out.count; k++)
            output |= memory->out.range[k].first <= in->first && in->last <= memory->out.range[k].last;
        if (!output)
            left.range[left.count++] = *in;
    }
    return left;
}

bool engine_clean(struct engine_task *t, uint64_t at)
{
    struct engine *e = t->engine;
    const struct nucd_ranges inputs = only_inputs(&t->task.memory);
    e->scan_free = engine_later(clock_edge(&e->parts.clock, at), e->scan_free);
    if (t->group) {
        set_sweep(t, &inputs, &t->task.memory.out);
        clean_all(t, e->parts.host_l1d, &e->host_scan_free);
        sweep(t);
    } else {
        clean_ranges(t, &inputs, MEM_CLEAN);
        clean_ranges(t, &t->task.memory.out, MEM_CLEAN_INVALIDATE);
    }
    engine_keep_out(e);
    return t->cleaning == 0;
}

bool engine_clean_after(struct engine_task *t)
{
    set_sweep(t, &(struct nucd_ranges){0}, &t->task.memory.out);
    sweep(t);
    return t->cleaning == 0;
}

void engine_keep_out(struct engine *e)
{
    struct nucd_range hull = {1, 0};
    for (unsigned i = 0; i < e->places; i++) {
        const struct engine_task *t = &e->tasks[i];
        if (!t->used || t->done || t->outputs.first > t->outputs.last)
            continue;
        if (hull.first > hull.last)
            hull = t->outputs;
        hull.first = t->outputs.first < hull.first ? t->outputs.first : hull.first;
        hull.last = engine_later(hull.last, t->outputs.last);
    }
    keep_out_set(e->parts.keep_out, e->parts.keep_out_owner, (struct keep_out_range){hull.first, hull.last});
}
