/* The numbers of requests, and of passes through the banks, for patterns of addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/simt/coalesce.h"
#include "emu/simt/shared_banks.h"
#include "emu/simt/warp_memory.h"
#include "tests/isa/random.h"

enum { LINE = 128 };
#define BASE UINT64_C(0x80001000)

struct pattern {
    uint64_t at[WARP_LANES];
};

static struct pattern strided(uint64_t base, uint64_t stride)
{
    struct pattern p;
    for (unsigned i = 0; i < WARP_LANES; i++)
        p.at[i] = base + i * stride;
    return p;
}

static unsigned lines_of(const struct pattern *p, uint32_t mask, unsigned size)
{
    struct coalesce_line lines[COALESCE_LINES];
    return coalesce_lines(p->at, mask, size, LINE, lines);
}

/* 32 words of 4 bytes: adjacent (128 bytes, one line), with stride 2 (two lines), all equal (one line), one
 * line each. */
static void words_on_lines(void **state)
{
    (void)state;
    struct pattern unit = strided(BASE, 4), two = strided(BASE, 8), same = strided(BASE + 20, 0),
                   far = strided(BASE, LINE);
    assert_int_equal(lines_of(&unit, UINT32_MAX, 4), 1);
    assert_int_equal(lines_of(&two, UINT32_MAX, 4), 2);
    assert_int_equal(lines_of(&same, UINT32_MAX, 4), 1);
    assert_int_equal(lines_of(&far, UINT32_MAX, 4), 32);
    assert_int_equal(lines_of(&far, 0x00010001, 4), 2);
    assert_int_equal(lines_of(&far, 0, 4), 0);
    /* Adjacent doubles: 256 bytes. */
    assert_int_equal(lines_of(&two, UINT32_MAX, 8), 2);
    /* Unit stride from the middle of a line touches two lines. */
    struct pattern late = strided(BASE + 64, 4);
    assert_int_equal(lines_of(&late, UINT32_MAX, 4), 2);
}

static bool diverges(struct pattern p, uint32_t mask, unsigned size)
{
    return coalesce_divergent(lines_of(&p, mask, size), mask, size, LINE);
}

/* Packed, 32 words of 4 bytes take one line, 32 of 8 bytes two, and 16 of 8 bytes one. */
static void more_lines_than_bytes_take_diverge(void **state)
{
    (void)state;
    assert_false(diverges(strided(BASE, 4), UINT32_MAX, 4));
    assert_true(diverges(strided(BASE, 8), UINT32_MAX, 4));
    assert_false(diverges(strided(BASE, 0), UINT32_MAX, 4));
    assert_true(diverges(strided(BASE, LINE), UINT32_MAX, 4));
    assert_false(diverges(strided(BASE, LINE), 1, 4));
    assert_false(diverges(strided(BASE, 8), UINT32_MAX, 8));
    assert_false(diverges(strided(BASE, 8), 0xffff, 8));
    assert_true(diverges(strided(BASE, 16), UINT32_MAX, 8));
    assert_true(diverges(strided(BASE + 64, 8), UINT32_MAX, 8));
}

/* All lanes spill a register at the same offset of stacks of 16 KiB: their words are adjacent. A spill of 4
 * bytes uses half of each such word, and so half of two lines. */
static void spills_do_not_diverge(void **state)
{
    (void)state;
    const struct warp_memory memory = {.setup = {.width = WARP_LANES, .stack_shift = 14}};
    struct pattern p;
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        p.at[lane] = BASE + warp_stack_swizzle(&memory, ((uint64_t)lane + 1) * 16384 - 24);
    assert_int_equal(lines_of(&p, UINT32_MAX, 8), 2);
    assert_false(diverges(p, UINT32_MAX, 8));
    assert_true(diverges(p, UINT32_MAX, 4));
}

/* Random words: the number of requests equals an independent count of different lines, and each lane is in
 * the request of its line, with its word. */
static void random_words(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (unsigned round = 0; round < 2000; round++) {
        struct pattern p;
        struct coalesce_line lines[COALESCE_LINES];
        unsigned span = 1U << (round % 14), different = 0;
        uint32_t mask = 0;
        for (unsigned i = 0; i < WARP_LANES; i++) {
            random_step(&seed);
            p.at[i] = BASE + (seed >> 40) % span * 4;
            mask |= (uint32_t)(seed >> 33 & 1) << i;
        }
        unsigned count = coalesce_lines(p.at, mask, 4, LINE, lines);
        for (unsigned i = 0; i < WARP_LANES; i++) {
            if (!(mask >> i & 1))
                continue;
            unsigned first = 0, at = 0;
            while (!(mask >> first & 1) || p.at[first] / LINE != p.at[i] / LINE)
                first++;
            different += first == i;
            while (at < count && lines[at].line != p.at[i] / LINE * LINE)
                at++;
            assert_true(at < count);
            assert_true(lines[at].lanes >> i & 1);
            assert_true(lines[at].words >> (p.at[i] % LINE / 4) & 1);
        }
        assert_int_equal(count, different);
        assert_true(count <= 32);
    }
}

