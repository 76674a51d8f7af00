/* The task unit: work queue, registers of the firmware and of the host, the end of a region. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/stream/op.h"
#include "emu/nucd/units/task_unit.h"
#include "isa/decode.h"

struct fixture {
    struct task_unit *unit;
    struct task_unit_observer observer;
    bool work, done; /* the interrupt lines */
    unsigned reports, freed, empties, starts;
    struct task_unit_report last;
};

static void set_work(void *context, unsigned number, bool level)
{
    assert_int_equal(number, 1);
    ((struct fixture *)context)->work = level;
}

static void set_done(void *context, unsigned number, bool level)
{
    assert_int_equal(number, 2);
    ((struct fixture *)context)->done = level;
}

static void told(void *context, const struct task_unit_report *report)
{
    struct fixture *f = context;
    f->reports++;
    f->freed += report->event == TASK_UNIT_EMPTIED ? report->lines : 0;
    f->last = *report;
}

static void started(void *context)
{
    ((struct fixture *)context)->starts++;
}

static void empty_asked(void *context)
{
    ((struct fixture *)context)->empties++;
}

static void observe(struct fixture *f)
{
    f->observer = (struct task_unit_observer){.told = told, .started = started, .context = f};
    task_unit_observe(f->unit, &f->observer);
}

static void fixture_init(struct fixture *f, uint32_t lines)
{
    struct error err = {""};
    *f = (struct fixture){.reports = 0};
    struct task_unit_config config = {
        .queue_lines = lines, .work = {set_work, f, 1}, .done = {set_done, f, 2}, .context = f};
    f->unit = task_unit_new(&config, &err);
    assert_non_null(f->unit);
    observe(f);
}

static uint64_t get(struct fixture *f, uint64_t offset)
{
    return task_unit_ops.read(f->unit, offset, 8);
}

static void set(struct fixture *f, uint64_t offset, uint64_t value)
{
    task_unit_ops.write(f->unit, offset, 8, value);
}

static void command(struct fixture *f, unsigned value)
{
    set(f, TASK_UNIT_COMMAND, value);
}

/* Ends a task that was taken, for both sides. */
static void abandon(struct fixture *f)
{
    assert_true(task_unit_kill(f->unit));
    command(f, TASK_UNIT_CLEAR);
}

/* Writes a packet with `registers` registers from x10 on, gp and tp, with values 100 + number, region
 * [0x2000, 0x2008), result x10, frm 2. Returns its number of words. */
static unsigned packet(uint64_t *words, uint16_t tag, unsigned registers)
{
    struct nucd_task task = {.begin = 0x2000, .end = 0x2008, .result = 10, .frm = 2, .capabilities = 5};
    unsigned count = 0;
    task.live_ins.mask = 1 << 3 | 1 << 4 | ((1u << registers) - 1) << 10;
    for (unsigned reg = 0; reg < 32; reg++)
        if (task.live_ins.mask >> reg & 1)
            task.live_ins.value[count++] = 100 + reg;
    return nucd_packet_write(&task, tag, words);
}

static void push(struct fixture *f, uint16_t tag, unsigned registers)
{
    uint64_t words[NUCD_PACKET_WORDS];
    unsigned count = packet(words, tag, registers);
    assert_true(task_unit_push(f->unit, words, count));
}

