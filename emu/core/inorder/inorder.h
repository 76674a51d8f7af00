/* An in-order core of the kind of Cortex-A53: it issues one or two instructions a cycle in program order and
 * stalls when an operand is used that is not there yet.
 *
 * Front end: blocks of fetch_bytes leave the instruction cache one a cycle and wait in a queue; a block can
 * be fetched when the queue has room. The branch predictor steers it. What is behind a mispredicted branch
 * comes from the right place once the branch has executed; until then the front end fetches straight on from
 * the mispredicted place, through the instruction cache but without executing, to the end of the page at
 * most. Issue: results of fixed latency, loads that hit and stores go on; a load that misses leaves its
 * register pending, and the first reader or writer of the register waits. Results are written in program
 * order to each register. Stores leave the store buffer for the data cache in program order, one a cycle,
 * several misses at a time; entries become free in program order. A load takes its bytes from the youngest
 * store in the buffer that has all of them, and waits for one that has a part.
 *
 * Left out: competition of leaving stores with loads for the data cache's port, merging of stores in the
 * buffer, operand-dependent divide times, late reading of store data and addends, energy of instructions.
 */
#ifndef EMU_CORE_INORDER_INORDER_H
#define EMU_CORE_INORDER_INORDER_H

#include "emu/core/latency.h"
#include "emu/core/predict.h"

enum { INORDER_LOADS = 32, INORDER_STORES = 64, INORDER_BLOCKS = 128 };

struct inorder_config {
    uint32_t width;           /* instructions issued a cycle: 1 or 2 */
    uint32_t fetch_bytes;     /* of an aligned block, fetched in one cycle: a power of two from 4 to 64 */
    uint32_t fetch_queue;     /* blocks that can wait for issue: 1 to 64 */
    uint32_t frontend_clocks; /* from the instruction cache's answer to issue, 1 to 32. A mispredicted branch
                                 costs its latency, the cache's hit and this */
    uint32_t decode_clocks;   /* from that answer until a direct jump that the BTB lacks redirects fetch */
    uint32_t taken_clocks;    /* cycles without fetch behind a taken jump that the BTB has, 0 to 8 */
    uint32_t load_queue;      /* loads that can wait for the data cache: 1 to INORDER_LOADS */
    uint32_t store_buffer;    /* stores that can wait: 2 to INORDER_STORES */

    /* Whether two of a kind issue in one cycle, and anything behind a branch or jump. */
    bool pair_memory, pair_multiply, pair_float, pair_branch;

    struct core_latencies latency; /* ports are ignored: a class has one pipe */
    struct predict_config predict;
};

/* Like Cortex-A53: recalled from its technical reference manual but for the mispredict penalty, 9 cycles in
 * all, which is from AArch64SchedA53.td. */
void inorder_config_default(struct inorder_config *config);

/* Fails when a field is out of range; the message begins with the field's name. */
bool inorder_config_check(const struct inorder_config *config, struct error *err);

/* A core, asleep until core_wake(). Config must have passed the check; what parts points to must outlive it.
 * NULL when the host has no memory. Release with core_free(). */
struct core *inorder_new(const struct inorder_config *config, const struct core_parts *parts,
                         struct error *err);

#endif
