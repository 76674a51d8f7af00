/* Jumps to code that was never executed before: functions all over a large memory, by a computed address, and the memory again and
 * again with other functions. By default 10 GB of code in all. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 64 << 20, WORDS = BYTES / 4, STEP = 64 };

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 160;
    uint32_t *code = aligned_alloc(4096, BYTES);
    uint64_t sum = 0;
    if (!code)
        return 1;
    for (unsigned i = 0; i < WORDS; i += STEP) {
        code[i] = (i / STEP % 2000) << 20 | 10u << 15 | 10u << 7 | 0x13; /* ADDI a0, a0, i */
        code[i + 1] = 0x00008067;                                        /* ret */
    }
    for (unsigned round = 0; round < rounds; round++) {
        __asm__ volatile("fence.i" ::: "memory");
        for (unsigned i = 0; i < WORDS; i += STEP) {
            uint64_t (*function)(uint64_t);
            memcpy(&function, &(void *){code + (i * 2654435761u) % WORDS / STEP * STEP}, sizeof function);
            sum = function(sum);
        }
    }
    free(code);
    printf("targets %u: %llu\n", rounds, (unsigned long long)sum);
    return 0;
}
