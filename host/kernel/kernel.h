/* The supervisor-mode kernel beneath one program: what its files share.
 *
 * Design. One hart, one program, one address space. The lower half of Sv39 is the program's, at the addresses
 * that the `user` environment would give it; the upper half has the kernel (CROFT_KERNEL_BASE) and all of
 * physical memory (CROFT_DIRECT_BASE), for supervisor mode alone. The kernel runs with interrupts off, so that
 * every trap comes from the program, and one frame and one stack suffice. It has no floating-point code:
 * these registers stay the program's. Files, clocks and the like are the emulator's: such calls go through
 * the door (door.h) unchanged.
 *
 * Memory. Every part of the address space is a range (range.h), for which physically contiguous memory is set
 * aside when it comes into being: the break from below, right behind the program's data, the rest from above.
 * Pages enter the tables, zeroed, when they are touched; where accelerators share the program's memory, in parts of 64
 * KiB, which are then marked as present for them (memory.h). Only a range that finds no hole of its size takes
 * single pages. A and D are set from the start, as nothing is ever paged out: so it does not matter whether
 * the hart would set them.
 *
 * Accelerators. driver.h serves nucd where it traps, and the faults of regions.
 *
 * Left out: other processes and threads, signals to handlers, files in memory, giving back page tables. */
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

/* trap.S: goes to the emulator. */
uint64_t door(enum door_operation operation, uint64_t argument);

/* main.c. Tells the emulator something of the program; what it gives up with does not come back. */
void kernel_report(enum door_operation what, const struct kernel_frame *frame);
_Noreturn void kernel_give_up(enum door_operation why, const struct kernel_frame *frame);

/* kernel_main() prepares the program's memory and returns the frame to start with. */
struct kernel_frame *kernel_main(uint64_t boot_physical);
void kernel_trap(struct kernel_frame *frame);

/* string.c */
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
void *memmove(void *to, const void *from, size_t size);

#endif
