/* Accelerators, which execute offloaded tasks: harts that run firmware (firmware/nucd) in machine mode, each
 * with a task unit (task_unit.h).
 *
 * Wiring. Task unit i is at nucd.base + i * TASK_UNIT_SIZE on the bus. The accelerator's own core reaches it
 * in nucd.unit_clocks; other cores reach it as they reach any device. The interrupt line `work` is the core's
 * machine external interrupt (MEIP): it wakes the core from WFI and, if firmware enables it, interrupts a
 * region in user mode at once.
 *
 * End of a region. The unit follows all instructions that its hart executes in user mode. hart_compare() serves
 * as the unit's comparator. When pc reaches the region's end and all calls have returned, all
 * earlier instructions are complete: the state becomes ENDED, and `work` interrupts the region with mepc =
 * the region's end. No instruction after the end is executed. If the region is left in any other way
 * (nucd_region_left()), `work` interrupts it, too, at most STREAM_BATCH instructions later, and firmware reports a
 * fault.
 *
 * Memory. The lower half of the firmware's memory holds its image; the upper half holds CROFT_HARTS_MAX
 * stacks, of which accelerator i has stack i. At reset, a hart's pc is the firmware's entry, and
 *   a0  the accelerator's number
 *   a1  the address of its task unit
 *   a2  the first address of main memory
 *   a3  the first address of the firmware's memory
 *   a4  the size of the firmware's memory in bytes
 *   a5  the first address, rounded down to 4 bytes, that programs may write (accelerators_protect());
 *       equal to a2 until that is called
 *
 * Caches. The commands COMPLETE, and CLEAR after KILL, write the core's whole data cache back to memory and
 * empty it, one line per clock (cache.h). So at the start of a task the data cache holds only what firmware
 * has accessed since.
 *
 * Addresses. Regions use physical addresses (--env user maps each address to itself) until the host writes
 * the address of its table of ranges into the units. Then regions use the program's virtual addresses, by
 * range-based translation (emu/hart/mmu/ranges.h), except for their stacks. START discards the translations
 * that the hart and its TLB of ranges hold if the table has changed since they were read. */
#ifndef EMU_NUCD_UNITS_ACCELERATORS_H
#define EMU_NUCD_UNITS_ACCELERATORS_H

#include "emu/core/core.h"
#include "emu/core/services.h"
#include "emu/core/tasks.h"
#include "emu/hart/hart.h"
#include "emu/mem/phys/bus.h"
#include "emu/nucd/config.h"
#include "emu/nucd/units/footprint_check.h"
#include "emu/nucd/units/task_unit.h"
#include "emu/sim/report/stats.h"

struct accelerators_options {
    const struct nucd_config *config;
    struct hart *harts;          /* privileged; their bus has the units */
    unsigned count;              /* number of accelerators, at most CROFT_HARTS_MAX */
    uint64_t memory_base;        /* first address of main memory */
    struct phys firmware;        /* the firmware's memory */
    const struct irq_line *done; /* done[i]: interrupt line of unit i to the host; NULL: not connected */
};

struct accelerators;

/* Creates the units. Everything passed must outlive the result, except `done`. Returns NULL with err set when
 * the host has no memory. Release the result with accelerators_free(), after the machine and its harts;
 * accelerators_free() accepts NULL. */
struct accelerators *accelerators_new(const struct accelerators_options *options, struct error *err);
void accelerators_free(struct accelerators *accelerators);

/* Adds the units to the bus. Returns false with err set when they overlap other devices. */
bool accelerators_connect(struct accelerators *accelerators, struct bus *bus, struct error *err);

/* Resets units and harts. The harts start at `entry`, in firmware that has been loaded. */
void accelerators_reset(struct accelerators *accelerators, uint64_t entry);

/* Lets tasks read and execute, but not write, physical addresses below `first`: the program's text and
 * read-only data. Call it after accelerators_reset(), before any hart runs. */
void accelerators_protect(struct accelerators *accelerators, uint64_t first);

