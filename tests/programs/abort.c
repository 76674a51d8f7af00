/* abort(): what was flushed before remains, the status says that the program died. */
#include <stdio.h>
#include <stdlib.h>

static void never(void)
{
    printf("an exit handler ran\n");
}

int main(void)
{
    atexit(never);
    for (int i = 0; i < 5; i++)
        printf("line %d before the end\n", i);
    fflush(stdout);
    abort();
}
