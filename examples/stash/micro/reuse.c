/* Reuse: ten launches compute the same field of the same objects, whose fields fit into local memory, but whose lines do not
 * fit into the cache (section 5.4.1). The argument is the number of objects. */
#include "micro.h"

enum { THREADS = 128, EACH = 512, LAUNCHES = 10 };

struct reuse {
    struct object *objects;
    struct croft_stash_map *maps; /* of each block */
};

CONFIG_INLINE void reuse(const struct reuse *p, enum config config)
{
    const struct team team = team_of(thread_x(), THREADS);
    const struct tile tile = micro_tile(p->objects, (long)block_x() * EACH, EACH, 0);
    const struct croft_stash_map *map = &p->maps[block_x()];
    const struct view view = view_open(config, LOCAL, READ_WRITE, tile, map, team);
    for (uint32_t i = team.thread; i < EACH; i += THREADS)
        VIEW(uint32_t, view, 0, i) = micro_compute(VIEW(uint32_t, view, 0, i));
    view_close(config, LOCAL, tile, map, team);
}
CONFIG_KERNELS(reuse, const struct reuse, reuse)

static long always(long i, long size)
{
    (void)i;
    (void)size;
    return LAUNCHES;
}

int main(int argc, char **argv)
{
    const enum config config = config_argument(&argc, &argv);
    const long count = kernel_size(argc, argv, 4096, EACH, 1 << 20, EACH);
    struct reuse p = {micro_objects(count), kernel_array(count / EACH, sizeof *p.maps)};
    config_condition(count * 4 <= CONFIG_LOCAL && count * CONFIG_LINE > CONFIG_L1,
                     "fields fit into 16 KiB, their lines do not fit into 32 KiB");
    for (long b = 0; b < count / EACH; b++)
        p.maps[b] = tile_map(micro_tile(p.objects, b * EACH, EACH, 0));
    croft_roi_begin("reuse");
    for (int i = 0; i < LAUNCHES; i++)
        reuse_run(config, &p, simt_dim((uint32_t)(count / EACH)), simt_dim(THREADS), EACH * 4);
    const uint64_t sum = micro_sum(p.objects, count);
    croft_roi_end("reuse");
    return micro_report("reuse", count, p.objects, count, sum, always);
}
