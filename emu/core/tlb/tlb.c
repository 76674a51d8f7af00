#include "emu/core/tlb.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/core/tlb/array.h"
#include "emu/hart/mmu.h"
#include "emu/hart/mmu/ranges.h"
#include "emu/sim/alloc.h"

/* An access that waits for a walk: its own, or an earlier one that brings its page. */
struct tlb_wait {
    struct mmu_walk list; /* the entries to read, as of the time of the request */
    struct cache_waiter *waiter;
    uint64_t address, key;
    uint64_t time;  /* earliest time of its walk */
    uint8_t use;    /* enum tlb_use */
    bool forgotten; /* flushed since: do not keep the result */
};

struct core_tlb {
    struct tlb_front front;
    struct tlb_array l1[TLB_USES], l2;
    struct range_tlb ranges;
    struct event_queue *queue;
    const struct clock *clock;
    struct cache *cache;
    uint64_t l2_time, hit_time; /* fs: a second-level lookup; a read of a walk that hits */
    uint16_t requester;

    /* The walker. waits[0] is the current walk, if any; the others follow in order of their requests. */
    struct tlb_wait *waits;
    uint32_t count, room;
    uint32_t step;    /* entries of waits[0] that have been read */
    uint8_t level;    /* slowest level that they came from */
    uint64_t started; /* begin of the current walk */
    uint64_t free;    /* end of the last walk */
    struct cache_waiter read;
    struct event finish;

    uint64_t energy_l1, energy_l2; /* fJ of a lookup */
    uint64_t l1_misses[TLB_USES], l2_hits, l2_misses, walks, joined, reads, walk_clocks, flushes;
};

static void walk_read(struct cache_waiter *waiter, uint64_t now, unsigned level);
static void walk_finish(void *owner, uint64_t now);

static void forget_last(struct core_tlb *tlb)
{
    for (unsigned use = 0; use < TLB_USES; use++)
        tlb->front.last[use].page = UINT64_MAX;
}

static enum privilege mode_of(const struct hart *hart, enum tlb_use use)
{
    return use == TLB_FETCH ? (enum privilege)hart->privilege : priv_data_mode(hart);
}

/* Updates the front to the hart's current mode and address space. */
static void refresh(struct core_tlb *tlb)
{
    struct tlb_front *front = &tlb->front;
    front->satp = front->hart->priv.satp;
    front->status = front->hart->priv.mstatus & TLB_STATUS;
    front->privilege = front->hart->privilege;
    for (enum tlb_use use = 0; use < TLB_USES; use++) {
        front->active[use] = mmu_translates(front->hart, mode_of(front->hart, use));
        front->ranges[use] = range_mmu_active(front->hart, mode_of(front->hart, use));
    }
    forget_last(tlb);
}

struct core_tlb *tlb_new(const struct tlb_config *config, struct hart *hart, struct event_queue *queue,
                         const struct clock *clock, uint32_t component, uint16_t requester,
                         struct cache *walk_cache)
{
    struct core_tlb *tlb = alloc(1, sizeof *tlb);
    tlb->front.hart = hart;
    for (unsigned use = 0; use < TLB_USES; use++)
        tlb_array_init(&tlb->l1[use], config->l1_entries, config->l1_ways);
    tlb_array_init(&tlb->l2, config->l2_entries, config->l2_ways);
    range_tlb_init(&tlb->ranges, RANGE_TLB_DEFAULT);
    tlb->queue = queue;
    tlb->clock = clock;
    tlb->cache = walk_cache;
    tlb->requester = requester;
    tlb->l2_time = config->l2_entries ? config->l2_clocks * clock->period : 0;
    tlb->hit_time = cache_configuration(walk_cache)->hit_clocks * clock->period;
    tlb->energy_l1 = config->energy_l1;
    tlb->energy_l2 = config->l2_entries ? config->energy_l2 : 0;
    tlb->read = (struct cache_waiter){NULL, walk_read, tlb};
    event_init(&tlb->finish, component, walk_finish, tlb);
    refresh(tlb);
    return tlb;
}

void tlb_free(struct core_tlb *tlb)
{
    if (!tlb)
        return;
    event_cancel(tlb->queue, &tlb->finish);
    for (unsigned use = 0; use < TLB_USES; use++)
        tlb_array_free(&tlb->l1[use]);
    tlb_array_free(&tlb->l2);
    free(tlb->waits);
    free(tlb);
}