static void words_and_crossings(void **state)
{
    (void)state;
    struct coalesce_line lines[COALESCE_LINES];
    struct pattern p = strided(BASE + 124, 0);
    /* A double at offset 124 takes the last word of one line and the first of the next. */
    assert_int_equal(coalesce_lines(p.at, 1, 8, LINE, lines), 2);
    assert_int_equal(lines[0].words, UINT64_C(1) << 31);
    assert_int_equal(lines[1].line, BASE + LINE);
    assert_int_equal(lines[1].words, 1);
    /* Bytes 2 to 5 are in words 0 and 1. */
    p = strided(BASE + 2, 0);
    assert_int_equal(coalesce_lines(p.at, 1, 4, LINE, lines), 1);
    assert_int_equal(lines[0].words, 3);
    /* Each lane is more than a line from the next, and each access crosses a line: 64 lines. */
    p = strided(BASE + 124, 2 * LINE);
    assert_int_equal(coalesce_lines(p.at, UINT32_MAX, 8, LINE, lines), 64);
}

/* The same address for all lanes takes 32 turns, 32 different words take one, and words shared by two lanes
 * take two. */
static void atomics_take_turns(void **state)
{
    (void)state;
    struct coalesce_line lines[COALESCE_LINES];
    struct pattern same = strided(BASE, 0), unit = strided(BASE, 4), pairs;
    for (unsigned i = 0; i < WARP_LANES; i++)
        pairs.at[i] = BASE + i / 2 * 4;
    assert_int_equal(coalesce_atomics(same.at, UINT32_MAX, 4, LINE, lines), 32);
    assert_int_equal(coalesce_atomics(unit.at, UINT32_MAX, 4, LINE, lines), 1);
    assert_int_equal(coalesce_atomics(pairs.at, UINT32_MAX, 4, LINE, lines), 2);
    assert_int_equal(lines[0].lanes, 0x55555555);
    assert_int_equal(lines[1].lanes, 0xaaaaaaaa);
}

static unsigned passes(struct pattern p, unsigned size, bool atomic)
{
    return shared_banks_passes(p.at, UINT32_MAX, size, 32, atomic);
}

/* 32 banks of 4 bytes. A stride of s words uses 32 / gcd(s, 32) banks, gcd(s, 32) words in each. */
static void banks_conflict(void **state)
{
    (void)state;
    for (unsigned s = 1; s <= 64; s++) {
        unsigned gcd = s & -s;
        assert_int_equal(passes(strided(BASE, 4 * s), 4, false), gcd < 32 ? gcd : 32);
    }
    assert_int_equal(passes(strided(BASE, 0), 4, false), 1); /* broadcast */
    assert_int_equal(passes(strided(BASE, 1), 1, false), 1); /* four lanes share each word */
    assert_int_equal(passes(strided(BASE, 8), 8, false), 2); /* 64 words */
    assert_int_equal(passes(strided(BASE, 0), 4, true), 32); /* atomics on one word */
    assert_int_equal(passes(strided(BASE, 4), 4, true), 1);
    assert_int_equal(shared_banks_use(strided(BASE, 0).at, UINT32_MAX, 4, 32, false).words, 1);
    assert_int_equal(shared_banks_use(strided(BASE, 1).at, UINT32_MAX, 1, 32, false).words, 8);
    assert_int_equal(shared_banks_use(strided(BASE, 8).at, UINT32_MAX, 8, 32, false).words, 64);
    assert_int_equal(shared_banks_use(strided(BASE, 0).at, UINT32_MAX, 4, 32, true).words, 32);
    assert_int_equal(shared_banks_passes(strided(BASE, 128).at, 0, 4, 32, false), 0);
    assert_int_equal(shared_banks_passes(strided(BASE, 4).at, UINT32_MAX, 4, 16, false), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_on_lines),        cmocka_unit_test(random_words),
        cmocka_unit_test(words_and_crossings),   cmocka_unit_test(atomics_take_turns),
        cmocka_unit_test(banks_conflict),        cmocka_unit_test(more_lines_than_bytes_take_diverge),
        cmocka_unit_test(spills_do_not_diverge),
    };
    return cmocka_run_group_tests_name("coalescer and shared-memory banks", tests, NULL, NULL);
}
