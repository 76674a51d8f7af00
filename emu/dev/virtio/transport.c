#include "emu/dev/virtio/transport.h"

#include <limits.h>
#include <string.h>

/* Registers (section 4.2.2). */
enum {
    MAGIC = 0x000,
    VERSION = 0x004,
    DEVICE_ID = 0x008,
    VENDOR_ID = 0x00c,
    DEVICE_FEATURES = 0x010,
    DEVICE_FEATURES_SELECT = 0x014,
    DRIVER_FEATURES = 0x020,
    DRIVER_FEATURES_SELECT = 0x024,
    QUEUE_SELECT = 0x030,
    QUEUE_SIZE_MAX = 0x034,
    QUEUE_SIZE = 0x038,
    QUEUE_READY = 0x044,
    QUEUE_NOTIFY = 0x050,
    INTERRUPT_STATUS = 0x060,
    INTERRUPT_ACK = 0x064,
    STATUS = 0x070,
    DESCRIPTORS_LOW = 0x080,
    DESCRIPTORS_HIGH = 0x084,
    DRIVER_LOW = 0x090,
    DRIVER_HIGH = 0x094,
    DEVICE_LOW = 0x0a0,
    DEVICE_HIGH = 0x0a4,
    CONFIG = 0x100,
};

enum {
    MAGIC_VALUE = 0x74726976,
    VERSION_VALUE = 2,
    VENDOR_VALUE = 0x554d4551 /* "QEMU", a value that drivers know */
};
enum { STATUS_DRIVER_OK = 4, STATUS_FEATURES_OK = 8, STATUS_NEEDS_RESET = 64 };
enum { INTERRUPT_USED = 1, INTERRUPT_CONFIG = 2 };
enum { NEXT = 1, WRITE = 2, INDIRECT = 4, NO_INTERRUPT = 1 };

struct descriptor {
    uint64_t address;
    uint32_t size;
    uint16_t flags, next;
};

void virtio_connect(struct virtio *virtio, const struct device_site *site)
{
    virtio->bytes = site->bytes;
    virtio->irq = site->irq;
}

static void update_irq(struct virtio *virtio)
{
    bool level = virtio->interrupts != 0;
    if (level == virtio->level)
        return;
    virtio->level = level;
    irq_set(&virtio->irq, level);
}

void virtio_reset(struct virtio *virtio)
{
    virtio->status = virtio->interrupts = virtio->feature_half = virtio->driver_half = virtio->queue = 0;
    virtio->accepted = 0;
    virtio->polls = 0;
    memset(virtio->queues, 0, sizeof virtio->queues);
    update_irq(virtio);
}

bool virtio_live(const struct virtio *virtio)
{
    return (virtio->status & STATUS_DRIVER_OK) && !(virtio->status & STATUS_NEEDS_RESET);
}

void virtio_break(struct virtio *virtio)
{
    virtio->status |= STATUS_NEEDS_RESET;
    if (virtio->status & STATUS_DRIVER_OK)
        virtio->interrupts |= INTERRUPT_CONFIG;
    update_irq(virtio);
}

/* Reads or writes a field of a ring. Returns false if it is not in memory. */
static bool load(const struct virtio *virtio, uint64_t address, void *to, uint64_t size)
{
    return bytes_reach(&virtio->bytes, address, size, true) == size &&
           bytes_read(&virtio->bytes, address, to, size) == size;
}

static bool store(const struct virtio *virtio, uint64_t address, const void *from, uint64_t size)
{
    return bytes_reach(&virtio->bytes, address, size, true) == size &&
           bytes_write(&virtio->bytes, address, from, size) == size;
}

/* Adds the segment of a descriptor to the chain. Returns false if the descriptor breaks a rule. */
static bool add_segment(struct virtio *virtio, struct virtio_chain *chain, const struct descriptor *d)
{
    bool writes = d->flags & WRITE;
    if ((d->flags & INDIRECT) || chain->count == VIRTIO_QUEUE_MAX)
        return false;
    if (!writes && chain->count > chain->readable)
        return false; /* a readable segment after a writable one */
    if (d->size > 0 && bytes_reach(&virtio->bytes, d->address, d->size, true) < d->size)
        return false;
    chain->segments[chain->count].address = d->address;
    chain->segments[chain->count++].size = d->size;
    chain->readable += !writes;
    *(writes ? &chain->write_size : &chain->read_size) += d->size;
    return true;
}

