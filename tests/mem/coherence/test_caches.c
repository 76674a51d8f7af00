/* The coherence checker on real caches, above a last level of one slice and of three. */
#include "tests/mem/coherence/rig.h"

struct machine {
    struct history history;
    struct event_queue queue;
    struct slow_memory memory;
    struct llc_slices *llc;
    struct cache *host[2], *accel;
    unsigned busy;
};

static void answered(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct machine *machine = waiter->owner;
    (void)now;
    assert_int_not_equal(level, MEM_LEVELS);
    machine->busy--;
}

static void machine_use(struct machine *machine, struct cache *cache, bool store, uint64_t pc)
{
    struct cache_waiter waiter = {NULL, answered, machine};
    enum cache_outcome outcome = cache_access(cache, A, store ? CACHE_STORE : CACHE_LOAD, machine->queue.now,
                                              (struct cache_actor){.pc = pc, .core = 0}, &waiter);
    machine->busy += outcome == CACHE_MISS;
    event_queue_run(&machine->queue, machine->queue.now + 1000 * CLOCK);
    assert_int_equal(machine->busy, 0);
}

static void machine_maintain(struct machine *machine, struct cache *cache, enum mem_op op)
{
    struct cache_waiter waiter = {NULL, answered, machine};
    machine->busy++;
    cache_maintain(cache, op, A, LINE, machine->queue.now, (struct cache_actor){.pc = OTHER, .core = 0},
                   &waiter);
    event_queue_run(&machine->queue, machine->queue.now + 1000 * CLOCK);
    assert_int_equal(machine->busy, 0);
}

static void machine_begin(struct machine *machine, const uint32_t *slices)
{
    struct clock clock = {CLOCK};
    struct llc_config llc;
    struct cache_config config;
    *machine = (struct machine){.busy = 0};
    machine->history.checker = coherence_new(LINE, report, &machine->history);
    event_queue_init(&machine->queue);
    machine->memory.queue = &machine->queue;
    part_defaults(&llc_kind, 0, &llc);
    llc.slices = *slices;
    machine->llc = llc_slices_new("l2", &llc, &machine->queue, &clock, 2, 99, &slow_ops, &machine->memory);
    coherence_watch_llc(machine->history.checker, machine->llc);
    part_defaults(&cache_kind, 0, &config);
    machine->accel =
        cache_new("accel.0.l1d", &config, &machine->queue, &clock, 3, 8, &slow_ops, &machine->memory);
    coherence_watch_cache(machine->history.checker, machine->accel, NULL);
    config.coherent = true;
    const struct part_end port = llc_slices_port(machine->llc);
    for (uint16_t i = 0; i < 2; i++) {
        machine->host[i] =
            cache_new("host", &config, &machine->queue, &clock, 4U + i, i, port.ops, port.object);
        llc_slices_attach(machine->llc, machine->host[i]);
        coherence_watch_cache(machine->history.checker, machine->host[i], machine->llc);
    }
}

static void machine_end(struct machine *machine)
{
    coherence_free(machine->history.checker);
    cache_free(machine->host[0]);
    cache_free(machine->host[1]);
    cache_free(machine->accel);
    llc_slices_free(machine->llc);
}

/* One host core writes, the other reads and writes: no finding. The accelerator must have the line cleaned.
 */
static void real_caches(void **state)
{
    static struct machine machine, *m = &machine;
    machine_begin(m, *state);
    machine_use(m, m->host[0], true, HOST_STORE);
    machine_use(m, m->host[1], false, HOST_LOAD);
    machine_use(m, m->host[1], true, HOST_STORE + 8);
    machine_use(m, m->host[0], false, HOST_LOAD);
    assert_int_equal(m->history.count, 0);
    machine_use(m, m->accel, false, ACCEL_LOAD);
    assert_int_equal(m->history.count, 1);
    assert_int_equal(m->history.reports[0].writer.pc, HOST_STORE + 8);
    machine_end(m);

    machine_begin(m, *state);
    for (unsigned round = 0; round < 3; round++) {
        machine_use(m, m->host[0], true, HOST_STORE);
        machine_use(m, m->host[1], true, HOST_STORE);
        machine_maintain(m, m->host[0], MEM_CLEAN_INVALIDATE);
        machine_use(m, m->accel, false, ACCEL_LOAD);
        machine_use(m, m->accel, true, ACCEL_STORE);
        machine_maintain(m, m->accel, MEM_CLEAN_INVALIDATE);
        machine_use(m, m->host[1], false, HOST_LOAD);
    }
    assert_int_equal(m->history.count, 0);
    /* The accelerator keeps its copy while the host stores again. */
    machine_use(m, m->accel, false, ACCEL_LOAD);
    machine_use(m, m->host[1], true, HOST_STORE);
    machine_maintain(m, m->host[0], MEM_CLEAN);
    machine_use(m, m->accel, false, ACCEL_LOAD);
    assert_int_equal(m->history.count, 1);
    assert_true(m->history.reports[0].invalidate_reader && !m->history.reports[0].clean_writer);
    machine_end(m);
}

static void warm(struct cache *cache, bool store, uint64_t pc)
{
    cache_warm_by(cache, A, store, (struct cache_actor){.pc = pc});
}

