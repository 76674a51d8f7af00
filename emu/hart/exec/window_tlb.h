/* Data accesses of a privileged hart, through the software TLB of its data mode. For emu/hart/exec/handlers.h. The comparison keeps
 * the low address bits that must be zero, so that a misaligned access misses. MISALIGNED_HITS: it hits all the same if its bytes are in
 * the entry's page, as in access.c; else it takes the slow path. */
#include "emu/hart/mmu.h"

#define PHYSICAL(address, bytes) ((uint64_t)(uintptr_t)(bytes) + hart->trace_offset)
#define WINDOW(kind, address, bits)                                                                          \
    __extension__({                                                                                          \
        uint64_t address_ = (uint64_t)(address);                                                             \
        const struct tlb_entry *entry_ = &hart->kind##_tlb[tlb_index(address_)];                             \
        if (UNLIKELY((address_ & (~(uint64_t)(MMU_PAGE - 1) | ((bits) / 8 - 1))) != entry_->tag) &&          \
            (!MISALIGNED_HITS || (bits) == 8 || hart->timed ||                                               \
             (address_ & -(uint64_t)MMU_PAGE) != entry_->tag ||                                              \
             (address_ & (MMU_PAGE - 1)) > MMU_PAGE - (bits) / 8))                                           \
            return false;                                                                                    \
        REACHED(address_, (uint8_t *)(uintptr_t)(entry_->addend + address_));                                \
    })
