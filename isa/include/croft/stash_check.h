/* The descriptor of a map of the stash, what it means, and which ones are legal: isa/MANUAL.md, chapter Stash. Emulator and
 * runtime share it. */
#ifndef CROFT_STASH_CHECK_H
#define CROFT_STASH_CHECK_H

#include <stdint.h>

/* A tile of global memory in a block's local memory. Element n of the tile is the field of object n % objects of row
 * n / objects, with objects = row_size / object_size. Its bytes are, from byte stash_base + n * field_size of local memory on,
 * those from global_base + row * stride_size + object * object_size on. */
struct croft_stash_map {
    uint64_t
        stash_base; /* bytes from the start of the block's local memory; a multiple of CROFT_STASH_CHUNK */
    uint64_t global_base; /* address of the first field; a multiple of 4 */
    uint64_t field_size;  /* bytes; a multiple of 4 */
    uint64_t object_size; /* bytes from one object to the next; >= field_size */
    uint64_t row_size;    /* bytes of the objects of a row: their number * object_size */
    uint64_t stride_size; /* bytes from one row to the next; >= row_size; without meaning if strides is 1 */
    uint64_t strides;     /* rows */
    uint64_t coherent;    /* 1: stores change global memory; 0: they do not */
};

enum {
    CROFT_STASH_CAUSE = 28,      /* custom exception */
    CROFT_STASH_PARAMETERS = 8,  /* of a descriptor, 64 bits each */
    CROFT_STASH_WORD = 4,        /* bytes: the grain of states */
    CROFT_STASH_CHUNK = 64,      /* bytes: the grain of maps in local memory */
    CROFT_STASH_ENTRIES = 4,     /* maps of a block, where there is no stash */
    CROFT_STASH_NUMBER_BITS = 8, /* of a trap value: the error's number */
    CROFT_STASH_SELECTOR_BIT =
        32, /* of an address in local memory: bits 39 to 32 are 0, or 1 + the map's index */
};

/* The end of what a tile may lie in on multiprocessors: the windows of thread stacks and local memory begin here. */
#define CROFT_STASH_GLOBAL_END UINT64_C(0x400000000000)

enum croft_stash_error {
    CROFT_STASH_OK = 0,
#define CROFT_STASH_ERROR(number, name, subject, format, rule) CROFT_STASH_ERROR_##name = (number),
#include "stash_error.def"
};

/* An error, CROFT_STASH_OK if there is none, and the value of its subject. */
struct croft_stash_fault {
    enum croft_stash_error error;
    uint64_t value;
};

/* What a descriptor must fit in. */
struct croft_stash_limits {
    uint64_t local;      /* bytes of the block's local memory */
    uint64_t global_end; /* end of addresses that can be mapped */
    uint64_t pages;      /* entries of the VP-map */
    uint64_t page_size;  /* bytes; 0: the number of pages has no limit */
};

#define CROFT_STASH_INLINE static inline __attribute__((unused))

/* The following functions need a descriptor that croft_stash_check() has accepted, except where they say otherwise. */

/* Returns the objects of a row. */
CROFT_STASH_INLINE uint64_t croft_stash_objects(const struct croft_stash_map *map)
{
    return map->row_size / map->object_size;
}

/* Returns the bytes of the tile in local memory. */
CROFT_STASH_INLINE uint64_t croft_stash_length(const struct croft_stash_map *map)
{
    return map->strides * croft_stash_objects(map) * map->field_size;
}

/* Returns the bytes of local memory that belong to the map: whole chunks. */
CROFT_STASH_INLINE uint64_t croft_stash_room(const struct croft_stash_map *map)
{
    return (croft_stash_length(map) + CROFT_STASH_CHUNK - 1) / CROFT_STASH_CHUNK * CROFT_STASH_CHUNK;
}

/* Returns the global address of byte `offset` of the tile in local memory; offset < croft_stash_length(). */
CROFT_STASH_INLINE uint64_t croft_stash_global(const struct croft_stash_map *map, uint64_t offset)
{
    const uint64_t element = offset / map->field_size, objects = croft_stash_objects(map);
    return map->global_base + element / objects * map->stride_size + element % objects * map->object_size +
           offset % map->field_size;
}

/* Returns whether two maps share a chunk of local memory. */
CROFT_STASH_INLINE int croft_stash_overlap(const struct croft_stash_map *a, const struct croft_stash_map *b)
{
    return a->stash_base < b->stash_base + croft_stash_room(b) &&
           b->stash_base < a->stash_base + croft_stash_room(a);
}

/* Returns the name of a descriptor's parameter, or "?". */
CROFT_STASH_INLINE const char *croft_stash_parameter(uint64_t number)
{
    static const char *const names[CROFT_STASH_PARAMETERS] = {"stash_base",  "global_base", "field_size",
                                                              "object_size", "row_size",    "stride_size",
                                                              "strides",     "coherent"};
    return number < CROFT_STASH_PARAMETERS ? names[number] : "?";
}

