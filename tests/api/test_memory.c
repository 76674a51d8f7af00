/* Memories of the library: times by hand, back-pressure, statistics, and several instances. */
#include <math.h>
#include <pthread.h>

#include "tests/api/rig.h"

#define NS UINT64_C(1000000)

/* DDR3-1600K, closed banks: activate, 11 clocks to the read, 11 to the data, 4 of data, each of 1.25 ns. A write is answered
 * a clock after it is offered. */
static void latency(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct undercroft *memory = memory_of(DDR3, &seen);
    uint64_t now, next, period, bytes, left;
    FINE(undercroft_period(memory, &period, NULL));
    assert_int_equal(period, 1250000);
    FINE(undercroft_memory_size(memory, &bytes, NULL));
    assert_int_equal(bytes, UINT64_C(4) << 30);
    FINE(undercroft_run(memory, 100 * period, NULL));
    FINE(undercroft_memory_request(memory, UNDERCROFT_READ, 0x12340, 64, 77, NULL));
    FINE(undercroft_memory_outstanding(memory, &left, NULL));
    assert_int_equal(left, 1);
    FINE(undercroft_next(memory, &next, NULL));
    assert_true(next > 100 * period && next < UNDERCROFT_FOREVER);
    FINE(undercroft_run(memory, 126 * period - 1, NULL));
    assert_int_equal(seen.answers, 0);
    FINE(undercroft_tick(memory, NULL));
    assert_int_equal(seen.answers, 1);
    assert_int_equal(seen.tag, 77);
    assert_int_equal(seen.now, 126 * period);
    FINE(undercroft_now(memory, &now, NULL));
    assert_int_equal(now, 127 * period - 1);
    FINE(undercroft_run(memory, 200 * period, NULL));
    FINE(undercroft_memory_request(memory, UNDERCROFT_WRITE, 0, 64, 78, NULL));
    while (seen.answers < 2)
        FINE(undercroft_step(memory, NULL));
    assert_int_equal(seen.now, 201 * period);
    FINE(undercroft_memory_outstanding(memory, &left, NULL));
    assert_int_equal(left, 0);
    FINE(undercroft_free(memory, NULL));
}

/* Every address is requested until the memory is full, and again when it has told that there is room. */
static void pressure(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct undercroft *memory = memory_of(DDR3, &seen);
    unsigned taken = 0, full = 0;
    for (uint64_t i = 0; i < 200; i++) {
        const int status = undercroft_memory_request(memory, UNDERCROFT_READ, i << 20, 64, i, NULL);
        assert_true(status == UNDERCROFT_OK || status == UNDERCROFT_FULL);
        taken += status == UNDERCROFT_OK;
        full += status == UNDERCROFT_FULL;
    }
    assert_int_equal(taken, 32); /* entries of the read queue */
    assert_int_equal(full, 168);
    FINE(undercroft_run(memory, UNDERCROFT_FOREVER, NULL));
    assert_int_equal(seen.answers, 32);
    assert_int_equal(seen.rooms, 1);
    FINE(undercroft_free(memory, NULL));
}

/* A request goes on, from its answer, until 1000 are done. */
static void send_next(struct seen *seen)
{
    if (seen->answers < 1000)
        seen->status |=
            undercroft_memory_request(seen->model, UNDERCROFT_READ, seen->answers * 64, 64, 0, NULL);
}

static void from_callback(void **state)
{
    (void)state;
    struct seen seen = {.then = send_next};
    struct undercroft *memory = memory_of(DDR3, &seen);
    FINE(undercroft_memory_request(memory, UNDERCROFT_READ, 0, 64, 0, NULL));
    FINE(undercroft_run(memory, UNDERCROFT_FOREVER, NULL));
    assert_int_equal(seen.answers, 1000);
    FINE(seen.status);
    FINE(undercroft_free(memory, NULL));
}

static int count(void *context, const struct undercroft_statistic *statistic)
{
    unsigned *number = context;
    assert_non_null(statistic->name);
    assert_non_null(statistic->unit);
    assert_non_null(statistic->meaning);
    return ++*number == 5;
}

static void statistics(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct undercroft *memory = memory_of(DDR3, &seen);
    struct undercroft_statistic statistic;
    unsigned number = 0;
    FINE(undercroft_statistic(memory, "dram.read_clocks.mean", &statistic, NULL));
    assert_true(statistic.is_real && isnan(statistic.value));
    FINE(undercroft_memory_request(memory, UNDERCROFT_READ, 0, 128, 0, NULL));
    FINE(undercroft_run(memory, UNDERCROFT_FOREVER, NULL));
    FINE(undercroft_statistic(memory, "dram.reads", &statistic, NULL));
    assert_int_equal(statistic.count, 2);
    assert_false(statistic.is_real);
    FINE(undercroft_statistic(memory, "dram.read_clocks.mean", &statistic, NULL));
    assert_true(fabs(statistic.value - 30) < 1e-9); /* the second burst is 4 clocks later */
    FINE(undercroft_statistic(memory, "energy", &statistic, NULL));
    assert_true(statistic.count > 0);
    FINE(undercroft_statistics(memory, count, &number, NULL));
    assert_int_equal(number, 5);
    FINE(undercroft_free(memory, NULL));
}

/* A run of 3000 requests with 16 under way; returns when it ends. */
static void *run_alone(void *result)
{
    struct seen seen = {.then = send_next};
    struct undercroft *memory = memory_of("dram: {standard: hbm1}\n", &seen);
    for (unsigned i = 0; i < 16; i++)
        FINE(undercroft_memory_request(memory, UNDERCROFT_READ, i * UINT64_C(0x100000), 64, i, NULL));
    FINE(undercroft_run(memory, 20000 * NS, NULL));
    *(uint64_t *)result = seen.now;
    FINE(undercroft_free(memory, NULL));
    return NULL;
}

/* Two threads have the times that one has. */
static void threads(void **state)
{
    (void)state;
    uint64_t ends[3];
    pthread_t thread[2];
    (void)run_alone(&ends[2]);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_alone, &ends[i]), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(ends[0], ends[2]);
    assert_int_equal(ends[1], ends[2]);
    assert_true(ends[2] > 0);
}

/* Two memories in turn have the times that each has alone. */
static void instances(void **state)
{
    (void)state;
    struct seen one = {0}, other = {0};
    struct undercroft *first = memory_of(DDR3, &one),
                      *second = memory_of("dram: {standard: gddr5}\n", &other);
    FINE(undercroft_memory_request(first, UNDERCROFT_READ, 0, 64, 1, NULL));
    FINE(undercroft_memory_request(second, UNDERCROFT_READ, 0, 32, 2, NULL));
    for (unsigned i = 0; i < 200; i++) {
        FINE(undercroft_tick(first, NULL));
        FINE(undercroft_tick(second, NULL));
    }
    assert_int_equal(one.now, 26 * UINT64_C(1250000));
    assert_int_equal(other.now, 26 * NS); /* tRCDRD 12, tCL 12, tBURST 2 */
    FINE(undercroft_free(first, NULL));
    FINE(undercroft_free(second, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency),    cmocka_unit_test(pressure), cmocka_unit_test(from_callback),
        cmocka_unit_test(statistics), cmocka_unit_test(threads),  cmocka_unit_test(instances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
