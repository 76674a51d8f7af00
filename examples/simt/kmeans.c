/* k-means: assigns each point to the nearest of five centres and moves each centre to the mean of its points,
 * until no point changes or for ten rounds. One kernel assigns; another computes the means, with one block
 * per centre. */
#include <stdatomic.h>

#include "kernel.h"

enum { CENTRES = 5, FEATURES = 4, BLOCK = 128, ROUNDS = 10 };

struct kmeans {
    long points;
    const float *features; /* [feature][point], so that neighbouring threads read neighbouring words */
    int *centre;           /* centre of each point */
    atomic_int changed;    /* number of points */
    float centres[CENTRES][FEATURES];
};

static int nearest(const struct kmeans *k, long point)
{
    int best = 0;
    float least = INFINITY;
    for (int c = 0; c < CENTRES; c++) {
        float distance = 0;
        for (int f = 0; f < FEATURES; f++) {
            float difference = k->features[f * k->points + point] - k->centres[c][f];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    return best;
}

static void assign(struct kmeans *k)
{
    long point = (long)thread_id();
    if (point >= k->points)
        return;
    int centre = nearest(k, point);
    if (centre != k->centre[point]) {
        k->centre[point] = centre;
        atomic_fetch_add_explicit(&k->changed, 1, memory_order_relaxed);
    }
}

static void move(struct kmeans *k)
{
    float(*sums)[FEATURES + 1] = simt_shared(); /* last element: number of points */
    uint32_t t = thread_x();
    float own[FEATURES + 1] = {0};
    for (long point = t; point < k->points; point += BLOCK)
        if (k->centre[point] == (int)block_x()) {
            for (int f = 0; f < FEATURES; f++)
                own[f] += k->features[f * k->points + point];
            own[FEATURES]++;
        }
    memcpy(sums[t], own, sizeof own);
    for (uint32_t half = BLOCK / 2; half > 0; half /= 2) {
        simt_barrier();
        for (int f = 0; t < half && f <= FEATURES; f++)
            sums[t][f] += sums[t + half][f];
    }
    simt_barrier();
    if (t < FEATURES && sums[0][FEATURES] > 0)
        k->centres[block_x()][t] = sums[0][t] / sums[0][FEATURES];
}

static int round_simt(struct kmeans *k)
{
    k->changed = 0;
    KERNEL_RUN(assign, k, simt_dim(kernel_blocks(k->points, BLOCK)), simt_dim(BLOCK));
    KERNEL_RUN(move, k, simt_dim(CENTRES), simt_dim(BLOCK),
               .scratchpad = BLOCK * (FEATURES + 1) * sizeof(float));
    return k->changed;
}

static int round_scalar(struct kmeans *k)
{
    float sums[CENTRES][FEATURES + 1] = {0};
    int changed = 0;
    for (long point = 0; point < k->points; point++) {
        int centre = nearest(k, point);
        changed += centre != k->centre[point];
        k->centre[point] = centre;
        for (int f = 0; f < FEATURES; f++)
            sums[centre][f] += k->features[f * k->points + point];
        sums[centre][FEATURES]++;
    }
    for (int c = 0; c < CENTRES; c++)
        for (int f = 0; f < FEATURES && sums[c][FEATURES] > 0; f++)
            k->centres[c][f] = sums[c][f] / sums[c][FEATURES];
    return changed;
}

static void setup(struct kmeans *k, long points, float *features)
{
    *k =
        (struct kmeans){.points = points, .features = features, .centre = kernel_memory(points, sizeof(int))};
    for (long i = 0; i < points; i++)
        k->centre[i] = -1;
    for (int i = 0; i < CENTRES * FEATURES; i++)
        k->centres[i / FEATURES][i % FEATURES] = features[i % FEATURES * points + i / FEATURES];
}

int main(int argc, char **argv)
{
    long points = kernel_size(argc, argv, 1024, CENTRES, 1 << 20, 1);
    float *features = kernel_memory(points * FEATURES, sizeof *features);
    struct kmeans simt, scalar;
    kernel_fill(features, points * FEATURES, 11);
    /* The points form clouds around five places, so that rounding does not decide which centre is nearest. */
    for (long i = 0; i < points * FEATURES; i++)
        features[i] += (float)(i % points % CENTRES * (i / points + 1) % 7);
    setup(&simt, points, features);
    setup(&scalar, points, features);

    croft_roi_begin("kmeans");
    for (int round = 0; round < ROUNDS && round_simt(&simt) > 0; round++)
        ;
    croft_roi_end("kmeans");

    for (int round = 0; round < ROUNDS && round_scalar(&scalar) > 0; round++)
        ;
    int correct = memcmp(simt.centre, scalar.centre, (size_t)points * sizeof(int)) == 0 &&
                  kernel_close(simt.centres[0], scalar.centres[0], CENTRES * FEATURES, 1e-4);
    return kernel_report("kmeans", points, simt.centres, sizeof simt.centres, correct);
}
