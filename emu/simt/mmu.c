#include "emu/simt/mmu.h"

#include <stdlib.h>
#include <string.h>

#include "emu/hart/mmu.h"
#include "emu/sim/alloc.h"

/* A page that a multiprocessor waits for: a lookup in the second level, then perhaps a walk. */
struct miss {
    struct miss *next; /* in a list of one TLB's outstanding or free ones */
    struct miss *also; /* in a walk's list, or in the queue for a walker */
    struct simt_tlb *tlb;
    uint64_t address, key;
    struct event event; /* the second level's answer */
    bool forgotten;     /* translations were forgotten since: do not keep the result */
    uint64_t waiters[]; /* set of the TLB's waiters */
};

struct simt_tlb {
    struct simt_tlb *next; /* of the same mmu */
    struct simt_mmu *mmu;
    struct tlb_array pages;
    uint32_t words; /* of a set of waiters */
    void (*done)(void *context, uint32_t waiter, uint64_t now);
    void *context;
    struct miss *outstanding, *free;
    uint64_t hits, misses, joined;
};

/* A walker and its walk. */
struct walker {
    struct simt_mmu *mmu;
    struct mmu_walk list;
    uint64_t key;
    uint32_t step; /* entries that have been read */
    uint64_t started;
    struct miss *first, *last; /* misses that the walk serves; NULL: idle */
    bool forgotten;
    struct cache_waiter read;
    struct event finish;
};

struct simt_mmu {
    struct simt_mmu_setup setup;
    struct tlb_array pages;
    struct simt_tlb *tlbs;
    struct walker *walkers;
    struct miss *queue, *queue_last; /* misses that wait for a walker */
    uint64_t port_free;              /* fs: time of the next lookup */
    uint64_t look_time, hit_time;    /* fs: a lookup here; a read of a walk that hits */
    uint64_t hits, misses, walks, joined, reads, walk_clocks, faults, flushes;
};

static void walk_read(struct cache_waiter *waiter, uint64_t now, unsigned level);
static void walk_finish(void *owner, uint64_t now);

struct simt_mmu *simt_mmu_new(const struct simt_mmu_setup *setup)
{
    struct simt_mmu *mmu = alloc(1, sizeof *mmu);
    mmu->setup = *setup;
    tlb_array_init(&mmu->pages, setup->tlb->l2_entries, setup->tlb->l2_ways);
    mmu->look_time = setup->tlb->l2_entries ? setup->tlb->l2_clocks * setup->clock->period : 0;
    mmu->hit_time = cache_configuration(setup->cache)->hit_clocks * setup->clock->period;
    mmu->walkers = alloc(setup->walkers, sizeof *mmu->walkers);
    for (uint32_t i = 0; i < setup->walkers; i++) {
        struct walker *walker = &mmu->walkers[i];
        walker->mmu = mmu;
        walker->read = (struct cache_waiter){NULL, walk_read, walker};
        event_init(&walker->finish, setup->component, walk_finish, walker);
    }
    return mmu;
}

void simt_mmu_free(struct simt_mmu *mmu)
{
    if (!mmu)
        return;
    for (uint32_t i = 0; i < mmu->setup.walkers; i++)
        event_cancel(mmu->setup.queue, &mmu->walkers[i].finish);
    tlb_array_free(&mmu->pages);
    free(mmu->walkers);
    free(mmu);
}

struct simt_tlb *simt_tlb_new(struct simt_mmu *mmu, uint32_t waiters,
                              void (*done)(void *context, uint32_t waiter, uint64_t now), void *context)
{
    struct simt_tlb *tlb = alloc(1, sizeof *tlb);
    tlb->mmu = mmu;
    tlb->words = (waiters + 63) / 64;
    tlb->done = done;
    tlb->context = context;
    tlb_array_init(&tlb->pages, mmu->setup.tlb->l1_entries, mmu->setup.tlb->l1_ways);
    tlb->next = mmu->tlbs;
    mmu->tlbs = tlb;
    return tlb;
}

static void free_list(const struct simt_tlb *tlb, struct miss *miss)
{
    while (miss) {
        struct miss *next = miss->next;
        event_cancel(tlb->mmu->setup.queue, &miss->event);
        free(miss);
        miss = next;
    }
}

void simt_tlb_free(struct simt_tlb *tlb)
{
    if (!tlb)
        return;
    free_list(tlb, tlb->outstanding);
    free_list(tlb, tlb->free);
    tlb_array_free(&tlb->pages);
    free(tlb);
}

static void forget_array(struct tlb_array *array)
{
    tlb_array_drop(array, 0, 0, true);
}

void simt_mmu_refresh(struct simt_mmu *mmu)
{
    cache_invalidate_all(mmu->setup.cache);
}

void simt_mmu_forget(struct simt_mmu *mmu)
{
    mmu->flushes++;
    forget_array(&mmu->pages);
    for (struct simt_tlb *tlb = mmu->tlbs; tlb; tlb = tlb->next) {
        forget_array(&tlb->pages);
        for (struct miss *miss = tlb->outstanding; miss; miss = miss->next)
            miss->forgotten = true;
    }
    for (uint32_t i = 0; i < mmu->setup.walkers; i++)
        mmu->walkers[i].forgotten = mmu->walkers[i].first != NULL;
    simt_mmu_refresh(mmu);
}

