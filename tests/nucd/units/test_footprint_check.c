/* The footprint checker compared with a map of single bytes, and special accesses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/nucd/units/footprint_check.h"
#include "isa/decode.h"
#include "tests/isa/random.h"
#include "tests/sim/value.h"

enum { LINES = 64, BYTES = LINES * NUCD_LINE, ACCELS = 3, READ = 1, WRITE = 2 };

#define BASE UINT64_C(0x80000000)
#define CODE UINT64_C(0x1000)

struct told {
    unsigned reports, unknown;
    struct footprint_finding last;
};

static void report(void *context, const struct footprint_finding *finding)
{
    struct told *told = context;
    told->reports++;
    told->last = *finding;
}

static void unknown(void *context, unsigned accelerator, uint64_t begin)
{
    (void)accelerator;
    (void)begin;
    ((struct told *)context)->unknown++;
}

static struct footprint_check *make(struct told *told)
{
    const struct footprint_check_options options = {ACCELS, report, unknown, told};
    struct footprint_check *check = footprint_check_new(&options);
    *told = (struct told){0};
    footprint_check_allow(check, CODE, CODE + 0xfff);
    return check;
}

static struct nucd_packet packet_of(const struct nucd_task *task)
{
    return (struct nucd_packet){.begin = task->begin, .end = task->end, .live_ins = task->live_ins};
}

static void add_ranges(struct nucd_ranges *ranges, uint8_t *map, uint8_t rights, uint64_t *seed)
{
    ranges->count = (unsigned)(random_shift(seed) % (NUCD_SEGMENTS + 1));
    for (unsigned i = 0; i < ranges->count; i++) {
        uint64_t first = random_shift(seed) % LINES, last = first + random_shift(seed) % 6;
        last = last < LINES ? last : LINES - 1;
        ranges->range[i] = (struct nucd_range){BASE + first * NUCD_LINE, BASE + last * NUCD_LINE + 63};
        for (uint64_t b = first * NUCD_LINE; b < (last + 1) * NUCD_LINE; b++)
            map[b] |= rights;
    }
}

static bool map_allows(const uint8_t *map, uint64_t at, unsigned size, uint8_t right)
{
    for (unsigned i = 0; i < size; i++)
        if (!(map[at + i] & right))
            return false;
    return true;
}

/* Two tasks per accelerator, and what each may do to every byte. */
struct round {
    struct nucd_task tasks[ACCELS][2];
    uint8_t maps[ACCELS][2][BYTES];
    uint64_t seed, accesses, violations;
};

static uint64_t stack_of(unsigned accelerator)
{
    return accelerator * 128u;
}

/* Both tasks are sent before either starts. */
static void send_tasks(struct footprint_check *check, struct round *round)
{
    memset(round->maps, 0, sizeof round->maps);
    for (unsigned i = 0; i < 2 * ACCELS; i++) {
        unsigned a = i / 2, t = i % 2;
        struct nucd_task *task = &round->tasks[a][t];
        *task = (struct nucd_task){.pc = CODE - 4, .begin = CODE, .end = CODE + 64};
        task->live_ins = (struct nucd_live_ins){1u << 10, {t}};
        add_ranges(&task->memory.in, round->maps[a][t], READ, &round->seed);
        add_ranges(&task->memory.out, round->maps[a][t], READ | WRITE, &round->seed);
        memset(&round->maps[a][t][stack_of(a)], READ | WRITE, 128);
        footprint_check_begin(check, a, task);
    }
}

