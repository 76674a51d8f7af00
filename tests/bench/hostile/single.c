/* Blocks of one instruction. */
#include <stdio.h>
#include <stdlib.h>

void single(void);

/* 8,192 jumps, each to the one before it, so that no block goes on past its jump. */
__asm__(".text\n"
        ".option push\n"
        ".option norvc\n"
        ".globl single\n"
        "single:\n"
        "    j 2f\n"
        "1:  ret\n"
        "    .rept 8192\n"
        "    j . - 4\n"
        "    .endr\n"
        "2:  j . - 4\n"
        ".option pop\n");

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 60000;
    for (unsigned round = 0; round < rounds; round++)
        single();
    printf("single %u\n", rounds);
    return 0;
}
