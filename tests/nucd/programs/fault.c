/* Tasks of which one goes wrong, as the argument says. What was printed before is all that is seen. */
#include <croft/nucd.h>
#include <stdio.h>
#include <string.h>

enum { TASKS = 10, BAD = 5 };
static _Alignas(64) long y[8 * TASKS];

CROFT_REGION(work, CROFT_VALUE(long, number), CROFT_VALUE(long, bad), CROFT_OUT(long *, at, 64))
{
    at[0] = number;
    if (number != BAD)
        return;
    if (bad == 'l')
        at[1] = *(volatile long *)16;
    else if (bad == 's')
        *(volatile long *)16 = 1;
    else if (bad == 'i')
        __asm__ volatile("unimp");
    else if (bad == 'j')
        ((void (*)(void))16)();
    else if (bad == 'b')
        __asm__ volatile("ebreak");
    else if (bad == 'e')
        for (;;)
            __asm__ volatile("");
}

int main(int argc, char **argv)
{
    long bad = argc > 1 ? argv[1][0] : 0, sum = 0;
    printf("before\n");
    fflush(stdout);
    CROFT_FOR_TASKS(part, TASKS, TASKS, 1)
    work(part.first, bad, y + 8 * part.first);
    for (int i = 0; i < TASKS; i++)
        sum += y[8 * i];
    printf("sum %ld\n", sum);
    return 0;
}
