/* A mechanism of a whole timed machine that takes instructions from its cores (emu/core/offload.h), and may run other cores by
 * itself. The machine's builder calls it. Cores are numbered like harts, those of hosts first. */
#ifndef EMU_CORE_MECHANISM_H
#define EMU_CORE_MECHANISM_H

#include "emu/core/config.h"
#include "emu/core/core.h"
#include "emu/core/services.h"

struct custom_units;
struct llc_slices;
struct simt_beside;
struct track_sink;

/* In the order of the calls. */
struct core_mechanism_ops {
    /* Returns the number of the hosts' harts. */
    unsigned (*hosts)(const void *context);
    /* Provides the clock, before any core is made. *services is copied; what it points to is valid until stop(). */
    void (*start)(void *context, const struct core_services *services);
    /* Coherence is going to be checked. False with err set to a message that names the key if the mechanism leaves old copies. */
    bool (*coherent)(const void *context, struct error *err);
    /* Returns the devices that a core reaches by a path of its own. */
    struct core_near (*near)(const void *context, unsigned core);
    /* Called while a host's core is made: stores *offload if the host offloads. `level` is the last level below its caches;
     * NULL: none. False with err set on failure. */
    bool (*make)(void *context, const struct core_parts *parts, const struct core_config *config,
                 struct llc_slices *level, struct core_offload *offload, struct error *err);
    /* The core has been made. */
    void (*made)(void *context, unsigned number, struct core *core);

    /* All cores have been made. The following calls are about the multiprocessors of an unprivileged host, if offloads()
     * says that some host offloads: join() adds one, whose name is copied and whose threads hart `hart` launches, and
     * serve() enters what serves their threads' instructions. */
    bool (*offloads)(const void *context);
    bool (*join)(void *context, const char *name, const struct simt_beside *multiprocessor, struct hart *hart,
                 struct error *err);
    void (*serve)(void *context, struct custom_units *units);

    /* All parts have been made. Called for each core. */
    void (*attach)(void *context, unsigned number, struct core *core);
    /* Checks tasks from now on, unless they write from `first` to `last`, of each range that allow() gives. */
    void (*check)(void *context);
    void (*allow)(void *context, uint64_t first, uint64_t last);
    void (*trace)(void *context, struct track_sink *sink);
    void (*publish)(const void *context, struct stats *stats);

    /* Handles the stop of a core's hart at `now` (fs). Returns true if that was for the mechanism: the hart continues. */
    bool (*stopped)(void *context, unsigned core, enum hart_stop stop, uint64_t now);
    /* A FENCE.I has retired on a core. */
    void (*code_changed)(void *context, unsigned core);

    /* At the end: adds facts, and prints what check() has found. Returns whether it has found something. */
    void (*facts)(const void *context, struct stats *stats);
    bool (*findings)(const void *context);
    /* No more events will fire, and the parts have been freed. */
    void (*stop)(void *context);
};

struct core_mechanism {
    const struct core_mechanism_ops *ops; /* NULL: there is no mechanism */
    void *context;
};

#endif