static void take_out(struct miss *miss)
{
    struct miss **at = &miss->tlb->outstanding;
    while (*at != miss)
        at = &(*at)->next;
    *at = miss->next;
}

/* Ends a miss: tells its waiters. `page` is what was found; NULL: nothing to keep. */
static void answer(struct miss *miss, const struct tlb_page *page, uint64_t now)
{
    struct simt_tlb *tlb = miss->tlb;
    take_out(miss);
    if (page && !miss->forgotten)
        tlb_array_put(&tlb->pages, miss->key, page->size, !(page->mask & TLB_KEY_ASID), now);
    for (uint32_t word = 0; word < tlb->words; word++)
        for (uint64_t left = miss->waiters[word]; left; left &= left - 1)
            tlb->done(tlb->context, 64 * word + (uint32_t)__builtin_ctzll(left), now);
    miss->next = tlb->free;
    tlb->free = miss;
}

/* Returns whether the walk ends at the page of the key. */
static bool brings(const struct walker *walker, uint64_t key)
{
    return walker->first && walker->list.leaf && !walker->forgotten &&
           !((walker->key ^ key) & tlb_key_mask((walker->list.bits - 12) / 9, walker->list.global));
}

/* Reads the remaining entries from `time` on, as long as the cache hits. Returns whether the walk ends at *time. */
static bool read_on(struct walker *walker, uint64_t *time)
{
    struct simt_mmu *mmu = walker->mmu;
    const struct cache_actor actor = {.pc = 0, .core = mmu->setup.requester};
    while (walker->step < walker->list.count) {
        if (cache_access(mmu->setup.cache, walker->list.entries[walker->step], CACHE_WALK, *time, actor,
                         &walker->read) != CACHE_HIT)
            return false;
        walker->step++;
        mmu->reads++;
        *time += mmu->hit_time;
    }
    return true;
}

static void walk_on(struct walker *walker, uint64_t time)
{
    if (read_on(walker, &time))
        event_schedule(walker->mmu->setup.queue, &walker->finish, time);
}

static void begin(struct walker *walker, struct miss *miss, uint64_t now)
{
    struct simt_mmu *mmu = walker->mmu;
    mmu->walks++;
    mmu_list_walk(mmu->setup.hart, miss->address, PRIV_U, &walker->list);
    miss->also = NULL;
    walker->first = walker->last = miss;
    walker->key = miss->key;
    walker->step = 0;
    walker->started = now;
    walker->forgotten = false;
    walk_on(walker, now);
}

/* Gives the miss to a walk that brings its page, or to a free walker, or puts it into the queue. */
static void need_walk(struct simt_mmu *mmu, struct miss *miss, uint64_t now)
{
    struct walker *idle = NULL;
    for (uint32_t i = 0; i < mmu->setup.walkers; i++) {
        struct walker *walker = &mmu->walkers[i];
        if (brings(walker, miss->key)) {
            mmu->joined++;
            miss->also = NULL;
            walker->last = walker->last->also = miss;
            return;
        }
        idle = idle || walker->first ? idle : walker;
    }
    if (idle) {
        begin(idle, miss, now);
        return;
    }
    miss->also = NULL;
    if (mmu->queue)
        mmu->queue_last->also = miss;
    else
        mmu->queue = miss;
    mmu->queue_last = miss;
}

/* Answers the miss if the second level holds its page; otherwise it needs a walk. */
static void looked(void *owner, uint64_t now)
{
    struct miss *miss = owner;
    struct simt_mmu *mmu = miss->tlb->mmu;
    const struct tlb_page *page = tlb_array_find(&mmu->pages, miss->key);
    if (page) {
        mmu->hits++;
        answer(miss, page, now);
        return;
    }
    mmu->misses++;
    need_walk(mmu, miss, now);
}

/* Lets misses that wait for walkers begin or join walks. */
static void serve_queue(struct simt_mmu *mmu, uint64_t now)
{
    struct miss *miss = mmu->queue;
    mmu->queue = NULL;
    while (miss) {
        struct miss *next = miss->also;
        const struct tlb_page *page = tlb_array_find(&mmu->pages, miss->key);
        if (page) {
            mmu->joined++;
            answer(miss, page, now);
        } else {
            need_walk(mmu, miss, now);
        }
        miss = next;
    }
}

static void walk_finish(void *owner, uint64_t now)
{
    struct walker *walker = owner;
    struct simt_mmu *mmu = walker->mmu;
    struct miss *served = walker->first;
    const unsigned size = (walker->list.bits - 12) / 9;
    const struct tlb_page page = {.mask = tlb_key_mask(size, walker->list.global), .size = (uint8_t)size};
    bool keeps = walker->list.leaf && !walker->forgotten;
    mmu->faults += !walker->list.leaf;
    mmu->walk_clocks += (now - walker->started) / mmu->setup.clock->period;
    if (keeps)
        tlb_array_put(&mmu->pages, walker->key, size, walker->list.global, now);
    walker->first = NULL;
    while (served) {
        struct miss *next = served->also;
        answer(served, keeps ? &page : NULL, now);
        served = next;
    }
    serve_queue(mmu, now);
}

