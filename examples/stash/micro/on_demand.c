/* On-demand: a kernel computes one object of each 32, chosen while it runs. Copies and DMA bring all of them. The argument is
 * the number of objects. */
#include "micro.h"

enum { GROUP = 32 };

struct on_demand {
    struct micro of;
    uint32_t seed; /* decides which ones */
};

/* Returns whether object i is the one of its group (a multiplicative hash, Knuth). */
CONFIG_INLINE int is_chosen(uint32_t seed, uint32_t i)
{
    return (i / GROUP + seed) * 2654435769u >> 27 == i % GROUP;
}

CONFIG_INLINE void on_demand(const struct on_demand *p, enum config config)
{
    const struct team team = team_of(thread_x(), THREADS);
    const struct tile tile = micro_tile_of(&p->of, block_x());
    const struct croft_stash_map *map = &p->of.maps[block_x()];
    const struct view view = view_open(config, LOCAL, READ_WRITE, tile, map, team);
    for (uint32_t i = team.thread; i < EACH; i += THREADS)
        if (is_chosen(p->seed, block_x() * EACH + i))
            VIEW(uint32_t, view, 0, i) = micro_compute(VIEW(uint32_t, view, 0, i));
    view_close(config, LOCAL, tile, map, team);
}
CONFIG_KERNELS(on_demand, const struct on_demand, on_demand)

enum { SEED = 12345 };

static long chosen(long i, long size)
{
    (void)size;
    return is_chosen(SEED, (uint32_t)i);
}

int main(int argc, char **argv)
{
    const enum config config = config_argument(&argc, &argv);
    const long count = kernel_size(argc, argv, 16384, EACH, 1 << 20, EACH);
    const struct on_demand p = {micro_new(count), SEED};
    croft_roi_begin("on_demand");
    on_demand_run(config, &p, simt_dim((uint32_t)(count / EACH)), simt_dim(THREADS), EACH * 4);
    const uint64_t sum = micro_sum(p.of.objects, count);
    croft_roi_end("on_demand");
    return micro_report("on_demand", count, p.of.objects, count, sum, chosen);
}
