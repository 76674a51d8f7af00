/* Kernels whose loops are offloaded in different situations, for tests/tom/tom.sh: blocks CASE. Prints what the threads have
 * computed; the same under qemu-riscv64. */
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 128, ROUNDS = 6, TRIPS = 40, CELLS = THREADS * TRIPS };

struct arguments {
    uint64_t *cells, *others;
    long *trips, count; /* by thread; TRIPS */
    uint64_t *result;
    void *pointers[THREADS];
};

/* Hides from the compiler and from the analysis what is in a register. */
#define OPAQUE(value) __asm__("" : "+r"(value))

#define NOINLINE static __attribute__((noinline))

/* The loop that is offloaded: it loads and stores. */
NOINLINE uint64_t sweep(uint64_t *cells, long count, uint64_t sum)
{
    for (long i = 0; i < count; i++) {
        sum += cells[i * THREADS];
        cells[i * THREADS] = sum;
    }
    return sum;
}

/* A store in front, a loop in a stack that loads and changes it, a load in front: the three orders that coherence is about.
 * Barriers keep the parts apart. */
static void shared(struct arguments *p)
{
    uint64_t t = thread_id(), sum = 0;
    uint64_t *cells = p->cells + t;
    long count = p->count;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        cells[0] += round;
        simt_barrier();
        sum = sweep(cells, count / 4, sum); /* few lines, which stay in the caches */
        simt_barrier();
        sum ^= cells[0] << 1;
    }
    p->result[t] = sum;
}

NOINLINE uint64_t part(uint64_t *cells, uint64_t *others, long count, uint64_t sum)
{
    for (long i = 0; i < count; i++) {
        uint64_t value = cells[i * THREADS];
        if (value & 1)
            others[i * THREADS] += value ^ sum;
        else if (value & 2)
            cells[i * THREADS] = sum;
        sum += value * 3;
    }
    return sum;
}

/* Lanes take different paths in the loop, different numbers of rounds, and some do not come to it. */
static void diverging(struct arguments *p)
{
    uint64_t t = thread_id(), sum = t;
    long trips = p->trips[t];
    uint64_t *cells = p->cells + t, *others = p->others + t;
    simt_barrier();
    if (t % 3)
        sum = part(cells, others, trips, sum);
    p->result[t] = sum + others[0];
}

NOINLINE uint64_t gather(const uint64_t *cells, const uint64_t *others, uint64_t t, uint64_t round,
                         long count)
{
    uint64_t at = (t * 2654435761u + round * 40503) % THREADS, sum = 0;
    const uint64_t *from = (at ^ t) & 4 ? cells + at * 2 : others + at;
    for (long i = 0; i < count; i++)
        sum = sum * 5 + from[i * THREADS / 2];
    return sum;
}

/* The block computes where its first access is, and lanes part before it. */
static void late(struct arguments *p)
{
    uint64_t t = thread_id(), sum = 0;
    long count = p->count;
    uint64_t *cells = p->cells, *others = p->others;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        sum += gather(cells, others, t, round, count);
        p->result[t] += sum;
        simt_barrier();
    }
}

/* Rounding towards zero, and the flags of inexact sums: frm travels to the stack, fflags travel back. */
static void floats(struct arguments *p)
{
    uint64_t t = thread_id(), flags;
    long count = p->count;
    double *values = (double *)p->cells + t, sum = 0;
    __asm__ volatile("csrw fcsr, %0" ::"r"(t & 1 ? 0x20 : 0));
    for (long i = 0; i < count; i++) {
        sum += 1.0 / (double)(i + 3 + (long)t);
        values[i * THREADS] += sum;
    }
    __asm__ volatile("csrr %0, fcsr" : "=r"(flags) : "f"(sum));
    __asm__ volatile("csrw fcsr, zero");
    memcpy(&p->result[t], &sum, sizeof sum);
    p->result[t] ^= flags << 56;
}

/* Pointers to threads' stacks and to the scratchpad come from memory. */
static void spaces(struct arguments *p)
{
    uint64_t t = thread_id(), sum = 0, own[TRIPS];
    uint64_t *pad = (uint64_t *)simt_shared() + thread_x() * TRIPS;
    for (long i = 0; i < TRIPS; i++)
        own[i] = pad[i] = t * 100 + (uint64_t)i;
    for (unsigned round = 0; round < 2; round++) {
        p->pointers[t] = round ? pad : own;
        simt_barrier();
        uint64_t *volatile *slot = (uint64_t *volatile *)&p->pointers[t];
        uint64_t *at = *slot, *cells = p->cells + t;
        for (long i = 0; i < TRIPS; i++) {
            sum += cells[i * THREADS];
            at[i] += sum;
            cells[i * THREADS] = at[TRIPS - 1 - i];
        }
        simt_barrier();
    }
    for (long i = 0; i < TRIPS; i++)
        sum = sum * 3 + own[i] + pad[i];
    p->result[t] = sum;
}

