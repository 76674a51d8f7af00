/* The smallest useful program, to measure start-up. */
#include <stdio.h>

int main(void)
{
    puts("hello");
    return 0;
}
