/* SPDX-License-Identifier: GPL-2.0 */
/* The accelerators' task units, and the tasks that threads of processes have sent to them. */
#ifndef HOST_LINUX_UNITS_H
#define HOST_LINUX_UNITS_H

#include <linux/miscdevice.h>

#include "host/linux/decode.h"
#include "host/linux/module.h"
#include "isa/include/croft/task_unit.h"

enum { UNITS_MAX = 64 };

/* A task that was sent and is not known to be complete. */
struct job {
    struct list_head link; /* of the process, oldest first */
    struct caller *caller;
    struct unit *unit;
    u64 number; /* of the unit's tasks */
    unsigned lines, result;
    u64 value; /* the result, when complete */
    struct decode_task task;
    bool complete;
};

/* A thread of a process that has used the device. */
struct caller {
    struct list_head link; /* of the process */
    struct process *process;
    struct task_struct *thread; /* a reference */
    bool in_call;               /* between the marks of a call */
    bool failed;                /* a task has raised a signal: none that the thread had sent is valid */
    u32 fflags;
};

struct process {
    struct device_state *device;
    struct pages pages;
    struct mutex lock;        /* one call at a time */
    struct list_head callers; /* changes under this lock */
    struct list_head jobs;    /* under the device's lock */
    struct list_head waits;   /* in the device's list of those who wait for a unit */
    struct caller *sender;    /* who does */
    struct list_head all;     /* in the device's list */
    bool dying, dropped;      /* it has no memory any more; its pages are released */
    struct nucd_counters counters;
};

struct unit {
    struct task_unit_host __iomem *regs;
    struct caller *owner;   /* of the tasks that it has */
    u64 sent, done;         /* tasks since the module was loaded */
    u64 base;               /* DONE at that time */
    unsigned lines;         /* in use */
    struct process *mapped; /* whose ranges it has; NULL: nobody's */
    u64 cuts;               /* at that time */
    bool killed;            /* its core may still be at a killed task, or have lines of it */
    int irq;
};

struct device_state {
    spinlock_t lock;
    wait_queue_head_t wait;
    struct list_head waits, processes;
    struct work_struct work;
    struct miscdevice misc;
    unsigned count, lines, capabilities;
    unsigned killed;                  /* units whose cores may still be at killed tasks */
    struct croft_range_table *nobody; /* an empty table */
    struct unit units[UNITS_MAX];
};

/* Begins with no unit, and no process. */
void units_init(struct device_state *device);
/* Kills what an earlier owner of the machine has left in a unit, whose registers are mapped. */
void units_clear(struct device_state *device, struct unit *unit);
irqreturn_t units_interrupt(int irq, void *device);

/* Sends a task, when it is the process's turn. Returns 0: the job is the process's; or -EINTR: the process has been killed, or an earlier
 * task of the thread has failed. */
int units_send(struct caller *caller, struct job *job);
/* Waits until all tasks of the process are complete, and killed ones have left their units. Returns 0 or -EINTR. */
int units_await_tasks(struct process *process);
/* Kills all tasks of a process, and returns when no unit has anything of it. */
void units_forget(struct process *process);
/* Lets the worker kill tasks and release pages of a process that has ended. */
void units_end(struct process *process);

#endif
