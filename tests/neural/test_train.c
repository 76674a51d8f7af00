/* Samples of calls and the training of networks: files that are wrong, scaling, networks that have to be found again. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu/neural/quality.h"
#include "emu/neural/search.h"
#include "emu/sim/alloc.h"

enum { CALLS = 400, MOST_WORDS = 3 + CALLS * 3 };

/* A file of samples in memory. */
struct file {
    char path[64];
    uint32_t words[MOST_WORDS];
    size_t count;
};

static void write_file(struct file *f)
{
    strcpy(f->path, "/tmp/croft-samples.XXXXXX");
    int descriptor = mkstemp(f->path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, f->words, f->count * sizeof *f->words), f->count * sizeof *f->words);
    (void)close(descriptor);
}

/* Reads words as a file; returns whether that succeeds. */
static bool read_file(struct file *f, struct samples *samples, size_t most, uint64_t seed, struct error *err)
{
    write_file(f);
    bool done = samples_read(samples, f->path, "calls of f", most, seed, err);
    (void)unlink(f->path);
    return done;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Calls with two inputs, -4 to 4 and a constant, and one output, 10 to 30. */
static void fill(struct file *f, size_t calls)
{
    f->count = 3 + 3 * calls;
    f->words[0] = SAMPLES_SIGNATURE;
    f->words[1] = 2;
    f->words[2] = 1;
    for (size_t i = 0; i < calls; i++) {
        float part = (float)i / (float)(calls - 1);
        f->words[3 + 3 * i] = bits_of(8 * part - 4);
        f->words[4 + 3 * i] = bits_of(5);
        f->words[5 + 3 * i] = bits_of(10 + 20 * part * part);
    }
}

static void scaling(void **state)
{
    struct file f;
    struct samples s, again;
    struct error err;
    double seen = 0;
    (void)state;
    fill(&f, CALLS);
    assert_true(read_file(&f, &s, CALLS, 1, &err));
    assert_int_equal(s.observed, CALLS);
    assert_int_equal(s.count, CALLS);
    for (size_t i = 0; i < s.count; i++) {
        double part = (double)s.in[2 * i] / 2; /* of the first input's range; each value once */
        assert_true(part >= 0 && part <= 1 && s.in[2 * i + 1] == 1);
        assert_true(fabs((double)s.out[i] - (0.1 + 0.8 * part * part)) < 1e-6);
        assert_true(fabs((double)samples_output(&s, i, 0) - (10 + 20 * part * part)) < 1e-4);
        assert_true(fabs((double)(s.out[i] * s.scale[4] + s.scale[5] - samples_output(&s, i, 0))) < 1e-4);
        seen += part;
    }
    assert_true(fabs(seen - CALLS / 2.0) < 1e-3);
    assert_true(read_file(&f, &again, CALLS, 1, &err));
    assert_memory_equal(again.in, s.in, s.count * 2 * sizeof *s.in);
    samples_free(&again);
    assert_true(read_file(&f, &again, 50, 2, &err));
    assert_int_equal(again.count, 50);
    assert_memory_not_equal(again.in, s.in, 50 * 2 * sizeof *s.in);
    samples_free(&again);
    samples_free(&s);
}

/* A value that one call has far from all others, in 400 calls, is found; an even range has none. */
static void outliers(void **state)
{
    struct file f;
    struct samples s;
    struct error err;
    (void)state;
    for (unsigned at = 0; at < 3; at++) {
        fill(&f, CALLS);
        f.words[3 + 3 * 7 + at] = bits_of(at == 1 ? 5 : -1e30F);
        assert_true(read_file(&f, &s, CALLS, 1, &err));
        assert_int_equal(s.outlier.found, at != 1);
        if (s.outlier.found) {
            assert_int_equal(s.outlier.at, at);
            assert_true(s.outlier.value == -1e30F && s.outlier.high > s.outlier.low);
        }
        samples_free(&s);
    }
}

static void wrong_files(void **state)
{
    static const struct {
        size_t word;
        uint32_t value;
        size_t words; /* 0: all */
        const char *message;
    } cases[] = {
        {0, 1, 0, "calls of f: not a file of samples"},
        {0, SAMPLES_SIGNATURE, 2, "calls of f: not a file of samples"},
        {1, 0, 0, "0 inputs and 1 outputs"},
        {1, 65, 0, "65 inputs and 1 outputs"},
        {2, 33, 0, "2 inputs and 33 outputs"},
        {2, UINT32_MAX, 0, "4294967295 outputs"},
        {0, SAMPLES_SIGNATURE, 3 + 3 * 40 + 1, "calls of f: the file ends within call 41"},
        {0, SAMPLES_SIGNATURE, 3 + 3 * 31, "calls of f: there are 31; training needs at least 32"},
        {3, 0x7f800000, 0, "calls of f: input 0 of call 1 is not a finite number"},
        {3 + 3 * 7 + 2, 0xffc00000, 0, "output 0 of call 8 is not a finite number"},
    };
    struct file f;
    struct samples s;
    struct error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fill(&f, CALLS);
        f.words[cases[i].word] = cases[i].value;
        f.count = cases[i].words ? cases[i].words : f.count;
        assert_false(read_file(&f, &s, CALLS, 1, &err));
        samples_free(&s);
        if (!strstr(err.text, cases[i].message))
            fail_msg("'%s' does not contain '%s'", err.text, cases[i].message);
    }
    assert_false(samples_read(&s, "/nonexistent", "calls of f", CALLS, 1, &err));
    samples_free(&s);
}

