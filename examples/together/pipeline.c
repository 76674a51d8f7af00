/* An image in four steps, each by another mechanism of machine `undercroft`; all data stay where they are:
 *
 *   slopes   multiprocessors map the pixels' values into their stashes, and the slopes out of them
 *   assign   multiprocessors find the nearest of five centres for each pixel; TOM offloads the loop over centres to the stacks
 *   spread   NUCD's tasks give each pixel of the first SIDE / 64 rows the mean shade of those neighbours in a graph that have its
 *            centre
 *   tone     multiprocessors give each pixel's value, slope and shade to a network in AxRAM's chips
 *
 * The first three equal plain loops to the bit; of the last, `quality` is what the network loses (compiled without
 * -DCROFT_APPROX_BY: nothing). pipeline [train | SIDE [stash | scratchpad]]: the image has SIDE * SIDE pixels; `train` is for croft neural; with
 * `scratchpad`, slopes are made from copies in the scratchpad. */
#include "../simt/kernel.h"
#include <croft/approx.h>
#include <croft/nucd.h>
#include <croft/stash.h>

struct pixel {
    float value, slope, shade, tone;
};

enum {
    CENTRES = 5,
    FEATURES = 3,
    DEGREE = 7,
    BLOCK = 256,
    TASKS = 64,
    GRAIN = 128 / sizeof(struct pixel), /* pixels of a cache line */
};

/* What a pixel's neighbours see of it. */
struct seen {
    float shade;
    int32_t centre;
};

/* A pixel of the graph; its neighbours are anywhere. */
struct node {
    int32_t self, neighbour[DEGREE];
};

struct image {
    long pixels, nodes; /* nodes: the first pixels */
    struct pixel *pixel;
    struct seen *seen;
    struct node *node;
    float centres[CENTRES][FEATURES];
};

CROFT_APPROX(tone, 3, 1)
{
    const float light = 0.6F * in[0] + 0.4F * in[2], edge = in[1] * in[1];
    out[0] = sqrtf(light) * (1 - edge / (edge + 0.25F));
}

static float slope_of(float left, float right)
{
    return 0.5F * fabsf(right - left);
}

static void slopes(const struct image *image)
{
    const uint32_t i = thread_x();
    struct pixel *p = image->pixel + block_x() * BLOCK;
    const float *value = croft_stash_map_of(simt_shared(), p, value, .objects = BLOCK);
    float *slope = croft_stash_map_of((float *)simt_shared() + BLOCK, p, slope, .objects = BLOCK);
    slope[i] = slope_of(value[i > 0 ? i - 1 : i], value[i < BLOCK - 1 ? i + 1 : i]);
}

static void slopes_copy(const struct image *image)
{
    const uint32_t i = thread_x();
    struct pixel *p = image->pixel + block_x() * BLOCK;
    float *value = simt_shared();
    value[i] = p[i].value;
    simt_barrier();
    p[i].slope = slope_of(value[i > 0 ? i - 1 : i], value[i < BLOCK - 1 ? i + 1 : i]);
}

