/* The NUCD scheduler and packet sender: which task goes to which accelerator, and in which transfer.
 *
 * A write buffer of a few cache lines holds packets from their making until they are sent (NUCD paper,
 * section IV-A). A packet may be sent when nothing blocks it (nucd_scheduler_release()); the oldest such is
 * sent first to the accelerator that has the capabilities, credits for its lines, and the least tasks queued or
 * running (ties: the lowest number). Packets that are ready at the same time and would be sent to the same
 * accelerator are coalesced into one transfer, which saves lines of the work queue, flits and an arbitration: the
 * next oldest joins if, with the transfer's tasks counted in, that accelerator is still its best. A packet for
 * which no accelerator has room lets younger ones pass: what is ready depends on nothing in front of it.
 *
 * Credits are lines of an accelerator's work queue: taken by a transfer, given back by the accelerator as it empties. */
#ifndef EMU_NUCD_SCHEDULER_H
#define EMU_NUCD_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/nucd/packet.h"
#include "emu/sim/error.h"
#include "linker/map.h"

enum {
    NUCD_ACCELERATORS = CROFT_HARTS_MAX, /* at most */
    NUCD_BUFFER_LINES = 64,              /* at most */
    NUCD_TRANSFER_TASKS = 16,            /* at most */
};

struct nucd_scheduler_config {
    uint32_t accelerators;   /* 1 to NUCD_ACCELERATORS */
    uint32_t queue_lines;    /* of each accelerator's work queue; at least 2, the longest packet */
    uint32_t buffer_lines;   /* of the write buffer, 2 to NUCD_BUFFER_LINES */
    uint32_t transfer_lines; /* of a transfer, 2 to queue_lines; */
    uint8_t capabilities[NUCD_ACCELERATORS];
    bool coalesce;
};

struct nucd_pending {
    uint16_t tag;
    uint8_t capabilities;
    bool ready;
    uint32_t words, lines;
};

struct nucd_accelerator {
    uint32_t credits;
    uint32_t tasks; /* sent and not complete */
};

/* A run of packets to one accelerator, in order of age. */
struct nucd_transfer {
    uint32_t accelerator;
    uint32_t words, lines;
    uint32_t count;
    uint16_t tags[NUCD_TRANSFER_TASKS];
};

struct nucd_scheduler_counters {
    uint64_t tasks, transfers, coalesced; /* coalesced: tasks that joined another's transfer */
    uint64_t words, lines;
    uint64_t full; /* packets refused because the write buffer was full */
};

struct nucd_scheduler {
    struct nucd_scheduler_config config;
    struct nucd_scheduler_counters counters;
    uint32_t pending_count, buffer_used;
    /* Whether the task may go to an accelerator that has room and the capabilities; set after nucd_scheduler_init().
     * NULL: all may. */
    bool (*allows)(const void *context, uint16_t tag, unsigned accelerator);
    const void *allows_context;
    struct nucd_pending pending[NUCD_BUFFER_LINES]; /* oldest first */
    struct nucd_accelerator accelerator[NUCD_ACCELERATORS];
};

/* 4 accelerators without capabilities, work queues of 8 lines, a write buffer of 8, transfers of up to 4. */
void nucd_scheduler_config_default(struct nucd_scheduler_config *config);

/* The message begins with the field's name. */
bool nucd_scheduler_config_check(const struct nucd_scheduler_config *config, struct error *err);

/* config must have passed the check. */
void nucd_scheduler_init(struct nucd_scheduler *scheduler, const struct nucd_scheduler_config *config);

/* Takes the packet of the youngest task, of `words` words, for an accelerator that exists; tags in the buffer
 * differ. False while the write buffer has no room: the generator waits. */
bool nucd_scheduler_offer(struct nucd_scheduler *scheduler, uint16_t tag, uint8_t capabilities,
                          unsigned words);

/* Nothing blocks the task any more: its packet may be sent. */
void nucd_scheduler_release(struct nucd_scheduler *scheduler, uint16_t tag);

/* Forgets a packet that was not sent yet; false if it was, or is unknown. */
bool nucd_scheduler_squash(struct nucd_scheduler *scheduler, uint16_t tag);

/* The next transfer, if one can be sent now: it leaves the write buffer and takes its credits. */
bool nucd_scheduler_next(struct nucd_scheduler *scheduler, struct nucd_transfer *transfer);

/* An accelerator has emptied lines of its queue, or has completed a task. Lines beyond those that credits were taken for
 * are not the scheduler's: somebody else has sent them. */
void nucd_scheduler_credit(struct nucd_scheduler *scheduler, unsigned accelerator, unsigned lines);
void nucd_scheduler_complete(struct nucd_scheduler *scheduler, unsigned accelerator);

#endif
