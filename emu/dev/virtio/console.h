/* Functions of the virtio console for the board. */
#ifndef EMU_DEV_VIRTIO_CONSOLE_H
#define EMU_DEV_VIRTIO_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

struct virtio_console;

/* Returns whether the driver has room for a byte of input. */
bool virtio_console_waits(struct virtio_console *console);

/* Returns whether it waits for one and has read the device's registers 16 times since the last answer, so that it polls. */
bool virtio_console_asks(struct virtio_console *console);

/* Gives the driver a byte of input; drops the byte if the driver has no room. */
void virtio_console_receive(struct virtio_console *console, uint8_t byte);

#endif
