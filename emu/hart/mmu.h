/* Address translation: Sv39 and Sv48 page walks, and the software TLB in front of them. */
#ifndef EMU_HART_MMU_H
#define EMU_HART_MMU_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/priv.h"

struct hart;

enum mmu_access { MMU_LOAD, MMU_STORE, MMU_FETCH };

enum { MMU_PAGE = 4096, TLB_ENTRIES = 2048, TLB_GROUP = TLB_ENTRIES / 64 };

/* A page of main memory that may be accessed without further checks. tag is the page's virtual address. It is compared
 * with the address of an access, whose page offset is cleared except for the bits below the access size: so misaligned
 * accesses do not match. An unused entry has a tag that matches no address. */
struct tlb_entry {
    uint64_t tag;
    uint64_t addend; /* host address minus virtual address, modulo 2^64 */
};

/* One table for each direction of access; bit g of its word in `used` tells that one of the TLB_GROUP entries from g * TLB_GROUP on may be used, so that a flush need not touch the others. large[half] spans the pages larger than MMU_PAGE that have entries, in the
 * lower or upper half of the address space; first > last: none. */
struct tlb {
    struct tlb_entry load[TLB_ENTRIES];
    struct tlb_entry store[TLB_ENTRIES];
    uint64_t load_used, store_used;
    struct {
        uint64_t first, last;
    } large[2];
};

/* The tables of a hart, by data mode. Supervisor accesses with SUM set have their own, since programs change SUM often. */
enum { TLB_SUM = 2 /* in the place of mode 2, which does not exist */, TLB_MODES = 4 };

/* A page of any size through which code was found. */
struct mmu_leaf {
    uint64_t address, physical; /* of its first byte */
    uint8_t bits;               /* log2 of its size */
};

/* Folds in higher bits, so that pages a power of two apart do not share an entry. */
static inline unsigned tlb_index(uint64_t address)
{
    return (unsigned)(address >> 12 ^ address >> 20) & (TLB_ENTRIES - 1);
}

/* Returns the tables of a hart, TLB_MODES of them, for mmu_flush() to be called; the caller frees them. NULL: no memory. */
struct tlb *mmu_tables(void);

/* Translates an address for an access in the given mode. On failure returns false, and hart->trap holds the page fault
 * or access fault. PMP is checked for the walk; the caller checks it for the access (mmu_check). */
bool mmu_translate(struct hart *hart, uint64_t address, enum mmu_access access, enum privilege mode,
                   uint64_t *physical);

/* Translates and checks an access of size bytes within one page. */
bool mmu_check(struct hart *hart, uint64_t address, unsigned size, enum mmu_access access,
               enum privilege mode, uint64_t *physical);

/* Keeps the translation that mmu_check() has just found for loads or stores in the hart's current data mode, if the page is main memory, PMP
 * treats it uniformly, and nothing watches it. */
void mmu_remember(struct hart *hart, uint64_t address, uint64_t physical, enum mmu_access access);

/* Makes stores to the bytes below `end` of a page of memory (code_pages.h) leave the fast path, because the page has code
 * now. first: it had no code before. */
void mmu_leave_code(struct hart *hart, uint64_t page, unsigned end, bool first);

/* Finds the page of code at an address, as a fetch does, in the hart's mode, which translates. On failure returns false,
 * and hart->trap holds the fault. */
bool mmu_find_code(struct hart *hart, uint64_t address, struct mmu_leaf *leaf);

/* Returns whether the page tables of the current address space still map the leaf, so that fetches in the mode need not
 * change them. */
bool mmu_leaf_holds(const struct hart *hart, const struct mmu_leaf *leaf, enum privilege mode);

/* Forgets translations as SFENCE.VMA does. */
void mmu_fence(struct hart *hart, const struct mmu_fence *fence);

/* Returns the index of the TLB tables for the hart's data mode. */
unsigned mmu_tlb_mode(const struct hart *hart);

/* Forgets all translations. */
void mmu_flush(struct hart *hart);

/* Translates for a debugger in the hart's current data mode: changes nothing and does not trap. */
bool mmu_peek(const struct hart *hart, uint64_t address, uint64_t *physical);

/* Translates the address of a prefetch instruction and checks that loads, stores or fetches of its byte are allowed. Does not
 * trap, and neither checks nor sets A and D (CMO specification, section 2.5.3). */
bool mmu_prefetch(const struct hart *hart, uint64_t address, uint64_t *physical);

enum { MMU_READS = 12 };

/* The page-table entries that a walk reads, in order; or the entries of a table of ranges (emu/hart/mmu/ranges.h). */
struct mmu_walk {
    uint64_t entries[MMU_READS]; /* physical addresses */
    uint32_t count;
    uint32_t bits;        /* log2 of the page size: 12, 21, 30 or 39; valid for a leaf */
    bool leaf;            /* the walk ends at a page; otherwise the access faults */
    bool global;          /* the page is the same in all address spaces */
    bool ranges;          /* a walk by ranges: `first` and `last` replace `bits` and `global` */
    uint64_t first, last; /* virtual addresses of the range found, inclusive; valid for a leaf */
};

/* Returns whether accesses in the mode are translated. */
bool mmu_translates(const struct hart *hart, enum privilege mode);

/* Lists the walk for an address in the given mode in the current tables; changes nothing and does not trap. The list is
 * empty if the mode does not translate, or the address faults before anything is read. */
void mmu_list_walk(const struct hart *hart, uint64_t address, enum privilege mode, struct mmu_walk *list);

#endif
