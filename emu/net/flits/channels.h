/* How the virtual channels of a port are divided: among classes, sets of the routing, priority buffers, and channels that all
 * classes share (network.h). Bits of masks are virtual channels. */
#ifndef EMU_NET_FLITS_CHANNELS_H
#define EMU_NET_FLITS_CHANNELS_H

#include "emu/net/bits.h"
#include "emu/net/network.h"

struct channels {
    uint32_t vcs; /* of a port */
    /* of a class: `own`, then a priority buffer for each set of the routing, if each class has its own */
    uint32_t class_vcs;
    uint32_t classes, sets, groups; /* groups: a class's packets in a set; class * sets + set */
    uint32_t own, in_common;        /* without priority buffers: of each class, and of all classes */
    /* channels of a group on wires, and of a class at nodes; [0]: without priority buffers; [1]: priority buffers */
    uint64_t wire[2][NETWORK_CLASSES * ROUTING_SETS], node[2][NETWORK_CLASSES];
    uint64_t halves[2]; /* even and odd channels of a port */
    uint64_t priority;  /* all priority buffers; 0: none */
    /* channels and priority buffers of all classes, numbered after those of each class; 0: none */
    uint64_t shared;
    uint64_t shared_wire[2][ROUTING_SETS], shared_node[2]; /* as `wire` and `node` */
    uint16_t depth[NETWORK_VCS];                           /* flits that a channel buffers */
};

/* Divides the channels of a configuration that fits. */
void channels_make(struct channels *channels, const struct network_config *config,
                   const struct routing *routing);

/* Returns whether a port can have the shared channels and priority buffers; `flits`: the longest packet. The message begins with
 * the key. */
bool channels_fit(const struct network_config *config, const struct routing *routing, uint32_t flits,
                  struct error *err);

/* Return the channels of a port that a group may use: channels_of() without priority buffers, channels_buffers() only these. node:
 * the port leads to a node. */
static inline uint64_t channels_of(const struct channels *channels, bool node, uint32_t group)
{
    /* A port to a node has sets. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
    return node ? channels->node[0][group / channels->sets] : channels->wire[0][group];
}

static inline uint64_t channels_buffers(const struct channels *channels, bool node, uint32_t group)
{
    return node ? channels->node[1][group / channels->sets] : channels->wire[1][group];
}

/* Returns the set of a channel of a port. */
static inline uint32_t channels_set(const struct channels *channels, uint32_t vc)
{
    uint32_t vcs = channels->own, number = vc % channels->class_vcs;
    if (channels->sets == 1)
        return 0;
    if (channels->shared & BIT(vc)) {
        number = vc - channels->classes * channels->class_vcs;
        vcs = channels->in_common;
    }
    return number >= vcs ? number - vcs : number >= vcs - vcs / 2;
}

#endif
