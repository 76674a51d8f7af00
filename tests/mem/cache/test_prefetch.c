/* Prefetchers alone, against a model, and in a cache. A hit takes 2 clocks, a response 100. */
#include "tests/isa/random.h"
#include "tests/mem/cache/rig.h"

static struct prefetch_config config_of(enum cache_prefetch kind, uint32_t degree, uint32_t distance)
{
    return (struct prefetch_config){
        .kind = kind, .degree = degree, .distance = distance, .table = 64, .line = LINE, .step = LINE};
}

static void init(struct prefetcher *prefetcher, enum cache_prefetch kind, uint32_t degree, uint32_t distance)
{
    const struct prefetch_config config = config_of(kind, degree, distance);
    prefetch_init(prefetcher, &config);
}

static unsigned train(struct prefetcher *prefetcher, uint64_t pc, uint64_t address, uint64_t *lines)
{
    return prefetch_train(prefetcher, pc, address, true, lines);
}

static void next_lines_stay_in_the_page(void **state)
{
    (void)state;
    struct prefetcher prefetcher;
    uint64_t lines[PREFETCH_DEGREE];
    init(&prefetcher, CACHE_PREFETCH_NEXT_LINE, 2, 0);
    assert_int_equal(train(&prefetcher, 0, 0x5008, lines), 2);
    assert_int_equal(lines[0], 0x5040);
    assert_int_equal(lines[1], 0x5080);
    assert_int_equal(train(&prefetcher, 0, 0x5f80, lines), 1);
    assert_int_equal(lines[0], 0x5fc0);
    assert_int_equal(train(&prefetcher, 0, 0x5fff, lines), 0);
    assert_int_equal(prefetch_train(&prefetcher, 0, 0x5008, false, lines), 0);
    prefetch_free(&prefetcher);
}

/* The first access makes the entry, the second sets the stride, the third and fourth confirm it. Lines that
 * were requested are not requested again. */
static void strides_need_confidence(void **state)
{
    (void)state;
    struct prefetcher prefetcher;
    uint64_t lines[PREFETCH_DEGREE];
    init(&prefetcher, CACHE_PREFETCH_STRIDE, 2, 0);
    assert_int_equal(train(&prefetcher, 0x100, 0x1000, lines), 0);
    assert_int_equal(train(&prefetcher, 0x100, 0x1100, lines), 0);
    assert_int_equal(train(&prefetcher, 0x100, 0x1200, lines), 0);
    assert_int_equal(train(&prefetcher, 0x100, 0x1300, lines), 2);
    assert_int_equal(lines[0], 0x1400);
    assert_int_equal(lines[1], 0x1500);
    /* Another instruction does not affect it, and one odd address does not change it. */
    assert_int_equal(train(&prefetcher, 0x204, 0x9000, lines), 0);
    assert_int_equal(train(&prefetcher, 0x100, 0x1400, lines), 1);
    assert_int_equal(lines[0], 0x1600);
    assert_int_equal(train(&prefetcher, 0x100, 0x8000, lines), 0);
    assert_int_equal(train(&prefetcher, 0x100, 0x8100, lines), 2);
    prefetch_free(&prefetcher);
}

/* Small strides, up or down, are rounded to whole lines of 64 bytes. */
static void small_strides_go_by_lines(void **state)
{
    (void)state;
    struct prefetcher prefetcher;
    uint64_t lines[PREFETCH_DEGREE];
    init(&prefetcher, CACHE_PREFETCH_STRIDE, 2, 0);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(train(&prefetcher, 0x100, 0x1100 - 8 * i, lines), 0);
    assert_int_equal(train(&prefetcher, 0x100, 0x1100 - 24, lines), 2);
    assert_int_equal(lines[0], 0x1080);
    assert_int_equal(lines[1], 0x1040);
    /* Repeated accesses to one address: no prefetch. */
    for (unsigned i = 0; i < 9; i++)
        assert_int_equal(train(&prefetcher, 0x104, 0x1100, lines), 0);
    prefetch_free(&prefetcher);
}

