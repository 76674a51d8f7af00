/* Which cycles the issue ports of an out-of-order core are taken in: a calendar of bits.
 *
 * Instructions are booked in the order in which their operands become known, not in that of time, so each
 * port has a bit for every cycle of a window. A row holds the bits of 64 cycles of all ports, in one line of
 * the host's cache. Cycles that have left the window count as free.
 */
#ifndef EMU_CORE_PORTS_H
#define EMU_CORE_PORTS_H

#include <stdint.h>

#include "emu/core/latency.h"

enum {
    PORTS_ROWS = 256, /* the window is 64 times that: 16384 cycles */
    PORTS_WINDOW = PORTS_ROWS * 64,
};

struct ports_row {
    uint64_t busy[PORTS]; /* bit c: cycle c's issue slot is taken */
    uint64_t unit[PORTS]; /* bit c: the port's unpipelined unit works */
};

struct ports {
    uint64_t top; /* number of the latest row that is in use; rows up to PORTS_ROWS before it are valid */
    struct ports_row rows[PORTS_ROWS];
};

/* The ports a kind of instruction can issue on. */
struct ports_use {
    uint8_t set;           /* of enum core_port */
    uint8_t first, second; /* numbers of its two lowest; the same if it is only one */
    uint8_t more;          /* it has others besides */
    uint16_t interval;     /* cycles for which it keeps the port's unpipelined unit; 1: pipelined */
};

/* All cycles free. */
void ports_init(struct ports *ports);

/* set must not be empty. */
void ports_use_init(struct ports_use *use, unsigned set, unsigned interval);

/* Clears rows up to the given one. */
void ports_advance(struct ports *ports, uint64_t row);

/* ports_take() for unpipelined kinds and for those with more than two ports. */
uint64_t ports_take_any(struct ports *ports, const struct ports_use *use, uint64_t ready);

/* Takes the first cycle at or after ready in which a port of the set is free (and its unit for `interval`
 * cycles), and returns it. */
static inline uint64_t ports_take(struct ports *ports, const struct ports_use *use, uint64_t ready)
{
    uint64_t row = ready / 64;
    if (__builtin_expect(row > ports->top, 0))
        ports_advance(ports, row);
    uint64_t *busy = ports->rows[row % PORTS_ROWS].busy;
    uint64_t free = ~(busy[use->first] & busy[use->second]) & UINT64_MAX << ready % 64;
    if (__builtin_expect(free == 0 || use->more || use->interval > 1 || row + PORTS_ROWS <= ports->top, 0))
        return ports_take_any(ports, use, ready);
    uint64_t bit = free & -free;
    busy[busy[use->first] & bit ? use->second : use->first] |= bit;
    return row * 64 + (uint64_t)__builtin_ctzll(free);
}

#endif
