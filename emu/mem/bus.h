/* The physical address map: main memory, and devices that answer accesses at their addresses. */
#ifndef EMU_MEM_BUS_H
#define EMU_MEM_BUS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/bytes.h"
#include "emu/mem/phys.h"
#include "emu/sim/error.h"

/* What a device does when it is accessed. offset is from the start of its region; size is 1, 2, 4 or 8 bytes,
 * one that the region allows, and offset is a multiple of it. Values are zero-extended. Neither can fail:
 * offsets without a register read 0 and ignore writes. */
struct device_ops {
    uint64_t (*read)(void *device, uint64_t offset, unsigned size);
    void (*write)(void *device, uint64_t offset, unsigned size, uint64_t value);
    /* The untimed access to what the registers hold, or the bytes of a ROM, for struct bytes_holder; access->address is
     * an offset. NULL: there are no bytes to be had without effect. */
    bool (*functional)(void *device, const struct mem_access *access);
};

/* Access sizes as a set. */
enum { BUS_1 = 1, BUS_2 = 2, BUS_4 = 4, BUS_8 = 8, BUS_ANY = 15 };

struct bus_region {
    uint64_t base, size; /* in bytes */
    unsigned sizes;      /* the set of access sizes that it takes */
    bool executable;     /* code may be fetched from it: a ROM */
    bool storage;        /* its bytes are ordinary ones (bytes.h) */
    const struct device_ops *ops;
    void *device;
    const char *name; /* for messages and `croft show`; outlives the bus */
};

struct bus {
    const struct phys *memory;
    unsigned count;
    struct bus_region *regions;   /* sorted by base, never overlapping each other or memory */
    struct bytes_holders holders; /* those of the regions that have bytes, and others */
};

/* An address map with main memory alone, which must outlive it. Release with bus_free(). */
void bus_init(struct bus *bus, const struct phys *memory);
void bus_free(struct bus *bus);

/* Adds a device's region, which becomes a holder of bytes if it has `functional`. Fails when it is empty, wraps around, or
 * overlaps another one or memory. */
bool bus_add(struct bus *bus, const struct bus_region *region, struct error *err);

/* Accesses a device. False, an access fault, where there is none, or it does not take the size or alignment.
 * Main memory is not reached this way: use phys_at(). Bytes wherever they are, without effect: bytes.h. */
bool bus_read(const struct bus *bus, uint64_t address, unsigned size, uint64_t *value);
bool bus_write(const struct bus *bus, uint64_t address, unsigned size, uint64_t value);

/* Reads 2 bytes of code at an even address; false where no device holds code. */
bool bus_fetch(const struct bus *bus, uint64_t address, uint16_t *parcel);

/* Whether a device takes accesses of this size at the address. */
bool bus_takes(const struct bus *bus, uint64_t address, unsigned size);

/* A wire from a device to whoever counts it among its inputs: set(context, number, level) on every change. */
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
