/* LIBOR market model: the value of a portfolio of swaptions by Monte Carlo simulation of forward rates
 * (Brace, Gatarek and Musiela 1997; the portfolio is that of Giles and Xiaoke 2008). Each thread simulates a
 * path; its rates are an array on its stack. */
#include "kernel.h"

enum { BLOCK = 64, RATES = 40, STEPS = 16, OPTIONS = 8 };

static const float interval = 0.25f; /* years between two maturities */

struct libor {
    const float *normal; /* [step][path] */
    float *value;        /* of the portfolio, for each path */
    long paths;
    float volatility[RATES];
    int maturity[OPTIONS];
    float swap_rate[OPTIONS];
};

/* Advances the rates that are not fixed yet by one interval: log-Euler steps under the spot measure. */
static void advance(const struct libor *p, float rate[RATES], int step, float normal)
{
    float root = sqrtf(interval) * normal, drift = 0;
    for (int i = step + 1; i < RATES; i++) {
        float volatility = p->volatility[i - step - 1], scaled = interval * volatility;
        drift += scaled * rate[i] / (1 + interval * rate[i]);
        rate[i] *= expf(drift * scaled + volatility * (root - 0.5f * scaled));
    }
}

/* Returns the payoff of the swaptions, discounted to the last step and from there to today. */
static float portfolio(const struct libor *p, const float rate[RATES])
{
    float bond[RATES], annuity[RATES], price = 1, sum = 0, value = 0;
    for (int i = STEPS; i < RATES; i++) {
        price /= 1 + interval * rate[i];
        sum += interval * price;
        bond[i] = price;
        annuity[i] = sum;
    }
    for (int i = 0; i < OPTIONS; i++) {
        int last = STEPS + p->maturity[i] - 1;
        float gain = bond[last] + p->swap_rate[i] * annuity[last] - 1;
        value += gain < 0 ? -100 * gain : 0;
    }
    for (int i = 0; i < STEPS; i++)
        value /= 1 + interval * rate[i];
    return value;
}

static void follow(const struct libor *p, long path)
{
    float rate[RATES];
    for (int i = 0; i < RATES; i++)
        rate[i] = 0.05f;
    for (int step = 0; step < STEPS; step++)
        advance(p, rate, step, p->normal[step * p->paths + path]);
    p->value[path] = portfolio(p, rate);
}

static void libor(const struct libor *p)
{
    long path = (long)thread_id();
    if (path < p->paths)
        follow(p, path);
}

static void setup(struct libor *p, long paths)
{
    uint64_t state = 22;
    float *normal = kernel_memory(paths * STEPS, sizeof *normal);
    for (long i = 0; i < paths * STEPS; i++) { /* the sum of twelve uniform numbers is approximately normal */
        normal[i] = -6;
        for (int k = 0; k < 12; k++)
            normal[i] += kernel_random_float(&state);
    }
    *p = (struct libor){.normal = normal, .value = kernel_memory(paths, sizeof(float)), .paths = paths};
    for (int i = 0; i < RATES; i++)
        p->volatility[i] = 0.2f;
    for (int i = 0; i < OPTIONS; i++) {
        p->maturity[i] = (i / 2 + 1) * (RATES - STEPS) * 2 / OPTIONS;
        p->swap_rate[i] = i % 2 ? 0.05f : 0.045f;
    }
}

int main(int argc, char **argv)
{
    long paths = kernel_size(argc, argv, 40, 1, 1 << 20, 1);
    struct libor simt, scalar;
    setup(&simt, paths);
    setup(&scalar, paths);
    croft_roi_begin("libor");
    KERNEL_RUN(libor, &simt, simt_dim(kernel_blocks(paths, BLOCK)), simt_dim(BLOCK));
    croft_roi_end("libor");

    for (long path = 0; path < paths; path++)
        follow(&scalar, path);
    return kernel_report("libor", paths, simt.value, (size_t)paths * sizeof(float),
                         kernel_close(simt.value, scalar.value, paths, 1e-5));
}
