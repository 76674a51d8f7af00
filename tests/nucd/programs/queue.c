/* Sixteen tasks of 20,000 turns each: at least 20 us on an accelerator of 1 GHz. */
#include <croft/nucd.h>
#include <stdio.h>

static _Alignas(64) long lines[16 * 8];

CROFT_REGION(spin, CROFT_OUT(long *, line, 64), CROFT_VALUE(long, turns))
{
    for (long i = 0; i < turns; i++)
        __asm__ volatile("" : : "r"(i));
    line[0] = turns;
}

int main(void)
{
    long sum = 0;
    CROFT_FOR_TASKS(part, 16, 16, 1)
    spin(lines + 8 * part.first, 20000);
    for (long i = 0; i < 16; i++)
        sum += lines[8 * i];
    printf("%ld\n", sum);
}
