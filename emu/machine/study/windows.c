#include "emu/machine/study/windows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/machine/plan/cut.h"
#include "emu/sim/alloc.h"
#include "emu/sim/clock.h"
#include "emu/sim/mix.h"

enum { TABLE_BITS = 14, TABLE = 1 << TABLE_BITS };

/* What the partitions have done with a line in a window. */
struct touched {
    uint64_t line, window; /* number of the window, from 1 */
    uint64_t read, written;
    uint32_t partition; /* that has accessed the line; MANY: several */
};

#define MANY UINT32_MAX

struct sums {
    double free[WINDOWS_THREADS], ordered[WINDOWS_THREADS]; /* work of the slowest threads */
    double all;
};

struct windows {
    uint64_t lookahead, end; /* fs: the present window ends there */
    uint32_t partitions;
    bool open;
    uint32_t *threads[WINDOWS_THREADS]; /* thread of each partition */
    double *now[WINDOWS_WORKS];         /* work in the present window, by partition */
    double *total[WINDOWS_WORKS];
    uint32_t *busy; /* partitions with work in the present window */
    bool *is_busy;
    uint32_t busy_count;
    bool causes[WINDOWS_CAUSES]; /* of the present window */
    uint64_t count, ordered, by_cause[WINDOWS_CAUSES];
    struct sums sums[WINDOWS_WORKS];
    struct touched table[TABLE];
};

unsigned windows_index(unsigned threads)
{
    unsigned index = (unsigned)__builtin_ctz(threads) - 1;
    assert(threads == 2U << index && index < WINDOWS_THREADS);
    return index;
}

struct windows *windows_new(uint64_t lookahead, const uint64_t *weights, uint32_t partitions)
{
    struct windows *windows = alloc(1, sizeof *windows);
    assert(lookahead > 0 && partitions > 0);
    windows->lookahead = lookahead;
    windows->partitions = partitions;
    for (unsigned i = 0; i < WINDOWS_THREADS; i++) {
        windows->threads[i] = alloc(partitions, sizeof **windows->threads);
        cut_share(weights, partitions, 2U << i, windows->threads[i]);
    }
    for (unsigned work = 0; work < WINDOWS_WORKS; work++) {
        windows->now[work] = alloc(partitions, sizeof **windows->now);
        windows->total[work] = alloc(partitions, sizeof **windows->total);
    }
    windows->busy = alloc(partitions, sizeof *windows->busy);
    windows->is_busy = alloc(partitions, sizeof *windows->is_busy);
    return windows;
}

void windows_free(struct windows *windows)
{
    if (!windows)
        return;
    for (unsigned i = 0; i < WINDOWS_THREADS; i++)
        free(windows->threads[i]);
    for (unsigned work = 0; work < WINDOWS_WORKS; work++) {
        free(windows->now[work]);
        free(windows->total[work]);
    }
    free(windows->busy);
    free(windows->is_busy);
    free(windows);
}

/* Adds the present window's work to the sums, for one number of threads. */
static void add_slowest(struct windows *windows, unsigned index, enum windows_work work, double all,
                        bool in_order)
{
    double load[WINDOWS_MOST] = {0}, most = 0;
    struct sums *sums = &windows->sums[work];
    for (uint32_t i = 0; i < windows->busy_count; i++) {
        uint32_t partition = windows->busy[i], thread = windows->threads[index][partition];
        load[thread] += windows->now[work][partition];
        most = load[thread] > most ? load[thread] : most;
    }
    sums->free[index] += most;
    sums->ordered[index] += in_order ? all : most;
}

