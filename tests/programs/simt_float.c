/* Floating point in threads that round in different directions and raise different flags. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "simt_check.h"

static uint64_t bits(double value)
{
    uint64_t result;
    memcpy(&result, &value, sizeof result);
    return value != value ? 0 : result;
}

/* Each thread has a rounding mode of its own. */
static uint64_t rounded(uint64_t i)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    int before = fegetround();
    fesetround(modes[i % 4]);
    volatile double a = 1 + (double)i, b = 3, c = 0.1;
    volatile float f = 1.1f;
    volatile double quotient = a / b, sum = a + c, root = sqrt(a);
    volatile float product = f * (float)quotient;
    long whole = lrint(a * 0.3), down = (long)floor(sum);
    fesetround(before);
    return bits(quotient) ^ bits(sum) * 3 ^ bits(root) * 5 ^ bits((double)product) * 7 ^
           (uint64_t)(whole * 1000 + down);
}

/* Each thread raises flags of its own, and sees no others. */
static uint64_t flags(uint64_t i)
{
    volatile double zero = 0, one = 1, huge = 1e308, tiny = 1e-308, result = 0;
    feclearexcept(FE_ALL_EXCEPT);
    switch (i % 6) {
    case 0: result = one / zero; break;
    case 1: result = huge * 10; break;
    case 2: result = tiny / 1e10; break;
    case 3: result = zero / zero; break;
    case 4: result = one / 3; break;
    default: result = one + one; break;
    }
    return (uint64_t)fetestexcept(FE_ALL_EXCEPT) * 256 + (result != result ? 2 : 0) + (result > 1 ? 1 : 0);
}

/* A loop that ends when the value does not change any more: different for each thread. */
static uint64_t newton(uint64_t i)
{
    double x = (double)(i + 1), root = x, before = 0;
    uint64_t steps = 0;
    while (root != before && steps < 100) {
        before = root;
        root = 0.5 * (root + x / root);
        steps++;
    }
    float sine = sinf((float)i), power = expf(-(float)i / 50);
    return bits(root) + steps + bits((double)sine) * 3 + bits((double)power) * 5;
}

static void run_rounded(uint64_t *results)
{
    results[thread_id()] = rounded(thread_id());
}
static void run_flags(uint64_t *results)
{
    results[thread_id()] = flags(thread_id());
}
static void run_newton(uint64_t *results)
{
    results[thread_id()] = newton(thread_id());
}

int main(void)
{
    CHECK_FUNCTION("rounding", run_rounded, rounded, 2, 100);
    CHECK_FUNCTION("flags", run_flags, flags, 2, 100);
    CHECK_FUNCTION("newton", run_newton, newton, 2, 100);
}
