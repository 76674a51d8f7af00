/* Kernels for a machine with many multiprocessors and memory channels: wide KERNEL [ROUNDS [BLOCKS]]. Three depend on
 * memory; the host does next to nothing. Prints a digest of the result. */
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1024, COUNT = WIDTH * 1024, BLOCK = 256, BLOCKS = 512, TILE = 16, SIDE = 256 };

/* Whole lines. */
_Alignas(128) uint32_t from[COUNT + 2 * WIDTH], to[COUNT + 2 * WIDTH];
_Alignas(128) float left[SIDE * SIDE], right[SIDE * SIDE], result[SIDE * SIDE];

/* Five points of a plane, one row after the other. */
static void stencil(const long *rounds)
{
    long count = (long)thread_count();
    for (long n = 0; n < *rounds; n++)
        for (long i = WIDTH + (long)thread_id(); i < COUNT + WIDTH; i += count)
            to[i] = 4 * from[i] + from[i - 1] + from[i + 1] + from[i - WIDTH] + from[i + WIDTH];
}

/* Words at places that a hash chooses. */
static void hash(const long *rounds)
{
    uint32_t place = (uint32_t)thread_id(), sum = 0;
    for (long n = 0; n < 16 * *rounds; n++) {
        place = (place ^ place >> 15) * 0x2c1b3c6d;
        place ^= place >> 12;
        sum += from[place % COUNT];
    }
    to[thread_id()] = sum;
}

/* All words, one after the other. */
static void read(const long *rounds)
{
    uint32_t sum = 0;
    long count = (long)thread_count();
    for (long n = 0; n < *rounds; n++)
        for (long i = (long)thread_id(); i < COUNT; i += count)
            sum += from[i];
    to[thread_id()] = sum;
}

/* A product of matrices by tiles in the scratchpad. */
static void product(const long *rounds)
{
    float(*a)[TILE] = simt_shared(), (*b)[TILE] = a + TILE, sum = 0;
    uint32_t x = thread_x(), y = thread_y(), column = block_x() * TILE + x, line = block_y() * TILE + y;
    for (long n = 0; n < *rounds; n++)
        for (uint32_t tile = 0; tile < SIDE; tile += TILE) {
            a[y][x] = left[line * SIDE + tile + x];
            b[y][x] = right[(tile + y) * SIDE + column];
            simt_barrier();
            for (unsigned k = 0; k < TILE; k++)
                sum += a[y][k] * b[k][x];
            simt_barrier();
        }
    result[line * SIDE + column] = sum;
}

static uint32_t digest(const void *values, size_t bytes)
{
    const uint8_t *at = values;
    uint32_t sum = 2166136261;
    for (size_t i = 0; i < bytes; i += 4093)
        sum = (sum ^ at[i]) * 16777619;
    return sum;
}

int main(int argc, char **argv)
{
    static long rounds;
    const char *name = argc > 1 ? argv[1] : "read";
    struct simt_dim grid = simt_dim(argc > 3 ? (uint32_t)atol(argv[3]) : BLOCKS), block = simt_dim(BLOCK);
    long launch;
    rounds = argc > 2 ? atol(argv[2]) : 1;
    for (uint32_t i = 0; i < COUNT; i += 61)
        from[i] = i;
    for (uint32_t i = 0; i < SIDE * SIDE; i += 3)
        left[i] = right[i] = (float)(i % 7);
    if (strcmp(name, "stencil") == 0)
        launch = simt_launch(stencil, &rounds, grid, block);
    else if (strcmp(name, "hash") == 0)
        launch = simt_launch(hash, &rounds, grid, block);
    else if (strcmp(name, "product") == 0)
        launch = simt_launch(product, &rounds, simt_dim(SIDE / TILE, SIDE / TILE), simt_dim(TILE, TILE),
                             .scratchpad = 2 * TILE * TILE * sizeof *left);
    else
        launch = simt_launch(read, &rounds, grid, block);
    if (launch < 0 || simt_wait(0))
        return 1;
    printf("%s %08x\n", name, digest(to, sizeof to) ^ digest(result, sizeof result));
    return 0;
}
