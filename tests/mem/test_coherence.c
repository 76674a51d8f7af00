/* The coherence checker on histories written down by hand, and on real caches. */
#include "emu/mem/coherence.h"
#include "tests/mem/slow_memory.h"

enum { LINE = 64, A = 0x1000, B = 0x1040, REPORTS = 64 };

/* pcs of the histories */
enum { HOST_STORE = 0x100, HOST_LOAD = 0x104, ACCEL_LOAD = 0x200, ACCEL_STORE = 0x204, OTHER = 0x300 };

struct history {
    struct coherence *checker;
    unsigned host, accel; /* holders */
    uint64_t time;
    unsigned count;
    struct coherence_finding reports[REPORTS];
};

static void report(void *context, const struct coherence_finding *finding)
{
    struct history *history = context;
    assert_true(history->count < REPORTS);
    history->reports[history->count++] = *finding;
}

static void begin(struct history *history)
{
    *history = (struct history){.time = 1000};
    history->checker = coherence_new(LINE, report, history);
    history->host = coherence_holder(history->checker, "l2", LINE, false);
    history->accel = coherence_holder(history->checker, "accel.0.l1d", LINE, false);
}

static void end(struct history *history)
{
    coherence_free(history->checker);
}

static void use(struct history *history, unsigned holder, uint64_t line, bool store, uint64_t pc)
{
    uint16_t core = holder == history->host ? 0 : 8;
    history->time += 10;
    coherence_access(history->checker, holder, line, store, (struct cache_actor){.pc = pc, .core = core},
                     history->time);
}

static void fill(struct history *history, unsigned holder, uint64_t line)
{
    history->time += 10;
    coherence_fill(history->checker, holder, line, history->time);
}

static void clean(struct history *history, unsigned holder, uint64_t line)
{
    history->time += 10;
    coherence_write_back(history->checker, holder, line, history->time);
}

static void invalidate(struct history *history, unsigned holder, uint64_t line)
{
    coherence_evict(history->checker, holder, line);
}

static uint64_t problems(const struct history *history, enum coherence_problem problem)
{
    return coherence_counted(history->checker)->problems[problem];
}

/* The host's value is still in its cache when the accelerator fetches the line. */
static void read_without_clean(void **state)
{
    (void)state;
    struct history history, *h = &history;
    begin(h);
    fill(h, h->host, A);                    /* 1010 */
    use(h, h->host, A, true, HOST_STORE);   /* 1020 */
    fill(h, h->accel, A);                   /* 1030 */
    use(h, h->accel, A, false, ACCEL_LOAD); /* 1040 */
    assert_int_equal(h->count, 1);
    const struct coherence_finding *finding = &h->reports[0];
    assert_int_equal(finding->problem, COHERENCE_STALE_LOAD);
    assert_int_equal(finding->line, A);
    assert_string_equal(finding->access.holder, "accel.0.l1d");
    assert_int_equal(finding->access.pc, ACCEL_LOAD);
    assert_int_equal(finding->access.core, 8);
    assert_int_equal(finding->access.time, 1040);
    assert_string_equal(finding->writer.holder, "l2");
    assert_int_equal(finding->writer.pc, HOST_STORE);
    assert_int_equal(finding->writer.core, 0);
    assert_int_equal(finding->writer.time, 1020);
    assert_true(finding->clean_writer);
    assert_false(finding->invalidate_reader || finding->dropped);
    assert_string_equal(coherence_advice(finding), "clean the writer's line after the store");
    end(h);
}

/* There and back, as a driver does it. */
static void clean_and_invalidate_is_right(void **state)
{
    (void)state;
    struct history history, *h = &history;
    begin(h);
    for (unsigned round = 0; round < 3; round++) {
        fill(h, h->host, A);
        use(h, h->host, A, false, HOST_LOAD);
        use(h, h->host, A, true, HOST_STORE);
        clean(h, h->host, A);
        invalidate(h, h->host, A);
        fill(h, h->accel, A);
        use(h, h->accel, A, false, ACCEL_LOAD);
        use(h, h->accel, A, true, ACCEL_STORE);
        use(h, h->accel, A, false, ACCEL_LOAD);
        clean(h, h->accel, A);
        invalidate(h, h->accel, A);
    }
    fill(h, h->host, A);
    use(h, h->host, A, false, HOST_LOAD);
    assert_int_equal(h->count, 0);
    end(h);
}

