/* Epochs of a network: at their end, stalls and credits of outputs go to congestion management (congestion.h), and links between
 * modules change their widths. */
#ifndef EMU_NET_EPOCHS_H
#define EMU_NET_EPOCHS_H

#include "emu/net/network_state.h"

/* Makes what critical paths need. */
void epochs_make(struct network *network);

/* Sets network->due. Call it when epoch_end or change has changed. */
void epochs_set_due(struct network *network);

/* Does what is due next: the end of an epoch, or late changes of widths. */
void epochs_pass(struct network *network);

/* Gives the link that begins at a port another width from a clock on: 1/parts. It sends nothing for `pause` clocks, and uses the
 * energy of an idle one meanwhile. */
void epochs_change_width(struct network *network, uint32_t number, uint32_t parts, uint32_t pause,
                         uint64_t clock);

/* Returns the bits that a link could have carried more until a clock. */
uint64_t epochs_idle_bits(const struct network *network, uint32_t port, uint64_t clock);

#endif
