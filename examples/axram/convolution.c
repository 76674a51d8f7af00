/* Convolution of a signal with a Gaussian of 17 points. */
#include "app.h"

enum { POINTS = 17 };

CROFT_APPROX(convolution, 17, 1)
{
    /* exp(-k^2 / 18) for k = 0 to 8, divided by the sum over all points. */
    static const float half[] = {0.133571F, 0.126353F, 0.106955F, 0.081015F, 0.054913F,
                                 0.033306F, 0.018077F, 0.008779F, 0.003816F};
    float sum = 0;
    for (int k = 0; k < POINTS; k++)
        sum += half[k < 8 ? 8 - k : k - 8] * in[k];
    out[0] = sum;
}

/* Each element has a piece of another signal: a level, a wave, a step and noise. */
static void make(struct app_data *d, uint64_t *random)
{
    for (long i = 0; i < d->count; i++) {
        float level = app_random(random, 1, 3), wave = app_random(random, 0, 0.5F),
              step = app_random(random, -1, 1);
        float turn = app_random(random, 0.1F, 1), phase = app_random(random, 0, 6),
              edge = app_random(random, 0, POINTS);
        for (long k = 0; k < POINTS; k++) {
            float value = level + wave * sinf(turn * (float)k + phase) + ((float)k < edge ? 0 : step);
            d->in[APP_PLACE(d, POINTS, k, i)] = value + app_random(random, -0.2F, 0.2F);
        }
    }
}

APP_DEFINE(convolution, 17, 1, app_load)

int main(int argc, char **argv)
{
    const struct app app = {APP_FUNCTIONS(convolution, 17, 1), .metric = APP_RELATIVE, .make = make};
    return app_main(argc, argv, &app);
}
