/* Address translation: Sv39 and Sv48 page walks, and the software TLB in front of them. */
#ifndef EMU_HART_MMU_H
#define EMU_HART_MMU_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/priv.h"

struct hart;

enum mmu_access { MMU_LOAD, MMU_STORE, MMU_FETCH };

enum { MMU_PAGE = 4096, TLB_ENTRIES = 256 };

/* A page of main memory that may be accessed without asking again. tag is the page's address for the program,
 * so that comparing it with an address whose low bits below the access size are kept also finds misalignment;
 * an unused entry has a tag that no address compares equal to. */
struct tlb_entry {
    uint64_t tag;
    uint64_t addend; /* host address minus the program's address, modulo 2^64 */
};

/* One table for each direction and mode in which data is accessed. */
struct tlb {
    struct tlb_entry load[TLB_ENTRIES];
    struct tlb_entry store[TLB_ENTRIES];
};

/* Pages that lie a power of two apart must not share an entry: hence the folded higher bits. */
static inline unsigned tlb_index(uint64_t address)
{
    return (unsigned)(address >> 12 ^ address >> 20) & (TLB_ENTRIES - 1);
}

/* Translates an address for an access in the given mode; on failure hart->trap holds the page fault or access
 * fault. The PMP check of the access itself is the caller's (mmu_check), that of the walk is done here. */
bool mmu_translate(struct hart *hart, uint64_t address, enum mmu_access access, enum privilege mode,
                   uint64_t *physical);

/* Translates and checks size bytes that lie in one page. */
bool mmu_check(struct hart *hart, uint64_t address, unsigned size, enum mmu_access access,
               enum privilege mode, uint64_t *physical);

/* Remembers the translation of a page for loads or stores in the hart's current data mode, if the page is
 * main memory that PMP treats alike throughout and nothing watches. */
void mmu_remember(struct hart *hart, uint64_t address, uint64_t physical, enum mmu_access access);

/* Forgets all translations. */
void mmu_flush(struct hart *hart);

/* A debugger's translation in the hart's current data mode: changes nothing, raises nothing. */
bool mmu_peek(const struct hart *hart, uint64_t address, uint64_t *physical);

enum { MMU_READS = 12 };

/* The page-table entries that a walk reads, in order; or those of a table of ranges (range_mmu.h). */
struct mmu_walk {
    uint64_t entries[MMU_READS]; /* physical addresses */
    uint32_t count;
    uint32_t bits;        /* the page has 2^bits bytes: 12, 21, 30 or 39; valid for a leaf */
    bool leaf;            /* the walk ends at a page; otherwise the access faults */
    bool global;          /* the page is the same in all address spaces */
    bool ranges;          /* it is by ranges: `first` and `last` in place of `bits` and `global` */
    uint64_t first, last; /* bytes of the range that was found, for the program; valid for a leaf */
};

/* Whether accesses in the mode are translated. */
bool mmu_translates(const struct hart *hart, enum privilege mode);

/* Lists the walk for an address in the given mode as the tables stand; changes nothing, raises nothing. No
 * entries: the mode does not translate, or the address faults before anything is read. */
void mmu_list_walk(const struct hart *hart, uint64_t address, enum privilege mode, struct mmu_walk *list);

#endif
