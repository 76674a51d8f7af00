#include "emu/axram/controller/units.h"

#include <string.h>

enum { WORD = 4 };

static uint32_t word_at(const uint8_t *block, unsigned number)
{
    const uint8_t *at = block + (size_t)number * WORD;
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put_word(uint8_t *block, unsigned number, uint32_t value)
{
    uint8_t *at = block + (size_t)number * WORD;
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
    at[3] = (uint8_t)(value >> 24);
}

void axram_units_select(struct axram_units *units, unsigned part, unsigned parts)
{
    units->first = part * AXRAM_HALVES / parts;
    units->end = (part + 1) * AXRAM_HALVES / parts;
}

void axram_units_refill(struct axram_units *units, uint32_t number, const uint8_t *block)
{
    const unsigned entry = number * AXRAM_REFILL % AXRAM_ENTRIES;
    uint32_t differ[AXRAM_REFILL] = {0};
    for (unsigned half = units->first; half < units->end; half++)
        for (unsigned i = 0; i < AXRAM_REFILL; i++) {
            units->weights[half][entry + i] = word_at(block, half * AXRAM_REFILL + i);
            differ[i] |= units->weights[half][entry + i] ^ units->weights[units->first][entry + i];
        }
    for (unsigned i = 0; i < AXRAM_REFILL; i++)
        units->uniform[entry + i] = differ[i] == 0;
}

void axram_units_clear(struct axram_units *units)
{
    memset(units->sums, 0, sizeof units->sums);
}

unsigned axram_units_equal(const struct axram_units *units, uint32_t number, unsigned half)
{
    const uint32_t entry = number % AXRAM_ENTRIES, weight = units->weights[half][entry];
    if (units->uniform[entry])
        return units->end;
    while (++half < units->end && units->weights[half][entry] == weight)
        continue;
    return half;
}

void axram_units_add(struct axram_units *units, uint32_t number, const uint8_t *block)
{
    uint32_t data[AXRAM_UNITS];
    for (unsigned unit = units->first * AXRAM_HALF_UNITS; unit < units->end * AXRAM_HALF_UNITS; unit++)
        data[unit] = word_at(block, unit);
    for (unsigned half = units->first, end; half < units->end; half = end) {
        end = axram_units_equal(units, number, half);
        arith_accumulate_units(units->kind, &units->sums[half * AXRAM_HALF_UNITS],
                               &data[half * AXRAM_HALF_UNITS], (end - half) * AXRAM_HALF_UNITS,
                               units->weights[half][number % AXRAM_ENTRIES]);
    }
}

unsigned axram_units_clocks(const struct axram_units *units, uint32_t number)
{
    unsigned most = 0;
    for (unsigned half = units->first; half < units->end; half = axram_units_equal(units, number, half)) {
        const unsigned clocks = arith_clocks(units->kind, units->weights[half][number % AXRAM_ENTRIES]);
        most = clocks > most ? clocks : most;
    }
    return most;
}

void axram_units_write(const struct axram_units *units, uint8_t *block)
{
    for (unsigned unit = units->first * AXRAM_HALF_UNITS; unit < units->end * AXRAM_HALF_UNITS; unit++)
        put_word(block, unit, arith_sigmoid(units->kind, units->sums[unit]));
}

void axram_units_save(const struct axram_units *units, unsigned part, uint8_t *block)
{
    for (unsigned unit = units->first * AXRAM_HALF_UNITS; unit < units->end * AXRAM_HALF_UNITS; unit++)
        put_word(block, unit, (uint32_t)(units->sums[unit] >> 32 * part));
}

void axram_units_load(struct axram_units *units, unsigned part, const uint8_t *block)
{
    for (unsigned unit = units->first * AXRAM_HALF_UNITS; unit < units->end * AXRAM_HALF_UNITS; unit++) {
        const uint64_t kept = units->sums[unit] & (part ? UINT32_MAX : UINT64_MAX << 32);
        units->sums[unit] = kept | (uint64_t)word_at(block, unit) << 32 * part;
    }
}
