/* The data of a timed machine, only for the files of its folder. */
#ifndef EMU_MACHINE_TIMED_STATE_H
#define EMU_MACHINE_TIMED_STATE_H

#include "emu/core/tile.h"
#include "emu/debug/symbols.h"
#include "emu/dram/memory.h"
#include "emu/dram/observers/check.h"
#include "emu/machine/builder.h"
#include "emu/machine/scheduler.h"
#include "emu/machine/study/study.h"
#include "emu/machine/timed.h"
#include "emu/machine/timed/simt.h"
#include "emu/mem/coherence.h"
#include "emu/mem/coherence/word_versions.h"
#include "emu/mem/llc_slices.h"
#include "emu/sim/report/energy.h"

/* A core of the machine. */
struct timed_core {
    const char *name; /* "accel.3" */
    struct core *core;
    const struct core_tile *tile; /* the core with its caches and TLBs */
    struct core_site site;        /* construction parameters of the core */
};

/* A memory whose commands are checked. */
struct checked_memory {
    const char *name;
    struct dram_checker checker;
};

/* Memory that is freed with the machine. */
struct timed_kept {
    struct timed_kept *next;
    _Alignas(max_align_t) unsigned char bytes[];
};

struct timed {
    struct event_queue *queues; /* the first one is that of the hosts */
    uint32_t *queue_of;         /* with several queues: by element of the cut */
    struct cut cut;             /* with several queues */
    struct event_team team;     /* with several queues */
    struct windows *windows;    /* with several threads */
    struct scheduler scheduler;
    unsigned count;
    unsigned hosts;           /* harts on host cores: the first ones */
    struct timed_core *cores; /* cores[hart] */

    struct timed_options options;
    struct hart *harts;
    struct stream_peers peers;
    struct part_numbers numbers;
    struct builder builder;
    struct assembly assembly;        /* the machine as hooks see it */
    struct timed_simt *simt;         /* or NULL */
    struct checked_memory *memories; /* in the builder's order */
    size_t memory_count;
    struct energy_ledger ledger;

    struct coherence *coherence; /* NULL: no coherence check of lines */
    struct word_versions *words; /* NULL: none of words */
    struct symbols *symbols;

    struct study *study; /* or NULL */
    struct timed_kept *kept;

    unsigned regions; /* number of open regions of interest (--detail roi) */
    bool entered;     /* a region of interest has begun */
    bool warming;
};

/* kept.c: timed_keep() returns zeroed memory that lasts until timed_free_kept(), after the parts. */
void *timed_keep(struct timed *timed, size_t bytes);
void timed_free_kept(struct timed *timed);

/* core.c: returns the construction parameters of an instance's core; NULL if it has no hart and is left
 * out. */
const struct core_site *timed_core_site(struct timed *timed, const struct instance *instance,
                                        const struct mem_site *memory);

/* Records core i, which the builder has made. */
void timed_add_core(struct timed *timed, unsigned i);

/* watch.c: attaches the coherence checker to the last levels and to the caches of all cores. Those of
 * multiprocessors are not watched: threads share lines without sharing data in them, and a first-level cache
 * may hold old lines until the next launch, so the checker, which knows lines only, would report correct
 * programs. */
void timed_watch_coherence(struct timed *timed);

/* services.c: gives the mechanism, if there is one, the machine's event queue; makes it check all tasks. */
void timed_start_mechanism(struct timed *timed);
void timed_check_tasks(struct timed *timed);

/* assembly.c: sets timed->assembly, when the machine is planned. */
void timed_assemble(struct timed *timed);

/* Handles a marker that retires on core i at `now`, for --detail roi and for traces. */
void timed_marker(struct timed *timed, unsigned i, uint64_t now);

/* Switches core i, which has stopped or sleeps, between warming and timing if a switch is due. */
void timed_switch_detail(struct timed *timed, unsigned i);

#endif
