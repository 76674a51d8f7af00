/* The occupation of the issue ports of an out-of-order core: a calendar of bits.
 *
 * Instructions are booked when their operands become known, not in the order of time, so each port has a bit for every
 * cycle of a window. A row holds the bits of 64 cycles of all ports, in one cache line of the host. Cycles that have
 * left the window count as free. */
#ifndef EMU_CORE_OOO_PORTS_H
#define EMU_CORE_OOO_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/core/config/latency.h"

enum {
    PORTS_ROWS = 256, /* the window has 64 times as many cycles, 16384 */
    PORTS_WINDOW = PORTS_ROWS * 64,
};

struct ports_row {
    uint64_t busy[PORTS]; /* bit c: the issue slot of cycle c is taken */
    uint64_t unit[PORTS]; /* bit c: the port's unpipelined unit is busy */
};

struct ports {
    uint64_t top;  /* number of the latest row in use; this and the PORTS_ROWS - 1 rows before it are valid */
    uint64_t last; /* its last cycle */
    struct ports_row rows[PORTS_ROWS];
};

/* The ports on which a kind of instruction can issue. */
struct ports_use {
    uint16_t interval;      /* cycles that it occupies the port's unpipelined unit; 1: pipelined */
    uint16_t set;           /* of enum core_port */
    uint16_t first, second; /* numbers of the two lowest ports; equal if there is only one */
    uint16_t special;       /* more than two ports, or not pipelined */
};

/* Makes all cycles free. */
void ports_init(struct ports *ports);

/* Initialises *use; `set` must not be empty. */
void ports_use_init(struct ports_use *use, unsigned set, unsigned interval);

/* Clears rows up to and including `row`. */
void ports_advance(struct ports *ports, uint64_t row);

/* ports_take() for special kinds: unpipelined, or with more than two ports. */
uint64_t ports_take_any(struct ports *ports, const struct ports_use *use, uint64_t ready);

/* ports_take() for kinds that are not special, if a slot is free in the row of `ready`, which is valid; else returns false. */
static inline bool ports_try(struct ports *ports, const struct ports_use *use, uint64_t ready,
                             uint64_t *issue)
{
    const unsigned bit = ready % 64;
    uint64_t *busy = ports->rows[ready % PORTS_WINDOW / 64].busy;
    /* For a cycle later than last the difference wraps around to a large number. */
    if (__builtin_expect(ports->last - ready >= PORTS_WINDOW, 0))
        return false;
    uint64_t first = busy[use->first];
    /* A branch, so that the host goes on with dependent instructions before it knows which cycles are free. */
    if (__builtin_expect(!(first >> bit & 1), 1)) {
        busy[use->first] = first | UINT64_C(1) << bit;
        *issue = ready;
        return true;
    }
    uint64_t second = busy[use->second];
    uint64_t free = ~(first & second) >> bit;
    if (__builtin_expect(free == 0, 0))
        return false;
    const unsigned wait = (unsigned)__builtin_ctzll(free);
    bool other = first >> (bit + wait) & 1;
    busy[other ? use->second : use->first] = (other ? second : first) | UINT64_C(1) << (bit + wait);
    *issue = ready + wait;
    return true;
}

/* ports_take() for kinds that are not special. */
static inline uint64_t ports_take_plain(struct ports *ports, const struct ports_use *use, uint64_t ready)
{
    uint64_t issue;
    return __builtin_expect(ports_try(ports, use, ready, &issue), 1) ? issue
                                                                     : ports_take_any(ports, use, ready);
}

/* Takes the first cycle at or after `ready` in which a port of the set is free (and its unit for `interval` cycles),
 * and returns it. */
static inline uint64_t ports_take(struct ports *ports, const struct ports_use *use, uint64_t ready)
{
    return use->special ? ports_take_any(ports, use, ready) : ports_take_plain(ports, use, ready);
}

#endif
