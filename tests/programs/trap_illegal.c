/* An instruction that does not exist ends the program as a signal would. */
#include <stdio.h>

int main(void)
{
    printf("before\n");
    fflush(stdout);
    __asm__ volatile(".2byte 0x0000");
    printf("after\n");
    return 0;
}
