/* Implicit: a kernel updates one field of each object, then the hosts read it. The argument is the number of objects. */
#include "micro.h"

enum { THREADS = 128, EACH = 512 /* objects of a block */ };

struct implicit {
    struct object *objects;
    struct croft_stash_map *maps; /* of each block */
};

CONFIG_INLINE void implicit(const struct implicit *p, enum config config)
{
    const struct team team = team_of(thread_x(), THREADS);
    const struct tile tile = micro_tile(p->objects, (long)block_x() * EACH, EACH, 0);
    const struct croft_stash_map *map = &p->maps[block_x()];
    const struct view view = view_open(config, LOCAL, READ_WRITE, tile, map, team);
    for (uint32_t i = team.thread; i < EACH; i += THREADS)
        VIEW(uint32_t, view, 0, i) = micro_compute(VIEW(uint32_t, view, 0, i));
    view_close(config, LOCAL, tile, map, team);
}
CONFIG_KERNELS(implicit, const struct implicit, implicit)

static long once(long i, long size)
{
    (void)i;
    (void)size;
    return 1;
}

int main(int argc, char **argv)
{
    const enum config config = config_argument(&argc, &argv);
    const long count = kernel_size(argc, argv, 16384, EACH, 1 << 20, EACH);
    struct implicit p = {micro_objects(count), kernel_array(count / EACH, sizeof *p.maps)};
    for (long b = 0; b < count / EACH; b++)
        p.maps[b] = tile_map(micro_tile(p.objects, b * EACH, EACH, 0));
    croft_roi_begin("implicit");
    implicit_run(config, &p, simt_dim((uint32_t)(count / EACH)), simt_dim(THREADS), EACH * 4);
    const uint64_t sum = micro_sum(p.objects, count);
    croft_roi_end("implicit");
    return micro_report("implicit", count, p.objects, count, sum, once);
}
