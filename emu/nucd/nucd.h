/* Offloading by nucd on a machine: accelerators with their firmware, which take tasks, and the engines of the hosts, which
 * give them. It is made before the harts run, and gets a clock when the machine with its cores is made around them. On a
 * machine without tasks it is NULL: functions that allow NULL do nothing then, or answer for such a machine. */
#ifndef EMU_NUCD_NUCD_H
#define EMU_NUCD_NUCD_H

#include "emu/nucd/accelerators.h"
#include "emu/nucd/description.h"
#include "emu/nucd/engines.h"
#include "emu/nucd/machine.h"

struct nucd_options {
    const struct tree *tree;
    /* ELF, position-independent, linked at CROFT_NUCD_FIRMWARE (linker/nucd.ld). NULL: there are no tasks, and
     * accelerators are harts like others. */
    const char *firmware;
    /* Loads an ELF file by its physical addresses into memory alone. */
    bool (*load)(const char *path, const struct phys *memory, uint64_t *entry, struct error *err);
    struct phys *memory; /* all of it */
    struct hart *harts;  /* of the machine, those of the hosts first */
    unsigned count;
    struct bus *bus;             /* for the units, and what the accelerators see */
    const struct irq_line *done; /* the units' wires to the host, by accelerator; NULL: none */
};

struct nucd;

/* Makes units, loads the firmware, and lets the last harts, of nucd_count() accelerators, begin in it. With *err unset and
 * NULL when nucd_count() is 0; otherwise NULL is a failure: err names the file, or the key. What is passed must outlive it,
 * but for `done`. Release with nucd_free(), which takes NULL, behind the machine and its harts. */
struct nucd *nucd_new(const struct nucd_options *options, struct error *err);
void nucd_free(struct nucd *nucd);

/* The same anew, when harts and memory have been reset. NULL is allowed. */
bool nucd_restart(struct nucd *nucd, struct error *err);

/* Tasks may not write below the address: accelerators_protect(). NULL is allowed. */
void nucd_protect(struct nucd *nucd, uint64_t first);

/* The kernel's table of ranges is at this physical address. NULL is allowed. */
void nucd_set_ranges(struct nucd *nucd, uint64_t table);

/* Whether the first host has stopped for a fault in a region: on which accelerator, and at which pc. NULL is allowed. */
bool nucd_fault(const struct nucd *nucd, unsigned *accelerator, uint64_t *pc);

/* Whether such a fault is an access to the firmware's memory below the stack of the accelerator's tasks, as an overflow of
 * the stack is: then text says so. NULL is allowed. */
enum { NUCD_OVERFLOW_TEXT = 256 };
bool nucd_overflow(const struct nucd *nucd, unsigned accelerator, const struct trap *trap,
                   char text[NUCD_OVERFLOW_TEXT]);

/* The accelerators. */
struct accelerators *nucd_accelerators(const struct nucd *nucd);

/* What follows is for the machine with a clock; but for nucd_check...(), NULL is allowed. Cores are numbered as harts. */

/* The number of the hosts' harts; not of NULL. */
unsigned nucd_hosts(const struct nucd *nucd);

/* Gives it the clock, before the cores are made; *machine is copied, what it points to stays until nucd_stop_clock(),
 * which comes when no more events will fire and before the cores' harts go. */
void nucd_start_clock(struct nucd *nucd, const struct nucd_machine *machine);
void nucd_stop_clock(struct nucd *nucd);

/* What cores are made with: the devices that they reach on a way of their own, and the engine of a host that offloads
 * (engines_make()), joined with the core when that is made. */
struct core_near nucd_near(const struct nucd *nucd, unsigned core);
bool nucd_make_engine(struct nucd *nucd, const struct nucd_core *core, struct core_offload *offload,
                      struct error *err);
void nucd_attach_engine(struct nucd *nucd, unsigned number, struct core *core);

/* All cores are made: to be called for each of them. Wakes accelerators unless a system will. */
void nucd_attach(struct nucd *nucd, unsigned number, struct core *core);

/* A core's hart has stopped; true when that was for its task unit, and it goes on. */
bool nucd_stopped(struct nucd *nucd, unsigned core, enum hart_stop stop);

/* FENCE.I has retired on a core: a host's is for accelerators too. */
void nucd_code_changed(struct nucd *nucd, unsigned core);

/* --check nucd: from now on; of the program's segments that it cannot write; and at the end, whether it printed
 * findings (task_check.h). */
void nucd_check(struct nucd *nucd);
void nucd_check_allow(struct nucd *nucd, uint64_t first, uint64_t last);
bool nucd_check_summary(const struct nucd *nucd);

/* Registers "accel.0.tasks", "nucd.offloads", "nucd.check.accesses" ...; adds what a sum cannot say. */
void nucd_publish(const struct nucd *nucd, struct stats *stats);
void nucd_add_facts(const struct nucd *nucd, struct stats *stats);

#endif
