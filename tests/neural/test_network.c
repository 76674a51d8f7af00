/* Networks against an independent reference, the counts of an invocation against the paper's topologies, images. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/isa/random.h"
#include "tests/neural/reference.h"

enum { NETWORKS = 10000 };

static uint32_t input_of(struct random *random, enum arith_kind kind)
{
    if (random_chance(random, 5))
        return (uint32_t)random_next(random);
    return arith_data(kind, (double)random_below(random, 1 << 20) / (1 << 18) - 2);
}

static uint32_t weight_of(struct random *random, enum arith_kind kind)
{
    if (random_chance(random, 2))
        return (uint32_t)random_next(random);
    double weight = ((double)random_below(random, 1 << 24) / (1 << 23) - 1) *
                    (double)(1 << random_below(random, random_chance(random, 10) ? 15 : 4));
    return arith_weight(kind, 1 + random_below(random, ARITH_SHIFTS), weight);
}

static void make_random(struct network *n, struct random *random, enum arith_kind kind)
{
    bool large = random_chance(random, 3);
    n->kind = kind;
    n->layers = 1 + random_below(random, NETWORK_LAYERS);
    n->bias = random_chance(random, 30);
    memset(n->size, 0, sizeof n->size);
    for (unsigned i = 0; i <= n->layers; i++)
        n->size[i] = 1 + random_below(random, !large ? 9 : i == 0 ? NETWORK_INPUTS : NETWORK_NEURONS);
    if (large && random_chance(random, 30))
        for (unsigned i = 0; i <= n->layers; i++)
            n->size[i] = i == 0 ? NETWORK_INPUTS : NETWORK_NEURONS;
    for (size_t i = 0; i < network_weights(n); i++)
        n->weights[i] = weight_of(random, kind);
}

static void check_random(enum arith_kind kind)
{
    static struct network n;
    struct random random = {100 + (uint64_t)kind};
    struct error err;
    for (int i = 0; i < NETWORKS; i++) {
        uint32_t inputs[NETWORK_INPUTS], outputs[NETWORK_NEURONS], expected[NETWORK_INPUTS];
        make_random(&n, &random, kind);
        assert_true(network_check(&n, &err));
        for (unsigned k = 0; k < n.size[0]; k++)
            inputs[k] = input_of(&random, kind);
        network_evaluate(&n, inputs, outputs);
        reference_network(&n, inputs, expected);
        assert_memory_equal(outputs, expected, n.size[n.layers] * sizeof *outputs);
    }
}

static void random_sha(void **state)
{
    (void)state;
    check_random(ARITH_SHA);
}

static void random_fxp(void **state)
{
    (void)state;
    check_random(ARITH_FXP);
}

static void random_fp(void **state)
{
    (void)state;
    check_random(ARITH_FP);
}

/* What an invocation reads and writes, by hand. */
static void work(void **state)
{
    static const struct {
        unsigned layers, size[NETWORK_LAYERS + 1];
        bool bias;
        uint64_t inputs, weights, outputs;
        const char *text;
    } cases[] = {
        {2, {6, 8, 1}, false, 56, 14, 9, "6 -> 8 -> 1"},
        {2, {18, 8, 2}, false, 160, 40, 10, "18 -> 8 -> 2"},
        {3, {3, 4, 2, 1}, false, 22, 6, 7, "3 -> 4 -> 2 -> 1"},
        {2, {6, 8, 1}, true, 65, 17, 9, "6 -> 8 -> 1"},
        {1, {5, 1}, false, 5, 2, 1, "5 -> 1"},
        {3, {64, 32, 32, 32}, true, 4192, 1048, 96, "64 -> 32 -> 32 -> 32"},
    };
    static struct network n;
    char text[NETWORK_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        n = (struct network){.kind = ARITH_FXP, .layers = cases[i].layers, .bias = cases[i].bias};
        memcpy(n.size, cases[i].size, sizeof n.size);
        struct network_work w = network_work(&n);
        assert_int_equal(w.input_reads, cases[i].inputs);
        assert_int_equal(w.weight_reads, cases[i].weights);
        assert_int_equal(w.output_writes, cases[i].outputs);
        assert_int_equal(w.clocks, cases[i].inputs);
        n.kind = ARITH_SHA;
        n.weights[0] = arith_weight(ARITH_SHA, 4, 90);
        n.weights[cases[i].inputs - 1] = arith_weight(ARITH_SHA, 2, 90);
        assert_int_equal(network_work(&n).clocks, 6);
        assert_string_equal(network_text(&n, text), cases[i].text);
    }
}

static void images(void **state)
{
    static struct network n, again;
    static uint32_t words[NETWORK_HEADER + NETWORK_WEIGHTS];
    struct random random = {7};
    struct error err;
    (void)state;
    for (int i = 0; i < 300; i++) {
        make_random(&n, &random, (enum arith_kind)(i % ARITH_KINDS));
        memset(words, 0xaa, sizeof words);
        network_write_image(&n, words);
        assert_int_equal(network_image_words(&n), NETWORK_HEADER + network_weights(&n));
        assert_true(network_read_image(&again, words, network_image_words(&n), &err));
        assert_int_equal(again.kind, n.kind);
        assert_int_equal(again.layers, n.layers);
        assert_int_equal(again.bias, n.bias);
        assert_memory_equal(again.size, n.size, sizeof n.size);
        assert_memory_equal(again.weights, n.weights, network_weights(&n) * sizeof *n.weights);
        assert_false(network_read_image(&again, words, network_image_words(&n) - 1, &err));
        assert_non_null(strstr(err.text, "too few for the network"));
    }
}

/* An image in memory can be anything: each wrong word is named. */
static void wrong_images(void **state)
{
    static const struct {
        unsigned word;
        uint32_t value;
        const char *message;
    } cases[] = {
        {0, 0, "word 0"},
        {1, 0x20200, "bits 31 to 17"},
        {1, 0x203, "arithmetic 3"},
        {1, 0x000, "0 layers"},
        {1, 0x400, "4 layers"},
        {1, 0x100, "gives layer 2 a size"},
        {2, 0x010806ff, "255 inputs"},
        {2, 0x00012106, "33 neurons in layer 1"},
        {2, 0x00000806, "0 neurons in layer 2"},
        {2, 0x01010806, "gives layer 3 a size"},
        {4, 1, "word 4 of the network is 0x00000001; words 4 to 7 must be 0"},
        {7, 0x80000000, "word 7 of the network is 0x80000000; words 4 to 7 must be 0"},
        {3, 57, "says 57 weights; its topology has 56"},
    };
    static struct network n = {.kind = ARITH_FP, .layers = 2, .size = {6, 8, 1}}, again;
    uint32_t words[NETWORK_HEADER + 56];
    struct error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        network_write_image(&n, words);
        assert_true(network_read_image(&again, words, NETWORK_HEADER + 56, &err));
        words[cases[i].word] = cases[i].value;
        assert_false(network_read_image(&again, words, NETWORK_HEADER + 56, &err));
        if (!strstr(err.text, cases[i].message))
            fail_msg("'%s' does not contain '%s'", err.text, cases[i].message);
    }
    assert_false(network_read_image(&again, words, NETWORK_HEADER - 1, &err));
    assert_non_null(strstr(err.text, "its header has 8"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sha), cmocka_unit_test(random_fxp), cmocka_unit_test(random_fp),
        cmocka_unit_test(work),       cmocka_unit_test(images),     cmocka_unit_test(wrong_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
