/* LIBOR market model with sensitivities: the value of a portfolio of swaptions on each path of a Monte Carlo simulation, and its
 * derivatives by all initial rates, by the adjoint method (Giles and Glasserman, "Smoking adjoints", 2006; the portfolio is that
 * of Giles and Xiaoke 2008). A path's rates of all steps and its adjoints are arrays in memory, [index][path], where a GPU
 * has the local memory of threads. */
#include "../simt/kernel.h"

enum { BLOCK = 64, OPTIONS = 15 };

static const float interval = 0.25F, volatility = 0.2F; /* years between maturities; of all rates */

struct libor {
    long paths, rates, steps;
    const float *normal;    /* [step][path] */
    float *rate;            /* [step][rate][path]; steps + 1 of them */
    float *bond, *annuity;  /* [rate][path] */
    float *adjoint;         /* [rate][path]: derivatives of the value */
    float *value;           /* [path] */
    const int *maturity;    /* [option], in intervals after the last step */
    const float *swap_rate; /* [option] */
};

/* exp for |x| < 1 within 1e-6, as a GPU's special function unit has one instruction for it: squares of the series for x / 4. */
static inline float exp_small(float x)
{
    float y = 0.25F * x;
    y = 1 + y * (1 + y * (0.5F + y * (0.166666667F + y * (0.041666668F + y * 0.008333333F))));
    y *= y;
    return y * y;
}

/* Returns the element of [rate][path] at a step's rates. */
static inline float *rates_of(const struct libor *p, long step, long path)
{
    return p->rate + step * p->rates * p->paths + path;
}

/* A log-Euler step under the spot measure, of the rates that are not fixed yet; the others are copied. */
static inline void advance(const struct libor *p, long step, long path)
{
    const float *now = rates_of(p, step, path);
    float *next = rates_of(p, step + 1, path), drift = 0, scaled = interval * volatility;
    float root = volatility * 0.5F * p->normal[step * p->paths + path]; /* 0.5 is the root of the interval */
    long i = 0;
    for (; i <= step; i++)
        next[i * p->paths] = now[i * p->paths];
    for (; i < p->rates; i++) {
        float rate = now[i * p->paths];
        drift += scaled * rate / (1 + interval * rate);
        next[i * p->paths] = rate * exp_small(scaled * drift + root - 0.5F * scaled * volatility);
    }
}

/* Computes the discounted payoff and its derivatives by the rates after the last step. */
static inline void payoff(const struct libor *p, long path)
{
    const float *rate = rates_of(p, p->steps, path);
    float *bond = p->bond + path, *annuity = p->annuity + path, *adjoint = p->adjoint + path;
    float price = 1, sum = 0, value = 0, discount = 1;
    for (long i = p->steps; i < p->rates; i++) {
        price /= 1 + interval * rate[i * p->paths];
        sum += interval * price;
        bond[i * p->paths] = price;
        annuity[i * p->paths] = sum;
    }
    for (long i = 0; i < p->rates; i++)
        adjoint[i * p->paths] = 0;
    for (int option = 0; option < OPTIONS; option++) {
        long last = p->steps + p->maturity[option] - 1;
        float swap = p->swap_rate[option];
        float gain = 1 - bond[last * p->paths] - swap * annuity[last * p->paths],
              above = annuity[last * p->paths];
        if (gain <= 0)
            continue;
        value += 100 * gain;
        /* d bond[k] / d rate[i] = -interval / (1 + interval rate[i]) * bond[k] for k >= i */
        for (long i = p->steps; i <= last; i++) {
            float tail = above - (i > p->steps ? annuity[(i - 1) * p->paths] : 0);
            adjoint[i * p->paths] +=
                100 * interval / (1 + interval * rate[i * p->paths]) * (bond[last * p->paths] + swap * tail);
        }
    }
    for (long i = 0; i < p->steps; i++)
        discount /= 1 + interval * rate[i * p->paths];
    for (long i = p->steps; i < p->rates; i++)
        adjoint[i * p->paths] *= discount;
    for (long i = 0; i < p->steps; i++)
        adjoint[i * p->paths] = -interval / (1 + interval * rate[i * p->paths]) * value * discount;
    p->value[path] = value * discount;
}

