/* Critical paths and link widths: figure 8 of the paper step by step, the limits of the rules, and hysteresis. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "emu/net/congestion/congestion.h"
#include "emu/net/congestion/stalls.h"

/* Switches of the figure: S0 is joined to S1, S2 and S3, S2 to S0, S5 and S6. Ports are in this order. */
enum { S0, S2, SWITCHES };
enum { TO_S1, TO_S2, TO_S3 };
enum { TO_S0, TO_S5, TO_S6 };

struct figure {
    struct congestion *congestion;
    struct congestion_epoch epoch[6]; /* of S0, then of S2 */
};

static struct figure figure_new(uint32_t threshold, uint32_t hysteresis)
{
    static const uint32_t first[] = {0, 3}, ports[] = {3, 3};
    static const uint64_t candidates[] = {7, 7};
    const struct congestion_setup setup = {.routers = SWITCHES,
                                           .first_port = first,
                                           .ports = ports,
                                           .candidates = candidates,
                                           .threshold = threshold,
                                           .hysteresis = hysteresis};
    return (struct figure){.congestion = congestion_new(&setup)};
}

static void stall(struct figure *figure, uint32_t router, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t stalls[] = {a, b, c};
    for (unsigned i = 0; i < 3; i++)
        figure->epoch[3 * router + i].stalls = stalls[i];
}

static const struct congestion_router *at(const struct figure *figure, uint32_t router)
{
    return &figure->congestion->routers[router];
}

/* A flit leaves S2 for S0, and one leaves S0 for S2, with the trackers of the epoch's start. */
static void exchange(struct figure *figure)
{
    congestion_send(figure->congestion, S0, TO_S2);
    congestion_send(figure->congestion, S2, TO_S0);
    congestion_arrived(figure->congestion, S0, TO_S2);
    congestion_arrived(figure->congestion, S2, TO_S0);
}

/* Figure 8, with k = 50 %. The stalls are ours. */
static void figure_8_is_followed(void **state)
{
    (void)state;
    struct figure figure = figure_new(50, 6);
    const struct congestion_router *s0 = at(&figure, S0), *s2 = at(&figure, S2);
    stall(&figure, S0, 60, 100, 20);
    stall(&figure, S2, 100, 30, 49);
    assert_int_equal(s0->critical | s0->tracked | s2->critical | s2->tracked, 0);

    /* step 1: M0 sends a tracker towards S2, M2 towards S0; their ports become critical when the flits leave */
    congestion_end_epoch(figure.congestion, figure.epoch);
    assert_true(congestion_pends(figure.congestion, S0, TO_S2));
    assert_true(congestion_pends(figure.congestion, S2, TO_S0));
    assert_int_equal(s0->critical, 0);
    congestion_send(figure.congestion, S0, TO_S2);
    congestion_send(figure.congestion, S2, TO_S0);
    assert_int_equal(s0->critical, BIT(TO_S2));
    assert_int_equal(s2->critical, BIT(TO_S0));
    assert_int_equal(s0->pair_count + s2->pair_count, 0); /* no tracker has caused these */

    /* step 2: S0 sends one on towards S1, which is next and has 60 % of the stalls; S2's other outputs have below 50 % */
    congestion_arrived(figure.congestion, S0, TO_S2);
    congestion_arrived(figure.congestion, S2, TO_S0);
    assert_int_equal(s0->pending, BIT(TO_S1));
    assert_int_equal(s2->pending, 0);
    congestion_send(figure.congestion, S0, TO_S1);
    assert_int_equal(s0->critical, BIT(TO_S1) | BIT(TO_S2));
    assert_int_equal(s0->pair_count, 1);
    assert_int_equal(congestion_rank(s0, TO_S2, TO_S1), 0);
    assert_int_equal(congestion_rank(s0, TO_S1, TO_S2), CONGESTION_NONE);
    assert_int_equal(s2->pair_count, 0);
    assert_int_equal(s2->critical, BIT(TO_S0));

    /* a second tracker finds no output: S1 and S2 have had theirs, S3 has 20 % */
    congestion_arrived(figure.congestion, S0, TO_S3);
    assert_int_equal(s0->pending, 0);
    assert_int_equal(figure.congestion->counters.trackers, 3);
    congestion_free(figure.congestion);
}

/* An output is a candidate from exactly k % on; none leads back; equal ones are taken from the lowest on. */
static void outputs_are_chosen_by_the_rules(void **state)
{
    (void)state;
    struct figure figure = figure_new(50, 6);
    const struct congestion_router *s0 = at(&figure, S0);
    stall(&figure, S0, 50, 100, 50);
    congestion_end_epoch(figure.congestion, figure.epoch);
    assert_int_equal(s0->pending, BIT(TO_S2));
    congestion_arrived(figure.congestion, S0, TO_S1);
    assert_int_equal(s0->pending, BIT(TO_S2) | BIT(TO_S3));
    congestion_arrived(figure.congestion, S0, TO_S1); /* S1 is left, and would be a U-turn */
    assert_int_equal(s0->pending, BIT(TO_S2) | BIT(TO_S3));
    congestion_arrived(figure.congestion, S0, TO_S2);
    assert_int_equal(s0->pending, BIT(TO_S1) | BIT(TO_S2) | BIT(TO_S3));
    /* none has left: at the epoch's end all are dropped, and nothing is critical */
    stall(&figure, S0, 7, 7, 7);
    congestion_end_epoch(figure.congestion, figure.epoch);
    assert_int_equal(s0->pending, BIT(TO_S1));
    assert_int_equal(s0->critical, 0);
    stall(&figure, S0, 0, 0, 0);
    congestion_end_epoch(figure.congestion, figure.epoch);
    assert_int_equal(s0->pending, 0);
    congestion_free(figure.congestion);
}

