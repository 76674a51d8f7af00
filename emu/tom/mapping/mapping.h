/* Programmer-transparent data mapping (TOM 4.3), and mappings to compare it with.
 *
 * With `map: tmap`, the program's data are in host memory (pcie.h) from its first thread on, and no block is offloaded. The
 * analyzer (analyzer.h) sees the accesses of each instance of a candidate, that is of each execution of it by a warp for which
 * its condition holds, and notes the ranges of the allocation table (allocations.h) that they touch. At most `learn_pending`
 * instances are under way at a time; other warps wait at their blocks. After `learn_instances` instances, or at `learn_limit` at
 * the latest (then with what the instances under way have accessed so far), all multiprocessors in front stop at their next
 * instruction. The frames in which touched ranges lie get the best map as soon as requests to them have been answered
 * (emu/mem/home.h); all others keep the machine's own. Then the data are in the stacks, the multiprocessors go on, and blocks are
 * offloaded.
 *
 * A frame has one map, so ranges that share a frame with a touched one get its map too. Ranges are static arrays, what the
 * program says that it has allocated (croft_allocated()), and the storage of thread stacks. For a program that says nothing,
 * all memory after its sections is one range. */
#ifndef EMU_TOM_MAPPING_MAPPING_H
#define EMU_TOM_MAPPING_MAPPING_H

#include "emu/sim/report/stats.h"
#include "emu/simt/warp.h"
#include "emu/tom/mapping/allocations.h"
#include "emu/tom/mapping/analyzer.h"
#include "emu/tom/mapping/offsets.h"
#include "emu/tom/pcie.h"
#include "emu/tom/tom.h"

struct tom;
struct tom_task;
struct custom_waiter;

enum tom_phase {
    TOM_PHASE_BEFORE, /* no thread has run yet */
    TOM_PHASE_LEARNING,
    TOM_PHASE_STOPPED,   /* multiprocessors stop, and frames get their maps */
    TOM_PHASE_MAPPED,    /* no mapping changes any more */
    TOM_PHASE_RECORDING, /* the analyzer sees the whole run (`map_output`) */
};

/* Consecutive frames that get the chosen map. */
struct tom_span {
    uint64_t base, bytes; /* physical */
};

struct tom_mapper {
    struct tom *tom;
    bool used; /* false: memory keeps the machine's own map, and no phase begins */
    enum tom_phase phase;
    struct tom_analyzer analyzer;
    struct tom_offsets *offsets; /* of each candidate of the program's table, by its number */
    struct tom_allocations allocations;
    struct tom_host host;
    uint64_t memory_base, program_end;
    const struct tom_span *arrays; /* static ones: program addresses */
    uint32_t array_count;
    bool told;       /* the program has said what it allocates */
    uint64_t *touch; /* bit f: frame f holds a part of a range that candidates touch */
    uint64_t frame_count, reserved_first,
        reserved_end; /* frames: all; of these, those with reserved memory */
    unsigned chosen;  /* map of these frames */
    struct tom_span *spans;
    size_t span_count, next_span, span_room;
    struct event event;     /* the stop, then the continuation */
    struct event limit;     /* the latest end of learning (`learn_limit`) */
    struct event admission; /* lets warps begin instances in place of those that have ended */
    struct tom_task *stopped,
        **last;         /* tasks of the warps that wait for the continuation or admission, in order */
    uint64_t under_way; /* instances that the analyzer sees */
    uint64_t held;      /* times that a warp waited for admission */
    uint64_t unended;   /* instances that `learn_limit` has cut short */
    uint64_t bit, overshoot, learn_time, stop_time, copied, changed;
    uint64_t phase_began; /* fs */
};

/* Prepares the mapping that the configuration of `tom` names. Fails if the machine or the configuration does not allow it. */
bool tom_mapper_init(struct tom *tom, const struct tom_site *place, struct error *err);
void tom_mapper_free(struct tom_mapper *mapper);

/* Begins the first phase. Call it when the first thread runs. */
void tom_mapper_begin(struct tom_mapper *mapper, uint64_t now);

/* Returns whether instances are seen by the analyzer, so that none is offloaded; and whether warps stop. */
static inline bool tom_mapper_observes(const struct tom_mapper *mapper)
{
    return mapper->phase == TOM_PHASE_LEARNING || mapper->phase == TOM_PHASE_STOPPED ||
           mapper->phase == TOM_PHASE_RECORDING;
}
static inline bool tom_mapper_stops(const struct tom_mapper *mapper)
{
    return mapper->phase == TOM_PHASE_STOPPED;
}

/* An instance begins; the warp has executed a load or store in the instance; all its lanes have reached the block's end. */
void tom_mapper_enter(struct tom_task *task);
void tom_mapper_access(struct tom_task *task, const struct warp_report *report);
void tom_mapper_leave(struct tom_task *task);

/* Returns whether no further instance may begin until another ends (`learn_pending`). */
bool tom_mapper_full(const struct tom_mapper *mapper);

/* Stops the task's warp, if all stop or no instance may begin. The task's waiter is called when the warp continues; an instance
 * may still not begin then. */
void tom_mapper_hold(struct tom_mapper *mapper, struct tom_task *task);

/* The warp of a task has ended. Its instance, if one is under way, does not count. */
void tom_mapper_forget(struct tom_task *task);

/* The program has allocated [base, base + bytes); bytes 0: it has freed the range that begins at `base`. */
void tom_mapper_allocated(struct tom_mapper *mapper, uint64_t base, uint64_t bytes);

/* Call it when the run has ended. Warns if learning has not ended, and writes `map_output`. */
void tom_mapper_finish(struct tom_mapper *mapper);

void tom_mapper_publish(struct tom_mapper *mapper, struct stats *stats, struct scope scope);

#endif