/* Handles a packet from its arrival to completion, as firmware does. */
static void a_task_from_first_to_last(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 4);
    assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_IDLE);
    push(&f, 0xbeef, 2);
    assert_true(f.work);
    assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_WAITS);
    assert_int_equal(get(&f, TASK_UNIT_CREDITS), 3);
    command(&f, TASK_UNIT_TAKE);
    assert_false(f.work);
    assert_int_equal(f.freed, 1);
    assert_int_equal(get(&f, TASK_UNIT_CREDITS), 4);
    assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_LOADED);
    assert_int_equal(get(&f, TASK_UNIT_BEGIN), 0x2000);
    assert_int_equal(get(&f, TASK_UNIT_END), 0x2008);
    assert_int_equal(get(&f, TASK_UNIT_REGISTERS), 0xc18);
    assert_int_equal(get(&f, TASK_UNIT_FORMAT), UINT64_C(0xbeef0005020a));
    const uint64_t values[32] = {[3] = 103, [4] = 104, [10] = 110, [11] = 111};
    for (unsigned reg = 0; reg < 32; reg++)
        assert_int_equal(get(&f, TASK_UNIT_LIVE_INS + 8 * reg), values[reg]);
    assert_null(task_unit_region(f.unit));
    command(&f, TASK_UNIT_START);
    assert_int_equal(task_unit_state(f.unit), TASK_UNIT_RUNNING);
    assert_false(task_unit_arrive(f.unit, 0x2004));
    assert_true(task_unit_arrive(f.unit, 0x2008));
    assert_false(task_unit_arrive(f.unit, 0x2008));
    assert_true(f.work);
    set(&f, TASK_UNIT_RESULT, 4711);
    set(&f, TASK_UNIT_FFLAGS, 0xf1);
    assert_int_equal(f.reports, 1);
    command(&f, TASK_UNIT_COMPLETE);
    assert_int_equal(f.last.event, TASK_UNIT_COMPLETED);
    assert_int_equal(f.last.tag, 0xbeef);
    assert_int_equal(f.last.result, 4711);
    assert_int_equal(f.last.fflags, 0x11);
    assert_false(f.work);
    assert_true(f.done);
    assert_int_equal(get(&f, TASK_UNIT_DONE), 1);
    assert_int_equal(get(&f, TASK_UNIT_HOST_RESULT), 4711);
    assert_int_equal(get(&f, TASK_UNIT_HOST_OUTCOME), UINT64_C(0xbeef00000011));
    assert_int_equal(get(&f, TASK_UNIT_HOST_FFLAGS), 0x11);
    set(&f, TASK_UNIT_HOST_FFLAGS, 0x10);
    assert_int_equal(get(&f, TASK_UNIT_HOST_FFLAGS), 1);
    set(&f, TASK_UNIT_CONTROL, TASK_UNIT_ACKNOWLEDGE);
    assert_false(f.done);
    assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_IDLE);
    task_unit_free(f.unit);
}

/* A transfer of two packets of 7 words and one of 13: they take lines 0-1, 1, and 1-3. Each line is freed
 * when the last packet with words in it was taken; the rest of the last line belongs to the last packet. */
static void packets_of_one_transfer(void **state)
{
    (void)state;
    struct fixture f;
    uint64_t words[3 * NUCD_PACKET_WORDS];
    for (unsigned round = 0; round < 7; round++) { /* the ring of 5 lines wraps */
        fixture_init(&f, 5);
        for (unsigned i = 0; i < round; i++) {
            push(&f, 7, 1);
            command(&f, TASK_UNIT_TAKE);
            abandon(&f);
        }
        f.freed = 0;
        unsigned count = packet(words, 1, 2);
        count += packet(words + count, 2, 2);
        count += packet(words + count, 3, 8);
        assert_int_equal(count, 27);
        assert_true(task_unit_push(f.unit, words, count));
        assert_int_equal(get(&f, TASK_UNIT_CREDITS), 1);
        const unsigned freed[] = {0, 1, 4};
        for (uint16_t tag = 1; tag <= 3; tag++) {
            command(&f, TASK_UNIT_TAKE);
            assert_int_equal(task_unit_packet(f.unit)->tag, tag);
            assert_int_equal(f.freed, freed[tag - 1]);
            assert_int_equal(get(&f, TASK_UNIT_CREDITS), 1 + f.freed);
            abandon(&f);
        }
        assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_IDLE);
        command(&f, TASK_UNIT_TAKE); /* the queue is empty, which is not an error */
        assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_IDLE);
        task_unit_free(f.unit);
    }
}

