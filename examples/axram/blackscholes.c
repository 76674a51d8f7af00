/* The price of a European option by Black and Scholes: spot, strike, rate, volatility, years, and 0 for a call, 1 for a put. */
#include "app.h"

/* The cumulative normal distribution (Abramowitz and Stegun 26.2.17). */
static inline float normal(float x)
{
    float far = fabsf(x), k = 1 / (1 + 0.2316419F * far);
    float poly = k * (0.319381530F +
                      k * (-0.356563782F + k * (1.781477937F + k * (-1.821255978F + k * 1.330274429F))));
    float tail = 0.39894228F * expf(-0.5F * far * far) * poly;
    return x < 0 ? tail : 1 - tail;
}

CROFT_APPROX(blackscholes, 6, 1)
{
    float spot = in[0], strike = in[1], rate = in[2], spread = in[3] * sqrtf(in[4]);
    float d1 = (logf(spot / strike) + (rate + 0.5F * in[3] * in[3]) * in[4]) / spread, d2 = d1 - spread;
    float later = strike * expf(-rate * in[4]);
    if (in[5] < 0.5F)
        out[0] = spot * normal(d1) - later * normal(d2);
    else
        out[0] = later * normal(-d2) - spot * normal(-d1);
}

/* Options that are worth something: prices near 0 would make the relative error large. */
static void make(struct app_data *d, uint64_t *random)
{
    static const float range[5][2] = {{75, 100}, {75, 100}, {0.02F, 0.1F}, {0.3F, 0.6F}, {0.5F, 1}};
    for (long i = 0; i < d->count; i++) {
        for (long k = 0; k < 5; k++)
            d->in[APP_PLACE(d, 6, k, i)] = app_random(random, range[k][0], range[k][1]);
        d->in[APP_PLACE(d, 6, 5, i)] = (float)(kernel_random(random) >> 31);
    }
}

APP_DEFINE(blackscholes, 6, 1, app_load)

int main(int argc, char **argv)
{
    const struct app app = {APP_FUNCTIONS(blackscholes, 6, 1), .metric = APP_RELATIVE, .make = make};
    return app_main(argc, argv, &app);
}
