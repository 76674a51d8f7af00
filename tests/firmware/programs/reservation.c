/* Four harts add to one word by LR/SC loops as long as the ISA promises them progress: 16 instructions. */
#include <croft/firmware/hart.h>
#include <stdio.h>

enum { ROUNDS = 2000 };
static unsigned long total;

static void add(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned long value;
        __asm__ volatile("1: lr.d %0, (%1)\n"
                         "addi %0, %0, 14\n"
                         ".rept 12\naddi %0, %0, -1\n.endr\n"
                         "sc.d %0, %0, (%1)\n"
                         "bnez %0, 1b"
                         : "=&r"(value)
                         : "r"(&total)
                         : "memory");
    }
}

int main(void)
{
    for (unsigned hart = 1; hart < hart_count(); hart++)
        hart_start(hart, add, NULL);
    add(NULL);
    for (unsigned hart = 1; hart < hart_count(); hart++)
        hart_wait(hart);
    printf("total %lu\n", total);
    return total == 2ul * ROUNDS * hart_count() ? 0 : 1;
}
