/* The checker finds errors in traces that were correct before a command was moved; traces are read
 * carefully. */
#include "tests/dram/rig.h"
#include "tests/dram/text_sink.h"

/* A short trace of the memory, as records. */
struct recording {
    struct dram_record records[2000];
    unsigned count;
};

static void record(void *context, const struct dram_record *command)
{
    struct recording *recording = context;
    if (recording->count < 2000)
        recording->records[recording->count++] = *command;
}

static void send_again(struct probe *probe, uint64_t now)
{
    struct rig *rig = probe->rig;
    (void)now;
    uint64_t random = rig_random(rig), bytes = dram_config_bytes(&rig->memory.common.config);
    (void)probe_send(probe, random % 3 ? MEM_READ : MEM_WRITE, (random >> 3) * 64 % bytes, 64);
}

static struct recording *recording_of(const struct dram_config *config)
{
    struct recording *recording = calloc(1, sizeof *recording);
    struct dram_observer observer = {.command = record, .context = recording};
    struct rig *rig = rig_new(config, 20, &observer);
    for (unsigned i = 0; i < 20; i++) {
        rig->probes[i].then = send_again;
        send_again(&rig->probes[i], 0);
    }
    while (recording->count < 2000)
        (void)event_queue_step(&rig->queue);
    rig_free(rig);
    return recording;
}

static uint64_t violations(const struct dram_config *config, const struct dram_record *records,
                           unsigned count)
{
    struct dram_checker checker;
    dram_checker_init(&checker, config);
    for (unsigned i = 0; i < count; i++)
        (void)dram_checker_command(&checker, &records[i]);
    uint64_t found = checker.violations;
    dram_checker_free(&checker);
    return found;
}

/* A busy controller issues each command as early as it may: most commands break a rule if they are moved one
 * clock ahead. The others waited for something else, such as the data bus or the controller's turn. */
static void one_clock_early_is_found(void **state)
{
    (void)state;
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct dram_config config = one_channel(standard);
        struct recording *recording = recording_of(&config);
        assert_int_equal(violations(&config, recording->records, 2000), 0);
        unsigned found = 0, tried = 0;
        for (unsigned i = 500; i < 1500; i += 3, tried++) {
            recording->records[i].cycle--;
            found += violations(&config, recording->records, i + 1) > 0;
            recording->records[i].cycle++;
        }
        print_message("%-12s %u of %u\n", dram_standard_name(standard), found, tried);
        assert_true(found > tried / 2);
        free(recording);
    }
}