/* Degree 2, distance 6: the stream gets one line further ahead with each access until it is 6 ahead. */
static void a_stream_runs_ahead(void **state)
{
    (void)state;
    static const struct {
        unsigned count;
        uint64_t line[2];
    } expected[] = {{0}, {0}, {2, {3, 4}}, {2, {5, 6}}, {2, {7, 8}}, {2, {9, 10}}, {2, {11, 12}}, {1, {13}}};
    struct prefetcher prefetcher;
    uint64_t lines[PREFETCH_DEGREE];
    init(&prefetcher, CACHE_PREFETCH_STREAM, 2, 6);
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(train(&prefetcher, 0, 0x2000 + i * LINE, lines), expected[i].count);
        for (unsigned k = 0; k < expected[i].count; k++)
            assert_int_equal(lines[k], 0x2000 + expected[i].line[k] * LINE);
    }
    /* Only the first line of the next two could be requested: the second one is offered again. */
    assert_int_equal(train(&prefetcher, 0, 0x2000 + 9 * LINE, lines), 2);
    prefetch_take_back(&prefetcher, lines, 1);
    assert_int_equal(train(&prefetcher, 0, 0x2000 + 10 * LINE, lines), 2);
    assert_int_equal(lines[0], 0x2000 + 15 * LINE);
    /* An access that is far away ends the stream. */
    assert_int_equal(train(&prefetcher, 0, 0x2000 + 60 * LINE, lines), 0);
    assert_int_equal(train(&prefetcher, 0, 0x2000 + 59 * LINE, lines), 0);
    assert_int_equal(train(&prefetcher, 0, 0x2000 + 57 * LINE, lines), 2);
    assert_int_equal(lines[0], 0x2000 + 56 * LINE);
    prefetch_free(&prefetcher);
}

/* With two entries, the page that was not used for longest is forgotten. */
static void old_pages_are_replaced(void **state)
{
    (void)state;
    struct prefetch_config config = config_of(CACHE_PREFETCH_STREAM, 1, 0);
    struct prefetcher prefetcher;
    uint64_t lines[PREFETCH_DEGREE];
    config.table = 2;
    prefetch_init(&prefetcher, &config);
    for (uint64_t i = 0; i < 2; i++) {
        assert_int_equal(train(&prefetcher, 0, 0x1000 + i * LINE, lines), 0);
        assert_int_equal(train(&prefetcher, 0, 0x2000 + i * LINE, lines), 0);
    }
    assert_int_equal(train(&prefetcher, 0, 0x1000 + 2 * LINE, lines), 1);
    assert_int_equal(train(&prefetcher, 0, 0x3000, lines), 0); /* in place of 0x2000 */
    assert_int_equal(train(&prefetcher, 0, 0x1000 + 3 * LINE, lines), 1);
    assert_int_equal(train(&prefetcher, 0, 0x2000 + 2 * LINE, lines), 0);
    prefetch_free(&prefetcher);
}

/* The model: all accesses of a pc or page, from which everything is computed anew, and the lines requested
 * since its last odd step. */
enum { MODEL_KEYS = 8, MODEL_PAST = 600 };

struct past {
    uint64_t at[MODEL_PAST], asked[MODEL_PAST * PREFETCH_DEGREE];
    unsigned count, asked_count;
};

/* Returns the stride after all accesses, 0 if it is not confirmed; *odd: the last step was another one. */
static int64_t model_stride(const struct past *past, bool *odd)
{
    int64_t stride = 0;
    unsigned sure = 0;
    *odd = false;
    for (unsigned i = 1; i < past->count; i++) {
        int64_t moved = (int64_t)(past->at[i] - past->at[i - 1]);
        *odd = moved != stride;
        if (moved == stride)
            sure += sure < 3;
        else if (sure)
            sure--;
        else
            stride = moved;
    }
    return *odd || sure < 2 ? 0 : stride;
}

