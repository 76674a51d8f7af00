/* Images for the applications: a gradient, shapes with sharp edges, waves and noise, by a seed. */
#ifndef IMAGE_H
#define IMAGE_H

#include "app.h"

enum { IMAGE_SHAPES = 24 };

/* An ellipse or a rectangle, with its grey value. */
struct image_shape {
    float x, y, width, height, value; /* in sides; pixels from 0 to 1 */
    int round;
};

static inline float image_pixel(const struct image_shape *shapes, const float *plane, float x, float y)
{
    float value = plane[0] + plane[1] * x + plane[2] * y + 0.15F * sinf(plane[3] * x + plane[4] * y);
    for (int i = 0; i < IMAGE_SHAPES; i++) {
        float dx = (x - shapes[i].x) / shapes[i].width, dy = (y - shapes[i].y) / shapes[i].height;
        int inside = shapes[i].round ? dx * dx + dy * dy < 1 : fabsf(dx) < 1 && fabsf(dy) < 1;
        value = inside ? 0.7F * shapes[i].value + 0.3F * value : value;
    }
    return value;
}

/* Fills side * side pixels. */
static inline void image_fill(float *image, long side, uint64_t *random)
{
    struct image_shape shapes[IMAGE_SHAPES];
    float plane[5] = {app_random(random, 0.1F, 0.5F), app_random(random, -0.3F, 0.5F),
                      app_random(random, -0.3F, 0.5F), app_random(random, 5, 60), app_random(random, 5, 60)};
    for (int i = 0; i < IMAGE_SHAPES; i++)
        shapes[i] = (struct image_shape){app_random(random, 0, 1),         app_random(random, 0, 1),
                                         app_random(random, 0.02F, 0.25F), app_random(random, 0.02F, 0.25F),
                                         app_random(random, 0, 1),         (int)(kernel_random(random) & 1)};
    for (long y = 0; y < side; y++)
        for (long x = 0; x < side; x++) {
            float value = image_pixel(shapes, plane, (float)x / (float)side, (float)y / (float)side);
            value += app_random(random, -0.04F, 0.04F);
            image[y * side + x] = value < 0 ? 0 : value > 1 ? 1 : value;
        }
}

static inline void image_make(struct app_data *d, uint64_t *random)
{
    for (long i = 0; i < d->images; i++)
        image_fill(d->image + i * d->side * d->side, d->side, random);
}

/* Loads the pixels at these offsets from an element's; beyond the image, the nearest pixel within. */
static inline __attribute__((always_inline)) void image_load(const struct app_data *d, long i, long inputs,
                                                             const signed char offsets[][2], float *in)
{
    long area = d->side * d->side, last = d->side - 1, y = i % area / d->side, x = i % d->side;
    const float *image = d->image + i / area * area;
#pragma GCC unroll 64
    for (long k = 0; k < inputs; k++) {
        long py = y + offsets[k][0], px = x + offsets[k][1];
        py = py < 0 ? 0 : py > last ? last : py;
        px = px < 0 ? 0 : px > last ? last : px;
        in[k] = image[py * d->side + px];
    }
}

/* A pixel and its eight neighbours, row by row. */
static inline void image_load_square(const struct app_data *d, long i, long inputs, float *in)
{
    static const signed char square[9][2] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 0},
                                             {0, 1},   {1, -1}, {1, 0},  {1, 1}};
    image_load(d, i, inputs, square, in);
}

#endif
