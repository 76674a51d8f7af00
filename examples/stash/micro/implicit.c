/* Implicit: a kernel updates one field of each object, then the hosts read it. The argument is the number of objects. */
#include "micro.h"

CONFIG_KERNELS(implicit, const struct micro, micro_update)

int main(int argc, char **argv)
{
    const enum config config = config_argument(&argc, &argv);
    const long count = kernel_size(argc, argv, 16384, EACH, 1 << 20, EACH);
    const struct micro p = micro_new(count);
    croft_roi_begin("implicit");
    implicit_run(config, &p, simt_dim((uint32_t)(count / EACH)), simt_dim(THREADS), EACH * 4);
    const uint64_t sum = micro_sum(p.objects, count);
    croft_roi_end("implicit");
    return micro_report("implicit", count, p.objects, count, sum, micro_once);
}
