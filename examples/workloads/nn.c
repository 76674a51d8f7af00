/* Nearest neighbours: the distances of records of hurricanes from a place; the host then picks the ten nearest. Records are
 * latitude and longitude of storms every six hours, along tracks that begin anywhere in the ranges of Rodinia's records. */
#include "../simt/kernel.h"

enum { BLOCK = 256, NEAREST = 10, TRACK = 64 };

struct place {
    float latitude, longitude; /* degrees */
};

struct search {
    long records;
    const struct place *places;
    float *distances;
    struct place here;
};

static inline float distance(struct place a, struct place b)
{
    float y = a.latitude - b.latitude, x = a.longitude - b.longitude;
    return sqrtf(y * y + x * x);
}

/* Copies the arguments first, as a GPU's kernels have them in constant memory. */
static void measure(const struct search *argument)
{
    const struct search s = *argument;
    long i = (long)thread_id();
    if (i < s.records)
        s.distances[i] = distance(s.places[i], s.here);
}

/* Stores the numbers of the nearest records, nearest first; of equal ones the first. */
static void pick(const float *distances, long records, long nearest[NEAREST])
{
    long found = 0;
    for (long i = 0; i < records; i++) {
        if (found == NEAREST && distances[i] >= distances[nearest[found - 1]])
            continue;
        long at = found < NEAREST ? found++ : found - 1;
        for (; at > 0 && distances[nearest[at - 1]] > distances[i]; at--)
            nearest[at] = nearest[at - 1];
        nearest[at] = i;
    }
}

static struct place *tracks_make(long records)
{
    struct place *places = kernel_array(records, sizeof *places), now = {0, 0};
    uint64_t state = 5;
    for (long i = 0; i < records; i++) {
        if (i % TRACK == 0)
            now = (struct place){7 + 63 * kernel_random_float(&state), 358 * kernel_random_float(&state)};
        places[i] = now;
        now.latitude += kernel_random_float(&state) - 0.25F;
        now.longitude -= kernel_random_float(&state) * 2 - 0.5F;
    }
    return places;
}

int main(int argc, char **argv)
{
    long records = kernel_size(argc, argv, 4096, NEAREST, 1 << 23, 1);
    struct search search = {.records = records,
                            .places = tracks_make(records),
                            .distances = kernel_array(records, sizeof(float)),
                            .here = {30, 90}};
    float *expected = kernel_array(records, sizeof *expected);
    croft_roi_begin("nn");
    KERNEL_RUN(measure, &search, simt_dim(kernel_blocks(records, BLOCK)), simt_dim(BLOCK));
    croft_roi_end("nn");

    long nearest[NEAREST], right[NEAREST];
    for (long i = 0; i < records; i++)
        expected[i] = distance(search.places[i], search.here);
    pick(search.distances, records, nearest);
    pick(expected, records, right);
    return kernel_report("nn", records, nearest, sizeof nearest,
                         memcmp(search.distances, expected, (size_t)records * sizeof *expected) == 0 &&
                             memcmp(nearest, right, sizeof nearest) == 0);
}
