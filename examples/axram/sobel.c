/* The Sobel operator: the size of an image's gradient. */
#include "image.h"

CROFT_APPROX(sobel, 9, 1)
{
    float x = in[2] + 2 * in[5] + in[8] - in[0] - 2 * in[3] - in[6];
    float y = in[6] + 2 * in[7] + in[8] - in[0] - 2 * in[1] - in[2];
    float size = sqrtf(x * x + y * y);
    out[0] = size > 1 ? 1 : size;
}

APP_DEFINE(sobel, 9, 1, image_load_square)

int main(int argc, char **argv)
{
    const struct app app = {APP_FUNCTIONS(sobel, 9, 1), .metric = APP_IMAGE, .pictures = 1,
                            .make = image_make};
    return app_main(argc, argv, &app);
}