/* Returns the direction of the last two steps or more, in bytes, or 0. */
static int64_t model_stream(const struct past *past, int64_t step, bool *odd)
{
    int64_t direction = 0;
    unsigned steps = 0;
    for (unsigned i = past->count; i > 1; i--) {
        int64_t moved = (int64_t)(past->at[i - 1] - past->at[i - 2]) / step, sign = moved < 0 ? -step : step;
        if (moved > 16 || moved < -16 || (direction && sign != direction))
            break;
        direction = sign;
        steps++;
    }
    *odd = steps < 2;
    return steps < 2 ? 0 : direction;
}

static unsigned model_lines(struct past *past, const struct prefetch_config *config, int64_t step,
                            uint64_t *lines)
{
    uint64_t last = past->at[past->count - 1];
    unsigned count = 0, reach = config->distance ? config->distance : config->degree;
    for (int64_t k = 1; k <= reach && step && count < config->degree; k++) {
        uint64_t line = (last + (uint64_t)(k * step)) / LINE * LINE;
        bool known = false;
        for (unsigned i = 0; i < past->asked_count; i++)
            known |= past->asked[i] == line;
        if (line / 4096 == last / 4096 && !known)
            past->asked[past->asked_count++] = lines[count++] = line;
    }
    return count;
}

static unsigned model_train(struct past *past, const struct prefetch_config *config, uint64_t address,
                            uint64_t *lines)
{
    bool stream = config->kind == CACHE_PREFETCH_STREAM, odd;
    int64_t least = (int64_t)config->step, step;
    address = stream ? address / LINE * LINE : address;
    if (stream && past->count && past->at[past->count - 1] == address)
        return 0;
    past->at[past->count++] = address;
    step = stream ? model_stream(past, least, &odd) : model_stride(past, &odd);
    past->asked_count = odd ? 0 : past->asked_count;
    if (step > -least && step < least && step)
        step = step < 0 ? -least : least;
    return model_lines(past, config, step, lines);
}

static uint64_t dice(uint64_t *random, uint64_t sides)
{
    random_step(random);
    return (*random >> 33) % sides;
}

/* Accesses of 8 pcs, or to 8 pages, with steps of their own that sometimes change or go astray. */
static void follows_the_model(enum cache_prefetch kind, bool by_page, uint64_t seed)
{
    struct prefetch_config config = config_of(kind, 1 + (uint32_t)seed % 4, (uint32_t)seed % 3 * 5);
    static struct past pasts[MODEL_KEYS];
    uint64_t random = seed, at[MODEL_KEYS] = {0}, total = 0;
    int64_t step[MODEL_KEYS] = {8, 64, -64, 96, 192, -40, 64, 128};
    struct prefetcher prefetcher;
    config.step = seed % 5 || !by_page ? LINE : 2 * LINE;
    memset(pasts, 0, sizeof pasts);
    prefetch_init(&prefetcher, &config);
    for (unsigned i = 0; i < 8 * MODEL_PAST / 2; i++) {
        unsigned key = (unsigned)dice(&random, MODEL_KEYS);
        if (pasts[key].count == MODEL_PAST)
            continue;
        if (dice(&random, 20) == 0)
            at[key] = dice(&random, 1 << 16);
        if (dice(&random, 50) == 0)
            step[key] = (int64_t)dice(&random, 512) - 256;
        at[key] += (uint64_t)step[key];
        uint64_t mask = config.step == LINE ? UINT64_MAX : ~(uint64_t)(config.step - 1); /* a slice's lines */
        uint64_t page = 0x10000 * (uint64_t)key, inside = by_page ? at[key] % 4096 : at[key] % (1 << 16);
        uint64_t address = (0x80000000 + page + inside) & mask, expected[PREFETCH_DEGREE],
                 lines[PREFETCH_DEGREE];
        unsigned count = model_train(&pasts[key], &config, address, expected);
        assert_int_equal(
            prefetch_train(&prefetcher, by_page ? PREFETCH_NO_PC : 0x1000 + 4 * key, address, true, lines),
            count);
        for (unsigned k = 0; k < count; k++) {
            assert_int_equal(lines[k], expected[k]);
            assert_int_equal(lines[k] / PREFETCH_PAGE, address / PREFETCH_PAGE);
            assert_int_not_equal(lines[k] / LINE, address / LINE);
        }
        total += count;
    }
    assert_true(total > 100);
    prefetch_free(&prefetcher);
}

