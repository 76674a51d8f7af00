/* Opening, naming and closing traces; command traces of several memories; messages. */
#include "tests/debug/trace/rig.h"

static void options_are_parsed(void **state)
{
    static const struct {
        const char *text, *kind, *path;
    } cases[] = {{"perfetto", "perfetto", NULL},
                 {"konata:a:b", "konata", "a:b"},
                 {"dram:x.trace", "dram", "x.trace"},
                 {"nucd:x.csv", "nucd", "x.csv"}};
    const char *kind, *path;
    struct error err;
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        assert_true(trace_parse(cases[i].text, &kind, &path, &err));
        assert_string_equal(kind, cases[i].kind);
        assert_true(path ? cases[i].path && strcmp(path, cases[i].path) == 0 : !cases[i].path);
    }
    assert_false(trace_parse("konta:x", &kind, &path, &err));
    assert_non_null(strstr(err.text,
                           "unknown kind 'konta'; did you mean 'konata'? Allowed: perfetto, konata, "
                           "dram, nucd"));
    assert_false(trace_parse("dram:", &kind, &path, &err));
    assert_non_null(strstr(err.text, "'dram:' lacks a file name"));
}

static void what_cannot_be_written_is_told(void **state)
{
    for (const char *const *kind = trace_kinds; *kind; kind++) {
        struct error err;
        assert_null(trace_open(*kind, in_folder(state, "nowhere/x"), &err));
        assert_non_null(strstr(err.text, "cannot write"));
        assert_non_null(strstr(err.text, "nowhere/x: No such file or directory"));
        if (access("/dev/full", W_OK) != 0)
            continue;
        struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
        struct trace *trace = trace_open(*kind, "/dev/full", &err);
        assert_non_null(trace);
        struct track_sink *sink = trace_tracks(trace);
        struct dram_trace *commands = track_takes(sink, TRACK_TEXT)
                                          ? dram_trace_new(track_stream(sink, TRACK_TEXT, "memory"), &config)
                                          : NULL;
        if (track_takes(sink, TRACK_TABLE))
            (void)track_table(sink, "tasks", (const char *const[]){"task"}, 1);
        assert_true(trace_ready(trace, &err));
        assert_false(trace_close(trace, 0, &err));
        dram_trace_free(commands);
        assert_non_null(strstr(err.text, "writing /dev/full failed: No space left on device"));
    }
}

/* A second stream's file may fail though the first did not: FILE.NAME is a folder. */
static void later_files_may_fail(void **state)
{
    static const char *const kinds[] = {"konata", "dram"};
    assert_int_equal(mkdir(in_folder(state, "x.host.1"), 0700), 0);
    for (unsigned i = 0; i < 2; i++) {
        struct trace *trace = trace_new(state, kinds[i], "x");
        struct error err;
        (void)track_stream(trace_tracks(trace), TRACK_PASSAGES, "host.0");
        assert_true(trace_ready(trace, &err));
        struct track lost = track_stream(trace_tracks(trace), TRACK_PASSAGES, "host.1");
        assert_false(trace_ready(trace, &err));
        assert_non_null(strstr(err.text, "x.host.1: Is a directory"));
        if (i)
            assert_false(track_text(lost, "line"));
        trace_done(trace, 0);
    }
}

/* A part that does not ask what a sink takes does no harm. */
static void timelines_are_left_out_elsewhere(void **state)
{
    struct trace *trace = trace_new(state, "dram", "y");
    struct error err;
    struct track line = track_line(track_group(trace_tracks(trace), "host.0"), "marks");
    assert_false(track_instant(line, "mark", 5));
    assert_null(trace_tracks(NULL));
    assert_true(trace_ready(NULL, &err));
    trace_done(trace, 0);
    assert_true(trace_close(NULL, 0, &err));
    char *text = read_text(state, "y");
    assert_string_equal(text, "");
    free(text);
}

