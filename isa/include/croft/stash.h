/* Stash: local memory of a block that is mapped to global memory (isa/MANUAL.md, chapter Stash).
 *
 *     struct particle { float x, y, z, mass; };
 *
 *     static void move(const struct step *p)
 *     {
 *         float *x = croft_stash_map_of(simt_shared(), p->particles + block_x() * 256, x, .objects = 256);
 *         x[thread_x()] += p->distance;
 *     }
 *
 *     simt_launch(move, &step, simt_dim(64), simt_dim(256), .scratchpad = 256 * sizeof(float));
 *
 * The first load of a word of x[] brings the field from its structure; what the block stores to it is in the structure when
 * the launch has ended. Nothing is copied by instructions.
 *
 * On multiprocessors without a stash and where kernels run on the scalar core (simt.h), the runtime copies the tile instead:
 * all of it when it is mapped, and at the end of the block the words that have changed, so that programs give the same
 * result. There, all threads of the block that have not ended wait for one another in croft_stash_add() and
 * croft_stash_change(). */
#ifndef CROFT_STASH_H
#define CROFT_STASH_H

#include <croft/simt.h>
#include <croft/stash_check.h>

/* What a map covers: designated initialisers behind the field. Sizes that are not given are those of a plain array. */
struct croft_stash_shape {
    uint64_t objects;     /* in a row */
    uint64_t object_size; /* bytes from one object to the next; by default those of the field */
    uint64_t rows;        /* by default 1 */
    uint64_t stride_size; /* bytes from one row to the next */
    uint32_t noncoherent; /* 1: stores stay in local memory and are lost at the end of the block */
    uint32_t unused;
};

/* Where a call stands in the source, for messages. */
struct croft_stash_site {
    const char *kernel, *file;
    uint32_t line;
};

/* croft_stash_map(block_array, &structures[i].field, .objects = n, .object_size = sizeof *structures, ...) maps a tile and
 * returns a pointer to its first element, of the type of &field. block_array is where the tile lies in local memory:
 * simt_shared() + a multiple of 64 bytes, of any or of the field's type. If the tile lies at the start of local
 * memory and the compiler knows its shape, its descriptor is a constant; else it is on the thread's stack. */
#define croft_stash_map(block_array, field, ...)                                                             \
    __extension__({                                                                                          \
        CROFT_STASH_CHECK_ARRAY(block_array, field);                                                         \
        const uint64_t croft_base = (uint64_t)((char *)(block_array) - (char *)simt_shared());               \
        const struct croft_stash_map croft_tile = croft_stash_tile(croft_base, field, __VA_ARGS__);          \
        (__typeof__(&*(field)))croft_stash_open_tile(                                                        \
            croft_tile.stash_base, croft_tile.global_base, croft_tile.field_size, croft_tile.object_size,    \
            croft_tile.row_size, croft_tile.stride_size, croft_tile.strides, croft_tile.coherent,            \
            CROFT_STASH_SITE);                                                                               \
    })

/* croft_stash_map_of(block_array, structures + i, field, .objects = n, ...): the same, with the size of the structure. */
#define croft_stash_map_of(block_array, structures, field, ...)                                              \
    croft_stash_map(block_array, &(structures)->field, .object_size = sizeof *(structures), __VA_ARGS__)

/* croft_stash_tile(stash_base, &structures[i].field, ...) returns the descriptor alone, for croft_stash_add(); the host may
 * fill tables with it. Errors that the compiler can see are errors of compilation. */
#define croft_stash_tile(stash_base, field, ...)                                                             \
    __extension__({                                                                                          \
        _Static_assert(sizeof *(field) % CROFT_STASH_WORD == 0, "a field is a multiple of 4 bytes");         \
        croft_stash_describe((stash_base), (uintptr_t)(field), sizeof *(field),                              \
                             (struct croft_stash_shape){.unused = 0, __VA_ARGS__});                          \
    })
#define croft_stash_tile_of(stash_base, structures, field, ...)                                              \
    croft_stash_tile(stash_base, &(structures)->field, .object_size = sizeof *(structures), __VA_ARGS__)

/* Adds a map to the block's and returns its index: 0 for the first one. Each thread of the block must do it, in the same
 * order and with equal descriptors. The program ends with a message if the map is not legal. */
#define croft_stash_add(map) croft_stash_operate(croft_stash_entries(), 0, (map), 0, CROFT_STASH_SITE)

