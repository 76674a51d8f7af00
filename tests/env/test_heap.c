/* Compares the heap's allocator with a simple page map, over random requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/env/guest/heap.h"
#include "tests/isa/random.h"

enum { PAGES = 64, ROUNDS = 20000 };

static const uint64_t base = 0x80000000;

/* The model: the use of each page. */
struct model {
    bool mapped[PAGES];
    bool reserved[PAGES]; /* for nobody */
    uint64_t data_end;    /* the program break */
};

/* Allocates the highest run of free pages. Returns its address, or 0. */
static uint64_t model_map(struct model *m, uint64_t pages)
{
    uint64_t floor = (m->data_end - base + GUEST_PAGE - 1) / GUEST_PAGE, run = 0;
    for (uint64_t page = PAGES; page > floor; page--) {
        run = m->mapped[page - 1] || m->reserved[page - 1] ? 0 : run + 1;
        if (run == pages) {
            memset(&m->mapped[page - 1], true, pages);
            return base + (page - 1) * GUEST_PAGE;
        }
    }
    return 0;
}

static uint64_t model_break(struct model *m, uint64_t address)
{
    uint64_t limit = PAGES;
    for (uint64_t page = PAGES; page > 0; page--)
        limit = m->mapped[page - 1] || m->reserved[page - 1] ? page - 1 : limit;
    if (address >= base && address <= base + limit * GUEST_PAGE)
        m->data_end = address;
    return m->data_end;
}

static void check_same(const struct heap *heap, const struct model *m)
{
    for (uint64_t page = 0; page < PAGES; page++)
        assert_true(heap_is_mapped(heap, base + page * GUEST_PAGE, GUEST_PAGE) == m->mapped[page]);
    for (size_t i = 1; i < heap->count; i++)
        assert_true(heap->maps[i - 1].end < heap->maps[i].first);
}

/* Pages [first, first + reserved) are for nobody. */
static void compare_with_model(uint64_t first, uint64_t reserved)
{
    struct phys memory;
    struct error err;
    struct heap heap;
    struct model model = {.data_end = base};
    uint64_t state = 2463534242;
    assert_true(phys_init(&memory, base, (PAGES + 1) * GUEST_PAGE, &err));
    heap_init(&heap, &memory, base, base + PAGES * GUEST_PAGE + 100);
    memset(&model.reserved[first], true, reserved);
    if (reserved)
        heap_reserve(&heap,
                     (struct heap_range){base + first * GUEST_PAGE, base + (first + reserved) * GUEST_PAGE});
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t page = random_shift(&state) % PAGES, count = 1 + random_shift(&state) % 8;
        uint64_t address = base + page * GUEST_PAGE;
        switch (random_shift(&state) % 4) {
        case 0: {
            uint64_t at = heap_map(&heap, count * GUEST_PAGE - random_shift(&state) % GUEST_PAGE);
            assert_true(at == model_map(&model, count));
            for (uint64_t i = 0; at && i < count * GUEST_PAGE; i += 512) {
                assert_int_equal(*phys_at(&memory, at + i, 1), 0);
                *phys_at(&memory, at + i, 1) = 0xaa;
            }
            break;
        }
        case 1:
            count = page + count > PAGES ? PAGES - page : count;
            assert_true(heap_unmap(&heap, address, count * GUEST_PAGE));
            memset(&model.mapped[page], false, count);
            break;
        default: {
            uint64_t wanted = base + (random_shift(&state) % (PAGES + 2)) / 4 * GUEST_PAGE +
                              random_shift(&state) % GUEST_PAGE;
            assert_true(heap_break(&heap, wanted) == model_break(&model, wanted));
        }
        }
        check_same(&heap, &model);
    }
    heap_free(&heap);
    phys_free(&memory);
}

static void equals_the_model(void **unused)
{
    (void)unused;
    compare_with_model(0, 0);
}

static void keeps_out_of_reserved_memory(void **unused)
{
    (void)unused;
    compare_with_model(20, 9);
    compare_with_model(3, 1);
    compare_with_model(PAGES - 1, 1);
    compare_with_model(0, 2);
}

static void refuses_nonsense(void **unused)
{
    (void)unused;
    struct phys memory;
    struct error err;
    struct heap heap;
    assert_true(phys_init(&memory, base, (PAGES + 1) * GUEST_PAGE, &err));
    heap_init(&heap, &memory, base + 1, base + PAGES * GUEST_PAGE);
    assert_true(heap_break(&heap, 0) == base + GUEST_PAGE);
    assert_true(heap_map(&heap, 0) == 0);
    assert_true(heap_map(&heap, UINT64_MAX) == 0);
    assert_true(heap_map(&heap, PAGES * GUEST_PAGE) == 0);
    assert_false(heap_unmap(&heap, base, GUEST_PAGE));
    assert_false(heap_unmap(&heap, base + GUEST_PAGE + 1, GUEST_PAGE));
    assert_false(heap_unmap(&heap, base + GUEST_PAGE, UINT64_MAX));
    assert_false(heap_unmap(&heap, UINT64_MAX - GUEST_PAGE + 1, GUEST_PAGE));
    assert_true(heap_map(&heap, (PAGES - 1) * GUEST_PAGE) == base + GUEST_PAGE);
    assert_true(heap_map(&heap, 1) == 0);
    heap_free(&heap);
    phys_free(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_model),
        cmocka_unit_test(keeps_out_of_reserved_memory),
        cmocka_unit_test(refuses_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