/* Samples that a network gives: three inputs, two outputs. */
static void make_samples(struct samples *s, const struct network *teacher, size_t count)
{
    uint64_t random = 5;
    *s = (struct samples){.inputs = 3, .outputs = 2, .count = count, .observed = count};
    s->in = alloc(count * 3, sizeof *s->in);
    s->out = alloc(count * 2, sizeof *s->out);
    s->values = alloc(count * 5, sizeof *s->values);
    for (size_t i = 0; i < count; i++) {
        uint32_t in[3], out[2];
        for (unsigned k = 0; k < 3; k++) {
            s->in[3 * i + k] = (float)(samples_random(&random) >> 40) / (1 << 23);
            in[k] = arith_data(teacher->kind, (double)s->in[3 * i + k]);
        }
        network_evaluate(teacher, in, out);
        for (unsigned k = 0; k < 2; k++)
            s->out[2 * i + k] = (float)arith_value(teacher->kind, out[k]);
    }
}

static void make_teacher(struct network *teacher, float *weights, bool bias)
{
    uint64_t random = 9;
    *teacher = (struct network){.kind = ARITH_FP, .layers = 3, .size = {3, 5, 4, 2}, .bias = bias};
    for (size_t i = 0; i < network_weights(teacher); i++) {
        weights[i] = (float)(samples_random(&random) >> 40) / (1 << 22) - 2;
        teacher->weights[i] = arith_weight(ARITH_FP, 0, (double)weights[i]);
    }
}

/* From weights near the right ones, training finds back, so that libfann's weights are in the units' order; it does so with
 * biases and without. */
static void found_again(void **state)
{
    static struct network teacher, pupil;
    static float weights[NETWORK_WEIGHTS];
    struct samples s;
    (void)state;
    for (int bias = 0; bias < 2; bias++) {
        make_teacher(&teacher, weights, bias);
        make_samples(&s, &teacher, CALLS);
        struct train_setup setup = {.samples = &s, .learn = {100, 300}, .check = {0, 100}};
        pupil = teacher;
        assert_true(train_network(&pupil, weights, &setup) == 0);
        for (size_t i = 0; i < network_weights(&teacher); i++)
            weights[i] += i % 2 ? 0.3F : -0.3F;
        double before = train_network(&pupil, weights, &setup);
        setup.epochs = 300;
        double after = train_network(&pupil, weights, &setup);
        assert_true(before > 0.02 && after < before / 10);
        assert_true(train_error(&pupil, &s, setup.check) == after);
        samples_free(&s);
    }
}

