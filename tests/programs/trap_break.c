/* A breakpoint without a debugger ends the program as a signal would. */
#include <stdio.h>

int main(void)
{
    printf("before\n");
    fflush(stdout);
    __asm__ volatile("ebreak");
    printf("after\n");
    return 0;
}
