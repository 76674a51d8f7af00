/* A recursion that overflows the stack of hart HART. FRAME: bytes of a frame; DYNAMIC: its size is known at run time only. Other
 * harts find their locals as they were. */
#include <croft/firmware/hart.h>
#include <stdio.h>

#ifndef FRAME
#define FRAME 4096
#endif

static volatile unsigned ready;

static int recurse(volatile int *above, int depth);
static int (*volatile again)(volatile int *above,
                             int depth) = recurse; /* the compiler must not merge frames */

static int recurse(volatile int *above, int depth)
{
#ifdef DYNAMIC
    static volatile unsigned long size = FRAME;
    volatile char *frame = __builtin_alloca(size);
#else
    volatile char frame[FRAME];
#endif
    frame[0] = (char)depth;
    return again((volatile int *)frame, depth + 1) + frame[0] + *above;
}

/* The stack below this hart's is that of hart HART. */
static void look(void *argument)
{
    volatile unsigned long local[64];
    (void)argument;
    for (unsigned i = 0; i < 64; i++)
        local[i] = hart_id();
    __atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
    for (;;)
        for (unsigned i = 0; i < 64; i++)
            if (local[i] != hart_id())
                puts("a local variable has changed");
}

static void overflow(void *argument)
{
    int zero = 0;
    (void)argument;
    (void)recurse(&zero, 0);
}

int main(void)
{
    printf("%u harts\n", hart_count());
    for (unsigned hart = 1; hart < hart_count(); hart++)
        if (hart != HART)
            (void)hart_start(hart, look, NULL);
    while (ready + (HART != 0) + 1 < hart_count())
        continue;
    if (HART == 0)
        overflow(NULL);
    (void)hart_start(HART, overflow, NULL);
    for (;;)
        continue;
}
