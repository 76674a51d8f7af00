/* Address translation of multiprocessors, where programs have virtual addresses: TLBs and page walks.
 *
 * The structure is that of Power, Hill, Wood, "Supporting x86-64 address translation for 100s of GPU lanes", HPCA
 * 2014, with a second level as in Mosaic (Ausavarungnirun et al., MICRO 2017): each multiprocessor has a TLB behind its
 * coalescer, which looks up each page of an access once, in parallel with the cache. A miss goes to a second level that
 * all multiprocessors of the part share, and which takes one lookup per clock. A miss there goes to one of several page
 * walkers, which read the page-table entries one after the other through a cache of their own (the walk cache), below
 * which are the crossbar and the second-level cache. An access to a page that a walk will bring waits for that walk.
 * Misses that find no free walker wait in order.
 *
 * Thread stacks and scratchpads have windows that are not translated. Translations are kept until simt_mmu_forget().
 * Not modelled: fetches of instructions, A and D bits, the coherence of the walk cache with the caches of the host,
 * which writes page tables: the walk cache is emptied, without time, when a page was missing and when translations are
 * forgotten. */
#ifndef EMU_SIMT_MMU_H
#define EMU_SIMT_MMU_H

#include "emu/core/tlb.h"
#include "emu/core/tlb/array.h"

struct simt_mmu;
struct simt_tlb;

/* The construction parameters of the shared part. What they point to must outlive it. */
struct simt_mmu_setup {
    const struct tlb_config *tlb;
    uint32_t walkers;        /* at least 1 */
    const struct hart *hart; /* whose page tables translate user-mode addresses */
    struct event_queue *queue;
    const struct clock *clock;
    uint32_t component;
    uint16_t requester;
    struct cache *cache; /* through which walks read */
};

/* Never return NULL: out of memory aborts. Release them with the functions below, which accept NULL, TLBs first. */
struct simt_mmu *simt_mmu_new(const struct simt_mmu_setup *setup);
void simt_mmu_free(struct simt_mmu *mmu);

/* Makes the TLB of a multiprocessor, whose waiters have numbers below `waiters`. done() is called for a waiter when the page
 * for which it waits is there, or when the walk has found no page; for the waiters of one page, in ascending order. */
struct simt_tlb *simt_tlb_new(struct simt_mmu *mmu, uint32_t waiters,
                              void (*done)(void *context, uint32_t waiter, uint64_t now), void *context);
void simt_tlb_free(struct simt_tlb *tlb);

/* Looks up the page of an address at `time` (fs), at least the event queue's time. Returns whether the TLB holds it. If not,
 * done() is called for the waiter later. A waiter may wait for several pages; done() is called for each. */
bool simt_tlb_look(struct simt_tlb *tlb, uint64_t address, uint64_t time, uint32_t waiter);

/* Forgets all translations here and in the TLBs, because page tables have changed. The results of walks under way are
 * not kept. */
void simt_mmu_forget(struct simt_mmu *mmu);

/* Empties the walk cache, because pages have been added to the tables. */
void simt_mmu_refresh(struct simt_mmu *mmu);

/* Register "hits", "misses" and the other counters, and accounts of energy. */
void simt_mmu_publish(struct simt_mmu *mmu, struct stats *stats, struct scope scope);
void simt_mmu_energy(struct simt_mmu *mmu, struct energy_ledger *ledger, struct scope scope);
void simt_tlb_publish(struct simt_tlb *tlb, struct stats *stats, struct scope scope);
/* `source` names the energy's source; NULL: the key energy_l1 at `scope`. */
void simt_tlb_energy(struct simt_tlb *tlb, struct energy_ledger *ledger, struct scope scope,
                     const char *source);

#endif
