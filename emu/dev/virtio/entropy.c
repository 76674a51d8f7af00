/* A virtio entropy device (Virtual I/O Device 1.1, section 5.4). Its bytes depend on the seed alone, so that
 * all runs are the same. */
#include <stdlib.h>
#include <string.h>

#include "emu/dev/virtio/transport.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"
#include "emu/sim/mix.h"

struct entropy_config {
    struct device_config device;
    uint64_t seed;
};

struct entropy {
    struct virtio virtio;
    uint64_t seed, state;
};

static void notify(struct virtio *virtio, unsigned queue)
{
    enum { MOST = 1 << 16 }; /* most bytes of a request that are filled; a device may use part of a buffer */
    struct entropy *entropy = CONTAINER_OF(virtio, struct entropy, virtio);
    const struct virtio_chain *chain;
    while ((chain = virtio_take(virtio, queue))) {
        uint64_t size = chain->write_size < MOST ? chain->write_size : MOST;
        for (uint64_t done = 0; done < size; done += sizeof(uint64_t)) {
            uint64_t word = mix_next(&entropy->state), part = size - done;
            (void)virtio_put(virtio, done, &word, part < sizeof word ? part : sizeof word);
        }
        virtio_complete(virtio, queue, (uint32_t)size);
    }
}

static void *make(const void *config, const struct device_site *site)
{
    struct entropy *entropy = alloc(1, sizeof *entropy);
    entropy->seed = entropy->state = ((const struct entropy_config *)config)->seed;
    entropy->virtio.id = 4;
    entropy->virtio.queue_count = 1;
    entropy->virtio.offered = VIRTIO_F_VERSION_1;
    entropy->virtio.notify = notify;
    virtio_connect(&entropy->virtio, site);
    return entropy;
}

static void reset(void *device)
{
    struct entropy *entropy = device;
    entropy->state = entropy->seed;
    virtio_reset(&entropy->virtio);
}

static void snapshot(void *device, struct snapshot *s)
{
    struct entropy *entropy = device;
    entropy->state = snapshot_number(s, "state", entropy->state, UINT64_MAX);
    virtio_snapshot(&entropy->virtio, s);
}

static const struct device_kind device = {
    VIRTIO_ROWS, .make = make, .free = free, .reset = reset, .snapshot = snapshot,
};

static const struct part_field fields[] = {
    DEVICE_BASE("0x10002000"),
    DEVICE_IRQ("2"),
    {"seed",
     FIELD_COUNT,
     offsetof(struct entropy_config, seed),
     sizeof(uint64_t),
     "0",
     "18446744073709551615",
     "1",
     NULL,
     {"1", "1"},
     0,
     "Its bytes follow from this number, and are the same in every run.",
     {"", ""}},
};

const struct part_kind entropy_kind = {
    .name = "entropy",
    .explanation = "A virtio entropy device, whose bytes follow from a seed.",
    PART_CONFIG(struct entropy_config),
    .extension = &device,
};