/* Makes a random access of task t of some accelerator; the task's map tells the expected result. */
static void try_access(struct footprint_check *check, struct round *round, unsigned t,
                       const struct told *told)
{
    unsigned a = (unsigned)(random_shift(&round->seed) % ACCELS), size = 1u << random_shift(&round->seed) % 4;
    unsigned flags = 1 + (unsigned)(random_shift(&round->seed) % 3); /* STREAM_LOAD, STREAM_STORE, both */
    uint64_t at = random_shift(&round->seed) % (BYTES - 8);
    const uint8_t *map = round->maps[a][t];
    const struct stream_op op = {.pc = CODE + random_shift(&round->seed) % 0x700 * 2,
                                 .flags = (uint8_t)flags,
                                 .length = 4,
                                 .size = (uint8_t)size};
    const struct stream_entry entry = {&op, BASE + at, 0};
    unsigned before = told->reports;
    bool load = flags & STREAM_LOAD && !map_allows(map, at, size, READ);
    bool store = flags & STREAM_STORE && !map_allows(map, at, size, WRITE);
    footprint_check_follow(check, a, &entry, 1);
    round->accesses++;
    round->violations += load + (uint64_t)store;
    assert_int_equal(footprint_check_counted(check)->violations, round->violations);
    if (told->reports > before && told->last.kind == FOOTPRINT_STORE) {
        assert_true(store);
        assert_int_equal(told->last.read_only, map_allows(map, at, size, READ));
    }
}

/* Each finding has another place or kind, and their counts add up to all violations. */
static void check_findings(const struct footprint_check *check, const struct told *told, uint64_t violations)
{
    unsigned count;
    uint64_t sum = 0;
    const struct footprint_finding *findings = footprint_check_findings(check, &count);
    for (unsigned i = 0; i < count; i++) {
        sum += findings[i].count;
        for (unsigned k = 0; k < i; k++)
            assert_false(findings[i].pc == findings[k].pc && findings[i].kind == findings[k].kind);
    }
    assert_int_equal(sum, violations);
    assert_int_equal(count, told->reports);
}

static void random_accesses_are_judged_as_by_a_map_of_bytes(void **state)
{
    (void)state;
    static struct round round;
    struct told told;
    struct footprint_check *check = make(&told);
    round.seed = 7;
    for (unsigned a = 0; a < ACCELS; a++)
        footprint_check_stack(check, a, BASE + stack_of(a), BASE + stack_of(a) + 127);
    for (unsigned i = 0; i < 300; i++) {
        send_tasks(check, &round);
        for (unsigned t = 0; t < 2; t++) {
            for (unsigned a = 0; a < ACCELS; a++) {
                const struct nucd_packet packet = packet_of(&round.tasks[a][t]);
                footprint_check_start(check, a, &packet);
            }
            for (unsigned k = 0; k < 60; k++)
                try_access(check, &round, t, &told);
        }
    }
    check_findings(check, &told, round.violations);
    assert_true(round.violations > 1000 && round.accesses - round.violations > 1000);
    struct stats *stats = stats_new();
    footprint_check_publish(check, stats, scope_enter(NULL, "nucd.check"));
    assert_int_equal(stats_value(stats, "nucd.check.accesses"), round.accesses);
    assert_int_equal(stats_value(stats, "nucd.check.violations"), round.violations);
    stats_free(stats);
    footprint_check_free(check);
}

/* A failed SC accesses nothing; an LR reads; an instruction must not extend beyond the code. */
static void unusual_accesses(void **state)
{
    (void)state;
    struct told told;
    struct footprint_check *check = make(&told);
    struct nucd_task task = {.pc = CODE - 4, .begin = CODE, .end = CODE + 64};
    task.memory.in = (struct nucd_ranges){1, {{BASE, BASE + 63}}};
    const struct nucd_packet packet = packet_of(&task);
    footprint_check_begin(check, 1, &task);
    footprint_check_start(check, 1, &packet);
    const struct stream_op failed = {
        .pc = CODE, .id = INSN_sc_d, .flags = STREAM_STORE | STREAM_SERIAL, .length = 4, .size = 8};
    const struct stream_op reserved = {
        .pc = CODE, .id = INSN_lr_d, .flags = STREAM_LOAD | STREAM_SERIAL, .length = 4, .size = 8};
    const struct stream_op last = {.pc = CODE + 0xffe, .length = 4},
                           narrow = {.pc = CODE + 0xffe, .length = 2};
    const struct stream_entry entries[] = {{&failed, 0, 0}, {&reserved, BASE + 56, 0}, {&narrow, 0, 0}};
    footprint_check_follow(check, 1, entries, 3);
    assert_int_equal(told.reports, 0);
    assert_int_equal(footprint_check_counted(check)->accesses, 1);
    const struct stream_entry wrong[] = {{&failed, BASE + 56, 0}, {&last, 0, 0}};
    footprint_check_follow(check, 1, wrong, 1);
    assert_int_equal(told.last.kind, FOOTPRINT_STORE);
    assert_true(told.last.read_only);
    footprint_check_follow(check, 1, wrong + 1, 1);
    assert_int_equal(told.last.kind, FOOTPRINT_FETCH);
    assert_int_equal(told.last.size, 4);
    assert_int_equal(told.reports, 2);
    footprint_check_free(check);
}

