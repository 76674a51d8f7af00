/* Lines of thread stacks in the last level beside store policies, atomics, and requests that lack a resource. */
#include "tests/isa/random.h"
#include "tests/mem/llc/crowd.h"

enum { WORDS = LINE / 4 };

/* Adds an access to the words of a thread stack that the mask, from the first word of the line on, has. */
static unsigned stack(struct crowd *crowd, enum mem_op op, uint64_t line, uint64_t words, uint64_t clock)
{
    const unsigned first = (unsigned)__builtin_ctzll(words), last = 63 - (unsigned)__builtin_clzll(words);
    const unsigned number =
        op == MEM_READ ? crowd_add(crowd, op, line * LINE, LINE, clock)
                       : crowd_add(crowd, op, line * LINE + 4 * first, 4 * (last - first + 1), clock);
    crowd->requests[number].request.stack = true;
    crowd->requests[number].request.mask = op == MEM_READ ? words : words >> first;
    return number;
}

static unsigned atomic(struct crowd *crowd, uint64_t line, unsigned word, uint64_t clock)
{
    const unsigned number = crowd_add(crowd, MEM_WRITE, line * LINE + 4 * word, 4, clock);
    crowd->requests[number].request.atomic = true;
    return number;
}

/* Whatever the policy, stores to a stack read and write no memory. An atomic reads the rest of the line, and others on
 * it follow; it sends its word if the policy says so, and the line stays dirty until another one displaces it. */
static void policies_leave_stacks(void **state)
{
    (void)state;
    for (enum llc_policy policy = LLC_WRITE_BACK; policy <= LLC_WRITE_EVICT; policy++) {
        struct llc_config config = crowd_config(1, 1);
        config.write_policy = policy;
        config.write_allocate = false;
        struct crowd *crowd = crowd_new(&config);
        (void)stack(crowd, MEM_WRITE, 0, 0x5, 0);
        (void)stack(crowd, MEM_READ, 0, 0x4, 100);
        crowd_run(crowd);
        assert_int_equal(crowd->memory.seen[MEM_READ] + crowd->memory.seen[MEM_WRITE], 0);
        crowd_clear(crowd);
        for (unsigned i = 0; i < 3; i++)
            (void)atomic(crowd, 0, 5 + i, i);
        (void)crowd_add(crowd, MEM_WRITE, 8, 4, 1000);
        crowd_run(crowd);
        const unsigned through = policy == LLC_WRITE_BACK ? 0 : 4;
        assert_int_equal(crowd->memory.seen[MEM_READ], 1);
        assert_int_equal(crowd->written, through);
        assert_true(llc_line_state(crowd->llc, 0).dirty);
        crowd_clear(crowd);
        (void)crowd_add(crowd, MEM_READ, LINE, LINE, 0);
        crowd_run(crowd);
        assert_int_equal(crowd->written, through + WORDS);
        assert_int_equal(llc_counted(crowd->llc)->store_evictions, 0);
        crowd_free(crowd);
    }
}

/* Reads of the rest of two lines wait for the only MSHR in turn. */
static void rests_wait_for_mshrs(void **state)
{
    (void)state;
    struct llc_config config = crowd_config(4, 2);
    config.mshrs = 1;
    struct crowd *crowd = crowd_new(&config);
    (void)stack(crowd, MEM_WRITE, 0, 1, 0);
    (void)stack(crowd, MEM_WRITE, 1, 1, 0);
    crowd_run(crowd);
    crowd_clear(crowd);
    (void)crowd_add(crowd, MEM_READ, 2 * LINE, LINE, 0);
    (void)stack(crowd, MEM_READ, 0, 3, 1);
    (void)stack(crowd, MEM_READ, 1, 3, 2);
    crowd_run(crowd);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(crowd_clock(crowd, i), TAGS + (i + 1) * MEMORY + FILL);
    assert_int_equal(llc_counted(crowd->llc)->stalls, 2);
    assert_true(crowd->requests[1].request.mask == UINT64_MAX);
    crowd_free(crowd);
}

/* A line that was cleaned is read when memory has answered the write of its words. */
static void rests_wait_for_writes(void **state)
{
    (void)state;
    struct llc_config config = crowd_config(4, 2);
    struct crowd *crowd = crowd_new(&config);
    (void)stack(crowd, MEM_WRITE, 0, 1, 0);
    crowd_run(crowd);
    crowd_clear(crowd);
    (void)crowd_add(crowd, MEM_CLEAN, 0, LINE, 0);
    const unsigned read = crowd_add(crowd, MEM_READ, 0, LINE, 20);
    crowd_run(crowd);
    assert_int_equal(crowd->written, 1);
    assert_int_equal(crowd_clock(crowd, read), TAGS + 2 * MEMORY + FILL);
    crowd_free(crowd);
}

static void add_random(struct crowd *crowd, uint64_t *seed)
{
    const uint64_t line = random_shift(seed) % 6, clock = random_shift(seed) % 2000,
                   words = random_shift(seed) % 0xffff + 1;
    switch (random_shift(seed) % 7) {
    case 0:
    case 1: (void)stack(crowd, MEM_WRITE, line, words, clock); break;
    case 2: (void)stack(crowd, MEM_READ, line, words, clock); break;
    case 3: (void)atomic(crowd, line, (unsigned)(words % WORDS), clock); break;
    case 4: (void)crowd_add(crowd, MEM_READ, line * LINE, LINE, clock); break;
    case 5: (void)crowd_add(crowd, MEM_WRITE, line * LINE + words % WORDS * 4, 4, clock); break;
    default:
        (void)crowd_add(crowd, words & 1 ? MEM_CLEAN : MEM_CLEAN_INVALIDATE, line * LINE, LINE, clock);
        break;
    }
}

/* All random requests are answered, and each read of a stack gets the words that it needs. */
static void all_are_answered(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252;
    for (unsigned round = 0; round < 120; round++) {
        uint64_t needs[CROWD];
        struct llc_config config = crowd_config(1 + round % 2, 2);
        config.write_policy = (enum llc_policy)(round % 3);
        config.write_allocate = round % 5 != 0;
        config.mshrs = 1 + round % 4;
        config.write_buffer = 1 + round / 4 % 4;
        struct crowd *crowd = crowd_new(&config);
        crowd->memory.most = 1 + round % 7;
        while (crowd->count < CROWD)
            add_random(crowd, &seed);
        for (unsigned i = 0; i < CROWD; i++)
            needs[i] = crowd->requests[i].request.mask;
        crowd_run(crowd);
        for (unsigned i = 0; i < CROWD; i++)
            if (crowd->requests[i].request.stack && crowd->requests[i].request.op == MEM_READ)
                assert_true((needs[i] & ~crowd->requests[i].request.mask) == 0);
        crowd_free(crowd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_leave_stacks),
        cmocka_unit_test(rests_wait_for_mshrs),
        cmocka_unit_test(rests_wait_for_writes),
        cmocka_unit_test(all_are_answered),
    };
    return cmocka_run_group_tests_name("thread stacks beside policies and stalls", tests, NULL, NULL);
}
