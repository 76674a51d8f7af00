#include "emu/experiment/runs/tally.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "emu/sim/host_time.h"

static const double period = 0.2; /* s between two changes of the line */

void tally_begin(struct tally *tally, int all)
{
    *tally = (struct tally){.all = all, .start = host_seconds(), .terminal = isatty(STDERR_FILENO) == 1};
}

void tally_hide(struct tally *tally)
{
    if (tally->terminal && tally->shown > 0)
        (void)fprintf(stderr, "\r\033[K");
    tally->shown = 0;
}

void tally_run(struct tally *tally, const char *label, double seconds, const char *failure)
{
    tally->done++;
    tally->failed += failure != NULL;
    if (tally->terminal)
        return;
    if (failure)
        (void)fprintf(stderr, "croft experiment: %d of %d: %s failed: %s\n", tally->done, tally->all, label,
                      failure);
    else
        (void)fprintf(stderr, "croft experiment: %d of %d: %s, %.2f s\n", tally->done, tally->all, label,
                      seconds);
}

/* Returns how many characters fit into a line of the terminal. A line that wraps could not be drawn over. */
static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
}

void tally_show(struct tally *tally, unsigned running)
{
    char line[160];
    double now = host_seconds();
    int executed = tally->done - tally->found, left = tally->all - tally->done;
    if (!tally->terminal || now - tally->shown < period)
        return;
    tally->shown = now;
    int used = snprintf(line, sizeof line, "%d of %d runs done, %d failed, %u running, %d left", tally->done,
                        tally->all, tally->failed, running, left - (int)running);
    if (executed > 0) {
        long rest = (long)((now - tally->start) / executed * left);
        (void)snprintf(line + used, sizeof line - (size_t)used, ", %ld:%02ld:%02ld to go", rest / 3600,
                       rest / 60 % 60, rest % 60);
    }
    (void)fprintf(stderr, "\r\033[K%.*s", columns(), line);
}
