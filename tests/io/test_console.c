/* The console: files, pipes, terminals, records and replays. */
#include "tests/dev/rig.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/io/console.h"

/* A folder, and the machine's current moment. */
struct place {
    char path[64], file[96], record[96];
    struct moment now;
};

static struct moment present(void *context)
{
    return ((struct place *)context)->now;
}

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    if (!place)
        return -1;
    (void)snprintf(place->path, sizeof place->path, "%s/console-test-XXXXXX", P_tmpdir);
    if (!mkdtemp(place->path))
        return -1;
    (void)snprintf(place->file, sizeof place->file, "%s/input", place->path);
    (void)snprintf(place->record, sizeof place->record, "%s/record", place->path);
    *state = place;
    return 0;
}

static int drop_place(void **state)
{
    struct place *place = *state;
    (void)remove(place->file);
    (void)remove(place->record);
    int status = rmdir(place->path);
    free(place);
    return status;
}

static void write_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

enum { PATIENCE = 300000 };

static struct console *open_with(struct place *place, int input, int output, bool live, const char *record,
                                 const char *replay)
{
    struct error err = {.text = ""};
    struct console *console = console_new(&(struct console_options){.input = input,
                                                                    .output = output,
                                                                    .live = live,
                                                                    .patience = PATIENCE,
                                                                    .record = record,
                                                                    .replay = replay,
                                                                    .moment = present,
                                                                    .context = place},
                                          &err);
    if (!console)
        fail_msg("%s", err.text);
    return console;
}

static struct console *open_console(struct place *place, int input, int output, const char *record,
                                    const char *replay)
{
    return open_with(place, input, output, false, record, replay);
}

static void close_console(struct console *console)
{
    struct error err = {.text = ""};
    if (!console_close(console, &err))
        fail_msg("%s", err.text);
}

static enum console_state poll_at(struct place *place, struct console *console, uint64_t instructions,
                                  uint64_t ticks)
{
    struct error err;
    place->now = (struct moment){instructions, ticks};
    return console_poll(console, &err);
}

static void assert_next(struct console *console, int byte)
{
    uint8_t got = 0;
    bool any = console_get(console, &got);
    assert_int_equal(any ? got : -1, byte);
}

static void a_file_is_there_at_once(void **state)
{
    struct place *place = *state;
    write_file(place->file, "a\0\xff", 3);
    int file = open(place->file, O_RDONLY);
    struct console *console = open_console(place, file, -1, NULL, NULL);
    assert_next(console, 'a');
    assert_true(console_wait(console, -1));
    assert_next(console, 0);
    assert_next(console, 0xff);
    assert_next(console, -1);
    assert_false(console_wait(console, -1));
    assert_true(console_input(console) == -1 && !console_interactive(console));
    close_console(console);
    assert_int_equal(close(file), 0);
}

static void without_input_nothing_comes(void **state)
{
    struct console *console = open_console(*state, -1, -1, NULL, NULL);
    assert_next(console, -1);
    assert_false(console_wait(console, -1));
    console_put(console, 'x');
    close_console(console);
}

static void a_live_pipe_is_looked_at_each_millisecond(void **state)
{
    struct place *place = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct console *console = open_with(place, ends[0], -1, true, NULL, NULL);
    assert_int_equal(poll_at(place, console, 0, 0), CONSOLE_RUNNING);
    assert_int_equal(write(ends[1], "\1xyz", 4), 4); /* Ctrl-A is no escape in a pipe */
    assert_int_equal(poll_at(place, console, 1, 9999), CONSOLE_RUNNING);
    assert_next(console, -1);
    assert_int_equal(poll_at(place, console, 2, 10000), CONSOLE_RUNNING);
    assert_next(console, 1);
    assert_next(console, 'x');
    assert_next(console, 'y');
    assert_next(console, 'z');
    assert_next(console, -1);
    assert_true(console_wait(console, 0)); /* more may come */
    assert_int_equal(console_input(console), ends[0]);
    assert_int_equal(write(ends[1], "!", 1), 1);
    assert_true(console_wait(console, -1));
    assert_int_equal(poll_at(place, console, 2, 10001),
                     CONSOLE_RUNNING); /* a wait makes the next poll read the pipe */
    assert_next(console, '!');
    assert_int_equal(close(ends[1]), 0);
    assert_true(console_wait(console, -1));
    assert_int_equal(poll_at(place, console, 2, 10002), CONSOLE_RUNNING);
    assert_false(console_wait(console, -1)); /* end of input */
    close_console(console);
    assert_int_equal(close(ends[0]), 0);
}

