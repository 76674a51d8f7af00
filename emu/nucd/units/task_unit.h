/* The task unit: an accelerator core's device for offloaded tasks.
 *
 * It holds the memory-mapped work queue, provides the oldest packet to the firmware, detects the end of the
 * region, and reports completion or a fault to the host. isa/include/croft/task_unit.h describes its
 * registers. */
#ifndef EMU_NUCD_UNITS_TASK_UNIT_H
#define EMU_NUCD_UNITS_TASK_UNIT_H

#include "emu/mem/phys/bus.h"
#include "emu/nucd/packet.h"
#include "emu/nucd/region.h"
#include "emu/sim/observer.h"
#include "emu/sim/report/stats.h"
#include "isa/include/croft/task_unit.h"

enum { TASK_UNIT_ACCESS = BUS_8 };

/* Bits of SUMMARY. */
#define TASK_UNIT_LOADED_BIT (UINT64_C(1) << TASK_UNIT_LOADED_SHIFT)
#define TASK_UNIT_CODE_BIT   (UINT64_C(1) << TASK_UNIT_CODE_SHIFT)
#define TASK_UNIT_RANGES_BIT (UINT64_C(1) << TASK_UNIT_RANGES_SHIFT)

enum task_unit_event {
    TASK_UNIT_EMPTIED,   /* lines of the work queue were emptied */
    TASK_UNIT_COMPLETED, /* the core wrote COMPLETE */
    TASK_UNIT_STOPPED,   /* the core wrote FAULT */
    TASK_UNIT_KILLED,    /* the host wrote KILL or called task_unit_kill() */
};

/* A report to the host. The event for which a field is valid is given beside the field. */
struct task_unit_report {
    enum task_unit_event event;
    unsigned lines; /* EMPTIED: number of lines */
    uint16_t tag;   /* all others: the task's tag */
    uint8_t fflags; /* COMPLETED, like result */
    uint64_t result;
    uint64_t cause, value; /* STOPPED, like offset */
    int64_t offset;        /* pc of the fault minus the start of the region */
};

struct task_unit_config {
    uint32_t queue_lines; /* 2 to NUCD_QUEUE_LINES */
    uint8_t capabilities;
    struct irq_line work; /* to the core: high while a packet can be taken, while ENDED, LEFT or ANSWERED */
    struct irq_line done; /* to the host: rises with COMPLETED, STOPPED and KILLED; falls with ACKNOWLEDGE */
    /* Starts to write back and empty the core's data cache; task_unit_emptied() is called when that is done.
     * NULL: there is no cache. */
    void (*empty)(void *context);
    void *context;
};

/* Observes a unit's reports. Functions may be NULL. */
struct task_unit_observer {
    struct observer link;
    void (*told)(void *context, const struct task_unit_report *report);
    void (*started)(void *context); /* START was executed */
    void *context;
};

struct task_unit;

/* Creates a unit. Returns NULL with a message when queue_lines is out of range or the host has no memory.
 * Release it with task_unit_free(), which accepts NULL. */
struct task_unit *task_unit_new(const struct task_unit_config *config, struct error *err);
void task_unit_free(struct task_unit *unit);

/* Adds an observer, which the caller continues to own (emu/sim/observer.h). */
void task_unit_observe(struct task_unit *unit, struct task_unit_observer *observer);

void task_unit_reset(struct task_unit *unit);

extern const struct device_ops task_unit_ops;

/* Adds a transfer to the work queue and fills its last line with zeroes. Returns false and sets the error bit
 * when it does not fit, because the sender had no credits for it. */
bool task_unit_push(struct task_unit *unit, const uint64_t *words, unsigned count);

enum task_unit_state task_unit_state(const struct task_unit *unit);

/* Returns the packet that the last TAKE took. Valid unless the state is IDLE. */
const struct nucd_packet *task_unit_packet(const struct task_unit *unit);

/* Returns the current region, for nucd_region_follow(), if the state is RUNNING; otherwise NULL. */
struct nucd_region *task_unit_region(struct task_unit *unit);

/* Checks whether the region has ended: pc is the address after the instructions given to
 * nucd_region_follow(). If so, sets the state ENDED and returns true. */
bool task_unit_arrive(struct task_unit *unit, uint64_t pc);

/* Notes that the instruction at pc has left the region by anything but its end (nucd_region_left()): interrupts the core,
 * whose firmware reports a fault with this pc as its value. */
void task_unit_leave(struct task_unit *unit, uint64_t pc);

/* The host's answers to a fault; KILL is also allowed in all other states except IDLE. Return whether the
 * state allows the answer. */
bool task_unit_resume(struct task_unit *unit);
bool task_unit_kill(struct task_unit *unit);

/* Call it when the action that config->empty started is done. */
void task_unit_emptied(struct task_unit *unit);

/* Notes that code was changed: the core must execute FENCE.I before the next task. */
void task_unit_change_code(struct task_unit *unit);

/* Returns the register CONTEXT. */
uint64_t task_unit_context(const struct task_unit *unit);

/* Writes the host's RANGES register. */
void task_unit_set_ranges(struct task_unit *unit, uint64_t table);

/* Registers "tasks" and the unit's other counters. */
void task_unit_publish(struct task_unit *unit, struct stats *stats, struct scope scope);

#endif
