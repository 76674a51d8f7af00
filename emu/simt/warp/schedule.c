/* Choice of the lanes of a warp that execute next. */
#include "emu/simt/warp/code/meet.h"
#include "emu/simt/warp/state.h"

static unsigned first_of(uint32_t mask)
{
    return (unsigned)__builtin_ctz(mask);
}

static uint32_t runnable(const struct warp *warp)
{
    return warp->live & ~(warp->waiting | warp->away);
}

static const struct warp_table *places(const struct warp *warp)
{
    return warp_code_table(warp->memory->code);
}

static void set_group(struct warp *warp, uint32_t mask)
{
    warp->mask = mask;
    warp->lanes = (uint32_t)__builtin_popcount(mask);
    warp->partial = mask != (warp->live | warp->kept);
    if (mask != UINT32_MAX)
        places(warp)->select(warp, mask);
}

void warp_park(struct warp *warp, uint64_t pc)
{
    if (warp->mask)
        places(warp)->park(warp, pc);
    warp->mask = 0;
    warp->bound = 0;
}

/* Returns the lanes that are where this one is. */
static uint32_t together(const struct warp *warp, unsigned lane)
{
    return places(warp)->at(warp, warp->lane_pc[lane], warp->lane_depth[lane]);
}

/* Makes the lanes of `among` with the pc and depth of `lane` the group. */
static void gather(struct warp *warp, uint32_t among, unsigned lane)
{
    warp->pc = warp->lane_pc[lane];
    warp->depth = (int32_t)warp->lane_depth[lane];
    set_group(warp, together(warp, lane) & among);
}

static bool comes_first(const struct warp *warp, unsigned a, unsigned b)
{
    if (warp->lane_depth[a] != warp->lane_depth[b])
        return warp->lane_depth[a] > warp->lane_depth[b];
    return warp->lane_pc[a] < warp->lane_pc[b];
}

/* Sets the pc at which another of the lanes in `can` joins or precedes the group, and the one that has waited longest. */
static void set_limits(struct warp *warp, uint32_t can)
{
    uint32_t parked = can & ~warp->mask;
    warp->base = 0;
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
    for (uint32_t left = can; left; left &= ~together(warp, first_of(left))) {
        if (comes_first(warp, first_of(left), best))
            best = first_of(left);
    }
    gather(warp, can, best);
    set_limits(warp, can);
}

/* Lets the lane that has waited longest go first for WARP_SHARE instructions. */
static void share(struct warp *warp, uint32_t can)
{
    gather(warp, can, warp->oldest);
    warp->sharing = true;
    warp->base = 0;
    warp->bound = UINT64_MAX;
    warp->deadline = warp->count + WARP_SHARE;
}

/* The reconvergence stack. */

static struct warp_level *top_of(struct warp *warp)
{
    return &warp->levels[warp->level_count - 1];
}

/* Returns the parked lanes of the level that have not reached its stop. */
static uint32_t pending(const struct warp *warp, const struct warp_level *level)
{
    return places(warp)->beyond(warp, level->stop, level->depth) & level->mask & warp->live;
}

/* Returns the lanes among `can` of the highest level that has some, and drops the levels above. The lanes of a dropped level have
 * reached its stop, or wait for lanes further below (a barrier); they continue as lanes of the level below. */
static uint32_t drop_to(struct warp *warp, uint32_t can)
{
    if (warp->level_count == 1)
        return can; /* the first level has all lanes, and no stop */
    uint32_t set = pending(warp, top_of(warp)) & can;
    while (!set && warp->level_count > 1) {
        warp->level_count--;
        set = pending(warp, top_of(warp)) & can;
    }
    return set;
}

/* Sets the pc at which the group has to stop, at its current depth. */
static void set_stop(struct warp *warp)
{
    const struct warp_level *top = top_of(warp);
    warp->base = warp->depth == top->depth ? top->stop + 1 : 0;
    warp->bound = warp->depth < top->depth ? 0 : UINT64_MAX;
}

/* Sets the limits of a group among the lanes in `can` of the top level. If these are at different places, the next
 * instruction chooses again; in the first level, which has no stop, they run like lanes without a stack. */
