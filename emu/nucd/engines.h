/* The offload engines (engine.h) of a machine's hosts, connected to accelerators. Engines do not share
 * accelerators: if n hosts offload, host h has the accelerators h, h + n, h + 2n and so on, as its
 * accelerators 0, 1, 2. */
#ifndef EMU_NUCD_ENGINES_H
#define EMU_NUCD_ENGINES_H

#include "emu/core/config.h"
#include "emu/core/core.h"
#include "emu/nucd/accelerators.h"
#include "emu/nucd/engine.h"
#include "emu/nucd/machine.h"

struct engines;

/* Returns the number of hosts that offload, which are the first ones, on a machine with `hosts` hosts and
 * `accelerators` accelerators. At most nucd.hosts; 0 if nucd.mode asks for no engine. */
unsigned engines_hosts(const struct nucd_config *config, unsigned hosts, unsigned accelerators);

/* Creates the container for the engines of `hosts` hosts; it has no engine yet. Everything passed must
 * outlive it. Release it with engines_free(), when no more events will fire. */
struct engines *engines_new(const struct nucd_config *config, struct accelerators *accelerators,
                            unsigned hosts, const struct nucd_machine *machine);
void engines_free(struct engines *engines);

/* The parameters of a host's core that will be created. */
struct nucd_core {
    unsigned number; /* number of the host; requester number of its core */
    const struct core_config *config;
    struct hart *hart;
    struct clock clock;
    struct cache *l1d, *l1i;
};

/* Creates the host's engine if the host offloads, and stores *offload for the core's parts; otherwise does
 * not change it. Returns false with err set when the host machine has no memory. */
bool engines_make(struct engines *engines, const struct nucd_core *core, struct core_offload *offload,
                  struct error *err);

/* Connects the host's engine to its core when that has been created. */
void engines_attach(struct engines *engines, unsigned host, struct core *core);

/* Registers "nucd.offloads", "nucd.1.offloads" and so on, of all engines, and adds derived values
 * (engine_add_facts()). */
void engines_publish(const struct engines *engines, struct stats *stats);
void engines_add_facts(const struct engines *engines, struct stats *stats);

/* Returns whether the first host has stopped for a fault in a region, and stores the accelerator and the pc
 * of the fault. */
bool engines_fault(const struct engines *engines, unsigned *accelerator, uint64_t *pc);

#endif
