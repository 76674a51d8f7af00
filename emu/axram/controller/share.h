/* How chips that work together share an invocation (ours; the paper's invocations are of one chip): pure functions.
 *
 * `together` neighbouring chips are a team; its members have numbers from 0. Each has the network in a region of configuration of its
 * own. Value i of layer l (layer 0: inputs) is a block. The neurons of a layer are dealt out to the members in equal runs, the first to
 * the home: the member that has the first block of the inputs. An input or result belongs to the member in whose piece its block of the
 * region lies. A member that needs a value of another keeps a copy: of a hidden neuron's in its temporary block, of an input's or a
 * result's behind its configuration (layout.h). */
#ifndef EMU_AXRAM_CONTROLLER_SHARE_H
#define EMU_AXRAM_CONTROLLER_SHARE_H

#include "emu/axram/layout.h"

enum { AXRAM_TEAM = 16 }; /* most members */

/* What of a request its chips must know to share it. */
struct axram_sharing {
    uint32_t count;                      /* members; 0 or 1: the chip works alone */
    uint64_t space;                      /* address of accelerator memory */
    uint64_t configurations[AXRAM_TEAM]; /* by member */
    uint64_t inputs, results;            /* addresses of regions */
    const struct axram_topology *topology;
};

struct axram_range {
    unsigned first, end;
};

/* Returns the member that has the block at an address. */
unsigned axram_share_member(const struct axram_sharing *sharing, uint64_t address);

/* Returns the neurons of a layer, from 1, that a member computes. */
struct axram_range axram_share_neurons(const struct axram_sharing *sharing, unsigned member, unsigned layer);

/* Returns the inputs (results: false) or results that lie in a member's piece of their region. */
struct axram_range axram_share_own(const struct axram_sharing *sharing, unsigned member, bool results);

/* Returns the member that has a value: whose input it is, or who has computed it. */
unsigned axram_share_holder(const struct axram_sharing *sharing, unsigned layer, unsigned value);

/* Returns whether a member needs a value that another one has. */
bool axram_share_wants(const struct axram_sharing *sharing, unsigned member, unsigned layer, unsigned value);

/* Returns the address of the block of a value, or of its copy, in a member. */
uint64_t axram_share_place(const struct axram_sharing *sharing, unsigned member, unsigned layer,
                           unsigned value);

#endif
