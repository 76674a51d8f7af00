/* The dependency table compared with a list of tasks with sets of lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "emu/nucd/depend/depend.h"

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717) >> 32;
}

static struct nucd_ranges one(uint64_t first, uint64_t last)
{
    return (struct nucd_ranges){.count = 1, .range = {{first, last}}};
}

static struct nucd_task task_of(uint64_t in, uint64_t out)
{
    return (struct nucd_task){.memory = {.in = one(in, in + 63), .out = one(out, out + 63)}};
}

/* RAW, WAR and WAW block; shared inputs and neighbours do not. */
static void hazards_block_the_younger(void **state)
{
    (void)state;
    static const struct {
        uint64_t in, out;
        bool blocked;
    } younger[] = {
        {0x200, 0x400, true},  /* reads what the older writes */
        {0x300, 0x100, true},  /* writes what the older reads */
        {0x300, 0x200, true},  /* writes what the older writes */
        {0x100, 0x400, false}, /* reads what the older reads */
        {0x240, 0x1c0, false}, /* next to it */
        {0x0c0, 0x140, false},
    };
    for (unsigned i = 0; i < sizeof younger / sizeof *younger; i++) {
        struct nucd_depend table;
        nucd_depend_init(&table, 2, NUCD_LINE);
        struct nucd_task older = task_of(0x100, 0x200), task = task_of(younger[i].in, younger[i].out);
        int first = nucd_depend_add(&table, &older, NULL), second = nucd_depend_add(&table, &task, NULL);
        assert_false(nucd_depend_blocked(&table, first));
        assert_int_equal(nucd_depend_blocked(&table, second), younger[i].blocked);
        assert_int_equal(nucd_depend_add(&table, &task, NULL), NUCD_NO_TASK);
        uint64_t freed = nucd_depend_complete(&table, first);
        assert_int_equal(freed, younger[i].blocked ? UINT64_C(1) << second : 0);
        assert_false(nucd_depend_blocked(&table, second));
    }
}

/* With pages as granules, tasks and accesses meet in a page, not only in a line. */
static void granules_may_be_pages(void **state)
{
    (void)state;
    struct nucd_depend table;
    nucd_depend_init(&table, 4, 4096);
    struct nucd_task first = task_of(0x10fc0, 0x20040), near = task_of(0x20fc0, 0x40000),
                     far = task_of(0x21000, 0x11000), over = task_of(0x50000, 0x10000);
    int slot = nucd_depend_add(&table, &first, NULL);
    assert_true(nucd_depend_blocked(&table, nucd_depend_add(&table, &near, NULL)));
    assert_false(nucd_depend_blocked(&table, nucd_depend_add(&table, &far, NULL)));
    assert_true(nucd_depend_blocked(&table, nucd_depend_add(&table, &over, NULL)));
    assert_int_equal(nucd_depend_load(&table, 0x20ff8, 0x20fff, 1), slot);
    assert_int_equal(nucd_depend_load(&table, 0x21000, 0x21007, 1), NUCD_NO_TASK);
    assert_int_equal(nucd_depend_load(&table, 0x1fff8, 0x1ffff, 1), NUCD_NO_TASK);
    assert_int_equal(nucd_depend_store(&table, 0x10000, 0x10007, 1), slot);
    assert_int_equal(first.memory.out.range[0].first, 0x20040);
}

/* The model: tasks in program order, each with sets of lines of a small memory. */
enum { LINES = 64, TASKS = 5000 };

struct model_task {
    uint64_t in, out; /* sets of lines */
    int slot;         /* NUCD_NO_TASK: not in the table */
    bool was_blocked;
};

struct model {
    struct nucd_depend table;
    struct model_task task[TASKS];
    unsigned count, first; /* no task before `first` is in the table */
    uint64_t random;
};

static uint64_t lines_of(const struct nucd_ranges *ranges)
{
    uint64_t set = 0;
    for (unsigned i = 0; i < ranges->count; i++)
        for (uint64_t line = ranges->range[i].first / 64; line <= ranges->range[i].last / 64; line++)
            set |= UINT64_C(1) << line;
    return set;
}

static bool blocked(const struct model *m, unsigned i)
{
    for (unsigned j = m->first; j < i; j++)
        if (m->task[j].slot != NUCD_NO_TASK &&
            ((m->task[j].out & (m->task[i].in | m->task[i].out)) | (m->task[j].in & m->task[i].out)))
            return true;
    return false;
}

static void random_ranges(struct model *m, struct nucd_ranges *ranges, unsigned most)
{
    ranges->count = (unsigned)(next_random(&m->random) % (most + 1));
    for (unsigned i = 0; i < ranges->count; i++) {
        uint64_t first = next_random(&m->random) % LINES;
        uint64_t last = first + next_random(&m->random) % 6;
        ranges->range[i] = (struct nucd_range){64 * first, 64 * (last < LINES ? last : LINES - 1) + 63};
    }
}

static void model_add(struct model *m)
{
    struct nucd_task task = {0};
    random_ranges(m, &task.memory.in, 4);
    random_ranges(m, &task.memory.out, 2);
    int slot = nucd_depend_add(&m->table, &task, NULL);
    if (slot == NUCD_NO_TASK)
        return;
    m->task[m->count++] =
        (struct model_task){.in = lines_of(&task.memory.in), .out = lines_of(&task.memory.out), .slot = slot};
}

