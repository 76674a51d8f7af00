/* Tiles of global memory that kernels copy into the scratchpad, or out of it, word by word: what maps of a stash replace (Komuravelli
 * et al., "Stash: Have Your Scratchpad and Cache It Too", ISCA 2015; isa/MANUAL.md, chapter Stash).
 *
 * A copy is a load from one memory and a store of exactly what it has loaded to the other. Both addresses are sums
 * (tiles/sums.h) of constants, values that all threads of the block have in common, thread coordinates and rounds of loops. The
 * scratchpad is what is relative to CSR sshared, and global memory what is not, nor relative to sp: pointers that are loaded
 * are trusted. Element n of the tile is at
 *
 *   stash_base + n * field_size          and         global_base + n / objects * stride_size + n % objects * object_size
 *
 * and n is a sum of coordinates and rounds. Either n / objects is computed by the code, and the equation is checked by
 * arithmetic on sums; or one group of coordinates and rounds counts objects and another one rows (the first is then taken to stay
 * below the row). How large n gets is taken from the branches on the way to the copy; without one, from the threads of a block.
 *
 * Words that different instructions copy are one tile if they are neighbours in both memories: then they make the field. */
#ifndef EMU_ANALYSIS_TILES_H
#define EMU_ANALYSIS_TILES_H

#include "emu/analysis/flow/function.h"
#include "emu/analysis/tiles/sums.h"

/* A parameter of a map. */
struct tile_parameter {
    int sum;         /* SUM_UNKNOWN: not inferred */
    int64_t divisor; /* the parameter is sum / divisor */
    bool assumed;    /* from the threads of a block */
};

struct tile_copy {
    int load, store; /* instructions of the graph */
    bool out;        /* to global memory */
    bool possible;
    char reason[160];                    /* why no map replaces it, if not possible */
    int where;                           /* the instruction that prevents it */
    int stash_base, global_base;         /* sums, without the address of the scratchpad */
    int64_t field_size;                  /* bytes */
    int object_size, stride_size;        /* sums; stride_size: if there are several rows */
    struct tile_parameter objects, rows; /* rows.sum is 1 if there is one row */
    int loop;                            /* the outermost loop whose rounds have other tiles, or -1 */
    unsigned words;                      /* copies that make the field */
};

/* A map that replaces one copy, or one in and one out. */
struct tile_map {
    const struct tile_copy *copy;     /* the parameters */
    const struct tile_copy *in, *out; /* or NULL */
    const struct tile_map *over;      /* one before it whose chunks it shares, or NULL */
    bool temporary; /* only copied in, and other stores change the tile: its map is not coherent */
};

struct tiles {
    const struct function *function;
    struct sums *sums;
    struct tile_copy *copies; /* by the address of the store */
    struct tile_map *maps;
    size_t count, map_count;
};

/* Looks at a function. Release the result with tiles_free(). */
struct tiles tiles_of(const struct function *function);
void tiles_free(struct tiles *tiles);

#endif