/* The other end writes after it has read output. */
static void a_pipe_is_waited_for(void **state)
{
    struct place *place = *state;
    int in[2], out[2], status;
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        bool good = read(out[0], &byte, 1) == 1 && usleep(50000) == 0 && write(in[1], "ab", 2) == 2;
        _exit(good ? 0 : 1);
    }
    assert_int_equal(close(in[1]), 0);
    struct console *console = open_console(place, in[0], out[1], NULL, NULL);
    (void)poll_at(place, console, 1, 1);
    console_put(console, '>');
    assert_next(console, 'a');
    assert_next(console, -1); /* only one byte per poll point */
    assert_true(console_wait(console, -1) && console_input(console) == -1);
    (void)poll_at(place, console, 2, 1);
    assert_next(console, 'b');
    (void)poll_at(place, console, 3, 1);
    assert_next(console, -1);
    assert_false(console_wait(console, -1)); /* end of input */
    close_console(console);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    (void)close(in[0]);
    (void)close(out[0]);
    (void)close(out[1]);
}

/* Whether and when the other end has written makes no difference before the moment at which the guest asks. */
static void a_silent_pipe_holds_up_nobody_who_only_waits(void **state)
{
    struct place *place = *state;
    int in[2];
    uint8_t byte;
    assert_int_equal(pipe(in), 0);
    struct console *console = open_console(place, in[0], -1, NULL, NULL);
    (void)poll_at(place, console, 1, PATIENCE - 1);
    assert_false(console_offer(console, &byte));
    console_put(console, '.');
    (void)poll_at(place, console, 2, PATIENCE);
    assert_int_equal(write(in[1], "ab", 2), 2);
    (void)poll_at(place, console, 3, 2 * PATIENCE - 1);
    assert_false(console_offer(console, &byte));
    (void)poll_at(place, console, 4, 2 * PATIENCE);
    assert_true(console_offer(console, &byte) && byte == 'a');
    console_put(console, '.');
    (void)poll_at(place, console, 5, 2 * PATIENCE + 1);
    assert_true(console_offer(console, &byte) && byte == 'b'); /* the pipe has sent something */
    close_console(console);
    console = open_console(place, in[0], -1, NULL, NULL);
    (void)poll_at(place, console, 1, 5);
    assert_false(console_offer(console, &byte));
    assert_true(console_wait(console, -1)); /* nothing else can happen */
    assert_int_equal(write(in[1], "c", 1), 1);
    (void)poll_at(place, console, 2, 6);
    assert_true(console_offer(console, &byte) && byte == 'c');
    close_console(console);
    console = open_console(place, in[0], -1, NULL, NULL); /* a run that goes on from a snapshot */
    (void)poll_at(place, console, 7, 5 * PATIENCE);
    assert_int_equal(write(in[1], "d", 1), 1);
    assert_false(console_offer(console, &byte));
    (void)poll_at(place, console, 8, 6 * PATIENCE);
    assert_true(console_offer(console, &byte) && byte == 'd');
    close_console(console);
    assert_int_equal(close(in[0]), 0);
    assert_int_equal(close(in[1]), 0);
}

static void a_signal_ends_the_wait_for_a_pipe(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        int in[2], out[2], status;
        uint8_t byte;
        assert_int_equal(pipe(in), 0);
        assert_int_equal(pipe(out), 0);
        pid_t child = fork();
        if (child == 0) {
            (void)signal(signals[i], SIG_DFL);
            struct console *console = open_console(*state, in[0], out[1], NULL, NULL);
            console_put(console, '>');
            (void)console_get(console, &byte);
            _exit(0);
        }
        assert_int_equal(read(out[0], &byte, 1), 1);
        assert_int_equal(kill(child, signals[i]), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
        for (unsigned end = 0; end < 2; end++) {
            (void)close(in[end]);
            (void)close(out[end]);
        }
    }
}

