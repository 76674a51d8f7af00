/* Binarization: a pixel's red, green and blue become black or white by its luminance (ITU-R BT.601). */
#include "image.h"

CROFT_APPROX(binarization, 3, 1)
{
    out[0] = 0.299F * in[0] + 0.587F * in[1] + 0.114F * in[2] > 0.5F ? 1 : 0;
}

/* The colours of an image follow each other, as planes. */
static void make(struct app_data *d, uint64_t *random)
{
    for (long i = 0; i < 3 * d->images; i++)
        image_fill(d->image + i * d->side * d->side, d->side, random);
}

static inline void load(const struct app_data *d, long i, long inputs, float *in)
{
    long area = d->side * d->side;
    for (long k = 0; k < inputs; k++)
        in[k] = d->image[(i / area * inputs + k) * area + i % area];
}

APP_DEFINE(binarization, 3, 1, load)

int main(int argc, char **argv)
{
    const struct app app = {APP_FUNCTIONS(binarization, 3, 1), .metric = APP_IMAGE, .pictures = 1,
                            .make = make};
    return app_main(argc, argv, &app);
}
