/* What a machine with a clock consists of; for the files timed*.c only. */
#ifndef EMU_MACHINE_TIMED_STATE_H
#define EMU_MACHINE_TIMED_STATE_H

#include "emu/core/tile.h"
#include "emu/debug/symbols.h"
#include "emu/dram/check.h"
#include "emu/dram/memory.h"
#include "emu/machine/builder.h"
#include "emu/machine/scheduler.h"
#include "emu/machine/timed.h"
#include "emu/machine/timed_simt.h"
#include "emu/mem/coherence.h"
#include "emu/mem/llc_slices.h"
#include "emu/nucd/nucd.h"
#include "emu/sim/energy.h"

/* A core of the machine. */
struct timed_core {
    const char *name; /* "accel.3" */
    struct core *core;
    const struct core_tile *tile; /* the core with its caches and TLBs */
    struct core_site site;        /* what it is made with */
};

/* A memory whose commands are re-read. */
struct checked_memory {
    const char *name;
    struct dram_checker checker;
};

struct timed {
    struct event_queue queue;
    struct scheduler scheduler;
    unsigned count;
    unsigned hosts;           /* the first of them */
    struct timed_core *cores; /* by hart */

    struct timed_options options;
    struct hart *harts;
    struct stream_peers peers;
    struct part_numbers numbers;
    struct builder builder;
    struct timed_simt *simt;         /* or NULL */
    struct checked_memory *memories; /* in the order of the builder */
    size_t memory_count;
    struct energy_ledger ledger;

    struct coherence *coherence; /* NULL: nobody checks */
    struct symbols *symbols;

    unsigned regions; /* of interest that are open (--detail roi) */
    bool entered;     /* one of them has begun */
    bool warming;
};

/* timed_core.c: what the core of an instance is made with; NULL: it has no hart, and is left out. */
const struct core_site *timed_core_site(struct timed *timed, const struct instance *instance,
                                        const struct mem_site *memory);

/* Core i, which the builder has made, takes its place among the cores. */
void timed_add_core(struct timed *timed, unsigned i);

/* timed_watch.c: watches all caches. */
void timed_watch_coherence(struct timed *timed);

/* timed_nucd.c: gives NUCD the machine's clock; lets it check all tasks. */
void timed_start_nucd(struct timed *timed);
void timed_check_nucd(struct timed *timed);

/* A marker has retired on core i at now, which may concern --detail roi or a trace. */
void timed_marker(struct timed *timed, unsigned i, uint64_t now);

/* Cores whose switch between warming and timing is due take it when they stop or sleep. */
void timed_switch_detail(struct timed *timed, unsigned i);

#endif
