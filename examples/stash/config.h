/* The memory configurations of the stash paper (section 5.3), for kernels that are written once.
 *
 * A kernel is an inline function of its argument and a configuration. CONFIG_KERNELS makes one kernel for each
 * configuration from it, in which nothing tests the configuration; --config NAME chooses one at launch. Data that the kernel
 * uses are tiles (rows of 4-byte fields of objects), reached through views: view_open() copies, loads, maps or does nothing, as
 * the configuration has it, and view_close() brings back what was stored. */
#ifndef EXAMPLES_STASH_CONFIG_H
#define EXAMPLES_STASH_CONFIG_H

#include "../simt/kernel.h"

#include <croft/dma.h>
#include <croft/stash.h>

enum config { SCRATCH, SCRATCH_G, SCRATCH_GD, CACHE, STASH, STASH_G, CONFIGS };
static const char *const config_names[CONFIGS] = {"Scratch", "ScratchG", "ScratchGD",
                                                  "Cache",   "Stash",    "StashG"};

/* Where a scratchpad application has data. The configurations whose names have a G take GLOBAL data to local memory, too. */
enum place { LOCAL, GLOBAL };
enum usage { READ = 1, WRITE = 2, READ_WRITE = 3 };

/* How a configuration reaches data. */
enum method { IN_GLOBAL, BY_COPY, BY_DMA, BY_MAP };

#define CONFIG_INLINE static inline __attribute__((always_inline, unused))

CONFIG_INLINE enum method config_method(enum config config, enum place place)
{
    if (config == CACHE || (place == GLOBAL && (config == SCRATCH || config == STASH)))
        return IN_GLOBAL;
    return config == SCRATCH_GD ? BY_DMA : config == STASH || config == STASH_G ? BY_MAP : BY_COPY;
}

/* A tile in global memory, and where it lies in local memory if it does. */
struct tile {
    void *global;         /* the first field */
    uint32_t local;       /* bytes, a multiple of 64 */
    uint32_t objects;     /* in a row */
    uint32_t object_size; /* bytes from one object to the next */
    uint32_t rows;
    uint32_t stride_size; /* bytes from one row to the next */
    uint32_t noncoherent; /* 1: stores to it are temporary, in local memory */
};

/* Returns the descriptor of a tile. The host fills a table with those of all blocks, so that kernels do not compute them. */
CONFIG_INLINE struct croft_stash_map tile_map(struct tile tile)
{
    return croft_stash_tile(tile.local, (uint32_t *)tile.global, .objects = tile.objects,
                            .object_size = tile.object_size, .rows = tile.rows,
                            .stride_size = tile.stride_size, .noncoherent = tile.noncoherent);
}

/* Returns the bytes of local memory of a tile. */
CONFIG_INLINE uint32_t tile_room(uint32_t objects, uint32_t rows)
{
    return (objects * rows * 4 + CROFT_STASH_CHUNK - 1) / CROFT_STASH_CHUNK * CROFT_STASH_CHUNK;
}

/* A tile as a kernel sees it. */
struct view {
    char *first;
    uint32_t object, row; /* bytes from one field to the next, and from one row to the next */
};

/* A block's threads: the caller's number, and how many there are; and what views of local memory need, read once. */
struct team {
    uint32_t thread, threads;
    uint32_t entries; /* croft_stash_entries() */
    char *local;      /* simt_shared() */
};

CONFIG_INLINE struct team team_of(uint32_t thread, uint32_t threads)
{
    return (struct team){thread, threads, croft_stash_entries(), simt_shared()};
}

/* The field of an object, of the given type. */
#define VIEW(type, view, y, x)                                                                               \
    (*(type *)((view).first + (uint64_t)(y) * (view).row + (uint64_t)(x) * (view).object))

/* Returns the view whose first field is a given one. Its address stays in a register, and fields at constant distances from it
 * are accessed by the distance; else the compiler keeps the distances of all fields from views that change, on the stack. */
CONFIG_INLINE struct view view_at(struct view view, long y, long x)
{
    char *first = &VIEW(char, view, y, x);
    __asm__("" : "+r"(first));
    return (struct view){first, view.object, view.row};
}

/* Returns the view from the next row on. */
CONFIG_INLINE struct view view_below(struct view view)
{
    char *first = view.first + view.row;
    if (!__builtin_constant_p(view.row))
        __asm__("" : "+r"(first));
    return (struct view){first, view.object, view.row};
}

CONFIG_INLINE struct view view_global(struct tile tile)
{
    return (struct view){tile.global, tile.object_size, tile.stride_size};
}

