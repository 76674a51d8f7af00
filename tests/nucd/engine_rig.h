/* An engine whose core and accelerators do as a test tells them, over the hart, memory and caches of tests/core/rig.h. */
#ifndef TESTS_NUCD_ENGINE_RIG_H
#define TESTS_NUCD_ENGINE_RIG_H

#include "emu/nucd/engine.h"
#include "tests/core/rig.h"
#include "tests/sim/value.h"

/* Registers of the program, and what else is fixed. */
enum {
    GP = 3,
    TP = 4,
    XN = 6,
    XD = 12, /* and XT = 13 */
    XT = 13,
    VALUE = 10,
    POINTER = 11, /* INPUT */
    TASKS = 8,
    LINK = 24, /* clocks, as all of these */
    TIMEOUT = 5000,
    HANDLER = 0x400,
};
#define NS    UINT64_C(1000000)
#define INPUT (RIG_BASE + 0x8000)

struct engine_rig_push {
    unsigned accelerator;
    uint64_t time;
    struct nucd_packet packet;
};

/* What the engine has told core and accelerators; times in clocks. */
struct engine_rig {
    struct rig *rig;
    struct engine *engine;
    const struct offload_ops *ops;
    struct stats *stats;
    struct stream stream;
    struct event report_event;
    struct task_unit_report report;
    unsigned reporter;
    struct engine_rig_push pushes[TASKS];
    unsigned push_count, resumed, killed, warned, expired, squashes, gone_on;
    uint64_t resumed_at, expired_at, completed, completed_at, squashed, storing;
};

/* With so many accelerators. The hart is privileged if a handler is to take its traps. It stands at the first of TASKS
 * nucds, each in front of a region of one instruction. */
struct engine_rig *engine_rig_new(bool ideal, bool privileged, unsigned accelerators);
void engine_rig_free(struct engine_rig *b);

/* Xn, Xd and Xt: 2 parcels; x10 in and out; if asked for, the line at x11 in and out. */
void engine_rig_set_operands(struct engine_rig *b, bool memory_in, bool memory_out);

/* What stands next. */
struct offload_step engine_rig_step(struct engine_rig *b);

/* Dispatches the task that stands next, ready at a time in clocks; its number. */
uint64_t engine_rig_start(struct engine_rig *b, uint64_t ready);

/* Until a time in clocks. */
void engine_rig_run(struct engine_rig *b, uint64_t until);

/* The unit that a push went to reports at a time in clocks, up to which this runs. */
void engine_rig_report(struct engine_rig *b, uint64_t at, unsigned push, struct task_unit_report report);
void engine_rig_complete(struct engine_rig *b, uint64_t at, unsigned push, uint64_t result);
void engine_rig_stop(struct engine_rig *b, uint64_t at, unsigned push);

#endif
