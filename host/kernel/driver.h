/* The conventional driver of accelerators: what NUCD is compared with (NUCD paper, sections II and VI-B).
 *
 * With nucd.mode driver, nucd and the marks around a call of tasks (croft/nucd.h) trap. A call is what stands between
 * two marks, or a nucd outside of them. For a call, the driver maps the page of registers of each accelerator that it
 * uses into the program, and unmaps them at the end; that is where a full operating system does much more, for which
 * kernel_driver.os_clocks pass, once for a call. For a task it checks the operands, makes the memory of its ranges present, cleans the
 * input ranges and cleans and invalidates the output ranges block by block, waits for older tasks whose ranges
 * conflict, writes the packet to the device of the accelerator that has the least tasks, and goes on behind the region.
 * Tasks of a call run side by side, unless one brings back a register: the driver then waits for it. The end of a call
 * waits for all tasks, and invalidates the output ranges once more, as the caches may have fetched lines of them early.
 *
 * It waits by polling: the host has nothing else to do, and an interrupt would only add its latency. Faults of tasks are
 * seen and answered while it waits. System calls wait for all tasks first.
 *
 * Left out: other programs, and so queues of requests; a task that brings its code along, as accelerators fetch the
 * program's. */
#ifndef HOST_KERNEL_DRIVER_H
#define HOST_KERNEL_DRIVER_H

#include "host/kernel/kernel.h"

/* The block is the boot block's, where the kernel can write. */
void driver_init(struct kernel_driver *boot);

/* Serves a nucd or a mark at frame->pc; frame->value are its bits. */
void driver_trap(struct kernel_frame *frame);

/* Waits for all tasks in flight. */
void driver_settle(struct kernel_frame *frame);

/* A region has faulted that hardware has offloaded (nucd.mode nucd): maps the page, or ends the program. Back at the
 * nucd, the task goes on. */
void driver_region_fault(struct kernel_frame *frame);

#endif