static void predictions_are_the_models(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        follows_the_model(CACHE_PREFETCH_STRIDE, false, seed);
        follows_the_model(CACHE_PREFETCH_STRIDE, true, seed);
        follows_the_model(CACHE_PREFETCH_STREAM, true, seed);
    }
}

/* 20,000 accesses to 64 MiB at random: fewer than one prefetch in a hundred accesses. */
static void random_accesses_predict_nothing(void **state)
{
    (void)state;
    for (int kind = CACHE_PREFETCH_STRIDE; kind <= CACHE_PREFETCH_STREAM; kind++)
        for (int by_page = 0; by_page < 2; by_page++) {
            struct prefetcher prefetcher;
            uint64_t lines[PREFETCH_DEGREE], random = 1, total = 0;
            init(&prefetcher, (enum cache_prefetch)kind, 4, 16);
            for (unsigned i = 0; i < 20000; i++)
                total += train(&prefetcher, by_page ? PREFETCH_NO_PC : 0x100 + 4 * dice(&random, 4),
                               dice(&random, 64 << 20), lines);
            assert_true(total < 200);
            prefetch_free(&prefetcher);
        }
}

static struct rig *prefetch_rig(enum cache_prefetch kind, uint32_t degree)
{
    struct cache_config config = rig_config(64, 2);
    config.prefetch = kind;
    config.prefetch_degree = degree;
    return rig_new(&config);
}

/* A miss of line 1 also requests line 2; the first use of 2 requests 3, the second one nothing. */
static void next_line_in_a_cache(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_NEXT_LINE, 1);
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 200);
    assert_int_equal(rig->count, 2);
    rig_asked_is(rig, 0, MEM_READ, LINE, LINE, 2);
    rig_asked_is(rig, 1, MEM_READ, 2 * LINE, LINE, 2);
    assert_int_equal(rig_state(rig, 2), CACHE_EXCLUSIVE);
    assert_int_equal(rig_load(rig, 0, 2, 200), CACHE_HIT);
    assert_int_equal(rig_load(rig, 0, 2, 201), CACHE_HIT);
    assert_int_equal(rig_load(rig, 0, 1, 202), CACHE_HIT);
    rig_until(rig, 400);
    assert_int_equal(rig->count, 3);
    rig_asked_is(rig, 2, MEM_READ, 3 * LINE, LINE, 202);
    assert_int_equal(rig->cache->counters.prefetches, 2);
    assert_int_equal(rig->cache->counters.prefetches_useful, 1);
    assert_int_equal(rig->cache->counters.prefetches_late, 0);
    rig_free(rig);
}

/* A prefetch that is outstanding when its line is accessed is late; the access is merged. */
static void late_prefetch(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_NEXT_LINE, 1);
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 50);
    assert_int_equal(rig_load(rig, 1, 2, 50), CACHE_MISS);
    rig_until(rig, 110);
    assert_int_equal(rig->accesses[1].done, 102);
    assert_int_equal(rig->cache->counters.prefetches_late, 1);
    assert_int_equal(rig_load(rig, 1, 2, 110), CACHE_HIT);
    assert_int_equal(rig->cache->counters.prefetches_useful, 0);
    rig_free(rig);
}

