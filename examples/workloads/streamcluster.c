/* Streamcluster's search for medians (facility location by local search): opening a centre costs a fixed price, and each point pays
 * its distance from its centre. For a candidate, each thread computes what its point would pay there; points that would pay
 * less note it, the others what they would lose if their own centre closed, in a row of a matrix. The host adds up,
 * outside of the region, and opens the candidate and closes centres if that is cheaper, as in Rodinia's version. */
#include "../simt/kernel.h"

enum { BLOCK = 512, CENTRES = 32 };

struct cluster {
    long points, dimensions;
    const float *coordinates; /* [dimension][point] */
    float *cost;              /* of each point */
    int *centre;              /* of each point, a column of `worse` */
    float *better;            /* [point]: what it would save at the candidate */
    float *worse;             /* [point][CENTRES]: what it would pay more there than at its centre */
    long candidate;           /* a point */
    long place[CENTRES];      /* the centre's point, -1 if closed */
    float price;
};

/* Returns the squared distance of a point from the one whose coordinates are `there`, of the given stride. */
static inline float distance(const struct cluster *c, long point, const float *there, long stride)
{
    float sum = 0;
    for (long d = 0; d < c->dimensions; d++) {
        float difference = c->coordinates[d * c->points + point] - there[d * stride];
        sum += difference * difference;
    }
    return sum;
}

static inline void compare_point(const struct cluster *c, long point, float pays)
{
    float saves = c->cost[point] - pays;
    c->better[point] = saves > 0 ? saves : 0;
    if (saves <= 0)
        c->worse[point * CENTRES + c->centre[point]] = -saves;
}

/* Copies the arguments first, as a GPU's kernels have them in constant memory. */
static void compare(const struct cluster *argument)
{
    const struct cluster c = *argument;
    float *there = simt_shared();
    long point = (long)thread_id();
    for (long d = thread_x(); d < c.dimensions; d += BLOCK)
        there[d] = c.coordinates[d * c.points + c.candidate];
    simt_barrier();
    if (point < c.points)
        compare_point(&c, point, distance(&c, point, there, 1));
}

static void compare_scalar(const struct cluster *c)
{
    for (long point = 0; point < c->points; point++)
        compare_point(c, point, distance(c, point, c->coordinates + c->candidate, c->points));
}

/* Decides on the candidate: moves the points that gain, and those of the centres that close. Returns the number of centres
 * opened, 0 or 1. */
static int decide(struct cluster *c)
{
    double gain = -(double)c->price, lost[CENTRES] = {0};
    int closes[CENTRES], opened = -1;
    for (long i = 0; i < c->points; i++) {
        gain += (double)c->better[i];
        lost[c->centre[i]] += (double)c->worse[i * CENTRES + c->centre[i]];
    }
    for (int k = 0; k < CENTRES; k++) {
        closes[k] = c->place[k] >= 0 && lost[k] < (double)c->price;
        gain += closes[k] ? (double)c->price - lost[k] : 0;
    }
    for (int k = CENTRES - 1; k >= 0; k--)
        opened = c->place[k] < 0 ? k : opened;
    int opens = gain > 0 && opened >= 0;
    for (long i = 0; i < c->points; i++) {
        float *worse = &c->worse[i * CENTRES + c->centre[i]];
        if (opens && (c->better[i] > 0 || closes[c->centre[i]])) {
            c->cost[i] += *worse - c->better[i];
            c->centre[i] = opened;
        }
        *worse = 0;
    }
    for (int k = 0; opens && k < CENTRES; k++)
        c->place[k] = closes[k] ? -1 : c->place[k];
    if (opens)
        c->place[opened] = c->candidate;
    return opens;
}

/* Points in sixteen clouds, all at centre 0, which is the first point. */
static void setup(struct cluster *c, long points, long dimensions, const float *coordinates)
{
    *c = (struct cluster){.points = points,
                          .dimensions = dimensions,
                          .coordinates = coordinates,
                          .cost = kernel_array(points, sizeof(float)),
                          .centre = kernel_array(points, sizeof(int)),
                          .better = kernel_array(points, sizeof(float)),
                          .worse = kernel_array(points * CENTRES, sizeof(float)),
                          .price = (float)(points * dimensions) / 64};
    for (int k = 1; k < CENTRES; k++)
        c->place[k] = -1;
    for (long i = 0; i < points; i++)
        c->cost[i] = distance(c, i, coordinates, points);
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {
        {"POINTS", 1024, 2, 1 << 22}, {"DIMENSIONS", 16, 1, 4096}, {"CANDIDATES", 4, 1, 1000}};
    long sizes[3];
    kernel_arguments(argc, argv, arguments, 3, sizes);
    long points = sizes[0], dimensions = sizes[1];
    float *coordinates = kernel_array(points * dimensions, sizeof *coordinates);
    kernel_fill(coordinates, points * dimensions, 14);
    for (long i = 0; i < points * dimensions; i++)
        coordinates[i] = coordinates[i] / 4 + (float)((i % points % 16 * 7 + i / points * 5) % 16) / 16;
    struct cluster simt, scalar;
    setup(&simt, points, dimensions, coordinates);
    setup(&scalar, points, dimensions, coordinates);
    uint64_t state = 15;
    int opened[2] = {0};
    for (long i = 0; i < sizes[2]; i++) {
        simt.candidate = scalar.candidate = (long)(kernel_random(&state) % points);
        croft_roi_begin("streamcluster");
        KERNEL_RUN(compare, &simt, simt_dim(kernel_blocks(points, BLOCK)), simt_dim(BLOCK),
                   .scratchpad = (uint32_t)(dimensions * (long)sizeof(float)));
        croft_roi_end("streamcluster");
        compare_scalar(&scalar);
        opened[0] += decide(&simt);
        opened[1] += decide(&scalar);
    }
    return kernel_report("streamcluster", points, simt.cost, (size_t)points * sizeof *simt.cost,
                         opened[0] == opened[1] &&
                             memcmp(simt.centre, scalar.centre, (size_t)points * sizeof(int)) == 0 &&
                             kernel_close(simt.better, scalar.better, points, 1e-5) &&
                             kernel_close(simt.cost, scalar.cost, points, 1e-5));
}
