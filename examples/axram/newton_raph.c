/* The root of a cubic a x^3 + b x^2 + c x + d by Newton and Raphson's method from a first guess. All threads make the same number of
 * rounds, that of AxBench's for GPUs, and none leaves the loop early. */
#include "app.h"

enum { ROUNDS = 50 };

CROFT_APPROX(newton_raph, 5, 1)
{
    float x = in[4];
    for (int round = 0; round < ROUNDS; round++) {
        float value = ((in[0] * x + in[1]) * x + in[2]) * x + in[3];
        float slope = (3 * in[0] * x + 2 * in[1]) * x + in[2];
        x -= value / slope;
    }
    out[0] = x;
}

/* Cubics that rise everywhere, whose only root is positive. */
static void make(struct app_data *d, uint64_t *random)
{
    static const float range[5][2] = {{0.5F, 2}, {-0.5F, 0.5F}, {0.5F, 3}, {-20, -2}, {0.5F, 4}};
    for (long i = 0; i < d->count; i++)
        for (long k = 0; k < 5; k++)
            d->in[APP_PLACE(d, 5, k, i)] = app_random(random, range[k][0], range[k][1]);
}

APP_DEFINE(newton_raph, 5, 1, app_load)

int main(int argc, char **argv)
{
    const struct app app = {APP_FUNCTIONS(newton_raph, 5, 1), .metric = APP_RELATIVE, .make = make};
    return app_main(argc, argv, &app);
}
