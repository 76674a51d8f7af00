/* Accelerators that execute offloaded tasks: harts that run firmware (firmware/nucd) in machine mode, each with a task
 * unit (emu/nucd/task_unit.h), on the timed machine (timed.h).
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
 * Memory. The last nucd.memory bytes of main memory are the firmware's; offload_program_memory() is what is left for
 * programs. In it, the firmware's image comes first; the upper half are stacks, one in 64 of it for each accelerator.
 * At reset, a hart's pc is the firmware's entry, and
 *   a0  the accelerator's number           a1  the address of its task unit
 *   a2  the first address of main memory   a3  the first address of the firmware's memory
 *   a4  the size of the firmware's memory in bytes
 *   a5  the first address, rounded down to 4 bytes, that programs may write (offload_protect()); at first a2
 *
 * Caches. COMPLETE, and CLEAR behind KILL, write the core's whole data cache back to memory and empty it, a line a
 * clock (cache.h). So each task starts with an empty data cache, but for what firmware has touched since.
 *
 * Addresses. Regions see physical ones (identity of --env user), until the host writes its table of ranges into the
 * units: then they see the program's, by range-based translation (emu/hart/range_mmu.h), but for their stacks. START
 * drops what the hart and its TLB of ranges have kept, if the table has changed since they found it. */
#ifndef EMU_MACHINE_OFFLOAD_H
#define EMU_MACHINE_OFFLOAD_H

#include "emu/core/core.h"
#include "emu/hart/hart.h"
#include "emu/machine/machine.h"
#include "emu/mem/bus.h"
#include "emu/nucd/footprint_check.h"
#include "emu/nucd/task_unit.h"
#include "emu/sim/stats.h"

struct offload_options {
    const struct machine_config *machine;
    struct hart *harts; /* of the accelerators: privileged, on a bus that has this offload's units */
    unsigned count;     /* accel.count */
    const struct phys *memory;
    const struct irq_line *done; /* the wire of each unit to the host; NULL: they end nowhere */
};

struct offload;
struct timed;

/* Whether the machine's accelerators can execute tasks. */
bool offload_wanted(const struct machine_config *machine);

/* The part of all memory that is left for programs; shares its bytes. */
struct phys offload_program_memory(const struct machine_config *machine, const struct phys *memory);

/* The part that is the firmware's. */
struct phys offload_firmware_memory(const struct machine_config *machine, const struct phys *memory);

/* Makes the units and puts them on the bus. What is passed must outlive it. NULL with err set when they overlap other
 * devices, or the host has no memory. Release with offload_free(), behind the machine and its harts. */
struct offload *offload_new(const struct offload_options *options, struct bus *bus, struct error *err);
void offload_free(struct offload *offload);

/* Resets units and harts; these begin at entry, in firmware that has been loaded. */
void offload_reset(struct offload *offload, uint64_t entry);

/* Tasks may read and execute memory below `first`, not write it: the program's text and read-only data, at physical
 * addresses. To be called behind offload_reset(), before anything runs. */
void offload_protect(struct offload *offload, uint64_t first);

/* What an accelerator's tasks have as their stack; its own memory below begins at *firmware. */
void offload_stack(const struct offload *offload, unsigned accel, uint64_t *firmware, uint64_t *first,
                   uint64_t *size);

/* The unit of an accelerator. */
struct task_unit *offload_unit(struct offload *offload, unsigned accel);

/* Is told of all units; functions may be NULL. */
struct offload_observer {
    struct observer link;
    void (*told)(void *context, unsigned accel, const struct task_unit_report *report);
    /* The first instruction of a task's region was issued at time (fs); that is known when the instruction is complete. */
    void (*begun)(void *context, unsigned accel, uint16_t tag, uint64_t time);
    void *context;
};

/* Adds an observer, which stays the caller's (emu/sim/observer.h). */
void offload_observe(struct offload *offload, struct offload_observer *observer);

/* Code was changed: accelerators will execute FENCE.I before their next tasks. What a host's FENCE.I does. */
void offload_change_code(struct offload *offload);

/* From now on the checker is told of the accelerators' stacks, of tasks that start, and of what they execute; whoever
 * sends tasks tells it of them (footprint_check_begin()). Must outlive the offload's last task. */
void offload_check(struct offload *offload, struct footprint_check *check);

/* The checker, or NULL. */
struct footprint_check *offload_checker(const struct offload *offload);

/* Writes the RANGES register of all units: --env kernel does so when the kernel has told where its table is. */
void offload_set_ranges(struct offload *offload, uint64_t table);

/* Registers "accel.0.tasks" and all else that units count. */
void offload_publish(struct offload *offload, struct stats *stats);

/* What follows is for the timed machine. */

/* The number of accelerators. */
unsigned offload_count(const struct offload *offload);

/* The way from a core to its unit. */
struct core_near offload_near(const struct offload *offload, unsigned accel);

/* The way from a host's core to all units: the link that packets take, there and back. */
struct core_near offload_near_host(const struct offload *offload);

/* The machine's cores are made: connects them with their units, and wakes them unless a system will. */
void offload_attach(struct offload *offload, struct timed *timed);

/* A hart has stopped; true when that was for its unit, and it goes on. */
bool offload_stopped(struct offload *offload, unsigned accel, enum hart_stop stop);

#endif
