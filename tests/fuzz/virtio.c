/* Fuzzes virtio devices: any sequence of register accesses and any contents of the memory that the queues are in. The
 * interrupt must say what InterruptStatus says, and the device must not touch anything but memory and its disk. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/dev/device.h"
#include "emu/dev/virtio/console.h"
#include "emu/mem/phys.h"

enum { MEMORY = 1 << 16, DISK = 1 << 13, KINDS = 4, CONSOLE = 2 };
enum {
    INTERRUPT_STATUS = 0x60,
    STATUS = 0x70,
    ACCEPTED = 0x20,
    ACCEPTED_SELECT = 0x24,
    QUEUE = 0x30,
    NOTIFY = 0x50
};
#define BASE UINT64_C(0x80000000)

static const struct part_kind *const kinds[KINDS] = {&disk_kind, &entropy_kind, &virtio_console_kind,
                                                     &net_kind};

struct model {
    bool level;
    uint64_t sent;
};

static void check(bool good, const char *what)
{
    if (good)
        return;
    (void)fprintf(stderr, "virtio: %s\n", what);
    abort();
}

static void set(void *context, unsigned number, bool level)
{
    struct model *model = context;
    (void)number;
    check(model->level != level, "the wire tells a change that is none");
    model->level = level;
}

static void transmit(void *context, uint8_t byte)
{
    (void)byte;
    ((struct model *)context)->sent++;
}

/* A driver that has set up queue 0, and 1 if it exists: 8 descriptors at the start of memory. */
static void start(const struct device_ops *ops, void *device)
{
    static const uint32_t setup[][2] = {{STATUS, 3}, {ACCEPTED_SELECT, 1}, {ACCEPTED, 1}, {STATUS, 11}};
    for (unsigned i = 0; i < sizeof setup / sizeof *setup; i++)
        ops->write(device, setup[i][0], 4, setup[i][1]);
    for (unsigned queue = 0; queue < 2; queue++) {
        uint64_t at = BASE + queue * 1024;
        const uint32_t rows[][2] = {{QUEUE, queue},
                                    {0x38, 8},
                                    {0x80, (uint32_t)at},
                                    {0x90, (uint32_t)at + 256},
                                    {0xa0, (uint32_t)at + 512},
                                    {0x44, 1}};
        for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
            ops->write(device, rows[i][0], 4, rows[i][1]);
    }
    ops->write(device, STATUS, 4, 15);
}

static uint32_t word(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* One step from 8 bytes of input. */
static void step(const struct device_kind *kind, void *device, const struct phys *memory,
                 const uint8_t bytes[8], bool console)
{
    const struct device_ops *ops = kind->ops;
    uint64_t offset = bytes[1] * UINT64_C(4);
    unsigned size = 1u << bytes[2] % 3;
    switch (bytes[0] % 8) {
    case 0: ops->write(device, offset, 4, word(bytes + 4)); break;
    case 1: (void)ops->read(device, (offset + bytes[3]) & ~(uint64_t)(size - 1), size); break;
    case 2: memcpy(memory->bytes + (word(bytes + 1) & 0x7ff), bytes + 3, 5); break;
    case 3: { /* a descriptor */
        const struct {
            uint64_t address;
            uint32_t size;
            uint16_t flags, next;
        } d = {BASE + 4096 + bytes[2] * 16, bytes[3] * (bytes[4] & 3 ? 1u : 256u), bytes[5] & 7,
               bytes[6] & 15};
        memcpy(memory->bytes + (bytes[1] & 15) * sizeof d + (bytes[7] & 1) * 1024, &d, sizeof d);
        break;
    }
    case 4: { /* a request */
        uint8_t *ring = memory->bytes + 256 + (bytes[1] & 1) * 1024;
        uint16_t index;
        memcpy(&index, ring + 2, 2);
        ring[4 + 2 * (index % 8)] = bytes[2] & 15;
        index++;
        memcpy(ring + 2, &index, 2);
        ops->write(device, NOTIFY, 4, bytes[1] & 1);
        break;
    }
    case 5: memcpy(memory->bytes + 4096 + (bytes[1] & 63), bytes + 2, 6); break;
    case 6:
        if (console && virtio_console_waits(device))
            virtio_console_receive(device, bytes[1]);
        break;
    default:
        if (bytes[1] & 1)
            kind->reset(device);
        else
            start(ops, device);
        break;
    }
}

/* A file in the host's memory. */
static const char *disk(void)
{
    static char name[32];
    if (!name[0]) {
        int file = memfd_create("disk", 0);
        check(file >= 0 && ftruncate(file, DISK) == 0, "no temporary file");
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    }
    return name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model model = {0};
    struct phys memory;
    struct error err;
    if (size == 0)
        return 0;
    unsigned number = data[0] % KINDS;
    const struct device_kind *kind = kinds[number]->extension;
    check(phys_init(&memory, BASE, MEMORY, &err), "no memory");
    const struct device_site site = {.bytes = {&memory, NULL},
                                     .irq = {.set = set, .context = &model},
                                     .transmit = transmit,
                                     .context = &model};
    uint64_t config[128] = {0}; /* larger than any device's */
    if (number == 0) {
        const struct part_field *file = &kinds[0]->fields[part_field_find(kinds[0], "file")];
        strcpy((char *)config + file->offset, disk());
    }
    void *device = kind->make(config, &site);
    check(!kind->open || kind->open(device, config, &err), "the device does not open");
    start(kind->ops, device);
    for (data++, size--; size >= 8; data += 8, size -= 8) {
        step(kind, device, &memory, data, number == CONSOLE);
        check(model.level == (kind->ops->read(device, INTERRUPT_STATUS, 4) != 0),
              "interrupt and InterruptStatus");
    }
    kind->free(device);
    phys_free(&memory);
    if (number == 0)
        check(truncate(disk(), DISK) == 0, "the disk has gone");
    return 0;
}
