/* What an offload costs: 40 one after the other, of the kind that the argument chooses. From the second on firmware is
 * warm, and the lines are clean. */
#include <croft/nucd.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 8, OFFLOADS = 40 };
static _Alignas(64) long in[4][WORDS], out[4][WORDS];

CROFT_REGION(one, CROFT_IN(const long *, a, 64), CROFT_OUT(long *, b, 64))
{
    b[0] = a[0] + 1;
}

CROFT_REGION(two, CROFT_IN(const long *, a, 64), CROFT_IN(const long *, b, 64), CROFT_OUT(long *, c, 64),
             CROFT_OUT(long *, d, 64))
{
    c[0] = a[0] + 1;
    d[0] = b[0] + 1;
}

CROFT_REGION(four, CROFT_IN(const long *, a, 64), CROFT_IN(const long *, b, 64),
             CROFT_IN(const long *, c, 64), CROFT_IN(const long *, d, 64), CROFT_OUT(long *, e, 64),
             CROFT_OUT(long *, f, 64), CROFT_OUT(long *, g, 64), CROFT_OUT(long *, h, 64))
{
    e[0] = a[0] + 1;
    f[0] = b[0] + 1;
    g[0] = c[0] + 1;
    h[0] = d[0] + 1;
}

int main(int argc, char **argv)
{
    int kind = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < OFFLOADS; i++) {
        if (kind == 1)
            one(in[0], out[0]);
        else if (kind == 2)
            two(in[0], in[1], out[0], out[1]);
        else
            four(in[0], in[1], in[2], in[3], out[0], out[1], out[2], out[3]);
        __asm__ volatile("fence" ::: "memory"); /* waits for the task */
    }
    printf("%ld %ld\n", out[0][0], out[3][0]);
    return 0;
}
