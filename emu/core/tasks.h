/* Accelerators that take a program's tasks, under firmware of their own: what environments of programs need of them. The
 * kind of part that describes such accelerators names its struct tasks_kind (struct part_kind, `tasks`); a machine has at
 * most one part of such a kind.
 *
 * A task's region may stop at an accelerator because of a fault or a call. Then the host's hart stops too, at the
 * instruction that began the task: all instructions before it have retired, and none after it. */
#ifndef EMU_CORE_TASKS_H
#define EMU_CORE_TASKS_H

#include "emu/core/mechanism.h"
#include "emu/mem/phys.h"
#include "emu/sim/error.h"
#include "emu/sim/report/stats.h"

struct bus;
struct hart;
struct irq_line;
struct kernel_boot;
struct kernel_frame;
struct trap;
struct tree;

/* Parameters of a machine's accelerators. Everything must outlive them, except `done`. */
struct tasks_options {
    const struct tree *tree;
    /* Firmware: an ELF file, as the kind wants it. NULL: there are no tasks, and accelerators are ordinary harts. */
    const char *firmware;
    /* Loads an ELF file into `memory` by its physical addresses. */
    bool (*load)(const char *path, const struct phys *memory, uint64_t *entry, struct error *err);
    struct phys *memory; /* all of main memory */
    struct hart *harts;  /* the machine's harts, those of hosts first */
    unsigned count;
    struct bus *bus;             /* the bus of the accelerators' harts; the task units are added to it */
    const struct irq_line *done; /* done[i]: unit i's interrupt line to the host; NULL: none */
};

/* The accelerators of a machine. */
struct tasks {
    const struct tasks_ops *ops;
    const char *instruction;         /* begins a task; for messages */
    struct core_mechanism mechanism; /* what the timed machine knows them by */
    const struct hart *harts;        /* the accelerators' */
    unsigned count;
    struct phys memory; /* the firmware's, with the stacks of regions */
};

/* A region that has stopped at an accelerator. */
struct tasks_region {
    uint64_t x[32], pc;
    void *saved;         /* where the firmware keeps x[]: changes take effect when the region continues */
    struct phys stack;   /* of its accelerator */
    uint64_t begin, end; /* addresses of the first instruction, and after the last one */
};

/* What called a region: it was entered in a frame of the host, but has a stack of its own. */
struct tasks_caller {
    uint64_t stack_end; /* of the region's stack: its sp at the beginning */
    uint64_t sp;        /* the host's at the instruction that began the task */
};

enum { TASKS_TEXT = 768 };

struct tasks_ops {
    /* Releases the accelerators, after the machine and its harts. */
    void (*free)(struct tasks *tasks);
    /* Loads the firmware again and restarts the accelerators, after harts and memory have been reset. */
    bool (*restart)(struct tasks *tasks, struct error *err);
    /* Makes memory below `first` read-only for tasks. Called before any hart runs. */
    void (*protect)(struct tasks *tasks, uint64_t first);
    /* Sets the physical address of the kernel's table of ranges. */
    void (*set_ranges)(struct tasks *tasks, uint64_t table);
    /* Returns whether the hart of a host has stopped for a fault in a region, and stores accelerator and pc. */
    bool (*fault)(const struct tasks *tasks, const struct hart *hart, unsigned *accelerator, uint64_t *pc);
    /* Returns whether an interrupt has squashed tasks of the host that had been sent, and their instructions have not been
     * reached again. If the host begins another task before that, their results are discarded. */
    bool (*keep)(const struct tasks *tasks, const struct hart *hart);
    /* Returns whether the fault that fault() has named overflows the stack of the accelerator's tasks. If so, writes a message. */
    bool (*overflow)(const struct tasks *tasks, unsigned accelerator, const struct trap *trap,
                     char text[TASKS_TEXT]);
    /* Fills in *region. Returns false if none has stopped there, or its registers are not known. */
    bool (*region)(const struct tasks *tasks, unsigned accelerator, struct tasks_region *region);
    /* Fills in *caller of the region that an accelerator executes. Returns false if there is none, or its host's sp is not
     * known. */
    bool (*caller)(const struct tasks *tasks, unsigned accelerator, struct tasks_caller *caller);
    /* Answers the call at which the region has stopped; it continues behind the call when the host continues. */
    void (*answer)(struct tasks *tasks, unsigned accelerator, uint64_t result);

