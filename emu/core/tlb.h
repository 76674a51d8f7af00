/* The timing of address translation: TLBs and page walks. The hart does the translation itself (emu/hart/mmu.h).
 *
 * Two first levels, for instructions and data, and a shared second level hold pages of all four sizes, tagged with
 * satp's ASID. A miss in both levels starts a walk: the walker reads the page-table entries that the hart's own walk
 * reads, one after the other. An access to a page that a current or queued walk will bring waits for that walk. Not
 * modelled: caches of upper-level page-table entries other than walk_cache, and the time of writing A and D bits.
 *
 * A hart that translates by ranges (emu/hart/mmu/ranges.h) uses a TLB of ranges instead, for instructions and data
 * together, looked up in parallel with the cache. A miss walks the table of ranges in the same way: its head, then one
 * entry for each step of a binary search. The window of mlocal takes no entry: a comparator checks it.
 * Hits and misses are counted as those of the first level. */
#ifndef EMU_CORE_TLB_H
#define EMU_CORE_TLB_H

#include "emu/core/tlb/ranges.h"
#include "emu/hart/hart.h"
#include "emu/mem/cache.h"

struct tlb_config {
#include "emu/sim/fields_struct.h"

#include "emu/core/tlb/tlb.def"
};

extern const struct part_kind tlb_kind;

enum tlb_use { TLB_DATA, TLB_FETCH, TLB_USES };

enum tlb_outcome {
    TLB_READY, /* the access can begin at *ready */
    TLB_WALK,  /* a page walk is under way: the waiter is called when the access can begin */
};

struct core_tlb;

/* Makes the TLBs of one core, whose walks read page tables through walk_cache. One walk at a time; others wait in
 * order. Never NULL. The arguments must outlive it, and config must have passed the check. */
struct core_tlb *tlb_new(const struct tlb_config *config, struct hart *hart, struct event_queue *queue,
                         const struct clock *clock, uint32_t component, uint16_t requester,
                         struct cache *walk_cache);
void tlb_free(struct core_tlb *tlb);

/* Gives the TLB of ranges `entries` entries, 1 to RANGE_TLB_MAX, instead of RANGE_TLB_DEFAULT, and empties it. */
void tlb_set_ranges(struct core_tlb *tlb, uint32_t entries);

/* Returns whether addresses are translated in the mode that `use` has now; if not, tlb_access() returns TLB_READY at
 * once. */
bool tlb_active(const struct core_tlb *tlb, enum tlb_use use);

/* Translates a virtual address at `time`, at least the queue's now, in the hart's current mode and address space.
 * Returns TLB_READY also for a walk whose reads all hit, with *ready in the future. Otherwise the waiter is busy until
 * it is called, on a clock edge, with the slowest level that the walk's reads went to; it may ask again at once. A
 * faulting access passes after its walk, and its translation is not kept. */
static inline enum tlb_outcome tlb_access(struct core_tlb *tlb, uint64_t address, enum tlb_use use,
                                          uint64_t time, uint64_t *ready, struct cache_waiter *waiter);

/* Forgets everything: for SFENCE.VMA, and for ranges on a write of mrange or mlocal. A write of satp needs no flush,
 * because pages are tagged with their ASID; a system that reuses an ASID must fence. A walk under way continues, and
 * its result is discarded. */
void tlb_flush(struct core_tlb *tlb);

/* SFENCE.VMA. by_address (rs1 is not x0): forgets only the page of the address. by_asid (rs2 is not x0):
 * keeps global pages and those of other address spaces. Forgets all ranges in any case. */
void tlb_fence(struct core_tlb *tlb, bool by_address, uint64_t address, bool by_asid, uint64_t asid);

/* Brings a page in as an access would, without time and without counting: for fast-forwarding. */
void tlb_warm(struct core_tlb *tlb, uint64_t address, enum tlb_use use);

/* Adds the accounts "l1" and "l2" of lookups. */
void tlb_energy(struct core_tlb *tlb, struct energy_ledger *ledger, struct scope scope);

/* Registers "l1d.hits" and all other counters. */
void tlb_publish(struct core_tlb *tlb, struct stats *stats, struct scope scope);

/* What follows is for tlb_access() and tlb.c only. */

/* The page of the last access. Most accesses are to this page, which is the most recently used one already. */
struct tlb_last {
    uint64_t page; /* address >> 12; UINT64_MAX: none */
    uint64_t ready;
};

/* The first member of struct core_tlb. tlb_access() compares the hart's mode and address space with those for which
 * `last` and `active` are valid, so nobody needs to report changes. */
struct tlb_front {
    const struct hart *hart;
    uint64_t satp, status;
    uint8_t privilege;
    bool active[TLB_USES], ranges[TLB_USES];
    struct tlb_last last[TLB_USES]; /* none while the use is not active */
    uint64_t hits[TLB_USES];        /* in the first level */
};

enum tlb_outcome tlb_look(struct core_tlb *tlb, uint64_t address, enum tlb_use use, uint64_t time,
                          uint64_t *ready, struct cache_waiter *waiter);

/* The mstatus bits that determine the mode of data accesses. */
#define TLB_STATUS (MSTATUS_MPRV | MSTATUS_MPP)

static inline bool tlb_front_valid(const struct tlb_front *front)
{
    const struct hart *hart = front->hart;
    return hart->priv.satp == front->satp && hart->privilege == front->privilege &&
           (hart->priv.mstatus & TLB_STATUS) == front->status;
}

static inline enum tlb_outcome tlb_access(struct core_tlb *tlb, uint64_t address, enum tlb_use use,
                                          uint64_t time, uint64_t *ready, struct cache_waiter *waiter)
{
    struct tlb_front *front = (struct tlb_front *)tlb;
    const struct tlb_last *last = &front->last[use];
    if (__builtin_expect(tlb_front_valid(front), true)) {
        if (!front->active[use]) {
            *ready = time;
            return TLB_READY;
        }
        if (last->page == address >> 12) {
            front->hits[use]++;
            *ready = time > last->ready ? time : last->ready;
            return TLB_READY;
        }
    }
    return tlb_look(tlb, address, use, time, ready, waiter);
}

#endif
