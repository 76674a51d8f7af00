#include "emu/analysis/candidate_table.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/little_endian.h"

enum { VERSION = 1 };

static const char magic[8] = {'T', 'O', 'M', 'T', 'A', 'B', 'L', 'E'};

struct candidate_entry candidate_table_entry(const struct candidate *c)
{
    struct candidate_entry entry = {.begin = c->begin,
                                    .end = c->end,
                                    .in = c->in,
                                    .out = c->out,
                                    .coordinates = c->coordinates,
                                    .rounds = c->threshold,
                                    .same = c->same};
    entry.flags = (uint8_t)((c->tag & CANDIDATE_SAVES_TX ? CANDIDATE_TX : 0) |
                            (c->tag & CANDIDATE_SAVES_RX ? CANDIDATE_RX : 0) |
                            (c->floats ? CANDIDATE_FLOATS : 0) | (c->threshold ? CANDIDATE_CONDITION : 0));
    if (!c->threshold)
        return entry;
    entry.minuend = c->trip.minuend == REGISTER_NONE ? 0 : c->trip.minuend;
    entry.subtrahend = c->trip.subtrahend == REGISTER_NONE ? 0 : c->trip.subtrahend;
    if (c->trip.step_register != REGISTER_NONE) {
        entry.flags |= CANDIDATE_STEP;
        entry.step = c->trip.step_register;
        entry.compare = c->trip.relation == TRIP_DIFFERS ? CANDIDATE_FAR
                        : c->trip.relation == TRIP_LESS  ? CANDIDATE_MORE
                                                         : CANDIDATE_AT_LEAST;
        entry.threshold = (int64_t)(c->threshold - (entry.compare != CANDIDATE_FAR));
        return entry;
    }
    bool whole = c->trip.first == 0 && (c->trip.step & (c->trip.step - 1)) == 0;
    entry.shift = whole ? (uint8_t)__builtin_ctzll(c->trip.step) : 0;
    entry.threshold = trip_threshold(&c->trip, c->threshold) >> entry.shift;
    return entry;
}

bool candidate_holds(const struct candidate_entry *entry, uint64_t minuend, uint64_t subtrahend,
                     uint64_t step)
{
    int64_t difference = (int64_t)(minuend - subtrahend), needed;
    if (!(entry->flags & CANDIDATE_STEP))
        return difference >> entry->shift >= entry->threshold;
    const int64_t size = (int64_t)step < 0 ? (int64_t)(0 - step) : (int64_t)step;
    if (entry->compare == CANDIDATE_FAR && difference < 0)
        difference = (int64_t)(subtrahend - minuend);
    return size > 0 && !__builtin_mul_overflow(size, entry->threshold, &needed) &&
           (entry->compare == CANDIDATE_MORE ? difference > needed : difference >= needed);
}

static void write_entry(uint8_t *at, const struct candidate_entry *entry)
{
    little_endian_put(at, entry->begin, 8);
    little_endian_put(at + 8, entry->end, 8);
    little_endian_put(at + 16, entry->in, 8);
    little_endian_put(at + 24, entry->out, 8);
    little_endian_put(at + 32, entry->coordinates, 4);
    at[36] = entry->flags;
    at[37] = entry->minuend;
    at[38] = entry->subtrahend;
    at[39] = entry->shift;
    little_endian_put(at + 40, (uint64_t)entry->threshold, 8);
    little_endian_put(at + 48, entry->rounds, 8);
    at[56] = entry->step;
    at[57] = entry->compare;
    little_endian_put(at + 60, entry->same, 4);
}

uint8_t *candidate_table_write(const struct candidates *candidates, size_t *size)
{
    assert(candidates->count <= CANDIDATE_ENTRIES);
    *size = CANDIDATE_HEADER + candidates->count * CANDIDATE_ENTRY;
    uint8_t *bytes = alloc(*size, 1);
    memcpy(bytes, magic, sizeof magic);
    little_endian_put(bytes + 8, VERSION, 4);
    little_endian_put(bytes + 12, candidates->count, 4);
    for (size_t i = 0; i < candidates->count; i++) {
        struct candidate_entry entry = candidate_table_entry(&candidates->list[i]);
        write_entry(bytes + CANDIDATE_HEADER + i * CANDIDATE_ENTRY, &entry);
    }
    return bytes;
}

static bool read_entry(const uint8_t *at, size_t number, struct candidate_entry *entry, struct error *err)
{
    *entry = (struct candidate_entry){.begin = little_endian_get(at, 8),
                                      .end = little_endian_get(at + 8, 8),
                                      .in = little_endian_get(at + 16, 8),
                                      .out = little_endian_get(at + 24, 8),
                                      .coordinates = (uint32_t)little_endian_get(at + 32, 4),
                                      .flags = at[36],
                                      .minuend = at[37],
                                      .subtrahend = at[38],
                                      .shift = at[39],
                                      .threshold = (int64_t)little_endian_get(at + 40, 8),
                                      .rounds = little_endian_get(at + 48, 8),
                                      .step = at[56],
                                      .compare = at[57],
                                      .same = (uint32_t)little_endian_get(at + 60, 4)};
    if (entry->begin % 2 || entry->end % 2 || entry->begin == entry->end)
        return error_set(err,
                         "entry %zu of " CANDIDATE_SECTION " is from 0x%" PRIx64 " to 0x%" PRIx64
                         "; these must be two even addresses",
                         number, entry->begin, entry->end);
    if (entry->flags > 31 || entry->step > 31 || entry->compare > 2 || entry->minuend > 31 ||
        entry->subtrahend > 31 || entry->shift > 63 || (entry->in | entry->out) & 1)
        return error_set(
            err, "entry %zu of " CANDIDATE_SECTION " has flags, registers or a shift that do not exist",
            number);
    return true;
}

bool candidate_table_read(const uint8_t *bytes, size_t size, struct candidate_entry *entries, size_t *count,
                          struct error *err)
{
    *count = 0;
    if (size < CANDIDATE_HEADER || memcmp(bytes, magic, sizeof magic) != 0 ||
        little_endian_get(bytes + 8, 4) != VERSION)
        return error_set(err, CANDIDATE_SECTION " is not a table of version %d", VERSION);
    uint64_t number = little_endian_get(bytes + 12, 4);
    if (number > CANDIDATE_ENTRIES)
        return error_set(err, CANDIDATE_SECTION " has %" PRIu64 " entries; at most %d are allowed", number,
                         CANDIDATE_ENTRIES);
    if (size != CANDIDATE_HEADER + number * CANDIDATE_ENTRY)
        return error_set(err, CANDIDATE_SECTION " has %zu bytes; %" PRIu64 " entries take %" PRIu64, size,
                         number, CANDIDATE_HEADER + number * CANDIDATE_ENTRY);
    for (size_t i = 0; i < number; i++)
        if (!read_entry(bytes + CANDIDATE_HEADER + i * CANDIDATE_ENTRY, i, &entries[i], err))
            return false;
    *count = number;
    return true;
}
