/* Where the lanes of a branch meet: at its immediate post-dominator, the first instruction that all paths from the branch to
 * the function's end contain (IPDOM; Fung, Sham, Yuan, Aamodt, "Dynamic warp formation and scheduling for efficient GPU
 * control flow", MICRO 2007, section 2). Compilers for GPUs know it; here emu/analysis determines it once for each function,
 * when lanes first part there. */
#ifndef EMU_SIMT_WARP_CODE_MEET_H
#define EMU_SIMT_WARP_CODE_MEET_H

#include "emu/simt/warp_memory.h"

/* Instead of an address: where the function has been left. No instruction has an odd address. */
#define WARP_MEET_RETURN UINT64_C(1)

/* The post-dominators of branches and of the first instructions of blocks, as a tree: a hash table by pc. It is kept
 * with the predecoded code (code.h). */
struct warp_meets {
    struct warp_meet_entry {
        uint64_t pc; /* 0: none */
        uint64_t meet;
        unsigned depth; /* in the tree; 1: `meet` is WARP_MEET_RETURN */
    } * entries;
    size_t size, count; /* entries, a power of two; of these, used */
};

/* Returns where the lanes of the branch at pc meet. */
uint64_t warp_meet(struct warp_memory *memory, uint64_t pc);

/* Returns the first instruction that all paths from these instructions contain: where lanes meet that an indirect jump has
 * sent there. */
uint64_t warp_meet_of(struct warp_memory *memory, const uint64_t *targets, unsigned count);

#endif
