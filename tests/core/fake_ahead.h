/* An offload mechanism for tests of cores that run ahead: follows the program without executing it.
 *
 * A task is complete a given number of clocks after it was ready. What depends on a task, by registers, by a load from
 * the task's output range or through a store, is deferred until then, as in emu/nucd/window.h. Addresses of loads and
 * stores are those that the hart's registers give where the core went ahead, so that the program must not change bases
 * behind a nucd; branches are never taken. */
#ifndef TESTS_CORE_FAKE_AHEAD_H
#define TESTS_CORE_FAKE_AHEAD_H

#include "tests/core/rig.h"

enum { FAKE_TASKS = 64, FAKE_ENTRIES = 1024, FAKE_REGION = 8 };

struct fake_entry {
    struct stream_op op;
    struct insn insn;
    uint64_t address, next_pc;
    uint64_t producer[3], held_for; /* entry numbers, 0: none */
    bool evaluated, address_known, is_task, launched;
    unsigned task;
};

/* The i-th nucd that the core takes, set by the test: where 0, the first one's values are taken over. */
struct fake_task {
    uint64_t clocks;     /* from ready to complete */
    uint64_t way;        /* from ready to arrived, if not 0 */
    uint64_t out, bytes; /* output range */
    bool ran;            /* launched before: complete so long after step() gave it */
    /* What happened, fs. */
    uint64_t number, decoded, ready, completed;
    struct fake *fake;
    struct event arrive, complete;
};

struct fake {
    struct rig *rig;
    unsigned result; /* register that tasks bring back, 0: none */
    bool empty;      /* regions are */
    bool refuses;    /* takes() says no */
    unsigned tasks;  /* taken so far */
    struct fake_task task[FAKE_TASKS];

    uint64_t head, tail; /* entry numbers, from 1 */
    uint64_t writer[STREAM_NONE];
    struct fake_entry entries[FAKE_ENTRIES];

    unsigned takes, lefts, interrupts, looks;
    uint64_t left_at, left_retired; /* fs; entries that had retired */
    enum hart_stop left_stop;       /* what left() returns; HART_STOP_LIMIT if not set */
    bool halt;                      /* step() asks to wait for core_offload_go_on() */
    bool once;                      /* takes nothing any more once it has been left */
};

/* A fake for the rig's hart; fake->rig->core is set later. Free with free(). */
struct fake *fake_new(struct rig *rig);

/* For struct core_parts. */
struct core_offload fake_ahead(struct fake *fake);

/* A nucd whose region of two instructions follows: puts all three at rig->at. The operands are x28, x30 and x31. */
void fake_emit(struct rig *rig);

/* Squashes from the entry on, as a mechanism does by itself, and tells the core. */
void fake_squash(struct fake *fake, uint64_t number, uint64_t now);

#endif
