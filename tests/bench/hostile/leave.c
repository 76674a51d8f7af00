/* A hot loop that compiled code leaves in each turn, to write a CSR. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 60000000, sum = 0;
    for (unsigned long i = 0; i < rounds; i++) {
        unsigned long flags;
        __asm__ volatile("csrrwi %0, frm, 0" : "=r"(flags));
        sum += i ^ flags;
    }
    printf("leave %lu: %lu\n", rounds, sum);
    return 0;
}
