#include "emu/net/flits/calendar.h"

#include <stdlib.h>

void calendar_init(struct calendar *calendar, uint64_t horizon)
{
    uint32_t slots = 64;
    while (slots <= horizon)
        slots *= 2;
    *calendar = (struct calendar){.slots = alloc(slots, sizeof *calendar->slots),
                                  .spares = alloc(slots, sizeof *calendar->spares),
                                  .occupied = alloc(slots / 64, sizeof *calendar->occupied),
                                  .mask = slots - 1};
}

void calendar_free(struct calendar *calendar)
{
    for (uint32_t s = 0; s <= calendar->mask; s++) {
        free(calendar->slots[s].flits);
        free(calendar->slots[s].credits);
    }
    for (uint32_t s = 0; s < calendar->spare_count; s++) {
        free(calendar->spares[s].flits);
        free(calendar->spares[s].credits);
    }
    free(calendar->slots);
    free(calendar->spares);
    free(calendar->occupied);
}

uint64_t calendar_next(const struct calendar *calendar, uint64_t from)
{
    uint32_t words = calendar->mask / 64 + 1, first = (uint32_t)from & calendar->mask;
    for (uint32_t i = 0; i <= words; i++) {
        uint32_t word = (first / 64 + i) % words;
        uint64_t bits = calendar->occupied[word];
        if (i == 0)
            bits &= ~UINT64_C(0) << first % 64;
        else if (i == words)
            bits &= ~(~UINT64_C(0) << first % 64);
        if (bits) {
            uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(bits);
            return from + ((index - first) & calendar->mask);
        }
    }
    return CLOCK_NEVER;
}
