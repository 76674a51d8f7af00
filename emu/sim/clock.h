/* Simulated time, in femtoseconds since the start of the run, and clocks whose edges are multiples of a period. */
#ifndef EMU_SIM_CLOCK_H
#define EMU_SIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/error.h"

/* A uint64_t of femtoseconds covers five hours of simulated time. */
#define CLOCK_SECOND UINT64_C(1000000000000000)
#define CLOCK_NEVER  UINT64_MAX

/* A clock domain. Edge number n is at time n * period, so all domains share an edge at time 0. */
struct clock {
    uint64_t period; /* in femtoseconds, not 0 */
};

/* Sets the period of a frequency in hertz, rounded to the nearest femtosecond (1.4 GHz: 714286 fs, 0.4 parts
 * per million slow). Fails if the frequency is not within 1 kHz to 1 THz. */
bool clock_set_frequency(struct clock *clock, uint64_t hertz, struct error *err);

/* Returns the number of the first edge at or after `time`. */
static inline uint64_t clock_cycle(const struct clock *clock, uint64_t time)
{
    uint64_t cycle = time / clock->period;
    return cycle + (cycle * clock->period != time);
}

/* Returns the time of edge number `cycle`. */
static inline uint64_t clock_time(const struct clock *clock, uint64_t cycle)
{
    return cycle * clock->period;
}

/* Returns the time of the first edge at or after `time`. */
static inline uint64_t clock_edge(const struct clock *clock, uint64_t time)
{
    return clock_time(clock, clock_cycle(clock, time));
}

/* Returns the time of the first edge after `time`. */
static inline uint64_t clock_next(const struct clock *clock, uint64_t time)
{
    return (time / clock->period + 1) * clock->period;
}

#endif
