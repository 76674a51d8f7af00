/* Threads that recurse to different depths: plain, mutual, in two places, through a pointer, on arrays of their own. */
#include "simt_check.h"

static uint64_t fibonacci(uint64_t n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static uint64_t fibonacci_of(uint64_t i)
{
    return fibonacci(check_random(i) % 13);
}

static uint64_t ackermann(uint64_t m, uint64_t n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

static uint64_t ackermann_of(uint64_t i)
{
    return ackermann(i % 3, i % 7);
}

static uint64_t female(uint64_t n);

/* Hofstadter's sequences, each defined by the other. */
static uint64_t male(uint64_t n)
{
    return n == 0 ? 0 : n - female(male(n - 1));
}

static uint64_t female(uint64_t n)
{
    return n == 0 ? 1 : n - male(female(n - 1));
}

static uint64_t hofstadter_of(uint64_t i)
{
    return i % 2 ? male(i % 12) : female(i % 11);
}

static void quicksort(uint32_t *values, int first, int last)
{
    if (first >= last)
        return;
    uint32_t pivot = values[(first + last) / 2];
    int i = first, j = last;
    while (i <= j) {
        while (values[i] < pivot)
            i++;
        while (values[j] > pivot)
            j--;
        if (i <= j) {
            uint32_t swap = values[i];
            values[i++] = values[j];
            values[j--] = swap;
        }
    }
    quicksort(values, first, j);
    quicksort(values, i, last);
}

/* On the thread's stack. */
static uint64_t sorted(uint64_t i)
{
    uint32_t values[40];
    int count = (int)(check_random(i) % 40) + 1;
    for (int k = 0; k < count; k++)
        values[k] = (uint32_t)check_random(i * 64 + (uint64_t)k);
    quicksort(values, 0, count - 1);
    uint64_t digest = 0;
    for (int k = 0; k < count; k++)
        digest = digest * 31 + values[k];
    return digest;
}

static void run_fibonacci(uint64_t *results)
{
    results[thread_id()] = fibonacci_of(thread_id());
}
static void run_ackermann(uint64_t *results)
{
    results[thread_id()] = ackermann_of(thread_id());
}
static void run_hofstadter(uint64_t *results)
{
    results[thread_id()] = hofstadter_of(thread_id());
}
static void run_sorted(uint64_t *results)
{
    results[thread_id()] = sorted(thread_id());
}

int main(void)
{
    CHECK_FUNCTION("fibonacci", run_fibonacci, fibonacci_of, 2, 64);
    CHECK_FUNCTION("ackermann", run_ackermann, ackermann_of, 2, 50);
    CHECK_FUNCTION("hofstadter", run_hofstadter, hofstadter_of, 2, 64);
    CHECK_FUNCTION("quicksort", run_sorted, sorted, 2, 64);
}
