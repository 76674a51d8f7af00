/* Threads whose loops end at different times: nested, with break, continue and goto. */
#include "simt_check.h"

static uint64_t collatz(uint64_t i)
{
    uint64_t n = check_random(i) % 1000 + 1, steps = 0;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

static uint64_t divisors(uint64_t i)
{
    uint64_t a = check_random(i) | 1, b = check_random(i + 1000);
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Primes below a bound, by trial: both loops are left early. */
static uint64_t primes(uint64_t i)
{
    uint64_t found = 0, sum = 0;
    for (uint64_t n = 2; n < 200; n++) {
        for (uint64_t d = 2; d * d <= n; d++)
            if (n % d == 0)
                goto composite;
        if (n % 4 == i % 4)
            continue;
        sum += n;
        if (++found == i % 23)
            break;
    composite:;
    }
    return sum << 8 | found;
}

/* do-while in a loop whose bound changes within it. */
static uint64_t shrinking(uint64_t i)
{
    uint64_t bound = 20 + i % 13, sum = 0;
    for (uint64_t k = 0; k < bound; k++) {
        uint64_t inner = k * i % 7;
        do {
            sum = sum * 31 + inner + k;
            if (sum % 5 == 0 && bound > k)
                bound--;
        } while (inner-- > 0);
    }
    return sum;
}

static void run_collatz(uint64_t *results)
{
    results[thread_id()] = collatz(thread_id());
}
static void run_divisors(uint64_t *results)
{
    results[thread_id()] = divisors(thread_id());
}
static void run_primes(uint64_t *results)
{
    results[thread_id()] = primes(thread_id());
}
static void run_shrinking(uint64_t *results)
{
    results[thread_id()] = shrinking(thread_id());
}

int main(void)
{
    CHECK_FUNCTION("collatz", run_collatz, collatz, 3, 100);
    CHECK_FUNCTION("divisors", run_divisors, divisors, 3, 100);
    CHECK_FUNCTION("primes", run_primes, primes, 2, 90);
    CHECK_FUNCTION("shrinking", run_shrinking, shrinking, 3, 100);
}
