/* A task whose region ends in a bad access, three calls deep. */
#include <croft/nucd.h>

__attribute__((noinline)) static long deeper(long depth)
{
    long found = depth == 0 ? *(volatile long *)16 : deeper(depth - 1);
    return found + depth;
}

CROFT_REGION(fault_far, CROFT_VALUE(long, depth))
{
    (void)deeper(depth);
}

int main(void)
{
    fault_far(2);
    return 0;
}