CONFIG_INLINE struct view view_local(struct tile tile, void *first)
{
    return (struct view){first, 4, tile.objects * 4};
}

/* Fields have types of their own. */
typedef uint32_t view_word __attribute__((may_alias));

/* Returns the row of field i; i * objects < 2^32. The compiler divides by constants with an instruction for divisions, which takes
 * as long as eight others on a GPU. */
CONFIG_INLINE uint32_t tile_row(struct tile tile, uint32_t i)
{
    if (tile.rows == 1)
        return 0;
    if (__builtin_constant_p(tile.objects))
        return (uint32_t)(i * ((UINT64_C(1) << 32) / tile.objects + 1) >> 32);
    return i / tile.objects;
}

/* Fields that a copying thread loads before it stores the first of them. */
#ifndef CONFIG_BATCH
#define CONFIG_BATCH 1
#endif

/* Copies fields of an object in every step-th row from `first` on. */
CONFIG_INLINE void view_copy_column(struct view to, struct view from, uint32_t first, uint32_t rows,
                                    uint32_t step, uint32_t object)
{
    uint32_t row = first;
    for (; CONFIG_BATCH > 1 && row + (CONFIG_BATCH - 1) * step < rows; row += CONFIG_BATCH * step) {
        view_word values[CONFIG_BATCH];
#pragma GCC unroll 16
        for (uint32_t i = 0; i < CONFIG_BATCH; i++)
            values[i] = VIEW(view_word, from, row + i * step, object);
#pragma GCC unroll 16
        for (uint32_t i = 0; i < CONFIG_BATCH; i++)
            VIEW(view_word, to, row + i * step, object) = values[i];
    }
    for (; row < rows; row += step)
        VIEW(view_word, to, row, object) = VIEW(view_word, from, row, object);
}

/* Each thread copies every threads-th field, so that a warp's accesses are adjacent. If its fields are of one column, it finds
 * them without a division, as a kernel does that is written by hand. */
CONFIG_INLINE void view_copy(struct view to, struct view from, struct tile tile, struct team team)
{
    const int one = __builtin_constant_p(tile.rows) && tile.rows == 1;
    if (!one && __builtin_constant_p(team.threads % tile.objects) && team.threads % tile.objects == 0) {
        const uint32_t step = team.threads / tile.objects, first = step > 1 ? team.thread / tile.objects : 0;
        const uint32_t object = team.thread - first * tile.objects;
        view_copy_column(to, from, first, tile.rows, step, object);
        return;
    }
    for (uint32_t i = team.thread; i < tile.objects * tile.rows; i += team.threads) {
        const uint32_t row = tile_row(tile, i), object = i - row * tile.objects;
        VIEW(view_word, to, row, object) = VIEW(view_word, from, row, object);
    }
}

/* Returns the view of a map's tile. The compiler would add the parts of its address again for each access. */
CONFIG_INLINE struct view view_mapped(struct tile tile, uint64_t index, struct team team)
{
    const uint64_t selector = team.entries ? (index + 1) << CROFT_STASH_SELECTOR_BIT : 0;
    char *first = team.local + tile.local + selector;
    __asm__("" : "+r"(first));
    return view_local(tile, first);
}

/* Makes a tile accessible. `map` is its descriptor. Copies are complete for all threads behind view_barrier(). */
CONFIG_INLINE struct view view_open(enum config config, enum place place, enum usage usage, struct tile tile,
                                    const struct croft_stash_map *map, struct team team)
{
    const enum method method = config_method(config, place);
    const struct view local = view_local(tile, team.local + tile.local);
    if (method == IN_GLOBAL)
        return view_global(tile);
    if (method == BY_MAP)
        return view_mapped(tile, croft_stash_operate(team.entries, 0, map, 0, CROFT_STASH_SITE), team);
    if (method == BY_COPY && usage & READ)
        view_copy(local, view_global(tile), tile, team);
    if (method == BY_DMA && usage & READ)
        croft_dma_load(map);
    return local;
}

/* The same for the next tile in the place of one that was only read or has been closed, behind a view_barrier(); `index` is
 * that of its map: the number of views that were opened BY_MAP before it. */
CONFIG_INLINE struct view view_next(enum config config, enum place place, enum usage usage, struct tile tile,
                                    const struct croft_stash_map *map, uint32_t index, struct team team)
{
    if (config_method(config, place) == BY_MAP) {
        (void)croft_stash_operate(team.entries, 1, map, index, CROFT_STASH_SITE);
        return view_mapped(tile, index, team); /* the same as before, if the tile lies in the same place */
    }
    return view_open(config, place, usage, tile, map, team);
}

