/* SIMT accesses of a write-through cache: thread stacks, divergence. A hit takes 2 clocks, a response 100. */
#include "tests/mem/cache/rig.h"

enum { FIRST = 16 * LINE, SIZE = 64 * LINE, WORDS = LINE / 4 };

struct told {
    enum mem_op op;
    uint64_t address, size;
    unsigned calls;
};

static struct told told; /* of the level below, by cache_drop() */

static void maintain(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size)
{
    (void)port;
    (void)link;
    told = (struct told){op, address, size, told.calls + 1};
}

/* A cache of 2 sets of 2 ways, whose lines from 16 on are stacks. */
static struct rig *stacks_new(struct mem_port_ops *ops)
{
    struct cache_config config = rig_config(2, 2);
    config.write_through = true;
    config.write_allocate = false;
    config.write_buffer = 2;
    struct rig *rig = rig_new(&config);
    cache_set_stacks(rig->cache, FIRST, SIZE);
    *ops = *rig->cache->link.port_ops;
    ops->maintain = maintain;
    rig->cache->link.port_ops = ops;
    told = (struct told){.calls = 0};
    return rig;
}

/* Accesses 32-bit words of a stack line, 0 being the first. */
static enum cache_outcome access_words(struct rig *rig, unsigned i, enum cache_use use, uint64_t line,
                                       uint64_t words, uint64_t clock)
{
    const struct cache_words asked = {.line = FIRST + line * LINE, .words = words};
    struct rig_access *access = &rig->accesses[i];
    access->done = 0;
    return cache_access_words(rig->cache, &asked, use, clock * RIG_CLOCK, (struct cache_actor){.core = 1},
                              &access->waiter);
}

static enum cache_outcome store(struct rig *rig, unsigned i, uint64_t line, uint64_t words, uint64_t clock)
{
    return access_words(rig, i, CACHE_STORE, line, words, clock);
}

static enum cache_outcome load(struct rig *rig, unsigned i, uint64_t line, uint64_t words, uint64_t clock)
{
    return access_words(rig, i, CACHE_LOAD, line, words, clock);
}

/* Stores and loads of what was stored need nothing from below; a load of other words asks for them, and what was stored
 * stays. A store elsewhere still goes through. */
static void stores_stay(void **state)
{
    (void)state;
    struct mem_port_ops ops;
    struct rig *rig = stacks_new(&ops);
    assert_int_equal(store(rig, 0, 0, 0x00f0, 1), CACHE_HIT);
    assert_int_equal(store(rig, 0, 0, 0x000f, 2), CACHE_HIT);
    assert_int_equal(load(rig, 0, 0, 0x00ff, 3), CACHE_HIT);
    rig_until(rig, 200);
    assert_int_equal(rig->count, 0);
    assert_int_equal(rig->cache->stacks.allocated, 1);
    assert_int_equal(load(rig, 1, 0, 0x0180, 210), CACHE_MISS);
    assert_int_equal(store(rig, 0, 0, 0x1000, 211), CACHE_HIT);
    rig_until(rig, 400);
    assert_int_equal(rig->accesses[1].done, 312);
    assert_int_equal(rig->count, 1);
    rig_asked_is(rig, 0, MEM_READ, FIRST, LINE, 212);
    assert_int_equal(rig->log[0].mask, 0x0180);
    assert_int_equal(load(rig, 0, 0, 0x11ff, 401), CACHE_HIT);
    assert_int_equal(rig_state(rig, FIRST / LINE), CACHE_MODIFIED);
    assert_int_equal(rig_store(rig, 2, 3, 402), CACHE_HIT);
    rig_until(rig, 500);
    rig_asked_is(rig, 1, MEM_WRITE, 3 * LINE + 8, 8, 404);
    rig_free(rig);
}

/* Lines 0, 2 and 4 share a set of two ways: the third store displaces line 0, whose words 1, 2 and 4 go down. A line
 * that has arrived whole goes down whole. */
static void victims_go_down(void **state)
{
    (void)state;
    struct mem_port_ops ops;
    struct rig *rig = stacks_new(&ops);
    (void)store(rig, 0, 0, 0x16, 1);
    (void)store(rig, 0, 2, 1, 2);
    assert_int_equal(store(rig, 0, 4, 1, 3), CACHE_HIT);
    rig_until(rig, 150);
    assert_int_equal(rig->count, 1);
    rig_asked_is(rig, 0, MEM_WRITE, FIRST + 4, 16, 3);
    assert_int_equal(rig->log[0].mask, 0xb);
    (void)load(rig, 1, 2, 0xffff, 160);
    rig_until(rig, 300);
    (void)store(rig, 0, 0, 1, 301); /* displaces line 4, then line 2 */
    (void)store(rig, 0, 6, 1, 302);
    rig_until(rig, 450);
    assert_int_equal(rig->count, 4);
    rig_asked_is(rig, 3, MEM_WRITE, FIRST + 2 * LINE, LINE, 302);
    assert_int_equal(rig->log[3].mask, UINT64_MAX);
    assert_int_equal(rig->cache->stacks.write_backs, 3);
    rig_free(rig);
}

