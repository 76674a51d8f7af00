/* The queue of a team's requests, and the phases of an invocation by several chips. */
#include <stdlib.h>
#include <string.h>

#include "emu/axram/controller/state.h"
#include "emu/sim/alloc.h"

enum {
    TURN_CLOCKS = 8, /* from one look at whether ordinary bursts have had their turn to the next */
};

/* Returns whether all chips of an invocation work on it. */
static bool is_shared(const struct axram_team *team)
{
    return team->count > 1 && team->first->invokes;
}

/* Returns the chip of a request that one chip works on. */
static struct axram_chip *only_chip(const struct axram_team *team)
{
    return &team->chips[team->count > 1 ? team->first->chip : 0];
}

/* The last chip of a team that comes to the end of a phase lets the phase end. */
static void arrived(struct axram_chip *chip, uint64_t time, uint64_t message)
{
    struct axram_team *team = chip->team;
    team->last_report = time > team->last_report ? time : team->last_report;
    if (++team->reported < team->count)
        return;
    team->reported = 0;
    event_schedule(team->shared->queue, &team->next, team->last_report + message);
    team->last_report = 0;
}

/* Writes the results, if what was read has not changed, or computes anew. */
static void commit(struct axram_team *team)
{
    struct axram_shared *shared = team->shared;
    const struct axram_request *request = team->first;
    const unsigned layers = request->topology.layers;
    bool torn = false;
    for (uint32_t i = 0; i < team->count; i++)
        torn |= axram_chip_is_torn(&team->chips[i]);
    if (torn) {
        shared->counters.torn++;
        axram_execute(shared, request, NULL);
        return;
    }
    for (unsigned i = 0; i < request->topology.size[layers]; i++)
        axram_put_results(shared, request, i,
                          team->chips[axram_share_holder(&team->sharing, layers, i)].results[i]);
}

/* Requests. */

/* Lets the request that now has room come to the queue, and starts the first one. */
static void let_in(struct axram_team *team, uint64_t now)
{
    struct axram_request *request = team->first;
    for (uint32_t i = 1; request && i < team->shared->depth; i++)
        request = request->next;
    if (request && request->ready == CLOCK_NEVER)
        request->ready = now + team->shared->retry;
    if (team->first)
        event_schedule(team->shared->queue, &team->start,
                       team->first->ready > now ? team->first->ready : now);
}

/* Gives the chips back, and lets the next request begin. */
static void end_request(struct axram_team *team, uint64_t now)
{
    struct axram_request *request = team->first;
    struct axram_counters *counters = &team->shared->counters;
    const bool shared = is_shared(team);
    *(request->invokes ? &counters->invocations : &counters->configurations) += 1;
    team->first = request->next;
    team->queued--;
    if (!team->first)
        team->last = &team->first;
    for (uint32_t i = 0; shared && i < team->count; i++)
        axram_chip_release(&team->chips[i]);
    if (!shared)
        axram_chip_release(&team->chips[team->count > 1 ? request->chip : 0]);
    let_in(team, now);
    request->done(request, now);
}

static void finished(struct axram_chip *chip, uint64_t now)
{
    if (is_shared(chip->team))
        axram_chip_give(chip);
    else
        end_request(chip->team, now);
}

static const struct axram_chip_ops chip_ops = {arrived, finished};

/* The event when all chips have come to the end of a phase. */
static void next(void *owner, uint64_t now)
{
    struct axram_team *team = owner;
    const struct axram_chip *chip = team->chips;
    if (chip->request == NULL) { /* the home's controller has told the others */
        for (uint32_t i = 0; i < team->count; i++) {
            (void)dram_memory_reach(team->chips[i].memory, team->chips[i].channel);
            axram_chip_begin(&team->chips[i], team->first, AXRAM_GIVE);
        }
        return;
    }
    if (team->done) {
        team->done = false;
        commit(team);
        end_request(team, now);
        return;
    }
    team->done = chip->layer == team->first->topology.layers;
    for (uint32_t i = 0; i < team->count; i++)
        axram_chip_take(&team->chips[i]);
}

/* Takes the chips for the first request of the queue. */
static void take(void *owner, uint64_t now)
{
    struct axram_team *team = owner;
    struct axram_request *request = team->first;
    struct axram_shared *shared = team->shared;
    bool turns = true;
    for (uint32_t i = 0; i < team->count; i++)
        turns = turns && ((!is_shared(team) && &team->chips[i] != only_chip(team)) ||
                          axram_has_had_turn(&team->chips[i]));
    if (!turns) {
        event_schedule(shared->queue, &team->start, now + TURN_CLOCKS * shared->dram->tCK);
        return;
    }
    if (!is_shared(team)) {
        struct axram_chip *chip = only_chip(team);
        axram_chip_begin(chip, request, request->invokes ? AXRAM_SEND : AXRAM_HEADER);
        shared->counters.wait_clocks += chip->taken - request->arrived;
        return;
    }
    team->sharing = axram_sharing_of(shared, request);
    shared->counters.wait_clocks +=
        dram_memory_reach(team->chips->memory, team->chips->channel)->floor - request->arrived;
    event_schedule(shared->queue, &team->next, now + shared->message);
}

void axram_team_request(struct axram_team *team, struct axram_request *request)
{
    struct axram_shared *shared = team->shared;
    const uint32_t chip = team->count > 1 && !request->invokes ? request->chip : 0;
    request->next = NULL;
    request->arrived = dram_memory_reach(team->chips[chip].memory, team->chips[chip].channel)->floor;
    request->ready = team->queued < shared->depth ? shared->queue->now : CLOCK_NEVER;
    shared->counters.full += team->queued >= shared->depth;
    *team->last = request;
    team->last = &request->next;
    if (team->queued++ == 0)
        take(team, shared->queue->now);
}

void axram_team_init(struct axram_team *team, struct axram_shared *shared, struct dram_memory *memory,
                     uint32_t channel, uint32_t count, uint32_t half)
{
    *team = (struct axram_team){.shared = shared, .count = count};
    team->last = &team->first;
    team->chips = alloc(count, sizeof *team->chips);
    for (uint32_t i = 0; i < count; i++)
        axram_chip_init(&team->chips[i], team, memory, channel + i, half, &chip_ops);
    event_init(&team->start, shared->component, take, team);
    event_init(&team->next, shared->component, next, team);
}

void axram_team_free(struct axram_team *team)
{
    event_cancel(team->shared->queue, &team->start);
    event_cancel(team->shared->queue, &team->next);
    for (uint32_t i = 0; i < team->count; i++)
        axram_chip_free(&team->chips[i]);
    free(team->chips);
    team->chips = NULL;
}
