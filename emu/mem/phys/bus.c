#include "emu/mem/phys/bus.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

void bus_init(struct bus *bus, const struct phys *memory)
{
    *bus = (struct bus){.memory = memory};
}

void bus_free(struct bus *bus)
{
    bytes_holders_free(&bus->holders);
    free(bus->regions);
    *bus = (struct bus){.memory = bus->memory};
}

static bool overlap(uint64_t base, uint64_t size, uint64_t other, uint64_t other_size)
{
    return base < other + other_size && other < base + size;
}

bool bus_add(struct bus *bus, const struct bus_region *region, struct error *err)
{
    uint64_t base = region->base, size = region->size;
    if (size == 0 || base + size < base)
        return error_set(err, "device %s at 0x%" PRIx64 ": its region is empty or wraps around", region->name,
                         base);
    if (overlap(base, size, bus->memory->base, bus->memory->size))
        return error_set(err, "device %s at 0x%" PRIx64 " overlaps main memory at 0x%" PRIx64, region->name,
                         base, bus->memory->base);
    unsigned at = 0;
    for (unsigned i = 0; i < bus->count; i++) {
        const struct bus_region *other = &bus->regions[i];
        if (overlap(base, size, other->base, other->size))
            return error_set(err, "device %s at 0x%" PRIx64 " overlaps device %s at 0x%" PRIx64, region->name,
                             base, other->name, other->base);
        if (other->base < base)
            at = i + 1;
    }
    const struct bytes_holder holder = {.base = base,
                                        .size = size,
                                        .origin = base,
                                        .functional = region->ops->functional,
                                        .context = region->device,
                                        .storage = region->storage,
                                        .name = region->name};
    if (holder.functional && !bytes_hold(&bus->holders, &holder, err))
        return false;
    bus->regions = alloc_resize(bus->regions, (bus->count + 1) * sizeof *bus->regions);
    memmove(&bus->regions[at + 1], &bus->regions[at], (bus->count - at) * sizeof bus->regions[0]);
    bus->regions[at] = *region;
    bus->count++;
    return true;
}

static const struct bus_region *find(const struct bus *bus, uint64_t address, unsigned size)
{
    for (unsigned i = 0; i < bus->count; i++) {
        const struct bus_region *region = &bus->regions[i];
        uint64_t offset = address - region->base;
        if (offset < region->size)
            return (region->sizes & size) && offset % size == 0 && size <= region->size - offset ? region
                                                                                                 : NULL;
    }
    return NULL;
}

bool bus_takes(const struct bus *bus, uint64_t address, unsigned size)
{
    return find(bus, address, size) != NULL;
}

bool bus_read(const struct bus *bus, uint64_t address, unsigned size, uint64_t *value)
{
    const struct bus_region *region = find(bus, address, size);
    if (!region)
        return false;
    *value = region->ops->read(region->device, address - region->base, size);
    return true;
}

bool bus_fetch(const struct bus *bus, uint64_t address, uint16_t *parcel)
{
    const struct bus_region *region = find(bus, address, 2);
    if (!region || !region->executable)
        return false;
    *parcel = (uint16_t)region->ops->read(region->device, address - region->base, 2);
    return true;
}

bool bus_write(const struct bus *bus, uint64_t address, unsigned size, uint64_t value)
{
    const struct bus_region *region = find(bus, address, size);
    if (!region)
        return false;
    region->ops->write(region->device, address - region->base, size, value);
    return true;
}
