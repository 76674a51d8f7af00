/* The state of an offload unit, for unit.c and check.c. */
#ifndef EMU_TOM_UNIT_UNIT_H
#define EMU_TOM_UNIT_UNIT_H

#include "emu/sim/report/track.h"
#include "emu/tom/task.h"

enum { TOM_ADDRESS_BYTES = 8, TOM_STATUS_BYTES = 4 }; /* in answers */

/* A place for a block on the stack's multiprocessor. */
struct tom_slot {
    struct tom_unit *unit;
    struct tom_task *task; /* NULL: free */
    struct simt_block block;
};

/* Statistics that are plain counters: X(name, unit, meaning). */
#define TOM_UNIT_COUNTERS(X)                                                                                 \
    X(tasks, "blocks", "Offloaded blocks executed by the stack's multiprocessor")                            \
    X(packet_bytes, "bytes", "Bytes of packets that have arrived, without headers")                          \
    X(answer_bytes, "bytes", "Bytes of answers, without headers")                                            \
    X(lines, "lines", "Lines to which blocks have stored, as answers name them")                             \
    X(scratchpad_accesses, "instructions",                                                                   \
      "Accesses of blocks to scratchpads, which are in front, over the link")                                \
    X(executed_time, "fs", "Time from the spawning of a warp to its end, of all blocks")                     \
    X(waiting_peak, "packets", "Most packets that waited for a warp at one time")                            \
    X(running_peak, "blocks", "Most blocks executed at one time")

struct tom_unit {
    struct tom_unit_config config;
    const struct tom_config *config_tom;
    const struct simt_config *config_simt;
    struct event_queue *queue;
    uint32_t component;
    struct simt_grid *grid;
    struct simt *simt;
    struct cache *l1;
    struct clock clock; /* of the multiprocessor */
    uint64_t line;      /* bytes */
    char simt_name[272];

    struct mem_link lower;
    struct mem_waiters waiters;    /* links whose requests were refused */
    bool refused;                  /* a response of the port below was refused */
    struct tom_task *first, *last; /* tasks that wait for a warp */
    struct tom_task *unanswered;   /* tasks whose answers wait for room on the link, in order */
    struct tom_slot **slots;       /* made when they are needed */
    uint32_t slot_count;
    struct tom_load load; /* counted by the controllers */
    uint32_t reaching;    /* warps that wait for an access to a scratchpad */

    uint64_t waiting, running;
#define TOM_UNIT_COUNTER(name, unit, meaning) uint64_t name;
    TOM_UNIT_COUNTERS(TOM_UNIT_COUNTER)
#undef TOM_UNIT_COUNTER
    struct tom_check *check; /* NULL: none */
    struct track track;      /* its sink is NULL if nobody watches */
    struct track_end untrack;
};

#endif
