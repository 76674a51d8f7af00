/* Shared by the applications of the AxRAM paper: data by a seed, the kernel whose threads call the function that a network may
 * approximate, and the quality that is lost. */
#ifndef APP_H
#define APP_H

#include "../simt/kernel.h"
#include <croft/approx.h>

enum { APP_BLOCK = 256, APP_LARGEST = 64, APP_TRAINING_SEED = 11, APP_EVALUATION_SEED = 22 };

/* What one run works on. Arrays hold input or output k of element i where APP_PLACE says; images hold pixels from 0 to 1 row by row,
 * and their windows are the elements. */
struct app_data {
    long count;   /* elements: calls of the function */
    float *in;    /* of each element; or */
    float *image; /* `images` of side * side pixels */
    long images, side;
    float *out;
    struct croft_batch batch; /* by option `batch`, inputs and outputs of all elements instead of these */
};

#ifdef APP_STRUCTURES
enum { APP_TOGETHER = 1 };
#else
enum { APP_TOGETHER = 0 };
#endif

/* The index of value k, of `each`, of element i in an array: values of one k are together, so that a warp's threads touch neighbours; or,
 * with -DAPP_STRUCTURES, those of an element. A macro, so that programs without it are as if it were written out. */
#define APP_PLACE(d, each, k, i) (APP_TOGETHER ? (i) * (each) + (k) : (k) * (d)->count + (i))

/* How much quality is lost. */
enum app_metric {
    APP_RELATIVE, /* mean of |result - exact| / |exact|, at most 1 each */
    APP_IMAGE,    /* root mean square of the difference, of the range of pixels */
    APP_MISSES,   /* share of elements whose largest output is another one */
};

struct app {
    const char *name;
    long inputs, outputs;
    enum app_metric metric;
    int pictures;                                          /* elements are windows of images */
    void (*make)(struct app_data *data, uint64_t *random); /* fills in[] or image[] */
    void (*kernel)(const struct app_data *data);
    void (*call)(const struct app_data *data, long element, float *out);  /* as a thread calls the function */
    void (*exact)(const struct app_data *data, long element, float *out); /* the original */
    int (*batch)(struct app_data *data);                                  /* makes it; or -1, with errno */
    void (*batch_kernel)(const struct app_data *data);
    void (*put)(struct app_data *data, long element);
    void (*get)(struct app_data *data, long element);
};

/* Loads an element's inputs from arrays. */
static inline void app_load(const struct app_data *d, long i, long inputs, float *in)
{
#pragma GCC unroll 64 /* inputs stay in registers: an array on the stack is memory, which threads share */
    for (long k = 0; k < inputs; k++)
        in[k] = d->in[APP_PLACE(d, inputs, k, i)];
}

/* Defines what struct app needs for a function that CROFT_APPROX has defined; load(data, element, inputs, in) gets an element's
 * inputs. */
#define APP_DEFINE(function, input_count, output_count, load)                                                \
    static inline void function##_call(const struct app_data *d, long i, float *out)                         \
    {                                                                                                        \
        float in[input_count];                                                                               \
        load(d, i, input_count, in);                                                                         \
        function(in, out);                                                                                   \
    }                                                                                                        \
    static void function##_exact(const struct app_data *d, long i, float *out)                               \
    {                                                                                                        \
        float in[input_count];                                                                               \
        load(d, i, input_count, in);                                                                         \
        function##_original(in, out);                                                                        \
    }                                                                                                        \
    static void function##_kernel(const struct app_data *argument)                                           \
    {                                                                                                        \
        const struct app_data d = *argument;                                                                 \
        long i = (long)thread_id();                                                                          \
        float out[output_count];                                                                             \
        if (i >= d.count)                                                                                    \
            return;                                                                                          \
        float in[input_count];                                                                               \
        load(&d, i, input_count, in);                                                                        \
        function##_by_thread(in, out);                                                                       \
        _Pragma("GCC unroll 32") for (long k = 0; k < (output_count); k++)                                   \
            d.out[APP_PLACE(&d, output_count, k, i)] = out[k];                                               \
    }                                                                                                        \
    CROFT_APPROX_BATCH(function, input_count, output_count)                                                  \
    static int function##_make_batch(struct app_data *d)                                                     \
    {                                                                                                        \
        return function##_batch(&d->batch, (uint64_t)d->count);                                              \
    }                                                                                                        \
    static void function##_batch_kernel(const struct app_data *d)                                            \
    {                                                                                                        \
        if ((long)thread_id() < d->count)                                                                    \
            function##_run(&d->batch, thread_id());                                                          \
    }                                                                                                        \
    static void function##_put_element(struct app_data *d, long i)                                           \
    {                                                                                                        \
        float in[input_count];                                                                               \
        load(d, i, input_count, in);                                                                         \
        function##_put(&d->batch, (uint64_t)i, in);                                                          \
    }                                                                                                        \
    static void function##_get_element(struct app_data *d, long i)                                           \
    {                                                                                                        \
        float out[output_count];                                                                             \
        function##_get(&d->batch, (uint64_t)i, out);                                                         \
        for (long k = 0; k < (output_count); k++)                                                            \
            d->out[APP_PLACE(d, output_count, k, i)] = out[k];                                               \
    }

/* The members of struct app that APP_DEFINE makes. */
#define APP_FUNCTIONS(function, input_count, output_count)                                                   \
    .name = #function, .inputs = (input_count), .outputs = (output_count), .kernel = function##_kernel,      \
    .call = function##_call, .exact = function##_exact, .batch = function##_make_batch,                      \
    .batch_kernel = function##_batch_kernel, .put = function##_put_element, .get = function##_get_element

