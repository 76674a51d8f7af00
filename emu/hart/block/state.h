/* The storage of the block cache. block.c finds blocks for the hart and has them made, translate.c makes one. */
#ifndef EMU_HART_BLOCK_STATE_H
#define EMU_HART_BLOCK_STATE_H

#include "emu/hart/block.h"
#include "emu/hart/block/space.h"
#include "emu/mem/phys/code_pages.h"

/* Slots 0 and 1 of every cache, to which empty jump-cache entries point. No jump goes to the odd address in the
 * head. */
enum { NOWHERE_HEAD, NOWHERE, FIRST_SLOT };

/* Sizes of the lazily filled arrays. When one is nearly full, a flush empties all. */
enum {
    SLOTS = 1 << 22,
    RECORDS = 1 << 21,
    EXITS = 1 << 20,
    BLOCKS = 1 << 19,
    BUCKETS = 1 << 16,
    BLOCK_SLOTS = 8 * BLOCK_INSNS, /* most slots of a block, stubs included */
    PARTS = 1 << 20,
    PART_BUCKETS = 1 << 14,
    BLOCK_PARTS = 2 * BLOCK_INSNS, /* most parts of a block */
    FOUND = 4096,                  /* a power of two */
};

/* An instruction of a block, in program order, and the slot of its op. A followed jump has no op: its slot is that of
 * the next op. */
struct record {
    uint64_t pc;
    struct insn insn; /* length 0: it could not be fetched */
    uint32_t slot;
};

/* An exit of a block. */
struct exit {
    uint64_t target;  /* EXIT_INDIRECT if not fixed */
    uint32_t slot;    /* of its exit or link slot, which counts it */
    uint32_t retired; /* the block's instructions that retire before this exit */
};

/* No instruction has an odd address. */
#define EXIT_INDIRECT UINT64_C(1)

struct block {
    uint64_t pc,
        physical; /* virtual and physical address; the latter is UINT64_MAX if nothing is mapped there */
    uint32_t slot, record, exit; /* its first ones; they end where those of the next block begin */
    uint32_t next;               /* next block of the bucket: index plus 1, or 0 */
    struct block_mode mode;
    uint8_t bits; /* of the leaf that it lies in */
    bool dropped;
};

/* The part of a block that was translated from one page of memory: bytes first to last. Some of these may not be code of
 * the block. */
struct block_part {
    uint64_t page;    /* as numbered by code_pages.h */
    uint64_t address; /* virtual address of the page */
    uint32_t block;
    uint32_t next; /* next part of the bucket: index plus 1, or 0 */
    uint16_t first, last;
};

struct stream_op;

struct block_cache {
    union op *slots;
    struct record *records;
    struct stream_op *ops; /* by record; valid if described */
    bool described;
    struct exit *exits;
    struct block *blocks;
    uint32_t *buckets;
    struct block_part *parts;
    uint32_t *part_buckets; /* by page */
    uint16_t *
        fusions; /* by row of a first half: its last pair, plus 1; then by pair: the one before it, plus 1; 0: none */
    uint32_t *found;                 /* FOUND numbers of blocks, by low bits of a slot that was looked for */
    unsigned context, context_count; /* index of the current one; number of contexts */
    uint32_t slot_count, record_count, exit_count, block_count, part_count;
    uint64_t flushes, translations, drops, choices;
    struct code_watcher watcher;
    struct code_pages *code_pages; /* NULL: stores are not noted */
    op_handler *dropped;           /* of the handlers that blocks are translated to */
    struct context contexts[CONTEXTS];
    uint64_t classes[CLASS_COUNT]; /* retired in dropped blocks, or in runs that ended between exits */
};

/* Makes an empty store. Returns NULL with err set if the host has no memory. */
struct block_cache *block_store_new(struct error *err);
void block_store_free(struct block_cache *cache);

/* Drops all blocks, and empties the jump caches and leaves of all contexts. Counts are kept. */
void block_store_empty(struct block_cache *cache);

/* Returns whether a new block may not fit. */
bool block_store_nearly_full(const struct block_cache *cache);

/* Lets block_lookup() find the last block. */
void block_store_enter(struct block_cache *cache);

/* Drops the blocks that contain bytes first to last of a page of memory. Returns whether code of the page is left. */
bool block_drop_stored(struct block_cache *cache, uint64_t page, unsigned first, unsigned last);

/* Returns the number of the block at pc in the leaf, for the current mode, or UINT32_MAX. */
uint32_t block_number(const struct block_cache *cache, const struct mmu_leaf *leaf, uint64_t pc);

/* Returns the first op of the block at pc in the leaf, for the current mode, or NULL. */
const union op *block_lookup(const struct block_cache *cache, const struct mmu_leaf *leaf, uint64_t pc);

/* Notes that the block being translated contains bytes first to last of a page, which it sees at a virtual address. */
void block_add_part(struct block_cache *cache, uint64_t page, uint64_t address, unsigned first,
                    unsigned last);

/* Translates the code at pc, in the leaf, into a new block, for which there must be room. Returns its first op. */
const union op *translate(struct hart *hart, struct block_cache *cache, const struct mmu_leaf *leaf,
                          uint64_t pc);

#endif