/* Reads a chain from its head. Returns false if it breaks a rule. A chain with more segments than the queue
 * has descriptors has a loop. */
static bool read_chain(struct virtio *virtio, const struct virtio_queue *queue, uint16_t head)
{
    struct virtio_chain *chain = &virtio->chain;
    struct descriptor d = {.flags = NEXT, .next = head};
    chain->head = head;
    chain->count = chain->readable = 0;
    chain->read_size = chain->write_size = 0;
    while (d.flags & NEXT) {
        if (d.next >= queue->size || chain->count == queue->size ||
            !load(virtio, queue->descriptors + d.next * sizeof d, &d, sizeof d) ||
            !add_segment(virtio, chain, &d))
            return false;
    }
    return true;
}

const struct virtio_chain *virtio_take(struct virtio *virtio, unsigned index)
{
    struct virtio_queue *queue = &virtio->queues[index];
    uint16_t available, head;
    if (!virtio_live(virtio) || !queue->ready)
        return NULL;
    bool read = load(virtio, queue->driver + 2, &available, sizeof available);
    uint16_t waiting = (uint16_t)(read ? available - queue->seen : 0);
    if (read && waiting == 0)
        return NULL;
    uint64_t entry = queue->driver + 4 + 2 * (queue->seen % (queue->size ? queue->size : 1));
    if (!read || waiting > queue->size || !load(virtio, entry, &head, sizeof head) ||
        !read_chain(virtio, queue, head)) {
        virtio_break(virtio);
        return NULL;
    }
    queue->seen++;
    return &virtio->chain;
}

void virtio_untake(struct virtio *virtio, unsigned queue)
{
    virtio->queues[queue].seen--;
}

void virtio_complete(struct virtio *virtio, unsigned index, uint32_t written)
{
    struct virtio_queue *queue = &virtio->queues[index];
    const uint32_t element[2] = {virtio->chain.head, written};
    uint16_t flags = 0, used = (uint16_t)(queue->used + 1);
    virtio->polls = 0;
    if (!store(virtio, queue->device + 4 + 8 * (queue->used % queue->size), element, sizeof element) ||
        !store(virtio, queue->device + 2, &used, sizeof used) ||
        !load(virtio, queue->driver, &flags, sizeof flags)) {
        virtio_break(virtio);
        return;
    }
    queue->used = used;
    if (!(flags & NO_INTERRUPT))
        virtio->interrupts |= INTERRUPT_USED;
    update_irq(virtio);
}

/* Copies between `buffer` and segments [first, end) of the request, `offset` bytes after their start. */
static uint64_t copy(const struct virtio *virtio, unsigned first, unsigned end, uint64_t offset,
                     uint8_t *buffer, uint64_t size, bool put)
{
    const struct virtio_chain *chain = &virtio->chain;
    uint64_t done = 0;
    for (unsigned i = first; i < end && done < size; i++) {
        uint64_t length = chain->segments[i].size, part = size - done;
        if (offset >= length) {
            offset -= length;
            continue;
        }
        part = part < length - offset ? part : length - offset;
        uint64_t at = chain->segments[i].address + offset;
        uint64_t copied = put ? bytes_write(&virtio->bytes, at, buffer + done, part)
                              : bytes_read(&virtio->bytes, at, buffer + done, part);
        done += copied;
        if (copied < part)
            break;
        offset = 0;
    }
    return done;
}

uint64_t virtio_get(const struct virtio *virtio, uint64_t offset, void *to, uint64_t size)
{
    return copy(virtio, 0, virtio->chain.readable, offset, to, size, false);
}

uint64_t virtio_put(const struct virtio *virtio, uint64_t offset, const void *from, uint64_t size)
{
    return copy(virtio, virtio->chain.readable, virtio->chain.count, offset, (uint8_t *)(uintptr_t)from, size,
                true);
}

