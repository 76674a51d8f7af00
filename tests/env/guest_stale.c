/* For machines with accelerators, in machine mode: an accelerator loads a line that is modified in the host's
 * cache. */
#include <croft/firmware/hart.h>
#include <stdint.h>
#include <stdio.h>

static volatile uint64_t shared[64];

static void look(void *argument)
{
    (void)argument;
    (void)shared[32];
}

int main(void)
{
    shared[32] = 1;
    puts("before");
    (void)hart_start(1, look, NULL);
    hart_wait(1);
    puts("after");
    return 0;
}