static void close_window(struct windows *windows)
{
    bool in_order = false;
    if (!windows->open)
        return;
    windows->open = false;
    windows->count++;
    for (unsigned cause = 0; cause < WINDOWS_CAUSES; cause++) {
        in_order = in_order || windows->causes[cause];
        windows->by_cause[cause] += windows->causes[cause];
        windows->causes[cause] = false;
    }
    windows->ordered += in_order;
    for (unsigned work = 0; work < WINDOWS_WORKS; work++) {
        double all = 0;
        for (uint32_t i = 0; i < windows->busy_count; i++)
            all += windows->now[work][windows->busy[i]];
        windows->sums[work].all += all;
        for (unsigned index = 0; index < WINDOWS_THREADS; index++)
            add_slowest(windows, index, (enum windows_work)work, all, in_order);
    }
    for (uint32_t i = 0; i < windows->busy_count; i++) {
        uint32_t partition = windows->busy[i];
        windows->is_busy[partition] = false;
        for (unsigned work = 0; work < WINDOWS_WORKS; work++) {
            windows->total[work][partition] += windows->now[work][partition];
            windows->now[work][partition] = 0;
        }
    }
    windows->busy_count = 0;
}

static void open_window(struct windows *windows, uint64_t time)
{
    close_window(windows);
    windows->open = true;
    windows->end = time < CLOCK_NEVER - windows->lookahead ? time + windows->lookahead : CLOCK_NEVER;
}

bool windows_reach(struct windows *windows, uint64_t time)
{
    if (windows->open && time < windows->end)
        return false;
    open_window(windows, time);
    return true;
}

void windows_end(struct windows *windows, uint64_t time)
{
    if (windows->busy_count > 0)
        open_window(windows, time);
}

void windows_add(struct windows *windows, uint32_t partition, enum windows_work work, double amount)
{
    if (!windows->is_busy[partition]) {
        windows->is_busy[partition] = true;
        windows->busy[windows->busy_count++] = partition;
    }
    windows->now[work][partition] += amount;
}

void windows_order(struct windows *windows, enum windows_cause cause)
{
    windows->causes[cause] = true;
}

/* Returns the entry of a line, which replaces one of an earlier window; NULL: the table is full in this place, so nothing is known
 * of the line. */
static struct touched *find(struct windows *windows, uint64_t line)
{
    enum { PROBES = 16 };
    const uint64_t window = windows->count + 1;
    for (uint64_t i = 0, place = mix(line); i < PROBES; i++, place++) {
        struct touched *touched = &windows->table[place % TABLE];
        if (touched->window == window && touched->line != line)
            continue;
        if (touched->window != window)
            *touched = (struct touched){.line = line, .window = window, .partition = MANY};
        return touched;
    }
    return NULL;
}

bool windows_access(struct windows *windows, uint32_t partition, uint64_t line, uint64_t words, bool store)
{
    bool shares = false;
    if (windows->partitions == 1)
        return false;
    struct touched *touched = find(windows, line);
    if (!touched)
        return true;
    if ((touched->read | touched->written) == 0)
        touched->partition = partition;
    else if (touched->partition != partition) {
        shares = (words & (touched->written | (store ? touched->read : 0))) != 0;
        touched->partition = MANY;
    }
    *(store ? &touched->written : &touched->read) |= words;
    return shares;
}

uint64_t windows_count(struct windows *windows)
{
    close_window(windows);
    return windows->count;
}

uint64_t windows_ordered(struct windows *windows)
{
    close_window(windows);
    return windows->ordered;
}

uint64_t windows_by_cause(struct windows *windows, enum windows_cause cause)
{
    close_window(windows);
    return windows->by_cause[cause];
}

double windows_total(struct windows *windows, uint32_t partition, enum windows_work work)
{
    close_window(windows);
    return windows->total[work][partition];
}

uint32_t windows_thread(const struct windows *windows, uint32_t partition, unsigned threads)
{
    return windows->threads[windows_index(threads)][partition];
}

double windows_gain(struct windows *windows, unsigned threads, enum windows_work work, bool in_order,
                    double barrier)
{
    close_window(windows);
    const struct sums *sums = &windows->sums[work];
    uint64_t barriers = windows->count - (in_order ? windows->ordered : 0);
    double time =
        (in_order ? sums->ordered : sums->free)[windows_index(threads)] + (double)barriers * barrier;
    return time > 0 ? sums->all / time : 1;
}