/* Pairs and outputs leave after 2^h epochs in a row without a tracker; those behind move up. */
static void hysteresis_holds_entries(void **state)
{
    (void)state;
    enum { BITS = 3, EPOCHS = 1 << BITS };
    struct figure figure = figure_new(50, BITS);
    const struct congestion_router *s0 = at(&figure, S0);
    stall(&figure, S0, 60, 100, 55);
    stall(&figure, S2, 100, 0, 0);
    congestion_end_epoch(figure.congestion, figure.epoch);
    exchange(&figure);
    congestion_send(figure.congestion, S0, TO_S1);
    congestion_arrived(figure.congestion, S0, TO_S1);
    congestion_send(figure.congestion, S0, TO_S3);
    assert_int_equal(congestion_rank(s0, TO_S2, TO_S1), 0);
    assert_int_equal(congestion_rank(s0, TO_S1, TO_S3), 1);
    /* from now on only (S1, S3) is selected, by a tracker from S1 */
    stall(&figure, S0, 0, 0, 55);
    stall(&figure, S2, 0, 0, 0);
    for (unsigned i = 0; i <= EPOCHS; i++) {
        assert_int_equal(s0->pair_count, 2);
        assert_int_equal(s0->critical, BIT(TO_S1) | BIT(TO_S2) | BIT(TO_S3));
        congestion_end_epoch(figure.congestion, figure.epoch);
        if (i < EPOCHS) {
            congestion_send(figure.congestion, S0, TO_S3); /* the first tracker */
            figure.congestion->routers[S0].tracked = 0;    /* as if it had left by another output */
            congestion_arrived(figure.congestion, S0, TO_S1);
            congestion_send(figure.congestion, S0, TO_S3);
        }
    }
    assert_int_equal(s0->pair_count, 1);
    assert_int_equal(congestion_rank(s0, TO_S2, TO_S1), CONGESTION_NONE);
    assert_int_equal(congestion_rank(s0, TO_S1, TO_S3), 0);
    assert_int_equal(s0->critical, BIT(TO_S3));
    assert_int_equal(figure.congestion->counters.pairs_removed, 1);
    congestion_free(figure.congestion);
}

/* Both rules of section III-D at their limits; BW is 800 flits. */
static void widths_follow_the_rules(void **state)
{
    (void)state;
    static const struct {
        bool critical, carries;
        uint32_t parts;
        uint64_t stalls, credits, most;
        uint32_t expected;
    } cases[] = {
        {true, false, 4, 11, 10, 100, 1}, {true, false, 4, 10, 10, 100, 4},  {true, false, 1, 0, 201, 0, 1},
        {true, false, 1, 0, 200, 0, 2},   {true, false, 8, 0, 101, 0, 2},    {true, false, 1, 0, 100, 0, 4},
        {true, false, 8, 0, 0, 0, 4},     {false, false, 1, 91, 0, 100, 1},  {false, false, 4, 91, 0, 100, 2},
        {false, false, 4, 90, 0, 100, 8}, {false, false, 1, 90, 0, 100, 2},  {false, false, 8, 0, 700, 0, 8},
        {false, false, 2, 0, 700, 5, 4},  {false, false, 8, 100, 0, 100, 4}, {false, true, 8, 0, 700, 5, 1},
        {false, true, 1, 0, 400, 5, 2},   {false, true, 1, 0, 401, 5, 1},    {false, true, 4, 0, 100, 5, 8},
        {false, true, 4, 0, 101, 5, 4},   {false, true, 4, 100, 0, 100, 2},  {true, true, 8, 0, 100, 0, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct congestion_epoch epoch = {cases[i].stalls, cases[i].credits};
        const struct congestion_link link = {.flits = 800,
                                             .most = cases[i].most,
                                             .parts = cases[i].parts,
                                             .threshold = 90,
                                             .critical = cases[i].critical,
                                             .carries = cases[i].carries};
        assert_int_equal(congestion_width(&link, &epoch), cases[i].expected);
    }
}

/* Two heads wait from tick 10 to 20. One gets a channel without a credit, for which it waits from 21 on, before the other goes: in
 * tick 20 nothing waits. */
static void stalls_are_those_of_heads_that_wait(void **state)
{
    struct stalls stalls = {0};
    (void)state;
    stalls_begin(&stalls, 10);
    stalls_begin(&stalls, 10);
    stalls_end(&stalls, 20);
    stalls_begin(&stalls, 21);
    stalls_end(&stalls, 20);
    stalls_settle(&stalls, 25);
    assert_int_equal(stalls.ticks, 10 + 4);
    stalls_end(&stalls, 30);
    stalls_settle(&stalls, 40);
    assert_int_equal(stalls.ticks, 10 + 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_8_is_followed),
        cmocka_unit_test(outputs_are_chosen_by_the_rules),
        cmocka_unit_test(hysteresis_holds_entries),
        cmocka_unit_test(widths_follow_the_rules),
        cmocka_unit_test(stalls_are_those_of_heads_that_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
