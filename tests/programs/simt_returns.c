/* Threads that end early, leave functions early and by longjmp(), and barriers that only the others reach. */
#include <setjmp.h>

#include "simt_check.h"

enum { THREADS = 96 };

static uint64_t search(uint64_t i)
{
    for (uint64_t row = 0; row < 8; row++) {
        if (row * 13 % 8 == i % 9)
            return row;
        for (uint64_t column = 0; column < 8; column++)
            if (check_random(row * 8 + column) % 64 == i % 64)
                return row * 100 + column;
    }
    return 9999;
}

static void fail_at(jmp_buf *out, uint64_t depth, volatile uint64_t *trail)
{
    *trail = *trail * 7 + depth;
    if (depth == 0)
        longjmp(*out, (int)(*trail % 50) + 1);
    if (*trail % 11 == 3)
        return;
    fail_at(out, depth - 1, trail);
}

static uint64_t jumped(uint64_t i)
{
    jmp_buf out;
    volatile uint64_t rounds = 0, trail = i;
    int code = setjmp(out);
    if (code == 0 || rounds < i % 3) {
        rounds++;
        fail_at(&out, i % 6, &trail);
    }
    return (uint64_t)code * 1000 + rounds;
}

static void run_search(uint64_t *results)
{
    results[thread_id()] = search(thread_id());
}
static void run_jumped(uint64_t *results)
{
    results[thread_id()] = jumped(thread_id());
}

/* In each round, a seventh of the threads ends; the others add up what all of the round before have left. */
static void run_fading(uint64_t *results)
{
    uint64_t *left = simt_shared();
    uint32_t t = thread_x();
    left[t] = t;
    for (uint32_t round = 0; round < 7; round++) {
        simt_barrier();
        if (t % 7 == round) {
            results[thread_id()] = left[t];
            return;
        }
        uint64_t sum = left[(t + 1) % THREADS] + left[(t + THREADS - 1) % THREADS];
        simt_barrier();
        left[t] += sum;
    }
}

static void fading(uint64_t *results)
{
    uint64_t left[THREADS];
    for (uint32_t t = 0; t < THREADS; t++)
        left[t] = t;
    for (uint32_t round = 0; round < 7; round++) {
        uint64_t next[THREADS];
        for (uint32_t t = 0; t < THREADS; t++) {
            if (t % 7 == round)
                results[t] = left[t];
            next[t] = t % 7 <= round ? left[t]
                                     : left[t] + left[(t + 1) % THREADS] + left[(t + THREADS - 1) % THREADS];
        }
        for (uint32_t t = 0; t < THREADS; t++)
            left[t] = next[t];
    }
}

int main(void)
{
    CHECK_FUNCTION("search", run_search, search, 3, 100);
    CHECK_FUNCTION("longjmp", run_jumped, jumped, 2, 64);
    static uint64_t results[2 * THREADS], expected[THREADS];
    CHECK_RUN(run_fading, results, simt_dim(2), simt_dim(THREADS), .scratchpad = THREADS * 8);
    fading(expected);
    unsigned wrong = 0;
    for (unsigned i = 0; i < 2 * THREADS; i++)
        wrong += results[i] != expected[i % THREADS];
    printf("%-12s %016llx, %u wrong\n", "fading",
           (unsigned long long)check_digest(results, 2 * THREADS * sizeof *results), wrong);
}
