/* k-means over records of many features, all in global memory, as in the version of Rodinia's kmeans that TOM uses: one kernel turns
 * records of features into features of records, another assigns each record to the nearest centre. The host moves the
 * centres, outside of the region. */
#include "../simt/kernel.h"

enum { BLOCK = 256, CENTRES = 5 };

struct kmeans {
    long records, features;
    const float *given; /* [record][feature] */
    float *values;      /* [feature][record] */
    float *centres;     /* [centre][feature] */
    int *nearest;       /* centre of each record */
};

static inline void turn_record(const struct kmeans *k, long record)
{
    for (long f = 0; f < k->features; f++)
        k->values[f * k->records + record] = k->given[record * k->features + f];
}

static inline void assign_record(const struct kmeans *k, long record)
{
    int best = 0;
    float least = INFINITY;
    for (int c = 0; c < CENTRES; c++) {
        const float *centre = k->centres + c * k->features, *value = k->values + record;
        float distance = 0;
        for (long f = 0; f < k->features; f++, value += k->records) {
            float difference = *value - centre[f];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    k->nearest[record] = best;
}

/* The kernels copy their arguments first, as a GPU's kernels have them in constant memory. */
static void turn(const struct kmeans *argument)
{
    const struct kmeans k = *argument;
    long record = (long)thread_id();
    if (record < k.records)
        turn_record(&k, record);
}

static void assign(const struct kmeans *argument)
{
    const struct kmeans k = *argument;
    long record = (long)thread_id();
    if (record < k.records)
        assign_record(&k, record);
}

static void move(struct kmeans *k)
{
    double *sums = kernel_memory(CENTRES * k->features, sizeof *sums);
    long members[CENTRES] = {0};
    for (long i = 0; i < k->records; i++) {
        members[k->nearest[i]]++;
        for (long f = 0; f < k->features; f++)
            sums[k->nearest[i] * k->features + f] += (double)k->given[i * k->features + f];
    }
    for (long i = 0; i < CENTRES * k->features; i++)
        if (members[i / k->features] > 0)
            k->centres[i] = (float)(sums[i] / (double)members[i / k->features]);
    free(sums);
}

static void setup(struct kmeans *k, long records, long features, const float *given)
{
    *k = (struct kmeans){.records = records,
                         .features = features,
                         .given = given,
                         .values = kernel_array(records * features, sizeof(float)),
                         .centres = kernel_array(CENTRES * features, sizeof(float)),
                         .nearest = kernel_array(records, sizeof(int))};
    memcpy(k->centres, given, (size_t)(CENTRES * features) * sizeof(float)); /* the first records */
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {
        {"RECORDS", 1024, CENTRES, 1 << 20}, {"FEATURES", 34, 1, 256}, {"ROUNDS", 2, 1, 100}};
    long sizes[3];
    kernel_arguments(argc, argv, arguments, 3, sizes);
    long records = sizes[0], features = sizes[1];
    float *given = kernel_array(records * features, sizeof *given);
    kernel_fill(given, records * features, 11);
    /* Records form clouds around five places, so that rounding does not decide which centre is nearest. */
    for (long i = 0; i < records * features; i++)
        given[i] += (float)(i / features % CENTRES * (i % features + 1) % 7);
    struct kmeans simt, scalar;
    setup(&simt, records, features, given);
    setup(&scalar, records, features, given);

    croft_roi_begin("kmeans");
    KERNEL_RUN(turn, &simt, simt_dim(kernel_blocks(records, BLOCK)), simt_dim(BLOCK));
    croft_roi_end("kmeans");
    for (long i = 0; i < records; i++)
        turn_record(&scalar, i);
    for (long round = 0; round < sizes[2]; round++) {
        croft_roi_begin("kmeans");
        KERNEL_RUN(assign, &simt, simt_dim(kernel_blocks(records, BLOCK)), simt_dim(BLOCK));
        croft_roi_end("kmeans");
        for (long i = 0; i < records; i++)
            assign_record(&scalar, i);
        move(&simt);
        move(&scalar);
    }
    int correct = memcmp(simt.nearest, scalar.nearest, (size_t)records * sizeof(int)) == 0 &&
                  kernel_close(simt.centres, scalar.centres, CENTRES * features, 1e-4);
    return kernel_report("kmeans", records, simt.nearest, (size_t)records * sizeof(int), correct);
}
