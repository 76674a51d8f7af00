#include "emu/debug/progress.h"

#include <inttypes.h>
#include <unistd.h>

#include "emu/sim/clock.h"
#include "emu/sim/host_time.h"

void progress_init(struct progress *progress, FILE *out)
{
    *progress = (struct progress){0};
    if (!isatty(fileno(out)))
        return;
    progress->out = out;
    progress->countdown = PROGRESS_CALLS;
    progress->since = host_nanoseconds();
    progress->due = progress->since + PROGRESS_INTERVAL;
}

void progress_look(struct progress *progress, uint64_t now, uint64_t instructions)
{
    progress->countdown = PROGRESS_CALLS;
    progress_update(progress, host_nanoseconds(), now, instructions);
}

void progress_update(struct progress *progress, uint64_t host, uint64_t now, uint64_t instructions)
{
    if (!progress->out || host < progress->due)
        return;
    uint64_t elapsed = host - progress->since;
    double rate = elapsed ? (double)(instructions - progress->instructions) * 1e3 / (double)elapsed : 0;
    int before = progress->width;
    int width = fprintf(progress->out, "\r%.3f ms simulated, %.1f million instructions, %.1f MIPS",
                        (double)now / (double)(CLOCK_SECOND / 1000), (double)instructions / 1e6, rate);
    progress->width = width > 0 ? width - 1 : 0; /* the carriage return has no width */
    if (progress->width < before)
        fprintf(progress->out, "%*s", before - progress->width, "");
    if (progress->width < before)
        progress->width = before;
    (void)fflush(progress->out);
    progress->since = host;
    progress->due = host + PROGRESS_INTERVAL;
    progress->instructions = instructions;
}

void progress_hide(struct progress *progress)
{
    if (progress->width == 0)
        return;
    fprintf(progress->out, "\r%*s\r", progress->width, "");
    (void)fflush(progress->out);
    progress->width = 0;
}
