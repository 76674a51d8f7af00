#include "emu/core/ooo/ports.h"

#include <string.h>

void ports_init(struct ports *ports)
{
    *ports = (struct ports){.top = 0, .last = 63};
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
    ports->last = ports->top * 64 + 63;
}

/* Returns the row of a cycle, or NULL if it has left the window. */
static struct ports_row *row_of(struct ports *ports, uint64_t cycle)
{
    uint64_t row = cycle / 64;
    if (row > ports->top)
        ports_advance(ports, row);
    return row + PORTS_ROWS <= ports->top ? NULL : &ports->rows[row % PORTS_ROWS];
}

/* Returns the bits of a row's cycles in [begin, end), some of which are in the row. */
static uint64_t row_bits(uint64_t row, uint64_t begin, uint64_t end)
{
    uint64_t after = begin > row * 64 ? UINT64_MAX << (begin - row * 64) : UINT64_MAX;
    uint64_t before = end < row * 64 + 64 ? ~(UINT64_MAX << (end - row * 64)) : UINT64_MAX;
    return after & before;
}

/* Returns the last cycle of [cycle, cycle + interval) in which the port's unit is busy, or UINT64_MAX if there is
 * none. */
static uint64_t unit_conflict(struct ports *ports, unsigned port, uint64_t cycle, unsigned interval)
{
    const uint64_t end = cycle + interval;
    for (uint64_t number = (end - 1) / 64 + 1; number-- > cycle / 64;) {
        const struct ports_row *row = row_of(ports, number * 64);
        uint64_t busy = row ? row->unit[port] & row_bits(number, cycle, end) : 0;
        if (busy)
            return number * 64 + 63 - (uint64_t)__builtin_clzll(busy);
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

/* Makes the port's unit busy in [begin, end). */
static void take_unit(struct ports *ports, unsigned port, uint64_t begin, uint64_t end)
{
    for (uint64_t number = begin / 64; number <= (end - 1) / 64; number++) {
        struct ports_row *row = row_of(ports, number * 64);
        if (row)
            row->unit[port] |= row_bits(number, begin, end);
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
    if (use->interval > 1)
        take_unit(ports, chosen, best, best + use->interval);
    return best;
}
