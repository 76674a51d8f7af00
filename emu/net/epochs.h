/* Epochs of a network: at their end, stalls and credits of outputs go to congestion management (congestion.h), and links between
 * modules change their widths. */
#ifndef EMU_NET_EPOCHS_H
#define EMU_NET_EPOCHS_H

#include "emu/net/network_state.h"

/* Makes the state that critical paths and link widths need. */
void epochs_make(struct network *network);

/* Sets network->settle and network->due of a new network. Call it after epochs_make(), if that is called. */
void epochs_begin(struct network *network);

/* Sets network->due. Call it after network->epoch_end or network->change was set. */
void epochs_set_due(struct network *network);

/* Does what is due next: the end of an epoch, late changes of widths, or the count of stalls that last long. */
void epochs_pass(struct network *network);

/* Sets the width of the link that begins at a port to 1/parts of the full width, from `clock` on. The link sends nothing
 * for `pause` clocks, and uses the energy of an idle link meanwhile. */
void epochs_change_width(struct network *network, uint32_t number, uint32_t parts, uint32_t pause,
                         uint64_t clock);

/* Returns the bits that a link could have carried before `clock`, in addition to those that it did carry. */
uint64_t epochs_idle_bits(const struct network *network, uint32_t port, uint64_t clock);

#endif
