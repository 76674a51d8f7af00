/* The kernel's page allocator, compiled for the host, against one byte a page, over random requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/kernel/memory/pages.c"
#include "tests/isa/random.h"

enum { PAGES = 331, ROUNDS = 300000, RESERVED = 7 };

static const uint64_t base = 0x80000000;
static uint64_t bitmap[(PAGES + 63) / 64];

/* In place of direct.c: all that the allocator looks at in physical memory is its bitmap. */
void *pages_at(uint64_t physical)
{
    assert_int_equal(physical, base + PAGE);
    return bitmap;
}

/* The highest run of free pages, or PAGES when there is none. */
static uint64_t model_find(const bool *used, uint64_t count)
{
    uint64_t run = 0;
    for (uint64_t page = PAGES; page-- > 0;) {
        run = used[page] ? 0 : run + 1;
        if (run == count)
            return page;
    }
    return PAGES;
}

static bool model_free(const bool *used, uint64_t first, uint64_t count)
{
    if (first + count > PAGES)
        return false;
    for (uint64_t i = first; i < first + count; i++)
        if (used[i])
            return false;
    return true;
}

static void follows_the_model(void **test)
{
    (void)test;
    const struct kernel_boot boot = {.memory_base = base,
                                     .memory_size = (uint64_t)PAGES * PAGE,
                                     .bitmap = base + PAGE,
                                     .used_end = base + RESERVED * PAGE};
    bool used[PAGES] = {0};
    uint64_t state = 88172645463325252, full = 0;
    memset(used, true, RESERVED);
    memset(bitmap, 0xff, sizeof bitmap);
    pages_init(&boot);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t random = random_shift(&state), first = random % PAGES;
        uint64_t count = random >> 20 & 1 ? 1 : 1 + (random >> 10) % (random >> 21 & 1 ? 150 : 9);
        if (random >> 30 & 1) { /* gives back what is used of a stretch */
            for (uint64_t i = first; i < first + count && i < PAGES; i++) {
                if (i >= RESERVED && used[i])
                    pages_free(base + i * PAGE, 1);
                used[i] = used[i] && i < RESERVED;
            }
        } else if (random >> 31 & 1) {
            bool taken = model_free(used, first, count);
            assert_true(pages_take_at(base + first * PAGE, count) == taken);
            memset(&used[first], true, taken ? count : 0);
        } else {
            uint64_t found = model_find(used, count);
            assert_int_equal(pages_take(count), found == PAGES ? 0 : base + found * PAGE);
            memset(&used[found], true, found == PAGES ? 0 : count);
            full += found == PAGES;
        }
    }
    assert_true(full > 1000); /* and often there was no room */
}

static void refuses_what_is_not_memory(void **test)
{
    (void)test;
    assert_false(pages_take_at(base - PAGE, 1));
    assert_false(pages_take_at(base + (uint64_t)(PAGES - 1) * PAGE, 2));
    assert_false(pages_take_at(base + (uint64_t)PAGES * PAGE, 1));
    assert_int_equal(pages_take(PAGES), 0);
    assert_int_equal(pages_take(UINT64_MAX), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_model),
        cmocka_unit_test(refuses_what_is_not_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
