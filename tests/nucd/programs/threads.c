/* Regions in threads of multiprocessors: threads [WHAT]. Prints sums that the main program computes again
 * without threads and regions, and "good" or "WRONG" for each. WHAT chooses a kernel. By default those run
 * that end the same on qemu-riscv64. `fault` and `calls` die in the region of thread 5 of block 1; `hang`
 * does not end; `clocks` also prints the cycles of a region. */
#include <croft/nucd.h>
#include <croft/simt.h>
#include <fenv.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 3, THREADS = 40, ALL = BLOCKS * THREADS, WORDS = 24, ROW = 32, TABLE = 512 };

/* Each thread's row of `to` is a range of whole cache lines. */
static _Alignas(4096) int64_t from[ALL][ROW], to[ALL][ROW], table[TABLE];
static int64_t results[ALL];
static int flags[ALL], failures;

/* Regions. */
CROFT_REGION(add_table, CROFT_IN(const int64_t *, x, ROW * sizeof *x),
             CROFT_OUT(int64_t *, y, ROW * sizeof *y), CROFT_IN(const int64_t *, t, TABLE * sizeof *t),
             CROFT_VALUE(long, n))
{
    for (long i = 0; i < n; i++)
        y[i] = 3 * x[i] + t[(x[i] + i) % TABLE];
}

CROFT_REGION(twice, CROFT_INOUT(int64_t *, y, ROW * sizeof *y), CROFT_VALUE(long, n))
{
    for (long i = 0; i < n; i++)
        y[i] += y[i];
}

CROFT_REGION_RETURNS(int64_t, sum, CROFT_IN(const int64_t *, x, ROW * sizeof *x), CROFT_VALUE(long, n))
{
    int64_t s = 0;
    for (long i = 0; i < n; i++)
        s += x[i];
    return s;
}

CROFT_REGION_RETURNS(double, divide, CROFT_VALUE(double, a), CROFT_VALUE(double, b))
{
    return a / b;
}

CROFT_REGION_RETURNS(int64_t, peek, CROFT_VALUE(const int64_t *, x))
{
    return *x;
}

CROFT_REGION_RETURNS(int64_t, call, CROFT_VALUE(int, x))
{
    register long number __asm__("a7") = 172, result __asm__("a0") = x; /* getpid */
    __asm__ volatile("ecall" : "+r"(result) : "r"(number));
    return result;
}

CROFT_REGION(await, CROFT_VALUE(volatile int64_t *, x))
{
    while (*x == 0)
        ;
}

struct work {
    long words;
    const void *place;
};

/* Kernels. All threads offload; what one region writes is the input of the next, on the other side too. */
static void all(const struct work *w)
{
    long i = (long)thread_id();
    add_table(from[i], to[i], table, w->words);
    to[i][0] += i;
    twice(to[i], w->words);
    results[i] = sum(to[i], w->words) + to[i][1];
}

/* Threads part at regions: some offload, those of another path offload another region, the others do not. */
static void parted(const struct work *w)
{
    long i = (long)thread_id();
    memcpy(to[i], from[i], sizeof to[i]);
    for (long turn = 0; turn < i % 3; turn++) {
        if (i % 4 == 0)
            twice(to[i], w->words);
        else if (i % 4 != 3)
            to[i][0] += sum(to[i], 1 + (i & 7));
        else
            to[i][0] += turn;
    }
    simt_barrier();
    long next = i / THREADS * THREADS + (i + 1) % THREADS;
    results[i] = sum(to[next], w->words);
}

/* The range of the odd threads is on their stacks, which accelerators do not have: these run the region
 * themselves. */
static void stacks(const struct work *w)
{
    long i = (long)thread_id();
    _Alignas(64) int64_t own[ROW];
    memcpy(own, from[i], sizeof own);
    results[i] = sum(i % 2 ? own : from[i], w->words);
}

/* The flags of a region's division are the thread's. */
static void floats(const struct work *w)
{
    long i = (long)thread_id();
    (void)w;
    feclearexcept(FE_ALL_EXCEPT);
    double quotient = divide((double)(i % 8), (double)(i % 4));
    flags[i] = fetestexcept(FE_ALL_EXCEPT);
    results[i] = i % 4 ? (int64_t)(1000 * quotient) : 7;
}

static void fault(const struct work *w)
{
    long i = (long)thread_id();
    results[i] = peek(i == THREADS + 5 ? w->place : &from[i][0]);
}

static void calls(const struct work *w)
{
    long i = (long)thread_id();
    (void)w;
    results[i] = i == THREADS + 5 ? call(1) : sum(from[i], 1);
}

/* A region waits for a store of another thread of its warp, which must go on meanwhile. That thread offloads nothing
 * before, because its task could be behind the waiting one on the same accelerator. */
static void waits(const struct work *w)
{
    long i = (long)thread_id();
    if (i == 3)
        await(&results[5]);
    else
        *(volatile int64_t *)&results[i] = 1;
    results[i] = sum(from[i], w->words);
}

