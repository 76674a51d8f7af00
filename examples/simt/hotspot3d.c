/* HotSpot in three dimensions: computes the temperatures of a chip of eight layers from its power, in
 * explicit time steps. Heat flows between neighbours and to the surroundings. At an edge, the missing
 * neighbour has the temperature of the point itself. */
#include "kernel.h"

enum { BLOCK_X = 32, BLOCK_Y = 4, LAYERS = 8 };

static const float surroundings = 80; /* degrees Celsius */

/* Temperature change per step: for each degree of difference to a neighbour or the surroundings, and per unit
 * of power. */
static const float lateral = 0.06f, vertical = 0.12f, outwards = 0.004f, heating = 0.5f;

struct hotspot {
    const float *power, *from;
    float *to;
    long size; /* points of a layer in each direction */
};

static float step_point(const struct hotspot *p, long x, long y, long z)
{
    long size = p->size, layer = size * size, i = z * layer + y * size + x;
    const float *t = p->from + i;
    float here = t[0];
    float west = x > 0 ? t[-1] : here, east = x < size - 1 ? t[1] : here;
    float north = y > 0 ? t[-size] : here, south = y < size - 1 ? t[size] : here;
    float below = z > 0 ? t[-layer] : here, above = z < LAYERS - 1 ? t[layer] : here;
    return here + heating * p->power[i] + lateral * (west + east + north + south - 4 * here) +
           vertical * (below + above - 2 * here) + outwards * (surroundings - here);
}

static void hotspot(const struct hotspot *p)
{
    long x = (long)block_x() * BLOCK_X + thread_x(), y = (long)block_y() * BLOCK_Y + thread_y();
    if (x >= p->size || y >= p->size)
        return;
    for (long z = 0; z < LAYERS; z++)
        p->to[(z * p->size + y) * p->size + x] = step_point(p, x, y, z);
}

static void hotspot_scalar(const struct hotspot *p)
{
    for (long z = 0; z < LAYERS; z++)
        for (long y = 0; y < p->size; y++)
            for (long x = 0; x < p->size; x++)
                p->to[(z * p->size + y) * p->size + x] = step_point(p, x, y, z);
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {{"SIZE", 24, 1, 1024}, {"STEPS", 4, 1, 1000}};
    long sizes[2];
    kernel_arguments(argc, argv, arguments, 2, sizes);
    long size = sizes[0], steps = sizes[1], count = size * size * LAYERS;
    float *power = kernel_array(count, sizeof *power), *heat[4];
    kernel_fill(power, count, 19);
    for (int i = 0; i < 4; i++) {
        heat[i] = kernel_array(count, sizeof(float));
        kernel_fill(heat[i], count, 20);
        for (long point = 0; point < count; point++)
            heat[i][point] = surroundings + 10 * heat[i][point];
    }
    croft_roi_begin("hotspot3d");
    for (long step = 0; step < steps; step++) {
        struct hotspot hot = {power, heat[step % 2], heat[!(step % 2)], size};
        KERNEL_RUN(hotspot, &hot, simt_dim(kernel_blocks(size, BLOCK_X), kernel_blocks(size, BLOCK_Y)),
                   simt_dim(BLOCK_X, BLOCK_Y));
    }
    croft_roi_end("hotspot3d");

    for (long step = 0; step < steps; step++)
        hotspot_scalar(&(struct hotspot){power, heat[2 + step % 2], heat[2 + !(step % 2)], size});
    return kernel_report("hotspot3d", size, heat[steps % 2], (size_t)count * sizeof(float),
                         kernel_close(heat[steps % 2], heat[2 + steps % 2], count, 1e-6));
}