/* Returns the queue that QueueSel selects; NULL: there is none. */
static struct virtio_queue *selected(const struct virtio *virtio)
{
    return virtio->queue < virtio->queue_count
               ? (struct virtio_queue *)(uintptr_t)&virtio->queues[virtio->queue]
               : NULL;
}

static uint64_t read_config(const struct virtio *virtio, uint64_t offset, unsigned size)
{
    uint64_t value = 0;
    if (offset + size <= VIRTIO_CONFIG)
        memcpy(&value, &virtio->config[offset], size);
    return value;
}

static uint64_t virtio_read(void *device, uint64_t offset, unsigned size)
{
    const struct virtio *virtio = device;
    if (offset >= CONFIG)
        return read_config(virtio, offset - CONFIG, size);
    if (size != 4)
        return 0;
    switch (offset) {
    case MAGIC: return MAGIC_VALUE;
    case VERSION: return VERSION_VALUE;
    case DEVICE_ID: return virtio->id;
    case VENDOR_ID: return VENDOR_VALUE;
    case DEVICE_FEATURES:
        return virtio->feature_half > 1 ? 0 : (uint32_t)(virtio->offered >> 32 * virtio->feature_half);
    case QUEUE_SIZE_MAX: return selected(virtio) ? VIRTIO_QUEUE_MAX : 0;
    case QUEUE_READY: return selected(virtio) && selected(virtio)->ready;
    case INTERRUPT_STATUS: return virtio->interrupts;
    case STATUS: return virtio->status;
    default: return 0; /* also ConfigGeneration: the configuration does not change */
    }
}

static uint64_t counted_read(void *device, uint64_t offset, unsigned size)
{
    struct virtio *virtio = device;
    virtio->polls += virtio->polls < UINT_MAX;
    return virtio_read(device, offset, size);
}

/* FEATURES_OK stays clear if the driver accepts a feature that is not offered, or does not accept
 * VIRTIO_F_VERSION_1 (a legacy driver). */
static void write_status(struct virtio *virtio, uint32_t value)
{
    if (value == 0) {
        virtio_reset(virtio);
        return;
    }
    bool acceptable = !(virtio->accepted & ~virtio->offered) && (virtio->accepted & VIRTIO_F_VERSION_1);
    bool agreed = virtio->status & STATUS_FEATURES_OK;
    if (!acceptable && !agreed)
        value &= ~(uint32_t)(STATUS_FEATURES_OK | STATUS_DRIVER_OK);
    virtio->status = (value & 0xff) | (virtio->status & STATUS_NEEDS_RESET);
}

static void write_features(struct virtio *virtio, uint32_t value)
{
    unsigned shift = 32 * (virtio->driver_half & 1);
    if (virtio->driver_half > 1 || (virtio->status & STATUS_FEATURES_OK))
        return;
    virtio->accepted = (virtio->accepted & ~((uint64_t)UINT32_MAX << shift)) | (uint64_t)value << shift;
}

static void write_half(uint64_t *address, uint64_t offset, uint32_t value)
{
    *address =
        offset & 4 ? (uint32_t)*address | (uint64_t)value << 32 : (*address & ~(uint64_t)UINT32_MAX) | value;
}

/* A queue's size is a power of two. Its registers are fixed while it is ready. */
static void write_queue(struct virtio_queue *queue, uint64_t offset, uint32_t value)
{
    if (!queue || (queue->ready && offset != QUEUE_READY))
        return;
    switch (offset) {
    case QUEUE_SIZE: queue->size = value <= VIRTIO_QUEUE_MAX && !(value & (value - 1)) ? value : 0; break;
    case QUEUE_READY:
        if (!(value & 1))
            queue->seen = queue->used = 0;
        queue->ready = (value & 1) && queue->size > 0;
        break;
    case DESCRIPTORS_LOW:
    case DESCRIPTORS_HIGH: write_half(&queue->descriptors, offset, value); break;
    case DRIVER_LOW:
    case DRIVER_HIGH: write_half(&queue->driver, offset, value); break;
    default: write_half(&queue->device, offset, value); break;
    }
}

