/* Pollution: a kernel reads and writes one field of two arrays of objects. A goes through local memory, each object once; B
 * goes through the cache, each object again and again. The argument is the number of A's objects. A is not used again before its
 * place in local memory is needed, and B fits into the cache unless A passes through it, too (section 5.4.1). */
#include "micro.h"

enum {
    BLOCKS = 8,               /* of a launch */
    SHARED = BLOCKS * THREADS /* objects of B */
};

struct small {
    uint32_t field[FIELD + 1];
};

struct pollution {
    struct object *a;
    struct small *b;
    struct croft_stash_map *maps; /* of each block: A, B */
    uint32_t first;               /* the launch's first block */
};

CONFIG_INLINE struct tile a_tile(const struct pollution *p, uint32_t block)
{
    return micro_tile(p->a, (long)block * EACH, EACH, 0);
}

/* Each block of a launch has its own objects of B. */
CONFIG_INLINE struct tile b_tile(const struct pollution *p, uint32_t block)
{
    return (struct tile){.global = &p->b[block % BLOCKS * THREADS].field[FIELD],
                         .local = EACH * 4,
                         .objects = THREADS,
                         .object_size = sizeof(struct small),
                         .rows = 1};
}

CONFIG_INLINE void pollution(const struct pollution *p, enum config config)
{
    /* With a DMA engine, too, B is in the cache (section 6.2). */
    const enum config config_b = config == SCRATCH_GD ? SCRATCH : config;
    const uint32_t block = p->first + block_x();
    const struct team team = team_of(thread_x(), THREADS);
    const struct tile tile_a = a_tile(p, block), tile_b = b_tile(p, block);
    const struct croft_stash_map *maps = &p->maps[2 * block];
    const struct view a = view_open(config, LOCAL, READ_WRITE, tile_a, maps, team);
    const struct view b = view_open(config_b, GLOBAL, READ_WRITE, tile_b, maps + 1, team);
    for (uint32_t i = team.thread; i < EACH; i += THREADS) {
        VIEW(uint32_t, a, 0, i) = micro_compute(VIEW(uint32_t, a, 0, i));
        VIEW(uint32_t, b, 0, team.thread) = micro_compute(VIEW(uint32_t, b, 0, team.thread));
    }
    view_close(config, LOCAL, tile_a, maps, team);
    view_close(config_b, GLOBAL, tile_b, maps + 1, team);
}
CONFIG_KERNELS(pollution, const struct pollution, pollution)

static int b_correct(const struct small *b, long count)
{
    for (long i = 0; i < SHARED; i++) {
        uint32_t value = (uint32_t)i;
        for (long times = 0; times < count / (EACH * BLOCKS) * (EACH / THREADS); times++)
            value = micro_compute(value);
        if (b[i].field[FIELD] != value)
            return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    const enum config config = config_argument(&argc, &argv);
    const long count = kernel_size(argc, argv, 6 * EACH * BLOCKS, EACH * BLOCKS, 1 << 20, EACH * BLOCKS);
    const uint32_t blocks = (uint32_t)(count / EACH);
    struct pollution p = {micro_objects(count), kernel_array(SHARED, sizeof *p.b),
                          kernel_array(2 * blocks, sizeof *p.maps), 0};
    _Static_assert(SHARED * sizeof(struct small) <= CONFIG_L1 &&
                       SHARED * sizeof(struct small) + EACH * BLOCKS * sizeof(struct object) > CONFIG_L1,
                   "B fits into the cache, but not beside a launch's objects of A");
    _Static_assert(EACH * BLOCKS * 4 >= CONFIG_LOCAL, "a launch replaces all of local memory");
    for (uint32_t i = 0; i < SHARED; i++)
        p.b[i].field[FIELD] = i;
    for (uint32_t b = 0; b < blocks; b++) {
        p.maps[2 * b] = tile_map(a_tile(&p, b));
        p.maps[2 * b + 1] = tile_map(b_tile(&p, b));
    }
    croft_roi_begin("pollution");
    for (; p.first < blocks; p.first += BLOCKS)
        pollution_run(config, &p, simt_dim(BLOCKS), simt_dim(THREADS), (EACH + THREADS) * 4);
    const uint64_t sum = micro_sum(p.a, count);
    croft_roi_end("pollution");
    const int bad = micro_report("pollution", count, p.a, count, sum, micro_once);
    return bad | kernel_report("pollution, B", count, p.b, SHARED * sizeof *p.b, b_correct(p.b, count));
}