/* Returns lowest <= result < highest. */
static inline float app_random(uint64_t *state, float lowest, float highest)
{
    return lowest + (highest - lowest) * kernel_random_float(state);
}

static inline long app_largest(const float *values, long count)
{
    long largest = 0;
    for (long k = 1; k < count; k++)
        largest = values[k] > values[largest] ? k : largest;
    return largest;
}

/* Returns what one element adds to the loss. */
static inline double app_element_loss(const struct app *app, const float *got, const float *exact)
{
    double sum = 0;
    if (app->metric == APP_MISSES)
        return app_largest(got, app->outputs) != app_largest(exact, app->outputs);
    for (long k = 0; k < app->outputs; k++) {
        double error = fabs((double)got[k] - (double)exact[k]);
        if (app->metric == APP_IMAGE)
            sum += error * error;
        else
            sum += error == 0 ? 0 : fmin(1, error / fabs((double)exact[k]));
    }
    return sum / (double)app->outputs;
}

static inline double app_loss(const struct app *app, const struct app_data *d)
{
    float got[APP_LARGEST], exact[APP_LARGEST];
    double sum = 0;
    for (long i = 0; i < d->count; i++) {
        for (long k = 0; k < app->outputs; k++)
            got[k] = d->out[APP_PLACE(d, app->outputs, k, i)];
        app->exact(d, i, exact);
        sum += app_element_loss(app, got, exact);
    }
    sum /= (double)d->count;
    return app->metric == APP_IMAGE ? sqrt(sum) : sum;
}

/* Returns whether the kernel's results are those of the same calls on the host, to the bit. */
static inline int app_same(const struct app *app, const struct app_data *d)
{
    float out[APP_LARGEST];
    for (long i = 0; i < d->count; i++) {
        app->call(d, i, out);
        for (long k = 0; k < app->outputs; k++)
            if (memcmp(&out[k], &d->out[APP_PLACE(d, app->outputs, k, i)], sizeof out[k]) != 0)
                return 0;
    }
    return 1;
}

/* Calls the function for each element, for `croft neural` to observe. */
static inline int app_train(const struct app *app, const struct app_data *d)
{
    float out[APP_LARGEST];
    for (long i = 0; i < d->count; i++)
        app->call(d, i, out);
    printf("%s: %ld calls\n", app->name, d->count);
    return 0;
}

static inline void app_region(const struct app *app, const char *part, int begin)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", app->name, part);
    if (begin)
        croft_roi_begin(name);
    else
        croft_roi_end(name);
}

/* Runs the kernel over a batch, which the host fills before and empties afterwards, each a region of its own. */
static inline void app_run_batch(const struct app *app, struct app_data *d)
{
    if (app->batch(d)) {
        perror("batch");
        exit(1);
    }
    app_region(app, "_put", 1);
    for (long i = 0; i < d->count; i++)
        app->put(d, i);
    app_region(app, "_put", 0);
    app_region(app, "", 1);
    KERNEL_RUN(app->batch_kernel, d, simt_dim(kernel_blocks(d->count, APP_BLOCK)), simt_dim(APP_BLOCK));
    app_region(app, "", 0);
    app_region(app, "_get", 1);
    for (long i = 0; i < d->count; i++)
        app->get(d, i);
    app_region(app, "_get", 0);
}

/* The program: NAME [train | threads | batch] [COUNT [SIDE]]. COUNT elements or images (of SIDE * SIDE pixels); the paper's training sets
 * are the default behind `train`, its evaluation sets are COUNT 262144, or 20 and SIDE 512. With `batch`, the host lays inputs out
 * before the kernel; otherwise threads do. */
static inline int app_main(int argc, char **argv, const struct app *app)
{
    int train = argc > 1 && strcmp(argv[1], "train") == 0, batch = argc > 1 && strcmp(argv[1], "batch") == 0,
        named = train || batch || (argc > 1 && strcmp(argv[1], "threads") == 0);
    struct kernel_argument arguments[] = {
        {"COUNT",
         app->pictures ? (train ? 3 : 1)
         : train       ? 8192
                       : 2048,
         1, 1 << 20},
        {"SIDE", train ? 512 : 48, 8, 4096},
    };
    long values[2];
    kernel_arguments(argc - named, argv + named, arguments, app->pictures ? 2 : 1, values);
    struct app_data d = {.count = values[0]};
    uint64_t random = train ? APP_TRAINING_SEED : APP_EVALUATION_SEED;
    if (app->pictures) {
        d.images = values[0];
        d.side = values[1];
        d.count = d.images * d.side * d.side;
        d.image = kernel_array(d.count, sizeof *d.image * (app->inputs == 3 ? 3 : 1));
    } else {
        d.in = kernel_array(d.count * app->inputs, sizeof *d.in);
    }
    d.out = kernel_array(d.count * app->outputs, sizeof *d.out);
    app->make(&d, &random);
    if (train)
        return app_train(app, &d);
    if (batch) {
        app_run_batch(app, &d);
    } else {
        app_region(app, "", 1);
        KERNEL_RUN(app->kernel, &d, simt_dim(kernel_blocks(d.count, APP_BLOCK)), simt_dim(APP_BLOCK));
        app_region(app, "", 0);
    }
    printf("quality lost %.3f %%\n", 100 * app_loss(app, &d));
    return kernel_report(app->name, d.count, d.out, (size_t)(d.count * app->outputs) * sizeof *d.out,
                         app_same(app, &d));
}

#endif
