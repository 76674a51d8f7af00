/* The extended box filter, a fast approximation of a Gaussian (Getreuer, "A survey of Gaussian convolution
 * algorithms", Image Processing On Line 3, 2013): one pass over a column of an image. */
#include "kernel.h"

enum {
    N = 8000,    /* samples */
    STRIDE = 8,  /* distance between two samples: the image's width */
    MARGIN = 16, /* at least radius + 2 */
};

/* Packs a part's number of samples and its box radius into one register by arithmetic. A struct would be
 * assembled in memory, and loading it would wait for its stores, which wait for earlier tasks. */
static inline unsigned long box_part(long count, long radius)
{
    return (unsigned long)count | (unsigned long)radius << 32;
}

static inline long box_count(unsigned long part)
{
    return (uint32_t)part;
}

static inline long box_radius(unsigned long part)
{
    return (long)(part >> 32);
}

/* The number of samples that the part reads: radius + 2 before it, radius + 1 after it. */
static inline unsigned long box_samples(unsigned long part)
{
    return (unsigned long)(box_count(part) + 2 * box_radius(part) + 3);
}

/* Filters a part of a column; out points to the part's first sample, in to the first sample that it reads. */
CROFT_REGION(filter_part, CROFT_IN(const double *, in, box_samples(part) * STRIDE * sizeof *in),
             CROFT_OUT(double *, out, (unsigned long)box_count(part) * STRIDE * sizeof *out),
             CROFT_VALUE(unsigned long, part), CROFT_VALUE(double, c1), CROFT_VALUE(double, c2))
{
    long r = box_radius(part), count = box_count(part);
    in += STRIDE * (r + 2);
    double sum = 0;
    for (long k = -r; k <= r; k++)
        sum += in[STRIDE * k];
    sum = c1 * (in[STRIDE * (r + 1)] + in[STRIDE * (-r - 1)]) + (c1 + c2) * sum;
    *out = sum;
    for (long n = 1; n < count; n++) {
        in += STRIDE;
        out += STRIDE;
        sum += c1 * (in[STRIDE * (r + 1)] - in[STRIDE * (-r - 2)]) +
               c2 * (in[STRIDE * r] - in[STRIDE * (-r - 1)]);
        *out = sum;
    }
}

/* The signal is mirrored into MARGIN additional samples at each end. */
static _Alignas(KERNEL_PAGE) double in[(N + 2 * MARGIN) * STRIDE], out[N * STRIDE], expected[N * STRIDE];

int main(int argc, char **argv)
{
    long tasks = kernel_tasks(argc, argv), grain = kernel_grain(N, tasks, STRIDE * sizeof *out);
    for (long n = -MARGIN; n < N + MARGIN; n++) {
        long mirrored = n < 0 ? -1 - n : n < N ? n : 2 * N - 1 - n;
        in[STRIDE * (n + MARGIN)] = (double)((mirrored * 7919) % 1009) / 16;
    }

    /* Getreuer's parameters for sigma = 5 and K = 1 pass. */
    const double variance = 25;
    const long r = (long)floor(0.5 * sqrt(12 * variance + 1) - 0.5);
    const double span = 2 * (double)r + 1, wide = (double)((r + 1) * (r + 1));
    const double alpha = span * ((double)(r * (r + 1)) - 3 * variance) / (6 * (variance - wide));
    const double c1 = alpha / (2 * alpha + span), c2 = (1 - alpha) / (2 * alpha + span);

    memset(out, 0, sizeof out); /* allocates the pages before the measurement */
    kernel_start(argc, argv);
    croft_roi_begin("ebox");
    CROFT_FOR_TASKS(part, N, tasks, grain)
    {
        filter_part(in + STRIDE * (part.first + MARGIN - r - 2), out + STRIDE * part.first,
                    box_part(part.count, r), c1, c2);
    }
    croft_roi_end("ebox");

    /* The filter's definition, without a running sum. */
    for (long n = 0; n < N; n++) {
        double sum = 0;
        for (long k = n - r; k <= n + r; k++)
            sum += in[STRIDE * (k + MARGIN)];
        double edges = in[STRIDE * (n + r + 1 + MARGIN)] + in[STRIDE * (n - r - 1 + MARGIN)];
        expected[STRIDE * n] = c1 * edges + (c1 + c2) * sum;
    }
    return kernel_report("ebox", tasks, N * STRIDE, out, expected, 1e-11);
}
