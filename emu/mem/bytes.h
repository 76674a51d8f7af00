/* Bytes by physical address, without time: most lie in plain memory, others are held elsewhere (a ROM, a stash, a device's
 * registers). Loaders, debuggers, system calls and launches reach both kinds this way. Requests carry no bytes, and ports do
 * not pass any on: a part that holds bytes adds itself as the holder of their addresses. */
#ifndef EMU_MEM_BYTES_H
#define EMU_MEM_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "emu/mem/phys.h"
#include "emu/sim/error.h"

/* An untimed access to the bytes, which changes nothing but them. */
struct mem_access {
    uint64_t address;
    void *bytes;
    uint64_t size; /* not 0 */
    bool write;
};

/* Who has the bytes of a range outside of plain memory. */
struct bytes_holder {
    uint64_t base, size; /* in bytes */
    uint64_t origin;     /* taken off the addresses that `functional` is called with */
    /* Reads or writes all bytes of the access, which lies within the range, or returns false: some do not exist, or
     * reading or writing them would do more than that. */
    bool (*functional)(void *context, const struct mem_access *access);
    void *context;
    bool storage;     /* ordinary bytes, which a user program may name in its calls; false: registers */
    const char *name; /* for messages; outlives the holder */
};

struct bytes_holders {
    unsigned count;
    struct bytes_holder *list; /* sorted by base, never overlapping each other */
};

/* Memory with the holders beside it. */
struct bytes {
    const struct phys *memory;
    const struct bytes_holders *holders; /* NULL: there are none */
};

/* Adds a holder. Fails when its range is empty, wraps around or overlaps another one's. A struct bytes_holders of zeros holds
 * none; bytes_holders_free() makes it that again. */
bool bytes_hold(struct bytes_holders *holders, const struct bytes_holder *holder, struct error *err);
void bytes_holders_free(struct bytes_holders *holders);

/* The holder of the byte, or NULL. */
const struct bytes_holder *bytes_holder_of(const struct bytes_holders *holders, uint64_t address);

/* The number of bytes from address on, at most size, that lie in memory or at holders; with storage, at holders of
 * ordinary bytes only. Whether a holder lets itself be read or written is not asked. */
uint64_t bytes_reach(const struct bytes *bytes, uint64_t address, uint64_t size, bool storage);

/* bytes_read() and bytes_write() of a range that does not lie in memory as a whole. */
uint64_t bytes_transfer(const struct bytes *bytes, const struct mem_access *access);

/* Copy size bytes at an address. They return how many were copied: size, or as many as precede the first piece (what
 * memory or one holder has of the range) that has no bytes or refuses. */
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
    return size;
}

/* Serves an access to registers of `width` bytes (a power of two, 8 at most): refuses writes, and reads by peek(), which
 * gets the offset of a register and returns false when it cannot be read without effect. */
bool bytes_peek(const struct mem_access *access, unsigned width,
                bool (*peek)(void *device, uint64_t offset, uint64_t *value), void *device);

#endif
