/* Numbers as bytes, the lowest first, whatever the host's order: files, tables and packets that others read. */
#ifndef EMU_SIM_LITTLE_ENDIAN_H
#define EMU_SIM_LITTLE_ENDIAN_H

#include <stdint.h>

/* Store and return the lower `bytes` bytes of a number, up to 8. */
static inline void little_endian_put(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t little_endian_get(const uint8_t *from, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

#endif
