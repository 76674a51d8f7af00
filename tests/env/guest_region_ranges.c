/* As guest_ranges.c, but a region moves the memory, by system calls of its own. The region, the next tasks and the host must find
 * the new memory. */
#include <croft/nucd.h>
#include <stdio.h>

enum { SIZE = 64 * 1024, LINE = 64, ROUNDS = 3, TASKS = 8 };
enum { NOTHING = 0, READ_WRITE = 3 }; /* PROT_ */

struct line {
    _Alignas(LINE) long word[LINE / sizeof(long)];
};

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

/* Returns the new memory, which is where the old one was, and stores the word that it finds there. */
CROFT_REGION_RETURNS(struct line *, replace, CROFT_VALUE(struct line *, high),
                     CROFT_VALUE(volatile struct line *, low), CROFT_VALUE(long, value),
                     CROFT_OUT(struct line *, found, LINE))
{
    low->word[0] = value;
    call(215, (long)high, SIZE, 0);
    call(215, (long)low, SIZE, 0);
    volatile struct line *both = (volatile struct line *)call(222, 0, 2 * SIZE, READ_WRITE);
    both->word[0] = value + 1;
    (both + SIZE / sizeof *both)->word[0] = value + 2;
    found->word[0] = both->word[0];
    return (struct line *)both;
}

CROFT_REGION(copy, CROFT_IN(const struct line *, from, LINE), CROFT_OUT(struct line *, to, LINE))
{
    to->word[0] = from->word[0];
}

int main(void)
{
    static struct line results[TASKS], found;
    for (long round = 1; round <= ROUNDS; round++) {
        struct line *high = (struct line *)call(222, 0, SIZE, NOTHING),
                    *low = (struct line *)call(222, 0, SIZE, READ_WRITE);
        low->word[0] = round;
        for (int i = 0; i < TASKS; i++) /* accelerators translate the old memory */
            copy(low, &results[i]);
        struct line *both = replace(high, low, 10 * round, &found);
        for (int i = 0; i < TASKS; i++)
            copy(both, &results[i]);
        printf("%ld %ld %ld:", found.word[0], both->word[0], (both + SIZE / sizeof *both)->word[0]);
        for (int i = 0; i < TASKS; i++)
            printf(" %ld", results[i].word[0]);
        printf("\n");
        call(215, (long)both, 2 * SIZE, 0);
    }
    return 0;
}
