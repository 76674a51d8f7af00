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

    uint64_t waiting, running, waiting_peak, running_peak;
    uint64_t tasks, packet_bytes, answer_bytes, lines, scratchpad_accesses, executed_time;
    struct tom_check *check; /* NULL: none */
    struct track track;      /* its sink is NULL if nobody watches */
    struct track_end untrack;
};

#endif
