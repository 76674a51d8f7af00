/* The mapping between bytes of a stash and bytes of the program's memory ("Stash: Have Your Scratchpad and Cache It Too", ISCA
 * 2015, sections 3.1, 4.1.3 and 4.3): a tile of fields of objects, precomputed when a map is added so that translations need
 * neither divisions nor branches.
 *
 * Element n of a tile is in row r = n / objects, as object c = n mod objects of it. Byte b of the element stands
 *   in the stash    at s  = first + n * field + b
 *   in memory       at va = global + r * stride + c * object + b
 *
 * A miss: s -> va. With o = s - first: n = o / field, r = o / (objects * field), and
 *   va = (global - first) + s + n * (object - field) + r * (stride - objects * object).
 * A division of a number below 2^20 is an exact multiplication by a rounded-up reciprocal, of which the bits from 2^40 on
 * count; the subtraction of `first` is in its addend. Five operations, if a multiply-add is one, as in GPUs' IMAD:
 *   1  n  = high(s * field_reciprocal + field_bias)
 *   2  r  = high(s * row_reciprocal + row_bias)
 *   3  va = s + base
 *   4  va = n * gap + va
 *   5  va = r * skip + va
 * (four multiplications and five additions). Without the biased addend, 1 and 2 are plain multiplications, and a sixth
 * operation computes o first: these are the six of section 4.1.3, whose source [24] does not list them.
 *
 * A remote request: va -> s. With d = va - global, which has up to 48 bits; `high` takes a shift by a distance of the entry:
 *   1    d = va - global
 *   2 3  r = high(d * stride_reciprocal)
 *   4    x = d - r * stride
 *   5 6  c = high(x * object_reciprocal)
 *   7    s = va + back
 *   8    s = r * row_gain + s
 *   9    s = c * field_gain + s
 * Nine operations, of which a tile of one row needs six (1, 5 to 7, 9). Whether the tile has the byte is one more
 * multiply-add, b = x - c * object, and three comparisons: r < strides, c < objects, b < field. */
#ifndef EMU_STASH_MAPPING_H
#define EMU_STASH_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

enum {
    STASH_WORD = 4,         /* bytes with a state of their own */
    STASH_CHUNK = 64,       /* bytes with a dirty bit and a map index (section 4.2) */
    STASH_ADDRESS_BITS = 20 /* of a byte of the storage: translations are exact up to 1 MiB */
};

/* A descriptor: the parameters of AddMap. The layout is that of struct croft_stash_map (isa/include/croft/stash.h). */
struct stash_tile {
    uint64_t stash_base;  /* bytes from the start of the block's allocation */
    uint64_t global_base; /* virtual address of the first field */
    uint64_t field_size, object_size;
    uint64_t row_size;    /* bytes from a row's first object to behind its last one */
    uint64_t stride_size; /* bytes between the starts of two rows */
    uint64_t strides;     /* number of rows */
    uint64_t coherent;    /* 0 or 1 */
};

struct stash_mapping {
    uint32_t first, bytes; /* the storage's bytes that are mapped */
    uint64_t global;
    /* s -> va */
    uint64_t field_reciprocal, field_bias, row_reciprocal, row_bias;
    uint64_t base, gap, skip;
    /* va -> s */
    uint64_t stride, object, stride_reciprocal, object_reciprocal;
    uint8_t stride_shift, object_shift;
    uint64_t back, row_gain, field_gain;
    uint64_t strides, objects, field;
};

/* Precomputes the mapping of a tile whose block's allocation begins at byte `allocation` of the storage. The descriptor is
 * valid, the mapped bytes are below 2^STASH_ADDRESS_BITS, and those in memory are within 2^48 bytes from global_base. */
void stash_mapping_set(struct stash_mapping *mapping, const struct stash_tile *tile, uint32_t allocation);

/* Returns the virtual address of byte s of the storage, which is mapped. */
static inline uint64_t stash_mapping_global(const struct stash_mapping *mapping, uint32_t s)
{
    const uint64_t n = (s * mapping->field_reciprocal + mapping->field_bias) >> 2 * STASH_ADDRESS_BITS;
    const uint64_t r = (s * mapping->row_reciprocal + mapping->row_bias) >> 2 * STASH_ADDRESS_BITS;
    uint64_t va = s + mapping->base;
    va = n * mapping->gap + va;
    va = r * mapping->skip + va;
    return va;
}

/* Stores the storage's byte of a virtual address. Returns false if the tile does not have it. */
bool stash_mapping_local(const struct stash_mapping *mapping, uint64_t va, uint32_t *s);

/* Returns the address behind the last field. */
static inline uint64_t stash_mapping_end(const struct stash_mapping *mapping)
{
    return mapping->global + (mapping->strides - 1) * mapping->stride +
           (mapping->objects - 1) * mapping->object + mapping->field;
}

/* Returns whether two mappings map the same bytes of memory in the same order (the perfect match of section 4.5). They may
 * stand at different places of the storage. */
bool stash_mapping_matches(const struct stash_mapping *a, const struct stash_mapping *b);

/* Returns whether the storage's byte is in the mapped bytes, rounded up to chunks. */
static inline bool stash_mapping_covers(const struct stash_mapping *mapping, uint32_t s)
{
    return s - mapping->first < (mapping->bytes + STASH_CHUNK - 1) / STASH_CHUNK * STASH_CHUNK;
}

#endif
