/* Set-associative tags: victims computed by hand, and random traffic against a list in order of use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/mem/cache/tags.h"
#include "tests/isa/random.h"

enum { SHIFT = 6 };

static uint64_t key(uint64_t number)
{
    return number << SHIFT;
}

/* Uses the key, after filling it if necessary. Returns the displaced key, or UINT64_MAX. */
static uint64_t use(struct tags *tags, uint64_t number)
{
    if (tags_lookup(tags, key(number)) != TAGS_NONE)
        return UINT64_MAX;
    uint32_t index = tags_victim(tags, key(number), 0);
    uint64_t gone = tags_state(tags, index) ? tags_key(tags, index) >> SHIFT : UINT64_MAX;
    tags_fill(tags, index, key(number), 1);
    return gone;
}

static void lookup_finds_what_was_filled(void **state)
{
    (void)state;
    struct tags tags;
    tags_init(&tags, 4, 2, SHIFT, TAGS_LRU);
    assert_int_equal(tags_size(&tags), 8);
    assert_int_equal(tags_find(&tags, key(0)), TAGS_NONE); /* key 0 is not an invalid entry */
    tags_fill(&tags, tags_victim(&tags, key(0), 0), key(0), 3);
    tags_fill(&tags, tags_victim(&tags, key(4), 0), key(4), 15);
    uint32_t zero = tags_find(&tags, key(0)), four = tags_find(&tags, key(4));
    assert_int_equal(zero + four, 0 + 1); /* both ways of set 0 */
    assert_int_equal(tags_state(&tags, zero), 3);
    assert_int_equal(tags_state(&tags, four), 15);
    assert_int_equal(tags_key(&tags, four), key(4));
    assert_int_equal(tags_find(&tags, key(8)), TAGS_NONE);
    assert_int_equal(tags_find(&tags, key(1)), TAGS_NONE);
    tags_set_state(&tags, four, 1);
    assert_int_equal(tags_match(&tags, four, key(4)), 1);
    tags_remove(&tags, zero);
    assert_int_equal(tags_find(&tags, key(0)), TAGS_NONE);
    assert_int_equal(tags_victim(&tags, key(8), 0), zero); /* the invalid one */
    tags_clear(&tags);
    assert_int_equal(tags_find(&tags, key(4)), TAGS_NONE);
    tags_free(&tags);
}

/* One set of 4: A B C D, use A and C: B is the oldest, then D, A, C. */
static void lru_by_hand(void **state)
{
    (void)state;
    enum { A, B, C, D, E, F, G, H };
    struct tags tags;
    tags_init(&tags, 1, 4, SHIFT, TAGS_LRU);
    for (uint64_t number = A; number <= D; number++)
        assert_int_equal(use(&tags, number), UINT64_MAX);
    (void)use(&tags, A);
    (void)use(&tags, C);
    assert_int_equal(use(&tags, E), B);
    assert_int_equal(use(&tags, F), D);
    assert_int_equal(use(&tags, G), A);
    assert_int_equal(use(&tags, H), C);
    tags_free(&tags);
}

/* One set of 4, nodes: root (1), left pair (2), right pair (3); a bit is 1 when it points right.
 * A B C D fill ways 0 to 3: after D the root points left, node 2 left (B was last), node 3 left (D was last):
 * victim A. Using A turns the root right and node 2 right: victim is node 3's left, C. E in C's place (way 2)
 * turns the root left and node 3 right: victim is node 2's right, B. LRU would have taken B, then C. */
static void tree_plru_by_hand(void **state)
{
    (void)state;
    enum { A, B, C, D, E, F, G };
    struct tags tags;
    tags_init(&tags, 1, 4, SHIFT, TAGS_TREE_PLRU);
    for (uint64_t number = A; number <= D; number++)
        assert_int_equal(use(&tags, number), UINT64_MAX);
    assert_int_equal(tags_key(&tags, tags_victim(&tags, key(E), 0)), key(A));
    (void)use(&tags, A);
    assert_int_equal(use(&tags, E), C);
    assert_int_equal(use(&tags, F), B);
    /* F in way 1: root right, node 2 left; node 3 right from before: D. */
    assert_int_equal(use(&tags, G), D);
    tags_free(&tags);
}