static void output_arrives_in_order(void **state)
{
    struct place *place = *state;
    int file = open(place->file, O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct console *console = open_console(place, -1, file, NULL, NULL);
    for (unsigned i = 0; i < 10000; i++)
        console_put(console, (uint8_t)(i % 251));
    close_console(console);
    uint8_t bytes[10001];
    assert_int_equal(pread(file, bytes, sizeof bytes, 0), 10000);
    for (unsigned i = 0; i < 10000; i++)
        assert_int_equal(bytes[i], i % 251);
    assert_int_equal(close(file), 0);
}

static void lost_output_is_told(void **state)
{
    struct place *place = *state;
    struct error err;
    int ends[2];
    (void)signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(close(ends[0]), 0);
    struct console *console = open_console(place, -1, ends[1], NULL, NULL);
    console_put(console, 'x');
    assert_int_equal(console_poll(console, &err), CONSOLE_FAILED);
    assert_string_equal(err.text, "console: the output cannot be written: Broken pipe");
    assert_false(console_close(console, &err));
    assert_int_equal(close(ends[1]), 0);
}

/* Waits up to two seconds until the terminal is in raw mode (`raw`) or not. Returns whether it is. */
static bool becomes_raw(int file, bool raw)
{
    struct termios settings;
    for (unsigned i = 0; i < 200; i++) {
        assert_int_equal(tcgetattr(file, &settings), 0);
        if (!(settings.c_lflag & (ICANON | ECHO | ISIG)) == raw)
            return true;
        (void)usleep(10000);
    }
    return false;
}

static void a_terminal_has_escapes(void **state)
{
    struct place *place = *state;
    int master, slave;
    char text[256] = "";
    assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
    assert_true(becomes_raw(slave, false));
    struct console *console = open_console(place, slave, slave, NULL, NULL);
    assert_true(becomes_raw(slave, true) && console_interactive(console));
    assert_int_equal(write(master, "\3a\1\1\1hb\1?c\r", 11), 11);
    assert_true(console_wait(console, 2000));
    assert_int_equal(poll_at(place, console, 5, 5), CONSOLE_RUNNING);
    static const int keys[] = {3, 'a', 1, 'b', 'c', '\r', -1};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_next(console, keys[i]);
    assert_int_equal(write(master, "d\1", 2), 2);
    assert_true(console_wait(console, 2000));
    assert_true(read(master, text, sizeof text - 1) > 0);
    assert_non_null(strstr(text, "Ctrl-A x: end the run"));
    assert_int_equal(poll_at(place, console, 6, 6), CONSOLE_RUNNING);
    assert_int_equal(write(master, "x", 1), 1); /* the escape may arrive in two parts */
    assert_next(console, 'd');
    assert_true(console_wait(console, 2000));
    assert_int_equal(poll_at(place, console, 7, 7), CONSOLE_QUIT);
    close_console(console);
    assert_true(becomes_raw(slave, false));
    (void)close(master);
    (void)close(slave);
}

static void a_killed_process_leaves_a_sane_terminal(void **state)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGINT, SIGSEGV};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        int master, slave, status, ready[2];
        char byte;
        assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        if (child == 0) {
            (void)signal(signals[i], SIG_DFL);
            (void)open_console(*state, slave, slave, NULL, NULL);
            (void)!write(ready[1], "", 1);
            for (;;)
                (void)pause();
        }
        assert_int_equal(read(ready[0], &byte, 1), 1);
        assert_true(becomes_raw(slave, true));
        assert_int_equal(kill(child, signals[i]), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_true(becomes_raw(slave, false));
        (void)close(master);
        (void)close(slave);
        (void)close(ready[0]);
        (void)close(ready[1]);
    }
}

