/* The offload engines (engine.h) of a machine's hosts, joined with accelerators. Engines do not share accelerators: of n
 * hosts that offload, host h has the accelerators h, h + n, h + 2n ... as its own 0, 1, 2 ... */
#ifndef EMU_NUCD_ENGINES_H
#define EMU_NUCD_ENGINES_H

#include "emu/core/config.h"
#include "emu/core/core.h"
#include "emu/nucd/accelerators.h"
#include "emu/nucd/engine.h"
#include "emu/nucd/machine.h"

struct engines;

/* Hosts that offload, the first of them, on a machine with so many hosts and accelerators: at most nucd.hosts; 0 when
 * nucd.mode asks for no engine. */
unsigned engines_hosts(const struct nucd_config *config, unsigned hosts, unsigned accelerators);

/* For so many hosts; no engine is made yet. What is passed must outlive it. Release with engines_free(), when no more
 * events will fire. */
struct engines *engines_new(const struct nucd_config *config, struct accelerators *accelerators,
                            unsigned hosts, const struct nucd_machine *machine);
void engines_free(struct engines *engines);

/* A host's core that is going to be made. */
struct nucd_core {
    unsigned number; /* of the host, and of its core as a requester */
    const struct core_config *config;
    struct hart *hart;
    struct clock clock;
    struct cache *l1d, *l1i;
};

/* Makes the host's engine, if it offloads: *offload is for the core's parts; else it is left alone. NULL with err set when
 * the host machine has no memory. */
bool engines_make(struct engines *engines, const struct nucd_core *core, struct core_offload *offload,
                  struct error *err);

/* The host's core is made. */
void engines_attach(struct engines *engines, unsigned host, struct core *core);

/* Registers "nucd.offloads" ..., "nucd.1.offloads" ... of all engines; adds what a sum cannot say (engine_add_facts()). */
void engines_publish(const struct engines *engines, struct stats *stats);
void engines_add_facts(const struct engines *engines, struct stats *stats);

/* Whether the first host has stopped for a fault in a region: on which accelerator, and at which pc. */
bool engines_fault(const struct engines *engines, unsigned *accelerator, uint64_t *pc);

#endif
