/* Histograms: how many values fell into each range. */
#ifndef EMU_SIM_REPORT_HISTOGRAM_H
#define EMU_SIM_REPORT_HISTOGRAM_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum { HISTOGRAM_BUCKETS = 32 };

enum histogram_scale {
    HISTOGRAM_LOG2,   /* upper ends 2^step, 2^(step + 1), 2^(step + 2), ... */
    HISTOGRAM_LINEAR, /* upper ends step, 2 * step, 3 * step, ... */
};

/* Owned by the part that adds values; the registry of statistics only reads it. Empty if all but the first fields are
 * 0. */
struct histogram {
    enum histogram_scale scale;
    uint32_t count; /* number of buckets, 1 to HISTOGRAM_BUCKETS */
    uint64_t step;  /* width of a LINEAR bucket; logarithm of the first LOG2 bucket's upper end, below 32 */
    bool bounded;   /* no value is above the last bucket, so the overflow bucket is not published */
    uint64_t sum;
    uint64_t buckets[HISTOGRAM_BUCKETS + 1]; /* buckets[count] is the overflow bucket */
};

/* Returns an empty histogram of `count` buckets. The first one ends at 2^first, first < 32. */
static inline struct histogram histogram_log2(uint32_t first, uint32_t count)
{
    assert(first < 32 && count >= 1 && count <= HISTOGRAM_BUCKETS);
    return (struct histogram){.scale = HISTOGRAM_LOG2, .count = count, .step = first};
}

static inline struct histogram histogram_linear(uint64_t step, uint32_t count)
{
    assert(step >= 1 && count >= 1 && count <= HISTOGRAM_BUCKETS);
    return (struct histogram){.scale = HISTOGRAM_LINEAR, .count = count, .step = step};
}

/* Returns the greatest value of a bucket. Its least value is one more than the greatest of the bucket before; 0 is in
 * the first. */
static inline uint64_t histogram_most(const struct histogram *histogram, uint32_t bucket)
{
    return histogram->scale == HISTOGRAM_LOG2 ? UINT64_C(1) << (histogram->step + bucket)
                                              : histogram->step * ((uint64_t)bucket + 1);
}

static inline void histogram_add(struct histogram *histogram, uint64_t value)
{
    uint64_t bucket = 0;
    if (value > histogram_most(histogram, 0))
        bucket = histogram->scale == HISTOGRAM_LOG2
                     ? (uint64_t)(64 - __builtin_clzll(value - 1)) - histogram->step
                     : (value - 1) / histogram->step;
    histogram->sum += value;
    histogram->buckets[bucket < histogram->count ? bucket : histogram->count]++;
}

/* Returns the number of values added. */
static inline uint64_t histogram_samples(const struct histogram *histogram)
{
    uint64_t samples = 0;
    for (uint32_t i = 0; i <= histogram->count; i++)
        samples += histogram->buckets[i];
    return samples;
}

#endif
