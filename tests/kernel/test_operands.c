/* What the driver reads from the operands of nucd, compiled for the host, against what the packet generator reads from
 * them (emu/nucd/packet.h), over random operands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/nucd/packet.h"
#include "host/kernel/driver/operands.c"
#include "host/kernel/memory/ranges.c"
#include "tests/isa/random.h"

enum { ROUNDS = 400000, CAPABILITIES = 0x3f };

static const uint64_t text = 0x80000000, data = 0x80010000, size = 0x10000;

static uint64_t read_register(const void *context, unsigned number)
{
    return ((const struct kernel_frame *)context)->x[number];
}

static bool is_memory(const void *context, uint64_t address)
{
    (void)context;
    return address >= text && address < data + size;
}

static bool is_code(const void *context, uint64_t begin, uint64_t end)
{
    (void)context;
    return begin >= text && end <= text + size;
}

/* Mostly well-formed: each rule is broken now and then. */
static uint64_t choose_segment(uint64_t random)
{
    uint64_t number = random % 5 ? 10 + (random >> 8) % 6 : random % 10 ? 0 : (random >> 8) % 32;
    uint64_t granules = random >> 16 & 1 ? (random >> 20) % 16 : (random >> 20) % 512;
    return number | granules << 5 | (random >> 32 & 1 ? 0 : random >> 33 & 3) << 14;
}

static uint32_t choose(struct kernel_frame *frame, uint64_t *state)
{
    uint32_t xn = 28, xd = random_shift(state) % 64 ? 30 : (uint32_t)random_shift(state) % 32;
    frame->pc = random_shift(state) % 64 ? text + random_shift(state) % 0x8000 / 2 * 2
                                         : -(random_shift(state) % 0x8000 / 2 * 2) - 6;
    frame->x[0] = 0;
    for (unsigned i = 1; i < 32; i++)
        frame->x[i] = random_shift(state) % 64  ? data + random_shift(state) % size
                      : random_shift(state) % 2 ? random_shift(state)
                                                : -(random_shift(state) % 4096);
    uint64_t memory = random_shift(state) & 0xff, length = random_shift(state) % 64
                                                               ? random_shift(state) & 0x3fff
                                                               : random_shift(state) % 2 * 0xffff;
    if (random_shift(state) % 4)
        memory |= 0x70; /* at most one result */
    uint64_t wants =
        random_shift(state) % 16 ? random_shift(state) & CAPABILITIES : random_shift(state) & 0xff;
    uint64_t signature = random_shift(state) % 64 ? NUCD_SIGNATURE : random_shift(state) & UINT32_MAX;
    frame->x[xn] = signature << 32 | memory << 24 | wants << 16 | length;
    for (unsigned half = 0; half < 2 && xd < 31; half++) {
        uint64_t operand = 0;
        for (unsigned i = 0; i < 4; i++)
            operand |= choose_segment(random_shift(state)) << 16 * i;
        if (xd + half != 0 && xd + half != xn)
            frame->x[xd + half] = operand;
    }
    return 0x2033 | xn << 15 | xd << 20;
}

static void compare_ranges(const struct nucd_ranges *expected, const struct operands_range *found,
                           unsigned count)
{
    assert_int_equal(count, expected->count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(found[i].first, expected->range[i].first);
        assert_int_equal(found[i].end, expected->range[i].last + 1);
    }
}

static void compare(const struct kernel_frame *frame, const struct operands *found,
                    const struct nucd_task *expected)
{
    uint64_t words[OPERANDS_WORDS], expected_words[NUCD_PACKET_WORDS];
    compare_ranges(&expected->memory.in, found->in, found->ins);
    compare_ranges(&expected->memory.out, found->out, found->outs);
    unsigned count = operands_packet(found, frame, 3, 0xabcd, words);
    assert_int_equal(count, nucd_packet_write(expected, 0xabcd, expected_words));
    assert_memory_equal(words, expected_words, count * sizeof words[0]);
}

static void agrees_with_the_packet_generator(void **test)
{
    (void)test;
    static const uint8_t capabilities[] = {CAPABILITIES, CAPABILITIES};
    const struct nucd_limits limits = {
        .capabilities = capabilities, .accelerators = 2, .memory = is_memory, .code = is_code};
    memset(&ranges, 0, sizeof ranges);
    ranges_insert((struct croft_range){text, size, text, CROFT_RANGE_READ | CROFT_RANGE_EXECUTE, 0});
    ranges_insert((struct croft_range){data, size, data, CROFT_RANGE_READ | CROFT_RANGE_WRITE, 0});
    uint64_t state = 88172645463325252, seen[OPERANDS_WELL_FORMED + 1] = {0}, conflicts[2] = {0};
    struct operands found[2] = {0};
    struct nucd_task expected[2] = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned now = round & 1;
        struct kernel_frame frame;
        uint32_t bits = choose(&frame, &state);
        const struct nucd_operands operands = {frame.pc, bits >> 15 & 31, bits >> 20 & 31,
                                               3,        read_register,   &frame};
        enum nucd_cause wanted = nucd_packet_task(&operands, &limits, &expected[now]);
        enum operands_cause cause = operands_read(&frame, bits, CAPABILITIES, &found[now]);
        assert_int_equal(cause, wanted);
        seen[cause]++;
        if (cause != OPERANDS_WELL_FORMED)
            continue;
        compare(&frame, &found[now], &expected[now]);
        bool conflict = operands_conflict(&found[0], &found[1]);
        assert_int_equal(conflict, nucd_footprints_conflict(&expected[0].memory, &expected[1].memory));
        conflicts[conflict]++;
    }
    for (unsigned i = 0; i <= OPERANDS_WELL_FORMED; i++)
        assert_true(seen[i] > 50);
    assert_true(conflicts[0] > 1000 && conflicts[1] > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_packet_generator)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
