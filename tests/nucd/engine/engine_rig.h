/* An offload engine with a simulated core and accelerators that a test controls, on the hart, memory and
 * caches of tests/core/rig.h. */
#ifndef TESTS_NUCD_ENGINE_ENGINE_RIG_H
#define TESTS_NUCD_ENGINE_ENGINE_RIG_H

#include "emu/nucd/engine.h"
#include "tests/core/rig.h"
#include "tests/sim/value.h"

/* Registers of the program, and other constants. */
enum {
    GP = 3,
    TP = 4,
    XN = 6,
    XD = 12, /* and XT = 13 */
    XT = 13,
    VALUE = 10,
    POINTER = 11, /* holds INPUT */
    TASKS = 8,
    LINK = 24, /* clocks, like the following */
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

/* Everything that the engine has told core and accelerators. Times are in clocks. */
struct engine_rig {
    struct rig *rig;
    struct keep_out keep_out; /* of both caches */
    struct engine *engine;
    const struct offload_ops *ops;
    struct stats *stats;
    struct stream stream;
    struct event report_event;
    struct task_unit_report report;
    unsigned reporter;
    struct engine_rig_push pushes[TASKS];
    unsigned push_count, resumed, killed, warned, expired, squashes, gone_on;
    struct nucd_record records[2 * TASKS]; /* of tasks that have left */
    unsigned record_count, began;
    uint64_t resumed_at, expired_at, expired_task, expired_pc, completed, completed_at, squashed, storing;
};

/* Creates a rig with `accelerators` accelerators. The hart is privileged if a handler shall take its traps.
 * Its pc is the first of TASKS nucds, each followed by a region of one instruction. */
struct engine_rig *engine_rig_new(bool ideal, bool privileged, unsigned accelerators);
void engine_rig_free(struct engine_rig *b);

/* Sets Xn, Xd and Xt: a region of 2 parcels; x10 as input and output value; on request, the line at x11 as
 * input or output range. */
void engine_rig_set_operands(struct engine_rig *b, bool memory_in, bool memory_out);

/* Lets the engine execute its next step. */
struct offload_step engine_rig_step(struct engine_rig *b);

/* Dispatches the next task, which is ready at clock `ready`. Returns its number. */
uint64_t engine_rig_start(struct engine_rig *b, uint64_t ready);

/* Runs until a clock. */
void engine_rig_run(struct engine_rig *b, uint64_t until);

/* Runs until clock `at`, when the unit that got a push sends a report. */
void engine_rig_report(struct engine_rig *b, uint64_t at, unsigned push, struct task_unit_report report);
void engine_rig_complete(struct engine_rig *b, uint64_t at, unsigned push, uint64_t result);
void engine_rig_stop(struct engine_rig *b, uint64_t at, unsigned push);

#endif
