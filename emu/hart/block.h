/* The block cache: guest code, translated to ops once and kept until it is flushed.
 *
 * A block starts at one pc and follows the straight line: past conditional branches (their taken side is an exit),
 * through direct calls and forward jumps, and through returns from calls it has followed. It ends at other jumps, at
 * instructions left to `step`, and at a length limit. The rest of the hart uses only this interface. A
 * compiler attaches its code to the first op (exec/compiled.h); block_view.h shows it the blocks. */
#ifndef EMU_HART_BLOCK_H
#define EMU_HART_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/exec/op.h"
#include "emu/sim/error.h"

struct block_cache;
struct hart;

/* Most instructions that a block retires from its entry to any exit; fits the 8-bit field of a JALR op. */
enum {
    BLOCK_INSNS = 96,
    BLOCK_INSNS_DESCRIBED = 32 /* after block_describe(): a batch ends if the next block might not fit */
};

/* Makes an empty cache for the hart, which must not move. Blocks are dropped when the code that they were translated
 * from is stored to. Returns NULL with err set if the host has no memory. Free with block_cache_free(). */
struct block_cache *block_cache_new(struct hart *hart, struct error *err);
void block_cache_free(struct block_cache *cache);

/* Returns the first op of the code for pc; translates the code if needed, and enters it into the hart's jump cache.
 * Code that cannot be fetched is one `step` op, which traps. May flush a full cache. Returns NULL if the hart needs a TLB
 * first (hart->paging_due). */
const union op *block_at(struct hart *hart, uint64_t pc);

/* As block_at(), but returns NULL if it would have to flush the cache. */
const union op *block_at_kept(struct hart *hart, uint64_t pc);

/* The op before which a run of a block ends, as at a breakpoint, because the hart's limit is there; NULL: it runs to an exit. */
struct block_cut {
    union op *op;
    op_handler *run, *stop; /* the op's handler, and the one in its place */
};

/* Returns the first op of the block at hart->pc, which retires at most `most` instructions until block_mend(), or NULL: no block is
 * translated there, or it cannot be cut. */
const union op *block_cut(const struct hart *hart, uint64_t most, struct block_cut *cut);

/* Takes the cut back. Returns whether there was one. */
bool block_mend(const struct block_cut *cut);

/* Chooses the blocks that are made from now on. described: those of a streamed hart, which are short and have a struct
 * stream_op for each instruction. Call it while the cache is empty. Returns false with err set if the host has no address
 * space. */
bool block_describe(struct block_cache *cache, bool described, struct error *err);

/* The place of an op in its block: the address of its instruction, and the number of the block's instructions before
 * it. */
struct block_site {
    uint64_t pc;
    const struct insn *insn; /* length 0: it could not be fetched */
    uint32_t retired;
};
struct block_site block_find(const struct block_cache *cache, const union op *op);

/* Counts the instructions before op in its block as retired, by class: for a run that ends at op without taking an
 * exit. */
void block_count_before(struct block_cache *cache, const union op *op);

/* As block_count_before(), including op's own instruction. */
void block_count_through(struct block_cache *cache, const union op *op);

/* Makes the blocks follow the hart (hart->stale): drops them all, or checks that their code is still mapped at the same
 * place, and finds the others from now on that serve the hart's mode. Code has different meanings in different modes
 * and address spaces, so blocks are found in a context: address space, privilege, and whether floating-point instructions
 * may run fast. Call it before blocks run, and after a change of the hart between two of them. */
void block_update(struct hart *hart);

/* Returns how many blocks were dropped because their code was stored to. */
uint64_t block_drops(const struct block_cache *cache);

/* Returns how often the cache was flushed. */
uint64_t block_flushes(const struct block_cache *cache);
uint64_t block_translations(const struct block_cache *cache);

/* Adds the instructions retired in the cache's blocks, by class. */
void block_count_classes(const struct block_cache *cache, uint64_t counts[CLASS_COUNT]);

#endif