/* Cells of every type; quotes as RFC 4180 has them; times without trailing zeros. A second table has its own file. */
static void tables_are_comma_separated(void **state)
{
    static const char *const columns[] = {"task", "pc", "time, ns", "place"};
    const struct track_cell rows[][4] = {
        {{TRACK_CELL_NUMBER, 17, NULL},
         {TRACK_CELL_ADDRESS, 0x8000000000000010, NULL},
         {TRACK_CELL_TIME, 1500000, NULL},
         {TRACK_CELL_TEXT, 0, "main"}},
        {{TRACK_CELL_EMPTY, 3, NULL},
         {TRACK_CELL_ADDRESS, 0, NULL},
         {TRACK_CELL_TIME, 2000001, NULL},
         {TRACK_CELL_TEXT, 0, "a, \"b\"\n"}},
        {{TRACK_CELL_NUMBER, UINT64_MAX, NULL},
         {TRACK_CELL_ADDRESS, 0x10, NULL},
         {TRACK_CELL_TIME, 3000000, NULL},
         {TRACK_CELL_TEXT, 0, ""}},
    };
    struct trace *trace = trace_new(state, "nucd", "t.csv");
    struct track_sink *sink = trace_tracks(trace);
    assert_true(track_takes(sink, TRACK_TABLE) && !track_takes(sink, TRACK_TIMELINE));
    struct track table = track_table(sink, "tasks", columns, 4), other = track_table(sink, "b", columns, 1);
    for (unsigned i = 0; i < 3; i++)
        assert_true(track_row(table, rows[i], 4));
    assert_true(track_row(other, rows[0], 1));
    trace_done(trace, 0);
    char *text = read_text(state, "t.csv");
    assert_string_equal(text, "task,pc,\"time, ns\",place\n"
                              "17,0x8000000000000010,1.5,main\n"
                              ",0x0,2.000001,\"a, \"\"b\"\"\n\"\n"
                              "18446744073709551615,0x10,3,\n");
    free(text);
    text = read_text(state, "t.csv.b");
    assert_string_equal(text, "task\n17\n");
    free(text);
}

static unsigned count_commands(void **state, const char *name)
{
    FILE *in = fopen(in_folder(state, name), "r");
    const struct dram_config config = one_channel(DRAM_STANDARD_gddr5);
    const struct dram_command_row *commands = dram_commands(&config);
    struct dram_record record;
    struct error err;
    unsigned long line = 0;
    unsigned count = 0;
    assert_non_null(in);
    for (;; count++) {
        assert_true(dram_trace_read(in, commands, &record, &line, &err));
        if (record.command == DRAM_COMMANDS)
            break;
    }
    fclose(in);
    return count;
}

static void each_memory_has_a_file(void **state)
{
    struct trace *trace = trace_new(state, "dram", "commands");
    for (unsigned i = 0; i < 2; i++) {
        struct dram_config config = one_channel(i ? DRAM_STANDARD_hbm1 : DRAM_STANDARD_gddr5);
        struct dram_trace *commands =
            dram_trace_new(track_stream(trace_tracks(trace), TRACK_TEXT, i ? "stack" : "memory"), &config);
        struct rig *rig = rig_new(&config, 1, dram_trace_observer(commands));
        for (unsigned j = 0; j <= i; j++) { /* one read: ACT, RD; then a hit: RD */
            (void)probe_send(rig->probes, MEM_READ, address_of(rig, 0, 0, 1, j), 32);
            rig_until(rig, 200 * (j + 1));
        }
        rig_free(rig);
        dram_trace_free(commands);
    }
    trace_done(trace, 0);
    assert_int_equal(count_commands(state, "commands"), 2);
    assert_int_equal(count_commands(state, "commands.stack"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_parsed),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_told, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(later_files_may_fail, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(timelines_are_left_out_elsewhere, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(tables_are_comma_separated, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(each_memory_has_a_file, folder_make, folder_remove),
    };
    return cmocka_run_group_tests_name("trace files", tests, NULL, NULL);
}