/* Tasks that were sent but passed over never start. An unknown task is not checked; checking continues with
 * the next known one. */
static void tasks_are_known_by_their_packets(void **state)
{
    (void)state;
    struct told told;
    struct footprint_check *check = make(&told);
    const struct stream_op op = {.pc = CODE, .flags = STREAM_STORE, .length = 4, .size = 8};
    const struct stream_entry entry = {&op, BASE, 0};
    struct nucd_task tasks[5];
    struct nucd_packet packets[5];
    for (unsigned i = 0; i < 5; i++) {
        tasks[i] = (struct nucd_task){.pc = 100 + i, .begin = CODE, .end = CODE + 64};
        tasks[i].live_ins = (struct nucd_live_ins){3u << 10, {7, i}};
        packets[i] = packet_of(&tasks[i]);
        if (i < 4)
            footprint_check_begin(check, 0, &tasks[i]);
    }
    footprint_check_start(check, 0, &packets[1]);
    footprint_check_follow(check, 0, &entry, 1);
    assert_int_equal(told.last.nucd, 101);
    footprint_check_start(check, 0, &packets[4]); /* unknown, like task 0 from here on */
    footprint_check_follow(check, 0, &entry, 1);
    footprint_check_start(check, 0, &packets[0]);
    footprint_check_follow(check, 0, &entry, 1);
    assert_int_equal(told.unknown, 1);
    assert_int_equal(footprint_check_counted(check)->unknown, 2);
    assert_int_equal(footprint_check_counted(check)->violations, 1);
    footprint_check_start(check, 0, &packets[3]);
    footprint_check_follow(check, 0, &entry, 1);
    assert_int_equal(footprint_check_counted(check)->violations, 2);
    assert_int_equal(footprint_check_counted(check)->tasks, 2);
    footprint_check_free(check);
}

/* A driver offers tasks before their accelerator is known. Of equal tasks, each is used once. */
static void offered_tasks_start_anywhere(void **state)
{
    (void)state;
    struct told told;
    struct footprint_check *check = make(&told);
    struct nucd_task tasks[3];
    struct nucd_packet packets[3];
    const unsigned order[] = {1, 2, 0}, from[] = {2, 0, 1};
    for (unsigned i = 0; i < 3; i++) {
        tasks[i] = (struct nucd_task){.pc = 100 + i, .begin = CODE, .end = CODE + 64};
        tasks[i].live_ins = (struct nucd_live_ins){1u << 10, {i}};
        packets[i] = packet_of(&tasks[i]);
        footprint_check_offer(check, &tasks[i]);
    }
    for (unsigned i = 0; i < 3; i++) {
        const struct stream_op op = {.pc = CODE + 4 * i, .flags = STREAM_STORE, .length = 4, .size = 8};
        const struct stream_entry entry = {&op, BASE, 0};
        footprint_check_start(check, from[i], &packets[order[i]]);
        footprint_check_follow(check, from[i], &entry, 1);
        assert_int_equal(told.last.nucd, 100 + order[i]);
    }
    footprint_check_start(check, 0, &packets[1]);
    assert_int_equal(told.unknown, 1);
    for (unsigned i = 0; i < 10000; i++) /* none of these starts */
        footprint_check_offer(check, &tasks[0]);
    footprint_check_offer(check, &tasks[2]);
    footprint_check_start(check, 0, &packets[2]);
    assert_int_equal(footprint_check_counted(check)->tasks, 4);
    footprint_check_free(check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_accesses_are_judged_as_by_a_map_of_bytes),
        cmocka_unit_test(unusual_accesses),
        cmocka_unit_test(tasks_are_known_by_their_packets),
        cmocka_unit_test(offered_tasks_start_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
