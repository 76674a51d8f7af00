/* returns HOW: sixteen tasks whose results the host uses in one of these ways. Prints the sum of the results to
 * standard output, and the cycles to standard error, twice; firmware is warm in the second round.
 *   memory     tasks write their results to memory, which is read after the last one
 *   sum        each result is added to a sum
 *   array      each result is stored in an array
 *   registers  the results are sixteen variables
 *   early      tasks write to memory; the host reads each result before it launches the next task */
#include <croft/nucd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TASKS = 16, PART = 4096, N = TASKS * PART, LIMIT = 127, ROUNDS = 2 };

static _Alignas(4096) uint8_t data[N];
static _Alignas(4096) long out[TASKS][8];
static long results[TASKS];

CROFT_REGION_RETURNS(long, count, CROFT_IN(const uint8_t *, bytes, PART), CROFT_VALUE(int, limit))
{
    long above = 0;
    for (long i = 0; i < PART; i++)
        above += bytes[i] > limit;
    return above;
}

CROFT_REGION(count_to, CROFT_IN(const uint8_t *, bytes, PART), CROFT_OUT(long *, to, sizeof *to),
             CROFT_VALUE(int, limit))
{
    long above = 0;
    for (long i = 0; i < PART; i++)
        above += bytes[i] > limit;
    *to = above;
}

static long by_memory(void)
{
    long sum = 0;
    for (long i = 0; i < TASKS; i++)
        count_to(data + i * PART, out[i], LIMIT);
    for (long i = 0; i < TASKS; i++)
        sum += out[i][0];
    return sum;
}

static long by_sum(void)
{
    long sum = 0;
    for (long i = 0; i < TASKS; i++)
        sum += count(data + i * PART, LIMIT);
    return sum;
}

static long by_array(void)
{
    long sum = 0;
    for (long i = 0; i < TASKS; i++)
        results[i] = count(data + i * PART, LIMIT);
    for (long i = 0; i < TASKS; i++)
        sum += results[i];
    return sum;
}

static long by_registers(void)
{
    long r[TASKS], sum = 0;
#pragma GCC unroll 16
    for (long i = 0; i < TASKS; i++)
        r[i] = count(data + i * PART, LIMIT);
#pragma GCC unroll 16
    for (long i = 0; i < TASKS; i++)
        sum += r[i];
    return sum;
}

static long by_early_reads(void)
{
    long sum = 0;
    for (long i = 0; i < TASKS; i++) {
        count_to(data + i * PART, out[i], LIMIT);
        sum += out[i][0];
    }
    return sum;
}

static long cycle(void)
{
    long now;
    __asm__ volatile("rdcycle %0" : "=r"(now)::"memory");
    return now;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        long (*run)(void);
    } ways[] = {{"memory", by_memory},
                {"sum", by_sum},
                {"array", by_array},
                {"registers", by_registers},
                {"early", by_early_reads}};
    for (int i = 0; i < N; i++)
        data[i] = (uint8_t)(i * 7 + i / 251);
    for (unsigned way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        if (argc < 2 || strcmp(argv[1], ways[way].name) != 0)
            continue;
        for (int round = 0; round < ROUNDS; round++) {
            long before = cycle(), sum = ways[way].run(), after = cycle();
            printf("%ld\n", sum);
            fprintf(stderr, "cycles %ld\n", after - before);
        }
    }
    return 0;
}
