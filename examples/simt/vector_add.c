/* Vector add: sum[i] = a[i] + b[i], with a grid that is smaller than the vectors. */
#include "kernel.h"

enum { BLOCK = 256, BLOCKS = 16 };

struct add {
    const float *a, *b;
    float *sum;
    long count;
};

static void add(const struct add *p)
{
    const float *a = p->a, *b = p->b;
    float *sum = p->sum;
    long step = (long)thread_count(), count = p->count;
    for (long i = (long)thread_id(); i < count; i += step)
        sum[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
    long count = kernel_size(argc, argv, 65536, 1, 1 << 24, 1);
    float *a = kernel_memory(count, sizeof *a), *b = kernel_memory(count, sizeof *b);
    float *sum = kernel_memory(count, sizeof *sum);
    kernel_fill(a, count, 1);
    kernel_fill(b, count, 2);

    struct add arguments = {a, b, sum, count};
    croft_roi_begin("vector_add");
    KERNEL_RUN(add, &arguments, simt_dim(BLOCKS), simt_dim(BLOCK));
    croft_roi_end("vector_add");

    int correct = 1;
    for (long i = 0; i < count; i++)
        correct = correct && sum[i] == a[i] + b[i];
    return kernel_report("vector_add", count, sum, (size_t)count * sizeof *sum, correct);
}