void tlb_set_ranges(struct core_tlb *tlb, uint32_t entries)
{
    range_tlb_init(&tlb->ranges, entries);
    forget_last(tlb);
}

bool tlb_active(const struct core_tlb *tlb, enum tlb_use use)
{
    return mmu_translates(tlb->front.hart, mode_of(tlb->front.hart, use));
}

static uint64_t present_asid(const struct core_tlb *tlb)
{
    return tlb->front.satp >> SATP_ASID_SHIFT & SATP_ASID;
}

/* Inserts the result of a walk into both levels, present from `ready` on. */
static void keep(struct core_tlb *tlb, const struct tlb_wait *wait, uint64_t ready)
{
    unsigned size = (wait->list.bits - 12) / 9;
    if (!wait->list.leaf || wait->forgotten)
        return;
    tlb->front.last[wait->use].page = UINT64_MAX; /* it may have been replaced, and is not the last used */
    if (wait->list.ranges) {
        range_tlb_put(&tlb->ranges, wait->list.first, wait->list.last, ready);
        forget_last(tlb);
        return;
    }
    tlb_array_put(&tlb->l1[wait->use], wait->key, size, wait->list.global, ready);
    tlb_array_put(&tlb->l2, wait->key, size, wait->list.global, ready);
}

/* Reads the remaining entries of the walk from *time on, as long as the cache hits. CACHE_HIT: the walk ends at
 * *time. */
static enum cache_outcome read_on(struct core_tlb *tlb, const struct tlb_wait *walk, uint64_t *time)
{
    const struct cache_actor actor = {.pc = 0, .core = tlb->requester};
    while (tlb->step < walk->list.count) {
        enum cache_outcome outcome =
            cache_access(tlb->cache, walk->list.entries[tlb->step], CACHE_WALK, *time, actor, &tlb->read);
        if (outcome != CACHE_HIT)
            return outcome;
        tlb->step++;
        tlb->reads++;
        *time += tlb->hit_time;
    }
    return CACHE_HIT;
}

static void begin(struct core_tlb *tlb, uint64_t time)
{
    tlb->walks++;
    tlb->step = 0;
    tlb->level = MEM_LEVEL_L1;
    tlb->started = time;
}

static void end(struct core_tlb *tlb, uint64_t time)
{
    tlb->free = time;
    tlb->walk_clocks += (time - tlb->started) / tlb->clock->period;
}

static void add_wait(struct core_tlb *tlb, const struct tlb_wait *wait)
{
    if (tlb->count == tlb->room) {
        tlb->room = tlb->room ? 2 * tlb->room : 8;
        tlb->waits = alloc_resize(tlb->waits, tlb->room * sizeof *tlb->waits);
    }
    tlb->waits[tlb->count++] = *wait;
}

/* Returns whether the walk brings the translation that `wait` needs. A walk that faults serves only its own access. */
static bool serves(const struct tlb_wait *walk, const struct tlb_wait *wait)
{
    uint64_t size = walk->list.last - walk->list.first;
    if (!walk->list.leaf || walk->forgotten || walk->list.ranges != wait->list.ranges)
        return false;
    if (walk->list.ranges)
        return wait->address - walk->list.first <= size;
    return !((walk->key ^ wait->key) & tlb_key_mask((walk->list.bits - 12) / 9, walk->list.global));
}

/* Removes the finished walk and all accesses that it serves from the queue. Returns their waiters, in order. */
static struct cache_waiter *take_served(struct core_tlb *tlb, uint64_t now)
{
    const struct tlb_wait walk = tlb->waits[0];
    struct cache_waiter *first = walk.waiter, *last = first;
    uint32_t left = 0;
    first->next = NULL;
    keep(tlb, &walk, now);
    for (uint32_t i = 1; i < tlb->count; i++) {
        struct tlb_wait *wait = &tlb->waits[i];
        if (!serves(&walk, wait)) {
            tlb->waits[left++] = *wait;
            continue;
        }
        tlb->joined++;
        keep(tlb, wait, now);
        wait->waiter->next = NULL;
        last->next = wait->waiter;
        last = wait->waiter;
    }
    tlb->count = left;
    return first;
}

/* Continues waits[0], whose next read can begin at `time`. Returns whether the walk has ended by now. */
static bool walk_on(struct core_tlb *tlb, uint64_t time, uint64_t now)
{
    if (read_on(tlb, &tlb->waits[0], &time) != CACHE_HIT)
        return false;
    if (time <= now)
        return true;
    event_schedule(tlb->queue, &tlb->finish, time);
    return false;
}

