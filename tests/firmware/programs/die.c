/* A trap without handler: a message, and the status of the signal that a C programmer expects. */
#include <stdio.h>

int main(void)
{
    printf("before\n");
    *(volatile int *)0x08000000 = 1;
    printf("behind\n");
    return 0;
}
