/* A launch that goes on until a debugger ends it. */
#include <croft/simt.h>
#include <stdio.h>

static volatile int stop;
static int ended;

static void spin(int *end)
{
    while (!stop)
        simt_pause();
    *end = (int)thread_x() + 1;
}

int main(void)
{
    puts("corner");
    (void)fflush(stdout);
    if (simt_launch(spin, &ended, simt_dim(1), simt_dim(4)) != 1)
        return 1;
    printf("thread %d\n", ended);
    return 0;
}
