#include "emu/tom/mapping/offsets.h"

/* Returns whether the instruction had this offset the first time. */
static bool is_fixed(struct tom_offsets *offsets, uint64_t pc, uint64_t offset)
{
    unsigned i = 0;
    while (i < offsets->count && offsets->pc[i] != pc)
        i++;
    if (i == TOM_ACCESSES)
        return false;
    if (i == offsets->count) {
        offsets->pc[i] = pc;
        offsets->offset[i] = offset;
        offsets->count++;
    }
    return offsets->offset[i] == offset;
}

void tom_offsets_access(struct tom_offsets *offsets, struct tom_offsets_led *led,
                        const struct warp_report *report)
{
    const unsigned lane = (unsigned)__builtin_ctz(report->mask);
    if (!offsets->leader)
        offsets->leader = report->pc;
    if (led->lanes >> lane & 1) {
        offsets->measured++;
        offsets->fixed += is_fixed(offsets, report->pc, report->address[lane] - led->address[lane]);
    }
    if (report->pc != offsets->leader)
        return;
    led->lanes |= report->mask;
    for (uint32_t left = report->mask; left; left &= left - 1) {
        const unsigned each = (unsigned)__builtin_ctz(left);
        led->address[each] = report->address[each];
    }
}
