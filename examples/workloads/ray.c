/* Ray tracing of mirroring spheres on a chequered floor. Rays wait in memory between kernels, as those of GPGPU-Sim's RAY do in
 * the local memory of threads: `aim` makes a ray for each pixel, `cast` finds what it hits first, `shade` adds light or shadow to the
 * pixel and reflects the ray; the two repeat for each reflection. */
#include "../simt/kernel.h"

enum { BLOCK = 128, SPHERES = 12, NOTHING = -1, FLOOR = -2 };

struct vector {
    float x, y, z;
};

struct sphere {
    struct vector centre;
    float square; /* of the radius */
    struct vector colour;
    float mirror; /* part of the light that is reflected */
};

/* Rays and pixels, [pixel]. */
struct image {
    long width, pixels;
    const struct sphere *spheres;
    float *origin[3], *direction[3], *weight, *distance, *colour[3];
    int *hit; /* a sphere, FLOOR or NOTHING */
};

static inline float dot(struct vector a, struct vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* Returns a + scale * b. */
static inline struct vector along(struct vector a, float scale, struct vector b)
{
    return (struct vector){a.x + scale * b.x, a.y + scale * b.y, a.z + scale * b.z};
}

/* Returns whether the field of the floor is white. Numbers below -64 are rounded up, so fields are larger there. */
static inline int is_white(struct vector at)
{
    return ((int)(at.x + 64) + (int)(at.z + 64)) & 1;
}

static inline struct vector unit(struct vector a)
{
    return along((struct vector){0, 0, 0}, 1 / __builtin_sqrtf(dot(a, a)), a);
}

static inline struct vector load(float *const from[3], long pixel)
{
    return (struct vector){from[0][pixel], from[1][pixel], from[2][pixel]};
}

static inline void store(float *const to[3], long pixel, struct vector value)
{
    to[0][pixel] = value.x;
    to[1][pixel] = value.y;
    to[2][pixel] = value.z;
}

/* Returns the distance at which the ray enters the sphere, or infinity. */
static inline float meet(const struct sphere *sphere, struct vector origin, struct vector direction)
{
    struct vector to = along(sphere->centre, -1, origin);
    float middle = dot(to, direction), square = middle * middle - dot(to, to) + sphere->square;
    if (square < 0)
        return INFINITY;
    float distance = middle - __builtin_sqrtf(square);
    return distance > 0.001F ? distance : INFINITY;
}

static inline void aim_pixel(const struct image *m, long pixel)
{
    float half = 0.5F * (float)m->width, x = (float)(pixel % m->width) - half,
          y = half - (float)(pixel / m->width);
    store(m->origin, pixel, (struct vector){0.13F, 2.07F, -6.11F});
    store(m->direction, pixel, unit((struct vector){x, y - 0.2F * half, 1.5F * half}));
    store(m->colour, pixel, (struct vector){0, 0, 0});
    m->weight[pixel] = 1;
}

static inline void cast_pixel(const struct image *m, long pixel)
{
    if (m->weight[pixel] == 0)
        return;
    struct vector origin = load(m->origin, pixel), direction = load(m->direction, pixel);
    int hit = direction.y < 0 ? FLOOR : NOTHING;
    float nearest = direction.y < 0 ? -origin.y / direction.y : INFINITY;
    for (int i = 0; i < SPHERES; i++) {
        float distance = meet(&m->spheres[i], origin, direction);
        if (distance < nearest) {
            nearest = distance;
            hit = i;
        }
    }
    m->distance[pixel] = nearest;
    m->hit[pixel] = hit;
}

static inline void shade_pixel(const struct image *m, long pixel)
{
    float weight = m->weight[pixel], mirror = 0;
    if (weight == 0)
        return;
    int hit = m->hit[pixel];
    struct vector direction = load(m->direction, pixel), colour = load(m->colour, pixel);
    if (hit == NOTHING) { /* the sky */
        store(m->colour, pixel,
              along(colour, weight * (0.4F + 0.6F * direction.y), (struct vector){0.5F, 0.7F, 1}));
        m->weight[pixel] = 0;
        return;
    }
    const struct vector light = {0.485F, 0.728F, -0.485F};
    struct vector at = along(load(m->origin, pixel), m->distance[pixel], direction), normal = {0, 1, 0};
    struct vector own = is_white(at) ? (struct vector){0.9F, 0.9F, 0.9F} : (struct vector){0.2F, 0.2F, 0.2F};
    if (hit >= 0) {
        normal = unit(along(at, -1, m->spheres[hit].centre));
        own = m->spheres[hit].colour;
        mirror = m->spheres[hit].mirror;
    }
    float bright = dot(normal, light) > 0 ? dot(normal, light) : 0;
    for (int i = 0; i < SPHERES; i++)
        if (meet(&m->spheres[i], at, light) < INFINITY)
            bright = 0;
    store(m->colour, pixel, along(colour, weight * (1 - mirror) * (0.15F + 0.85F * bright), own));
    store(m->origin, pixel, at);
    store(m->direction, pixel, along(direction, -2 * dot(direction, normal), normal));
    m->weight[pixel] = weight * mirror;
}

/* The kernels copy their arguments first, as a GPU's kernels have them in constant memory. */
static void aim(const struct image *argument)
{
    const struct image m = *argument;
    long pixel = (long)thread_id();
    if (pixel < m.pixels)
        aim_pixel(&m, pixel);
}

static void cast(const struct image *argument)
{
    const struct image m = *argument;
    long pixel = (long)thread_id();
    if (pixel < m.pixels)
        cast_pixel(&m, pixel);
}

static void shade(const struct image *argument)
{
    const struct image m = *argument;
    long pixel = (long)thread_id();
    if (pixel < m.pixels)
        shade_pixel(&m, pixel);
}

static void setup(struct image *m, long width, const struct sphere *spheres)
{
    long pixels = width * width;
    *m = (struct image){.width = width,
                        .pixels = pixels,
                        .spheres = spheres,
                        .weight = kernel_array(pixels, sizeof(float)),
                        .distance = kernel_array(pixels, sizeof(float)),
                        .hit = kernel_array(pixels, sizeof(int))};
    for (int i = 0; i < 3; i++) {
        m->origin[i] = kernel_array(pixels, sizeof(float));
        m->direction[i] = kernel_array(pixels, sizeof(float));
        m->colour[i] = kernel_array(pixels, sizeof(float));
    }
}

static struct sphere *spheres_make(void)
{
    struct sphere *spheres = kernel_array(SPHERES, sizeof *spheres);
    uint64_t state = 30;
    for (int i = 0; i < SPHERES; i++) {
        float radius = 0.4F + 0.5F * kernel_random_float(&state);
        spheres[i] = (struct sphere){
            {(float)(i % 4) * 2 - 3, radius, (float)(i / 4) * 2.2F - 1},
            radius * radius,
            {kernel_random_float(&state), kernel_random_float(&state), kernel_random_float(&state)},
            i % 3 ? 0.5F : 0.1F};
    }
    return spheres;
}

/* Returns whether at most one pixel in a thousand differs: at edges, rounding decides what a ray hits. */
static int alike(const struct image *a, const struct image *b)
{
    long differ = 0;
    for (long i = 0; i < a->pixels; i++)
        differ += !(fabsf(a->colour[0][i] - b->colour[0][i]) + fabsf(a->colour[1][i] - b->colour[1][i]) +
                        fabsf(a->colour[2][i] - b->colour[2][i]) <
                    0.01F);
    return differ <= a->pixels / 1000;
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {{"WIDTH", 48, 1, 4096}, {"REFLECTIONS", 2, 0, 16}};
    long sizes[2];
    kernel_arguments(argc, argv, arguments, 2, sizes);
    struct sphere *spheres = spheres_make();
    struct image simt, scalar;
    setup(&simt, sizes[0], spheres);
    setup(&scalar, sizes[0], spheres);
    uint32_t blocks = kernel_blocks(simt.pixels, BLOCK);
    croft_roi_begin("ray");
    KERNEL_RUN(aim, &simt, simt_dim(blocks), simt_dim(BLOCK));
    for (long round = 0; round <= sizes[1]; round++) {
        KERNEL_RUN(cast, &simt, simt_dim(blocks), simt_dim(BLOCK));
        KERNEL_RUN(shade, &simt, simt_dim(blocks), simt_dim(BLOCK));
    }
    croft_roi_end("ray");

    for (long i = 0; i < scalar.pixels; i++) {
        aim_pixel(&scalar, i);
        for (long round = 0; round <= sizes[1]; round++) {
            cast_pixel(&scalar, i);
            shade_pixel(&scalar, i);
        }
    }
    return kernel_report("ray", sizes[0], simt.colour[0], (size_t)simt.pixels * sizeof(float),
                         alike(&simt, &scalar));
}
