/* The physical address map: main memory, and devices that answer accesses at their addresses. */
#ifndef EMU_MEM_PHYS_BUS_H
#define EMU_MEM_PHYS_BUS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/phys.h"
#include "emu/mem/phys/bytes.h"
#include "emu/sim/error.h"

/* Accesses to a device's registers. offset is in bytes from the start of the region. size is 1, 2, 4 or 8
 * bytes, one of the region's sizes; offset is a multiple of size. Values are zero-extended. Accesses cannot
 * fail: an offset without a register reads as 0 and ignores writes. */
struct device_ops {
    uint64_t (*read)(void *device, uint64_t offset, unsigned size);
    void (*write)(void *device, uint64_t offset, unsigned size, uint64_t value);
    /* Reads or writes what the registers hold, or the bytes of a ROM, without time and side effects, for
     * struct bytes_holder. access->address is an offset. NULL: the device holds no such bytes. */
    bool (*functional)(void *device, const struct mem_access *access);
};

/* A set of access sizes. */
enum { BUS_1 = 1, BUS_2 = 2, BUS_4 = 4, BUS_8 = 8, BUS_ANY = 15 };

struct bus_region {
    uint64_t base, size; /* in bytes */
    unsigned sizes;      /* access sizes that it accepts: BUS_1 ... */
    bool executable;     /* code may be fetched from it, as from a ROM */
    bool storage;        /* its bytes are ordinary data, not registers (bytes.h) */
    const struct device_ops *ops;
    void *device;
    const char *name; /* for messages and `croft show`; outlives the bus */
};

struct bus {
    const struct phys *memory;
    unsigned count;
    struct bus_region *regions;   /* sorted by base, never overlapping each other or memory */
    struct bytes_holders holders; /* the regions that hold bytes, and other holders */
};

/* Makes an address map of main memory alone, which must outlive the map. Release it with bus_free(). */
void bus_init(struct bus *bus, const struct phys *memory);
void bus_free(struct bus *bus);

/* Adds a device's region. The region becomes a holder of bytes if it has `functional`. Fails if the region is
 * empty, wraps around, or overlaps another region or main memory. */
bool bus_add(struct bus *bus, const struct bus_region *region, struct error *err);

/* Access a device. Return false, an access fault, if there is no device at the address or it does not accept
 * the size or alignment. They do not reach main memory: use phys_at(). To access bytes anywhere without side
 * effects, use bytes.h. */
bool bus_read(const struct bus *bus, uint64_t address, unsigned size, uint64_t *value);
bool bus_write(const struct bus *bus, uint64_t address, unsigned size, uint64_t value);

/* Reads 2 bytes of code at an even address. Returns false if no device holds code there. */
bool bus_fetch(const struct bus *bus, uint64_t address, uint16_t *parcel);

/* Returns whether a device accepts accesses of this size at the address. */
bool bus_takes(const struct bus *bus, uint64_t address, unsigned size);

/* An interrupt line from a device: set(context, number, level) is called on every change of level. */
struct irq_line {
    void (*set)(void *context, unsigned number, bool level);
    void *context;
    unsigned number;
};

static inline void irq_set(const struct irq_line *line, bool level)
{
    if (line->set)
        line->set(line->context, line->number, level);
}

#endif