/* Takes the adjoints back over a step: rate i after it depends on rate i before it, and by the drift on those in between. */
static inline void retreat(const struct libor *p, long step, long path)
{
    const float *now = rates_of(p, step, path), *next = rates_of(p, step + 1, path);
    float *adjoint = p->adjoint + path, scaled = interval * volatility, later = 0;
    for (long i = p->rates - 1; i > step; i--) {
        float rate = now[i * p->paths], grown = adjoint[i * p->paths] * next[i * p->paths];
        float below = 1 / (1 + interval * rate);
        later += grown;
        adjoint[i * p->paths] = grown / rate + later * scaled * scaled * below * below;
    }
}

static inline void follow_path(const struct libor *p, long path)
{
    for (long step = 0; step < p->steps; step++)
        advance(p, step, path);
    payoff(p, path);
    for (long step = p->steps - 1; step >= 0; step--)
        retreat(p, step, path);
}

/* Copies the arguments first, as a GPU's kernels have them in constant memory. */
static void follow(const struct libor *argument)
{
    const struct libor p = *argument;
    long path = (long)thread_id();
    if (path < p.paths)
        follow_path(&p, path);
}

static void setup(struct libor *p, const long sizes[3])
{
    long paths = sizes[0], rates = sizes[1], steps = sizes[2];
    uint64_t state = 22;
    float *normal = kernel_array(paths * steps, sizeof *normal);
    for (long i = 0; i < paths * steps; i++) { /* the sum of twelve uniform numbers is approximately normal */
        normal[i] = -6;
        for (int k = 0; k < 12; k++)
            normal[i] += kernel_random_float(&state);
    }
    int *maturity = kernel_array(OPTIONS, sizeof *maturity);
    float *swap_rate = kernel_array(OPTIONS, sizeof *swap_rate);
    for (int i = 0; i < OPTIONS; i++) {
        maturity[i] = (int)(1 + (i / 3 + 1) * (rates - steps - 1) * 3 / OPTIONS);
        swap_rate[i] = 0.045F + 0.0025F * (float)(i % 3);
    }
    *p = (struct libor){.paths = paths,
                        .rates = rates,
                        .steps = steps,
                        .normal = normal,
                        .rate = kernel_array(paths * rates * (steps + 1), sizeof(float)),
                        .bond = kernel_array(paths * rates, sizeof(float)),
                        .annuity = kernel_array(paths * rates, sizeof(float)),
                        .adjoint = kernel_array(paths * rates, sizeof(float)),
                        .value = kernel_array(paths, sizeof(float)),
                        .maturity = maturity,
                        .swap_rate = swap_rate};
    for (long i = 0; i < rates * paths; i++)
        p->rate[i] = 0.05F;
}

/* Returns whether a derivative by a rate is about the difference quotient, for the path of the largest value. */
static int differentiates(struct libor *p, long which)
{
    const float by = 0.001F;
    float values[2];
    long path = 0;
    for (long i = 1; i < p->paths; i++)
        path = p->value[i] > p->value[path] ? i : path;
    float derivative = p->adjoint[which * p->paths + path];
    for (int i = 0; i < 2; i++) {
        p->rate[which * p->paths + path] = 0.05F + (i ? by : -by);
        follow_path(p, path);
        values[i] = p->value[path];
    }
    return fabsf((values[1] - values[0]) / (2 * by) - derivative) <= 0.02F * fabsf(derivative);
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {
        {"PATHS", 128, 1, 1 << 20}, {"RATES", 24, 2, 256}, {"STEPS", 8, 1, 255}};
    long sizes[3];
    kernel_arguments(argc, argv, arguments, 3, sizes);
    if (sizes[2] >= sizes[1]) {
        fprintf(stderr, "%s: STEPS must be less than RATES\n", argv[0]);
        return 2;
    }
    struct libor simt, scalar;
    setup(&simt, sizes);
    setup(&scalar, sizes);
    croft_roi_begin("libor");
    KERNEL_RUN(follow, &simt, simt_dim(kernel_blocks(sizes[0], BLOCK)), simt_dim(BLOCK));
    croft_roi_end("libor");

    for (long path = 0; path < sizes[0]; path++)
        follow_path(&scalar, path);
    int correct = kernel_close(simt.value, scalar.value, sizes[0], 1e-4) &&
                  kernel_close(simt.adjoint, scalar.adjoint, sizes[0] * sizes[1], 1e-4) &&
                  differentiates(&scalar, sizes[2]);
    return kernel_report("libor", sizes[0], simt.adjoint, (size_t)(sizes[0] * sizes[1]) * sizeof(float),
                         correct);
}
