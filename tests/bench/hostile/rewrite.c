/* Rewrites a function between its calls: each round stores another constant into its code and executes FENCE.I. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY = 64, CALLS = 200 };

/* ADDI a0, a0, immediate */
static uint32_t add(uint32_t immediate)
{
    return immediate << 20 | 10u << 15 | 10u << 7 | 0x13;
}

int main(int argc, char **argv)
{
    static uint32_t code[BODY + 1] __attribute__((aligned(4096)));
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 20000;
    uint64_t (*function)(uint64_t);
    uint64_t sum = 0;
    for (unsigned i = 0; i < BODY; i++)
        code[i] = add(i);
    code[BODY] = 0x00008067; /* ret */
    memcpy(&function, &(void *){code}, sizeof function);
    for (unsigned round = 0; round < rounds; round++) {
        code[round % BODY] = add(round % 2000);
        __asm__ volatile("fence.i" ::: "memory");
        for (unsigned call = 0; call < CALLS; call++)
            sum = function(sum);
    }
    printf("rewrite %u: %llu\n", rounds, (unsigned long long)sum);
    return 0;
}