/* Replaces map `index` of the block, once all of its threads that have not ended have come here. Returns the index.
 *   - New addresses or a new place: words that were stored are in global memory if the old map was coherent, else lost; the
 *     new tile is brought.
 *   - The same tile, no longer coherent: what was stored so far is in global memory, what will be stored is not.
 *   - The same tile, now coherent: what was stored so far, and will be, is in global memory. */
#define croft_stash_change(index, map)                                                                       \
    croft_stash_operate(croft_stash_entries(), 1, (map), (index), CROFT_STASH_SITE)

/* Returns the entries of the map index table of the thread's block: most maps of a block; 0: there is no stash. */
CROFT_SIMT_CONSTANT(croft_stash_entries, CROFT_SIMT_STASH, "0")

/* Returns a pointer to byte `stash_base` of local memory, in map `index` if there is a stash. */
CROFT_SIMT_INLINE void *croft_stash_at(uint64_t stash_base, uint64_t index, uint32_t entries)
{
    return (char *)simt_shared() + stash_base + (entries ? (index + 1) << CROFT_STASH_SELECTOR_BIT : 0);
}

/* Adds a map and returns a pointer to its first element; stash_base is that of the descriptor, which need not be loaded then. */
#define croft_stash_open(map, stash_base)                                                                    \
    __extension__({                                                                                          \
        const uint32_t croft_entries = croft_stash_entries();                                                \
        const uint64_t croft_index = croft_stash_operate(croft_entries, 0, (map), 0, CROFT_STASH_SITE);      \
        croft_stash_at((stash_base), croft_index, croft_entries);                                            \
    })

/* Returns a pointer to the first element of a map. */
CROFT_SIMT_INLINE void *croft_stash_pointer(const struct croft_stash_map *map, uint64_t index)
{
    return croft_stash_at(map->stash_base, index, croft_stash_entries());
}

/* Implementation. */

#define CROFT_STASH_SITE                                                                                     \
    __extension__({                                                                                          \
        static const struct croft_stash_site croft_site = {__func__, __FILE__, __LINE__};                    \
        &croft_site;                                                                                         \
    })

#define CROFT_STASH_CHECK_ARRAY(block_array, field)                                                          \
    _Static_assert(__builtin_types_compatible_p(__typeof__(*(block_array)), void) ||                         \
                       __builtin_types_compatible_p(__typeof__(*(block_array)), char) ||                     \
                       __builtin_types_compatible_p(__typeof__(*(block_array)), __typeof__(*(field))),       \
                   "the array in local memory has the type of the field")

/* What croft_stash_software() (host/stash) is asked to do. */
struct croft_stash_call {
    const struct croft_stash_map *map;
    const struct croft_stash_site *site;
    uint64_t index;  /* of the map to change; the result */
    uint32_t change; /* 1: stash.chgmap, 0: stash.addmap */
};

#define CROFT_STASH_WRONG(name, text) void croft_stash_wrong_##name(void) __attribute__((error(text)))
CROFT_STASH_WRONG(base, "stash_base is not a multiple of 64");
CROFT_STASH_WRONG(object, "object_size is not a multiple of 4, or smaller than the field");
CROFT_STASH_WRONG(objects, "a tile needs .objects, the objects of a row");
CROFT_STASH_WRONG(stride,
                  "several rows need .stride_size, a multiple of 4 that is at least the size of a row");

/* Kernels of programs of Linux have no stash yet (emu/env/linux). */
#ifdef __GLIBC__
CROFT_STASH_WRONG(environment, "programs of Linux have neither croft/stash.h nor croft/dma.h; compile this "
                               "one with croft cc, without --linux");
#define CROFT_STASH_CHECK_ENVIRONMENT() croft_stash_wrong_environment()
#else
#define CROFT_STASH_CHECK_ENVIRONMENT() ((void)0)
#endif

#define CROFT_STASH_KNOWN(value, condition) (__builtin_constant_p(value) && (condition))

