/* The packet generator: operands to tasks, causes of malformed operands, packets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "emu/nucd/packet.h"

enum { XN = 30, XD = 28, XT = 29, A0 = 10, A1, A2, A3 };

struct fixture {
    uint64_t x[32];
    uint64_t memory_end, code_end; /* both begin at 0x10000 */
    uint8_t capabilities[2];
    struct nucd_operands operands;
    struct nucd_limits limits;
    struct nucd_task task;
};

static uint64_t read_register(const void *context, unsigned reg)
{
    assert_true(reg < 32);
    return ((const struct fixture *)context)->x[reg];
}

static bool is_memory(const void *context, uint64_t address)
{
    return address >= 0x10000 && address < ((const struct fixture *)context)->memory_end;
}

static bool is_code(const void *context, uint64_t begin, uint64_t end)
{
    return begin >= 0x10000 && end <= ((const struct fixture *)context)->code_end;
}

/* A segment, laid out as in the manual. */
static uint64_t segment(unsigned reg, unsigned granules, unsigned size)
{
    return reg | granules << 5 | size << 14;
}

/* Well-formed operands: 4 parcels; inputs: 2 lines of memory at a0, the value of a1; output: 3 pages of
 * memory at a2. */
static void fixture_init(struct fixture *f)
{
    *f = (struct fixture){.memory_end = UINT64_C(1) << 32, .code_end = 0x20000, .capabilities = {1, 6}};
    f->operands = (struct nucd_operands){
        .pc = 0x10100, .xn = XN, .xd = XD, .frm = 3, .read = read_register, .context = f};
    f->limits = (struct nucd_limits){.capabilities = f->capabilities,
                                     .accelerators = 2,
                                     .memory = is_memory,
                                     .code = is_code,
                                     .context = f};
    for (unsigned i = 1; i < 32; i++)
        f->x[i] = 0x1000000 + i;
    f->x[XN] = UINT64_C(0x4e554344) << 32 | 0x1u << 28 | 0x1u << 24 | 4;
    f->x[XD] = segment(A0, 2, 0) | segment(A1, 0, 0) << 16;
    f->x[XT] = segment(A2, 3, 1);
    f->x[A0] = 0x30008;
    f->x[A1] = 1234;
    f->x[A2] = 0x50fff;
}

static enum nucd_cause make(struct fixture *f)
{
    return nucd_packet_task(&f->operands, &f->limits, &f->task);
}

static void assert_range(const struct nucd_range *range, uint64_t first, uint64_t last)
{
    assert_int_equal(range->first, first);
    assert_int_equal(range->last, last);
}

/* [0x30008, 0x30088) and [0x50fff, 0x53fff) rounded out to lines. */
static void task_of_well_formed_operands(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    assert_int_equal(make(&f), NUCD_WELL_FORMED);
    assert_int_equal(f.task.pc, 0x10100);
    assert_int_equal(f.task.begin, 0x10104);
    assert_int_equal(f.task.end, 0x1010c);
    assert_int_equal(f.task.frm, 3);
    assert_int_equal(f.task.result, 0);
    assert_int_equal(f.task.memory.in.count, 1);
    assert_range(&f.task.memory.in.range[0], 0x30000, 0x300bf);
    assert_int_equal(f.task.memory.out.count, 1);
    assert_range(&f.task.memory.out.range[0], 0x50fc0, 0x53fff);
    assert_int_equal(f.task.live_ins.mask, 1 << 3 | 1 << 4 | 1 << A0 | 1 << A1 | 1 << A2);
    const uint64_t values[] = {0x1000003, 0x1000004, 0x30008, 1234, 0x50fff};
    assert_memory_equal(f.task.live_ins.value, values, sizeof values);
    assert_int_equal(nucd_packet_sources(f.x[XN], f.x[XD], f.x[XT]), f.task.live_ins.mask);
}

/* All four granule sizes with the largest count: 511 times 64 B, 4 KiB, 64 KiB, 1 MiB. */
static void granules_of_all_sizes(void **state)
{
    (void)state;
    const uint64_t bytes[] = {32704, 2093056, 33488896, 535822336};
    struct fixture f;
    for (unsigned size = 0; size < 4; size++) {
        fixture_init(&f);
        f.x[A0] = 0x100000;
        f.x[XD] = segment(A0, 511, size);
        assert_int_equal(make(&f), NUCD_WELL_FORMED);
        assert_range(&f.task.memory.in.range[0], 0x100000, 0x100000 + bytes[size] - 1);
    }
}