/* Stores the first address of the stack of an accelerator's tasks, and its size in bytes. */
void accelerators_stack(const struct accelerators *accelerators, unsigned number, uint64_t *first,
                        uint64_t *size);

/* Fills in *region. Returns false if no region has stopped there, or firmware does not tell where its registers are
 * (task_unit.h, CONTEXT). */
bool accelerators_stopped_region(const struct accelerators *accelerators, unsigned number,
                                 struct tasks_region *region);

/* Answers the call at which the region has stopped: sets its a0 and moves its pc behind the ECALL, from where it
 * continues when it is resumed. It forgets its translations by ranges, which the call may have taken away.
 * accelerators_stopped_region() must have returned true. */
void accelerators_answer_call(struct accelerators *accelerators, unsigned number, uint64_t result);

/* Resumes the region that has stopped at the accelerator, as its host's oldest task: it stops at no order point any
 * more. Does nothing if none has stopped. */
void accelerators_resume(struct accelerators *accelerators, unsigned number);

/* Returns the firmware's memory. */
const struct phys *accelerators_memory(const struct accelerators *accelerators);

unsigned accelerators_count(const struct accelerators *accelerators);
struct task_unit *accelerators_unit(struct accelerators *accelerators, unsigned number);
const struct hart *accelerators_hart(const struct accelerators *accelerators, unsigned number);

/* Observes all units. Functions may be NULL. */
struct accelerators_observer {
    struct observer link;
    void (*told)(void *context, unsigned number, const struct task_unit_report *report);
    /* The first instruction of a task's region was issued at `time` (fs). Called when it is complete. */
    void (*begun)(void *context, unsigned number, uint16_t tag, uint64_t time);
    /* The task's region has reached its end at `time` (fs). */
    void (*ended)(void *context, unsigned number, uint16_t tag, uint64_t time);
    void *context;
};

/* Adds or removes an observer, which the caller continues to own (emu/sim/observer.h). */
void accelerators_observe(struct accelerators *accelerators, struct accelerators_observer *observer);
void accelerators_unobserve(struct accelerators *accelerators, const struct accelerators_observer *observer);

/* Makes accelerators execute FENCE.I before their next tasks, because code was changed: the effect of a
 * host's FENCE.I. */
void accelerators_change_code(struct accelerators *accelerators);

/* Makes accelerators report their stacks, the tasks that they start, and the instructions that tasks execute
 * to the checker. The sender of tasks reports these itself (footprint_check_begin()). The checker must
 * outlive the last task. NULL ends checking. */
void accelerators_check(struct accelerators *accelerators, struct footprint_check *check);

/* Returns the checker, or NULL. */
struct footprint_check *accelerators_checker(const struct accelerators *accelerators);

/* Writes the RANGES register of all units. */
void accelerators_set_ranges(struct accelerators *accelerators, uint64_t table);

/* Registers "accel.0.tasks" and the other counters of all units. */
void accelerators_publish(struct accelerators *accelerators, struct stats *stats);

/* Returns the path from an accelerator's core to its own unit. */
struct core_near accelerators_near(const struct accelerators *accelerators, unsigned number);

/* Returns the path from a host's core to all units: the link of packets, in both directions. */
struct core_near accelerators_near_host(const struct accelerators *accelerators);

/* Connects an accelerator's core, which does not run yet, with its unit. Core and machine must be valid until
 * accelerators_detach(). */
void accelerators_attach(struct accelerators *accelerators, unsigned number, struct core *core,
                         const struct core_services *machine);

/* Disconnects all cores, before they are freed; there is no clock any more. */
void accelerators_detach(struct accelerators *accelerators);

/* Returns whether cores execute without time for now (--detail roi). */
bool accelerators_warm(const struct accelerators *accelerators);

/* Handles a stop of the hart at `now` (fs). Returns true if the stop was for its unit: the hart continues. */
bool accelerators_stopped(struct accelerators *accelerators, unsigned number, enum hart_stop stop,
                          uint64_t now);

#endif