static void walk_finish(void *owner, uint64_t now)
{
    struct core_tlb *tlb = owner;
    unsigned level = tlb->level;
    end(tlb, now);
    struct cache_waiter *served = take_served(tlb, now);
    if (tlb->count) {
        uint64_t time = tlb->waits[0].time > now ? tlb->waits[0].time : now;
        begin(tlb, time);
        bool ended = walk_on(tlb, time, now);
        assert(!ended && "a read takes time");
        (void)ended;
    }
    while (served) {
        struct cache_waiter *waiter = served;
        served = waiter->next;
        waiter->done(waiter, now, level);
    }
}

/* An entry has been read, or the cache has room for the read. */
static void walk_read(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct core_tlb *tlb = waiter->owner;
    if (level != MEM_LEVELS) {
        tlb->step++;
        tlb->reads++;
        if (level > tlb->level)
            tlb->level = (uint8_t)level;
    }
    if (walk_on(tlb, clock_edge(tlb->clock, now), now))
        walk_finish(tlb, now);
}

/* Starts or queues a walk for an access that missed all levels; `time` is when the miss was known. */
static enum tlb_outcome walk(struct core_tlb *tlb, uint64_t address, enum tlb_use use, uint64_t time,
                             uint64_t *ready, struct cache_waiter *waiter)
{
    struct tlb_wait wait = {.waiter = waiter,
                            .address = address,
                            .key = tlb_key(address, present_asid(tlb)),
                            .time = time,
                            .use = (uint8_t)use};
    mmu_list_walk(tlb->front.hart, address, mode_of(tlb->front.hart, use), &wait.list);
    *ready = time;
    if (!wait.list.count)
        return TLB_READY;
    if (tlb->count) {
        add_wait(tlb, &wait);
        return TLB_WALK;
    }
    time = time > tlb->free ? time : tlb->free;
    begin(tlb, time);
    if (read_on(tlb, &wait, &time) != CACHE_HIT) {
        add_wait(tlb, &wait);
        return TLB_WALK;
    }
    end(tlb, time);
    keep(tlb, &wait, time);
    *ready = time;
    return TLB_READY;
}

/* tlb_look() for a hart that translates by ranges. */
static enum tlb_outcome look_range(struct core_tlb *tlb, uint64_t address, enum tlb_use use, uint64_t time,
                                   uint64_t *ready, struct cache_waiter *waiter)
{
    const struct range_tlb_entry *entry = range_tlb_find(&tlb->ranges, address);
    if (!entry && !range_mmu_windowed(tlb->front.hart, address)) {
        tlb->l1_misses[use]++;
        return walk(tlb, address, use, time, ready, waiter);
    }
    uint64_t there = entry ? entry->ready : 0;
    tlb->front.hits[use]++;
    tlb->front.last[use] = (struct tlb_last){address >> 12, there};
    *ready = time > there ? time : there;
    return TLB_READY;
}

enum tlb_outcome tlb_look(struct core_tlb *tlb, uint64_t address, enum tlb_use use, uint64_t time,
                          uint64_t *ready, struct cache_waiter *waiter)
{
    if (!tlb_front_valid(&tlb->front))
        refresh(tlb);
    *ready = time;
    if (!tlb->front.active[use])
        return TLB_READY;
    if (tlb->front.ranges[use])
        return look_range(tlb, address, use, time, ready, waiter);
    struct tlb_array *l1 = &tlb->l1[use];
    uint64_t key = tlb_key(address, present_asid(tlb)), there;
    const struct tlb_page *page = tlb_array_hint(l1, key);
    if (!page)
        page = tlb_array_find(l1, key);
    if (page) {
        tlb->front.hits[use]++;
        there = page->ready;
    } else {
        tlb->l1_misses[use]++;
        time += tlb->l2_time;
        page = tlb_array_find(&tlb->l2, key);
        if (!page) {
            tlb->l2_misses++;
            return walk(tlb, address, use, time, ready, waiter);
        }
        tlb->l2_hits++;
        there = page->ready > time ? page->ready : time;
        tlb_array_put(l1, key, page->size, !(page->mask & TLB_KEY_ASID), there);
    }
    tlb->front.last[use] = (struct tlb_last){address >> 12, there};
    *ready = time > there ? time : there;
    return TLB_READY;
}

