/* The Laplace operator of an image over eight neighbours: its edges. */
#include "image.h"

CROFT_APPROX(laplacian, 9, 1)
{
    float sum = -9 * in[4];
    for (int k = 0; k < 9; k++)
        sum += in[k];
    sum = fabsf(sum);
    out[0] = sum > 1 ? 1 : sum;
}

APP_DEFINE(laplacian, 9, 1, image_load_square)

int main(int argc, char **argv)
{
    const struct app app = {APP_FUNCTIONS(laplacian, 9, 1), .metric = APP_IMAGE, .pictures = 1,
                            .make = image_make};
    return app_main(argc, argv, &app);
}
