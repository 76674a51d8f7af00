/* Backtraces over stacks and registers that hold anything: they end, stay in the code, and repeat.
 * argv[1]: an ELF program, with or without debug information. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/debug/backtrace.h"
#include "emu/env/loader/elf.h"

enum { ROUNDS = 3000, STACK_BYTES = 16384 };

struct context {
    const char *path;
    struct phys memory;
    struct elf_program program;
    struct symbols *symbols;
};

/* xorshift64 (Marsaglia 2003). */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A word as a confused program might hold it: code, stack, small numbers, anything. */
static uint64_t some_word(const struct context *c, uint64_t *state)
{
    uint64_t value = next(state);
    uint64_t end = c->memory.base + c->memory.size;
    switch (next(state) % 5) {
    case 0: return c->program.entry + value % (c->program.end - c->program.entry);
    case 1: return (end - STACK_BYTES + value % STACK_BYTES) & ~UINT64_C(7);
    case 2: return value % 4096;
    case 3: return end - value % 64;
    default: return value;
    }
}

static void survives_random_stacks(void **test)
{
    const struct context *c = *test;
    uint64_t state = 88172645463325252;
    uint64_t x[32], frames[BACKTRACE_MAX], again[BACKTRACE_MAX];
    uint64_t end = c->memory.base + c->memory.size;
    size_t deepest = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t *stack = (uint64_t *)(void *)phys_at(&c->memory, end - STACK_BYTES, STACK_BYTES);
        for (size_t i = 0; i < STACK_BYTES / 8; i++)
            stack[i] = some_word(c, &state);
        for (int i = 0; i < 32; i++)
            x[i] = i ? some_word(c, &state) : 0;
        uint64_t pc = some_word(c, &state);
        size_t count = backtrace_walk(c->symbols, x, pc, &c->memory, frames, BACKTRACE_MAX);
        assert_in_range(count, 1, BACKTRACE_MAX);
        assert_true(frames[0] == pc);
        for (size_t i = 1; i < count; i++)
            assert_true(symbols_is_code(c->symbols, frames[i] - 1));
        assert_true(count == backtrace_walk(c->symbols, x, pc, &c->memory, again, BACKTRACE_MAX));
        assert_memory_equal(frames, again, count * sizeof frames[0]);
        deepest = count > deepest ? count : deepest;
    }
    assert_in_range(deepest, 2, BACKTRACE_MAX); /* otherwise nothing was tested */
}

static void respects_the_maximum(void **test)
{
    const struct context *c = *test;
    uint64_t x[32] = {0}, frame = 7;
    assert_int_equal(backtrace_walk(c->symbols, x, c->program.entry, &c->memory, &frame, 0), 0);
    assert_int_equal(frame, 7);
    assert_int_equal(backtrace_walk(c->symbols, x, c->program.entry, &c->memory, &frame, 1), 1);
    assert_true(frame == c->program.entry);
}

static void names_addresses(void **test)
{
    const struct context *c = *test;
    uint64_t offset = 99;
    char text[SYMBOLS_TEXT];
    assert_string_equal(symbols_name(c->symbols, c->program.entry, &offset), "_start");
    assert_int_equal(offset, 0);
    assert_string_equal(symbols_name(c->symbols, c->program.entry + 4, &offset), "_start");
    assert_int_equal(offset, 4);
    assert_null(symbols_name(c->symbols, 0, &offset));
    assert_null(symbols_name(c->symbols, UINT64_MAX, &offset));
    assert_null(symbols_name(c->symbols, c->memory.base + c->memory.size, &offset));
    assert_string_equal(symbols_describe(c->symbols, 16, text, sizeof text), "no symbol");
    (void)symbols_describe(c->symbols, c->program.entry + 4, text, 10);
    assert_string_equal(text, "_start+0x");
}

static void lives_without_a_file(void **test)
{
    const struct context *c = *test;
    uint64_t x[32] = {[1] = c->program.entry}, frames[4], offset;
    const char *const paths[] = {"/nonexistent", "/", "/dev/null"};
    for (size_t i = 0; i < 3; i++) {
        struct symbols *symbols = symbols_new(paths[i]);
        assert_null(symbols_name(symbols, c->program.entry, &offset));
        assert_int_equal(backtrace_walk(symbols, x, c->program.entry, &c->memory, frames, 4), 1);
        symbols_free(symbols);
    }
}

int main(int argc, char **argv)
{
    static struct context context;
    struct error err;
    if (argc != 2)
        return 2;
    context.path = argv[1];
    if (!phys_init(&context.memory, 0x80000000, 1 << 24, &err) ||
        !elf_load(&context.program, argv[1], ELF_VIRTUAL, &(struct bytes){&context.memory, NULL}, &err)) {
        print_error("%s\n", err.text);
        return 1;
    }
    context.symbols = symbols_new(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(survives_random_stacks, &context),
        cmocka_unit_test_prestate(respects_the_maximum, &context),
        cmocka_unit_test_prestate(names_addresses, &context),
        cmocka_unit_test_prestate(lives_without_a_file, &context),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    symbols_free(context.symbols);
    phys_free(&context.memory);
    return failed;
}
