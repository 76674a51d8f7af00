/* The conventional accelerator driver: the baseline for NUCD (NUCD paper, sections II and VI-B).
 *
 * With nucd.mode driver, nucd and the marks around a call of tasks (croft/nucd.h) trap. A call is the code
 * between two marks, or a single nucd outside of marks. For a call, the driver maps the register page of each
 * accelerator that it uses into the program and unmaps it at the end. A full operating system does much more
 * work there; the driver spends kernel_driver.os_clocks instead, once per call.
 *
 * For a task, the driver checks the operands, makes the memory of its ranges present, cleans the input
 * ranges, and cleans and invalidates the output ranges block by block. It waits for older tasks with
 * conflicting ranges, writes the packet to the device of the accelerator with the fewest tasks, and continues
 * after the region. Tasks of a call run concurrently, but if a task returns a register, the driver waits for
 * it. At the end of a call it waits for all tasks and invalidates the output ranges again, because caches may
 * have prefetched their lines.
 *
 * The driver waits by polling: the host has nothing else to do, and an interrupt would only add latency.
 * While it waits it detects and serves faults of tasks. System calls first wait for all tasks.
 *
 * Hosts share the accelerators. Each has calls of its own. A device has the tasks of one host at a time, because a faulty
 * task stops those behind it. A host that finds no device without tasks, and no room behind its own tasks, waits; while it waits, the
 * others send nothing behind their own tasks, and devices are given out in the order in which hosts began to wait. A host that
 * waits also serves faults of the others' tasks, so that none depends on what its program does meanwhile.
 *
 * Not modelled: other programs, and hence request queues; tasks that carry their code, because accelerators
 * fetch the program's code. */
#ifndef HOST_KERNEL_DRIVER_DRIVER_H
#define HOST_KERNEL_DRIVER_DRIVER_H

#include "host/kernel/kernel.h"

struct host;

/* Initializes the driver. *boot is part of the boot block, which the kernel can write. */
void driver_init(struct kernel_driver *boot);

/* Serves a nucd or a mark at frame->pc; frame->value is the instruction. */
void driver_trap(struct kernel_frame *frame);

/* Waits for all tasks of this host. */
void driver_settle(void);

/* Ends the open call of this host, if there is one, because its thread ends. */
void driver_close(void);

/* Prepares for a host, after memory_init(). Returns false when out of memory. */
bool driver_add_host(struct host *host);

/* Serves a page fault in a region that hardware has offloaded (nucd.mode nucd): maps the page, or ends the
 * program. The task continues when the host returns to the nucd. */
void driver_region_fault(struct kernel_frame *frame);

#endif
