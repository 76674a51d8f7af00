/* A jump outside the program's memory ends the program as a signal would. */
#include <stdio.h>

int main(void)
{
    void (*volatile nowhere)(void) = (void (*)(void))0x40;
    printf("before\n");
    fflush(stdout);
    nowhere();
    printf("after\n");
    return 0;
}