/* It has read the line before; the host's new value is in memory, but not in its cache. */
static void old_copy_is_kept(void **state)
{
    (void)state;
    struct history history, *h = &history;
    begin(h);
    fill(h, h->accel, A);
    use(h, h->accel, A, false, ACCEL_LOAD);
    fill(h, h->host, A);
    use(h, h->host, A, true, HOST_STORE);
    clean(h, h->host, A);
    use(h, h->accel, A, false, ACCEL_LOAD);
    assert_int_equal(h->count, 1);
    assert_false(h->reports[0].clean_writer);
    assert_true(h->reports[0].invalidate_reader);
    assert_string_equal(coherence_advice(&h->reports[0]), "invalidate the old copy before the access");
    /* Neither: both are missing. */
    use(h, h->host, A, true, HOST_STORE + 8);
    use(h, h->accel, A, false, ACCEL_LOAD);
    assert_int_equal(h->count, 2);
    assert_true(h->reports[1].clean_writer && h->reports[1].invalidate_reader);
    /* After the invalidation it is right again. */
    clean(h, h->host, A);
    invalidate(h, h->accel, A);
    fill(h, h->accel, A);
    use(h, h->accel, A, false, ACCEL_LOAD);
    assert_int_equal(problems(h, COHERENCE_STALE_LOAD), 2);
    end(h);
}

/* Each side writes its own word of one line: the second store is to an old line, and the second write-back
 * undoes the first. */
static void false_sharing(void **state)
{
    (void)state;
    struct history history, *h = &history;
    begin(h);
    fill(h, h->host, A);
    fill(h, h->accel, A);
    use(h, h->host, A, true, HOST_STORE);
    use(h, h->accel, A, true, ACCEL_STORE);
    assert_int_equal(h->count, 1);
    assert_int_equal(h->reports[0].problem, COHERENCE_STALE_STORE);
    clean(h, h->host, A);
    assert_int_equal(h->count, 1);
    clean(h, h->accel, A);
    assert_int_equal(h->count, 2);
    const struct coherence_finding *lost = &h->reports[1];
    assert_int_equal(lost->problem, COHERENCE_LOST_UPDATE);
    assert_int_equal(lost->access.pc, ACCEL_STORE);
    assert_int_equal(lost->writer.pc, HOST_STORE);
    assert_int_equal(lost->found, h->time);
    end(h);
}

/* The host's dirty line, forgotten, is evicted after the accelerator's result has gone to memory. */
static void lost_update(void **state)
{
    (void)state;
    struct history history, *h = &history;
    begin(h);
    fill(h, h->accel, A);
    use(h, h->accel, A, true, ACCEL_STORE);
    fill(h, h->host, A);
    use(h, h->host, A, true, HOST_STORE);
    clean(h, h->accel, A);
    assert_int_equal(problems(h, COHERENCE_STALE_STORE), 1);
    assert_int_equal(problems(h, COHERENCE_LOST_UPDATE), 0);
    clean(h, h->host, A);
    assert_int_equal(problems(h, COHERENCE_LOST_UPDATE), 1);
    assert_int_equal(h->reports[1].access.pc, HOST_STORE);
    assert_int_equal(h->reports[1].writer.pc, ACCEL_STORE);
    /* Its own earlier version is nothing lost, nor is what it has fetched itself. */
    use(h, h->host, A, true, HOST_STORE);
    clean(h, h->host, A);
    invalidate(h, h->accel, A);
    fill(h, h->accel, A);
    use(h, h->accel, A, true, ACCEL_STORE);
    clean(h, h->accel, A);
    assert_int_equal(problems(h, COHERENCE_LOST_UPDATE), 1);
    end(h);
}

/* A write-through cache writes only what was stored. */
static void write_through_loses_nothing(void **state)
{
    (void)state;
    struct history history, *h = &history;
    begin(h);
    unsigned through = coherence_holder(h->checker, "accel.1.l1d", LINE, true);
    fill(h, through, A);
    fill(h, h->accel, A);
    use(h, h->accel, A, true, ACCEL_STORE);
    clean(h, h->accel, A);
    use(h, through, A, true, OTHER);
    clean(h, through, A);
    assert_int_equal(problems(h, COHERENCE_STALE_STORE), 1);
    assert_int_equal(problems(h, COHERENCE_LOST_UPDATE), 0);
    end(h);
}

static void once_for_each_pair_of_places(void **state)
{
    (void)state;
    struct history history, *h = &history;
    begin(h);
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t line = 0x10000 + i * LINE;
        fill(h, h->host, line);
        use(h, h->host, line, true, HOST_STORE);
        fill(h, h->accel, line);
        use(h, h->accel, line, false, ACCEL_LOAD);
    }
    assert_int_equal(h->count, 1);
    assert_int_equal(problems(h, COHERENCE_STALE_LOAD), 5000);
    /* Another reader, another writer, another problem. */
    use(h, h->accel, 0x10000, false, OTHER);
    assert_int_equal(h->count, 2);
    use(h, h->host, 0x10000, true, HOST_STORE + 4);
    use(h, h->accel, 0x10000, false, ACCEL_LOAD);
    assert_int_equal(h->count, 3);
    use(h, h->accel, 0x10040, true, ACCEL_LOAD);
    assert_int_equal(h->count, 4);
    assert_int_equal(coherence_counted(h->checker)->reports, 4);
    end(h);
}

