/* SRAD, speckle reducing anisotropic diffusion (Yu and Acton 2002): smooths an image except at its edges. In
 * each round, blocks sum up the image for its mean and variance; then one kernel computes how far each pixel
 * may diffuse, and another applies it. */
#include "kernel.h"

enum { BLOCK = 256, TILE = 16, ROUNDS = 2 };

static const float rate = 0.5f;

struct srad {
    float *image;   /* [size][size] */
    float *diffuse; /* diffusion coefficient of each pixel, 0 to 1 */
    float *sums;    /* sums of pixels and of their squares, for each block */
    long size;
    float speckle; /* variance / mean^2; q0^2 in the paper */
};

/* Returns the index of the pixel, or of the nearest one inside the image. */
static long pixel(const struct srad *p, long y, long x)
{
    long last = p->size - 1;
    y = y < 0 ? 0 : y > last ? last : y;
    x = x < 0 ? 0 : x > last ? last : x;
    return y * p->size + x;
}

static void add_up(const struct srad *p)
{
    float(*sums)[2] = simt_shared();
    uint32_t t = thread_x();
    long i = (long)block_x() * BLOCK + t;
    float value = i < p->size * p->size ? p->image[i] : 0;
    sums[t][0] = value;
    sums[t][1] = value * value;
    for (uint32_t half = BLOCK / 2; half > 0; half /= 2) {
        simt_barrier();
        for (uint32_t k = 0; t < half && k < 2; k++)
            sums[t][k] += sums[t + half][k];
    }
    for (uint32_t k = 0; t == 0 && k < 2; k++) /* thread 0 stores its own sum: no barrier is needed */
        p->sums[2 * block_x() + k] = sums[0][k];
}

static float coefficient(const struct srad *p, long y, long x)
{
    const float *image = p->image;
    float here = image[pixel(p, y, x)];
    float n = image[pixel(p, y - 1, x)] - here, s = image[pixel(p, y + 1, x)] - here;
    float w = image[pixel(p, y, x - 1)] - here, e = image[pixel(p, y, x + 1)] - here;
    float gradient = (n * n + s * s + w * w + e * e) / (here * here), laplacian = (n + s + w + e) / here;
    float below = 1 + 0.25f * laplacian;
    float q = (0.5f * gradient - laplacian * laplacian / 16) / (below * below);
    float c = 1 / (1 + (q - p->speckle) / (p->speckle * (1 + p->speckle)));
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

static void find(const struct srad *p)
{
    long y = (long)block_y() * TILE + thread_y(), x = (long)block_x() * TILE + thread_x();
    if (y < p->size && x < p->size)
        p->diffuse[y * p->size + x] = coefficient(p, y, x);
}

/* Returns the change of a pixel. Each flow uses the coefficient of the southern or eastern pixel on both
 * sides, so that flows balance. */
static float flow(const struct srad *p, long y, long x)
{
    const float *image = p->image;
    float here = image[pixel(p, y, x)], c = p->diffuse[pixel(p, y, x)];
    float n = image[pixel(p, y - 1, x)] - here, s = image[pixel(p, y + 1, x)] - here;
    float w = image[pixel(p, y, x - 1)] - here, e = image[pixel(p, y, x + 1)] - here;
    return c * (n + w) + p->diffuse[pixel(p, y + 1, x)] * s + p->diffuse[pixel(p, y, x + 1)] * e;
}

/* Writes the new image to the memory of the sums, because neighbours still read the old image. */
static void let(const struct srad *p)
{
    long y = (long)block_y() * TILE + thread_y(), x = (long)block_x() * TILE + thread_x();
    if (y < p->size && x < p->size)
        p->sums[y * p->size + x] = p->image[y * p->size + x] + 0.25f * rate * flow(p, y, x);
}

static void swap_image(struct srad *p)
{
    float *image = p->image;
    p->image = p->sums;
    p->sums = image;
}

static void set_speckle(struct srad *p, double sum, double squares)
{
    double count = (double)(p->size * p->size), mean = sum / count;
    p->speckle = (float)((squares / count - mean * mean) / (mean * mean));
}

static void round_simt(struct srad *p)
{
    uint32_t blocks = kernel_blocks(p->size * p->size, BLOCK), tiles = kernel_blocks(p->size, TILE);
    KERNEL_RUN(add_up, p, simt_dim(blocks), simt_dim(BLOCK), .scratchpad = BLOCK * 2 * sizeof(float));
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        sum += (double)p->sums[2 * i];
        squares += (double)p->sums[2 * i + 1];
    }
    set_speckle(p, sum, squares);
    KERNEL_RUN(find, p, simt_dim(tiles, tiles), simt_dim(TILE, TILE));
    KERNEL_RUN(let, p, simt_dim(tiles, tiles), simt_dim(TILE, TILE));
    swap_image(p);
}

static void round_scalar(struct srad *p)
{
    long count = p->size * p->size;
    double sum = 0, squares = 0;
    for (long i = 0; i < count; i++) {
        sum += (double)p->image[i];
        squares += (double)(p->image[i] * p->image[i]);
    }
    set_speckle(p, sum, squares);
    for (long i = 0; i < count; i++)
        p->diffuse[i] = coefficient(p, i / p->size, i % p->size);
    for (long i = 0; i < count; i++)
        p->sums[i] = p->image[i] + 0.25f * rate * flow(p, i / p->size, i % p->size);
    swap_image(p);
}

/* A grey image with a bright square, and speckle. */
static void setup(struct srad *p, long size)
{
    long count = size * size;
    *p = (struct srad){kernel_memory(count, sizeof(float)), kernel_memory(count, sizeof(float)),
                       kernel_memory(count + 2, sizeof(float)), size, 0};
    kernel_fill(p->image, count, 21);
    for (long i = 0; i < count; i++) {
        long y = i / size * 4 / size, x = i % size * 4 / size;
        p->image[i] = (1 + p->image[i] / 4) * (y > 0 && y < 3 && x > 0 && x < 3 ? 4 : 1);
    }
}

int main(int argc, char **argv)
{
    long size = kernel_size(argc, argv, 48, 4, 2048, 1), count = size * size;
    struct srad simt, scalar;
    setup(&simt, size);
    setup(&scalar, size);
    croft_roi_begin("srad");
    for (int round = 0; round < ROUNDS; round++)
        round_simt(&simt);
    croft_roi_end("srad");

    for (int round = 0; round < ROUNDS; round++)
        round_scalar(&scalar);
    return kernel_report("srad", size, simt.image, (size_t)count * sizeof(float),
                         kernel_close(simt.image, scalar.image, count, 1e-4));
}