/* A null pointer in lane 5 of the second warp. */
static void faulty(struct arguments *p)
{
    uint64_t t = thread_id(), sum = 0;
    long count = p->count;
    uint64_t *cells = p->cells + t;
    if (t == 37)
        cells = p->pointers[0];
    simt_barrier();
    p->result[t] = sweep(cells, count, sum);
}

NOINLINE uint64_t total(const uint64_t *line, long count, uint64_t sum)
{
    for (long i = 0; i < count; i++)
        sum = sum * 5 + line[i];
    return sum;
}

/* A store in front crosses the end of a line of 128 bytes; the block loads the second line only. */
static void crossing(struct arguments *p)
{
    uint64_t t = thread_id(), sum = 0;
    char *line = (char *)p->cells + 256 * t + 128;
    long count = p->count * 2 / 5;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        __asm__ volatile("sd %0, -4(%1)" ::"r"((t + round) << 32 | round), "r"(line) : "memory");
        simt_barrier();
        sum = total((const uint64_t *)line, count, sum);
        simt_barrier();
    }
    p->result[t] = sum;
}

/* Stores in front, of 32 lines for each warp; after a barrier, blocks of the other warp load them. */
static void swapped(struct arguments *p)
{
    uint64_t t = thread_id(), sum = 0;
    volatile uint64_t *line = p->cells + 32 * t;
    const uint64_t *other = p->cells + 32 * (t ^ 32);
    long count = p->count * 2 / 5;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        line[0] = t + round;
        simt_barrier();
        sum = total(other, count, sum);
        simt_barrier();
    }
    p->result[t] = sum;
}

/* Lanes come to the end apart: odd ones execute code that is behind the return. */
NOINLINE uint64_t mixed(const uint64_t *cells, const uint64_t *others)
{
    uint64_t value = cells[0] * 3 + cells[THREADS] + cells[2 * THREADS] + cells[3 * THREADS];
    if (__builtin_expect((uintptr_t)cells & 8, 0))
        value = (others[0] ^ others[THREADS]) + others[2 * THREADS] * 5;
    value ^= cells[4 * THREADS] + cells[5 * THREADS];
    return value * value + value;
}

static void apart(struct arguments *p)
{
    uint64_t t = thread_id(), sum = 0;
    for (uint64_t round = 0; round < ROUNDS; round++)
        sum += mixed(p->cells + t + round * 5 * THREADS, p->others + t + round * THREADS);
    p->result[t] = sum;
}

static void run(struct arguments *p, const char *name)
{
#define RUN(kernel)                                                                                          \
    if (strcmp(name, #kernel) == 0)                                                                          \
    simt_launch(kernel, p, simt_dim(THREADS / 64), simt_dim(64), .scratchpad = 64 * TRIPS * 8)
    RUN(shared);
    RUN(diverging);
    RUN(late);
    RUN(floats);
    RUN(spaces);
    RUN(crossing);
    RUN(swapped);
    RUN(apart);
    RUN(faulty);
    simt_wait(0);
}

int main(int argc, char **argv)
{
    struct arguments *p = calloc(1, sizeof *p);
    p->cells = aligned_alloc(4096, CELLS * sizeof *p->cells);
    p->others = aligned_alloc(4096, CELLS * sizeof *p->others);
    p->count = TRIPS;
    p->trips = calloc(THREADS, sizeof *p->trips);
    p->result = calloc(THREADS, sizeof *p->result);
    for (uint64_t i = 0; i < CELLS; i++) {
        p->cells[i] = argc > 1 && strcmp(argv[1], "floats") == 0 ? 0 : i * 2654435761u >> 7;
        p->others[i] = i;
    }
    for (uint64_t t = 0; t < THREADS; t++)
        p->trips[t] = (long)(t * 7 % (TRIPS + 1));
    uint64_t digest = 0;
    if (argc < 2)
        return 2;
    run(p, argv[1]);
    for (unsigned i = 0; i < CELLS; i++)
        digest = digest * 31 + (p->cells[i] ^ p->others[i] << 1);
    for (unsigned t = 0; t < THREADS; t++)
        digest = digest * 31 + p->result[t];
    printf("%s %016llx\n", argv[1], (unsigned long long)digest);
    return 0;
}
