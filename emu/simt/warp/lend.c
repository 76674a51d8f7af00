#include "emu/simt/warp_lend.h"

#include <assert.h>
#include <string.h>

#include "emu/simt/warp/code/meet.h"
#include "emu/simt/warp/state.h"

uint32_t warp_group(struct warp *warp, uint64_t *pc)
{
    uint32_t mask;
    (void)warp_next(warp, &mask);
    *pc = warp->pc;
    return mask;
}

static void copy_registers(struct warp *to, const struct warp *from, uint64_t set)
{
    for (uint64_t left = set & ~UINT64_C(1); left; left &= left - 1) {
        unsigned reg = (unsigned)__builtin_ctzll(left);
        if (reg < 32)
            memcpy(to->x[reg], from->x[reg], sizeof to->x[reg]);
        else
            memcpy(to->f[reg - 32], from->f[reg - 32], sizeof to->f[reg - 32]);
    }
}

void warp_lend(struct warp *to, struct warp *from, uint64_t in)
{
    uint64_t pc;
    uint32_t mask = warp_group(from, &pc);
    assert(mask && to->memory == from->memory);
    memset(to->x, 0, sizeof to->x);
    memset(to->f, 0, sizeof to->f);
    copy_registers(to, from, in);
    memset(to->fflags, 0, sizeof to->fflags);
    memcpy(to->frm, from->frm, sizeof to->frm);
    to->frm_set = from->frm_set;
    to->place = from->place;
    to->pad = from->pad;
    to->live = mask;
    to->mask = to->waiting = to->away = to->kept = to->reserved = 0;
    to->depth = 0;
    to->base = to->bound = 0;
    to->sharing = to->yielding = to->mixed = to->handed_over = to->failed = false;
    to->look.pc = 0;
    to->jumps = 0;
    to->stacked = from->stacked;
    to->level_count = 1;
    to->levels[0] = (struct warp_level){WARP_MEET_RETURN, to->count, UINT32_MAX, INT32_MIN};
    to->page = UINT64_MAX;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        to->lane_pc[lane] = pc;
        to->lane_depth[lane] = 0;
        to->lane_since[lane] = to->count;
    }
}

void warp_take_back(struct warp *to, const struct warp *from, uint32_t lanes, uint64_t out, uint64_t pc)
{
    assert(to->mask == lanes);
    for (uint64_t left = out & ~UINT64_C(1); left; left &= left - 1) {
        unsigned reg = (unsigned)__builtin_ctzll(left);
        for (uint32_t some = lanes; some; some &= some - 1) {
            unsigned lane = (unsigned)__builtin_ctz(some);
            warp_set_register(to, reg, lane, warp_register(from, reg, lane));
        }
    }
    for (uint32_t some = lanes; some; some &= some - 1)
        to->fflags[__builtin_ctz(some)] |= from->fflags[__builtin_ctz(some)];
    to->pc = pc;
}

uint32_t warp_arrive(struct warp *warp, uint64_t pc)
{
    uint64_t at;
    uint32_t mask = warp_group(warp, &at);
    if (!mask || at != pc)
        return 0;
    warp->kept |= mask;
    for (uint32_t left = mask; left; left &= left - 1)
        warp_end(warp, (unsigned)__builtin_ctz(left));
    return mask;
}
