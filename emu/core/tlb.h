/* When an address is translated: the timing of TLBs and page walks. Function is the hart's (emu/hart/mmu.h).
 *
 * Two first levels, for instructions and data, and a shared second one hold pages of all four sizes under the
 * ASID that satp had. A miss in all of them is walked for: the walker reads the page-table entries that the
 * hart's own walk reads, each when the one before has come. An access to a page that is being walked for, or
 * that a queued walk will bring, waits for that walk and starts none. Left out: caches of page-table entries
 * of upper levels beside walk_cache, and the time of writing the A and D bits.
 *
 * A hart that translates by ranges (emu/hart/range_mmu.h) uses a TLB of ranges in place of all that, for
 * instructions and data together, looked up in parallel with the cache. A miss walks the table of ranges in the
 * same way: its head, then an entry for each halving. The window of mlocal is a comparator beside it. Counted as
 * the first level.
 */
#ifndef EMU_CORE_TLB_H
#define EMU_CORE_TLB_H

#include "emu/core/range_tlb.h"
#include "emu/hart/hart.h"
#include "emu/mem/cache.h"

struct tlb_config {
#include "emu/sim/fields_struct.h"

#include "emu/core/tlb.def"
};

extern const struct part_kind tlb_kind;

enum tlb_use { TLB_DATA, TLB_FETCH, TLB_USES };

enum tlb_outcome {
    TLB_READY, /* the access can begin at *ready */
    TLB_WALK,  /* a page walk: the waiter will be called when the access can begin */
};

struct tlb_unit;

/* TLBs of one core, whose walks read page tables through walk_cache. One walk at a time; others wait in
 * order. Never NULL; what is passed must outlive it. config must have passed the check. */
struct tlb_unit *tlb_new(const struct tlb_config *config, struct hart *hart, struct event_queue *queue,
                         const struct clock *clock, uint32_t component, uint16_t requester,
                         struct cache *walk_cache);
void tlb_free(struct tlb_unit *tlb);

/* Gives the TLB of ranges so many entries, 1 to RANGE_TLB_MAX, instead of RANGE_TLB_DEFAULT; empties it. */
void tlb_set_ranges(struct tlb_unit *tlb, uint32_t entries);

/* Whether addresses are translated at all in the mode that `use` has now; if not, tlb_access() is TLB_READY
 * at once. */
bool tlb_active(const struct tlb_unit *tlb, enum tlb_use use);

/* Translates the program's address at `time`, at least the queue's now, in the hart's present mode and
 * address space. A walk whose reads all hit is TLB_READY too, in the future. Otherwise the waiter is busy
 * until it is called, on a clock edge, with the level that the slowest of the walk's reads went to; it may
 * ask again at once. The address of an access that faults is let through after its walk; nothing is
 * remembered of it. */
static inline enum tlb_outcome tlb_access(struct tlb_unit *tlb, uint64_t address, enum tlb_use use,
                                          uint64_t time, uint64_t *ready, struct cache_waiter *waiter);

/* Forgets everything: SFENCE.VMA, and for ranges a write of mrange or mlocal. A write of satp needs no flush, since pages
 * carry their ASID; a system that gives an ASID a new table has to fence. A walk under way is finished and its result
 * thrown away. */
void tlb_flush(struct tlb_unit *tlb);

/* SFENCE.VMA with rs1 (by_address) and rs2 (by_asid) other than x0: forgets the page of the address only, and
 * spares global pages and other address spaces. */
void tlb_fence(struct tlb_unit *tlb, bool by_address, uint64_t address, bool by_asid, uint64_t asid);

/* Brings the page in as an access would, but without time and without counting: fast-forwarding. */
void tlb_warm(struct tlb_unit *tlb, uint64_t address, enum tlb_use use);

/* Opens the accounts "l1" and "l2" of lookups. */
void tlb_energy(struct tlb_unit *tlb, struct energy_ledger *ledger, struct scope scope);

/* Registers "l1d.hits" and all else that is counted. */
void tlb_publish(struct tlb_unit *tlb, struct stats *stats, struct scope scope);

/* What follows is for tlb_access() and tlb.c only. */

/* The page of the last access: most accesses are to it, and it is the most recently used one already. */
struct tlb_last {
    uint64_t page; /* address >> 12; UINT64_MAX: none */
    uint64_t ready;
};

/* The beginning of a struct tlb_unit. The hart's mode and address space are compared with those that `last`
 * and `active` are about; nobody has to tell of changes. */
struct tlb_front {
    const struct hart *hart;
    uint64_t satp, status;
    uint8_t privilege;
    bool active[TLB_USES], ranges[TLB_USES];
    struct tlb_last last[TLB_USES]; /* none while its use is not active */
    uint64_t hits[TLB_USES];        /* in the first level */
};

enum tlb_outcome tlb_look(struct tlb_unit *tlb, uint64_t address, enum tlb_use use, uint64_t time,
                          uint64_t *ready, struct cache_waiter *waiter);

/* mstatus bits that decide in which mode data is accessed. */
#define TLB_STATUS (MSTATUS_MPRV | MSTATUS_MPP)

static inline bool tlb_front_valid(const struct tlb_front *front)
{
    const struct hart *hart = front->hart;
    return hart->priv.satp == front->satp && hart->privilege == front->privilege &&
           (hart->priv.mstatus & TLB_STATUS) == front->status;
}

static inline enum tlb_outcome tlb_access(struct tlb_unit *tlb, uint64_t address, enum tlb_use use,
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
