/* The single-precision functions of libm, and float arithmetic that must not be done in double. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct unary {
    const char *name;
    float (*function)(float);
};

static const struct unary unaries[] = {
    {"sinf", sinf},     {"cosf", cosf},     {"tanf", tanf},       {"asinf", asinf},   {"acosf", acosf},
    {"atanf", atanf},   {"sinhf", sinhf},   {"coshf", coshf},     {"tanhf", tanhf},   {"expf", expf},
    {"exp2f", exp2f},   {"logf", logf},     {"log2f", log2f},     {"log10f", log10f}, {"sqrtf", sqrtf},
    {"cbrtf", cbrtf},   {"erff", erff},     {"tgammaf", tgammaf}, {"ceilf", ceilf},   {"floorf", floorf},
    {"truncf", truncf}, {"roundf", roundf}, {"rintf", rintf},     {"log1pf", log1pf}, {"expm1f", expm1f},
};

/* Volatile, so that nothing is computed at build time. */
static const volatile float samples[] = {
    0.0f,  -0.0f,   0.1f,   0.5f,        -0.75f, 1.0f,     2.5f,      -3.5f, 33.3f,
    88.8f, -104.5f, 1e-40f, 16777216.0f, 3e38f,  INFINITY, -INFINITY, NAN,
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void print_binary(float a, float b)
{
    printf("%a %a: + %08x - %08x * %08x / %08x\n", (double)a, (double)b, (unsigned)float_bits(a + b),
           (unsigned)float_bits(a - b), (unsigned)float_bits(a * b), (unsigned)float_bits(a / b));
    printf("  pow %08x atan2 %08x hypot %08x fmod %08x fma %08x min %08x max %08x\n",
           (unsigned)float_bits(powf(a, b)), (unsigned)float_bits(atan2f(a, b)),
           (unsigned)float_bits(hypotf(a, b)), (unsigned)float_bits(fmodf(a, b)),
           (unsigned)float_bits(fmaf(a, b, 0.25f)), (unsigned)float_bits(fminf(a, b)),
           (unsigned)float_bits(fmaxf(a, b)));
    printf("  < %d <= %d == %d != %d unordered %d next %08x\n", a < b, a <= b, a == b, a != b,
           isunordered(a, b), (unsigned)float_bits(nextafterf(a, b)));
}

static void sum_series(void)
{
    float up = 0, down = 0, compensated = 0, lost = 0;
    for (int i = 1; i <= 10000; i++) {
        up += 1.0f / (float)i;
        down += 1.0f / (float)(10001 - i);
        volatile float term = 1.0f / (float)i - lost, next = compensated + term;
        lost = (next - compensated) - term;
        compensated = next;
    }
    printf("harmonic %.9g %.9g %.9g\n", (double)up, (double)down, (double)compensated);
}

static void hash_random_operations(void)
{
    uint32_t seed = 1, digest = 0;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525u + 1013904223u;
        float a = float_from_bits(seed ^ seed >> 15);
        seed = seed * 1664525u + 1013904223u;
        float b = float_from_bits(seed ^ seed >> 15);
        digest = digest * 31 + float_bits(a + b) + float_bits(a * b) * 3 + float_bits(a / b) * 5;
        digest ^= float_bits(sqrtf(fabsf(a))) + float_bits((float)(double)b) + (uint32_t)(a < b);
        if (i % 2000 == 0)
            printf("digest %08x\n", (unsigned)digest);
    }
}

int main(void)
{
    for (size_t f = 0; f < sizeof unaries / sizeof *unaries; f++)
        for (int i = 0; i < SAMPLES; i++) {
            float result = unaries[f].function(samples[i]);
            printf("%s(%a) = %a %08x\n", unaries[f].name, (double)samples[i], (double)result,
                   (unsigned)float_bits(result));
        }
    for (int i = 0; i < SAMPLES; i++)
        for (int j = 0; j < SAMPLES; j += 2)
            print_binary(samples[i], samples[j]);
    sum_series();
    hash_random_operations();
    printf("%g %g %d\n", (double)FLT_MAX, (double)FLT_MIN, FLT_EVAL_METHOD);
    return 0;
}