/* Random packets pass a small queue unchanged, and no line is lost. */
static void a_long_stream_of_packets(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 7);
    uint32_t random = 1, lines = 7;
    uint16_t in = 0, out = 0;
    while (out < 5000) {
        random = random * 1664525 + 1013904223;
        uint64_t words[4 * NUCD_PACKET_WORDS];
        unsigned count = 0, packets = 1 + (random >> 16) % 4;
        for (unsigned i = 0; i < packets; i++)
            count += packet(words + count, (uint16_t)(in + i), 1 + (random >> (20 + i)) % 8);
        unsigned needed = nucd_words_lines(count);
        if (needed <= lines) {
            assert_true(task_unit_push(f.unit, words, count));
            lines -= needed;
            in = (uint16_t)(in + packets);
        }
        for (unsigned takes = random >> 30; takes > 0 && out != in; takes--, out++) {
            f.freed = 0;
            command(&f, TASK_UNIT_TAKE);
            assert_int_equal(task_unit_packet(f.unit)->tag, out);
            assert_int_equal(get(&f, TASK_UNIT_LIVE_INS + 80), 110);
            lines += f.freed;
            abandon(&f);
        }
        assert_int_equal(get(&f, TASK_UNIT_CREDITS), lines);
    }
    task_unit_free(f.unit);
}

/* A driver's sequence: stores of lines, with a doorbell for each. A transfer that does not fit is refused. */
static void transfers_by_stores(void **state)
{
    (void)state;
    struct fixture f;
    uint64_t words[16] = {0};
    fixture_init(&f, 3);
    assert_int_equal(packet(words, 9, 8), 13);
    for (unsigned line = 0; line < 2; line++) {
        assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_IDLE);
        for (unsigned i = 0; i < 8; i++)
            set(&f, TASK_UNIT_LINE + 8 * i, words[8 * line + i]);
        assert_int_equal(get(&f, TASK_UNIT_LINE + 8), words[8 * line + 1]);
        set(&f, TASK_UNIT_DOORBELL, 2);
    }
    assert_int_equal(get(&f, TASK_UNIT_HOST_STATUS), TASK_UNIT_WAITS);
    assert_int_equal(get(&f, TASK_UNIT_CREDITS), 1);
    set(&f, TASK_UNIT_DOORBELL, 2);
    set(&f, TASK_UNIT_DOORBELL, 2);
    assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_WAITS | TASK_UNIT_ERROR);
    command(&f, TASK_UNIT_CLEAR);
    set(&f, TASK_UNIT_DOORBELL, 0);
    assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_WAITS | TASK_UNIT_ERROR);
    command(&f, TASK_UNIT_CLEAR);
    set(&f, TASK_UNIT_DOORBELL, 4); /* more lines than the queue has */
    assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_WAITS | TASK_UNIT_ERROR);
    command(&f, TASK_UNIT_CLEAR);
    command(&f, TASK_UNIT_TAKE);
    assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_LOADED);
    assert_int_equal(get(&f, TASK_UNIT_LIVE_INS + 8 * 17), 117);
    task_unit_free(f.unit);
}

/* A line that is not a packet is dropped with an error, and the next packet is found. */
static void garbage_in_the_queue(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 4);
    const uint64_t none[] = {0, 1, 2}, many[] = {0xffffffff}, cut[] = {0xff9};
    assert_true(task_unit_push(f.unit, none, 3));
    assert_true(task_unit_push(f.unit, many, 1));
    push(&f, 5, 1);
    for (unsigned i = 0; i < 2; i++) {
        command(&f, TASK_UNIT_TAKE);
        assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_IDLE | TASK_UNIT_WAITS | TASK_UNIT_ERROR);
        assert_true(f.work);
        command(&f, TASK_UNIT_CLEAR);
    }
    command(&f, TASK_UNIT_TAKE);
    assert_int_equal(task_unit_packet(f.unit)->tag, 5);
    assert_int_equal(get(&f, TASK_UNIT_CREDITS), 4);
    abandon(&f);
    assert_true(task_unit_push(f.unit, cut, 1)); /* 9 registers, of which the line holds 5 */
    command(&f, TASK_UNIT_TAKE);
    assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_IDLE | TASK_UNIT_ERROR);
    task_unit_free(f.unit);
}

