/* Blocks summed by the toy mechanism (tests/machine/toy) and in plain C. toy.sh runs this and looks at what it prints.
 *
 *   toy host      sums of BLOCKS blocks, compared; and the clocks that the last one took the core
 *   toy simt      the same by the threads of a warp, and the clocks of a single thread's
 *   toy trap      an address that is not aligned
 *   toy lane      the same by one thread of a warp */
#include <croft/roi.h>
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 32, WORDS = 8, TIMES = 4 };

/* In a DRAM row of their own, so that the sums' accesses use another bank. */
static uint64_t blocks[BLOCKS][WORDS] __attribute__((aligned(8192)));
static uint64_t sums[BLOCKS];
static uint64_t clocks[2]; /* of the instruction, and of one that takes no time outside the core */

static inline uint64_t toy_sum(const uint64_t *block)
{
    uint64_t sum;
    __asm__ volatile(".insn r 0x5b, 0, 0, %0, %1, x0" : "=r"(sum) : "r"(block) : "memory");
    return sum;
}

/* Clocks from one reading of the counter to the next, with an instruction and a use of its result between them. */
#define CLOCKS(instruction, operand)                                                                         \
    __extension__({                                                                                          \
        uint64_t from_, to_, result_;                                                                        \
        __asm__ volatile("fence\n rdcycle %0\n" instruction "\n addi %2, %2, 0\n rdcycle %1"                 \
                         : "=r"(from_), "=r"(to_), "=&r"(result_)                                            \
                         : "r"(operand)                                                                      \
                         : "memory");                                                                        \
        to_ - from_;                                                                                         \
    })

/* The code is in the instruction cache, and the memory idle, from the second time on. */
static void measure(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < TIMES; i++) {
        clocks[0] = CLOCKS(".insn r 0x5b, 0, 0, %2, %3, x0", blocks[i]);
        clocks[1] = CLOCKS("csrr %2, instret", blocks[i]);
    }
}

/* Waits first until what the host has requested at the launch is answered, so that the memory is idle. */
static void sum_own(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 100; i++)
        __asm__ volatile("");
    sums[thread_id()] = toy_sum(blocks[thread_id()]);
}

static void sum_crooked(void *unused)
{
    (void)unused;
    sums[thread_id()] = toy_sum(&blocks[thread_id()][thread_id() == 5]);
}

static uint64_t sum_by_hand(unsigned block)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < WORDS; i++)
        sum += blocks[block][i];
    return sum;
}

static int compare(void)
{
    unsigned same = 0;
    for (unsigned i = 0; i < BLOCKS; i++)
        same += sums[i] == sum_by_hand(i);
    printf("%u sums of %u, the last %llu\n", same, BLOCKS, (unsigned long long)sums[BLOCKS - 1]);
    printf("clocks %llu, without %llu\n", (unsigned long long)clocks[0], (unsigned long long)clocks[1]);
    return same == BLOCKS ? 0 : 1;
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "host";
    croft_allocated(blocks, sizeof blocks);
    for (unsigned i = 0; i < BLOCKS; i++)
        for (unsigned j = 0; j < WORDS; j++)
            blocks[i][j] = 1000 * i + j;
    if (strcmp(mode, "trap") == 0)
        return (int)toy_sum(&blocks[0][1]);
    if (strcmp(mode, "lane") == 0) {
        simt_launch(sum_crooked, NULL, simt_dim(1), simt_dim(BLOCKS));
        simt_wait(0);
        return compare();
    }
    if (strcmp(mode, "simt") == 0) {
        simt_launch(sum_own, NULL, simt_dim(1), simt_dim(BLOCKS));
        simt_launch(measure, NULL, simt_dim(1), simt_dim(1));
        simt_wait(0);
        return compare();
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        sums[i] = toy_sum(blocks[i]);
    measure(NULL);
    return compare();
}
