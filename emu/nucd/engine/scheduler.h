/* The NUCD scheduler and packet sender: they choose an accelerator and a transfer for each task.
 *
 * A write buffer of a few cache lines holds packets until they are sent (NUCD paper, section IV-A). A packet
 * may be sent when nothing blocks its task (nucd_scheduler_release()). The oldest such packet is sent first.
 * It goes to an accelerator that has the capabilities and credits for its lines; of these, to the one with
 * the fewest tasks queued or running, and then to the one with the lowest number.
 *
 * Packets that are ready at the same time and go to the same accelerator are coalesced into one transfer,
 * which saves lines of the work queue, flits and an arbitration. The next oldest packet joins if, counting
 * the transfer's tasks, the transfer's accelerator is still its best. If no accelerator has room for a
 * packet, younger ones pass it, because ready packets do not depend on those before them.
 *
 * A credit is a line of an accelerator's work queue. A transfer takes credits; the accelerator returns them
 * as it empties lines.
 *
 * Schedulers may share accelerators: they count credits and tasks of each in one place. A scheduler that
 * finds no room for any of its ready packets joins a queue. The others send nothing to its accelerators before
 * it has sent a transfer, unless they come first:
 *   - in turns (round robin): those that joined earlier; a scheduler that has sent a transfer joins at the
 *     end;
 *   - first come, first served: those with a packet that was ready earlier.
 * So none of them starves.
 *
 * An exclusive scheduler sends only to accelerators at which no other exclusive scheduler has tasks. Those of
 * hosts are exclusive: a task that faults keeps its accelerator until its host has finished all older tasks, which
 * therefore must not be queued behind a frozen task of a host that waits in the same way. */
#ifndef EMU_NUCD_ENGINE_SCHEDULER_H
#define EMU_NUCD_ENGINE_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/nucd/packet.h"
#include "linker/map.h"

enum {
    NUCD_ACCELERATORS = CROFT_HARTS_MAX, /* maximum number of accelerators */
    NUCD_BUFFER_LINES = 64,              /* maximum length of the write buffer */
    NUCD_TRANSFER_TASKS = 16,            /* maximum number of tasks in a transfer */
};

struct nucd_scheduler_config {
    uint32_t accelerators;   /* 1 to NUCD_ACCELERATORS */
    uint32_t queue_lines;    /* lines of each work queue; at least 2, for the longest packet */
    uint32_t buffer_lines;   /* lines of the write buffer, 2 to NUCD_BUFFER_LINES */
    uint32_t transfer_lines; /* lines of a transfer at most, 2 to queue_lines */
    uint8_t capabilities[NUCD_ACCELERATORS];
    bool coalesce;
    bool exclusive;
};

struct nucd_pending {
    uint16_t tag;
    uint8_t capabilities;
    bool ready;
    uint32_t words, lines;
    uint64_t stamp; /* order among the ready packets of all schedulers that share accelerators */
};

struct nucd_scheduler;

struct nucd_accelerator {
    uint32_t credits;
    uint32_t tasks;                     /* sent and not complete */
    uint32_t owned;                     /* of these, the tasks of `owner` */
    const struct nucd_scheduler *owner; /* the exclusive scheduler; valid if owned > 0 */
    bool frozen;                        /* a task has faulted and waits for its host */
};

/* The queue of schedulers that wait for room; one for all that share accelerators. Set first_come, and the
 * rest to zeroes. */
struct nucd_turns {
    bool first_come; /* else in turns */
    struct nucd_scheduler *first;
    uint64_t next_stamp;
};

/* Packets to one accelerator, in order of age. */
struct nucd_transfer {
    uint32_t accelerator;
    uint32_t words, lines;
    uint32_t count;
    uint16_t tags[NUCD_TRANSFER_TASKS];
};

struct nucd_scheduler_counters {
    uint64_t tasks, transfers, coalesced; /* coalesced: tasks that joined the transfer of another task */
    uint64_t words, lines;
    uint64_t full; /* packets refused because the write buffer was full */
};

struct nucd_scheduler {
    struct nucd_scheduler_config config;
    struct nucd_scheduler_counters counters;
    uint32_t pending_count, buffer_used;
    /* Returns whether the task may go to an accelerator that has room and the capabilities. Set it after
     * nucd_scheduler_init(). NULL: all tasks may. */
    bool (*allows)(const void *context, uint16_t tag, unsigned accelerator);
    const void *allows_context;
    struct nucd_pending pending[NUCD_BUFFER_LINES]; /* oldest first */
    struct nucd_accelerator accelerator[NUCD_ACCELERATORS];
    struct nucd_accelerator *at[NUCD_ACCELERATORS]; /* of another scheduler; NULL: accelerator[i] */
    struct nucd_turns *turns;                       /* NULL: it shares no accelerators */
    struct nucd_scheduler *behind;                  /* next in the queue */
    bool lacks;                                     /* nucd_scheduler_next() last failed for lack of room */
};

/* Initializes the scheduler. Fields of config must be in their ranges. */
void nucd_scheduler_init(struct nucd_scheduler *scheduler, const struct nucd_scheduler_config *config);

/* Makes `number` the same accelerator as `theirs` of another scheduler, and both schedulers use the queue.
 * Nothing has been sent yet. The other scheduler takes the credits that are returned. */
void nucd_scheduler_share(struct nucd_scheduler *scheduler, unsigned number, struct nucd_scheduler *other,
                          unsigned theirs, struct nucd_turns *turns);

/* Adds the packet of the youngest task to the write buffer. It has `words` words, some accelerator has its
 * capabilities, and its tag is not in the buffer. Returns false if the buffer is full; the generator then
 * waits. */
bool nucd_scheduler_offer(struct nucd_scheduler *scheduler, uint16_t tag, uint8_t capabilities,
                          unsigned words);

/* Marks the packet as ready to be sent: nothing blocks its task any more. */
void nucd_scheduler_release(struct nucd_scheduler *scheduler, uint16_t tag);

/* Removes a packet from the buffer. Returns false if the buffer does not have it. */
bool nucd_scheduler_squash(struct nucd_scheduler *scheduler, uint16_t tag);

/* Stores the next transfer and takes its credits; its packets leave the write buffer. Returns false if none
 * can be sent. After either result, and after a squash, other schedulers that share accelerators may be able
 * to send. */
bool nucd_scheduler_next(struct nucd_scheduler *scheduler, struct nucd_transfer *transfer);

/* Note that an accelerator has emptied lines of its queue, or has completed a task. Lines beyond the credits
 * taken are ignored: the scheduler did not send them. */
void nucd_scheduler_credit(struct nucd_scheduler *scheduler, unsigned accelerator, unsigned lines);
void nucd_scheduler_complete(struct nucd_scheduler *scheduler, unsigned accelerator);

/* Returns whether the scheduler is exclusive and has tasks at the accelerator. */
bool nucd_scheduler_owns(const struct nucd_scheduler *scheduler, unsigned accelerator);

/* Notes that a task at the accelerator has faulted, or does not wait for its host any more. */
void nucd_scheduler_freeze(struct nucd_scheduler *scheduler, unsigned accelerator, bool frozen);

/* Returns whether faulted tasks hold all accelerators that have the capabilities. */
bool nucd_scheduler_stuck(const struct nucd_scheduler *scheduler, uint8_t capabilities);

#endif