/* Continues the walk when an entry has been read, or when the cache has room for the read. */
static void walk_read(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct walker *walker = waiter->owner;
    if (level != MEM_LEVELS) {
        walker->step++;
        walker->mmu->reads++;
    }
    walk_on(walker, clock_edge(walker->mmu->setup.clock, now));
}

static struct miss *new_miss(struct simt_tlb *tlb, uint64_t address, uint64_t key)
{
    struct miss *miss = tlb->free;
    if (miss) {
        tlb->free = miss->next;
    } else {
        miss = alloc(1, sizeof *miss + tlb->words * sizeof *miss->waiters);
        event_init(&miss->event, tlb->mmu->setup.component, looked, miss);
    }
    memset(miss->waiters, 0, tlb->words * sizeof *miss->waiters);
    miss->tlb = tlb;
    miss->address = address;
    miss->key = key;
    miss->forgotten = false;
    miss->next = tlb->outstanding;
    tlb->outstanding = miss;
    return miss;
}

static void ask(struct simt_mmu *mmu, struct miss *miss, uint64_t time)
{
    uint64_t start = time > mmu->port_free ? time : mmu->port_free;
    mmu->port_free = start + mmu->setup.clock->period;
    event_schedule(mmu->setup.queue, &miss->event, start + mmu->look_time);
}

bool simt_tlb_look(struct simt_tlb *tlb, uint64_t address, uint64_t time, uint32_t waiter)
{
    struct simt_mmu *mmu = tlb->mmu;
    uint64_t key = tlb_key(address, mmu->setup.hart->priv.satp >> SATP_ASID_SHIFT & SATP_ASID);
    if (tlb_array_hint(&tlb->pages, key) || tlb_array_find(&tlb->pages, key)) {
        tlb->hits++;
        return true;
    }
    tlb->misses++;
    struct miss *miss = tlb->outstanding;
    while (miss && (miss->key != key || miss->forgotten))
        miss = miss->next;
    if (miss) {
        tlb->joined++;
    } else {
        miss = new_miss(tlb, address, key);
        ask(mmu, miss, time);
    }
    miss->waiters[waiter / 64] |= UINT64_C(1) << waiter % 64;
    return false;
}

void simt_mmu_publish(struct simt_mmu *mmu, struct stats *stats, struct scope scope)
{
    const struct stats_row rows[] = {
        {"hits", &mmu->hits, "accesses", "pages that a first level missed and the second level held"},
        {"misses", &mmu->misses, "accesses", "pages that neither level held"},
        {"walks", &mmu->walks, "walks", "page walks"},
        {"joined", &mmu->joined, "accesses", "misses that another miss's walk served"},
        {"walk_reads", &mmu->reads, "reads", "page-table entries read"},
        {"walk_clocks", &mmu->walk_clocks, "clocks", "clocks of all walks, from their begin to their end"},
        {"faults", &mmu->faults, "walks", "of these, walks that ended at no page"},
        {"flushes", &mmu->flushes, "times", "times that the host has removed pages or permissions"},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
}

void simt_tlb_publish(struct simt_tlb *tlb, struct stats *stats, struct scope scope)
{
    const struct stats_row rows[] = {
        {"hits", &tlb->hits, "accesses", "pages of accesses that the TLB held"},
        {"misses", &tlb->misses, "accesses", "pages of accesses that it did not hold"},
        {"joined", &tlb->joined, "accesses", "of these, misses that an earlier miss's answer served"},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
}

static uint64_t mmu_lookups(const void *context)
{
    const struct simt_mmu *mmu = context;
    return mmu->hits + mmu->misses;
}

static uint64_t tlb_lookups(const void *context)
{
    const struct simt_tlb *tlb = context;
    return tlb->hits + tlb->misses;
}

void simt_mmu_energy(struct simt_mmu *mmu, struct energy_ledger *ledger, struct scope scope)
{
    const struct tlb_config *config = mmu->setup.tlb;
    if (config->l2_entries && config->energy_l2)
        energy_add(ledger, scope,
                   &(struct energy_account){.name = "lookup",
                                            .read = mmu_lookups,
                                            .context = mmu,
                                            .unit = config->energy_l2,
                                            .fields = "energy_l2",
                                            .group = "tlb"});
}

void simt_tlb_energy(struct simt_tlb *tlb, struct energy_ledger *ledger, struct scope scope,
                     const char *source)
{
    const struct tlb_config *config = tlb->mmu->setup.tlb;
    if (config->energy_l1)
        energy_add(ledger, scope,
                   &(struct energy_account){.name = "lookup",
                                            .read = tlb_lookups,
                                            .context = tlb,
                                            .unit = config->energy_l1,
                                            .fields = source ? NULL : "energy_l1",
                                            .source = source,
                                            .group = "tlb"});
}