static void hang(const struct work *w)
{
    (void)w;
    if (thread_id() == 3)
        await(&results[5]);
}

/* One thread, one region. */
static void one(const struct work *w)
{
    if (thread_id() == 0)
        results[0] = sum(from[0], w->words);
}

/* The cycles of a warp's region, as its thread sees them. */
static uint64_t cycles;

static uint64_t read_cycle(void)
{
    uint64_t cycle;
    __asm__ volatile("rdcycle %0" : "=r"(cycle)::"memory");
    return cycle;
}

static void clocks(const struct work *w)
{
    if (thread_id() != 0)
        return;
    uint64_t before = read_cycle();
    results[0] = sum(from[0], w->words);
    cycles = read_cycle() - before;
}

/* The same without threads and regions. */
static void row_of(long i, int64_t *row)
{
    for (long k = 0; k < WORDS; k++)
        row[k] = 3 * from[i][k] + table[(from[i][k] + k) % TABLE];
    row[0] += i;
    for (long k = 0; k < WORDS; k++)
        row[k] *= 2;
}

static int64_t sum_of(const int64_t *row, long n)
{
    int64_t s = 0;
    for (long k = 0; k < n; k++)
        s += row[k];
    return s;
}

static void part_of(long i, int64_t *row)
{
    memcpy(row, from[i], sizeof from[i]);
    for (long turn = 0; turn < i % 3; turn++) {
        if (i % 4 == 0)
            for (long k = 0; k < WORDS; k++)
                row[k] *= 2;
        else
            row[0] += i % 4 == 3 ? turn : sum_of(row, 1 + (i & 7));
    }
}

static int64_t expected(const char *what, long i)
{
    int64_t row[ROW];
    if (strcmp(what, "all") == 0) {
        row_of(i, row);
        return sum_of(row, WORDS) + row[1];
    }
    if (strcmp(what, "parted") == 0) {
        part_of(i / THREADS * THREADS + (i + 1) % THREADS, row);
        return sum_of(row, WORDS);
    }
    if (strcmp(what, "floats") == 0) {
        int wanted = i % 8 == 0 ? FE_INVALID : i % 4 == 0 ? FE_DIVBYZERO : i % 4 == 3 ? FE_INEXACT : 0;
        if (i % 8 == 3)
            wanted = 0;
        return flags[i] == wanted ? (i % 4 ? (int64_t)(1000 * ((double)(i % 8) / (double)(i % 4))) : 7) : -1;
    }
    if (strcmp(what, "one") == 0 || strcmp(what, "clocks") == 0)
        return i ? 0 : sum_of(from[0], WORDS);
    return sum_of(from[i], WORDS);
}

static void prepare(void)
{
    memset(results, 0, sizeof results);
    memset(to, 0, sizeof to);
}

static void show(const char *what, long launch)
{
    int64_t total = 0;
    int good = launch > 0 && simt_wait(0) == 0;
    for (long i = 0; i < ALL; i++) {
        good &= results[i] == expected(what, i);
        total += results[i] * (i + 1);
    }
    printf("%s %lld %s\n", what, (long long)total, good ? "good" : "WRONG");
    failures += !good;
}

/* The program offloads, too, while its threads do. */
static void both(const struct work *w)
{
    int64_t total = 0;
    prepare();
    long launch = simt_launch(all, w, simt_dim(BLOCKS), simt_dim(THREADS));
    for (long i = 0; i < ALL; i++)
        total += sum(from[i], WORDS);
    printf("both %lld\n", (long long)total);
    show("all", launch);
}

/* Runs a kernel if it was chosen. */
#define RUN(kernel, by_default)                                                                              \
    do {                                                                                                     \
        if (argc > 1 ? strcmp(argv[1], #kernel) == 0 : (by_default)) {                                       \
            prepare();                                                                                       \
            show(#kernel, simt_launch(kernel, &work, simt_dim(BLOCKS), simt_dim(THREADS)));                  \
        }                                                                                                    \
    } while (0)

int main(int argc, char **argv)
{
    static const struct work work = {WORDS, (const void *)8};
    for (long i = 0; i < ALL; i++)
        for (long k = 0; k < ROW; k++)
            from[i][k] = (i * 37 + k * 11) % 1000;
    for (long k = 0; k < TABLE; k++)
        table[k] = k * k % 97;
    RUN(all, 1);
    RUN(parted, 1);
    RUN(stacks, 1);
    RUN(floats, 1);
    RUN(one, 1);
    if (argc == 1 || strcmp(argv[1], "both") == 0)
        both(&work);
    RUN(fault, 0);
    RUN(calls, 0);
    RUN(clocks, 0);
    RUN(waits, 0);
    RUN(hang, 0);
    if (cycles)
        printf("%llu cycles\n", (unsigned long long)cycles);
    return failures != 0;
}
