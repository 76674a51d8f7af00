#include "emu/mem/phys/bytes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

bool bytes_hold(struct bytes_holders *holders, const struct bytes_holder *holder, struct error *err)
{
    uint64_t base = holder->base, size = holder->size;
    if (size == 0 || base + size < base)
        return error_set(err, "%s at 0x%" PRIx64 ": its range is empty or wraps around", holder->name, base);
    unsigned at = 0;
    for (unsigned i = 0; i < holders->count; i++) {
        const struct bytes_holder *other = &holders->list[i];
        if (base < other->base + other->size && other->base < base + size)
            return error_set(err, "%s at 0x%" PRIx64 " overlaps %s at 0x%" PRIx64, holder->name, base,
                             other->name, other->base);
        if (other->base < base)
            at = i + 1;
    }
    holders->list = alloc_resize(holders->list, (holders->count + 1) * sizeof *holders->list);
    memmove(&holders->list[at + 1], &holders->list[at], (holders->count - at) * sizeof holders->list[0]);
    holders->list[at] = *holder;
    holders->count++;
    return true;
}

void bytes_holders_free(struct bytes_holders *holders)
{
    free(holders->list);
    *holders = (struct bytes_holders){0};
}

const struct bytes_holder *bytes_holder_of(const struct bytes_holders *holders, uint64_t address)
{
    for (unsigned i = 0; holders && i < holders->count; i++)
        if (address - holders->list[i].base < holders->list[i].size)
            return &holders->list[i];
    return NULL;
}

/* Returns how many of the `size` bytes from `address` on are in memory (*holder is NULL) or at one holder; 0
 * if the first byte is at neither. */
static uint64_t piece_at(const struct bytes *bytes, uint64_t address, uint64_t size,
                         const struct bytes_holder **holder)
{
    uint64_t left;
    *holder = NULL;
    if (address - bytes->memory->base < bytes->memory->size) {
        left = bytes->memory->size - (address - bytes->memory->base);
    } else {
        *holder = bytes_holder_of(bytes->holders, address);
        if (!*holder)
            return 0;
        left = (*holder)->size - (address - (*holder)->base);
    }
    return size < left ? size : left;
}

uint64_t bytes_reach(const struct bytes *bytes, uint64_t address, uint64_t size, bool storage)
{
    uint64_t done = 0;
    while (done < size && address + done >= address) {
        const struct bytes_holder *holder;
        uint64_t part = piece_at(bytes, address + done, size - done, &holder);
        if (part == 0 || (holder && storage && !holder->storage))
            break;
        done += part;
    }
    return done;
}

static bool transfer_piece(const struct bytes *bytes, const struct bytes_holder *holder,
                           const struct mem_access *piece)
{
    if (!holder) {
        uint8_t *at = phys_at(bytes->memory, piece->address, piece->size);
        memcpy(piece->write ? at : piece->bytes, piece->write ? piece->bytes : at, piece->size);
        if (piece->write)
            phys_note_store(bytes->memory, piece->address, piece->size);
        return true;
    }
    struct mem_access own = *piece;
    own.address -= holder->origin;
    return holder->functional(holder->context, &own);
}

uint64_t bytes_transfer(const struct bytes *bytes, const struct mem_access *access)
{
    uint64_t done = 0;
    while (done < access->size && access->address + done >= access->address) {
        const struct bytes_holder *holder;
        struct mem_access piece = {access->address + done, (uint8_t *)access->bytes + done, 0, access->write};
        piece.size = piece_at(bytes, piece.address, access->size - done, &holder);
        if (piece.size == 0 || !transfer_piece(bytes, holder, &piece))
            break;
        done += piece.size;
    }
    return done;
}

bool bytes_peek(const struct mem_access *access, unsigned width,
                bool (*peek)(void *device, uint64_t offset, uint64_t *value), void *device)
{
    uint64_t end = access->address + access->size, value;
    if (access->write)
        return false;
    for (uint64_t at = access->address; at < end;) {
        uint64_t first = at & ~(uint64_t)(width - 1);
        if (!peek(device, first, &value))
            return false;
        for (; at < end && at < first + width; at++)
            ((uint8_t *)access->bytes)[at - access->address] = (uint8_t)(value >> 8 * (at - first));
    }
    return true;
}