static void set_level_limits(struct warp *warp, uint32_t can)
{
    warp->mixed = warp->mask != can;
    if (warp->mask == warp->live)
        warp->level_count = 1;
    if (warp->level_count == 1)
        return;
    set_stop(warp);
    if (warp->mixed)
        warp->bound = 0;
    warp->deadline = warp->levels[1].since + WARP_PATIENCE;
}

static void push(struct warp *warp, uint32_t mask, uint64_t stop, int32_t depth)
{
    if (warp->level_count == WARP_LEVELS)
        return;
    warp->levels[warp->level_count++] = (struct warp_level){stop, warp->count, mask, depth};
}

/* Pushes the levels of a group whose lanes have parted and were parked: one of all lanes until the stop, unless that is the
 * level on top, and one for each path but the last. The path with the deepest call, then the lowest pc, is on top. */
static void part(struct warp *warp, uint32_t group, uint64_t stop, int32_t depth)
{
    if (top_of(warp)->stop != stop || top_of(warp)->depth != depth)
        push(warp, group, stop, depth);
    const struct warp_level join = {stop, 0, group, depth};
    for (uint32_t left = pending(warp, &join); left;) {
        unsigned last = first_of(left);
        for (uint32_t todo = left; todo; todo &= ~together(warp, first_of(todo)))
            last = comes_first(warp, last, first_of(todo)) ? first_of(todo) : last;
        left &= ~together(warp, last);
        if (left)
            push(warp, left, stop, depth);
    }
}

/* Drops all levels but the first, because lanes wait for others of the warp for ever, or for an unknown time. */
static void hand_over(struct warp *warp)
{
    warp->handed_over = warp->handed_over || warp->level_count > 1;
    warp->level_count = 1;
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
    if (warp->stacked) {
        bool late = warp->level_count > 1 && warp->count >= warp->levels[1].since + WARP_PATIENCE;
        if (late || (yielding && (can & ~yielding)))
            hand_over(warp);
        can = drop_to(warp, can);
    }
    choose(warp, can);
    if (warp->stacked)
        set_level_limits(warp, can);
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
    warp->base = 0;
    warp->bound = UINT64_MAX;
    warp->deadline = deadline;
}

void warp_split(struct warp *warp, const struct warp_op *op, uint32_t taken, uint64_t target, uint64_t next)
{
    uint32_t mask = warp->mask;
    uint64_t deadline = warp->deadline;
    warp_park(warp, next);
    for (uint32_t left = mask & taken; left; left &= left - 1)
        warp->lane_pc[first_of(left)] = target;
    if (warp->stacked && !warp->sharing) {
        struct warp_op *branch = (struct warp_op *)(uintptr_t)op; /* the op of the code cache */
        if (!op->meet)
            branch->meet = warp_meet(warp->memory, op->stream.pc);
        part(warp, mask, op->meet, warp->depth);
    }
    regroup(warp, deadline);
}

/* Pushes the levels after an indirect jump. The lanes of a call meet at the instruction after it, those of another jump where
 * their paths first join; those of a return stay in their level. */
static void part_indirect(struct warp *warp, const struct warp_op *op, uint32_t mask)
{
    uint64_t targets[WARP_LANES];
    unsigned count = 0;
    if (op->stream.flags & STREAM_CALL) {
        part(warp, mask, op->stream.pc + op->insn.length, warp->depth - 1);
        return;
    }
    if (op->stream.flags & STREAM_RETURN)
        return;
    for (uint32_t left = mask; left; left &= left - 1)
        targets[count++] = warp->lane_pc[first_of(left)];
    part(warp, mask, warp_meet_of(warp->memory, targets, count), warp->depth);
}

void warp_scatter(struct warp *warp, const struct warp_op *op, const uint64_t targets[WARP_LANES])
{
    uint32_t mask = warp->mask;
    uint64_t deadline = warp->deadline;
    warp_park(warp, 0);
    for (uint32_t left = mask; left; left &= left - 1)
        warp->lane_pc[first_of(left)] = targets[first_of(left)];
    if (warp->stacked && !warp->sharing)
        part_indirect(warp, op, mask);
    regroup(warp, deadline);
}

/* After a call, the group precedes all parked lanes; after a return, it may be equal to some. */
void warp_change_depth(struct warp *warp, int change)
{
    warp->depth += change;
    if (!warp->partial || warp->sharing)
        return;
    if (warp->stacked && !warp->mixed)
        set_stop(warp);
    else if (!warp->stacked || warp->level_count == 1)
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