    /* For the kernel's driver. Counts operands that the driver found malformed; returns true, with a message, when the user
     * should be warned. */
    bool (*malformed)(struct tasks *tasks, uint64_t cause, uint64_t pc, struct error *warning);
    /* Writes a line that names the task that has not ended in time. `place` describes frame->pc. */
    void (*timeout)(const struct tasks *tasks, const struct kernel_frame *frame, const char *place,
                    char text[TASKS_TEXT]);
    /* Registers the driver's counters. The boot block must stay valid. */
    void (*publish)(struct tasks *tasks, const struct kernel_boot *boot, struct stats *stats);
};

/* What the device tree says of the accelerators. */
struct tasks_node {
    const char *name, *compatible;
    uint64_t base, size; /* of all task units' registers */
    uint64_t interrupt;  /* at the PLIC, of the first unit; the others follow */
    uint32_t units, queue_lines, capabilities;
};

/* A kind of part. Functions accept trees without such a part. */
struct tasks_kind {
    const char *firmware; /* croft's own, in its folder of data */
    /* Returns whether the machine has accelerators that can take tasks. */
    bool (*wanted)(const struct tree *tree);
    /* Returns the number of accelerators that take tasks with this firmware; 0 if it is NULL. */
    unsigned (*count)(const struct tree *tree, const char *firmware);
    /* Returns the interrupt number of the first accelerator; those of others follow. Only if count() is not 0. */
    uint64_t (*interrupt)(const struct tree *tree);
    /* Describes the accelerators for the device tree. Only if count() is not 0. */
    void (*node)(const struct tree *tree, const char *firmware, struct tasks_node *node);
    /* Returns the part of main memory that is for programs. */
    struct phys (*program_memory)(const struct tree *tree, const char *firmware, const struct phys *memory);
    /* Fills in the fields of the kernel's boot block that describe accelerators and driver. Time advances by 1 every `tick`
     * fs. */
    void (*boot)(const struct tree *tree, const char *firmware, uint64_t tick, struct kernel_boot *boot);
    /* Lets tasks take any time, because a debugger may stop accelerators. Called before make(). */
    void (*be_patient)(const struct tree *tree);
    /* Warns on standard error that the description asks for the kernel's driver; for programs without the kernel. */
    void (*warn_without_kernel)(const struct tree *tree);
    /* Warns of hosts that run the program, as all do in machine mode, but cannot give tasks. */
    void (*warn_hosts)(const struct tree *tree);
    /* Makes the accelerators of a machine for which count() is not 0, loads the firmware and starts the last harts in it.
     * Returns NULL with err set on failure; the message names the file or the key. */
    struct tasks *(*make)(const struct tasks_options *options, struct error *err);
};

/* These accept NULL, for a machine without such accelerators. */
static inline void tasks_free(struct tasks *tasks)
{
    if (tasks)
        tasks->ops->free(tasks);
}

static inline bool tasks_restart(struct tasks *tasks, struct error *err)
{
    return !tasks || tasks->ops->restart(tasks, err);
}

static inline void tasks_protect(struct tasks *tasks, uint64_t first)
{
    if (tasks)
        tasks->ops->protect(tasks, first);
}

static inline void tasks_set_ranges(struct tasks *tasks, uint64_t table)
{
    if (tasks)
        tasks->ops->set_ranges(tasks, table);
}

static inline bool tasks_fault(const struct tasks *tasks, const struct hart *hart, unsigned *accelerator,
                               uint64_t *pc)
{
    return tasks && tasks->ops->fault(tasks, hart, accelerator, pc);
}

static inline bool tasks_keep(const struct tasks *tasks, const struct hart *hart)
{
    return tasks && tasks->ops->keep(tasks, hart);
}

static inline bool tasks_region(const struct tasks *tasks, unsigned accelerator, struct tasks_region *region)
{
    return tasks && tasks->ops->region(tasks, accelerator, region);
}

#endif