static void a_record_repeats_the_run(void **state)
{
    struct place *place = *state;
    char text[128] = "";
    write_file(place->file, "h\x80", 2);
    int file = open(place->file, O_RDONLY);
    struct console *console = open_console(place, file, -1, place->record, NULL);
    (void)poll_at(place, console, 10000, 100);
    assert_next(console, 'h');
    (void)poll_at(place, console, 20000, 70000);
    assert_next(console, 0x80);
    assert_next(console, -1);
    close_console(console);
    assert_int_equal(close(file), 0);
    file = open(place->record, O_RDONLY);
    assert_true(read(file, text, sizeof text - 1) > 0);
    assert_string_equal(text, "croft input 1\n10000 100 68\n20000 70000 80\n");
    assert_int_equal(close(file), 0);

    console = open_console(place, -1, -1, NULL, place->record);
    assert_true(console_wait(console, -1));
    assert_int_equal(poll_at(place, console, 0, 0), CONSOLE_RUNNING);
    assert_next(console, -1);
    assert_int_equal(poll_at(place, console, 10000, 100), CONSOLE_RUNNING);
    assert_next(console, 'h');
    assert_next(console, -1);
    assert_int_equal(poll_at(place, console, 20000, 69999),
                     CONSOLE_RUNNING); /* time goes on while the guest sleeps */
    assert_next(console, -1);
    assert_int_equal(poll_at(place, console, 20000, 70000), CONSOLE_RUNNING);
    assert_next(console, 0x80);
    assert_false(console_wait(console, -1));
    close_console(console);
}

static void the_users_end_is_repeated(void **state)
{
    struct place *place = *state;
    int master, slave;
    assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
    struct console *console = open_console(place, slave, -1, place->record, NULL);
    assert_int_equal(write(master, "\1x", 2), 2);
    assert_true(console_wait(console, 2000));
    assert_int_equal(poll_at(place, console, 123, 45), CONSOLE_QUIT);
    close_console(console);
    (void)close(master);
    (void)close(slave);
    console = open_console(place, -1, -1, NULL, place->record);
    assert_int_equal(poll_at(place, console, 122, 45), CONSOLE_RUNNING);
    assert_int_equal(poll_at(place, console, 123, 45), CONSOLE_QUIT);
    close_console(console);
}

static void another_run_is_noticed(void **state)
{
    struct place *place = *state;
    struct error err;
    write_file(place->record, "croft input 1\n100 10 61\n", 24);
    struct console *console = open_console(place, -1, -1, NULL, place->record);
    assert_int_equal(poll_at(place, console, 99, 9), CONSOLE_RUNNING);
    assert_int_equal(poll_at(place, console, 101, 10), CONSOLE_FAILED);
    assert_next(console, -1);
    assert_false(console_close(console, &err));
    assert_string_equal(
        err.text,
        "console: this run differs from the recorded one: the input for instruction 100, tick 10 was "
        "not requested until instruction 101, tick 10; replay with the same machine, program "
        "and options");
}

static void a_replay_does_not_wait_where_time_stands_still(void **state)
{
    struct place *place = *state;
    struct error err;
    write_file(place->record, "croft input 1\n100 10 61\n200 20 end\n", 35);
    struct console *console = open_console(place, -1, -1, NULL, place->record);
    assert_int_equal(poll_at(place, console, 100, 10), CONSOLE_RUNNING);
    assert_true(console_await(console, -1));
    assert_int_equal(poll_at(place, console, 100, 10), CONSOLE_RUNNING);
    assert_next(console, 'a');
    assert_true(console_await(console, -1));
    assert_int_equal(console_poll(console, &err), CONSOLE_FAILED);
    assert_false(console_close(console, &err));
    assert_string_equal(
        err.text, "console: this run differs from the recorded one: the input for instruction 200, tick 20 "
                  "was already requested at instruction 100, tick 10; replay with the same machine, "
                  "program and options");
}

