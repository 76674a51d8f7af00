/* The kernel's table of ranges, compiled for the host, against a map of single pages, over random requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/kernel/memory/ranges.c"
#include "tests/isa/random.h"

enum { PAGES = 48, ROUNDS = 200000, PAGED = 1u << 20 };

/* What is known of each page: use + 1 (0: nothing is there), permissions, physical page number or PAGED. */
struct page {
    uint32_t use, permissions, physical;
};

static const uint64_t base = 0x80000000;

static struct page page_of(const struct croft_range *range, uint64_t address)
{
    uint32_t physical = PAGED;
    if (range->physical != CROFT_RANGE_PAGED)
        physical = (uint32_t)((range->physical + (address - range->base)) / PAGE);
    return (struct page){range->use + 1, range->permissions, physical};
}

static void compare(const struct page *model)
{
    uint64_t last = 0;
    for (uint64_t i = 0; i < ranges.count; i++) {
        assert_true(ranges.entries[i].base >= last && ranges.entries[i].size > 0);
        last = range_end(&ranges.entries[i]);
    }
    for (uint64_t i = 0; i < PAGES; i++) {
        const struct croft_range *range = ranges_find(base + i * PAGE + i);
        struct page found = range ? page_of(range, base + i * PAGE) : (struct page){0};
        assert_int_equal(found.use, model[i].use);
        assert_memory_equal(&found, &model[i], model[i].use ? sizeof found : 0);
    }
}

static bool model_covers(const struct page *model, uint64_t first, uint64_t end, uint32_t permissions)
{
    for (; first < end; first++)
        if (!model[first].use || (permissions & ~model[first].permissions))
            return false;
    return true;
}

static void insert(struct page *model, uint64_t first, uint64_t count, uint64_t random)
{
    uint32_t physical = random & 1 ? PAGED : (uint32_t)(random >> 8 & 0xff) + 1;
    struct croft_range range = {.base = base + first * PAGE,
                                .size = count * PAGE,
                                .physical = physical == PAGED ? CROFT_RANGE_PAGED : (uint64_t)physical * PAGE,
                                .permissions = random >> 1 & 3,
                                .use = random >> 3 & 1};
    if (random & 16 && first > 0 && model[first - 1].use) { /* what continues the range below */
        range.use = model[first - 1].use - 1;
        range.permissions = model[first - 1].permissions;
        physical = model[first - 1].physical == PAGED ? PAGED : model[first - 1].physical + 1;
        range.physical = physical == PAGED ? CROFT_RANGE_PAGED : (uint64_t)physical * PAGE;
    }
    ranges_insert(range);
    for (uint64_t i = first; i < first + count; i++)
        model[i] = page_of(&range, base + i * PAGE);
}

static void follows_the_model(void **test)
{
    (void)test;
    struct page model[PAGES + 1] = {0};
    uint64_t state = 88172645463325252;
    memset(&ranges, 0, sizeof ranges);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t random = random_shift(&state), first = random % PAGES, count = 1 + (random >> 8) % 8,
                 free_pages = 0;
        if (count > PAGES - first)
            count = PAGES - first;
        for (uint64_t i = first; i < first + count; i++)
            free_pages += model[i].use == 0;
        uint64_t low = base + first * PAGE, high = low + count * PAGE;
        uint32_t permissions = random >> 20 & 3;
        assert_true(ranges_cover(low + 5, high, permissions) ==
                    model_covers(model, first, first + count, permissions));
        if (free_pages == count) {
            insert(model, first, count, random >> 16);
        } else if (free_pages == 0 && random >> 60 < 8) {
            ranges_permit(low, high, permissions);
            for (uint64_t i = first; i < first + count; i++)
                model[i].permissions = permissions | (model[i].permissions & CROFT_RANGE_PRESENT);
        } else if (free_pages == 0 && random >> 60 < 12) {
            ranges_present(low, high);
            for (uint64_t i = first; i < first + count; i++)
                model[i].permissions |= CROFT_RANGE_PRESENT;
        } else {
            ranges_split(low);
            ranges_split(high);
            for (size_t i = ranges_from(low); i < ranges.count && ranges.entries[i].base < high;)
                ranges_erase(i);
            memset(&model[first], 0, count * sizeof model[0]);
        }
        assert_int_equal(ranges.changes % 2, 0);
        compare(model);
    }
}

/* What is one range to the eye is one entry, when it came by insertion: 3 pages one by one. */
static void joins_what_continues(void **test)
{
    (void)test;
    memset(&ranges, 0, sizeof ranges);
    static const uint64_t order[] = {2, 0, 1};
    for (size_t i = 0; i < 3; i++)
        ranges_insert((struct croft_range){base + order[i] * PAGE, PAGE, 0x1000 + order[i] * PAGE, 3, 1});
    assert_int_equal(ranges.count, 1);
    assert_int_equal(ranges.entries[0].size, 3 * PAGE);
    ranges_permit(base + PAGE, base + 2 * PAGE, 1);
    assert_int_equal(ranges.count, 3);
    assert_int_equal(ranges.entries[1].physical, 0x2000);
    uint64_t changes = ranges.changes;
    ranges_permit(base + PAGE, base + 2 * PAGE, 3);
    assert_int_equal(ranges.count, 1);
    assert_true(ranges.changes > changes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_model),
        cmocka_unit_test(joins_what_continues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
