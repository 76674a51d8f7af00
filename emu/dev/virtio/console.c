/* A virtio console (Virtual I/O Device 1.1, section 5.3) with one port; it does not offer the console's size.
 * What the driver sends goes to croft's console. Input goes to the driver if it waits for input, else to the
 * serial port. */
#include "emu/dev/virtio/console.h"

#include <stdlib.h>

#include "emu/dev/virtio/transport.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"

enum { RECEIVE, TRANSMIT, PIECE = 256, LONGEST = 1 << 20 /* bytes of a request */, POLLS = 16 };

struct virtio_console {
    struct virtio virtio;
    void (*transmit)(void *context, uint8_t byte);
    void *context;
};

static void notify(struct virtio *virtio, unsigned queue)
{
    const struct virtio_console *console = CONTAINER_OF(virtio, struct virtio_console, virtio);
    const struct virtio_chain *chain;
    uint8_t piece[PIECE];
    while (queue == TRANSMIT && (chain = virtio_take(virtio, queue))) {
        uint64_t part;
        if (chain->read_size > LONGEST) {
            virtio_break(virtio);
            return;
        }
        for (uint64_t done = 0; (part = virtio_get(virtio, done, piece, PIECE)) > 0; done += part)
            for (uint64_t i = 0; i < part; i++)
                console->transmit(console->context, piece[i]);
        virtio_complete(virtio, queue, 0);
    }
}

bool virtio_console_waits(struct virtio_console *console)
{
    const struct virtio_chain *chain = virtio_take(&console->virtio, RECEIVE);
    if (!chain)
        return false;
    virtio_untake(&console->virtio, RECEIVE);
    return chain->write_size > 0;
}

bool virtio_console_asks(struct virtio_console *console)
{
    return console->virtio.polls >= POLLS && virtio_console_waits(console);
}

void virtio_console_receive(struct virtio_console *console, uint8_t byte)
{
    if (virtio_take(&console->virtio, RECEIVE))
        virtio_complete(&console->virtio, RECEIVE, (uint32_t)virtio_put(&console->virtio, 0, &byte, 1));
}

static void *make(const void *config, const struct device_site *site)
{
    struct virtio_console *console = alloc(1, sizeof *console);
    (void)config;
    console->transmit = site->transmit;
    console->context = site->context;
    console->virtio.id = 3;
    console->virtio.queue_count = 2;
    console->virtio.offered = VIRTIO_F_VERSION_1;
    console->virtio.notify = notify;
    virtio_connect(&console->virtio, site);
    return console;
}

static const struct device_kind device = {
    VIRTIO_ROWS, .make = make, .free = free, .reset = virtio_reset_device, .snapshot = virtio_snapshot_device,
};

static const struct part_field fields[] = {
    DEVICE_BASE("0x10003000"),
    DEVICE_IRQ("3"),
};

const struct part_kind virtio_console_kind = {
    .name = "console",
    .explanation = "A virtio console.",
    PART_CONFIG(struct device_config),
    .extension = &device,
};