/* Stores, cleaning and invalidating while warming count: stale accesses in the region are found. */
static void stores_while_warming(void **state)
{
    static struct machine machine, *m = &machine;
    machine_begin(m, *state);
    warm(m->host[0], true, HOST_STORE);
    warm(m->host[0], true, HOST_STORE + 4); /* to a line that is already dirty */
    machine_use(m, m->accel, false, ACCEL_LOAD);
    assert_int_equal(m->history.count, 1);
    assert_int_equal(m->history.reports[0].writer.pc, HOST_STORE + 4);
    assert_true(m->history.reports[0].clean_writer);
    machine_end(m);

    machine_begin(m, *state);
    warm(m->host[0], true, HOST_STORE);
    warm(m->host[1], true, HOST_STORE);
    cache_warm_maintain(m->host[0], MEM_CLEAN, A, LINE);
    machine_use(m, m->accel, false, ACCEL_LOAD);
    warm(m->accel, true, ACCEL_STORE);
    cache_warm_maintain(m->accel, MEM_CLEAN_INVALIDATE, A, LINE);
    cache_warm_maintain(m->host[0], MEM_INVALIDATE, A, LINE);
    for (uint32_t i = 0; i < llc_slices_count(m->llc); i++)
        assert_false(llc_line_state(llc_slices_at(m->llc, i), A).present);
    assert_int_equal(cache_line_state(m->accel, A), CACHE_INVALID);
    machine_use(m, m->host[1], false, HOST_LOAD);
    assert_int_equal(m->history.count, 0);
    assert_int_equal(m->memory.seen[MEM_WRITE], 0);
    warm(m->accel, true, ACCEL_STORE);
    cache_warm_maintain(m->accel, MEM_CLEAN, A, LINE);
    machine_use(m, m->host[1], false, HOST_LOAD);
    assert_int_equal(m->history.count, 1);
    assert_true(m->history.reports[0].invalidate_reader && !m->history.reports[0].clean_writer);
    machine_end(m);
}

/* The store is done when the outstanding line has arrived. */
static void warm_store_to_a_line_under_way(void **state)
{
    static struct machine machine, *m = &machine;
    machine_begin(m, *state);
    assert_int_equal(cache_access(m->accel, A, CACHE_LOAD, 0, (struct cache_actor){.pc = ACCEL_LOAD}, NULL),
                     CACHE_MISS);
    warm(m->accel, true, ACCEL_STORE);
    event_queue_run(&m->queue, 1000 * CLOCK);
    assert_int_equal(cache_line_state(m->accel, A), CACHE_MODIFIED);
    machine_use(m, m->accel, false, ACCEL_LOAD);
    assert_int_equal(m->history.count, 0);
    machine_use(m, m->host[0], false, HOST_LOAD);
    assert_int_equal(m->history.count, 1);
    assert_int_equal(m->history.reports[0].writer.pc, ACCEL_STORE);
    machine_end(m);
}

static void fetch(struct machine *machine, bool speculative, uint64_t pc)
{
    struct cache_actor actor = {.pc = pc, .speculative = speculative};
    (void)cache_access(machine->accel, A, CACHE_FETCH, machine->queue.now, actor, NULL);
    event_queue_run(&machine->queue, machine->queue.now + 1000 * CLOCK);
}

/* A fetch on the wrong path, a miss and a hit, gets stale bytes, but nothing executes them. The old copy that
 * it leaves is found when an instruction is fetched from it. */
static void wrong_paths_are_no_accesses(void **state)
{
    static struct machine machine, *m = &machine;
    machine_begin(m, *state);
    machine_use(m, m->host[0], true, HOST_STORE);
    fetch(m, true, ACCEL_LOAD);
    fetch(m, true, ACCEL_LOAD);
    assert_int_equal(cache_line_state(m->accel, A), CACHE_EXCLUSIVE);
    assert_int_equal(m->history.count, 0);
    machine_maintain(m, m->host[0], MEM_CLEAN);
    fetch(m, false, ACCEL_LOAD);
    assert_int_equal(m->history.count, 1);
    assert_true(m->history.reports[0].fetch && m->history.reports[0].invalidate_reader);
    assert_false(m->history.reports[0].clean_writer);
    assert_string_equal(coherence_advice(&m->history.reports[0]),
                        "execute FENCE.I on the core that fetches, after the store was cleaned");
    machine_use(m, m->accel, false, ACCEL_LOAD + 4);
    assert_int_equal(m->history.count, 2);
    assert_false(m->history.reports[1].fetch);
    machine_end(m);
}

/* The same with a prefetched line. */
static void prefetches_are_no_accesses(void **state)
{
    static struct machine machine, *m = &machine;
    machine_begin(m, *state);
    machine_use(m, m->host[0], true, HOST_STORE);
    (void)cache_access(m->accel, A, CACHE_PREFETCH, m->queue.now, (struct cache_actor){0}, NULL);
    event_queue_run(&m->queue, m->queue.now + 1000 * CLOCK);
    assert_int_equal(cache_line_state(m->accel, A), CACHE_EXCLUSIVE);
    assert_int_equal(m->history.count, 0);
    machine_maintain(m, m->host[0], MEM_CLEAN);
    machine_use(m, m->accel, false, ACCEL_LOAD);
    assert_int_equal(m->history.count, 1);
    assert_true(m->history.reports[0].invalidate_reader);
    machine_end(m);
}

int main(void)
{
    static uint32_t one = 1, three = 3; /* of three slices, the second one has line A */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(real_caches, &one),
        cmocka_unit_test_prestate(stores_while_warming, &one),
        cmocka_unit_test_prestate(wrong_paths_are_no_accesses, &one),
        cmocka_unit_test_prestate(prefetches_are_no_accesses, &one),
        cmocka_unit_test_prestate(warm_store_to_a_line_under_way, &one),
        cmocka_unit_test_prestate(real_caches, &three),
        cmocka_unit_test_prestate(stores_while_warming, &three),
        cmocka_unit_test_prestate(wrong_paths_are_no_accesses, &three),
        cmocka_unit_test_prestate(prefetches_are_no_accesses, &three),
        cmocka_unit_test_prestate(warm_store_to_a_line_under_way, &three),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
