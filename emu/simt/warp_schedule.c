/* Choice of the lanes of a warp that execute next. */
#include "emu/simt/warp_state.h"

static unsigned first_of(uint32_t mask)
{
    return (unsigned)__builtin_ctz(mask);
}

static uint32_t runnable(const struct warp *warp)
{
    return warp->live & ~(warp->waiting | warp->away);
}

static void set_group(struct warp *warp, uint32_t mask)
{
    warp->mask = mask;
    warp->lanes = (uint32_t)__builtin_popcount(mask);
    warp->partial = mask != warp->live;
    if (!warp->partial)
        return;
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        warp->select[lane] = -(uint64_t)(mask >> lane & 1);
}

void warp_park(struct warp *warp, uint64_t pc)
{
    for (uint32_t left = warp->mask; left; left &= left - 1) {
        unsigned lane = first_of(left);
        warp->lane_pc[lane] = pc;
        warp->lane_depth[lane] = warp->depth;
        warp->lane_since[lane] = warp->count;
    }
    warp->mask = 0;
    warp->bound = 0;
}

/* Makes the lanes of `among` with the pc and depth of `lane` the group. */
static void gather(struct warp *warp, uint32_t among, unsigned lane)
{
    uint32_t mask = 0;
    for (uint32_t left = among; left; left &= left - 1) {
        unsigned other = first_of(left);
        if (warp->lane_pc[other] == warp->lane_pc[lane] && warp->lane_depth[other] == warp->lane_depth[lane])
            mask |= UINT32_C(1) << other;
    }
    warp->pc = warp->lane_pc[lane];
    warp->depth = warp->lane_depth[lane];
    set_group(warp, mask);
}

static bool comes_first(const struct warp *warp, unsigned a, unsigned b)
{
    if (warp->lane_depth[a] != warp->lane_depth[b])
        return warp->lane_depth[a] > warp->lane_depth[b];
    return warp->lane_pc[a] < warp->lane_pc[b];
}

/* Sets the pc at which a parked lane joins or precedes the group, and the parked lane that has waited
 * longest. */
static void set_limits(struct warp *warp)
{
    uint32_t parked = runnable(warp) & ~warp->mask;
    warp->bound = warp->deadline = UINT64_MAX;
    for (uint32_t left = parked; left; left &= left - 1) {
        unsigned lane = first_of(left);
        if (warp->lane_depth[lane] == warp->depth && warp->lane_pc[lane] < warp->bound)
            warp->bound = warp->lane_pc[lane];
        if (warp->lane_since[lane] < warp->deadline) {
            warp->deadline = warp->lane_since[lane];
            warp->oldest = (uint8_t)lane;
        }
    }
    if (parked)
        warp->deadline += WARP_TURN;
}

static void choose(struct warp *warp, uint32_t can)
{
    unsigned best = first_of(can);
    for (uint32_t left = can; left; left &= left - 1) {
        if (comes_first(warp, first_of(left), best))
            best = first_of(left);
    }
    gather(warp, can, best);
    set_limits(warp);
}

/* Lets the lane that has waited longest go first for WARP_SHARE instructions. */
static void share(struct warp *warp, uint32_t can)
{
    gather(warp, can, warp->oldest);
    warp->sharing = true;
    warp->bound = UINT64_MAX;
    warp->deadline = warp->count + WARP_SHARE;
}

bool warp_schedule(struct warp *warp)
{
    uint32_t yielding = warp->yielding ? warp->mask : 0;
    if (warp->mask)
        warp_park(warp, warp->pc);
    warp->sharing = warp->yielding = false;
    uint32_t can = runnable(warp);
    if (!can)
        return false;
    choose(warp, can);
    if (warp->count >= warp->deadline || ((yielding & warp->mask) && (can & ~warp->mask)))
        share(warp, can);
    return true;
}

/* Called after the lanes were parked at different places. While sharing, the group stays with the oldest
 * lane. */
static void regroup(struct warp *warp, uint64_t deadline)
{
    warp->taken_apart = true;
    if (!warp->sharing)
        return;
    gather(warp, runnable(warp), warp->oldest);
    warp->bound = UINT64_MAX;
    warp->deadline = deadline;
}

void warp_split(struct warp *warp, uint32_t taken, uint64_t target, uint64_t next)
{
    uint32_t mask = warp->mask;
    uint64_t deadline = warp->deadline;
    warp_park(warp, next);
    for (uint32_t left = mask & taken; left; left &= left - 1)
        warp->lane_pc[first_of(left)] = target;
    regroup(warp, deadline);
}

void warp_scatter(struct warp *warp, const uint64_t targets[WARP_LANES])
{
    uint32_t mask = warp->mask;
    uint64_t deadline = warp->deadline;
    warp_park(warp, 0);
    for (uint32_t left = mask; left; left &= left - 1)
        warp->lane_pc[first_of(left)] = targets[first_of(left)];
    regroup(warp, deadline);
}

/* After a call, the group precedes all parked lanes; after a return, it may be equal to some. */
void warp_change_depth(struct warp *warp, int change)
{
    warp->depth += change;
    if (!warp->partial || warp->sharing)
        return;
    warp->bound = change > 0 ? UINT64_MAX : 0;
}

void warp_yield(struct warp *warp)
{
    warp->spins = true;
    if (!warp->partial)
        return;
    warp->yielding = true;
    warp->bound = 0;
}

void warp_look(struct warp *warp, uint64_t pc)
{
    struct warp_look *look = &warp->look;
    unsigned lane = first_of(warp->mask);
    uint64_t differ = (look->pc ^ pc) | (look->mask ^ warp->mask);
    for (unsigned i = 1; i < 32; i++) {
        differ |= look->x[i] ^ warp->x[i][lane];
        look->x[i] = warp->x[i][lane];
    }
    look->pc = pc;
    look->mask = warp->mask;
    if (!differ)
        warp_yield(warp);
}