/* A fault at begin + 4 is answered by RESUME, another one by KILL. */
static void faults_and_answers(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 4);
    push(&f, 3, 1);
    command(&f, TASK_UNIT_TAKE);
    command(&f, TASK_UNIT_START);
    set(&f, TASK_UNIT_CAUSE, 13);
    set(&f, TASK_UNIT_VALUE, 0x5000);
    set(&f, TASK_UNIT_PC, 0x2004);
    command(&f, TASK_UNIT_FAULT);
    assert_true(f.done);
    assert_int_equal(f.last.event, TASK_UNIT_STOPPED);
    assert_int_equal(f.last.cause, 13);
    assert_int_equal(f.last.value, 0x5000);
    assert_int_equal(f.last.offset, 4);
    assert_int_equal(get(&f, TASK_UNIT_HOST_CAUSE), 13);
    assert_int_equal(get(&f, TASK_UNIT_HOST_VALUE), 0x5000);
    assert_int_equal(get(&f, TASK_UNIT_HOST_OFFSET), 4);
    assert_int_equal(get(&f, TASK_UNIT_HOST_STATUS), TASK_UNIT_FAULTED);
    assert_false(task_unit_arrive(f.unit, 0x2008)); /* the task does not run */
    assert_false(f.work);
    set(&f, TASK_UNIT_CONTROL, TASK_UNIT_RESUME);
    assert_true(f.work);
    assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_RUNNING | TASK_UNIT_ANSWERED);
    command(&f, TASK_UNIT_CLEAR);
    assert_false(f.work);
    set(&f, TASK_UNIT_PC, 0x1ff0); /* in a function before the region */
    command(&f, TASK_UNIT_FAULT);
    assert_int_equal(f.last.offset, -16);
    set(&f, TASK_UNIT_CONTROL, TASK_UNIT_KILL);
    assert_int_equal(f.last.event, TASK_UNIT_KILLED);
    assert_int_equal(f.last.tag, 3);
    assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_IDLE | TASK_UNIT_ANSWERED);
    assert_false(task_unit_kill(f.unit));
    assert_false(task_unit_resume(f.unit));
    task_unit_free(f.unit);
}

/* Each command in each state: a command that the state does not allow is an error and changes nothing. */
static void commands_out_of_place(void **state)
{
    (void)state;
    static const unsigned forward[] = {
        [TASK_UNIT_LOADED] = TASK_UNIT_START, [TASK_UNIT_ENDED] = TASK_UNIT_COMPLETE};
    struct fixture f;
    for (unsigned wanted = TASK_UNIT_IDLE; wanted <= TASK_UNIT_FAULTED; wanted++)
        for (unsigned value = 0; value <= 7; value++) {
            fixture_init(&f, 4);
            push(&f, 3, 1);
            push(&f, 4, 1);
            if (wanted >= TASK_UNIT_LOADED)
                command(&f, TASK_UNIT_TAKE);
            if (wanted >= TASK_UNIT_RUNNING)
                command(&f, TASK_UNIT_START);
            if (wanted == TASK_UNIT_ENDED)
                assert_true(task_unit_arrive(f.unit, 0x2008));
            if (wanted == TASK_UNIT_FAULTED)
                command(&f, TASK_UNIT_FAULT);
            assert_int_equal(get(&f, TASK_UNIT_STATUS), wanted | TASK_UNIT_WAITS);
            bool good = value == TASK_UNIT_CLEAR || (wanted == TASK_UNIT_IDLE && value == TASK_UNIT_TAKE) ||
                        (wanted == TASK_UNIT_RUNNING && value == TASK_UNIT_FAULT) ||
                        (value != 0 && (wanted == TASK_UNIT_LOADED || wanted == TASK_UNIT_ENDED) &&
                         value == forward[wanted]);
            set(&f, TASK_UNIT_COMMAND, value);
            if (!good)
                assert_int_equal(get(&f, TASK_UNIT_STATUS), wanted | TASK_UNIT_WAITS | TASK_UNIT_ERROR);
            else
                assert_int_equal(get(&f, TASK_UNIT_STATUS) & TASK_UNIT_ERROR, 0);
            task_unit_reset(f.unit);
            assert_int_equal(get(&f, TASK_UNIT_STATUS), TASK_UNIT_IDLE);
            assert_int_equal(get(&f, TASK_UNIT_CREDITS), 4);
            assert_false(f.work);
            task_unit_free(f.unit);
        }
}

