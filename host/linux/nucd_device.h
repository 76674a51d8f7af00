/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* The calls of /dev/nucd, by which a process of Linux sends regions to accelerators (module nucd.c, library offload.c).
 *
 * A process opens the device once. What it maps later may be used by its regions, too: pages are pinned when a task names
 * them or its region touches them, and released when the process unmaps them or closes the device. */
#ifndef HOST_LINUX_NUCD_DEVICE_H
#define HOST_LINUX_NUCD_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

struct nucd_info {
    __u32 units;        /* accelerators */
    __u32 lines;        /* of each work queue */
    __u32 capabilities; /* of each accelerator */
    __u32 reserved;
};

/* What the process executes at `pc`: nucd or a mark of a call (isa/include/croft/nucd_bits.h), with its registers. */
struct nucd_trap {
    __u64 x[32]; /* x[0] is not read; the result of a region is written */
    __u64 pc;    /* written: where the process goes on */
    __u32 instruction;
    __u32 frm;
    __u32 fflags; /* written: exceptions to add to the process's */
    __u32 sent;   /* written: 1 if a task was sent, 0 if the process runs the region itself, or for marks */
};

struct nucd_span {
    __u64 address, size; /* in bytes */
};

/* Counters of the process since it opened the device. */
struct nucd_counters {
    __u64 tasks, refused, faults, waits, sleeps, pages, ranges;
};

#define NUCD_INFO     _IOR('N', 0x40, struct nucd_info)
/* Serves the instruction. EINTR: a signal came before the task was sent, or the task raised one: SIGSEGV, SIGBUS, SIGILL,
 * SIGTRAP or SIGSYS, as the host would at the same instruction. */
#define NUCD_TRAP     _IOWR('N', 0x41, struct nucd_trap)
/* Pins the pages of a span now, so that no task waits for them. ENOSPC: the table of ranges is full. */
#define NUCD_PIN      _IOW('N', 0x42, struct nucd_span)
/* Waits for all tasks and releases all pages. */
#define NUCD_UNPIN    _IO('N', 0x43)
#define NUCD_COUNTERS _IOR('N', 0x44, struct nucd_counters)

#endif
