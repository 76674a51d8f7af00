/* Address spaces of code, as blocks see them.
 *
 * Blocks are kept by physical address, and serve all address spaces that map their code in the same way. A context is
 * one address space in one mode: its jump cache, and the leaves (pages of any size) through which it has found code. A
 * block lies within one leaf, so that exits within a leaf can be linked for all address spaces; other exits go through
 * the jump cache. After SFENCE.VMA, the leaves concerned are compared with the page tables; the jump cache is emptied only
 * if one has changed. Without translation, everything is one leaf. */
#ifndef EMU_HART_BLOCK_SPACE_H
#define EMU_HART_BLOCK_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/mmu.h"

union op;
struct hart;
struct block_cache;

enum {
    CONTEXTS = 64,
    LEAVES = 512,        /* slots of a context's table of leaves; a power of two */
    LEAVES_MAX = 384,    /* leaves in it */
    LEAF_EVERYTHING = 64 /* bits of the only leaf without translation */
};

/* The state of a hart on which the translation of blocks depends. */
struct block_mode {
    uint8_t privilege;
    bool fp_dirty; /* mstatus.FS is Dirty: floating-point instructions need not set it */
    bool fp_host;  /* frm is a rounding mode of the host */
};

struct context {
    uint64_t space; /* satp; 0 without translation; mrange of a hart that translates by ranges */
    struct block_mode mode;
    bool stale;    /* the leaves have to be compared with the page tables before the context is used */
    uint8_t sizes; /* set of indices of page sizes (4 KiB, 2 MiB, 1 GiB, 512 GiB) that leaves have */
    uint32_t leaf_count;
    uint64_t used;               /* when it was chosen last */
    const union op **jump_cache; /* HART_JUMP_ENTRIES entries */
    struct mmu_leaf *leaves;     /* LEAVES slots, hashed; bits 0: empty */
};

static inline bool leaf_holds(const struct mmu_leaf *leaf, uint64_t address)
{
    return leaf->bits == LEAF_EVERYTHING || (address ^ leaf->address) >> leaf->bits == 0;
}

/* Returns the physical address of an address in the leaf. */
static inline uint64_t leaf_place(const struct mmu_leaf *leaf, uint64_t address)
{
    return leaf->physical + (address - leaf->address);
}

/* Makes the context current that the hart's state asks for; its jump cache becomes the hart's. */
void space_choose(struct hart *hart);

/* Marks the leaves that the fence names as unchecked: their contexts compare them when they are chosen. */
void space_fence(struct block_cache *cache, const struct mmu_fence *fence);

/* Finds the leaf of the current context that holds code at pc. If code cannot be fetched there, returns false, and a leaf
 * of the two bytes at pc that is mapped to no memory. */
bool space_leaf(struct hart *hart, uint64_t pc, struct mmu_leaf *leaf);

/* Finds the leaf of the current context that is known to hold code at pc. Returns false if none is; does not walk tables. */
bool space_known_leaf(const struct block_cache *cache, uint64_t pc, struct mmu_leaf *leaf);

/* Empties the jump caches and leaves of all contexts; or the entry of all jump caches for pc. */
void space_forget(struct block_cache *cache);
void space_forget_jump(struct block_cache *cache, uint64_t pc);

void space_free(struct block_cache *cache);

#endif