CROFT_SIMT_INLINE struct croft_stash_map croft_stash_describe(uint64_t stash_base, uint64_t global_base,
                                                              uint64_t field_size,
                                                              struct croft_stash_shape shape)
{
    const uint64_t object = shape.object_size ? shape.object_size : field_size;
    const uint64_t rows = shape.rows ? shape.rows : 1, row_size = shape.objects * object;
    if (CROFT_STASH_KNOWN(stash_base, stash_base % CROFT_STASH_CHUNK != 0))
        croft_stash_wrong_base();
    if (CROFT_STASH_KNOWN(object, object % CROFT_STASH_WORD != 0 || object < field_size))
        croft_stash_wrong_object();
    if (CROFT_STASH_KNOWN(shape.objects, shape.objects == 0))
        croft_stash_wrong_objects();
    if (CROFT_STASH_KNOWN(
            rows > 1 && (shape.stride_size % CROFT_STASH_WORD != 0 || shape.stride_size < row_size),
            rows > 1 && (shape.stride_size % CROFT_STASH_WORD != 0 || shape.stride_size < row_size)))
        croft_stash_wrong_stride();
    return (struct croft_stash_map){.stash_base = stash_base,
                                    .global_base = global_base,
                                    .field_size = field_size,
                                    .object_size = object,
                                    .row_size = row_size,
                                    .stride_size = shape.stride_size,
                                    .strides = rows,
                                    .coherent = !shape.noncoherent};
}

/* The runtime's function saves all registers but t0, as croft_simt_barrier() does, so that the registers of a kernel are the
 * same with and without it. */
CROFT_SIMT_INLINE uint64_t croft_stash_operate(uint32_t entries, uint32_t change,
                                               const struct croft_stash_map *map, uint64_t index,
                                               const struct croft_stash_site *site)
{
    uint64_t result;
    CROFT_STASH_CHECK_ENVIRONMENT();
    if (entries == 0) {
        struct croft_stash_call call = {map, site, index, change};
        register struct croft_stash_call *argument __asm__("a0") = &call;
        __asm__ volatile("call t0, croft_stash_software" : : "r"(argument) : "t0", "memory");
        return call.index;
    }
    if (!change) {
        __asm__ volatile(".insn r 0x2b, 0, 0, %0, %1, x0" : "=r"(result) : "r"(map) : "memory");
        return result;
    }
    simt_barrier();
    __asm__ volatile(".insn r 0x2b, 1, 0, %0, %1, %2" : "=r"(result) : "r"(map), "r"(index) : "memory");
    return result;
}

/* Adds a map at the start of local memory whose parameters but for global_base are constants. */
#define CROFT_STASH_ADD_CONSTANT(result, global, field, object, row, stride, rows, is_coherent)              \
    do {                                                                                                     \
        const void *croft_constant;                                                                          \
        __asm__(".pushsection .rodata.croft_stash, \"a\"\n\t.balign 8\n"                                     \
                "1:\t.dword 0, 0, %1, %2, %3, %4, %5, %6\n\t.popsection\n\tlla %0, 1b"                       \
                : "=r"(croft_constant)                                                                       \
                : "i"(field), "i"(object), "i"(row), "i"(stride), "i"(rows), "i"(is_coherent));              \
        __asm__ volatile(".insn r 0x2b, 0, 0, %0, %1, %2"                                                    \
                         : "=r"(result)                                                                      \
                         : "r"(croft_constant), "r"(global)                                                  \
                         : "memory");                                                                        \
    } while (0)

/* Adds the map with these parameters and returns a pointer to its first element. */
CROFT_SIMT_INLINE void *croft_stash_open_tile(uint64_t stash_base, uint64_t global_base, uint64_t field_size,
                                              uint64_t object_size, uint64_t row_size, uint64_t stride_size,
                                              uint64_t strides, uint64_t coherent,
                                              const struct croft_stash_site *site)
{
    const uint32_t entries = croft_stash_entries();
    uint64_t index;
    if (entries && stash_base == 0 && __builtin_constant_p(field_size) && __builtin_constant_p(object_size) &&
        __builtin_constant_p(row_size) && __builtin_constant_p(stride_size) &&
        __builtin_constant_p(strides) && __builtin_constant_p(coherent)) {
        CROFT_STASH_ADD_CONSTANT(index, global_base, field_size, object_size, row_size, stride_size, strides,
                                 coherent);
    } else {
        const struct croft_stash_map tile = {.stash_base = stash_base,
                                             .global_base = global_base,
                                             .field_size = field_size,
                                             .object_size = object_size,
                                             .row_size = row_size,
                                             .stride_size = stride_size,
                                             .strides = strides,
                                             .coherent = coherent};
        index = croft_stash_operate(entries, 0, &tile, 0, site);
    }
    return croft_stash_at(stash_base, index, entries);
}

#endif
