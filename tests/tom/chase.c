/* A thread that follows pointers, for tests/tom/tom.sh: chase LAYOUT COUNT. The nodes lie in one row of each vault of a stack.
 * Layouts: `near`: all of them in one stack; `far`: the first one is in another stack than the rest. Prints the last node's
 * number. */
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME = 256 << 10, STEP = 512, LINE = 128, WARM = 32 };

struct node {
    struct node *next;
};

struct arguments {
    struct node *first, *last;
    long count;
};

static __attribute__((noinline)) struct node *walk(struct node *node, long count)
{
    do
        node = node->next;
    while (--count > 0);
    return node;
}

static void chase(struct arguments *p)
{
    p->last = walk(p->first, p->count);
}

static struct node *at(char *frame, long i)
{
    return (struct node *)(frame + i % (FRAME / STEP) * STEP);
}

int main(int argc, char **argv)
{
    struct arguments *p = calloc(1, sizeof *p);
    char *frame = aligned_alloc(FRAME, FRAME);
    if (argc < 3)
        return 2;
    p->count = strtol(argv[2], NULL, 10);
    memset(frame, 0, FRAME);
    for (long i = 0; i < p->count; i++)
        at(frame, i)->next = at(frame, i + 1);
    p->first = at(frame, 0);
    if (strcmp(argv[1], "far") == 0) {
        p->first = (struct node *)((char *)at(frame, 0) + LINE);
        p->first->next = at(frame, 1);
    }
    simt_launch(chase, p, simt_dim(1), simt_dim(1));
    simt_wait(0);
    printf("%ld\n", (long)((char *)p->last - frame) / STEP);
    return 0;
}