/* Uncached accesses are memory's. */
static void uncached(void **state)
{
    (void)state;
    struct history history, *h = &history;
    struct cache_actor actor = {.pc = OTHER, .core = 3};
    begin(h);
    fill(h, h->accel, A);
    coherence_uncached(h->checker, A + 8, 8, true, actor, 2000);
    coherence_uncached(h->checker, A + 8, 8, false, actor, 2010);
    assert_int_equal(h->count, 0);
    h->time = 2020;
    use(h, h->accel, A, false, ACCEL_LOAD);
    assert_int_equal(h->count, 1);
    assert_string_equal(h->reports[0].writer.holder, "memory");
    assert_int_equal(h->reports[0].writer.core, 3);
    fill(h, h->host, B);
    use(h, h->host, B, true, HOST_STORE);
    coherence_uncached(h->checker, B - 4, 8, false, actor, 3000); /* reaches into B */
    assert_int_equal(h->count, 2);
    assert_int_equal(h->reports[1].line, B);
    assert_true(h->reports[1].clean_writer);
    assert_false(h->reports[1].invalidate_reader);
    end(h);
}

/* A store that goes down alone is a new version in memory; and one of the copies does not know. */
static void store_without_a_copy(void **state)
{
    (void)state;
    struct history history, *h = &history;
    begin(h);
    coherence_uncached(h->checker, A, 8, true, (struct cache_actor){.pc = OTHER, .core = 3}, 1000);
    fill(h, h->host, A);
    use(h, h->accel, A, true, ACCEL_STORE);
    clean(h, h->accel, A);
    invalidate(h, h->accel, A);
    assert_int_equal(h->count, 0);
    use(h, h->host, A, false, HOST_LOAD);
    assert_int_equal(h->count, 1);
    assert_true(h->reports[0].invalidate_reader);
    end(h);
}

static void invalidated_before_it_was_cleaned(void **state)
{
    (void)state;
    struct history history, *h = &history;
    begin(h);
    fill(h, h->host, A);
    use(h, h->host, A, true, HOST_STORE);
    invalidate(h, h->host, A);
    fill(h, h->accel, A);
    use(h, h->accel, A, false, ACCEL_LOAD);
    assert_int_equal(h->count, 1);
    assert_true(h->reports[0].dropped);
    end(h);
}

/* A core has run ahead: its store is told first, but the load was before it. */
static void a_load_before_the_store_is_right(void **state)
{
    (void)state;
    struct history history, *h = &history;
    begin(h);
    fill(h, h->accel, A);
    fill(h, h->host, A);
    coherence_access(h->checker, h->host, A, true, (struct cache_actor){.pc = HOST_STORE, .core = 0}, 5000);
    coherence_access(h->checker, h->accel, A, false, (struct cache_actor){.pc = ACCEL_LOAD, .core = 8}, 4999);
    assert_int_equal(h->count, 0);
    coherence_access(h->checker, h->accel, A, false, (struct cache_actor){.pc = ACCEL_LOAD, .core = 8}, 5000);
    assert_int_equal(h->count, 1);
    end(h);
}

/* Holders of long and short lines: the long one's second half is not the short one's line. */
static void lines_of_two_sizes(void **state)
{
    (void)state;
    struct history history, *h = &history;
    history = (struct history){.time = 1000};
    h->checker = coherence_new(32, report, h);
    h->host = coherence_holder(h->checker, "l2", 64, false);
    h->accel = coherence_holder(h->checker, "accel.0.l1d", 32, false);
    fill(h, h->accel, A + 32);
    fill(h, h->accel, A + 64);
    fill(h, h->host, A);
    use(h, h->host, A, true, HOST_STORE);
    use(h, h->accel, A + 64, false, ACCEL_LOAD);
    assert_int_equal(h->count, 0);
    use(h, h->accel, A + 32, false, ACCEL_LOAD);
    assert_int_equal(h->count, 1);
    assert_int_equal(h->reports[0].line, A + 32);
    end(h);
}

