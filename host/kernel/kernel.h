/* The supervisor-mode kernel below a program: shared declarations.
 *
 * Design. One program, one address space, one thread on each host (hosts.h); one host at a time executes the kernel. The lower half of Sv39 belongs to the program, at the
 * same addresses as in the `user` environment. The upper half maps the kernel (CROFT_KERNEL_BASE) and all of
 * physical memory (CROFT_DIRECT_BASE), for supervisor mode only. The kernel runs with interrupts off, so
 * every trap comes from the program, and one frame and one stack for each host suffice. The only interrupts that the program
 * can take are those of other hosts and of multiprocessors (below). The kernel has no floating-point
 * code, so these registers keep the program's values. Calls about files, clocks and so on are forwarded
 * unchanged to the emulator through the door (door.h).
 *
 * Memory. Every part of the program's address space is a range (range.h). Physically contiguous memory is
 * reserved for a range when it is created: upwards from the program's data for the break, downwards from the
 * top for all others. Pages are zeroed and mapped on first access. If accelerators share the program's
 * memory, 64 KiB are mapped at once and marked as present for the accelerators (memory.h). Only a range that
 * finds no hole of its size consists of single pages. A and D are always set, because pages are never swapped
 * out; so it does not matter whether the hart would set them.
 *
 * Accelerators. driver.h serves trapping nucd instructions and the faults of regions.
 *
 * Multiprocessors. Where they run beside the harts, they interrupt one (SEIP) when their threads miss pages or make calls
 * about memory, which DOOR_THREADS tells, and when a launch has ended. The threads of a launch interrupt the host that made it,
 * whether its thread runs, waits or has ended. A thread of the program that waits for a launch waits here (wfi).
 *
 * Not supported: other processes, more threads than hosts, signals to handlers, files mapped to memory, freeing page
 * tables. */
#ifndef HOST_KERNEL_KERNEL_H
#define HOST_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/include/croft/door.h"
#include "isa/include/croft/range.h"

enum { PAGE = 4096, PAGE_SHIFT = 12 };

static inline uint64_t page_down(uint64_t address)
{
    return address & ~(uint64_t)(PAGE - 1);
}

static inline uint64_t page_up(uint64_t address)
{
    return page_down(address + PAGE - 1);
}

/* trap.S: calls the emulator and returns its result. */
uint64_t door(enum door_operation operation, uint64_t argument);

/* main.c. Sends the emulator a message about the program. kernel_give_up() does not return. */
void kernel_report(enum door_operation what, const struct kernel_frame *frame);
_Noreturn void kernel_give_up(enum door_operation why, const struct kernel_frame *frame);

/* main.c. Serves the call at which the region of the nucd at frame->pc has stopped; the region continues behind it when
 * it is resumed. Ranges that it removes are forgotten by accelerators after the program's next call (units.h), because
 * tasks are in flight. Returns false if the call cannot be served. */
bool kernel_serve_region(const struct kernel_frame *frame);

/* kernel_main() prepares the program's memory and returns the frame to start with. kernel_trap() serves a
 * trap. */
struct kernel_frame *kernel_main(uint64_t boot_physical);
void kernel_trap(struct kernel_frame *frame);

/* main.c. Serves what threads that this host has launched need, if multiprocessors run beside the harts: pages and calls about
 * memory. */
void kernel_serve_threads(void);

/* string.c */
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
void *memmove(void *to, const void *from, size_t size);

#endif
