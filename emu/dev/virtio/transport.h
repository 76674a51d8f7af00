/* The transport of virtio devices: virtio over MMIO, version 2, and split queues (Virtual I/O Device 1.1, sections 2.6
 * and 4.2). Only devices under emu/dev include it; each embeds a struct virtio.
 *
 * A driver that breaks the rules (a descriptor chain with a loop, an address outside memory, a readable part after a
 * writable one) makes the device set DEVICE_NEEDS_RESET: it then does nothing until the driver resets it. Indirect
 * descriptors, packed queues and event indices are not offered. */
#ifndef EMU_DEV_VIRTIO_TRANSPORT_H
#define EMU_DEV_VIRTIO_TRANSPORT_H

#include "emu/dev/device.h"
#include "emu/mem/phys/bytes.h"

enum {
    VIRTIO_SIZE = 0x1000,
    VIRTIO_ACCESS =
        BUS_1 | BUS_2 | BUS_4, /* registers: 4 bytes; the device's configuration: 1, 2 or 4 bytes */
    VIRTIO_QUEUES = 2,
    VIRTIO_QUEUE_MAX = 256, /* descriptors of a queue */
    VIRTIO_CONFIG = 64,     /* bytes of configuration space */
};

#define VIRTIO_F_VERSION_1 (UINT64_C(1) << 32)

/* The bytes of a request: the readable segments, then the writable ones. */
struct virtio_chain {
    uint16_t head;
    unsigned count, readable; /* numbers of all segments and of readable ones, which come first */
    uint64_t read_size, write_size;
    struct {
        uint64_t address, size;
    } segments[VIRTIO_QUEUE_MAX];
};

struct virtio_queue {
    uint32_t size;
    bool ready;
    uint64_t descriptors, driver,
        device;          /* addresses of the descriptor table, available ring and used ring */
    uint16_t seen, used; /* numbers of entries taken from the available ring and put into the used ring */
};

struct virtio {
    uint32_t id; /* device type: network 1, block 2, console 3, entropy 4 */
    unsigned queue_count;
    uint64_t offered; /* features, including VIRTIO_F_VERSION_1 */
    uint8_t config[VIRTIO_CONFIG];
    /* The driver has made requests available in a queue. */
    void (*notify)(struct virtio *virtio, unsigned queue);
    struct bytes bytes;
    struct irq_line irq;

    uint32_t status, interrupts, feature_half, driver_half, queue;
    uint64_t accepted;
    bool level;
    unsigned polls; /* reads of registers since the last answer; not in snapshots */
    struct virtio_queue queues[VIRTIO_QUEUES];
    struct virtio_chain chain; /* of the request being served */
};

/* Sets `bytes` and `irq` from the site. The caller sets the members from `id` to `notify`. */
void virtio_connect(struct virtio *virtio, const struct device_site *site);

/* Resets the transport, as the driver does by writing 0 to Status. */
void virtio_reset(struct virtio *virtio);

/* Returns whether the driver is ready for the device to use queues. */
bool virtio_live(const struct virtio *virtio);

/* Takes the next request of a queue; it is valid until the next call. Returns NULL if there is none, or the queue is
 * broken. */
const struct virtio_chain *virtio_take(struct virtio *virtio, unsigned queue);

/* Puts the request that was taken last into the used ring, with the number of bytes written to it. */
void virtio_complete(struct virtio *virtio, unsigned queue, uint32_t written);

/* Puts the request that was taken last back: the next virtio_take() returns it again. */
void virtio_untake(struct virtio *virtio, unsigned queue);

/* Sets DEVICE_NEEDS_RESET, because the driver has broken a rule; interrupts the driver if it has set
 * DRIVER_OK. */
void virtio_break(struct virtio *virtio);

/* Copy from the readable, or to the writable bytes of the current request, `offset` bytes after their start. Return the
 * number of bytes copied: fewer than `size` at the end of the request. */
uint64_t virtio_get(const struct virtio *virtio, uint64_t offset, void *to, uint64_t size);
uint64_t virtio_put(const struct virtio *virtio, uint64_t offset, const void *from, uint64_t size);

/* Saves or restores the transport, whose state is between two requests. */
void virtio_snapshot(struct virtio *virtio, struct snapshot *snapshot);

/* What all virtio devices have in their struct device_kind. A device with nothing else to reset has virtio_reset_device(), and
 * one with nothing else to save virtio_snapshot_device(). */
#define VIRTIO_ROWS                                                                                          \
    .size = VIRTIO_SIZE, .sizes = VIRTIO_ACCESS, .ops = &virtio_ops, .describe = virtio_describe
extern const struct device_ops virtio_ops;
void virtio_describe(struct node_writer *writer, const void *config);
void virtio_reset_device(void *device);
void virtio_snapshot_device(void *device, struct snapshot *snapshot);

#endif
