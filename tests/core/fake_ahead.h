/* An offload mechanism for tests of cores that run ahead: it follows the program without executing it.
 *
 * A task completes a given number of clocks after it was ready. Instructions that depend on a task, through registers,
 * a load from the task's output range or a store, are deferred until then, as in emu/nucd/window.h. Addresses of loads
 * and stores are computed from the hart's registers at the point where the core went ahead, so the program must not
 * change base registers after a nucd. Branches are never taken. */
#ifndef TESTS_CORE_FAKE_AHEAD_H
#define TESTS_CORE_FAKE_AHEAD_H

#include "tests/core/rig.h"

enum { FAKE_TASKS = 64, FAKE_ENTRIES = 1024, FAKE_KEPT = 600, FAKE_REGION = 8 };

struct fake_entry {
    struct stream_op op;
    struct insn insn;
    uint64_t address, next_pc;
    uint64_t producer[3], held_for; /* entry numbers, 0: none */
    bool evaluated, address_known, is_task, launched, checkpoint;
    unsigned task;
};

/* The i-th nucd that the core takes, set by the test; clocks and way of 0 stand for the first one's. */
struct fake_task {
    uint64_t clocks;     /* from ready to complete */
    uint64_t way;        /* from ready to arrived, if not 0 */
    uint64_t out, bytes; /* output range */
    bool ran;            /* launched before: completes this long after step() gave it */
    /* What happened, fs. */
    uint64_t number, decoded, freed, ready, completed;
    struct fake *fake;
    struct event arrive, complete;
};

struct fake {
    struct rig *rig;
    unsigned result;            /* register that tasks bring back, 0: none */
    unsigned checkpoints;       /* 0: the core retires in order */
    uint32_t checkpoint_clocks; /* to take or restore one */
    unsigned used, used_most;   /* checkpoints in use */
    unsigned passed;            /* tasks that left the reorder buffer before they were complete */
    bool empty;                 /* regions are empty */
    bool stalls;                /* fetch waits for packets */
    bool refuses;               /* takes() returns false */
    unsigned tasks;             /* taken so far */
    struct fake_task task[FAKE_TASKS];

    uint64_t head, tail; /* entry numbers, from 1 */
    uint64_t writer[STREAM_NONE];
    struct fake_entry entries[FAKE_ENTRIES];

    unsigned takes, lefts, interrupts, looks;
    uint64_t left_at, left_retired; /* fs; number of entries that had retired */
    enum hart_stop left_stop;       /* returned by left(); HART_STOP_LIMIT if not set */
    bool halt;                      /* step() requests a wait for core_offload_go_on() */
    bool once;                      /* takes nothing more once the core has left */
};

/* A fake for the rig's hart; fake->rig->core is set later. Free with free(). */
struct fake *fake_new(struct rig *rig);

/* For struct core_parts. With checkpoints, at most FAKE_KEPT instructions are ahead. */
struct core_offload fake_ahead(struct fake *fake);

/* Emits at rig->at a nucd and its region of two instructions. The operands are x28, x30 and x31. */
void fake_emit(struct rig *rig);

/* Squashes from the entry on, as a mechanism would on its own, and tells the core. */
void fake_squash(struct fake *fake, uint64_t number, uint64_t now);

#endif
