/* A host that waits for a kernel, which a debugger ends, and which then offloads a region. */
#include <croft/nucd.h>
#include <croft/simt.h>
#include <stdio.h>

static volatile int stop;

static struct wait {
    long values[64];
} _Alignas(4096) data;

CROFT_REGION(fill, CROFT_INOUT(long *, to, 512), CROFT_VALUE(long, value))
{
    for (int i = 0; i < 64; i++)
        to[i] += value; /* in the region */
}

static void spin(struct wait *w)
{
    while (!stop)
        simt_pause();
    if (thread_x() == 3)
        fill(w->values, 3);
}

int main(void)
{
    puts("corner");
    (void)fflush(stdout);
    if (simt_launch(spin, &data, simt_dim(1), simt_dim(4)) != 1)
        return 1;
    if (simt_wait(0) < 0) {
        perror("simt_wait");
        return 2;
    }
    printf("last %ld\n", data.values[63]);
    return 0;
}
