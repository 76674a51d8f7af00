#include "emu/core/tile.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/core/inorder.h"
#include "emu/core/ooo.h"
#include "emu/core/report/track.h"
#include "emu/mem/denovo_domain.h"
#include "emu/sim/alloc.h"

enum role { L1I, L1D, TLB }; /* in the order of core_kind's roles */

enum { NAME = 272 };

/* Makes a cache of the core: coherent if there is a last level below, else a last level itself. */
static struct cache *make_cache(const struct part_site *site, enum role role, const char *name)
{
    const struct core_site *place = site->place;
    struct cache_config config = *(const struct cache_config *)site->below[role];
    char path[NAME];
    (void)snprintf(path, sizeof path, "%s.%s", site->name, name);
    struct denovo_domain *domain = place->memory->level ? llc_slices_domain(place->memory->level) : NULL;
    config.coherent = place->memory->level && !domain;
    struct cache *cache =
        cache_new(path, &config, site->queue, site->clock, part_component(site), place->number, NULL, NULL);
    if (domain) {
        const struct denovo_place where = denovo_place_of(&place->memory->mail, 0);
        cache_join(cache, domain, &where);
    }
    if (!place->memory->level)
        cache_set_homes(cache, place->memory->homes);
    return cache;
}

static struct core_tlb *make_tlb(const struct core_config *config, const struct part_site *site,
                                 struct cache *walk_cache)
{
    const struct core_site *place = site->place;
    struct core_tlb *tlb = tlb_new(site->below[TLB], place->hart, site->queue, site->clock,
                                   part_component(site), place->number, walk_cache);
    tlb_set_ranges(tlb, config->range_tlb_entries);
    return tlb;
}

static bool make_core(struct core_tile *tile, const struct core_config *config, const struct part_site *site,
                      struct error *err)
{
    const struct core_site *place = site->place;
    struct core_parts parts = {
        .name = site->name,
        .hart = place->hart,
        .queue = site->queue,
        .clock = *site->clock,
        .number = place->number,
        .l1i = tile->l1i,
        .l1d = tile->l1d,
        .tlb = tile->tlb,
        .mmio_clocks = clock_cycle(site->clock, place->device_time),
        .near = place->near,
        .posted_stores = config->posted_stores,
        .tick = place->tick,
        .server = place->server,
    };
    if (place->mechanism && !place->mechanism(place->context, site, &parts, config, &parts.offload, err))
        return false;
    parts.component = part_component(site);
    tile->core = config->core == CORE_OOO ? ooo_new(config, &parts, err) : inorder_new(config, &parts, err);
    return tile->core;
}

void *core_tile_make(const void *part, const struct part_site *site, struct error *err)
{
    const struct core_config *config = part;
    const struct core_site *place = site->place;
    if (!clock_set_frequency(site->clock, config->clock, err))
        return NULL;
    if (place->memory->level && llc_slices_domain(place->memory->level) &&
        !(cache_may_join(site->below[L1I], "l1i", err) && cache_may_join(site->below[L1D], "l1d", err)))
        return NULL;
    struct core_tile *tile = alloc(1, sizeof *tile);
    tile->llc = place->memory->level;
    tile->far = place->memory->far;
    tile->l1i = make_cache(site, L1I, "l1i");
    tile->l1d = make_cache(site, L1D, "l1d");
    if (place->hart->privileged)
        tile->tlb = make_tlb(config, site, tile->l1d);
    if (make_core(tile, config, site, err))
        return tile;
    core_tile_free(tile);
    return NULL;
}

void core_tile_free(void *part)
{
    struct core_tile *tile = part;
    core_free(tile->core);
    if (tile->tlb)
        tlb_free(tile->tlb);
    cache_free(tile->l1d);
    cache_free(tile->l1i);
    free(tile);
}

void core_tile_connect(void *part, unsigned port, unsigned slot, const struct part_end *server)
{
    struct core_tile *tile = part;
    (void)port;
    (void)slot;
    cache_connect(tile->l1i, server->ops, server->object);
    cache_connect(tile->l1d, server->ops, server->object);
    if (!tile->llc || llc_slices_domain(tile->llc))
        return;
    (tile->far ? llc_slices_attach_far : llc_slices_attach)(tile->llc, tile->l1i);
    (tile->far ? llc_slices_attach_far : llc_slices_attach)(tile->llc, tile->l1d);
}

void core_tile_publish(void *part, struct stats *stats, struct scope scope)
{
    struct core_tile *tile = part;
    core_publish(tile->core, stats, scope);
    stats_counter(stats, scope, "instructions", &tile->core->parts.hart->instret, "instructions",
                  "instructions retired");
    cache_publish(tile->l1i, stats, scope_enter(&scope, "l1i"));
    cache_publish(tile->l1d, stats, scope_enter(&scope, "l1d"));
    if (tile->tlb)
        tlb_publish(tile->tlb, stats, scope_enter(&scope, "tlb"));
}

void core_tile_energy(void *part, struct energy_ledger *ledger, struct scope scope)
{
    struct core_tile *tile = part;
    cache_energy(tile->l1i, ledger, scope_enter(&scope, "l1i"));
    cache_energy(tile->l1d, ledger, scope_enter(&scope, "l1d"));
    if (tile->tlb)
        tlb_energy(tile->tlb, ledger, scope_enter(&scope, "tlb"));
    core_energy_add(&tile->core->energy, ledger, scope);
}

void core_tile_observe(void *part, struct track_sink *sink, const char *name)
{
    struct core_tile *tile = part;
    (void)name;
    cache_track(tile->l1i, sink);
    cache_track(tile->l1d, sink);
    core_track(tile->core, sink);
}

/* Data caches keep their lines, because memory keeps its bytes. Instruction caches do not, because the code
 * may change. */
void core_tile_reset(void *part)
{
    struct core_tile *tile = part;
    cache_invalidate_all(tile->l1i);
    if (tile->tlb)
        tlb_flush(tile->tlb);
}
