/* The in-order core's loads and stores, and the queues in which they wait for the data cache. */
#include <stddef.h>

#include "emu/core/inorder/state.h"
#include "emu/sim/list.h"

unsigned inorder_level_cause(unsigned level)
{
    static const uint8_t causes[MEM_LEVELS] = {
        [MEM_LEVEL_L1] = CPI_l1, [MEM_LEVEL_L2] = CPI_l2, [MEM_LEVEL_MEMORY] = CPI_memory};
    return level < MEM_LEVELS ? causes[level] : CPI_memory;
}

/* An entry of a queue was freed, or the cache has room to repeat an access. */
static void note_freed(struct inorder *c, uint64_t cycle, unsigned level)
{
    c->freed = cycle;
    if (level != MEM_LEVELS)
        c->freed_cause = (uint8_t)inorder_level_cause(level);
}

/* All parts of a load have arrived: its register can be used. */
static void finish_load(struct inorder *c, struct inorder_load *load)
{
    uint64_t cycle = load->ready + c->latency.of[CORE_WORK_load].latency, late = ready_at(cycle, 0);
    c->ready[load->rd] = ready_at(cycle, inorder_level_cause(load->level));
    c->free_loads |= UINT64_C(1) << (load - c->loads);
    if (c->free_loads == c->all_loads) { /* it was the last pending load */
        c->late = c->late_known > late ? c->late_known : late;
        c->late_known = c->late;
    } else if (late > c->late_known) {
        c->late_known = late;
    }
    if (c->noting_loads)
        inorder_note_load(c, load->number, cycle, load->level);
}

static void part_came(struct inorder *c, struct inorder_load *load, uint64_t now, unsigned level)
{
    uint64_t cycle = clock_cycle(&c->core.parts.clock, now);
    note_freed(c, cycle, level);
    if (level == MEM_LEVELS) {
        load->room = false;
        c->refused--;
    } else {
        if (cycle > load->ready)
            load->ready = cycle;
        if (level > load->level)
            load->level = (uint8_t)level;
        /* access_load() counts a second part in advance, so the load is not complete before it. */
        if (--load->parts == 0)
            finish_load(c, load);
    }
    inorder_go_on(c, now);
}

static void load_came(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct inorder *c = waiter->owner;
    struct inorder_load *load = CONTAINER_OF(waiter, struct inorder_load, waiter);
    part_came(c, load, now, level);
}

static void half_came(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct inorder *c = waiter->owner;
    struct inorder_load *load = CONTAINER_OF(waiter, struct inorder_load, half);
    part_came(c, load, now, level);
}

static struct inorder_store *store_at(struct inorder *c, uint32_t i)
{
    uint32_t slot = c->first_store + i;
    return &c->stores[slot < c->config.store_buffer ? slot : slot - c->config.store_buffer];
}

/* Accesses the cache for the next store in order, in the first possible cycle at or after `from`. */
static void start_store(struct inorder *c, struct inorder_store *store, uint64_t from)
{
    uint64_t cycle = from > c->store_next ? from : c->store_next;
    switch (cache_access(c->core.parts.l1d, store->physical, CACHE_STORE, inorder_time(c, cycle),
                         store->actor, &store->waiter)) {
    case CACHE_HIT: store->state = STORE_DONE; break;
    case CACHE_MISS: store->state = STORE_MISSED; break;
    case CACHE_FULL: store->state = STORE_FULL; return;
    }
    if (cycle + c->hit_clocks > c->store_done)
        c->store_done = cycle + c->hit_clocks;
    c->store_next = cycle + 1;
    c->started++;
}

/* Starts stores as far as the cache has room, and frees finished ones in order. */
static void move_stores(struct inorder *c, uint64_t cycle, unsigned level)
{
    while (c->started < c->store_count) {
        struct inorder_store *store = store_at(c, c->started);
        if (store->state == STORE_FULL)
            break;
        start_store(c, store, cycle);
    }
    while (c->store_count > 0 && store_at(c, 0)->state == STORE_DONE) {
        c->first_store = c->first_store + 1 == c->config.store_buffer ? 0 : c->first_store + 1;
        c->store_count--;
        c->started--;
        note_freed(c, cycle, level);
    }
}

static void store_came(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct inorder *c = waiter->owner;
    struct inorder_store *store = CONTAINER_OF(waiter, struct inorder_store, waiter);
    uint64_t cycle = clock_cycle(&c->core.parts.clock, now);
    if (level == MEM_LEVELS) {
        store->state = STORE_QUEUED;
    } else {
        store->state = STORE_DONE;
        if (cycle > c->store_done)
            c->store_done = cycle;
    }
    move_stores(c, cycle, level);
    inorder_go_on(c, now);
}

