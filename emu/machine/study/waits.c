#include "emu/machine/study/waits.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

/* For one number of threads. */
struct team {
    double clock[WINDOWS_WORKS][WINDOWS_MOST];
    uint32_t worked; /* bit: a thread that has worked since the last wait or the window's begin */
    uint64_t waits;  /* that had to learn something of other threads */
};

struct waits {
    const struct windows *windows;
    uint64_t count; /* windows */
    double all[WINDOWS_WORKS];
    struct team teams[WINDOWS_THREADS];
};

struct waits *waits_new(const struct windows *windows)
{
    struct waits *waits = alloc(1, sizeof *waits);
    waits->windows = windows;
    return waits;
}

void waits_free(struct waits *waits)
{
    free(waits);
}

static double latest(const double clock[WINDOWS_MOST])
{
    double most = 0;
    for (unsigned t = 0; t < WINDOWS_MOST; t++)
        most = clock[t] > most ? clock[t] : most;
    return most;
}

static unsigned thread_of(const struct waits *waits, uint32_t partition, unsigned index)
{
    return windows_thread(waits->windows, partition, 2U << index);
}

void waits_window(struct waits *waits)
{
    waits->count++;
    for (unsigned index = 0; index < WINDOWS_THREADS; index++)
        for (unsigned work = 0; work < WINDOWS_WORKS; work++) {
            double *clock = waits->teams[index].clock[work], most = latest(clock);
            for (unsigned t = 0; t < WINDOWS_MOST; t++)
                clock[t] = most;
            waits->teams[index].worked = 0;
        }
}

void waits_wait(struct waits *waits, uint32_t partition)
{
    for (unsigned index = 0; index < WINDOWS_THREADS; index++) {
        struct team *team = &waits->teams[index];
        const unsigned thread = thread_of(waits, partition, index);
        if (!(team->worked & ~(1U << thread)))
            continue;
        team->waits++;
        team->worked = 0;
        for (unsigned work = 0; work < WINDOWS_WORKS; work++)
            team->clock[work][thread] = latest(team->clock[work]);
    }
}

void waits_add(struct waits *waits, uint32_t partition, enum windows_work work, double amount)
{
    waits->all[work] += amount;
    for (unsigned index = 0; index < WINDOWS_THREADS; index++) {
        struct team *team = &waits->teams[index];
        const unsigned thread = thread_of(waits, partition, index);
        team->clock[work][thread] += amount;
        team->worked |= 1U << thread;
    }
}

uint64_t waits_count(const struct waits *waits, unsigned threads)
{
    return waits->teams[windows_index(threads)].waits;
}

double waits_gain(const struct waits *waits, unsigned threads, enum windows_work work, double barrier)
{
    const struct team *team = &waits->teams[windows_index(threads)];
    const double time =
        latest(team->clock[work]) + (double)waits->count * barrier + (double)team->waits * barrier / 2;
    return time > 0 ? waits->all[work] / time : 1;
}
