/* When an address is translated: the timing of TLBs and page walks. Function is the hart's (emu/hart/mmu.h).
 */
#ifndef EMU_CORE_TLB_H
#define EMU_CORE_TLB_H

#include "emu/hart/hart.h"
#include "emu/mem/cache.h"

struct tlb_config {
    uint32_t l1_entries, l1_ways; /* of each of the two first levels, instructions and data; looked up in
                                     parallel with the cache */
    uint32_t l2_entries, l2_ways; /* shared; 0: none */
    uint32_t l2_clocks;           /* of a hit in the second level */
};

enum tlb_use { TLB_DATA, TLB_FETCH };

enum tlb_outcome {
    TLB_READY, /* the access can begin at *ready */
    TLB_WALK,  /* a page walk: the waiter will be called when the access can begin */
};

struct tlb_unit;

void tlb_config_default(struct tlb_config *config);
bool tlb_config_check(const struct tlb_config *config, struct error *err);

/* TLBs of one core, whose walks read page tables through walk_cache. One walk at a time; others wait in
 * order. Never NULL; what is passed must outlive it. */
struct tlb_unit *tlb_new(const struct tlb_config *config, struct hart *hart, struct event_queue *queue,
                         const struct clock *clock, uint32_t component, uint16_t requester,
                         struct cache *walk_cache);
void tlb_free(struct tlb_unit *tlb);

/* Whether addresses are translated at all in the mode that `use` has now; if not, tlb_access() is TLB_READY
 * at once. */
bool tlb_active(const struct tlb_unit *tlb, enum tlb_use use);

enum tlb_outcome tlb_access(struct tlb_unit *tlb, uint64_t address, enum tlb_use use, uint64_t time,
                            uint64_t *ready, struct cache_waiter *waiter);

/* SFENCE.VMA, a write of satp. */
void tlb_flush(struct tlb_unit *tlb);

void tlb_publish(struct tlb_unit *tlb, struct stats *stats, const char *prefix);

#endif