/* An empty range has no memory, but its base is handed over. An unused segment hands nothing over. */
static void empty_and_unused_segments(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    f.x[XN] |= 0xffu << 24;
    f.x[XD] = segment(A0, 0, 3) | segment(0, 511, 3) << 16;
    f.x[A0] = UINT64_MAX; /* the range is empty */
    f.x[XT] = 0;
    assert_int_equal(make(&f), NUCD_WELL_FORMED);
    assert_int_equal(f.task.memory.in.count + f.task.memory.out.count, 0);
    assert_int_equal(f.task.live_ins.mask, 1 << 3 | 1 << 4 | 1 << A0);
    /* x0 as the pair: no segments, although x1 is not 0. */
    fixture_init(&f);
    f.operands.xd = 0;
    assert_int_equal(make(&f), NUCD_WELL_FORMED);
    assert_int_equal(f.task.memory.in.count + f.task.memory.out.count + f.task.result, 0);
    assert_int_equal(f.task.live_ins.mask, 1 << 3 | 1 << 4);
}

static void a_result_comes_back(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    f.x[XT] |= segment(A3, 77, 2) << 32; /* granules of a value are ignored */
    assert_int_equal(make(&f), NUCD_WELL_FORMED);
    assert_int_equal(f.task.result, A3);
    assert_int_equal(f.task.memory.out.count, 1);
    assert_int_equal(f.task.live_ins.mask >> A3 & 1, 0); /* x0 is not handed over */
}

/* Each cause alone: a change to well-formed operands. */
static void malformed_operands_have_their_causes(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    f.x[XN] ^= UINT64_C(1) << 40;
    assert_int_equal(make(&f), NUCD_CAUSE_SIGNATURE);
    fixture_init(&f);
    f.operands.xd = XT;
    assert_int_equal(make(&f), NUCD_CAUSE_PAIR);
    fixture_init(&f);
    f.x[XN] -= 4;
    assert_int_equal(make(&f), NUCD_CAUSE_LENGTH);
    fixture_init(&f);
    f.operands.pc = UINT64_MAX - 9; /* 4 for nucd, 8 for the region */
    assert_int_equal(make(&f), NUCD_CAUSE_WRAP);
    fixture_init(&f);
    f.code_end = 0x1010b;
    assert_int_equal(make(&f), NUCD_CAUSE_CODE);
    f.code_end = 0x1010c;
    assert_int_equal(make(&f), NUCD_WELL_FORMED);
    fixture_init(&f);
    f.x[XT] |= segment(A3, 0, 0) << 32 | segment(A3, 0, 0) << 48;
    assert_int_equal(make(&f), NUCD_CAUSE_RESULTS);
    fixture_init(&f);
    f.x[XD] |= segment(2, 0, 0) << 48;
    assert_int_equal(make(&f), NUCD_CAUSE_STACK);
    fixture_init(&f);
    f.x[XT] |= segment(2, 0, 0) << 48;
    assert_int_equal(make(&f), NUCD_CAUSE_STACK);
    fixture_init(&f);
    f.x[XN] |= 0x2u << 28;
    f.x[XT] |= segment(A3, 2, 0) << 16;
    f.x[A3] = UINT64_MAX - 126; /* 127 bytes to the end */
    assert_int_equal(make(&f), NUCD_CAUSE_RANGE_WRAP);
    f.x[A3]--; /* to the last byte */
    f.limits.memory = NULL;
    assert_int_equal(make(&f), NUCD_WELL_FORMED);
    assert_range(&f.task.memory.out.range[1], UINT64_MAX - 127, UINT64_MAX);
    fixture_init(&f);
    f.x[A0] = 0xffff;
    assert_int_equal(make(&f), NUCD_CAUSE_RANGE);
    f.x[A0] = f.memory_end - 1; /* the range may continue where there is no memory */
    assert_int_equal(make(&f), NUCD_WELL_FORMED);
    fixture_init(&f);
    f.x[XN] |= 0x5u << 16; /* one accelerator has 1, the other 2 and 4 */
    assert_int_equal(make(&f), NUCD_CAUSE_CAPABILITY);
    f.x[XN] ^= 0x3u << 16;
    assert_int_equal(make(&f), NUCD_WELL_FORMED);
    assert_int_equal(f.task.capabilities, 6);
}

/* The largest packet: 8 segments in different registers, one of them the result: 3 + 7 + gp and tp = 12 words
 * or 2 lines, 96 bytes, 3 flits of 32 bytes. With four output ranges it has one word more. */
