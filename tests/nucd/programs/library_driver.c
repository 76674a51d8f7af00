/* A region in CROFT_FOR_TASKS that calls the C library, without a system call. */
#include <croft/nucd.h>
#include <stdio.h>

static _Alignas(64) long out[8 * 8];

static __attribute__((noinline)) void spell(char *text, long n)
{
    snprintf(text, 8, "%ld", n);
}

CROFT_REGION(write, CROFT_OUT(long *, to, 64), CROFT_VALUE(long, n))
{
    char text[8];
    spell(text, n);
    to[0] = text[0];
}

int main(void)
{
    puts("before");
    fflush(stdout);
    CROFT_FOR_TASKS(part, 64, 8, 8)
    write(out + part.first, part.first);
    printf("%ld\n", out[8]);
    return 3;
}
