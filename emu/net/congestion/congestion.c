#include "emu/net/congestion/congestion.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

struct congestion *congestion_new(const struct congestion_setup *setup)
{
    struct congestion *congestion = alloc(1, sizeof *congestion);
    *congestion = (struct congestion){.routers = alloc(setup->routers, sizeof *congestion->routers),
                                      .router_count = setup->routers,
                                      .threshold = setup->threshold,
                                      .limit = UINT32_C(1) << setup->hysteresis,
                                      .reorder = setup->reorder};
    for (uint32_t r = 0; r < setup->routers; r++) {
        struct congestion_router *router = &congestion->routers[r];
        uint32_t ports = setup->ports[r];
        *router = (struct congestion_router){
            .first_port = setup->first_port[r], .ports = ports, .candidates = setup->candidates[r]};
        router->pairs = alloc((size_t)ports * ports, sizeof *router->pairs);
        router->kept = alloc((size_t)ports * ports, sizeof *router->kept);
        router->ranks = alloc((size_t)ports * ports, sizeof *router->ranks);
        router->causes = alloc(ports, sizeof *router->causes);
        router->stalls = alloc(ports, sizeof *router->stalls);
        router->unselected = alloc(ports, sizeof *router->unselected);
        for (uint32_t i = 0; i < ports * ports; i++)
            router->ranks[i] = CONGESTION_NONE;
    }
    return congestion;
}

void congestion_free(struct congestion *congestion)
{
    if (!congestion)
        return;
    for (uint32_t r = 0; r < congestion->router_count; r++) {
        struct congestion_router *router = &congestion->routers[r];
        free(router->pairs);
        free(router->kept);
        free(router->ranks);
        free(router->causes);
        free(router->stalls);
        free(router->unselected);
    }
    free(congestion->routers);
    free(congestion);
}

/* Selects the output of the tracker that one at input `in` causes; CONGESTION_NONE: of the epoch's first tracker. */
static void select_output(const struct congestion *congestion, struct congestion_router *router, uint32_t in)
{
    uint32_t best = CONGESTION_NONE;
    for (uint32_t out = 0; out < router->ports; out++) {
        uint64_t stalls = router->stalls[out];
        if (!stalls || out == in || router->tracked & BIT(out) ||
            stalls * 100 < router->most * congestion->threshold)
            continue;
        if (best == CONGESTION_NONE || stalls > router->stalls[best])
            best = out;
    }
    if (best == CONGESTION_NONE)
        return;
    router->tracked |= BIT(best);
    router->pending |= BIT(best);
    router->causes[best] = (uint16_t)in;
}

/* Adds a pair at the end of the list, or notes that it is selected again. */
static void select_pair(struct congestion *congestion, struct congestion_router *router, uint32_t in,
                        uint32_t out)
{
    uint16_t *rank = &router->ranks[in * router->ports + out];
    if (*rank == CONGESTION_NONE) {
        *rank = (uint16_t)router->pair_count++;
        congestion->counters.pairs_added++;
    }
    router->pairs[*rank] = (struct congestion_pair){.in = (uint16_t)in,
                                                    .out = (uint16_t)out,
                                                    .turn = (uint16_t)router->selected_pairs++,
                                                    .selected = true};
}

void congestion_arrived(struct congestion *congestion, uint32_t router, uint32_t in)
{
    select_output(congestion, &congestion->routers[router], in);
}

void congestion_send(struct congestion *congestion, uint32_t router, uint32_t out)
{
    struct congestion_router *from = &congestion->routers[router];
    congestion->counters.trackers++;
    from->pending &= ~BIT(out);
    from->critical |= BIT(out);
    from->selected |= BIT(out);
    if (from->causes[out] != CONGESTION_NONE)
        select_pair(congestion, from, from->causes[out], out);
}

/* Removes pairs that no tracker has selected for 2^hysteresis epochs; the pairs after them move up. */
static void age_pairs(struct congestion *congestion, struct congestion_router *router)
{
    const uint32_t front = congestion->reorder ? router->selected_pairs : 0;
    uint32_t kept = front;
    for (uint32_t i = 0; i < router->pair_count; i++) {
        struct congestion_pair pair = router->pairs[i];
        pair.unselected = pair.selected ? 0 : pair.unselected + 1;
        if (pair.unselected >= congestion->limit) {
            router->ranks[pair.in * router->ports + pair.out] = CONGESTION_NONE;
            congestion->counters.pairs_removed++;
            continue;
        }
        uint32_t place = pair.selected && congestion->reorder ? pair.turn : kept++;
        pair.selected = false;
        router->kept[place] = pair;
        router->ranks[pair.in * router->ports + pair.out] = (uint16_t)place;
    }
    router->pair_count = kept;
    router->selected_pairs = 0;
    struct congestion_pair *free_pairs = router->pairs;
    router->pairs = router->kept;
    router->kept = free_pairs;
}

static void age_outputs(const struct congestion *congestion, struct congestion_router *router)
{
    for (uint64_t left = router->critical; left;) {
        uint32_t out = take_bit(&left);
        uint32_t *unselected = &router->unselected[out];
        *unselected = router->selected & BIT(out) ? 0 : *unselected + 1;
        if (*unselected < congestion->limit)
            continue;
        router->critical &= ~BIT(out);
        *unselected = 0;
    }
    router->selected = 0;
}

void congestion_end_epoch(struct congestion *congestion, const struct congestion_epoch *epoch)
{
    congestion->counters.epochs++;
    for (uint32_t r = 0; r < congestion->router_count; r++) {
        struct congestion_router *router = &congestion->routers[r];
        age_pairs(congestion, router);
        age_outputs(congestion, router);
        router->pending = router->tracked = router->most = 0;
        for (uint32_t p = 0; p < router->ports; p++) {
            router->stalls[p] = router->candidates & BIT(p) ? epoch[router->first_port + p].stalls : 0;
            router->most = router->stalls[p] > router->most ? router->stalls[p] : router->most;
        }
        select_output(congestion, router, CONGESTION_NONE);
    }
}

uint32_t congestion_width(const struct congestion_link *link, const struct congestion_epoch *epoch)
{
    uint32_t parts = link->parts;
    if (link->critical) {
        if (epoch->stalls > epoch->credits || epoch->credits * 4 > link->flits)
            return 1;
        return epoch->credits * 8 > link->flits ? 2 : 4;
    }
    if (epoch->stalls * 100 > link->most * link->threshold)
        return parts > 1 ? parts / 2 : 1;
    parts = parts < CONGESTION_NARROWEST ? parts * 2 : CONGESTION_NARROWEST;
    while (link->carries && parts > 1 && epoch->credits * parts > link->flits)
        parts /= 2;
    return parts;
}