/* Returns whether view_next() has waited for the block's threads, so that a kernel need not. */
CONFIG_INLINE int view_next_waits(enum config config, enum place place)
{
    return config_method(config, place) == BY_MAP;
}

/* Waits for the block's threads if they copy tiles themselves. It stands between copies and accesses of different threads to
 * the same fields; kernels whose threads use only what they have copied themselves need it not. */
CONFIG_INLINE void view_barrier(enum config config, enum place place)
{
    if (config_method(config, place) == BY_COPY)
        simt_barrier();
}

/* Brings stored fields to global memory. */
CONFIG_INLINE void view_close(enum config config, enum place place, struct tile tile,
                              const struct croft_stash_map *map, struct team team)
{
    const enum method method = config_method(config, place);
    if (method == BY_COPY)
        view_copy(view_global(tile), view_local(tile, team.local + tile.local), tile, team);
    if (method == BY_DMA)
        croft_dma_store(map);
}

/* Memory for values that are discarded: local, but for configuration Cache, which has it at `global`. */
CONFIG_INLINE void *config_temporary(enum config config, uint32_t local, void *global)
{
    return config == CACHE ? global : (char *)simt_shared() + local;
}

/* Defines kernels NAME_Scratch to NAME_StashG of `body`, an always_inline void body(const type *, enum config), and
 * NAME_run(), which runs one of them to its end. */
#define CONFIG_KERNEL(name, type, body, config, suffix)                                                      \
    static void name##_##suffix(type *p)                                                                     \
    {                                                                                                        \
        body(p, config);                                                                                     \
    }
#define CONFIG_KERNELS(name, type, body)                                                                     \
    CONFIG_KERNEL(name, type, body, SCRATCH, Scratch)                                                        \
    CONFIG_KERNEL(name, type, body, SCRATCH_G, ScratchG)                                                     \
    CONFIG_KERNEL(name, type, body, SCRATCH_GD, ScratchGD)                                                   \
    CONFIG_KERNEL(name, type, body, CACHE, Cache)                                                            \
    CONFIG_KERNEL(name, type, body, STASH, Stash)                                                            \
    CONFIG_KERNEL(name, type, body, STASH_G, StashG)                                                         \
    static void name##_run(enum config config, type *p, struct simt_dim grid, struct simt_dim block,         \
                           uint32_t scratchpad)                                                              \
    {                                                                                                        \
        const uint64_t entries[CONFIGS] = {simt_entry(name##_Scratch),   simt_entry(name##_ScratchG),        \
                                           simt_entry(name##_ScratchGD), simt_entry(name##_Cache),           \
                                           simt_entry(name##_Stash),     simt_entry(name##_StashG)};         \
        if (croft_simt_launch(entries[config], p, grid, block,                                               \
                              (struct simt_options){.scratchpad = config == CACHE ? 0 : scratchpad}) < 0 ||  \
            simt_wait(0) != 0) {                                                                             \
            perror("launch");                                                                                \
            exit(1);                                                                                         \
        }                                                                                                    \
    }

/* Takes --config NAME off the front of the arguments; the default is Stash. */
static inline enum config config_argument(int *argc, char ***argv)
{
    int config = STASH;
    if (*argc >= 2 && strcmp((*argv)[1], "--config") == 0) {
        for (config = 0; config < CONFIGS; config++)
            if (*argc >= 3 && strcmp((*argv)[2], config_names[config]) == 0)
                break;
        if (config == CONFIGS) {
            fprintf(stderr, "%s: --config is one of Scratch, ScratchG, ScratchGD, Cache, Stash and StashG\n",
                    (*argv)[0]);
            exit(2);
        }
        (*argv)[2] = (*argv)[0];
        *argc -= 2;
        *argv += 2;
    }
    return (enum config)config;
}

/* Ends the program unless a size is a multiple. */
static inline void config_multiple(long size, long step)
{
    if (size % step == 0)
        return;
    fprintf(stderr, "%ld is no multiple of %ld\n", size, step);
    exit(2);
}

/* Ends the program unless a condition of the paper's section 5.4.1 holds. */
static inline void config_condition(int holds, const char *condition)
{
    if (holds)
        return;
    fprintf(stderr, "this size is not what section 5.4.1 of the paper describes: %s\n", condition);
    exit(2);
}

/* Sizes of the paper's table 2, in bytes. */
enum { CONFIG_LOCAL = 16 * 1024, CONFIG_L1 = 32 * 1024, CONFIG_LINE = 64 };

#endif