/* 4 MSHRs, 8 lines ahead: one for the miss, two for prefetches, and one reserved for demand accesses. */
static void one_mshr_is_left(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_NEXT_LINE, 8);
    (void)rig_load(rig, 0, 1, 0);
    assert_int_equal(rig->cache->mshrs.used, 3);
    assert_int_equal(rig_load(rig, 1, 40, 1), CACHE_MISS);
    rig_until(rig, 102);
    assert_int_equal(rig_state(rig, 3), CACHE_EXCLUSIVE);
    assert_int_equal(rig_state(rig, 4), CACHE_INVALID);
    rig_free(rig);
}

static void kept_out_lines(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_NEXT_LINE, 2);
    struct keep_out list;
    keep_out_init(&list, 1);
    cache_keep_out(rig->cache, &list);
    keep_out_set(&list, 0, (struct keep_out_range){2 * LINE + 63, 2 * LINE + 63});
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 200);
    assert_int_equal(rig_state(rig, 2), CACHE_INVALID);
    assert_int_equal(rig_state(rig, 3), CACHE_EXCLUSIVE);
    keep_out_set(&list, 0, (struct keep_out_range){1, 0});
    (void)rig_load(rig, 0, 7, 200);
    rig_until(rig, 400);
    assert_int_equal(rig_state(rig, 8), CACHE_EXCLUSIVE);
    rig_free(rig);
    keep_out_free(&list);
}

/* Loads every 1000 clocks, 2 lines apart: from the fourth one on, the next line is prefetched. */
static void stride_in_a_cache(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_STRIDE, 1);
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(rig_load(rig, 0, 2 * i, 1000 * i), i < 4 ? CACHE_MISS : CACHE_HIT);
        rig_until(rig, 1000 * i + 999);
    }
    assert_int_equal(rig_state(rig, 3), CACHE_INVALID);
    assert_int_equal(rig->cache->counters.prefetches, 5);
    assert_int_equal(rig->cache->counters.prefetches_useful, 4);
    rig_free(rig);
}

/* Reads 256 consecutive lines, one every 1000 clocks, so that all prefetches are in time. Misses by hand: a
 * stream begins at the third miss of each of 4 pages; a pc's stride is confirmed by 4 accesses, and then only
 * the first line of each further page misses; next_line misses the first line of each page. */
static void misses_of_a_long_read(void **state)
{
    (void)state;
    static const unsigned misses[] = {256, 4, 4 + 3, 4 * 3};
    for (int kind = 0; kind < 4; kind++)
        for (uint32_t degree = 1; degree <= 3; degree++) {
            struct rig *rig = prefetch_rig((enum cache_prefetch)kind, degree);
            for (uint64_t i = 0; i < 256; i++) {
                (void)rig_load(rig, 0, i, 1000 * i);
                rig->count = 0;
                rig_until(rig, 1000 * i + 999);
            }
            const struct cache_counters *counted = &rig->cache->counters;
            assert_int_equal(counted->misses, misses[kind]);
            assert_int_equal(counted->prefetches_useful, 256 - misses[kind]);
            assert_int_equal(counted->prefetches, 256 - misses[kind]); /* none beyond the page's end */
            rig_free(rig);
        }
}

/* A prefetch that the level below refuses is given up. A demand access is not. */
static void refused_prefetches_are_given_up(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_NEXT_LINE, 2);
    rig->refuse[0] = true;
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 50);
    assert_int_equal(rig->cache->mshrs.used, 1);
    assert_int_equal(rig->cache->counters.prefetches, 2);
    assert_int_equal(rig->cache->counters.prefetches_returned, 2);
    rig_open(rig);
    rig_until(rig, 200);
    assert_int_equal(rig->accesses[0].done, 150);
    assert_int_equal(rig->count, 1);
    rig_free(rig);
}