static void a_replayed_user_can_end_the_run(void **state)
{
    struct place *place = *state;
    write_file(place->record, "croft input 1\n100 10 end\n", 25);
    struct console *console = open_console(place, -1, -1, NULL, place->record);
    assert_true(console_interactive(console) && console_wait(console, -1));
    assert_int_equal(poll_at(place, console, 100, 10), CONSOLE_QUIT);
    close_console(console);
    write_file(place->record, "croft input 1\n100 10 61\n", 24);
    console = open_console(place, -1, -1, NULL, place->record);
    (void)poll_at(place, console, 100, 10);
    assert_true(console_interactive(console));
    assert_next(console, 'a');
    assert_false(console_interactive(console) || console_await(console, -1));
    close_console(console);
}

static void bad_records_are_refused(void **state)
{
    struct place *place = *state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "is empty; the first line must be `croft input 1`"},
        {"croft input 2\n", "line 1: not a record of console input: the first line must be `croft input 1`"},
        {"croft input 1\n1 1 61\n1 1 6\n", "line 3: not `INSTRUCTIONS TICKS BYTE`"},
        {"croft input 1\n1 1 6g\n", "line 2: not `INSTRUCTIONS TICKS BYTE`"},
        {"croft input 1\n1 1 616\n", "line 2: not `INSTRUCTIONS TICKS BYTE`"},
        {"croft input 1\n1 61\n", "line 2: not `INSTRUCTIONS TICKS BYTE`"},
        {"croft input 1\n-1 1 61\n", "line 2: not `INSTRUCTIONS TICKS BYTE`"},
        {"croft input 1\n1 18446744073709551616 61\n", "line 2: not `INSTRUCTIONS TICKS BYTE`"},
        {"croft input 1\n\n", "line 2: not `INSTRUCTIONS TICKS BYTE`"},
        {"croft input 1\n2 2 61\n1 3 61\n", "line 3: out of order"},
        {"croft input 1\n2 2 61\n3 1 61\n", "line 3: out of order"},
        {"croft input 1\n2 2 end\n3 3 61\n", "line 3: out of order"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error err = {.text = ""};
        write_file(place->record, bad[i].text, strlen(bad[i].text));
        assert_null(input_replay_open(place->record, &err));
        assert_int_equal(strncmp(err.text, place->record, strlen(place->record)), 0);
        if (!strstr(err.text, bad[i].message))
            fail_msg("%s", err.text);
    }
    struct error err = {.text = ""};
    write_file(place->record, "croft input 1\n1 1 61\0\n", 22);
    assert_null(input_replay_open(place->record, &err));
    assert_non_null(strstr(err.text, "line 2: holds a NUL character"));
    assert_null(input_replay_open("/nowhere/at/all", &err));
    assert_string_equal(err.text, "/nowhere/at/all: cannot be opened: No such file or directory");
    assert_null(input_record_open("/nowhere/at/all", &err));
    assert_string_equal(
        err.text, "/nowhere/at/all: the record of the input cannot be written: No such file or directory");
}

#define PLACE_TEST(test) cmocka_unit_test_setup_teardown(test, make_place, drop_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_TEST(a_file_is_there_at_once),
        PLACE_TEST(without_input_nothing_comes),
        PLACE_TEST(a_live_pipe_is_looked_at_each_millisecond),
        PLACE_TEST(a_pipe_is_waited_for),
        PLACE_TEST(a_silent_pipe_holds_up_nobody_who_only_waits),
        PLACE_TEST(a_signal_ends_the_wait_for_a_pipe),
        PLACE_TEST(output_arrives_in_order),
        PLACE_TEST(lost_output_is_told),
        PLACE_TEST(a_terminal_has_escapes),
        PLACE_TEST(a_killed_process_leaves_a_sane_terminal),
        PLACE_TEST(a_record_repeats_the_run),
        PLACE_TEST(the_users_end_is_repeated),
        PLACE_TEST(another_run_is_noticed),
        PLACE_TEST(a_replay_does_not_wait_where_time_stands_still),
        PLACE_TEST(a_replayed_user_can_end_the_run),
        PLACE_TEST(bad_records_are_refused),
    };
    return cmocka_run_group_tests_name("console", tests, NULL, NULL);
}
