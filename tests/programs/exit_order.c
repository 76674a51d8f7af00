/* exit(): handlers run last first, may register more, buffered output is written, the status is cut to 8
 * bits. */
#include <stdio.h>
#include <stdlib.h>

static int order;

static void say(const char *name)
{
    printf("%d: %s\n", ++order, name);
}

static void first(void)
{
    say("registered first");
}
static void late(void)
{
    say("registered by a handler");
}
static void second(void)
{
    say("registered second");
    atexit(late);
}
static void third(void)
{
    say("registered third");
}

__attribute__((destructor)) static void at_destruction(void)
{
    say("destructor");
}

int main(void)
{
    atexit(first);
    atexit(second);
    for (int i = 0; i < 40; i++)
        atexit(third);
    FILE *file = fopen("unflushed.txt", "w");
    fprintf(file, "written at exit\n");
    printf("no newline at the end of main");
    fprintf(stderr, "status 0x1a5\n");
    putchar('\n');
    exit(0x1a5);
}
