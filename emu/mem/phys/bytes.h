/* Access to bytes by physical address, without time. Most bytes are in main memory; others are in a ROM, a
 * stash or a device's registers. Loaders, debuggers, system calls and launches use this interface for all of
 * them. Requests carry no bytes, and ports do not forward any: a part that holds bytes adds itself as the
 * holder of their addresses. */
#ifndef EMU_MEM_PHYS_BYTES_H
#define EMU_MEM_PHYS_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "emu/mem/phys.h"
#include "emu/sim/error.h"

/* An untimed access to bytes, without side effects. */
struct mem_access {
    uint64_t address;
    void *bytes;
    uint64_t size; /* not 0 */
    bool write;
};

/* The holder of a range of bytes outside main memory. */
struct bytes_holder {
    uint64_t base, size; /* in bytes */
    uint64_t origin;     /* subtracted from an address before `functional` is called with it */
    /* Reads or writes all bytes of the access, which lies within the range. Returns false if some of the
     * bytes do not exist, or if the access would have side effects. */
    bool (*functional)(void *context, const struct mem_access *access);
    void *context;
    bool storage;     /* ordinary data, which the system calls of a user program may name; false: registers */
    const char *name; /* for messages; outlives the holder */
};

struct bytes_holders {
    unsigned count;
    struct bytes_holder *list; /* sorted by base, never overlapping each other */
};

/* Main memory and the holders outside it. */
struct bytes {
    const struct phys *memory;
    const struct bytes_holders *holders; /* NULL: there are none */
};

/* Adds a holder. Fails if its range is empty, wraps around or overlaps another holder's. A zeroed struct
 * bytes_holders has no holders; bytes_holders_free() returns it to that state. */
bool bytes_hold(struct bytes_holders *holders, const struct bytes_holder *holder, struct error *err);
void bytes_holders_free(struct bytes_holders *holders);

/* Returns the holder of the byte, or NULL. */
const struct bytes_holder *bytes_holder_of(const struct bytes_holders *holders, uint64_t address);

/* Returns how many of the `size` bytes from `address` on, without a gap, are in memory or at holders; if
 * `storage`, only holders of ordinary data count. Does not check whether a holder would refuse the access. */
uint64_t bytes_reach(const struct bytes *bytes, uint64_t address, uint64_t size, bool storage);

/* Does the work of bytes_read() and bytes_write() if not all of the range is in main memory. */
uint64_t bytes_transfer(const struct bytes *bytes, const struct mem_access *access);

/* Copy `size` bytes. Return how many were copied: fewer than `size` if a piece of the range (the part in
 * memory or at one holder) has no bytes or is refused; then the pieces before it were copied. */
static inline uint64_t bytes_read(const struct bytes *bytes, uint64_t address, void *to, uint64_t size)
{
    const uint8_t *at = phys_at(bytes->memory, address, size);
    if (!at)
        return bytes_transfer(bytes, &(struct mem_access){address, to, size, false});
    memcpy(to, at, size);
    return size;
}

static inline uint64_t bytes_write(const struct bytes *bytes, uint64_t address, const void *from,
                                   uint64_t size)
{
    uint8_t *at = phys_at(bytes->memory, address, size);
    if (!at)
        return bytes_transfer(bytes, &(struct mem_access){address, (void *)(uintptr_t)from, size, true});
    memcpy(at, from, size);
    phys_note_store(bytes->memory, address, size);
    return size;
}

/* Serves an access to registers of `width` bytes (a power of two, at most 8). Refuses writes. Reads registers
 * with peek(), which is called with the offset of a register and returns false if the register cannot be read
 * without side effects. */
bool bytes_peek(const struct mem_access *access, unsigned width,
                bool (*peek)(void *device, uint64_t offset, uint64_t *value), void *device);

#endif