static int32_t nearest(const struct image *image, const struct pixel *p)
{
    int32_t best = 0;
    float least = INFINITY;
    for (int c = 0; c < CENTRES; c++) {
        const float value = p->value - image->centres[c][0], slope = p->slope - image->centres[c][1],
                    shade = p->shade - image->centres[c][2];
        const float distance = value * value + slope * slope + shade * shade;
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    return best;
}

static void assign(const struct image *image)
{
    const long i = (long)thread_id();
    const struct pixel *p = &image->pixel[i];
    image->seen[i] = (struct seen){p->shade, nearest(image, p)};
}

static float spread_to(const struct seen *seen, const struct node *node)
{
    const struct seen self = seen[node->self];
    float sum = self.shade, count = 1;
    for (int k = 0; k < DEGREE; k++) {
        const struct seen other = seen[node->neighbour[k]];
        if (other.centre == self.centre) {
            sum += other.shade;
            count++;
        }
    }
    return sum / count;
}

/* A graph has no order: each task may see all pixels. */
CROFT_REGION(spread, CROFT_IN(const struct seen *, seen, (unsigned long)pixels * sizeof *seen),
             CROFT_IN(const struct node *, node, (unsigned long)count * sizeof *node),
             CROFT_OUT(struct pixel *, pixel, (unsigned long)count * sizeof *pixel), CROFT_VALUE(long, count),
             CROFT_VALUE(long, pixels))
{
    (void)pixels;
    for (long i = 0; i < count; i++)
        pixel[i].shade = spread_to(seen, &node[i]);
}

static void filter(const struct image *image)
{
    const long i = (long)thread_id();
    struct pixel *p = &image->pixel[i];
    const float in[3] = {p->value, p->slope, p->shade};
    float out[1];
    tone_by_thread(in, out);
    p->tone = out[0];
}

static void make(struct image *image, long side)
{
    uint64_t random = 7;
    *image = (struct image){.pixels = side * side,
                            .nodes = (side + 63) / 64 * side,
                            .pixel = kernel_array(side * side, sizeof *image->pixel),
                            .seen = kernel_array(side * side, sizeof *image->seen),
                            .node = kernel_array((side + 63) / 64 * side, sizeof *image->node)};
    for (long i = 0; i < image->pixels; i++) {
        image->pixel[i].value = 0.5F + 0.4F * sinf(0.05F * (float)i) + 0.1F * kernel_random_float(&random);
        image->pixel[i].shade = kernel_random_float(&random);
    }
    for (long i = 0; i < image->nodes; i++) {
        image->node[i].self = (int32_t)i;
        for (int k = 0; k < DEGREE; k++)
            image->node[i].neighbour[k] = (int32_t)(kernel_random(&random) % (uint64_t)image->pixels);
    }
    for (int c = 0; c < CENTRES; c++)
        for (int f = 0; f < FEATURES; f++)
            image->centres[c][f] = kernel_random_float(&random);
}

static void run(const struct image *image, int copy)
{
    /* Not loaded again for each task: so that the ROB holds many. */
    const long pixels = image->pixels;
    const struct seen *seen = image->seen;
    const struct node *node = image->node;
    struct pixel *pixel = image->pixel;
    const struct simt_dim grid = simt_dim(kernel_blocks(pixels, BLOCK)), block = simt_dim(BLOCK);
    if (copy)
        KERNEL_RUN(slopes_copy, image, grid, block, .scratchpad = BLOCK * sizeof(float));
    else
        KERNEL_RUN(slopes, image, grid, block, .scratchpad = 2 * BLOCK * sizeof(float));
    KERNEL_RUN(assign, image, grid, block);
    CROFT_FOR_TASKS(part, image->nodes, TASKS, GRAIN)
    spread(seen, node + part.first, pixel + part.first, part.count, pixels);
    KERNEL_RUN(filter, image, grid, block);
}

static void run_plain(struct image *image)
{
    struct pixel *pixel = image->pixel;
    for (long i = 0; i < image->pixels; i++) {
        const long x = i % BLOCK;
        pixel[i].slope = slope_of(pixel[x > 0 ? i - 1 : i].value, pixel[x < BLOCK - 1 ? i + 1 : i].value);
        image->seen[i] = (struct seen){pixel[i].shade, nearest(image, &pixel[i])};
    }
    for (long i = 0; i < image->nodes; i++)
        pixel[i].shade = spread_to(image->seen, &image->node[i]);
    for (long i = 0; i < image->pixels; i++) {
        const float in[3] = {pixel[i].value, pixel[i].slope, pixel[i].shade};
        tone_original(in, &pixel[i].tone);
    }
}

static int train(const struct image *image)
{
    float out[1];
    for (long i = 0; i < image->pixels; i++) {
        const float in[3] = {image->pixel[i].value, image->pixel[i].slope, image->pixel[i].shade};
        tone(in, out);
    }
    printf("tone: %ld calls\n", image->pixels);
    return 0;
}

int main(int argc, char **argv)
{
    const int trains = argc > 1 && strcmp(argv[1], "train") == 0;
    const int copy = argc == 3 && strcmp(argv[2], "scratchpad") == 0,
              map = argc == 3 && strcmp(argv[2], "stash") == 0;
    const long side = trains ? 32 : kernel_size(copy || map ? 2 : argc, argv, 128, 16, 1024, 16);
    struct image image, plain;
    make(&image, side);
    make(&plain, side);
    run_plain(&plain);
    if (trains)
        return train(&plain);
    croft_roi_begin("pipeline");
    run(&image, copy);
    croft_roi_end("pipeline");
    long wrong = 0;
    double lost = 0;
    for (long i = 0; i < image.pixels; i++) {
        const struct pixel *got = &image.pixel[i], *expected = &plain.pixel[i];
        wrong += got->value != expected->value || got->slope != expected->slope ||
                 got->shade != expected->shade || image.seen[i].centre != plain.seen[i].centre;
        lost += fabs((double)got->tone - (double)expected->tone);
    }
    printf("pipeline: %ld pixels, %ld wrong\nquality lost %.3f %%\n", image.pixels, wrong,
           100 * lost / (double)image.pixels);
    return wrong != 0;
}
