/* Accelerators that execute offloaded tasks: harts that run firmware (firmware/nucd) in machine mode, each with a task
 * unit (task_unit.h).
 *
 * Wiring. Task unit i is at nucd.base + i * TASK_UNIT_SIZE on the bus; its core reaches it in nucd.unit_clocks, others
 * as any device. `work` is the core's machine external interrupt (MEIP), which wakes it from WFI and, as firmware lets
 * it, interrupts a region in user mode at once.
 *
 * End of a region. The unit is told of all instructions that its hart executes in user mode, and a breakpoint in the
 * hart stands for its comparator: when pc arrives at the region's end with the calls returned from, all that came
 * before is done, the state becomes ENDED, and `work` interrupts the region with mepc = its end. Nothing behind the
 * end is executed.
 *
 * Memory. In the firmware's memory, its image comes first; the upper half are stacks, one of CROFT_HARTS_MAX for each
 * accelerator. At reset, a hart's pc is the firmware's entry, and
 *   a0  the accelerator's number           a1  the address of its task unit
 *   a2  the first address of main memory   a3  the first address of the firmware's memory
 *   a4  the size of the firmware's memory in bytes
 *   a5  the first address, rounded down to 4 bytes, that programs may write (accelerators_protect()); at first a2
 *
 * Caches. COMPLETE, and CLEAR behind KILL, write the core's whole data cache back to memory and empty it, a line a
 * clock (cache.h). So each task starts with an empty data cache, but for what firmware has touched since.
 *
 * Addresses. Regions see physical ones (identity of --env user), until the host writes its table of ranges into the
 * units: then they see the program's, by range-based translation (emu/hart/range_mmu.h), but for their stacks. START
 * drops what the hart and its TLB of ranges have kept, if the table has changed since they found it. */
#ifndef EMU_NUCD_ACCELERATORS_H
#define EMU_NUCD_ACCELERATORS_H

#include "emu/core/core.h"
#include "emu/hart/hart.h"
#include "emu/mem/bus.h"
#include "emu/nucd/config.h"
#include "emu/nucd/footprint_check.h"
#include "emu/nucd/machine.h"
#include "emu/nucd/task_unit.h"
#include "emu/sim/stats.h"

struct accelerators_options {
    const struct nucd_config *config;
    struct hart *harts;          /* privileged, on a bus that has the units */
    unsigned count;              /* of accelerators: at most CROFT_HARTS_MAX */
    uint64_t memory_base;        /* of main memory */
    struct phys firmware;        /* its memory */
    const struct irq_line *done; /* the wire of each unit to the host; NULL: they end nowhere */
};

struct accelerators;

/* Makes the units. What is passed must outlive it, but for `done`. NULL with err set when the host has no memory. Release
 * with accelerators_free(), which takes NULL, behind the machine and its harts. */
struct accelerators *accelerators_new(const struct accelerators_options *options, struct error *err);
void accelerators_free(struct accelerators *accelerators);

/* Puts the units on the bus; false with err set when they overlap other devices. */
bool accelerators_connect(struct accelerators *accelerators, struct bus *bus, struct error *err);

/* Resets units and harts; these begin at entry, in firmware that has been loaded. */
void accelerators_reset(struct accelerators *accelerators, uint64_t entry);

/* Tasks may read and execute memory below `first`, not write it: the program's text and read-only data, at physical
 * addresses. To be called behind accelerators_reset(), before anything runs. */
void accelerators_protect(struct accelerators *accelerators, uint64_t first);

/* The stack of an accelerator's tasks: its first address, and its size in bytes. */
void accelerators_stack(const struct accelerators *accelerators, unsigned number, uint64_t *first,
                        uint64_t *size);

unsigned accelerators_count(const struct accelerators *accelerators);
struct task_unit *accelerators_unit(struct accelerators *accelerators, unsigned number);
const struct hart *accelerators_hart(const struct accelerators *accelerators, unsigned number);

/* Is told of all units; functions may be NULL. */
struct accelerators_observer {
    struct observer link;
    void (*told)(void *context, unsigned number, const struct task_unit_report *report);
    /* The first instruction of a task's region was issued at time (fs); that is known when the instruction is complete. */
    void (*begun)(void *context, unsigned number, uint16_t tag, uint64_t time);
    void *context;
};

/* Adds an observer, which stays the caller's, or takes it away (emu/sim/observer.h). */
void accelerators_observe(struct accelerators *accelerators, struct accelerators_observer *observer);
void accelerators_unobserve(struct accelerators *accelerators, const struct accelerators_observer *observer);

/* Code was changed: accelerators will execute FENCE.I before their next tasks. What a host's FENCE.I does. */
void accelerators_change_code(struct accelerators *accelerators);

/* From now on the checker is told of the stacks, of tasks that start, and of what they execute; whoever sends tasks tells
 * it of them (footprint_check_begin()). It must outlive the last task. NULL: nobody checks. */
void accelerators_check(struct accelerators *accelerators, struct footprint_check *check);

/* The checker, or NULL. */
struct footprint_check *accelerators_checker(const struct accelerators *accelerators);

/* Writes the RANGES register of all units. */
void accelerators_set_ranges(struct accelerators *accelerators, uint64_t table);

/* Registers "accel.0.tasks" and all else that units count. */
void accelerators_publish(struct accelerators *accelerators, struct stats *stats);

/* The way from an accelerator's core to its unit. */
struct core_near accelerators_near(const struct accelerators *accelerators, unsigned number);

/* The way from a host's core to all units: the link that packets take, there and back. */
struct core_near accelerators_near_host(const struct accelerators *accelerators);

/* The accelerator's core is made, and does not run yet: connects it with its unit. Core and machine stay until
 * accelerators_detach(). */
void accelerators_attach(struct accelerators *accelerators, unsigned number, struct core *core,
                         const struct nucd_machine *machine);

/* All cores go; there is no clock any more. */
void accelerators_detach(struct accelerators *accelerators);

/* The hart has stopped; true when that was for its unit, and it goes on. */
bool accelerators_stopped(struct accelerators *accelerators, unsigned number, enum hart_stop stop);

#endif
