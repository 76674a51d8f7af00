/* The choice of a region: blocks that are hot together, by the counts of their exits. */
#ifndef EMU_JIT_REGION_H
#define EMU_JIT_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/block_view.h"

struct hart;

struct region_block {
    struct block_view view;
    uint32_t limit;    /* instructions to compile: the others are cold */
    uint64_t entries;  /* how often it was entered */
    uint64_t executed; /* instructions that it has executed, of the first `limit` */
    bool entry;        /* the interpreter enters the region here */
    bool indirect;     /* indirect jumps go here */
    /* Set by flow_mark(). */
    bool head;     /* the budget is checked here: an entry, or where a loop is closed */
    uint32_t need; /* of heads: instructions to the next head at most */
    uint32_t loop; /* number of the small loop that it is in; 0: none */
};

struct region {
    struct region_block *blocks;
    uint32_t count, insns;
};

/* What is hot enough to be compiled. */
struct region_limits {
    uint64_t seed, others; /* executions of the region's first block, and of the other instructions */
    uint64_t near; /* the others' executions, at least one part in `near` of the first block's; 0: no limit */
    uint32_t most; /* instructions of the region */
    bool again;    /* the first block may be an entry of a region already */
    const uint8_t *closed; /* by block: it is not taken; NULL: none */
    uint32_t closed_count;
};

/* Chooses a region around the block at pc. It is empty if that block is not hot. Release with region_free(). */
void region_choose(struct region *region, const struct hart *hart, uint64_t pc,
                   const struct region_limits *limits);
void region_free(struct region *region);

/* Returns the block with that first op, or NULL. */
const struct region_block *region_find(const struct region *region, const union op *first);

/* Returns the block to which an exit to `to` leads, or NULL. far: it is on another page, so that control goes there only while the hart's
 * jump cache has the block. */
const struct region_block *region_target(const struct region *region, const struct hart *hart,
                                         const union op *to, bool *far);

#endif
