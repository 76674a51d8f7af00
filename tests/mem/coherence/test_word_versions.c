/* The checker of versions on histories written by hand: which loads are stale, and which are races. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/mem/coherence/word_versions.h"

enum { A = 1, B, C, D, AGENTS = D, WORD = 0x1000, LINE = 64 };

struct history {
    struct word_versions *versions;
    struct word_finding last;
    uint64_t time;
};

static void report(void *context, const struct word_finding *finding)
{
    struct history *history = context;
    history->last = *finding;
}

static void begin(struct history *history)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    *history = (struct history){.time = 1};
    history->versions = word_versions_new(LINE, report, history);
    for (unsigned i = 0; i < AGENTS; i++)
        assert_int_equal(word_versions_agent(history->versions, names[i]), A + i);
}

static void end(struct history *history)
{
    word_versions_free(history->versions);
}

/* Each access has a pc of its own, so that each finding is told. */
static uint32_t store(struct history *history, unsigned agent)
{
    const struct word_access access = {.agent = agent, .address = WORD, .pc = history->time++};
    return word_versions_store(history->versions, &access);
}

static void hand_over(struct history *history, unsigned from, unsigned to)
{
    word_versions_release(history->versions, from);
    word_versions_acquire(history->versions, to);
}

/* A load of a version that was sent at `issued`. Returns 's' for stale, 'r' for a race, '-' for none. */
static char load_sent(struct history *history, unsigned agent, uint32_t version, uint64_t issued)
{
    const struct word_access access = {
        .agent = agent, .address = WORD, .pc = history->time++, .issued = issued};
    const uint64_t stale = word_versions_found(history->versions, WORD_STALE),
                   races = word_versions_found(history->versions, WORD_RACE);
    word_versions_load(history->versions, &access, version);
    if (word_versions_found(history->versions, WORD_STALE) != stale)
        return 's';
    return word_versions_found(history->versions, WORD_RACE) != races ? 'r' : '-';
}

static char load(struct history *history, unsigned agent, uint32_t version)
{
    return load_sent(history, agent, version, 0);
}

/* The newest store happens before the load, but not after the other one: the registry may have ordered them either way. */
static void stores_race(void **state)
{
    (void)state;
    struct history h;
    begin(&h);
    const uint32_t first = store(&h, A), second = store(&h, B);
    assert_int_equal(load(&h, B, first), 'r');
    hand_over(&h, B, C);
    assert_int_equal(load(&h, C, first), 'r');
    assert_int_equal(load(&h, C, second), '-');
    assert_int_equal(load(&h, C, 0), 's');
    end(&h);
}

static void stores_are_ordered(void **state)
{
    (void)state;
    struct history h;
    begin(&h);
    const uint32_t first = store(&h, A);
    hand_over(&h, A, B);
    const uint32_t second = store(&h, B);
    assert_int_equal(load(&h, C, first), 'r');
    hand_over(&h, B, C);
    assert_int_equal(load(&h, C, first), 's');
    assert_string_equal(h.last.writer.agent, "b");
    assert_int_equal(load(&h, C, second), '-');
    assert_int_equal(load(&h, A, first), 'r'); /* it has not acquired */
    end(&h);
}

/* The newest store races with the load, an older one does not. */
static void an_older_store_hides(void **state)
{
    (void)state;
    struct history h;
    begin(&h);
    const uint32_t first = store(&h, A);
    hand_over(&h, A, B);
    const uint32_t second = store(&h, B);
    hand_over(&h, B, C);
    const uint32_t third = store(&h, D);
    assert_int_equal(load(&h, C, first), 's');
    assert_string_equal(h.last.writer.agent, "b");
    assert_int_equal(load(&h, C, second), 'r');
    assert_string_equal(h.last.writer.agent, "d");
    assert_int_equal(load(&h, C, third), '-');
    end(&h);
}

/* More stores than are kept: first all of them race, then one comes after all. */
static void many_stores(void **state)
{
    (void)state;
    struct history h;
    begin(&h);
    const uint32_t first = store(&h, A);
    for (unsigned i = 0; i < 9; i++)
        (void)store(&h, B + i % 3);
    hand_over(&h, D, C);
    assert_int_equal(load(&h, C, first), 'r');
    for (unsigned agent = A; agent <= D; agent++)
        word_versions_release(h.versions, agent);
    word_versions_acquire(h.versions, B);
    (void)store(&h, B);
    hand_over(&h, B, C);
    assert_int_equal(load(&h, C, first), 'r'); /* stores between them were dropped before it */
    assert_int_equal(load(&h, C, 0), 's');
    end(&h);
}

/* All stores are ordered, and only the last ones are kept. */
static void long_chain(void **state)
{
    (void)state;
    struct history h;
    begin(&h);
    const uint32_t first = store(&h, A);
    for (unsigned i = 0; i < 9; i++) {
        hand_over(&h, A + i % 2, A + 1 - i % 2);
        (void)store(&h, A + 1 - i % 2);
    }
    assert_int_equal(load(&h, A, first), 's');
    assert_int_equal(load(&h, C, first), 'r');
    end(&h);
}

/* Answers come later than stores and acquires of others of the agent. */
static void loads_under_way(void **state)
{
    (void)state;
    struct history h;
    begin(&h);
    const uint32_t first = store(&h, A);
    const uint64_t before = word_versions_clock(h.versions);
    hand_over(&h, A, B);
    const uint64_t between = word_versions_clock(h.versions);
    (void)store(&h, B);
    assert_int_equal(load_sent(&h, C, first, before), '-'); /* no store when it was sent */
    assert_int_equal(load_sent(&h, C, first, between), '-');
    const uint64_t after = word_versions_clock(h.versions);
    assert_int_equal(load_sent(&h, C, first, after), 'r');
    hand_over(&h, B, C);
    assert_int_equal(load_sent(&h, C, first, after), 'r'); /* sent before C has acquired */
    assert_int_equal(load_sent(&h, C, first, word_versions_clock(h.versions)), 's');
    end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_race),          cmocka_unit_test(stores_are_ordered),
        cmocka_unit_test(an_older_store_hides), cmocka_unit_test(many_stores),
        cmocka_unit_test(long_chain),           cmocka_unit_test(loads_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
