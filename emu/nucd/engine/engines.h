/* The offload engines (engine.h) of a machine's hosts and multiprocessors, connected to accelerators, which all
 * of them share by nucd.arbitration (scheduler.h). With `partition`, hosts do not share: if n hosts offload, host
 * h has the accelerators h, h + n, h + 2n and so on, as its accelerators 0, 1, 2. Each multiprocessor has all
 * accelerators.
 *
 * At any time, at most one host has tasks at an accelerator: reports go to it. */
#ifndef EMU_NUCD_ENGINE_ENGINES_H
#define EMU_NUCD_ENGINE_ENGINES_H

#include "emu/core/config.h"
#include "emu/core/core.h"
#include "emu/core/services.h"
#include "emu/mem/llc_slices.h"
#include "emu/nucd/engine.h"
#include "emu/nucd/units/accelerators.h"

struct engines;

/* Observes the tasks of all hosts: engine_parts.began() and left(), with the host's number and the machine's
 * number of the accelerator. Functions may be NULL. */
struct engines_observer {
    struct observer link;
    void (*began)(void *context, const struct nucd_record *record);
    void (*left)(void *context, const struct nucd_record *record);
    void *context;
};

/* Returns the number of hosts that offload, which are the first ones, on a machine with `hosts` hosts and
 * `accelerators` accelerators, at least 1. At most nucd.hosts, and with `partition` at most the accelerators; 0 if
 * nucd.mode asks for no engine. */
unsigned engines_hosts(const struct nucd_config *config, unsigned hosts, unsigned accelerators);

/* Creates the container for the engines of `hosts` hosts; it has no engine yet. line: bytes of the longest line of the cores' caches,
 * to which the dependency table rounds ranges out. Everything passed must
 * outlive it. Release it with engines_free(), when no more events will fire. */
struct engines *engines_new(const struct nucd_config *config, struct accelerators *accelerators,
                            unsigned hosts, uint32_t line, const struct core_services *machine);
void engines_free(struct engines *engines);

/* Returns the number of hosts that offload. */
unsigned engines_count(const struct engines *engines);

/* The parameters of a host's core that will be created. */
struct nucd_core {
    unsigned number; /* number of the host; requester number of its core */
    const struct core_config *config;
    struct hart *hart;
    struct clock clock;
    struct cache *l1d, *l1i;
    struct llc_slices *llc; /* the last level below its caches; NULL: none */
};

/* Creates the host's engine if the host offloads, and stores *offload for the core's parts; otherwise does
 * not change it. Keeps prefetches of all hosts' caches out of running tasks' outputs. Returns false with
 * err set when the host machine has no memory. */
bool engines_make(struct engines *engines, const struct nucd_core *core, struct core_offload *offload,
                  struct error *err);

/* A multiprocessor of the machine. */
struct nucd_multiprocessor {
    const char *name; /* such as "simt.0"; the scope of its engine's statistics is "simt.0.nucd"; copied */
    struct cache *l1;
    struct clock clock;
    uint16_t number;   /* requester number */
    uint32_t block;    /* as in struct engine_parts */
    struct hart *hart; /* the hart whose program launches threads */
};

/* Creates the engine of a multiprocessor, after those of the hosts. The first has number 0 in struct
 * warp_place, and so on. At least one host must offload. Returns false with err set when the host machine has
 * no memory or there are too many multiprocessors. */
bool engines_add(struct engines *engines, const struct nucd_multiprocessor *multiprocessor,
                 struct error *err);

/* Makes multiprocessors offer their threads at nucds to these engines, if there are any. */
void engines_serve(struct engines *engines, struct custom_units *units);

/* Adds or removes an observer, which the caller continues to own (emu/sim/observer.h). */
void engines_observe(struct engines *engines, struct engines_observer *observer);
void engines_unobserve(struct engines *engines, const struct engines_observer *observer);

/* Makes all engines tell of the tasks that have not left, because the run is over. */
void engines_tell_rest(struct engines *engines);

/* Connects the host's engine to its core when that has been created. */
void engines_attach(struct engines *engines, unsigned host, struct core *core);

/* Registers "nucd.offloads", "nucd.1.offloads", "simt.0.nucd.offloads" and so on, of all engines, and adds
 * derived values (engine_add_facts()). */
void engines_publish(const struct engines *engines, struct stats *stats);
void engines_add_facts(const struct engines *engines, struct stats *stats);

/* Stores the sp of the host at the nucd of the task that is at the accelerator with that tag. Returns false if it is not
 * known. */
bool engines_task_sp(const struct engines *engines, unsigned accelerator, uint16_t tag, uint64_t *sp);

/* Returns whether the engine of this host's hart keeps tasks: engine_keeps(). */
bool engines_keep(const struct engines *engines, const struct hart *hart);

/* Returns whether the hart, or a thread of a multiprocessor, has stopped for a fault in a region, and stores the
 * accelerator and the pc of the fault. */
bool engines_fault(const struct engines *engines, const struct hart *hart, unsigned *accelerator,
                   uint64_t *pc);

#endif