static void packets_have_their_sizes(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    f.x[XN] |= 0xffu << 24;
    f.x[XN] ^= 0x8u << 28;
    f.x[XD] = segment(10, 1, 0) | segment(11, 1, 0) << 16 | segment(12, 1, 0) << 32 | segment(13, 1, 0) << 48;
    f.x[XT] = segment(14, 1, 0) | segment(15, 1, 0) << 16 | segment(16, 1, 0) << 32 | segment(17, 1, 0) << 48;
    for (unsigned i = 10; i < 18; i++)
        f.x[i] = 0x100000 + 64 * i;
    assert_int_equal(make(&f), NUCD_WELL_FORMED);
    assert_int_equal(f.task.result, 17);
    assert_int_equal(nucd_packet_words(&f.task), 12);
    assert_int_equal(nucd_words_lines(nucd_packet_words(&f.task)), 2);
    assert_int_equal(nucd_words_flits(nucd_packet_words(&f.task), 32), 3);
    f.x[XN] |= 0x8u << 28;
    assert_int_equal(make(&f), NUCD_WELL_FORMED);
    assert_int_equal(nucd_packet_words(&f.task), NUCD_PACKET_WORDS);
    /* A range and a value in one register, twice: the register is handed over once. 3 + gp, tp, a0. */
    fixture_init(&f);
    f.x[XD] = segment(A0, 1, 0) | segment(A0, 1, 0) << 16;
    f.x[XT] = segment(A0, 1, 0);
    assert_int_equal(make(&f), NUCD_WELL_FORMED);
    assert_int_equal(nucd_packet_words(&f.task), 6);
    assert_int_equal(nucd_words_lines(6), 1);
    assert_int_equal(nucd_words_flits(6, 32), 2);
    assert_int_equal(nucd_words_flits(6, 16), 3);
}

static void packets_are_read_as_written(void **state)
{
    (void)state;
    struct fixture f;
    uint64_t words[NUCD_PACKET_WORDS];
    struct nucd_packet packet;
    fixture_init(&f);
    f.x[XN] |= 0x4u << 16;
    f.x[XT] |= segment(31, 0, 0) << 32;
    assert_int_equal(make(&f), NUCD_WELL_FORMED);
    assert_int_equal(nucd_packet_write(&f.task, 0xfedc, words), 8);
    assert_int_equal(words[0],
                     UINT64_C(0xfedc047f00001c19)); /* x3 x4 x10 x11 x12, mark; x31, frm 3, C 4, tag */
    assert_int_equal(nucd_packet_length(words[0]), 8);
    nucd_packet_read(words, &packet);
    assert_int_equal(packet.begin, 0x10104);
    assert_int_equal(packet.end, 0x1010c);
    assert_false(packet.ordered);
    assert_int_equal(packet.tag, 0xfedc);
    assert_int_equal(packet.capabilities, 4);
    assert_int_equal(packet.result, 31);
    assert_int_equal(packet.frm, 3);
    assert_memory_equal(&packet.live_ins, &f.task.live_ins, sizeof packet.live_ins);
    f.task.ordered = true;
    assert_int_equal(nucd_packet_write(&f.task, 0xfedc, words), 8);
    nucd_packet_read(words, &packet);
    assert_int_equal(packet.begin, 0x10104);
    assert_true(packet.ordered);
    assert_int_equal(nucd_packet_length(words[0] & ~1u), 0);
    assert_int_equal(nucd_packet_length(0xffe), 0);
    assert_int_equal(nucd_packet_length(0x7ff), 13);
    assert_int_equal(nucd_packet_length(0xfff), 0); /* 11 registers */
}

/* Warns once for each pc, never for a signature; counts all. */
static void causes_are_counted_and_warned_of_once(void **state)
{
    (void)state;
    static struct nucd_causes causes;
    struct error text = {""};
    assert_false(nucd_causes_note(&causes, NUCD_CAUSE_SIGNATURE, 0x100, &text));
    assert_true(nucd_causes_note(&causes, NUCD_CAUSE_RANGE, 0x100, &text));
    assert_string_equal(text.text,
                        "nucd at pc 0x100 is ignored, and the host runs its region: a range begins "
                        "outside of memory");
    assert_false(nucd_causes_note(&causes, NUCD_CAUSE_LENGTH, 0x100, &text));
    for (unsigned i = 1; i < NUCD_CAUSE_PLACES; i++)
        assert_true(nucd_causes_note(&causes, NUCD_CAUSE_LENGTH, 0x100 + 4 * i, &text));
    assert_true(nucd_causes_note(&causes, NUCD_CAUSE_LENGTH, 0, &text));
    assert_string_equal(
        text.text,
        "nucds at more than 512 addresses are ignored; further ones are counted only (malformed.*)");
    assert_false(nucd_causes_note(&causes, NUCD_CAUSE_LENGTH, 4, &text));
    assert_false(nucd_causes_note(&causes, NUCD_CAUSE_LENGTH, 0x104, &text));
    assert_int_equal(causes.count[NUCD_CAUSE_SIGNATURE], 1);
    assert_int_equal(causes.count[NUCD_CAUSE_RANGE], 1);
    assert_int_equal(causes.count[NUCD_CAUSE_LENGTH], NUCD_CAUSE_PLACES + 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(task_of_well_formed_operands),
        cmocka_unit_test(granules_of_all_sizes),
        cmocka_unit_test(empty_and_unused_segments),
        cmocka_unit_test(a_result_comes_back),
        cmocka_unit_test(malformed_operands_have_their_causes),
        cmocka_unit_test(packets_have_their_sizes),
        cmocka_unit_test(packets_are_read_as_written),
        cmocka_unit_test(causes_are_counted_and_warned_of_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