static void wrong_states_are_found(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    static const struct {
        enum dram_command commands[4];
        uint32_t row; /* row of the last command */
        const char *rule;
    } cases[] = {
        {{DRAM_PREA, DRAM_REF, DRAM_ACT, DRAM_RD}, 0, ""},
        {{DRAM_PREA, DRAM_REF, DRAM_REF, DRAM_RD}, 0, "the bank is closed"},
        {{DRAM_REF, DRAM_ACT, DRAM_RD, DRAM_ACT}, 0, "the bank is open already"},
        {{DRAM_REF, DRAM_ACT, DRAM_RDA, DRAM_RD}, 0, "the bank is closed"},
        {{DRAM_REF, DRAM_ACT, DRAM_RD, DRAM_WR}, 3, "another row is open"},
        {{DRAM_REF, DRAM_ACT, DRAM_RD, DRAM_REF}, 0, "a bank of the rank is open"},
        {{DRAM_REF, DRAM_ACT, DRAM_RD, DRAM_WR}, 65536, "the memory has no such place"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dram_checker checker;
        dram_checker_init(&checker, &config);
        for (unsigned j = 0; j < 4; j++)
            (void)dram_checker_command(&checker, &(struct dram_record){.cycle = 1000 * j,
                                                                       .command = cases[i].commands[j],
                                                                       .row = j == 3 ? cases[i].row : 0});
        assert_int_equal(checker.violations, cases[i].rule[0] ? 1 : 0);
        if (!strstr(checker.first.text, cases[i].rule))
            fail_msg("%s: %s", cases[i].rule, checker.first.text);
        dram_checker_free(&checker);
    }
}

static void missing_refresh_is_found(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    for (uint64_t late = 0; late < 2; late++) {
        struct dram_checker checker;
        dram_checker_init(&checker, &config);
        struct dram_record refresh = {.cycle = 100, .command = DRAM_REF};
        struct dram_record activate = {.cycle = 100 + 9 * 6240 + late, .command = DRAM_ACT};
        assert_true(dram_checker_command(&checker, &refresh));
        assert_true(dram_checker_command(&checker, &activate) == !late);
        dram_checker_free(&checker);
    }
}

/* A written trace can be read back; the first error of a file is reported with its line. */
static void traces_are_read_back(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_hbm1);
    const struct dram_command_row *commands = dram_commands(&config);
    config.refresh = DRAM_REFRESH_BANK;
    struct recording *recording = recording_of(&config);
    struct text_sink sink;
    FILE *file = tmpfile();
    struct dram_trace *trace = text_sink_trace(&sink, file, &config);
    const struct dram_observer *observer = dram_trace_observer(trace);
    for (unsigned i = 0; i < recording->count; i++)
        observer->command(observer->context, &recording->records[i]);
    rewind(file);
    unsigned long line = 0;
    struct error err;
    for (unsigned i = 0; i < recording->count; i++) {
        struct dram_record command = recording->records[i], again;
        assert_true(dram_trace_read(file, commands, &again, &line, &err));
        if (command.command == DRAM_PRE || command.command == DRAM_REFB)
            command.row = command.column = 0;
        assert_true(again.cycle == command.cycle && again.command == command.command &&
                    again.group == command.group && again.bank == command.bank && again.row == command.row &&
                    again.column == command.column && again.rank == command.rank);
    }
    struct dram_record end;
    assert_true(dram_trace_read(file, commands, &end, &line, &err));
    assert_int_equal(end.command, DRAM_COMMANDS);
    assert_int_equal(line, 2 + recording->count);
    dram_trace_free(trace);
    (void)fclose(file);
    free(recording);
}

static void hostile_traces(void **state)
{
    (void)state;
    static const char *const lines[] = {"x\n",
                                        "1\n",
                                        "1 0 ACT 0 0 0 0\n",
                                        "1 0 ACT 0 0 0 0 - 7\n",
                                        "1 0 DANCE 0 0 0 0 -\n",
                                        "1 0 ACT 0 0 64 0 -\n",
                                        "1 0 ACT 9 0 0 0 -\n",
                                        "1 0 ACT 0 0 0 99999999999999999999 -\n",
                                        "-1 0 ACT 0 0 0 0 -\n",
                                        "1 0 ACT 0 0 0 0x1 -\n"};
    const struct dram_config config = one_channel(DRAM_STANDARD_hbm1);
    const struct dram_command_row *commands = dram_commands(&config);
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "# comment\n\n%s", lines[i]);
        FILE *file = fmemopen(text, strlen(text), "r");
        struct dram_record command;
        struct error err = {""};
        unsigned long line = 0;
        assert_false(dram_trace_read(file, commands, &command, &line, &err));
        assert_non_null(strstr(err.text, "line 3"));
        (void)fclose(file);
    }
    char text[1000];
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    FILE *file = fmemopen(text, sizeof text - 1, "r");
    struct dram_record command;
    struct error err;
    unsigned long line = 0;
    assert_false(dram_trace_read(file, commands, &command, &line, &err));
    (void)fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_clock_early_is_found), cmocka_unit_test(wrong_states_are_found),
        cmocka_unit_test(missing_refresh_is_found), cmocka_unit_test(traces_are_read_back),
        cmocka_unit_test(hostile_traces),
    };
    return cmocka_run_group_tests_name("DRAM checker and traces", tests, NULL, NULL);
}