/* With both entries of the write buffer in use, a store that needs a dirty victim waits for one. */
static void full_buffer_waits(void **state)
{
    (void)state;
    struct mem_port_ops ops;
    struct rig *rig = stacks_new(&ops);
    rig->refuse[1] = true;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(store(rig, 0, 2 * i, 1, i), CACHE_HIT);
    assert_int_equal(store(rig, 5, 8, 1, 5), CACHE_FULL);
    assert_false(cache_give_up(rig->cache, FIRST + 4 * LINE, 5 * RIG_CLOCK, &rig->accesses[6].waiter));
    rig_until(rig, 50);
    assert_int_equal(rig->accesses[5].done, 0);
    rig_open(rig);
    rig_until(rig, 200);
    assert_int_equal(rig->accesses[5].level, MEM_LEVELS);
    assert_int_equal(rig->accesses[6].level, MEM_LEVELS);
    assert_int_equal(store(rig, 5, 8, 1, 201), CACHE_HIT);
    assert_true(cache_give_up(rig->cache, FIRST + 6 * LINE, 202 * RIG_CLOCK, &rig->accesses[6].waiter));
    rig_until(rig, 400);
    assert_int_equal(rig_state(rig, FIRST / LINE + 6), CACHE_INVALID);
    assert_int_equal(rig->count, 4);
    rig_free(rig);
}

/* Dropped lines are not written; a line that is dropped in part keeps the rest, and only whole lines are dropped below.
 * Emptying the cache leaves stacks. */
static void ended_stacks_are_dropped(void **state)
{
    (void)state;
    struct mem_port_ops ops;
    struct rig *rig = stacks_new(&ops);
    (void)store(rig, 0, 0, 0xffff, 1);
    (void)store(rig, 0, 1, 0xffff, 1);
    (void)rig_load(rig, 1, 2, 2);
    rig_until(rig, 150);
    cache_invalidate_all(rig->cache);
    assert_int_equal(rig_state(rig, 2), CACHE_INVALID);
    assert_int_equal(rig_state(rig, FIRST / LINE), CACHE_MODIFIED);
    cache_drop(rig->cache, FIRST, LINE + 32, false);
    assert_int_equal(told.calls, 0);
    assert_int_equal(rig_state(rig, FIRST / LINE), CACHE_INVALID);
    assert_int_equal(load(rig, 0, 1, 0xff00, 151), CACHE_HIT);
    assert_int_equal(load(rig, 2, 1, 0x0080, 152), CACHE_MISS);
    rig_until(rig, 300);
    cache_drop(rig->cache, FIRST + 32, 2 * LINE, true);
    assert_int_equal(told.calls, 1);
    assert_int_equal(told.op, MEM_INVALIDATE);
    assert_int_equal(told.address, FIRST + LINE);
    assert_int_equal(told.size, LINE);
    rig_until(rig, 500);
    assert_int_equal(rig->cache->stacks.dropped, 2);
    assert_int_equal(rig->cache->stacks.write_backs, 0);
    for (unsigned i = 0; i < rig->count; i++)
        assert_int_equal(rig->log[i].op, MEM_READ);
    rig_free(rig);
}

/* Accesses that are united before their request is sent make it divergent only if all are: a warp with one line waits for
 * this request alone. */
static void united_accesses_are_divergent_together(void **state)
{
    (void)state;
    for (unsigned sets = 0; sets < 8; sets++) {
        struct mem_port_ops ops;
        struct rig *rig = stacks_new(&ops);
        for (unsigned i = 0; i < 3; i++) {
            const struct cache_actor actor = {.core = 1};
            const struct cache_words from = {.line = LINE, .words = 1, .divergent = sets >> i & 1},
                                     to = {.line = 2 * LINE, .words = 1u << i, .divergent = sets >> i & 1};
            const uint64_t time =
                (i < 2 ? 1 + i : 50) * RIG_CLOCK; /* the third one comes after the requests */
            rig_until(rig, time / RIG_CLOCK);
            assert_int_equal(
                cache_access_words(rig->cache, &from, CACHE_LOAD, time, actor, &rig->accesses[i].waiter),
                CACHE_MISS);
            assert_int_not_equal(
                cache_access_words(rig->cache, &to, CACHE_STORE, time, actor, &rig->accesses[3].waiter),
                CACHE_FULL);
        }
        rig_until(rig, 400);
        assert_int_equal(rig->count, 3);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(rig->log[i].divergent, i < 2 ? (sets & 3) == 3 : sets >> 2);
        assert_int_equal(rig->log[0].op + rig->log[1].op, MEM_READ + MEM_WRITE);
        assert_int_equal(rig->log[2].op, MEM_WRITE);
        rig_free(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(united_accesses_are_divergent_together),
        cmocka_unit_test(stores_stay),
        cmocka_unit_test(victims_go_down),
        cmocka_unit_test(full_buffer_waits),
        cmocka_unit_test(ended_stacks_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
