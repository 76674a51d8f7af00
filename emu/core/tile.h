/* A core as a part of a machine: with its first-level caches and its TLBs, which it makes. */
#ifndef EMU_CORE_TILE_H
#define EMU_CORE_TILE_H

#include "emu/core/config.h"
#include "emu/core/core.h"
#include "emu/core/tlb.h"
#include "emu/mem/llc_slices.h"
#include "emu/mem/site.h"
#include "emu/sim/part.h"

/* What a core is made with, beside struct part_site: part_site.place points to it. What it names outlives the core. */
struct core_site {
    const struct mem_site *memory;
    struct hart *hart;
    uint16_t number;      /* of the hart: as a requester, and for observers */
    uint64_t device_time; /* fs of an access to a device */
    struct core_near near;
    uint64_t tick; /* fs in which the hart's `time` advances by 1 */
    struct core_server server;
    /* Makes the offload mechanism of the core, if it has one, when its caches and TLBs are there: `parts` is what the core
     * will be made with. False with err set when that fails. NULL: the core has none. */
    bool (*mechanism)(void *context, const struct part_site *site, const struct core_parts *parts,
                      const struct core_config *config, struct core_offload *offload, struct error *err);
    void *context;
};

struct core_tile {
    struct core *core;
    struct cache *l1i, *l1d;
    struct tlb_unit *tlb;   /* NULL: its hart never translates */
    struct llc_slices *llc; /* of which its caches are copies; NULL: they are not coherent */
};

/* For core_kind: the functions of struct part_kind. */
void *core_tile_make(const void *config, const struct part_site *site, struct error *err);
void core_tile_free(void *part);
void core_tile_connect(void *part, unsigned port, unsigned slot, const struct part_end *server);
void core_tile_publish(void *part, struct stats *stats, struct scope scope);
void core_tile_energy(void *part, struct energy_ledger *ledger, struct scope scope);
void core_tile_reset(void *part);
void core_tile_observe(void *part, struct track_sink *sink, const char *name);

#endif
