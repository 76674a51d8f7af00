/* A load outside the program's memory ends the program as a signal would. */
#include <stdio.h>

int main(void)
{
    int *volatile nowhere = (int *)0x10;
    printf("before\n");
    fflush(stdout);
    printf("after %d\n", *nowhere);
    return 0;
}