static void virtio_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    struct virtio *virtio = device;
    uint32_t word = (uint32_t)value;
    if (offset >= CONFIG || size != 4)
        return;
    switch (offset) {
    case DEVICE_FEATURES_SELECT: virtio->feature_half = word; break;
    case DRIVER_FEATURES_SELECT: virtio->driver_half = word; break;
    case DRIVER_FEATURES: write_features(virtio, word); break;
    case QUEUE_SELECT: virtio->queue = word; break;
    case QUEUE_NOTIFY:
        if (word < virtio->queue_count && virtio_live(virtio))
            virtio->notify(virtio, word);
        break;
    case INTERRUPT_ACK:
        virtio->interrupts &= ~word;
        update_irq(virtio);
        break;
    case STATUS: write_status(virtio, word); break;
    case QUEUE_SIZE:
    case QUEUE_READY:
    case DESCRIPTORS_LOW:
    case DESCRIPTORS_HIGH:
    case DRIVER_LOW:
    case DRIVER_HIGH:
    case DEVICE_LOW:
    case DEVICE_HIGH: write_queue(selected(virtio), offset, word); break;
    default: break;
    }
}

static bool peek(void *device, uint64_t offset, uint64_t *value)
{
    *value = virtio_read(device, offset, 4);
    return true;
}

static bool virtio_functional(void *device, const struct mem_access *access)
{
    return bytes_peek(access, 4, peek, device);
}

const struct device_ops virtio_ops = {
    .read = counted_read, .write = virtio_write, .functional = virtio_functional};

static void snapshot_queue(struct virtio_queue *queue, struct snapshot *s)
{
    queue->size = (uint32_t)snapshot_number(s, "size", queue->size, VIRTIO_QUEUE_MAX);
    queue->ready = snapshot_flag(s, "ready", queue->ready);
    queue->descriptors = snapshot_number(s, "descriptors", queue->descriptors, UINT64_MAX);
    queue->driver = snapshot_number(s, "driver", queue->driver, UINT64_MAX);
    queue->device = snapshot_number(s, "device", queue->device, UINT64_MAX);
    queue->seen = (uint16_t)snapshot_number(s, "seen", queue->seen, UINT16_MAX);
    queue->used = (uint16_t)snapshot_number(s, "used", queue->used, UINT16_MAX);
    if ((queue->size & (queue->size - 1)) || (queue->ready && queue->size == 0))
        snapshot_fail(s, "the snapshot is damaged: no queue has the size %u", (unsigned)queue->size);
}

void virtio_snapshot(struct virtio *virtio, struct snapshot *s)
{
    snapshot_same(s, "features", virtio->offered);
    virtio->status = (uint32_t)snapshot_number(s, "status", virtio->status, 0xff);
    virtio->interrupts =
        (uint32_t)snapshot_number(s, "interrupts", virtio->interrupts, INTERRUPT_USED | INTERRUPT_CONFIG);
    virtio->feature_half = (uint32_t)snapshot_number(s, "feature_half", virtio->feature_half, UINT32_MAX);
    virtio->driver_half = (uint32_t)snapshot_number(s, "driver_half", virtio->driver_half, UINT32_MAX);
    virtio->queue = (uint32_t)snapshot_number(s, "queue", virtio->queue, UINT32_MAX);
    virtio->accepted = snapshot_number(s, "accepted", virtio->accepted, UINT64_MAX);
    virtio->level = snapshot_flag(s, "level", virtio->level);
    for (unsigned i = 0; i < virtio->queue_count; i++)
        snapshot_queue(&virtio->queues[i], s);
}

void virtio_snapshot_device(void *device, struct snapshot *s)
{
    virtio_snapshot(device, s);
}

void virtio_reset_device(void *device)
{
    virtio_reset(device);
}

void virtio_describe(struct node_writer *writer, const void *config)
{
    const struct device_config *own = config;
    node_begin_at(writer, "virtio_mmio", own->base);
    node_text(writer, "compatible", "virtio,mmio");
    node_reg(writer, own->base, VIRTIO_SIZE);
    node_interrupt(writer, own->irq);
    node_end(writer);
}
