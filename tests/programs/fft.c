/* Fast Fourier transform with C99 complex numbers: round trip, convolution, comparison with the plain sum. */
#include <complex.h>
#include <math.h>
#include <stdio.h>

enum { MAX = 512 };

static void fft(double complex *data, int n, int direction)
{
    for (int i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double complex t = data[i];
            data[i] = data[j], data[j] = t;
        }
    }
    for (int length = 2; length <= n; length *= 2)
        for (int k = 0; k < length / 2; k++) {
            double complex w = cexp(direction * 2 * M_PI * I * k / length);
            for (int i = k; i < n; i += length) {
                double complex a = data[i], b = data[i + length / 2] * w;
                data[i] = a + b, data[i + length / 2] = a - b;
            }
        }
}

static double complex plain_sum(const double complex *data, int n, int k)
{
    double complex sum = 0;
    for (int i = 0; i < n; i++)
        sum += data[i] * cexp(-2 * M_PI * I * i * k / n);
    return sum;
}

static void print_transform(int n)
{
    static double complex original[MAX], data[MAX];
    for (int i = 0; i < n; i++)
        data[i] = original[i] = sin(i * 0.3) + cos(i * i * 0.01) * I;
    fft(data, n, -1);
    double worst = 0, energy = 0, back_worst = 0;
    for (int k = 0; k < n; k += 1 + n / 16) {
        worst = fmax(worst, cabs(data[k] - plain_sum(original, n, k)));
        printf("  %d: %.12f %.12f phase %.9f\n", k, creal(data[k]), cimag(data[k]), carg(data[k]));
    }
    for (int k = 0; k < n; k++)
        energy += creal(data[k] * conj(data[k])) / n;
    fft(data, n, 1);
    for (int i = 0; i < n; i++)
        back_worst = fmax(back_worst, cabs(data[i] / n - original[i]));
    printf("n %d: energy %.15g, against the sum %a, round trip %a\n", n, energy, worst, back_worst);
}

static void multiply_polynomials(void)
{
    static double complex a[64], b[64];
    for (int i = 0; i < 30; i++)
        a[i] = i + 1, b[i] = (i * 7) % 11 - 5;
    fft(a, 64, -1);
    fft(b, 64, -1);
    for (int i = 0; i < 64; i++)
        a[i] *= b[i];
    fft(a, 64, 1);
    printf("product:");
    for (int i = 0; i < 60; i++)
        printf(" %ld", lround(creal(a[i]) / 64));
    printf("\n");
}

int main(void)
{
    for (int n = 1; n <= MAX; n *= 2)
        print_transform(n);
    multiply_polynomials();
    double complex z = 1.5 - 0.5 * I;
    double complex results[] = {csqrt(z),       cexp(z),         clog(z),  csin(z),
                                cpow(z, 2 + I), z / (2 - 3 * I), ctanh(z), cproj(z)};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        printf("%a %a\n", creal(results[i]), cimag(results[i]));
    return 0;
}