/* A longjmp() loads sp from where a setjmp() of the region has stored it. */
static void jumps_out_of_calls(void **state)
{
    (void)state;
    struct decoder *decoder = decoder_new();
    struct stream_op store, load; /* of setjmp() and longjmp() */
    struct insn save = decode(decoder, 0x06253423), restore = decode(decoder, 0x06853103);
    stream_op_describe(&store, 0x1000, &save);
    stream_op_describe(&load, 0x1000, &restore);
    struct nucd_region out = {.begin = 0x2ff0, .end = 0x3000, .depth = 2}, many = out;
    nucd_region_follow(&out, &store, 0x5000);
    out.depth = 7;
    nucd_region_follow(&out, &load, 0x5000);
    assert_int_equal(out.depth, 2);
    out.depth = 4;
    nucd_region_follow(&out, &store, 0x5000); /* again, elsewhere */
    out.depth = 9;
    nucd_region_follow(&out, &load, 0x5000);
    assert_int_equal(out.depth, 4);
    assert_false(nucd_region_left(&out, 0x9000));
    nucd_region_follow(&out, &load, 0x5008);
    assert_true(nucd_region_left(&out, 0x2ff0));
    for (unsigned i = 0; i <= NUCD_REGION_PLACES; i++) {
        many.depth = i;
        nucd_region_follow(&many, &store, 0x6000 + 8 * i);
    }
    nucd_region_follow(&many, &load, 0x6008); /* the oldest that is kept */
    assert_int_equal(many.depth, 1);
    many.depth = 5;
    nucd_region_follow(&many, &load, 0x6000); /* older: its depth is not known */
    assert_int_equal(many.depth, 5);
    decoder_free(decoder);
}

/* Every kind of jump and its effect on the call depth, from table 2.1 of the unprivileged specification: only
 * x1 and x5 are link registers. */
static void call_depth(void **state)
{
    (void)state;
    static const struct {
        uint32_t bits;
        int step;
    } jumps[] = {
        {0x008000ef, 1},  /* jal ra, +8 */
        {0x008002ef, 1},  /* jal t0, +8 */
        {0x0080006f, 0},  /* j +8 */
        {0x0080036f, 0},  /* jal t1, +8 */
        {0x00008067, -1}, /* ret */
        {0x00028067, -1}, /* jr t0 */
        {0x00030067, 0},  /* jr t1 */
        {0x000300e7, 1},  /* jalr ra, t1 */
        {0x000302e7, 1},  /* jalr t0, t1 */
        {0x000080e7, 1},  /* jalr ra, ra: push only */
        {0x000282e7, 1},  /* jalr t0, t0 */
        {0x000280e7, 0},  /* jalr ra, t0: pop, then push */
        {0x000082e7, 0},  /* jalr t0, ra */
        {0x00008367, -1}, /* jalr t1, ra */
        {0x00000013, 0},  /* nop */
        {0x00000463, 0},  /* beqz x0, +8 */
    };
    struct decoder *decoder = decoder_new();
    for (unsigned i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        struct insn insn = decode(decoder, jumps[i].bits);
        struct stream_op op;
        stream_op_describe(&op, 0x1000, &insn);
        struct nucd_region region = {.end = 0x3000, .depth = 5};
        nucd_region_follow(&region, &op, 0);
        assert_int_equal(region.depth, 5 + jumps[i].step);
        assert_false(nucd_region_ends(&region, 0x3000));
    }
    decoder_free(decoder);
    struct nucd_region region = {.begin = 0x2ff0, .end = 0x3000};
    assert_true(nucd_region_ends(&region, 0x3000));
    assert_false(nucd_region_ends(&region, 0x3002));
    assert_false(nucd_region_left(&region, 0x2ff0) || nucd_region_left(&region, 0x3000));
    assert_true(nucd_region_left(&region, 0x2fee) && nucd_region_left(&region, 0x3002));
    region.depth = 1;
    assert_false(nucd_region_left(&region, 0x2fee) || nucd_region_left(&region, 0x3002));
    region.depth = -1; /* more returns than calls */
    assert_false(nucd_region_ends(&region, 0x3000));
    assert_true(nucd_region_left(&region, 0x3000));
}

