/* A kernel whose block begins with loads of the kernel's arguments, for tests/tom/tom.sh. Prints a digest of what the threads have
 * computed; the same under qemu-riscv64. */
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 1024, ROWS = 12 };

struct arguments {
    const uint32_t *rows, *factors;
    uint32_t *result;
};

static void columns(const struct arguments *p)
{
    const uint64_t t = thread_id();
    const uint32_t *rows = p->rows + t, *factors = p->factors;
    uint32_t sum = 0;
    for (int i = 0; i < ROWS; i++)
        sum += rows[i * THREADS] * factors[i];
    p->result[t] = sum;
}

int main(void)
{
    uint32_t *rows = aligned_alloc(4096, ROWS * THREADS * sizeof *rows), factors[ROWS], digest = 0;
    uint32_t *result = aligned_alloc(4096, THREADS * sizeof *result);
    struct arguments p = {rows, factors, result};
    for (uint32_t i = 0; i < ROWS * THREADS; i++)
        rows[i] = i * 2654435761u;
    for (uint32_t i = 0; i < ROWS; i++)
        factors[i] = i + 1;
    simt_launch(columns, &p, simt_dim(THREADS / 64), simt_dim(64));
    simt_wait(0);
    for (uint32_t t = 0; t < THREADS; t++)
        digest = digest * 31 + result[t];
    printf("%08x\n", digest);
    return 0;
}
