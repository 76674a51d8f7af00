/* The virtio network device's side towards the board. */
#ifndef EMU_DEV_VIRTIO_NET_H
#define EMU_DEV_VIRTIO_NET_H

#include <stdbool.h>

struct virtio_net;

/* Passes on frames that have arrived from the peer. Call it at poll points. */
void virtio_net_poll(struct virtio_net *net);

/* Waits at most that long for a frame from the peer. Returns false if there is no peer from which one could come. */
bool virtio_net_wait(const struct virtio_net *net, int milliseconds);

#endif
