/* Kanata files: read back by a parser of the test's own and compared with the notes that went in. */
#include "isa/decode.h"
#include "tests/debug/trace/rig.h"
#include "tests/isa/random.h"

enum { NOTES = 3000, ADDI = 0x00150513 /* addi a0, a0, 1 */, BEQ = 0x00b50863 /* beq a0, a1, . + 16 */ };

static struct core_note note_of(uint64_t number, uint32_t bits, const uint64_t cycles[5])
{
    struct decoder *decoder = decoder_new();
    struct core_note note = {.number = number,
                             .pc = 0x80000000 + 4 * number,
                             .insn = decode(decoder, bits),
                             .fetch = cycles[0],
                             .dispatch = cycles[1],
                             .issue = cycles[2],
                             .complete = cycles[3],
                             .retire = cycles[4]};
    decoder_free(decoder);
    return note;
}

/* Three instructions, worked out by hand:
 *   0: fetched in 7, dispatched 9, issued 9, result 10, retired 12
 *   1: fetched in 7, dispatched 9, issued 10, result 11, retired 12
 *   2: fetched in 13, all stages one cycle */
static void three_by_hand(void **state)
{
    static const char expected[] = "Kanata\t0004\n"
                                   "C=\t7\n"
                                   "I\t0\t40\t3\n"
                                   "L\t0\t0\t800000a0: addi a0,a0,1\n"
                                   "L\t0\t1\tinstruction 40\n"
                                   "S\t0\t0\tF\n"
                                   "I\t1\t41\t3\n"
                                   "L\t1\t0\t800000a4: beq a0,a1,0x800000b4 [mispredicted]\n"
                                   "L\t1\t1\tinstruction 41\n"
                                   "S\t1\t0\tF\n"
                                   "C\t1\n"
                                   "S\t0\t0\tDc\nS\t1\t0\tDc\n"
                                   "C\t1\n"
                                   "S\t0\t0\tX\nS\t1\t0\tIs\n"
                                   "C\t1\n"
                                   "S\t0\t0\tCm\nS\t1\t0\tX\n"
                                   "C\t1\n"
                                   "S\t1\t0\tCm\n"
                                   "C\t1\n"
                                   "R\t0\t0\t0\nR\t1\t1\t0\n"
                                   "C\t1\n"
                                   "I\t2\t42\t3\n"
                                   "L\t2\t0\t800000a8: addi a0,a0,1\n"
                                   "L\t2\t1\tinstruction 42\n"
                                   "S\t2\t0\tF\n"
                                   "C\t1\nS\t2\t0\tIs\n"
                                   "C\t1\nS\t2\t0\tX\n"
                                   "C\t1\nS\t2\t0\tCm\n"
                                   "C\t1\nR\t2\t2\t0\n";
    struct trace *trace = trace_new(state, "konata", "hand");
    struct core core = {.parts.number = 3};
    struct core_passages *passages = core_passages_new(trace_tracks(trace), "host.0");
    struct core_observer observer = *core_passages_observer(passages);
    struct core_note notes[] = {note_of(40, ADDI, (uint64_t[]){7, 9, 9, 10, 12}),
                                note_of(41, BEQ, (uint64_t[]){7, 9, 10, 11, 12}),
                                note_of(42, ADDI, (uint64_t[]){13, 14, 15, 16, 17})};
    notes[1].mispredicted = true;
    assert_null(observer.stalled);
    for (unsigned i = 0; i < 3; i++)
        observer.retired(observer.context, &core, &notes[i]);
    trace_done(trace, 0);
    core_passages_free(passages);
    char *text = read_text(state, "hand");
    assert_string_equal(text, expected);
    free(text);
}

static uint64_t next_random(uint64_t *random)
{
    random_step(random);
    return *random >> 33;
}

/* An out-of-order core's notes: any latency, retirement in order. */
static void make_notes(struct core_note *notes, uint64_t seed)
{
    uint64_t fetch = 100, retired = 0;
    for (unsigned i = 0; i < NOTES; i++) {
        uint64_t cycles[5];
        fetch += next_random(&seed) % 4 == 0 ? next_random(&seed) % 30 : 0;
        cycles[0] = fetch;
        for (unsigned stage = 1; stage < 5; stage++)
            cycles[stage] =
                cycles[stage - 1] + next_random(&seed) % (next_random(&seed) % 8 ? 4 : 200) * (stage != 2);
        cycles[4] = retired = cycles[4] > retired ? cycles[4] : retired;
        notes[i] = note_of(i, i % 7 ? ADDI : BEQ, cycles);
    }
}

/* What the parser has seen of an instruction. */
struct seen {
    bool begun, labelled, retired;
    unsigned stages;
    uint64_t begin[6]; /* cycle of each stage, F to Cm and retirement; UINT64_MAX: none */
};

