#include "emu/stash/mapping.h"

#include <assert.h>

__extension__ typedef unsigned __int128 uint128;

enum { MEMORY_BITS = 48 }; /* of a distance in memory */

/* Returns the reciprocal of a divisor for numerators below 2^STASH_ADDRESS_BITS: rounded up, it is too large by less than
 * divisor / 2^40, so a quotient's error is below 1 / divisor. */
static uint64_t short_reciprocal(uint64_t divisor)
{
    return ((UINT64_C(1) << 2 * STASH_ADDRESS_BITS) + divisor - 1) / divisor;
}

/* The same for numerators below 2^MEMORY_BITS; *shift is the distance by which a product is shifted. */
static uint64_t long_reciprocal(uint64_t divisor, uint8_t *shift)
{
    unsigned bits = 0;
    while (bits < 63 && UINT64_C(1) << bits < divisor)
        bits++;
    *shift = (uint8_t)(MEMORY_BITS + bits);
    return (uint64_t)((((uint128)1 << *shift) + divisor - 1) / divisor);
}

static uint64_t high(uint64_t numerator, uint64_t reciprocal, uint8_t shift)
{
    return (uint64_t)((uint128)numerator * reciprocal >> shift);
}

void stash_mapping_set(struct stash_mapping *mapping, const struct stash_tile *tile, uint32_t allocation)
{
    const uint64_t objects = tile->row_size / tile->object_size, row = objects * tile->field_size;
    const uint64_t first = allocation + tile->stash_base;
    const bool rows = tile->strides > 1;
    *mapping = (struct stash_mapping){
        .first = (uint32_t)first,
        .bytes = (uint32_t)(tile->strides * row),
        .global = tile->global_base,
        .field_reciprocal = short_reciprocal(tile->field_size),
        .row_reciprocal = rows ? short_reciprocal(row) : 0,
        .base = tile->global_base - first,
        .gap = tile->object_size - tile->field_size,
        .skip = rows ? tile->stride_size - objects * tile->object_size : 0,
        .stride = rows ? tile->stride_size : 0,
        .object = tile->object_size,
        .back = first - tile->global_base,
        .row_gain = rows ? row - tile->stride_size : 0,
        .field_gain = tile->field_size - tile->object_size,
        .strides = tile->strides,
        .objects = objects,
        .field = tile->field_size,
    };
    assert(first + mapping->bytes <= UINT64_C(1) << STASH_ADDRESS_BITS);
    mapping->field_bias = -(first * mapping->field_reciprocal);
    mapping->row_bias = -(first * mapping->row_reciprocal);
    if (rows)
        mapping->stride_reciprocal = long_reciprocal(tile->stride_size, &mapping->stride_shift);
    mapping->object_reciprocal = long_reciprocal(tile->object_size, &mapping->object_shift);
}

bool stash_mapping_local(const struct stash_mapping *mapping, uint64_t va, uint32_t *s)
{
    const uint64_t d = va - mapping->global;
    if (d >> MEMORY_BITS)
        return false;
    const uint64_t r = high(d, mapping->stride_reciprocal, mapping->stride_shift);
    const uint64_t x = d - r * mapping->stride;
    const uint64_t c = high(x, mapping->object_reciprocal, mapping->object_shift);
    uint64_t at = va + mapping->back;
    at = r * mapping->row_gain + at;
    at = c * mapping->field_gain + at;
    *s = (uint32_t)at;
    return r < mapping->strides && c < mapping->objects && x - c * mapping->object < mapping->field;
}

bool stash_mapping_matches(const struct stash_mapping *a, const struct stash_mapping *b)
{
    return a->global == b->global && a->field == b->field && a->object == b->object &&
           a->objects == b->objects && a->strides == b->strides && a->stride == b->stride;
}