/* Returns the number of the first parameter in which two descriptors differ, or CROFT_STASH_PARAMETERS. They need not be
 * legal. */
CROFT_STASH_INLINE unsigned croft_stash_difference(const struct croft_stash_map *a,
                                                   const struct croft_stash_map *b)
{
    const uint64_t *x = &a->stash_base, *y = &b->stash_base;
    unsigned i = 0;
    while (i < CROFT_STASH_PARAMETERS && x[i] == y[i])
        i++;
    return i;
}

/* Returns the number of pages that hold words of the tile. Rows do not descend, so a page occurs once, in adjacent rows and
 * objects. */
CROFT_STASH_INLINE uint64_t croft_stash_pages(const struct croft_stash_map *map, uint64_t page_size)
{
    const uint64_t objects = croft_stash_objects(map);
    uint64_t pages = 0, next = 0; /* pages below `next` are counted */
    for (uint64_t i = 0; i < map->strides * objects; i++) {
        const uint64_t field =
            map->global_base + i / objects * map->stride_size + i % objects * map->object_size;
        const uint64_t first = field / page_size, last = (field + map->field_size - 1) / page_size;
        if (last >= next) {
            pages += last + 1 - (first > next ? first : next);
            next = last + 1;
        }
    }
    return pages;
}

/* Returns the end of the tile in local memory, or UINT64_MAX. The parameters' own rules hold. */
CROFT_STASH_INLINE uint64_t croft_stash_local_end(const struct croft_stash_map *map)
{
    uint64_t end;
    if (__builtin_mul_overflow(croft_stash_objects(map), map->field_size, &end) ||
        __builtin_mul_overflow(end, map->strides, &end) || __builtin_add_overflow(end, map->stash_base, &end))
        return UINT64_MAX;
    return end;
}

/* Returns the address behind the tile's last field, or UINT64_MAX. The parameters' own rules hold. */
CROFT_STASH_INLINE uint64_t croft_stash_global_end(const struct croft_stash_map *map)
{
    uint64_t end;
    if (__builtin_mul_overflow(map->strides - 1, map->strides > 1 ? map->stride_size : 0, &end) ||
        __builtin_add_overflow(end, map->row_size - map->object_size + map->field_size, &end) ||
        __builtin_add_overflow(end, map->global_base, &end))
        return UINT64_MAX;
    return end;
}

#define CROFT_STASH_FAULT(name, subject) ((struct croft_stash_fault){CROFT_STASH_ERROR_##name, (subject)})

/* Returns the first error of the parameters, each on its own. */
CROFT_STASH_INLINE struct croft_stash_fault croft_stash_check_parameters(const struct croft_stash_map *map)
{
    if (map->stash_base % CROFT_STASH_CHUNK)
        return CROFT_STASH_FAULT(STASH_BASE, map->stash_base);
    if (map->global_base % CROFT_STASH_WORD)
        return CROFT_STASH_FAULT(GLOBAL_BASE, map->global_base);
    if (map->field_size % CROFT_STASH_WORD || map->field_size == 0)
        return CROFT_STASH_FAULT(FIELD_SIZE, map->field_size);
    if (map->object_size % CROFT_STASH_WORD || map->object_size < map->field_size)
        return CROFT_STASH_FAULT(OBJECT_SIZE, map->object_size);
    if (map->row_size % map->object_size || map->row_size == 0)
        return CROFT_STASH_FAULT(ROW_SIZE, map->row_size);
    if (map->strides == 0)
        return CROFT_STASH_FAULT(STRIDES, map->strides);
    if (map->strides > 1 && (map->stride_size % CROFT_STASH_WORD || map->stride_size < map->row_size))
        return CROFT_STASH_FAULT(STRIDE_SIZE, map->stride_size);
    if (map->coherent > 1)
        return CROFT_STASH_FAULT(COHERENT, map->coherent);
    return (struct croft_stash_fault){CROFT_STASH_OK, 0};
}

/* Returns the first error, by number, of a descriptor (any 64 bytes), of those that do not depend on other maps: 2 to 12. */
CROFT_STASH_INLINE struct croft_stash_fault croft_stash_check(const struct croft_stash_map *map,
                                                              const struct croft_stash_limits *limits)
{
    const struct croft_stash_fault fault = croft_stash_check_parameters(map);
    if (fault.error != CROFT_STASH_OK)
        return fault;
    if (croft_stash_local_end(map) > limits->local)
        return CROFT_STASH_FAULT(LENGTH, croft_stash_local_end(map));
    if (croft_stash_global_end(map) > limits->global_end)
        return CROFT_STASH_FAULT(GLOBAL_END, croft_stash_global_end(map));
    if (limits->page_size && croft_stash_pages(map, limits->page_size) > limits->pages)
        return CROFT_STASH_FAULT(PAGES, croft_stash_pages(map, limits->page_size));
    return fault;
}

#endif
