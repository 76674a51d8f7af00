/* The block cache: guest code, translated to ops once and kept until it is flushed.
 *
 * A block starts at one pc and follows the straight line: past conditional branches (their taken side is an
 * exit), through direct calls and forward jumps, and through returns from calls it has followed. It ends at
 * other jumps, at instructions left to `step`, and at a length limit. The interface is all that the rest of
 * the hart knows: a compiler would hang its code on the first op's `run`.
 */
#ifndef EMU_HART_BLOCK_H
#define EMU_HART_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/op.h"
#include "emu/sim/error.h"

struct block_cache;
struct hart;

/* No block retires more instructions than this from its entry to any exit; fits the 8-bit field of a JALR op.
 */
enum {
    BLOCK_INSNS = 96,
    BLOCK_INSNS_DESCRIBED = 32 /* block_describe(): a batch ends where the next block might not fit */
};

/* An empty cache, or NULL with err set when the host has no memory. Free with block_cache_free(). */
struct block_cache *block_cache_new(struct error *err);
void block_cache_free(struct block_cache *cache);

/* The first op of the code for pc, translated if need be, and entered into the hart's jump cache. Never NULL:
 * where nothing can be fetched the code is one `step` op, which traps. May flush the cache when it is full.
 */
const union op *block_at(struct hart *hart, uint64_t pc);

/* The same, but NULL where that would flush the cache. */
const union op *block_at_kept(struct hart *hart, uint64_t pc);

/* From now on (or no longer) blocks are those of a streamed hart: short, and with their instructions
 * described. To be called while the cache is empty. False with err set when the host has no address space. */
bool block_describe(struct block_cache *cache, bool described, struct error *err);

/* Where an op of a block stands: its instruction's address, and how many of the block's instructions precede
 * it. */
struct block_site {
    uint64_t pc;
    const struct insn *insn; /* length 0: it could not be fetched */
    uint32_t retired;
};
struct block_site block_find(const struct block_cache *cache, const union op *op);

/* Counts as retired, by class, what precedes op in its block: for a run that ends at op without passing an
 * exit. */
void block_count_before(struct block_cache *cache, const union op *op);

/* The same, with op's own instruction. */
void block_count_through(struct block_cache *cache, const union op *op);

/* Drops all blocks of all contexts, and empties their jump caches. What they have counted stays counted. */
void block_flush(struct hart *hart);

/* Code means different things in different modes and address spaces, so blocks belong to a context:
 * privilege, satp, and whether floating-point instructions may run fast. Makes the one that fits the hart
 * current; its blocks are kept from the last time, its jump cache becomes the hart's. May flush the cache
 * when there are too many contexts. */
void block_choose_context(struct hart *hart);

/* How often the cache was flushed, and how many blocks were ever translated. */
uint64_t block_flushes(const struct block_cache *cache);
uint64_t block_translations(const struct block_cache *cache);

/* Adds what the cache's blocks have retired, by class. */
void block_count_classes(const struct block_cache *cache, uint64_t counts[CLASS_COUNT]);

#endif
