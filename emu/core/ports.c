#include "emu/core/ports.h"

#include <string.h>

void ports_init(struct ports *ports)
{
    *ports = (struct ports){.top = 0};
}

void ports_use_init(struct ports_use *use, unsigned set, unsigned interval)
{
    use->set = (uint16_t)set;
    use->interval = (uint16_t)interval;
    use->first = (uint16_t)__builtin_ctz(set);
    set &= set - 1;
    use->second = set ? (uint16_t)__builtin_ctz(set) : use->first;
    use->special = (set & (set - 1)) != 0 || interval > 1;
}

void ports_advance(struct ports *ports, uint64_t row)
{
    if (row - ports->top > PORTS_ROWS)
        ports->top = row - PORTS_ROWS;
    while (ports->top < row) {
        ports->top++;
        memset(&ports->rows[ports->top % PORTS_ROWS], 0, sizeof *ports->rows);
    }
}

/* Returns the row of a cycle, or NULL if it has left the window. */
static struct ports_row *row_of(struct ports *ports, uint64_t cycle)
{
    uint64_t row = cycle / 64;
    if (row > ports->top)
        ports_advance(ports, row);
    return row + PORTS_ROWS <= ports->top ? NULL : &ports->rows[row % PORTS_ROWS];
}

/* Returns the last cycle of [cycle, cycle + interval) in which the port's unit is busy, or UINT64_MAX if there is
 * none. */
static uint64_t unit_conflict(struct ports *ports, unsigned port, uint64_t cycle, unsigned interval)
{
    for (uint64_t at = cycle + interval; at-- > cycle;) {
        struct ports_row *row = row_of(ports, at);
        if (row && row->unit[port] >> at % 64 & 1)
            return at;
    }
    return UINT64_MAX;
}

/* Returns the first cycle at or after `ready` in which this port can take the kind. */
static uint64_t first_free(struct ports *ports, const struct ports_use *use, unsigned port, uint64_t ready)
{
    for (uint64_t cycle = ready;;) {
        struct ports_row *row = row_of(ports, cycle);
        if (!row)
            return cycle;
        uint64_t free = ~row->busy[port] & UINT64_MAX << cycle % 64;
        if (!free) {
            cycle = (cycle / 64 + 1) * 64;
            continue;
        }
        cycle = cycle / 64 * 64 + (uint64_t)__builtin_ctzll(free);
        if (use->interval == 1)
            return cycle;
        uint64_t conflict = unit_conflict(ports, port, cycle, use->interval);
        if (conflict == UINT64_MAX)
            return cycle;
        cycle = conflict + 1;
    }
}

uint64_t ports_take_any(struct ports *ports, const struct ports_use *use, uint64_t ready)
{
    uint64_t best = UINT64_MAX;
    unsigned chosen = 0;
    for (unsigned set = use->set; set; set &= set - 1) {
        unsigned port = (unsigned)__builtin_ctz(set);
        uint64_t cycle = first_free(ports, use, port, ready);
        if (cycle < best) {
            best = cycle;
            chosen = port;
        }
    }
    struct ports_row *row = row_of(ports, best);
    if (row)
        row->busy[chosen] |= UINT64_C(1) << best % 64;
    for (uint64_t at = best; use->interval > 1 && at < best + use->interval; at++) {
        row = row_of(ports, at);
        if (row)
            row->unit[chosen] |= UINT64_C(1) << at % 64;
    }
    return best;
}