/* With weights of one shift, training around the quantisation beats quantisation after the training. */
static void quantisation(void **state)
{
    static struct network teacher, pupil;
    static float weights[NETWORK_WEIGHTS];
    struct samples s;
    (void)state;
    make_teacher(&teacher, weights, false);
    make_samples(&s, &teacher, CALLS);
    struct train_setup setup = {
        .samples = &s, .learn = {100, 300}, .check = {0, 100}, .iterations = {1, 1, 1}, .epochs = 0};
    pupil = teacher;
    pupil.kind = ARITH_SHA;
    double plain = train_network(&pupil, weights, &setup);
    setup.epochs = 400;
    double aware = train_network(&pupil, weights, &setup);
    assert_true(aware < 0.7 * plain);
    for (size_t i = 0; i < network_weights(&pupil); i++)
        assert_true(arith_clocks(ARITH_SHA, pupil.weights[i]) <= 1);
    samples_free(&s);
}

/* The shifts of a network's words, counted in the words. */
static uint64_t count_shifts(const struct network *n)
{
    uint64_t count = 0;
    for (size_t i = 0; i < network_weights(n); i++)
        count += n->weights[i] >> 25 & 7;
    return count;
}

/* Without training, the choice is the one with the fewest shifts of all 125 that are good enough, found by trying all. */
static void quality_is_the_cheapest(void **state)
{
    static struct network teacher, pupil, tried;
    static float weights[NETWORK_WEIGHTS], given[NETWORK_WEIGHTS];
    struct samples s;
    unsigned different = 0;
    uint64_t before = 0;
    (void)state;
    make_teacher(&teacher, given, false);
    make_samples(&s, &teacher, CALLS);
    for (int power = 0; power < 31; power++) {
        const double most = 0.0001 * pow(1.3, power);
        struct train_setup setup = {.samples = &s, .learn = {100, 300}, .check = {0, 100}};
        uint64_t fewest = UINT64_MAX;
        tried = pupil = teacher;
        tried.kind = pupil.kind = ARITH_SHA;
        memcpy(weights, given, sizeof weights);
        for (unsigned i = 0; i < 125; i++) {
            train_round(&tried, given, (unsigned[NETWORK_LAYERS]){1 + i % 5, 1 + i / 5 % 5, 1 + i / 25});
            if (train_error(&tried, &s, setup.check) <= most && count_shifts(&tried) < fewest)
                fewest = count_shifts(&tried);
        }
        const double error = quality_choose(&pupil, weights, &setup, most);
        assert_true(error == train_error(&pupil, &s, setup.check));
        assert_memory_equal(weights, given, network_weights(&pupil) * sizeof *weights);
        train_round(&tried, given, setup.iterations);
        assert_memory_equal(tried.weights, pupil.weights, sizeof pupil.weights);
        assert_true((error <= most) == (fewest != UINT64_MAX));
        if (error > most)
            continue;
        assert_int_equal(count_shifts(&pupil), fewest);
        different += fewest != before;
        before = fewest;
    }
    assert_true(different > 2);
    samples_free(&s);
}

/* What is left out has no part: other values there do not change the weights. */
static void left_out(void **state)
{
    static struct network teacher, one, other;
    static float weights[NETWORK_WEIGHTS];
    struct samples s;
    (void)state;
    make_teacher(&teacher, weights, false);
    make_samples(&s, &teacher, CALLS);
    struct train_setup setup = {.samples = &s,
                                .learn = {0, 300},
                                .without = {100, 100},
                                .check = {300, 100},
                                .epochs = 20,
                                .seed = 3};
    one = other = teacher;
    (void)train_network(&one, weights, &setup);
    for (size_t i = 200; i < 400; i++)
        s.out[i] = 0.5F;
    (void)train_network(&other, weights, &setup);
    assert_memory_equal(one.weights, other.weights, sizeof one.weights);
    s.out[0] = 0.1F;
    (void)train_network(&other, weights, &setup);
    assert_memory_not_equal(one.weights, other.weights, sizeof one.weights);
    samples_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaling),      cmocka_unit_test(outliers),
        cmocka_unit_test(wrong_files),  cmocka_unit_test(found_again),
        cmocka_unit_test(quantisation), cmocka_unit_test(quality_is_the_cheapest),
        cmocka_unit_test(left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
