/* A core as a part of a machine, with its first-level caches and TLBs, which it makes. */
#ifndef EMU_CORE_TILE_H
#define EMU_CORE_TILE_H

#include "emu/core/config.h"
#include "emu/core/core.h"
#include "emu/core/tlb.h"
#include "emu/mem/llc_slices.h"
#include "emu/mem/site.h"
#include "emu/sim/part.h"

/* The construction parameters of a core, in addition to struct part_site; part_site.place points to it. The
 * objects to which it points must outlive the core. */
struct core_site {
    const struct mem_site *memory;
    struct hart *hart;
    uint16_t number;      /* number of the hart: as a requester, and for observers */
    uint64_t device_time; /* fs that an access to a device takes */
    struct core_near near;
    uint64_t tick; /* fs after which the hart's `time` advances by 1 */
    struct core_server server;
    /* Makes the core's offload mechanism, if it has one, after its caches and TLBs; `parts` are the core's
     * own. Returns false with err set on failure. NULL: the core has no mechanism. */
    bool (*mechanism)(void *context, const struct part_site *site, const struct core_parts *parts,
                      const struct core_config *config, struct core_offload *offload, struct error *err);
    void *context;
};

struct core_tile {
    struct core *core;
    struct cache *l1i, *l1d;
    struct core_tlb *tlb;   /* NULL: its hart never translates addresses */
    struct llc_slices *llc; /* the last level that keeps its caches coherent; NULL: they are not coherent */
    bool far;               /* they reach it by a network */
};

/* The functions of core_kind (struct part_kind). */
void *core_tile_make(const void *config, const struct part_site *site, struct error *err);
void core_tile_free(void *part);
void core_tile_connect(void *part, unsigned port, unsigned slot, const struct part_end *server);
void core_tile_publish(void *part, struct stats *stats, struct scope scope);
void core_tile_energy(void *part, struct energy_ledger *ledger, struct scope scope);
void core_tile_reset(void *part);
void core_tile_observe(void *part, struct track_sink *sink, const char *name);

#endif