static unsigned stage_number(const char *name)
{
    static const char *const names[] = {"F", "Dc", "Is", "X", "Cm"};
    for (unsigned i = 0; i < 5; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    fail_msg("no stage: %s", name);
    return 0;
}

static struct seen *instruction(struct seen *seen, const char *text)
{
    uint64_t id = strtoull(text, NULL, 10);
    assert_true(id < NOTES);
    return &seen[id];
}

static void parse_line(char *line, uint64_t *cycle, struct seen *seen)
{
    char *fields[5] = {NULL}, *at = NULL;
    unsigned count = 0;
    for (char *field = strtok_r(line, "\t", &at); field && count < 5; field = strtok_r(NULL, "\t", &at))
        fields[count++] = field;
    assert_true(count >= 2);
    if (strcmp(fields[0], "C") == 0) {
        uint64_t step = strtoull(fields[1], NULL, 10);
        assert_true(step > 0 && step < 1000000);
        *cycle += step;
        return;
    }
    struct seen *of = instruction(seen, fields[1]);
    assert_false(of->retired);
    assert_int_equal(of->begun, fields[0][0] != 'I');
    if (fields[0][0] == 'I') {
        of->begun = true;
        assert_true(of == seen || of[-1].begun); /* ids ascend */
    } else if (fields[0][0] == 'L') {
        of->labelled = true;
        assert_int_equal(count, 4);
    } else if (fields[0][0] == 'S') {
        assert_string_equal(fields[2], "0");
        assert_true(of->labelled);
        unsigned stage = stage_number(fields[3]);
        assert_true(of->begin[stage] == UINT64_MAX);
        of->begin[stage] = *cycle;
        of->stages++;
    } else {
        assert_string_equal(fields[0], "R");
        assert_string_equal(fields[1], fields[2]);
        assert_string_equal(fields[3], "0");
        assert_true(of->stages > 0);
        of->retired = true;
        of->begin[5] = *cycle;
    }
}

static void check_note(const struct seen *seen, const struct core_note *note)
{
    const uint64_t expected[6] = {note->fetch, note->fetch + 1, note->dispatch,
                                  note->issue, note->complete,  note->retire};
    assert_true(seen->retired);
    for (unsigned i = 0; i < 6; i++)
        if (seen->begin[i] != UINT64_MAX && seen->stages > 1)
            assert_int_equal(seen->begin[i], expected[i]);
    /* A stage that is not there has no length. */
    if (note->fetch < note->dispatch)
        assert_int_equal(seen->begin[0], note->fetch);
    if (note->fetch + 1 < note->dispatch)
        assert_int_equal(seen->begin[1], note->fetch + 1);
    for (unsigned i = 2; i < 5; i++)
        if (expected[i] < expected[i + 1])
            assert_int_equal(seen->begin[i], expected[i]);
}

static void check_file(void **state, const char *name, const struct core_note *notes, unsigned count)
{
    char *text = read_text(state, name), *at = NULL;
    struct seen *seen = calloc(NOTES, sizeof *seen);
    for (unsigned i = 0; i < NOTES; i++)
        memset(seen[i].begin, 0xff, sizeof seen[i].begin);
    assert_string_equal(strtok_r(text, "\n", &at), "Kanata\t0004");
    char *start = strtok_r(NULL, "\n", &at);
    assert_int_equal(strncmp(start, "C=\t", 3), 0);
    uint64_t cycle = strtoull(start + 3, NULL, 10);
    for (char *line; (line = strtok_r(NULL, "\n", &at));)
        parse_line(line, &cycle, seen);
    for (unsigned i = 0; i < count; i++)
        check_note(&seen[i], &notes[i]);
    for (unsigned i = count; i < NOTES; i++)
        assert_false(seen[i].begun);
    free(seen);
    free(text);
}

/* Two cores, told in turn, have a file each, and each reads back as what went in. */
static void every_note_reads_back(void **state)
{
    static struct core_note notes[2][NOTES];
    struct trace *trace = trace_new(state, "konata", "random");
    struct core_passages *passages[2];
    struct core_observer observers[2];
    struct core core = {0};
    struct error err;
    for (unsigned i = 0; i < 2; i++) {
        make_notes(notes[i], 17 + i);
        passages[i] = core_passages_new(trace_tracks(trace), i ? "host.1" : "host.0");
        observers[i] = *core_passages_observer(passages[i]);
    }
    for (unsigned i = 0; i < NOTES; i++)
        for (unsigned j = 0; j < 2; j++)
            observers[j].retired(observers[j].context, &core, &notes[j][i]);
    assert_false(trace_warning(trace, &err));
    trace_done(trace, 0);
    core_passages_free(passages[0]);
    core_passages_free(passages[1]);
    check_file(state, "random", notes[0], NOTES);
    check_file(state, "random.host.1", notes[1], NOTES);
}

static void a_limit_leaves_the_rest_out(void **state)
{
    static struct core_note notes[NOTES];
    struct trace *trace = trace_new(state, "konata", "limit");
    struct core_passages *passages = core_passages_new(trace_tracks(trace), "host.0");
    struct core_observer observer = *core_passages_observer(passages);
    struct core core = {0};
    struct error err;
    make_notes(notes, 5);
    trace_set_limit(trace, 1000);
    for (unsigned i = 0; i < NOTES; i++)
        observer.retired(observer.context, &core, &notes[i]);
    assert_true(trace_warning(trace, &err));
    assert_non_null(strstr(err.text, "the first 1000 instructions; 2000 more"));
    trace_done(trace, 0);
    core_passages_free(passages);
    check_file(state, "limit", notes, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(three_by_hand, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(every_note_reads_back, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_limit_leaves_the_rest_out, folder_make, folder_remove),
    };
    return cmocka_run_group_tests_name("Kanata traces", tests, NULL, NULL);
}