/* The level below drops the prefetches of lines 2 and 3. Line 3 is needed meanwhile, and requested again
 * when the answer has come. With 4 MSHRs, there is none for lines 4 and 5. */
static void dropped_prefetches_are_requested_if_needed(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_NEXT_LINE, 2);
    rig->drop = true;
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 50);
    assert_int_equal(rig_store(rig, 1, 3, 50), CACHE_MISS);
    rig_until(rig, 400);
    assert_int_equal(rig->accesses[0].done, 102);
    assert_int_equal(rig->accesses[1].done, 202);
    assert_int_equal(rig_state(rig, 2), CACHE_INVALID);
    assert_int_equal(rig_state(rig, 3), CACHE_MODIFIED);
    assert_int_equal(rig->cache->counters.prefetches_late, 1);
    assert_int_equal(rig->cache->counters.prefetches_returned, 1);
    assert_int_equal(cache_prefetches_pending(rig->cache), 0);
    rig_free(rig);
}

/* A prefetch that has not left the cache when its line is kept out does not leave it. */
static void planned_prefetches_are_kept_out(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_NEXT_LINE, 2);
    struct keep_out list;
    keep_out_init(&list, 1);
    cache_keep_out(rig->cache, &list);
    (void)rig_load(rig, 0, 1, 10); /* its requests leave at 12 */
    rig_until(rig, 11);
    assert_int_equal(rig->cache->mshrs.used, 3);
    keep_out_set(&list, 0, (struct keep_out_range){3 * LINE, 3 * LINE});
    rig_until(rig, 300);
    assert_int_equal(rig->count, 2);
    assert_int_equal(rig_state(rig, 2), CACHE_EXCLUSIVE);
    assert_int_equal(rig_state(rig, 3), CACHE_INVALID);
    assert_int_equal(rig->cache->counters.prefetches_returned, 1);
    rig_free(rig);
    keep_out_free(&list);
}

/* Ranges of several owners, which change independently. */
static void owners_keep_out_ranges(void **state)
{
    (void)state;
    struct keep_out list;
    keep_out_init(&list, 2);
    assert_false(keep_out_has(NULL, 0, UINT64_MAX));
    assert_false(keep_out_has(&list, 0, 0) || keep_out_has(&list, 0x40, 0x7f));
    keep_out_set(&list, 1, (struct keep_out_range){0x1000, 0x10ff});
    keep_out_set(&list, 0, (struct keep_out_range){0x3000, 0x30ff});
    assert_true(keep_out_has(&list, 0x10c0, 0x10ff) && keep_out_has(&list, 0x30ff, 0x313f));
    assert_false(keep_out_has(&list, 0x1100, 0x2fff) || keep_out_has(&list, 0x3100, 0x313f));
    keep_out_set(&list, 1, (struct keep_out_range){1, 0});
    assert_false(keep_out_has(&list, 0x1000, 0x103f));
    assert_true(keep_out_has(&list, 0x2fff, 0x3000));
    keep_out_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_lines_stay_in_the_page),
        cmocka_unit_test(strides_need_confidence),
        cmocka_unit_test(small_strides_go_by_lines),
        cmocka_unit_test(a_stream_runs_ahead),
        cmocka_unit_test(old_pages_are_replaced),
        cmocka_unit_test(predictions_are_the_models),
        cmocka_unit_test(random_accesses_predict_nothing),
        cmocka_unit_test(next_line_in_a_cache),
        cmocka_unit_test(late_prefetch),
        cmocka_unit_test(one_mshr_is_left),
        cmocka_unit_test(kept_out_lines),
        cmocka_unit_test(stride_in_a_cache),
        cmocka_unit_test(misses_of_a_long_read),
        cmocka_unit_test(refused_prefetches_are_given_up),
        cmocka_unit_test(dropped_prefetches_are_requested_if_needed),
        cmocka_unit_test(planned_prefetches_are_kept_out),
        cmocka_unit_test(owners_keep_out_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
