/* The progress line: on a terminal only, not too often, and gone at the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include "emu/debug/progress.h"

struct screen {
    int master;
    FILE *terminal;
};

static struct screen screen_open(void)
{
    struct screen screen = {.master = posix_openpt(O_RDWR | O_NOCTTY)};
    assert_true(screen.master >= 0);
    assert_int_equal(grantpt(screen.master), 0);
    assert_int_equal(unlockpt(screen.master), 0);
    screen.terminal = fopen(ptsname(screen.master), "w");
    assert_non_null(screen.terminal);
    struct termios modes;
    assert_int_equal(tcgetattr(fileno(screen.terminal), &modes), 0);
    cfmakeraw(&modes);
    assert_int_equal(tcsetattr(fileno(screen.terminal), TCSANOW, &modes), 0);
    assert_int_equal(fcntl(screen.master, F_SETFL, O_NONBLOCK), 0);
    return screen;
}

static void screen_close(struct screen *screen)
{
    fclose(screen->terminal);
    close(screen->master);
}

static void expect(const struct screen *screen, const char *text)
{
    char got[512];
    ssize_t size = read(screen->master, got, sizeof got - 1);
    got[size > 0 ? size : 0] = '\0';
    assert_string_equal(got, text);
}

static void silent_where_there_is_no_terminal(void **state)
{
    (void)state;
    char buffer[64] = "";
    FILE *file = tmpfile();
    struct progress progress;
    progress_init(&progress, file);
    for (unsigned i = 0; i < 10 * PROGRESS_CALLS; i++)
        progress_tick(&progress, i, i);
    progress_update(&progress, UINT64_MAX, 1, 1);
    progress_hide(&progress);
    assert_int_equal(ftell(file), 0);
    assert_int_equal(fread(buffer, 1, sizeof buffer, file), 0);
    fclose(file);
}

/* 20 million instructions in the first half second are 40 MIPS, 1 million in the next are 2. A shorter line
 * leaves nothing of the longer one behind. */
static void the_line(void **state)
{
    (void)state;
    struct screen screen = screen_open();
    struct progress progress;
    progress_init(&progress, screen.terminal);
    uint64_t start = progress.since, half = PROGRESS_INTERVAL;
    progress_update(&progress, start + half - 1, 1, 1);
    expect(&screen, "");
    progress_update(&progress, start + half, 12345678901234, 20000000);
    expect(&screen, "\r12.346 ms simulated, 20.0 million instructions, 40.0 MIPS");
    progress_update(&progress, start + 2 * half - 1, 0, 0);
    expect(&screen, "");
    progress_update(&progress, start + 2 * half, 13000000000000, 21000000);
    expect(&screen, "\r13.000 ms simulated, 21.0 million instructions, 2.0 MIPS ");
    progress_hide(&progress);
    expect(&screen, "\r                                                         \r");
    progress_hide(&progress);
    expect(&screen, "");
    screen_close(&screen);
}

/* The host's clock is looked at once in PROGRESS_CALLS calls; here it says that the line is long due. */
static void ticks_look_seldom(void **state)
{
    (void)state;
    struct screen screen = screen_open();
    struct progress progress;
    progress_init(&progress, screen.terminal);
    progress.due = 0;
    for (unsigned i = 1; i < PROGRESS_CALLS; i++)
        progress_tick(&progress, 0, 0);
    expect(&screen, "");
    progress_tick(&progress, 0, 0);
    expect(&screen, "\r0.000 ms simulated, 0.0 million instructions, 0.0 MIPS");
    screen_close(&screen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_where_there_is_no_terminal),
        cmocka_unit_test(the_line),
        cmocka_unit_test(ticks_look_seldom),
    };
    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
