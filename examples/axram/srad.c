/* SRAD's diffusion coefficient (Yu and Acton 2002) of a pixel, by itself and its four neighbours. */
#include "image.h"

static const float speckle = 0.05F; /* q0^2: variance by squared mean where the image is even */

CROFT_APPROX(srad, 5, 1)
{
    float here = in[0] + 0.05F, n = in[1] - in[0], s = in[2] - in[0], w = in[3] - in[0], e = in[4] - in[0];
    float gradient = (n * n + s * s + w * w + e * e) / (here * here), laplacian = (n + s + w + e) / here;
    float below = 1 + 0.25F * laplacian;
    float q = (0.5F * gradient - laplacian * laplacian / 16) / (below * below);
    float c = 1 / (1 + (q - speckle) / (speckle * (1 + speckle)));
    out[0] = c < 0 ? 0 : c > 1 ? 1 : c;
}

static inline void load(const struct app_data *d, long i, long inputs, float *in)
{
    static const signed char cross[5][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    image_load(d, i, inputs, cross, in);
}

APP_DEFINE(srad, 5, 1, load)

int main(int argc, char **argv)
{
    const struct app app = {APP_FUNCTIONS(srad, 5, 1), .metric = APP_IMAGE, .pictures = 1,
                            .make = image_make};
    return app_main(argc, argv, &app);
}
