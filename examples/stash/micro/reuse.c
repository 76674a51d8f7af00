/* Reuse: launches compute the same field of the same objects, whose fields fit into local memory, but whose lines do not
 * fit into the cache (section 5.4.1). The argument is the number of objects. */
#include "micro.h"

/* The paper does not give their number. */
#ifndef REUSE_LAUNCHES
#define REUSE_LAUNCHES 10
#endif

enum { LAUNCHES = REUSE_LAUNCHES };

CONFIG_KERNELS(reuse, const struct micro, micro_update)

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
    const struct micro p = micro_new(count);
    config_condition(count * 4 <= CONFIG_LOCAL && count * CONFIG_LINE > CONFIG_L1,
                     "fields fit into 16 KiB, their lines do not fit into 32 KiB");
    croft_roi_begin("reuse");
    for (int i = 0; i < LAUNCHES; i++)
        reuse_run(config, &p, simt_dim((uint32_t)(count / EACH)), simt_dim(THREADS), EACH * 4);
    const uint64_t sum = micro_sum(p.objects, count);
    croft_roi_end("reuse");
    return micro_report("reuse", count, p.objects, count, sum, always);
}
