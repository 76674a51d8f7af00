/* The translated blocks as a compiler reads them: their instructions, ops, exits and counts. */
#ifndef EMU_HART_BLOCK_VIEW_H
#define EMU_HART_BLOCK_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/exec/op.h"

struct block_cache;

/* An instruction of a block, and the slot of its op. A jump that the block follows may have none: then it is the next
 * instruction's. */
struct block_insn {
    uint64_t pc;
    const struct insn *insn; /* length 0: it could not be fetched */
    union op *op;
};

struct block_exit {
    union op *slot;   /* counts how often it was taken */
    uint32_t retired; /* the block's instructions that retire before it */
    bool indirect;    /* it leads to a computed address, or through step.h */
};

struct block_view {
    uint64_t pc;
    union op *first;
    uint32_t insns, exits;
    uint32_t insn, exit; /* numbers of its first ones in the cache */
    bool live;           /* not dropped, and serves the hart's present mode and address space */
};

/* Blocks are numbered from 0, in the order in which they were made. */
uint32_t block_view_count(const struct block_cache *cache);
struct block_view block_view(const struct block_cache *cache, uint32_t block);

/* Returns the number of the block whose first op it is, or UINT32_MAX (a link stub). */
uint32_t block_view_find(const struct block_cache *cache, const union op *first);

/* Returns the number of the live block at pc, or UINT32_MAX. */
uint32_t block_view_at(const struct block_cache *cache, uint64_t pc);

struct block_insn block_view_insn(const struct block_cache *cache, const struct block_view *view, uint32_t i);
struct block_exit block_view_exit(const struct block_cache *cache, const struct block_view *view, uint32_t i);

/* Returns the first of all slots. */
union op *block_view_slots(const struct block_cache *cache);

#endif