/* Returns whether a first level holds the address. */
static bool has(struct core_tlb *tlb, uint64_t address, enum tlb_use use)
{
    if (tlb->front.ranges[use])
        return range_tlb_find(&tlb->ranges, address) || range_mmu_windowed(tlb->front.hart, address);
    return tlb_array_find(&tlb->l1[use], tlb_key(address, present_asid(tlb))) != NULL;
}

void tlb_warm(struct core_tlb *tlb, uint64_t address, enum tlb_use use)
{
    if (!tlb_front_valid(&tlb->front))
        refresh(tlb);
    if (!tlb->front.active[use] || tlb->front.last[use].page == address >> 12)
        return;
    uint64_t key = tlb_key(address, present_asid(tlb));
    if (!has(tlb, address, use)) {
        const struct hart *hart = tlb->front.hart;
        struct tlb_wait wait = {.key = key, .use = (uint8_t)use};
        bool walks = tlb->front.ranges[use] || !tlb_array_find(&tlb->l2, key);
        mmu_list_walk(hart, address, mode_of(hart, use), &wait.list);
        for (uint32_t i = 0; walks && i < wait.list.count; i++)
            cache_warm(tlb->cache, wait.list.entries[i], false);
        if (!wait.list.leaf)
            return;
        keep(tlb, &wait, 0);
    }
    tlb->front.last[use] = (struct tlb_last){address >> 12, 0};
}

void tlb_flush(struct core_tlb *tlb)
{
    tlb_fence(tlb, false, 0, false, 0);
}

void tlb_fence(struct core_tlb *tlb, bool by_address, uint64_t address, bool by_asid, uint64_t asid)
{
    uint64_t key = tlb_key(address, asid & SATP_ASID);
    uint64_t mask = (by_address ? TLB_KEY_PAGE : 0) | (by_asid ? TLB_KEY_ASID : 0);
    tlb->flushes++;
    for (unsigned use = 0; use < TLB_USES; use++)
        tlb_array_drop(&tlb->l1[use], key, mask, !by_asid);
    tlb_array_drop(&tlb->l2, key, mask, !by_asid);
    range_tlb_drop(&tlb->ranges);
    for (uint32_t i = 0; i < tlb->count; i++)
        tlb->waits[i].forgotten = true;
    refresh(tlb);
}

void tlb_publish(struct core_tlb *tlb, struct stats *stats, struct scope scope)
{
    const struct stats_row rows[] = {
        {"l1i.hits", &tlb->front.hits[TLB_FETCH], "accesses", "Translations found in the first level"},
        {"l1i.misses", &tlb->l1_misses[TLB_FETCH], "accesses", "Translations not found in the first level"},
        {"l1d.hits", &tlb->front.hits[TLB_DATA], "accesses", "Translations found in the first level"},
        {"l1d.misses", &tlb->l1_misses[TLB_DATA], "accesses", "Translations not found in the first level"},
        {"l2.hits", &tlb->l2_hits, "accesses", "Translations found in the second level"},
        {"l2.misses", &tlb->l2_misses, "accesses", "Translations found in neither level"},
        {"walks", &tlb->walks, "walks", "Page walks"},
        {"joined", &tlb->joined, "accesses", "Translations that another access's walk brought"},
        {"walk_reads", &tlb->reads, "reads", "Page-table entries read"},
        {"walk_clocks", &tlb->walk_clocks, "clocks", "Clocks in which a page walk was under way"},
        {"flushes", &tlb->flushes, "times", "Complete and partial flushes"},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
}

static uint64_t read_l1(const void *context)
{
    const struct core_tlb *tlb = context;
    uint64_t lookups = 0;
    for (unsigned use = 0; use < TLB_USES; use++)
        lookups += tlb->front.hits[use] + tlb->l1_misses[use];
    return lookups;
}

static uint64_t read_l2(const void *context)
{
    const struct core_tlb *tlb = context;
    return tlb->l2_hits + tlb->l2_misses;
}

void tlb_energy(struct core_tlb *tlb, struct energy_ledger *ledger, struct scope scope)
{
    const struct energy_account accounts[] = {
        {.name = "l1",
         .read = read_l1,
         .context = tlb,
         .unit = tlb->energy_l1,
         .fields = "energy_l1",
         .group = "tlb"},
        {.name = "l2",
         .read = read_l2,
         .context = tlb,
         .unit = tlb->energy_l2,
         .fields = "energy_l2",
         .group = "tlb"},
    };
    for (size_t i = 0; i < sizeof accounts / sizeof *accounts; i++)
        if (accounts[i].unit)
            energy_add(ledger, scope, &accounts[i]);
}