static void locked_ways_stay(void **state)
{
    (void)state;
    for (enum tags_replacement policy = TAGS_LRU; policy <= TAGS_TREE_PLRU; policy++) {
        struct tags tags;
        tags_init(&tags, 1, 4, SHIFT, policy);
        for (uint64_t number = 0; number < 3; number++)
            (void)use(&tags, number);
        assert_int_equal(tags_victim(&tags, key(9), 0), 3);
        assert_int_equal(tags_victim(&tags, key(9), 8), 0); /* the invalid one is locked: the oldest */
        (void)use(&tags, 3);
        assert_int_equal(tags_victim(&tags, key(9), 1), 1);
        assert_int_equal(tags_victim(&tags, key(9), 7), 3);
        assert_int_equal(tags_victim(&tags, key(9), 15), TAGS_NONE);
        tags_free(&tags);
    }
}

/* The reference for LRU: each set is a list, the most recently used first. */
static uint64_t list_use(uint64_t *list, uint32_t ways, uint64_t number)
{
    uint32_t at = 0;
    while (at < ways && list[at] != number)
        at++;
    uint64_t gone = at == ways ? list[ways - 1] : UINT64_MAX;
    memmove(list + 1, list, (at == ways ? ways - 1 : at) * sizeof *list);
    list[0] = number;
    return gone;
}

static void lru_at_random(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{1, 1}, {8, 1}, {1, 64}, {4, 3}, {16, 4}, {64, 16}};
    for (unsigned shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        uint32_t sets = shapes[shape][0], ways = shapes[shape][1];
        static uint64_t lists[64][64];
        struct tags tags;
        uint64_t random = shape;
        memset(lists, 0xff, sizeof lists);
        tags_init(&tags, sets, ways, SHIFT, TAGS_LRU);
        for (unsigned i = 0; i < 50000; i++) {
            random_step(&random);
            uint64_t number = (random >> 40) % ((uint64_t)sets * ways * 2);
            assert_int_equal(use(&tags, number), list_use(lists[number % sets], ways, number));
        }
        tags_free(&tags);
    }
}

/* The reference for tree-PLRU: a recursive tree of "which half was used last". */
struct half {
    bool right[64]; /* by node number */
};

static void half_use(struct half *half, uint32_t node, uint32_t first, uint32_t count, uint32_t way)
{
    if (count == 1)
        return;
    bool right = way >= first + count / 2;
    half->right[node] = right;
    half_use(half, 2 * node + right, right ? first + count / 2 : first, count / 2, way);
}

static uint32_t half_victim(const struct half *half, uint32_t node, uint32_t first, uint32_t count)
{
    if (count == 1)
        return first;
    bool right = !half->right[node];
    return half_victim(half, 2 * node + right, right ? first + count / 2 : first, count / 2);
}

static void tree_plru_at_random(void **state)
{
    (void)state;
    for (uint32_t ways = 2; ways <= 64; ways *= 2) {
        struct tags tags;
        struct half half = {0};
        uint64_t random = ways;
        tags_init(&tags, 1, ways, SHIFT, TAGS_TREE_PLRU);
        for (uint64_t way = 0; way < ways; way++) {
            (void)use(&tags, way);
            half_use(&half, 1, 0, ways, (uint32_t)way);
        }
        for (unsigned i = 0; i < 20000; i++) {
            random_step(&random);
            uint64_t number = (random >> 40) % (2 * ways);
            uint32_t index = tags_lookup(&tags, key(number));
            if (index == TAGS_NONE) {
                index = tags_victim(&tags, key(number), 0);
                assert_int_equal(index, half_victim(&half, 1, 0, ways));
                tags_fill(&tags, index, key(number), 1);
            }
            half_use(&half, 1, 0, ways, index);
        }
        tags_free(&tags);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookup_finds_what_was_filled),
        cmocka_unit_test(lru_by_hand),
        cmocka_unit_test(tree_plru_by_hand),
        cmocka_unit_test(locked_ways_stay),
        cmocka_unit_test(lru_at_random),
        cmocka_unit_test(tree_plru_at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
