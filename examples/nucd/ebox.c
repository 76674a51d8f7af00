/* The extended box filter, a fast approximation of a Gaussian (Getreuer, "A survey of Gaussian convolution
 * algorithms", Image Processing On Line 3, 2013): one pass over a column of an image. */
#include "kernel.h"

enum { N = 8000, STRIDE = 8 }; /* samples, and the distance between two of them: the image's width */

/* Samples first .. first + count - 1 of `total`, by a box of radius r. */
struct column {
    uint16_t first, count, total, radius;
};

/* The first sample that is needed for the part. */
static inline long column_low(struct column c)
{
    return c.first > c.radius + 2 ? c.first - c.radius - 2 : 0;
}

/* The samples from the first to the last that are needed. */
static inline long column_samples(struct column c)
{
    long high = c.first + c.count + c.radius + 1;
    return (high < c.total ? high : c.total) - column_low(c);
}

/* Beyond its ends the signal is continued by its mirror image. */
static inline long mirrored(long n, long total)
{
    for (;;) {
        if (n < 0)
            n = -1 - n;
        else if (n >= total)
            n = 2 * total - 1 - n;
        else
            return n;
    }
}

/* The filter over a part of a column; out points to its first sample, in to sample `low`. */
static inline void filter(const double *in, long low, double *out, struct column c, double c1, double c2)
{
#define AT(n) in[STRIDE * (mirrored(n, c.total) - low)]
    long r = c.radius, n = c.first, end = c.first + c.count;
    double sum = 0;
    for (long k = n - r; k <= n + r; k++)
        sum += AT(k);
    sum = c1 * (AT(n + r + 1) + AT(n - r - 1)) + (c1 + c2) * sum;
    *out = sum;
    for (n++; n < end; n++) {
        sum += c1 * (AT(n + r + 1) - AT(n - r - 2)) + c2 * (AT(n + r) - AT(n - r - 1));
        out += STRIDE;
        *out = sum;
    }
#undef AT
}

CROFT_REGION(filter_part,
             CROFT_IN(const double *, in, (unsigned long)column_samples(part) * STRIDE * sizeof *in),
             CROFT_OUT(double *, out, (unsigned long)part.count *STRIDE * sizeof *out),
             CROFT_VALUE(struct column, part), CROFT_VALUE(double, c1), CROFT_VALUE(double, c2))
{
    filter(in, column_low(part), out, part, c1, c2);
}

static _Alignas(KERNEL_PAGE) double in[N * STRIDE], out[N * STRIDE], expected[N * STRIDE];

int main(int argc, char **argv)
{
    long tasks = kernel_tasks(argc, argv), grain = kernel_grain(N, tasks, STRIDE * sizeof *out);
    for (long n = 0; n < N; n++)
        in[STRIDE * n] = (double)((n * 7919) % 1009) / 16;

    /* Getreuer's parameters for sigma = 5 and K = 1 pass. */
    const double variance = 25;
    const long r = (long)floor(0.5 * sqrt(12 * variance + 1) - 0.5);
    const double span = 2 * (double)r + 1, wide = (double)((r + 1) * (r + 1));
    const double alpha = span * ((double)(r * (r + 1)) - 3 * variance) / (6 * (variance - wide));
    const double c1 = alpha / (2 * alpha + span), c2 = (1 - alpha) / (2 * alpha + span);

    croft_roi_begin("ebox");
    CROFT_FOR_TASKS(part, N, tasks, grain)
    {
        struct column c = {(uint16_t)part.first, (uint16_t)part.count, N, (uint16_t)r};
        filter_part(in + STRIDE * column_low(c), out + STRIDE * part.first, c, c1, c2);
    }
    croft_roi_end("ebox");

    /* The definition, without a running sum. */
    for (long n = 0; n < N; n++) {
        double sum = 0;
        for (long k = n - r; k <= n + r; k++)
            sum += in[STRIDE * mirrored(k, N)];
        double edges = in[STRIDE * mirrored(n + r + 1, N)] + in[STRIDE * mirrored(n - r - 1, N)];
        expected[STRIDE * n] = c1 * edges + (c1 + c2) * sum;
    }
    return kernel_report("ebox", tasks, N * STRIDE, out, expected, 1e-11);
}
