/* The limit on memory in use: which pages count, when it is exceeded, and that pages are given back. */
#include "emu/mem/phys/memory_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGES = 16, PAGE = CODE_PAGE };
static const uint64_t base = 0x80000000;

struct rig {
    struct phys memory;
    struct memory_limit limit;
    struct code_watcher watcher; /* a fast path for stores, as a hart's TLB */
    bool fast[PAGES];
    unsigned calls;
};

static bool fast_stored(void *context, uint64_t page, unsigned first, unsigned last)
{
    (void)context, (void)page, (void)first, (void)last;
    return false;
}

static void fast_marked(void *context, uint64_t page, unsigned end, bool first)
{
    struct rig *rig = context;
    (void)end, (void)first;
    rig->fast[page] = false;
}

static void full(void *context)
{
    ((struct rig *)context)->calls++;
}

static void set_up(struct rig *rig, uint64_t pages)
{
    struct error err;
    *rig = (struct rig){.watcher = {.stored = fast_stored, .marked = fast_marked, .context = rig}};
    assert_true(phys_init(&rig->memory, base, PAGES * PAGE, &err));
    assert_true(memory_limit_init(&rig->limit, &rig->memory, pages * PAGE, &err));
    code_pages_watch(rig->memory.code, &rig->watcher);
    memory_limit_call(&rig->limit, full, rig);
}

static void tear_down(struct rig *rig)
{
    memory_limit_free(&rig->limit);
    phys_free(&rig->memory);
}

/* Stores as a hart does: a page gets a fast path unless it is marked. */
static void store(struct rig *rig, uint64_t offset, uint64_t size)
{
    uint64_t page = offset / PAGE;
    if (rig->fast[page] && (offset + size - 1) / PAGE == page)
        return;
    phys_note_store(&rig->memory, base + offset, size);
    rig->fast[page] = !phys_has_code(&rig->memory, base + page * PAGE);
}

static void test_counts(void **state)
{
    struct rig rig;
    (void)state;
    set_up(&rig, 4);
    store(&rig, 0, 8);
    store(&rig, 8, 8); /* the same page */
    assert_true(rig.fast[0]);
    assert_int_equal(rig.limit.used, PAGE);
    store(&rig, 2 * PAGE - 4, 8); /* two pages */
    assert_int_equal(rig.limit.used, 3 * PAGE);
    phys_note_store(&rig.memory, base + 5 * PAGE, 0);
    assert_int_equal(rig.limit.used, 3 * PAGE);
    store(&rig, 7 * PAGE, 1);
    assert_int_equal(rig.calls, 0);
    assert_false(rig.limit.exceeded);
    store(&rig, 9 * PAGE + 16, 8);
    assert_int_equal(rig.calls, 1);
    assert_true(rig.limit.exceeded);
    assert_int_equal(rig.limit.address, base + 9 * PAGE);
    store(&rig, 10 * PAGE, 8);
    assert_int_equal(rig.calls, 1);
    tear_down(&rig);
}

static void test_gives_back(void **state)
{
    struct rig rig;
    (void)state;
    set_up(&rig, 3);
    for (unsigned turn = 0; turn < 5; turn++) {
        store(&rig, 0, 3 * PAGE);
        store(&rig, 0, 8);
        assert_true(rig.fast[0]);
        assert_int_equal(rig.limit.used, 3 * PAGE);
        phys_note_release(&rig.memory, base, PAGES * PAGE); /* with pages that nobody has written */
        assert_false(rig.fast[0]);
        assert_int_equal(rig.limit.used, 0);
    }
    assert_int_equal(rig.calls, 0);
    tear_down(&rig);
}

/* A page with code stays marked for the code's owner. */
static bool code_stored(void *context, uint64_t page, unsigned first, unsigned last)
{
    bool *code = context;
    (void)page, (void)last;
    *code &= first > 99;
    return *code;
}

static void test_code(void **state)
{
    struct rig rig;
    bool code = true;
    (void)state;
    set_up(&rig, 3);
    struct code_watcher owner = {.stored = code_stored, .marked = rig.limit.watcher.marked, .context = &code};
    code_pages_watch(rig.memory.code, &owner);
    code_pages_mark(rig.memory.code, 0, 100);
    store(&rig, 200, 8);
    assert_true(code);
    assert_false(rig.fast[0]);
    assert_int_equal(rig.limit.used, PAGE);
    store(&rig, 50, 8);
    assert_false(code);
    assert_true(rig.fast[0]);
    code_pages_leave(rig.memory.code, &owner);
    tear_down(&rig);
}

static void test_exceeded_before(void **state)
{
    struct rig rig = {0};
    struct error err;
    (void)state;
    assert_true(phys_init(&rig.memory, base, PAGES * PAGE, &err));
    assert_true(memory_limit_init(&rig.limit, &rig.memory, PAGE, &err));
    phys_note_store(&rig.memory, base, PAGE + 1);
    assert_true(rig.limit.exceeded);
    memory_limit_call(&rig.limit, full, &rig);
    assert_int_equal(rig.calls, 1);
    tear_down(&rig);
}

/* The size of the list follows the user's memory.size, so a lack of host memory is an error, not an abort. The list of
 * 64 GiB takes 16 MiB; the address space has 1 MiB left. */
static void test_no_host_memory(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* its allocator ends the program */
#endif
    struct phys memory;
    struct memory_limit limit;
    struct error err;
    struct rlimit before, little;
    unsigned long pages = 0;
    assert_true(phys_init(&memory, base, UINT64_C(64) << 30, &err));
    FILE *file = fopen("/proc/self/statm", "re");
    assert_true(file && fscanf(file, "%lu", &pages) == 1);
    (void)fclose(file);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    little = before;
    little.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (1 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
    bool good = memory_limit_init(&limit, &memory, PAGE, &err);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_false(good);
    assert_non_null(strstr(err.text, "16777216 pages of main memory; choose a smaller memory.size"));
    memory_limit_free(&limit);
    phys_free(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),         cmocka_unit_test(test_gives_back),
        cmocka_unit_test(test_code),           cmocka_unit_test(test_exceeded_before),
        cmocka_unit_test(test_no_host_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