void inorder_memory_init(struct inorder *c)
{
    const struct cache_config *l1d = cache_configuration(c->core.parts.l1d);
    c->line_mask = l1d->line - 1;
    c->hit_clocks = l1d->hit_clocks;
    c->load_clocks = l1d->hit_clocks + c->latency.of[CORE_WORK_load].latency;
    c->all_loads = c->free_loads = (UINT64_C(1) << c->config.load_queue) - 1;
    c->freed_cause = CPI_memory;
    for (unsigned i = 0; i < INORDER_LOADS; i++) {
        c->loads[i].waiter = (struct cache_waiter){NULL, load_came, c};
        c->loads[i].half = (struct cache_waiter){NULL, half_came, c};
    }
    for (unsigned i = 0; i < INORDER_STORES; i++)
        c->stores[i].waiter = (struct cache_waiter){NULL, store_came, c};
}

/* Returns the number of bytes of an access that are in the line of its first byte. */
static unsigned first_part(const struct inorder *c, const struct stream_entry *entry)
{
    uint64_t rest = c->line_mask + 1 - (entry->physical & c->line_mask);
    return entry->op->size <= rest ? entry->op->size : (unsigned)rest;
}

/* Returns the physical address of the rest of an access. Physical addresses are contiguous up to the end of the
 * page. */
static uint64_t second_address(const struct inorder *c, const struct stream_entry *entry, unsigned first)
{
    uint64_t address = entry->address + first, physical = entry->physical + first;
    if ((address & (MMU_PAGE - 1)) == 0)
        (void)mmu_peek(c->core.parts.hart, address, &physical);
    return physical;
}

enum forward { FORWARD_NONE, FORWARD_ALL, FORWARD_PART };

/* Finds the youngest store in the buffer that overlaps the load, and returns how much of it that store has. */
static enum forward find_forward(struct inorder *c, uint64_t physical, unsigned size)
{
    for (uint32_t i = c->store_count; i-- > 0;) {
        const struct inorder_store *store = store_at(c, i);
        if (physical >= store->physical + store->size || store->physical >= physical + size)
            continue;
        if (store->state == STORE_DONE)
            continue;
        bool all = store->physical <= physical && physical + size <= store->physical + store->size;
        return all ? FORWARD_ALL : FORWARD_PART;
    }
    return FORWARD_NONE;
}

/* Makes one access of a load in the current cycle. Returns false if blocked until the cache has room. */
static bool access_part(struct inorder *c, struct inorder_load *load, struct cache_waiter *waiter,
                        uint64_t physical, unsigned bytes, uint64_t pc)
{
    struct cache_actor actor = {.pc = pc, .core = c->core.parts.number, .bytes = (uint8_t)bytes};
    switch (cache_access(c->core.parts.l1d, physical, CACHE_LOAD, inorder_time(c, c->cycle), actor, waiter)) {
    case CACHE_HIT: break;
    case CACHE_MISS:
        load->parts++;
        c->load_misses++;
        break;
    case CACHE_FULL:
        load->room = true;
        c->refused++;
        return false;
    }
    /* The load takes at least the hit time, even if the line arrives earlier because this core has run ahead
     * of the queue. */
    if (c->cycle + c->hit_clocks > load->ready)
        load->ready = c->cycle + c->hit_clocks;
    return true;
}

/* Makes the accesses of a load, one or two parts. The second one takes the cache's port in the next cycle. */
static bool access_load(struct inorder *c, struct inorder_load *load, const struct stream_entry *entry)
{
    unsigned first = first_part(c, entry);
    uint64_t pc = entry->op->pc;
    if (!(c->stage & STAGE_FIRST)) {
        load->ready = 0;
        load->level = MEM_LEVEL_L1;
        load->parts = 0;
        load->rd = entry->op->rd | entry->op->rd >> 6;
        load->number = c->number + c->at;
        if (!access_part(c, load, &load->waiter, entry->physical, first, pc))
            return false;
        if (first == entry->op->size)
            return true;
        load->parts++; /* the second part, requested below */
        c->split = (uint32_t)(load - c->loads);
        c->free_loads &= ~(UINT64_C(1) << c->split);
        c->stage |= STAGE_FIRST;
        c->crossings++;
        inorder_stall(c, c->cycle + 1, CPI_l1);
        c->cycle = c->next;
    }
    bool other_page = ((entry->address + first) & (MMU_PAGE - 1)) == 0;
    if (c->translating && other_page &&
        !inorder_translate(c, entry->address + first, STAGE_SECOND_TRANSLATED))
        return false;
    if (!access_part(c, load, &load->half, second_address(c, entry, first), entry->op->size - first, pc))
        return false;
    load->parts--;
    c->free_loads |= UINT64_C(1) << c->split;
    return true;
}

