#include "emu/tom/held.h"

enum { KIND = 1, MASK = 4, WORD = 4, WHOLE = 8, FIRST_FLOAT = 32 };

/* Returns whether the lower half and the register's kind tell the value. */
static bool is_word(uint64_t value, unsigned reg)
{
    return reg < FIRST_FLOAT ? value == (uint64_t)(int64_t)(int32_t)(uint32_t)value
                             : value >> 32 == UINT32_MAX;
}

/* Returns whether values grow by the same number from lane to lane. Sets *step to it. */
static bool is_affine(const struct warp *warp, unsigned reg, uint32_t lanes, uint64_t *step)
{
    const unsigned first = (unsigned)__builtin_ctz(lanes);
    const uint64_t base = warp_register(warp, reg, first);
    uint32_t left = lanes & (lanes - 1);
    *step = 0;
    if (!left)
        return true;
    const unsigned second = (unsigned)__builtin_ctz(left);
    const uint64_t difference = warp_register(warp, reg, second) - base;
    if ((int64_t)difference % (int64_t)(second - first))
        return false;
    *step = (uint64_t)((int64_t)difference / (int64_t)(second - first));
    for (; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        if (warp_register(warp, reg, lane) != base + *step * (lane - first))
            return false;
    }
    return true;
}

static uint32_t bytes_of(const struct warp *warp, unsigned reg, uint32_t lanes)
{
    uint32_t bytes = KIND + MASK;
    uint64_t step;
    if (is_affine(warp, reg, lanes, &step))
        return KIND + WHOLE + (step ? WHOLE : 0);
    for (uint32_t left = lanes; left; left &= left - 1)
        bytes += is_word(warp_register(warp, reg, (unsigned)__builtin_ctz(left)), reg) ? WORD : WHOLE;
    return bytes;
}

uint32_t tom_held_bytes(const struct warp *warp, uint64_t registers, uint32_t lanes)
{
    uint32_t bytes = 0;
    for (uint64_t left = lanes ? registers : 0; left; left &= left - 1)
        bytes += bytes_of(warp, (unsigned)__builtin_ctzll(left), lanes);
    return bytes;
}
