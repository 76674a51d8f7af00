/* The mean of a pixel and its six neighbours on a hexagonal grid: the two in its row, and two above and below. */
#include "image.h"

CROFT_APPROX(meanfilter, 7, 1)
{
    float sum = 0;
    for (int k = 0; k < 7; k++)
        sum += in[k];
    out[0] = sum / 7;
}

static inline void load(const struct app_data *d, long i, long inputs, float *in)
{
    static const signed char hexagon[7][2] = {{-1, 0}, {-1, 1}, {0, -1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}};
    image_load(d, i, inputs, hexagon, in);
}

APP_DEFINE(meanfilter, 7, 1, load)

int main(int argc, char **argv)
{
    const struct app app = {APP_FUNCTIONS(meanfilter, 7, 1), .metric = APP_IMAGE, .pictures = 1,
                            .make = image_make};
    return app_main(argc, argv, &app);
}
