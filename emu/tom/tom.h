/* TOM: blocks of a kernel's code are executed by multiprocessors in memory stacks (Hsieh et al., "Transparent Offloading and
 * Mapping", ISCA 2016).
 *
 * The compiler's table (emu/analysis/candidate_table.h) names the blocks. When a warp's lanes come to the first instruction of
 * one, the offload controller (controller/) takes the warp from its multiprocessor and decides (4.2): does the block's
 * condition hold, is a channel busy to which the block adds bytes (monitor.h), and, for the stack of the block's first
 * access, are fewer offloads under way than the stack holds warps? If the block does not begin with that access, the
 * multiprocessor executes its instructions up to there, on a copy of the warp; if the block is then offloaded, it begins anew
 * in the stack, and these instructions count as redundant. The stack of an access is that of its lowest active lane.
 *
 * A packet takes the registers that the block reads, the mask of its lanes and the addresses of its begin and end over the
 * stack's link, and the answer brings the registers that it writes and the addresses of the lines to which it has stored. Both
 * travel as commands (emu/mem/request.h) beside all other requests. In the stack, the offload unit (unit/) stands between
 * link and crossbar, and gives its multiprocessor a warp that executes the block, with its own first-level cache. Meanwhile,
 * the warp in front waits with all its lanes.
 *
 * Function. The warp in the stack has the registers of the packet only; all others are 0. So a table that lacks a register
 * makes the program wrong, as on a real machine. If the code of a block shows that its entry is wrong, the block is not
 * offloaded (table.h). Bytes are in one place, so stores are visible at once.
 *
 * Coherence (4.4.2). Before a packet leaves, memory has answered the stores of its multiprocessor, also those that the second
 * level writes; before a warp is spawned, the stack's first-level cache drops all lines; before the warp in front goes on, the
 * first-level cache of its multiprocessor and the second level drop the lines that the block has stored to. Lines that are
 * under way at that time are not kept. check.h checks that.
 *
 * With `policy: ideal` (figure 2), each block whose condition holds is offloaded, and this costs nothing: packets and answers take
 * no time and no bytes, a block that does not begin with an access goes on in the stack where the multiprocessor in front stopped,
 * and nothing is done for coherence. Each stack has a map of its own, by which it holds all data (tom.c).
 *
 * Not modelled: the messages by which the second level is told to drop lines and multiprocessors that their stores are in
 * memory; a limit of the lines in an answer. */
#ifndef EMU_TOM_TOM_H
#define EMU_TOM_TOM_H

#include "emu/mem/site.h"
#include "emu/net/link.h"
#include "emu/sim/part.h"
#include "emu/simt/cluster.h"

enum tom_policy { TOM_CTRL, TOM_NO_CTRL, TOM_NONE, TOM_IDEAL };
extern const char *const tom_policy_names[]; /* indexed by value; ends with NULL */

enum tom_destination_of { TOM_OF_FIRST, TOM_OF_OWN, TOM_OF_EMPTIEST };
extern const char *const tom_destination_names[]; /* likewise */

enum tom_choice { TOM_CHOICE_TOGETHER, TOM_CHOICE_EVEN };
extern const char *const tom_choice_names[]; /* likewise */

enum tom_mapping { TOM_BMAP, TOM_TMAP, TOM_ORACLE, TOM_FIXED };
extern const char *const tom_map_names[]; /* likewise */

struct tom_config {
#include "emu/sim/fields_struct.h"

#include "emu/tom/tom.def"
};

struct tom_unit_config {
#include "emu/sim/fields_struct.h"

#include "emu/tom/unit/unit.def"
};

struct tom_pcie_config {
#include "emu/sim/fields_struct.h"

#include "emu/tom/pcie.def"
};

/* The part kinds: the offload controllers of all multiprocessors in front, the offload unit of a stack, and the way to host
 * memory (pcie.h). */
extern const struct part_kind tom_kind, tom_unit_kind, tom_pcie_kind;

struct tom_unit;
struct tom_pcie;
struct tom_span;

/* The parameters of an offload unit in addition to struct part_site. All pointers must outlive it. */
struct tom_unit_site {
    const struct mem_site *memory;
    struct simt_grid *grid;
    struct simt_cluster *cluster; /* the multiprocessors beside it; NULL: none */
};

/* A stack, as the controllers see it. */
struct tom_stack {
    struct tom_unit *unit; /* NULL: it executes no blocks */
    struct link *link;     /* the link that leads to the unit; NULL: not known */
};

/* The parameters of the controllers in addition to struct part_site. All pointers must outlive them, except for `clusters`
 * and `stacks`. */
struct tom_site {
    const struct mem_site *memory;
    struct simt_grid *grid; /* NULL: the machine has no multiprocessors */
    const struct decoder *decoder;
    void *const *clusters; /* struct simt_cluster: the multiprocessors in front */
    uint32_t cluster_count;
    const struct tom_stack *stacks; /* by module * memory->stacks + stack */
    uint32_t stack_count;
    bool by_network,
        whole; /* a network brings the packets, and with them other stacks' requests; it keeps packets whole */
    uint32_t unit_queue;  /* the shortest of the units' queues for packets */
    uint64_t front_warps; /* of all multiprocessors in front */
    /* the program's section .tom.candidates; NULL: it has none */
    const uint8_t *table;
    size_t table_size;
    bool check; /* check coherence (check.h) */
    /* for mapping.h: the layout of homes; memory; the ways to host memory; the program's static arrays of a page and more, and
     * the end of all its sections */
    struct home_layout layout;
    uint64_t memory_base, memory_size;
    uint64_t reserved_first, reserved_end; /* memory whose homes are a part's own (struct assembly) */
    struct tom_pcie *const *pcies;
    uint32_t pcie_count;
    const struct tom_span *arrays;
    uint32_t array_count;
    uint64_t program_end;
};

#endif
