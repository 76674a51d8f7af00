/* The coherence checker on histories written by hand. */
#include "tests/mem/coherence/rig.h"

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

/* A driver's complete sequence, in both directions. */
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

/* The accelerator has read the line before; the host's new value is in memory but not in its cache. */
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
    /* Neither was done: both are missing. */
    use(h, h->host, A, true, HOST_STORE + 8);
    use(h, h->accel, A, false, ACCEL_LOAD);
    assert_int_equal(h->count, 2);
    assert_true(h->reports[1].clean_writer && h->reports[1].invalidate_reader);
    /* After the invalidation, the load is correct again. */
    clean(h, h->host, A);
    invalidate(h, h->accel, A);
    fill(h, h->accel, A);
    use(h, h->accel, A, false, ACCEL_LOAD);
    assert_int_equal(problems(h, COHERENCE_STALE_LOAD), 2);
    end(h);
}

/* Each side writes its own word of one line: the second store is to a stale line, and the second write-back
 * overwrites the first. */
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

/* The host's dirty line, which was not cleaned, is evicted after the accelerator's result was written to
 * memory. */
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
    /* Overwriting its own earlier version loses nothing, nor does overwriting a version that it has
     * fetched. */
    use(h, h->host, A, true, HOST_STORE);
    clean(h, h->host, A);
    invalidate(h, h->accel, A);
    fill(h, h->accel, A);
    use(h, h->accel, A, true, ACCEL_STORE);
    clean(h, h->accel, A);
    assert_int_equal(problems(h, COHERENCE_LOST_UPDATE), 1);
    end(h);
}

/* A write-through cache writes only the stored bytes. */
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
    /* Other readers, writers and problems are reported separately. */
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

/* Uncached accesses are accesses to memory's version. */
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

/* A store that is only sent down makes a new version in memory; one of the copies is stale. */
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

/* A core has run ahead: its store is reported first, but the load was before it. */
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

/* Holders of long and short lines: the second half of a long line is not the short line. */
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
