/* What registers hold over the lanes of a warp, and over the threads of a launch: found by a forward analysis over all functions of
 * a graph, from the coordinates (`sthread_x` ...) and the kernel's argument.
 *
 * Coordinates are read by code that asks, by a bit of tp, whether it is on a multiprocessor; all lanes are.
 *
 * Ways that lanes (or warps) go apart count: at a place where they meet again, what one of the ways has written differs over the lanes
 * (warps). As compilers do, the analysis takes the rows of a block (sthread_x) for whole warps, words of indices for ones that do not
 * overflow, and memory that all threads read at one address for memory that nobody changes meanwhile. */
#ifndef EMU_ANALYSIS_LANES_H
#define EMU_ANALYSIS_LANES_H

#include "emu/analysis/convention.h"
#include "emu/analysis/flow/cfg.h"

enum lanes_kind {
    LANES_SAME,    /* one value for all threads of a launch */
    LANES_UNIFORM, /* one value for the lanes of a warp */
    LANES_AFFINE,  /* a value and a step: base + lane * step */
    LANES_VARYING, /* any */
    LANES_KINDS
};

/* Sets of registers. */
struct lanes_sets {
    uint64_t apart, uneven, bent; /* LANES_UNIFORM and above, LANES_AFFINE and above, LANES_VARYING */
    uint64_t lower;               /* not known to be a word times 2^32 */
    uint64_t unmasked;            /* not known to be 2^32 - 1 */
};

struct lanes {
    struct lanes_sets *before; /* by instruction of the graph; where no function comes, no registers */
};

/* kernels: the entries are kernels, which have their argument in a0; otherwise nothing is known of arguments. Functions that are
 * `exposed` get any. Release the result with lanes_free(). */
struct lanes lanes_of(const struct cfg *cfg, bool kernels);
void lanes_free(struct lanes *lanes);

enum lanes_kind lanes_kind_of(const struct lanes_sets *sets, unsigned reg);

/* Returns what a coordinate is: CSR sthread_x + number. */
enum lanes_kind lanes_of_coordinate(unsigned number);

#endif
