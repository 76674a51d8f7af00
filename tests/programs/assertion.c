/* A failing assert names the expression on standard error and aborts. */
#include <assert.h>
#include <stdio.h>

static int checked_index(int index, int size)
{
    assert(index < size);
    return index * 2;
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < 10; i++)
        printf("%d -> %d\n", i, checked_index(i, 7));
    return 0;
}
