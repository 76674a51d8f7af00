#include "emu/sim/clock.h"

#include <inttypes.h>

bool clock_set_frequency(struct clock *clock, uint64_t hertz, struct error *err)
{
    const uint64_t least = 1000, most = UINT64_C(1000000000000);
    if (hertz < least || hertz > most)
        return error_set(err, "a clock of %" PRIu64 " Hz is out of range: 1 kHz to 1 THz is allowed", hertz);
    clock->period = (CLOCK_SECOND + hertz / 2) / hertz;
    return true;
}
