/* The table of ranges of the module for Linux, compiled for the host, against a map of single pages, over random requests; and as
 * accelerators see it, in a memory that gets only what is written back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/linux/table.c"
#include "tests/isa/random.h"

enum { PAGE = 4096, PAGES = 40, ROUNDS = 100000 };

static struct croft_range_table table __attribute__((aligned(64)));
static struct croft_range_table memory; /* what has been written back */

void table_flush(const void *at, size_t size)
{
    size_t first = (size_t)((const char *)at - (const char *)&table) & ~(size_t)(LINE - 1);
    size_t end = (size_t)((const char *)at - (const char *)&table) + size;
    assert_true(end <= sizeof table);
    size_t whole = (end + LINE - 1) & ~(size_t)(LINE - 1);
    whole = whole < sizeof table ? whole : sizeof table;
    if (first >= LINE) /* entries change only while walkers know it */
        assert_true(memory.changes % 2 == 1);
    memcpy((char *)&memory + first, (char *)&table + first, whole - first);
}

/* Physical page and permissions of each page; 0: not there. */
struct page {
    uint64_t physical;
    uint32_t permissions;
};

static void compare(const struct page *model)
{
    uint64_t last = 0;
    assert_true(memory.changes % 2 == 0 && memory.count == table.count);
    assert_memory_equal(memory.entries, table.entries, table.count * sizeof table.entries[0]);
    for (uint64_t i = 0; i < table.count; i++) {
        assert_true(table.entries[i].base >= last && table.entries[i].size > 0);
        last = table.entries[i].base + table.entries[i].size;
    }
    for (uint64_t i = 0; i < PAGES; i++) {
        const struct croft_range *entry = &table.entries[table_from(&table, i * PAGE + 5)];
        bool there = entry < &table.entries[table.count] && entry->base <= i * PAGE;
        assert_int_equal(there, model[i].permissions != 0);
        if (!there)
            continue;
        assert_int_equal(entry->physical + (i * PAGE - entry->base), model[i].physical * PAGE);
        assert_int_equal(entry->permissions, model[i].permissions);
    }
}

static void put_page(struct page *model, uint64_t at, uint64_t random)
{
    if (model[at].permissions)
        return;
    /* Often the page that continues the one before. */
    uint64_t physical = random & 3 ? 100 + at : 200 + (random >> 2 & 63);
    const struct croft_range entry = {at * PAGE, PAGE, physical * PAGE, random & 256 ? 9 : 11, 0};
    assert_true(table_put(&table, &entry));
    model[at] = (struct page){physical, entry.permissions};
}

static void pages_are_found_as_they_were_put(void **state)
{
    (void)state;
    struct page model[PAGES] = {0};
    uint64_t seed = 1;
    memset(&table, 0, sizeof table);
    memset(&memory, 0, sizeof memory);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t random = random_step(&seed), first = random % PAGES, count = random >> 16 & 7;
        uint64_t end = first + count < PAGES ? first + count : PAGES;
        if (random >> 32 & 3) {
            put_page(model, first, random >> 40);
        } else if (first < end) {
            table_cut(&table, first * PAGE, end * PAGE);
            memset(&model[first], 0, (end - first) * sizeof model[0]);
        }
        compare(model);
        bool covered = first < end;
        for (uint64_t i = first; i < end; i++)
            covered = covered && model[i].permissions && !(2 & ~model[i].permissions);
        if (first < end)
            assert_int_equal(table_covers(&table, first * PAGE, end * PAGE, 2), covered);
    }
}

static struct croft_range nth(uint64_t i)
{
    return (struct croft_range){2 * i * PAGE, PAGE, i * PAGE, 11, 0};
}

static void a_full_table_refuses_more(void **state)
{
    (void)state;
    memset(&table, 0, sizeof table);
    memset(&memory, 0, sizeof memory);
    const struct croft_range wide = {UINT64_C(1) << 40, 3 * PAGE, UINT64_C(1) << 41, 11, 0};
    assert_true(table_put(&table, &wide));
    for (uint64_t i = 1; i < CROFT_RANGES_MAX; i++)
        assert_true(table_put(&table, &(struct croft_range){nth(i).base, PAGE, i * PAGE, 11, 0}));
    const struct croft_range more = nth(CROFT_RANGES_MAX);
    assert_false(table_put(&table, &more));
    /* The middle of the last one: what is above has no room. */
    table_cut(&table, wide.base + PAGE, wide.base + 2 * PAGE);
    assert_true(table_covers(&table, wide.base, wide.base + PAGE, 11));
    assert_false(table_covers(&table, wide.base + 2 * PAGE, wide.base + 3 * PAGE, 1));
    table_cut(&table, 0, UINT64_C(1) << 40);
    assert_int_equal(table.count, 1);
    assert_int_equal(memory.count, 1);
    assert_true(table_put(&table, &more));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_found_as_they_were_put),
        cmocka_unit_test(a_full_table_refuses_more),
    };
    return cmocka_run_group_tests_name("table of ranges for Linux", tests, NULL, NULL);
}