struct machine {
    struct history history;
    struct event_queue queue;
    struct slow_memory memory;
    struct hub *hub;
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

static void machine_begin(struct machine *machine)
{
    struct clock clock = {CLOCK};
    struct hub_config hub;
    struct cache_config config;
    *machine = (struct machine){.busy = 0};
    machine->history.checker = coherence_new(LINE, report, &machine->history);
    event_queue_init(&machine->queue);
    machine->memory.queue = &machine->queue;
    hub_config_default(&hub);
    machine->hub = hub_new("l2", &hub, &machine->queue, &clock, 2, 99, &slow_ops, &machine->memory);
    coherence_watch_hub(machine->history.checker, machine->hub);
    cache_config_default(&config);
    machine->accel =
        cache_new("accel.0.l1d", &config, &machine->queue, &clock, 3, 8, &slow_ops, &machine->memory);
    coherence_watch_cache(machine->history.checker, machine->accel, NULL);
    config.coherent = true;
    for (uint16_t i = 0; i < 2; i++) {
        machine->host[i] =
            cache_new("host", &config, &machine->queue, &clock, 4U + i, i, &hub_ops, machine->hub);
        hub_attach(machine->hub, machine->host[i]);
        coherence_watch_cache(machine->history.checker, machine->host[i], machine->hub);
    }
}

static void machine_end(struct machine *machine)
{
    coherence_free(machine->history.checker);
    cache_free(machine->host[0]);
    cache_free(machine->host[1]);
    cache_free(machine->accel);
    hub_free(machine->hub);
}

/* One host core writes, the other reads and writes: no finding. The accelerator must have the line cleaned.
 */
static void real_caches(void **state)
{
    (void)state;
    static struct machine machine, *m = &machine;
    machine_begin(m);
    machine_use(m, m->host[0], true, HOST_STORE);
    machine_use(m, m->host[1], false, HOST_LOAD);
    machine_use(m, m->host[1], true, HOST_STORE + 8);
    machine_use(m, m->host[0], false, HOST_LOAD);
    assert_int_equal(m->history.count, 0);
    machine_use(m, m->accel, false, ACCEL_LOAD);
    assert_int_equal(m->history.count, 1);
    assert_int_equal(m->history.reports[0].writer.pc, HOST_STORE + 8);
    machine_end(m);

    machine_begin(m);
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
    /* It keeps its copy over the host's next store. */
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

/* Stores while warming count, and so do cleaning and invalidating: what is old in the region is found. */
static void stores_while_warming(void **state)
{
    (void)state;
    static struct machine machine, *m = &machine;
    machine_begin(m);
    warm(m->host[0], true, HOST_STORE);
    warm(m->host[0], true, HOST_STORE + 4); /* to a line that is dirty already */
    machine_use(m, m->accel, false, ACCEL_LOAD);
    assert_int_equal(m->history.count, 1);
    assert_int_equal(m->history.reports[0].writer.pc, HOST_STORE + 4);
    assert_true(m->history.reports[0].clean_writer);
    machine_end(m);

    machine_begin(m);
    warm(m->host[0], true, HOST_STORE);
    warm(m->host[1], true, HOST_STORE);
    cache_warm_maintain(m->host[0], MEM_CLEAN, A, LINE);
    machine_use(m, m->accel, false, ACCEL_LOAD);
    warm(m->accel, true, ACCEL_STORE);
    cache_warm_maintain(m->accel, MEM_CLEAN_INVALIDATE, A, LINE);
    cache_warm_maintain(m->host[0], MEM_INVALIDATE, A, LINE);
    assert_false(hub_line_state(m->hub, A).present);
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

/* The store is done when the line, which was under way, has come. */
static void warm_store_to_a_line_under_way(void **state)
{
    (void)state;
    static struct machine machine, *m = &machine;
    machine_begin(m);
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

/* A fetch down the wrong path gets old bytes, as a miss and as a hit, which nobody executes. The old copy
 * that it has left is found when an instruction is fetched from there. */
static void wrong_paths_are_no_accesses(void **state)
{
    (void)state;
    static struct machine machine, *m = &machine;
    machine_begin(m);
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

/* The same of a line that was prefetched. */
static void prefetches_are_no_accesses(void **state)
{
    (void)state;
    static struct machine machine, *m = &machine;
    machine_begin(m);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_without_clean),
        cmocka_unit_test(clean_and_invalidate_is_right),
        cmocka_unit_test(old_copy_is_kept),
        cmocka_unit_test(false_sharing),
        cmocka_unit_test(lost_update),
        cmocka_unit_test(write_through_loses_nothing),
        cmocka_unit_test(once_for_each_pair_of_places),
        cmocka_unit_test(uncached),
        cmocka_unit_test(store_without_a_copy),
        cmocka_unit_test(invalidated_before_it_was_cleaned),
        cmocka_unit_test(a_load_before_the_store_is_right),
        cmocka_unit_test(lines_of_two_sizes),
        cmocka_unit_test(real_caches),
        cmocka_unit_test(stores_while_warming),
        cmocka_unit_test(wrong_paths_are_no_accesses),
        cmocka_unit_test(prefetches_are_no_accesses),
        cmocka_unit_test(warm_store_to_a_line_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
