/* The double-precision functions of libm over ordinary and special arguments, printed to the last bit. */
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>

struct unary {
    const char *name;
    double (*function)(double);
};

struct binary {
    const char *name;
    double (*function)(double, double);
};

static const struct unary unaries[] = {
    {"sin", sin},
    {"cos", cos},
    {"tan", tan},
    {"asin", asin},
    {"acos", acos},
    {"atan", atan},
    {"sinh", sinh},
    {"cosh", cosh},
    {"tanh", tanh},
    {"asinh", asinh},
    {"acosh", acosh},
    {"atanh", atanh},
    {"exp", exp},
    {"exp2", exp2},
    {"expm1", expm1},
    {"log", log},
    {"log2", log2},
    {"log10", log10},
    {"log1p", log1p},
    {"sqrt", sqrt},
    {"cbrt", cbrt},
    {"erf", erf},
    {"erfc", erfc},
    {"tgamma", tgamma},
    {"lgamma", lgamma},
    {"ceil", ceil},
    {"floor", floor},
    {"trunc", trunc},
    {"round", round},
    {"rint", rint},
    {"nearbyint", nearbyint},
    {"fabs", fabs},
    {"logb", logb},
    {"j0", j0},
    {"y1", y1},
};

static const struct binary binaries[] = {
    {"pow", pow},   {"atan2", atan2}, {"hypot", hypot}, {"fmod", fmod},         {"remainder", remainder},
    {"fmin", fmin}, {"fmax", fmax},   {"fdim", fdim},   {"copysign", copysign}, {"nextafter", nextafter},
};

static const double samples[] = {
    0.0,   -0.0,   0.5,        -0.5, 1.0,   -1.0,   1.5,   2.5,      -3.7,      10.25,
    1e-10, 1e-310, 123456.789, 1e22, 709.5, -745.2, 170.9, INFINITY, -INFINITY, NAN,
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static unsigned flags_take(void)
{
    unsigned flags = (unsigned)fetestexcept(FE_ALL_EXCEPT);
    feclearexcept(FE_ALL_EXCEPT);
    return flags;
}

static void print_composites(double a, double b)
{
    int exponent, quotient;
    double whole, mantissa = frexp(a, &exponent), fraction = modf(a, &whole);
    printf("frexp %a = %a * 2^%d, modf %a + %a\n", a, mantissa, isfinite(a) ? exponent : 0, whole, fraction);
    double left = remquo(a, b, &quotient);
    printf("remquo %a %a: %a, %d\n", a, b, left, isfinite(a) && b != 0 && !isnan(b) ? quotient & 7 : 0);
    printf("fma %a scalbn %a ldexp %a\n", fma(a, b, -a), scalbn(a, 37), ldexp(b, -1060));
    printf("class %d %d %d %d signbit %d\n", isnan(a) != 0, isinf(a) != 0, isfinite(a) != 0, isnormal(a) != 0,
           signbit(a) != 0);
    if (fabs(a) < 1e15)
        printf("lround %ld llrint %lld ilogb %d\n", lround(a), llrint(a), ilogb(a));
}

int main(void)
{
    for (size_t f = 0; f < sizeof unaries / sizeof *unaries; f++)
        for (int i = 0; i < SAMPLES; i++) {
            errno = 0;
            feclearexcept(FE_ALL_EXCEPT);
            double result = unaries[f].function(samples[i]);
            unsigned flags = flags_take();
            printf("%s(%a) = %a flags %02x errno %d\n", unaries[f].name, samples[i], result, flags, errno);
        }
    for (size_t f = 0; f < sizeof binaries / sizeof *binaries; f++)
        for (int i = 0; i < SAMPLES; i++)
            for (int j = 0; j < SAMPLES; j += 3) {
                feclearexcept(FE_ALL_EXCEPT);
                double result = binaries[f].function(samples[i], samples[j]);
                printf("%s(%a, %a) = %a flags %02x\n", binaries[f].name, samples[i], samples[j], result,
                       flags_take());
            }
    for (int i = 0; i < SAMPLES; i++)
        print_composites(samples[i], samples[(i * 7 + 3) % SAMPLES]);
    return 0;
}