/* Every task in the table is blocked exactly if the model says so. */
static void compare_blocked(const struct model *m)
{
    for (unsigned i = m->first; i < m->count; i++)
        if (m->task[i].slot != NUCD_NO_TASK)
            assert_int_equal(nucd_depend_blocked(&m->table, m->task[i].slot), blocked(m, i));
}

static void compare_accesses(struct model *m)
{
    uint64_t first = next_random(&m->random) % (64 * LINES - 8), last = first + next_random(&m->random) % 8;
    uint64_t lines = UINT64_C(1) << first / 64 | UINT64_C(1) << last / 64;
    /* Ages count from 0 in the order of adding, which is the model's order. */
    uint64_t age = next_random(&m->random) % 2 ? UINT64_MAX : next_random(&m->random) % (m->count + 1);
    int load = NUCD_NO_TASK, store = NUCD_NO_TASK;
    for (unsigned i = m->first; i < m->count && i < age; i++) {
        if (m->task[i].slot == NUCD_NO_TASK)
            continue;
        load = m->task[i].out & lines ? m->task[i].slot : load;
        store = (m->task[i].out | m->task[i].in) & lines ? m->task[i].slot : store;
    }
    assert_int_equal(nucd_depend_load(&m->table, first, last, age), load);
    assert_int_equal(nucd_depend_store(&m->table, first, last, age), store);
}

/* Completes a random task that is not blocked. The freed tasks are returned in order of age. */
static void model_complete(struct model *m)
{
    unsigned in_table = 0;
    for (unsigned i = m->first; i < m->count; i++)
        in_table += m->task[i].slot != NUCD_NO_TASK && !blocked(m, i);
    if (in_table == 0)
        return;
    unsigned pick = (unsigned)(next_random(&m->random) % in_table), i = m->first;
    for (;; i++)
        if (m->task[i].slot != NUCD_NO_TASK && !blocked(m, i) && pick-- == 0)
            break;
    for (unsigned j = m->first; j < m->count; j++)
        m->task[j].was_blocked = m->task[j].slot != NUCD_NO_TASK && blocked(m, j);
    uint64_t freed = nucd_depend_complete(&m->table, m->task[i].slot);
    m->task[i].slot = NUCD_NO_TASK;
    for (unsigned j = m->first; j < m->count; j++)
        if (m->task[j].was_blocked && !blocked(m, j))
            assert_int_equal(nucd_depend_oldest(&m->table, &freed), m->task[j].slot);
    assert_int_equal(freed, 0);
    while (m->first < m->count && m->task[m->first].slot == NUCD_NO_TASK)
        m->first++;
}

static void random_tasks_and_accesses(void **state)
{
    (void)state;
    static struct model m;
    static const unsigned sizes[] = {1, 4, 16, 63, 64};
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        m = (struct model){.random = 42 + s};
        nucd_depend_init(&m.table, sizes[s], NUCD_LINE);
        unsigned blocks = 0;
        for (unsigned step = 0; m.count < 1000; step++) {
            if (next_random(&m.random) % 5 < 3)
                model_add(&m);
            else
                model_complete(&m);
            compare_blocked(&m);
            compare_accesses(&m);
            blocks += m.count > 0 && blocked(&m, m.count - 1);
        }
        assert_true(sizes[s] == 1 || blocks > 100);
    }
}

/* Squashing removes a task and all younger ones, whatever their slots. */
static void squash_takes_the_younger(void **state)
{
    (void)state;
    struct nucd_depend table;
    nucd_depend_init(&table, 4, NUCD_LINE);
    int slot[5];
    for (unsigned i = 0; i < 4; i++) {
        struct nucd_task task = task_of(0x1000, 0x2000 + 64 * i);
        slot[i] = nucd_depend_add(&table, &task, NULL);
    }
    (void)nucd_depend_complete(&table, slot[0]);
    struct nucd_task last = task_of(0x2040, 0x3000); /* reads the second's output, in the first's slot */
    slot[4] = nucd_depend_add(&table, &last, NULL);
    assert_int_equal(slot[4], slot[0]);
    assert_true(nucd_depend_blocked(&table, slot[4]));
    assert_int_equal(nucd_depend_squash(&table, slot[2]), 1u << slot[2] | 1u << slot[3] | 1u << slot[4]);
    assert_int_equal(table.used, UINT64_C(1) << slot[1]);
    assert_int_equal(nucd_depend_store(&table, 0x3000, 0x3000, UINT64_MAX), NUCD_NO_TASK);
    assert_int_equal(nucd_depend_load(&table, 0x207f, 0x2086, UINT64_MAX), slot[1]);
    assert_int_equal(nucd_depend_load(&table, 0x2080, 0x2087, UINT64_MAX), NUCD_NO_TASK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hazards_block_the_younger),
        cmocka_unit_test(granules_may_be_pages),
        cmocka_unit_test(random_tasks_and_accesses),
        cmocka_unit_test(squash_takes_the_younger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
