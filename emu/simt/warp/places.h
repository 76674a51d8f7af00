/* Where lanes are, for the choice of those that execute next (schedule.c). Included by rows.h. */

/* Returns the lanes that are parked at a place. */
static uint32_t places_at(const struct warp *warp, uint64_t pc, int64_t depth)
{
    _Alignas(64) uint64_t met[WARP_LANES];
    EACH_LANE
    met[lane] = -(uint64_t)((warp->lane_pc[lane] ^ pc) == 0 && (warp->lane_depth[lane] ^ depth) == 0);
    return lanes_met(met);
}

/* Returns the lanes that are parked in deeper calls, or in one of this depth, but not at `stop`. */
static uint32_t places_beyond(const struct warp *warp, uint64_t stop, int64_t depth)
{
    _Alignas(64) uint64_t met[WARP_LANES];
    EACH_LANE
    met[lane] = -(uint64_t)(warp->lane_depth[lane] > depth) |
                (-(uint64_t)(warp->lane_depth[lane] == depth) & -(uint64_t)(warp->lane_pc[lane] != stop));
    return lanes_met(met);
}

/* Sets warp->select. */
static void places_select(struct warp *warp, uint32_t mask)
{
    EACH_LANE
    warp->select[lane] = -(uint64_t)(mask >> lane & 1);
}

/* Notes the place of the group's lanes. */
static void places_park(struct warp *warp, uint64_t pc)
{
    const uint64_t count = warp->count;
    const int64_t depth = warp->depth;
    if (warp->mask == UINT32_MAX) {
        EACH_LANE
        {
            warp->lane_pc[lane] = pc;
            warp->lane_since[lane] = count;
            warp->lane_depth[lane] = depth;
        }
        return;
    }
    EACH_LANE
    {
        const uint64_t select = warp->select[lane];
        warp->lane_pc[lane] = (pc & select) | (warp->lane_pc[lane] & ~select);
        warp->lane_since[lane] = (count & select) | (warp->lane_since[lane] & ~select);
        warp->lane_depth[lane] = (depth & (int64_t)select) | (warp->lane_depth[lane] & ~(int64_t)select);
    }
}
