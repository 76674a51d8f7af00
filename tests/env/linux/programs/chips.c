/* AxRAM's instructions in a program of Linux: how many chips there are. */
#include <croft/axram.h>
#include <stdio.h>

int main(void)
{
    printf("%lu chips\n", (unsigned long)croft_axram_query(CROFT_AXRAM_CHIPS));
    return 0;
}
