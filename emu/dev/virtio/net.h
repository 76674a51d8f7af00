/* Functions of the virtio network device for the board. */
#ifndef EMU_DEV_VIRTIO_NET_H
#define EMU_DEV_VIRTIO_NET_H

#include <stdbool.h>

struct virtio_net;

/* Passes frames that have arrived from the peer to the driver. Call it at poll points. */
void virtio_net_poll(struct virtio_net *net);

/* Waits at most `milliseconds` (negative: without limit) for data from the peer, or until the descriptor `other` is readable
 * (-1: none). Returns false at once if there is no peer or the driver is not ready. */
bool virtio_net_wait(const struct virtio_net *net, int other, int milliseconds);

#endif
