/* AxRAM: neural networks inside GDDR5 chips (Yazdanbakhsh et al., "In-DRAM near-data approximate acceleration for GPUs", PACT
 * 2018).
 *
 *   config.axram start, end     the chip of this region gets the network that the region describes (layout.h)
 *   initiate.axram start, end   the inputs of the executing thread, or of several threads, are here
 *   wrt_res.axram start, end    the network is evaluated, and the results written here
 *   query.axram rd, rs1         ours: what the machine has, by the number in rs1 (enum axram_query)
 *
 * layout.h describes regions. A scalar core names all units that it wants in one region; a thread of a warp names its own words
 * or those of the whole warp, and the regions of the lanes that execute together must have the same blocks: they become one
 * request, and only the units that some of these lanes have named get results. Results belong to the units that had the inputs.
 *
 * Waiting. config.axram and wrt_res.axram wait as a load does: a core stops, a warp halts while others run. initiate.axram
 * does not wait: the controller keeps the region for the thread until its wrt_res.axram, which takes the chip. So nothing of
 * another thread comes between the two, a thread that ends in between leaves nothing behind, and a second initiate.axram
 * replaces the first.
 *
 * Time. The stores of the multiprocessor are pushed to memory first. The message takes `message` plus the controller's
 * front_latency. Where the controller translates, each page takes a clock of CK, and a walk if its TLB lacks it. Then the request
 * waits in the controller's queue and occupies the chip (controller.h). When the results are in memory, the second level drops the
 * results' lines, drop_clocks from one to the next, and tells the multiprocessors' first-level caches by messages over the crossbar
 * (invalidation.c). After the last, the answer takes back_latency plus `message`. Threads whose cores are not timed (--detail roi)
 * do not wait.
 *
 * Addresses. Where programs have virtual ones, an instruction goes to the controller that its region's address names, which must
 * be that of its page; the controller's TLB translates (translation.c). Pages of a region must be contiguous.
 *
 * Not modelled: writes of other cores that wait in the controller's queue when the chip is taken (their bytes are in memory
 * already); the crossbar's load by messages of instructions and answers. */
#ifndef EMU_AXRAM_AXRAM_H
#define EMU_AXRAM_AXRAM_H

#include "emu/axram/controller.h"
#include "emu/hart/stream.h"
#include "emu/mem/site.h"
#include "emu/sim/part.h"
#include "emu/simt/cluster.h"

extern const char *const axram_notify_names[],
    *const axram_columns_names[]; /* indexed by value; end with NULL */

/* Numbers for query.axram: the number of chips; the physical address and the bytes of accelerator memory; the bytes of a chip's
 * piece; the number of requests under way; the chips that work together; an address in accelerator memory: whether a request under way has the block there.
 * Other numbers give 0. */
enum axram_query {
    AXRAM_QUERY_CHIPS,
    AXRAM_QUERY_BASE,
    AXRAM_QUERY_SIZE,
    AXRAM_QUERY_PIECE,
    AXRAM_QUERY_REQUESTS,
    AXRAM_QUERY_TOGETHER,
};

struct axram_config {
#include "emu/sim/fields_struct.h"

#include "emu/axram/axram.def"
};

/* All chips' accelerators. */
extern const struct part_kind axram_kind;

/* The parameters in addition to struct part_site. All pointers must outlive the part, except `clusters`. */
struct axram_site {
    const struct mem_site *memory;
    struct dram_memory **memories; /* by number (emu/mem/home.h): module * stacks + stack */
    uint32_t memory_count;
    const struct phys *bytes;
    struct stream_peers *peers; /* the harts that share memory */
    uint64_t base;              /* first address of main memory */
    uint32_t harts;
    void *const *clusters; /* struct simt_cluster */
    uint32_t cluster_count;
    bool check; /* check coherence */
};

/* Makes the homes of accelerator memory (layout.h). Main memory, whose layout is `memory`, has `bytes` bytes and begins at `base`.
 * dram: the configuration of its memories. Returns false with err set if the memories or the place do not allow it. */
bool axram_homes(const struct axram_config *config, const struct dram_config *dram,
                 const struct home_layout *memory, uint64_t base, uint64_t bytes, struct home_map *homes,
                 struct error *err);

#endif