/* Returns the load that is being issued; NULL while the queue is full. */
static struct inorder_load *choose_load(struct inorder *c)
{
    if (c->stage & STAGE_FIRST)
        return &c->loads[c->split];
    if (!c->free_loads)
        return NULL;
    return &c->loads[__builtin_ctzll(c->free_loads)];
}

bool inorder_load_missed(struct inorder *c, struct inorder_load *load, const struct stream_op *op,
                         enum cache_outcome outcome)
{
    load->room = outcome == CACHE_FULL;
    c->refused += load->room;
    if (load->room)
        return false;
    load->ready = c->cycle + c->hit_clocks;
    load->level = MEM_LEVEL_L1;
    load->parts = 1;
    load->rd = op->rd | op->rd >> 6;
    load->number = c->number + c->at;
    c->free_loads &= ~(UINT64_C(1) << (load - c->loads));
    c->load_misses++;
    c->late = INORDER_PENDING;
    return true;
}

bool inorder_load_slowly(struct inorder *c, const struct stream_entry *entry, uint64_t *ready)
{
    unsigned extra = c->latency.of[CORE_WORK_load].latency;
    struct inorder_load *load = choose_load(c);
    if (!load || load->room)
        return false;
    if (c->store_count && !(c->stage & STAGE_FIRST)) {
        switch (find_forward(c, entry->physical, entry->op->size)) {
        case FORWARD_ALL:
            c->forwarded++;
            *ready = ready_at(c->cycle + c->hit_clocks + extra, CPI_l1);
            return true;
        case FORWARD_PART: return false;
        case FORWARD_NONE: break;
        }
    }
    if (!access_load(c, load, entry))
        return false;
    if (load->parts == 0) {
        *ready = ready_at(load->ready + extra, inorder_level_cause(load->level));
    } else {
        c->free_loads &= ~(UINT64_C(1) << (load - c->loads));
        c->late = INORDER_PENDING;
        *ready = INORDER_PENDING;
    }
    return true;
}

void inorder_store_missed(struct inorder *c, const struct stream_entry *entry, enum cache_outcome outcome)
{
    struct inorder_store *store = store_at(c, 0);
    store->physical = entry->physical;
    store->size = entry->op->size;
    store->actor =
        (struct cache_actor){.pc = entry->op->pc, .core = c->core.parts.number, .bytes = entry->op->size};
    store->state = outcome == CACHE_FULL ? STORE_FULL : STORE_MISSED;
    c->store_count = 1;
    c->started = outcome != CACHE_FULL;
}

/* Puts a store into the buffer, which must have room. */
static void push_store(struct inorder *c, uint64_t physical, unsigned size, uint64_t pc)
{
    struct inorder_store *store = store_at(c, c->store_count);
    store->physical = physical;
    store->size = (uint8_t)size;
    store->actor = (struct cache_actor){.pc = pc, .core = c->core.parts.number, .bytes = (uint8_t)size};
    store->state = STORE_QUEUED;
    c->store_count++;
    if (c->started + 1 < c->store_count)
        return;
    start_store(c, store, c->cycle + 1);
    if (c->store_count == 1 && store->state == STORE_DONE) {
        c->store_count = c->started = 0;
    }
}

bool inorder_store_slowly(struct inorder *c, const struct stream_entry *entry)
{
    unsigned first = first_part(c, entry), size = entry->op->size;
    uint32_t parts = first < size ? 2 : 1;
    bool other_page = ((entry->address + first) & (MMU_PAGE - 1)) == 0;
    if (c->translating && parts == 2 && other_page &&
        !inorder_translate(c, entry->address + first, STAGE_SECOND_TRANSLATED))
        return false;
    if (c->store_count + parts > c->config.store_buffer)
        return false;
    push_store(c, entry->physical, first, entry->op->pc);
    if (parts == 2) {
        c->crossings++;
        push_store(c, second_address(c, entry, first), size - first, entry->op->pc);
    }
    return true;
}

bool inorder_prefetch(struct inorder *c, const struct stream_entry *entry)
{
    if (c->translating && entry->physical != EFFECTS_NOWHERE &&
        !inorder_translate(c, entry->address, STAGE_TRANSLATED))
        return false;
    c->stage = 0;
    core_prefetch(&c->core, entry->op, entry->physical, inorder_time(c, c->cycle));
    return true;
}
