/* The task unit: an accelerator core's device for offloaded tasks.
 *
 * It holds the memory-mapped work queue, hands the oldest packet's contents to the firmware, watches for the
 * region's end, and tells the host of completion or fault. isa/include/croft/task_unit.h says what its registers are. */
#ifndef EMU_NUCD_TASK_UNIT_H
#define EMU_NUCD_TASK_UNIT_H

#include "emu/mem/bus.h"
#include "emu/nucd/packet.h"
#include "emu/nucd/region.h"
#include "emu/sim/observer.h"
#include "emu/sim/stats.h"
#include "isa/include/croft/task_unit.h"

enum { TASK_UNIT_ACCESS = BUS_8 };

/* In SUMMARY. */
#define TASK_UNIT_LOADED_BIT (UINT64_C(1) << TASK_UNIT_LOADED_SHIFT)
#define TASK_UNIT_CODE_BIT   (UINT64_C(1) << TASK_UNIT_CODE_SHIFT)
#define TASK_UNIT_RANGES_BIT (UINT64_C(1) << TASK_UNIT_RANGES_SHIFT)

enum task_unit_event {
    TASK_UNIT_EMPTIED,   /* lines are free again */
    TASK_UNIT_COMPLETED, /* by COMPLETE */
    TASK_UNIT_STOPPED,   /* by FAULT */
    TASK_UNIT_KILLED,    /* by KILL or task_unit_kill() */
};

/* What the host is told. */
struct task_unit_report {
    enum task_unit_event event;
    unsigned lines; /* EMPTIED */
    uint16_t tag;   /* of the task, all below */
    uint8_t fflags; /* COMPLETED */
    uint64_t result;
    uint64_t cause, value; /* STOPPED */
    int64_t offset;        /* of its pc from the region's begin */
};

struct task_unit_config {
    uint32_t queue_lines; /* 2 to NUCD_QUEUE_LINES */
    uint8_t capabilities;
    struct irq_line work; /* to the core: high while a packet can be taken, while ENDED, while ANSWERED */
    struct irq_line done; /* to the host: rises with COMPLETED, STOPPED and KILLED, until ACKNOWLEDGE */
    /* Writes the core's data cache back and empties it, and calls task_unit_emptied() then. NULL: there is
     * none. */
    void (*empty)(void *context);
    void *context;
};

/* Is told what a unit reports; functions may be NULL. */
struct task_unit_observer {
    struct observer link;
    void (*told)(void *context, const struct task_unit_report *report);
    void (*started)(void *context); /* START was executed */
    void *context;
};

struct task_unit;

/* NULL, with a message, when the configuration is not as above or the host has no memory. */
struct task_unit *task_unit_create(const struct task_unit_config *config, struct error *err);
void task_unit_free(struct task_unit *unit);

/* Adds an observer, which stays the caller's (emu/sim/observer.h). */
void task_unit_observe(struct task_unit *unit, struct task_unit_observer *observer);

void task_unit_reset(struct task_unit *unit);

extern const struct device_ops task_unit_ops;

/* Puts a transfer of at most the queue's lines into the queue; what its last line does not hold is filled
 * with zeros. False, with the error bit set, when it does not fit: the sender has no credits for it. */
bool task_unit_push(struct task_unit *unit, const uint64_t *words, unsigned count);

enum task_unit_state task_unit_state(const struct task_unit *unit);

/* The packet that TAKE has taken; valid unless IDLE. */
const struct nucd_packet *task_unit_packet(const struct task_unit *unit);

/* The region under way, for nucd_region_follow(), while RUNNING; else NULL. */
struct nucd_region *task_unit_region(struct task_unit *unit);

/* The core's pc is where it goes on after what nucd_region_follow() was told. True if that is the region's
 * end: the state is then ENDED. */
bool task_unit_arrive(struct task_unit *unit, uint64_t pc);

/* The host's answers to a fault, or KILL at any time but IDLE: they return whether the state allows them. */
bool task_unit_resume(struct task_unit *unit);
bool task_unit_kill(struct task_unit *unit);

/* What config->empty was asked for is done. */
void task_unit_emptied(struct task_unit *unit);

/* Code was changed: the core has to execute FENCE.I before the next task. */
void task_unit_change_code(struct task_unit *unit);

/* The host's RANGES register. */
void task_unit_set_ranges(struct task_unit *unit, uint64_t table);

/* Registers "tasks" and all else that is counted. */
void task_unit_publish(struct task_unit *unit, struct stats *stats, struct scope scope);

#endif
