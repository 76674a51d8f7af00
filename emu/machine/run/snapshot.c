/* The state of a system in a snapshot. */
#include <stdio.h>

#include "emu/hart/priv/snapshot.h"
#include "emu/machine/system.h"

/* The position within a round: a run that goes on and one that is restored end each turn at the same instruction. */
static void snapshot_round(struct system *system, unsigned count, bool clocked, struct snapshot *s)
{
    struct system_round round = system->round;
    const struct hart *hart = &system->harts[system->current];
    round.start = snapshot_number(s, "start", round.start, INT64_MAX);
    round.length = snapshot_number(s, "length", round.length, INT64_MAX);
    uint64_t used = snapshot_number(s, "used", hart_progress(hart) - round.turn_start, INT64_MAX);
    round.turn_over = snapshot_flag(s, "turn_over", round.turn_over);
    unsigned current = (unsigned)snapshot_number(s, "current", system->current, count - 1);
    if (s->saves || s->failed || clocked)
        return;
    system->current = current;
    system->round = round;
    system->round.turn_start = hart_progress(&system->harts[current]) - used;
}

/* Time is (base + progress - origin) / divisor + offset; the progress of a restored hart begins at 0. */
static void snapshot_time(struct system *system, unsigned i, bool clocked, struct snapshot *s)
{
    struct hart *hart = &system->harts[i];
    uint64_t progress = hart_progress(hart);
    uint64_t base = snapshot_number(s, "time_base", hart->time_base, INT64_MAX);
    uint64_t since = snapshot_number(s, "since", progress - hart->time_origin, INT64_MAX);
    bool waiting = snapshot_flag(s, "waiting", system->waiting[i]);
    if (s->saves || s->failed || clocked)
        return;
    hart->time_base = base;
    hart->time_origin = progress - since;
    system->waiting[i] = waiting;
}

void system_snapshot(struct system *system, unsigned count, bool clocked, struct snapshot *s)
{
    char name[SNAPSHOT_NAME];
    snapshot_section(s, "rounds");
    uint64_t now = snapshot_number(s, "now", system_time(system), INT64_MAX);
    uint64_t offset = snapshot_number(s, "time_offset", system->harts[0].time_offset, UINT64_MAX);
    snapshot_round(system, count, clocked, s);
    for (unsigned i = 0; i < count && !s->failed; i++) {
        (void)snprintf(name, sizeof name, "hart.%u", i);
        snapshot_section(s, name);
        hart_snapshot(&system->harts[i], s);
        snapshot_time(system, i, clocked, s);
    }
    if (!s->saves && !s->failed)
        system_set_time(system, now + offset);
}