static void configurations_are_checked(void **state)
{
    (void)state;
    struct error err;
    const struct task_unit_config config = {.queue_lines = 1};
    assert_null(task_unit_new(&config, &err));
    assert_string_equal(err.text, "queue_lines must be 2 to 1024, not 1");
}

/* A core with a data cache: completion is reported, and the next task begins, when the cache is empty. */
static void the_data_cache_is_emptied(void **state)
{
    (void)state;
    struct fixture f;
    struct error err;
    fixture_init(&f, 4);
    task_unit_free(f.unit);
    const struct task_unit_config config = {.queue_lines = 4,
                                            .work = {set_work, &f, 1},
                                            .done = {set_done, &f, 2},
                                            .empty = empty_asked,
                                            .context = &f};
    f.unit = task_unit_new(&config, &err);
    observe(&f);
    push(&f, 1, 2);
    push(&f, 2, 2);
    command(&f, TASK_UNIT_TAKE);
    command(&f, TASK_UNIT_START);
    assert_int_equal(f.starts, 1);
    assert_true(task_unit_arrive(f.unit, 0x2008));
    assert_true(f.work);
    command(&f, TASK_UNIT_COMPLETE);
    assert_false(f.work);
    assert_int_equal(f.empties, 1);
    assert_false(f.done);
    task_unit_emptied(f.unit);
    assert_true(f.work && f.done);
    assert_int_equal(f.last.event, TASK_UNIT_COMPLETED);

    /* After KILL, the cache is emptied when the firmware reports that the core has left the region. */
    command(&f, TASK_UNIT_TAKE);
    assert_true(task_unit_kill(f.unit));
    assert_int_equal(f.empties, 1);
    push(&f, 3, 2);
    command(&f, TASK_UNIT_TAKE); /* not before CLEAR */
    assert_int_equal(task_unit_state(f.unit), TASK_UNIT_IDLE);
    command(&f, TASK_UNIT_CLEAR);
    assert_int_equal(f.empties, 2);
    assert_false(f.work);
    assert_int_equal(get(&f, TASK_UNIT_HOST_STATUS) & (TASK_UNIT_ANSWERED | TASK_UNIT_EMPTYING),
                     TASK_UNIT_EMPTYING);
    task_unit_emptied(f.unit);
    assert_int_equal(get(&f, TASK_UNIT_HOST_STATUS) & TASK_UNIT_EMPTYING, 0);
    assert_true(f.work);
    command(&f, TASK_UNIT_TAKE);
    assert_int_equal(task_unit_packet(f.unit)->tag, 3);
    task_unit_free(f.unit);
}

/* Registers 3, 4, 10 and 11 are handed over; frm is 2. */
static void the_summary_says_how_to_start(void **state)
{
    (void)state;
    struct fixture f;
    const uint64_t registers = 0xc18, fcsr = UINT64_C(2) << 37, code = UINT64_C(1) << 40;
    fixture_init(&f, 4);
    push(&f, 1, 2);
    assert_int_equal(get(&f, TASK_UNIT_SUMMARY) & 1, 0);
    command(&f, TASK_UNIT_TAKE);
    assert_int_equal(get(&f, TASK_UNIT_SUMMARY), registers | fcsr | 1);
    task_unit_change_code(f.unit);
    assert_int_equal(get(&f, TASK_UNIT_SUMMARY), registers | fcsr | 1 | code);
    command(&f, TASK_UNIT_START);
    assert_int_equal(get(&f, TASK_UNIT_SUMMARY), registers | fcsr);
    task_unit_free(f.unit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_from_first_to_last), cmocka_unit_test(packets_of_one_transfer),
        cmocka_unit_test(a_long_stream_of_packets),  cmocka_unit_test(transfers_by_stores),
        cmocka_unit_test(garbage_in_the_queue),      cmocka_unit_test(faults_and_answers),
        cmocka_unit_test(commands_out_of_place),     cmocka_unit_test(call_depth),
        cmocka_unit_test(jumps_out_of_calls),        cmocka_unit_test(configurations_are_checked),
        cmocka_unit_test(the_data_cache_is_emptied), cmocka_unit_test(the_summary_says_how_to_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
