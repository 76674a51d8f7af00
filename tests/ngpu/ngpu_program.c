/* Neural units of multiprocessors, compared with the same networks in software. ngpu.sh runs this and looks at what it prints.
 *
 *   ngpu random SEED COUNT   COUNT random networks, each by 96 threads of which some invoke it again
 *   ngpu FAULT               something that traps; see main() */
#include <croft/approx.h>
#include <croft/ngpu.h>
#include <croft/simt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 96, MOST_INPUTS = 16, MOST_NEURONS = 8, WEIGHTS = 17 * 8 + 9 * 8 + 9 * 8 };

static uint32_t image[8 + WEIGHTS], inputs[THREADS][MOST_INPUTS], results[THREADS][MOST_NEURONS];
static uint32_t state;

static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static uint32_t weight_word(unsigned kind)
{
    uint32_t word;
    const float value = ((float)(next() % 4096) - 2048) / 512;
    if (kind == CROFT_ARITH_SHA)
        return next() % 18 | next() % 18 << 5 | next() % 18 << 10 | (next() % 4) << 25 | (next() & 1) << 28;
    if (kind == CROFT_ARITH_FXP)
        return (uint32_t)(int32_t)(value * 65536);
    memcpy(&word, &value, sizeof word);
    return word;
}

static void make_network(void)
{
    const unsigned kind = next() % 3, layers = 1 + next() % 3, bias = next() & 1;
    unsigned size = 1 + next() % MOST_INPUTS, weights = 0;
    memset(image, 0, sizeof image);
    image[0] = 0x4e4e5841;
    image[1] = kind | layers << 8 | bias << 16;
    image[2] = size;
    for (unsigned layer = 1; layer <= layers; layer++) {
        const unsigned neurons = 1 + next() % MOST_NEURONS;
        weights += (size + bias) * neurons;
        image[2] |= neurons << (8 * layer);
        size = neurons;
    }
    image[3] = weights;
    for (unsigned i = 0; i < weights; i++)
        image[8 + i] = weight_word(kind);
}

static unsigned input_count(void)
{
    return image[2] & 255;
}

static unsigned result_count(void)
{
    return image[2] >> (8 * (image[1] >> 8 & 255)) & 255;
}

static void invoke(unsigned number)
{
    for (unsigned i = 0; i < input_count(); i++)
        croft_ngpu_send(inputs[number][i]);
    for (unsigned i = 0; i < result_count(); i++)
        results[number][i] = croft_ngpu_recv();
}

/* Every third thread's first result becomes its first input. */
static void kernel(const void *unused)
{
    const unsigned number = (unsigned)thread_id();
    (void)unused;
    invoke(number);
    if (number % 3 == 0) {
        inputs[number][0] = results[number][0];
        invoke(number);
    }
}

static void check_random(unsigned seed, unsigned count)
{
    static uint32_t wanted[THREADS][CROFT_NETWORK_NEURONS], again[CROFT_NETWORK_INPUTS];
    unsigned equal = 0, all = 0;
    state = seed;
    for (unsigned n = 0; n < count; n++) {
        make_network();
        const unsigned kind = image[1] & 255;
        for (unsigned t = 0; t < THREADS; t++)
            for (unsigned i = 0; i < MOST_INPUTS; i++)
                inputs[t][i] = croft_data_word(kind, ((float)(next() % 4096) - 2048) / 1024);
        for (unsigned t = 0; t < THREADS; t++) {
            croft_network_evaluate(image, inputs[t], wanted[t]);
            memcpy(again, inputs[t], sizeof inputs[t]);
            again[0] = wanted[t][0];
            if (t % 3 == 0)
                croft_network_evaluate(image, again, wanted[t]);
        }
        croft_ngpu_configure(image);
        simt_launch(kernel, image, simt_dim(2), simt_dim(THREADS / 2));
        simt_wait(0);
        for (unsigned t = 0; t < THREADS; t++, all++)
            equal += memcmp(wanted[t], results[t], result_count() * sizeof results[t][0]) == 0;
    }
    printf("%u of %u equal\n", equal, all);
}

static void receive_first(const void *unused)
{
    (void)unused;
    if (thread_id() == 5)
        results[0][0] = croft_ngpu_recv();
}

static void send_on(const void *unused)
{
    (void)unused;
    for (unsigned i = 0; i <= input_count(); i++)
        croft_ngpu_send(i);
}

static void configure_here(const void *unused)
{
    (void)unused;
    croft_ngpu_send_cfg(image[0]);
}

static volatile int sent, configured;

static void send_apart(const void *unused)
{
    (void)unused;
    croft_ngpu_send(1);
    sent = 1;
    while (!configured)
        continue;
    croft_ngpu_send(1);
}

/* A macro, because simt_launch() needs the kernel's name. */
#define LAUNCH(faulty) (simt_launch(faulty, image, simt_dim(1), simt_dim(32)), simt_wait(0))

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "random";
    if (strcmp(mode, "random") == 0) {
        check_random(count > 2 ? (unsigned)atoi(arguments[2]) : 1,
                     count > 3 ? (unsigned)atoi(arguments[3]) : 10);
        return 0;
    }
    state = 3;
    do
        make_network();
    while (input_count() < 3);
    if (strcmp(mode, "unconfigured") == 0)
        LAUNCH(send_on);
    if (strcmp(mode, "signature") == 0)
        croft_ngpu_send_cfg(7);
    image[2] |= strcmp(mode, "sizes") == 0 ? 0xff00 : 0;
    croft_ngpu_configure(image);
    if (strcmp(mode, "host") == 0)
        croft_ngpu_send(1);
    if (strcmp(mode, "empty") == 0)
        LAUNCH(receive_first);
    if (strcmp(mode, "again") == 0)
        LAUNCH(send_on);
    if (strcmp(mode, "thread") == 0)
        LAUNCH(configure_here);
    if (strcmp(mode, "changed") == 0) {
        simt_launch(send_apart, image, simt_dim(1), simt_dim(1));
        while (!sent)
            continue;
        croft_ngpu_configure(image);
        configured = 1;
        simt_wait(0);
    }
    return 0;
}
