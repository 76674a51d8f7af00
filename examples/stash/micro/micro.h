/* What the four microbenchmarks share: an array of structures of which kernels use one field, and hosts that read it
 * afterwards. */
#ifndef EXAMPLES_STASH_MICRO_H
#define EXAMPLES_STASH_MICRO_H

#include "../config.h"

#include <croft/threads.h>

/* Fields of 4 bytes of an object. The paper does not give their number. With 16, an object is a line, so that each access of a
 * field takes a clock of the memory pipeline in every configuration (examples/papers/stash/README.md). */
#ifndef MICRO_FIELDS
#define MICRO_FIELDS 4
#endif

enum {
    THREADS = 128, /* of a block */
    EACH = 512,    /* objects of a block */
    FIELDS = MICRO_FIELDS,
    HOSTS = 15, /* of the paper's system beside one multiprocessor */
    FIELD = 3,  /* the one that kernels use */
};
_Static_assert(FIELD < FIELDS, "an object has the field that kernels use");

struct object {
    uint32_t field[FIELDS];
};

static inline struct object *micro_objects(long count)
{
    struct object *objects = kernel_array(count, sizeof *objects);
    for (long i = 0; i < count; i++)
        for (int f = 0; f < FIELDS; f++)
            objects[i].field[f] = (uint32_t)(i * FIELDS + f);
    return objects;
}

/* What kernels do with a field. */
CONFIG_INLINE uint32_t micro_compute(uint32_t value)
{
    return value * 3 + 1;
}

/* The tile of FIELD in `count` objects from objects[first] on. */
CONFIG_INLINE struct tile micro_tile(struct object *objects, long first, uint32_t count, uint32_t local)
{
    return (struct tile){.global = &objects[first].field[FIELD],
                         .local = local,
                         .objects = count,
                         .object_size = sizeof(struct object),
                         .rows = 1};
}

/* The objects of a kernel whose blocks have a map each. */
struct micro {
    struct object *objects;
    struct croft_stash_map *maps; /* of each block */
};

CONFIG_INLINE struct tile micro_tile_of(const struct micro *p, uint32_t block)
{
    return micro_tile(p->objects, (long)block * EACH, EACH, 0);
}

static inline struct micro micro_new(long count)
{
    const struct micro p = {micro_objects(count), kernel_array(count / EACH, sizeof *p.maps)};
    for (uint32_t b = 0; b < count / EACH; b++)
        p.maps[b] = tile_map(micro_tile_of(&p, b));
    return p;
}

/* A kernel: computes FIELD of each object once. */
CONFIG_INLINE void micro_update(const struct micro *p, enum config config)
{
    const struct team team = team_of(thread_x(), THREADS);
    const struct tile tile = micro_tile_of(p, block_x());
    const struct croft_stash_map *map = &p->maps[block_x()];
    const struct view view = view_open(config, LOCAL, READ_WRITE, tile, map, team);
    for (uint32_t i = team.thread; i < EACH; i += THREADS)
        VIEW(uint32_t, view, 0, i) = micro_compute(VIEW(uint32_t, view, 0, i));
    view_close(config, LOCAL, tile, map, team);
}

/* One host's share of the objects. */
struct micro_share {
    struct croft_thread thread;
    const struct object *objects;
    long count;
    uint64_t sum;
};

static void micro_add(void *argument)
{
    struct micro_share *share = argument;
    uint64_t sum = 0;
    for (long i = 0; i < share->count; i++)
        sum += share->objects[i].field[FIELD];
    share->sum = sum;
}

/* Returns the sum of FIELD, computed on all hosts that the machine has, up to 15. */
static uint64_t micro_sum(const struct object *objects, long count)
{
    static struct micro_share shares[HOSTS];
    uint64_t sum = 0;
    for (long h = 0; h < HOSTS; h++) {
        const long from = count * h / HOSTS, to = count * (h + 1) / HOSTS;
        shares[h] = (struct micro_share){.objects = objects + from, .count = to - from};
    }
    for (int h = 1; h < HOSTS; h++)
        if (croft_thread_start(&shares[h].thread, micro_add, &shares[h]) != 0)
            micro_add(&shares[h]);
    micro_add(&shares[0]);
    for (int h = 0; h < HOSTS; h++) {
        if (h > 0)
            croft_thread_join(&shares[h].thread);
        sum += shares[h].sum;
    }
    return sum;
}

/* How often an object is computed that each kernel computes, by kernels that run once. */
static inline long micro_once(long i, long size)
{
    (void)i;
    (void)size;
    return 1;
}

/* Prints the result; returns the exit status. touched(i) is how often the kernels have computed object i. */
static inline int micro_report(const char *name, long size, const struct object *objects, long count,
                               uint64_t sum, long (*touched)(long i, long size))
{
    uint64_t expected = 0;
    int correct = 1;
    for (long i = 0; i < count; i++)
        for (int f = 0; f < FIELDS; f++) {
            uint32_t value = (uint32_t)(i * FIELDS + f);
            for (long times = f == FIELD ? touched(i, size) : 0; times > 0; times--)
                value = micro_compute(value);
            correct &= objects[i].field[f] == value;
            expected += f == FIELD ? value : 0;
        }
    return kernel_report(name, size, objects, (size_t)count * sizeof *objects, correct && sum == expected);
}

#endif
