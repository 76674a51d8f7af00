/* Memory that moves between tasks. The kernel allocates addresses and memory from the top down. A block
 * without access needs no memory, so the block below it gets the highest memory. When both blocks have been
 * freed, a new block at the same addresses has other memory than accelerators have translated these addresses
 * to. The kernel must tell accelerators (isa/MANUAL.md, "Range-based translation"). With an argument, a region frees and takes the
 * memory: it, the next tasks and the host must find the new memory. */
#include <croft/nucd.h>
#include <stdio.h>

enum { SIZE = 64 * 1024, LINE = 64, ROUNDS = 3, TASKS = 8 };
enum { NOTHING = 0, READ_WRITE = 3 }; /* PROT_ */

struct line {
    _Alignas(LINE) long word[LINE / sizeof(long)];
};

static struct line result;

CROFT_REGION(copy, CROFT_IN(const struct line *, from, LINE), CROFT_OUT(struct line *, to, LINE))
{
    to->word[0] = from->word[0];
}

static long seen(const struct line *from)
{
    result.word[0] = -1;
    copy(from, &result);
    return result.word[0];
}

/* Calls Linux's mmap and munmap, for which the C library has no functions. */
static inline __attribute__((always_inline)) long call(long number, long first, long size, long access)
{
    register long a0 __asm__("a0") = first;
    register long a1 __asm__("a1") = size;
    register long a2 __asm__("a2") = access;
    register long a3 __asm__("a3") = 0x22; /* MAP_PRIVATE | MAP_ANONYMOUS */
    register long a4 __asm__("a4") = -1;
    register long a5 __asm__("a5") = 0;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7) : "memory");
    return a0;
}

static inline __attribute__((always_inline)) struct line *take(long size, long access)
{
    return (struct line *)call(222, 0, size, access);
}

static inline __attribute__((always_inline)) void give_back(struct line *block, long size)
{
    (void)call(215, (long)block, size, 0);
}

/* Returns the new memory, which is where the old one was, and stores the word that it finds there. */
CROFT_REGION_RETURNS(struct line *, replace, CROFT_VALUE(struct line *, high),
                     CROFT_VALUE(volatile struct line *, low), CROFT_VALUE(long, value),
                     CROFT_OUT(struct line *, found, LINE))
{
    low->word[0] = value;
    give_back(high, SIZE);
    give_back((struct line *)low, SIZE);
    volatile struct line *both = take(2 * SIZE, READ_WRITE);
    both->word[0] = value + 1;
    (both + SIZE / sizeof *both)->word[0] = value + 2;
    found->word[0] = both->word[0];
    return (struct line *)both;
}

static void replace_in_region(void)
{
    static struct line results[TASKS], found;
    for (long round = 1; round <= ROUNDS; round++) {
        struct line *high = take(SIZE, NOTHING), *low = take(SIZE, READ_WRITE);
        low->word[0] = round;
        for (int i = 0; i < TASKS; i++) /* accelerators translate the old memory */
            copy(low, &results[i]);
        struct line *both = replace(high, low, 10 * round, &found), *second = both + SIZE / sizeof *both;
        for (int i = 0; i < TASKS; i++)
            copy(both, &results[i]);
        printf("%ld %ld %ld:", found.word[0], both->word[0], second->word[0]);
        for (int i = 0; i < TASKS; i++)
            printf(" %ld", results[i].word[0]);
        printf("\n");
        give_back(both, 2 * SIZE);
    }
}

static void replace_on_host(void)
{
    for (long round = 1; round <= ROUNDS; round++) {
        struct line *high = take(SIZE, NOTHING), *low = take(SIZE, READ_WRITE);
        low->word[0] = 10 * round + 1;
        printf("alone: %ld\n", seen(low));
        give_back(high, SIZE);
        give_back(low, SIZE);
        struct line *both = take(2 * SIZE, READ_WRITE), *second = both + SIZE / sizeof *both;
        both->word[0] = 10 * round + 2;
        second->word[0] = 10 * round + 3;
        if (both != low || second != high)
            fprintf(stderr, "elsewhere\n");
        printf("together: %ld %ld\n", seen(both), seen(second));
        give_back(both, 2 * SIZE);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        replace_in_region();
    else
        replace_on_host();
    return 0;
}
