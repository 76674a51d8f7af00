/* What the kernel and the emulator say to each other: the boot block, and the door through which calls are
 * forwarded.
 *
 * The door is a semihosting call (RISC-V semihosting 0.95: slli x0, x0, 0x1f; ebreak; srai x0, x0, 7) with an
 * operation from the numbers that are set aside for applications, 0x100-0x1ff. Operation in a0, argument in
 * a1. Only supervisor and machine mode have it.
 *
 * Assembler sources see only what stands before the C part. */
#ifndef CROFT_DOOR_H
#define CROFT_DOOR_H

/* Offsets in struct kernel_frame; register n is at 8 * n. */
#define KERNEL_FRAME_PC    256
#define KERNEL_FRAME_CAUSE 264
#define KERNEL_FRAME_VALUE 272

#define DOOR_PANIC_NUMBER 0x104

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

/* a1 is the physical address of the program's struct kernel_frame where nothing else is said. */
enum door_operation {
    /* The program is about to start; a1: physical address of the struct croft_range_table. */
    DOOR_START = 0x100,
    DOOR_CALL = 0x101,              /* the emulator is to serve the program's call */
    DOOR_FAULT = 0x102,             /* the program cannot go on, for the reason in cause and value */
    DOOR_FULL = 0x103,              /* no memory is left for the program's page at `value` */
    DOOR_PANIC = DOOR_PANIC_NUMBER, /* a trap in the kernel itself; a1: cause, a2: pc, a3: value */
    /* Of the driver (host/kernel/driver.h), with pc at the nucd: its operands are malformed; value is the number of
     * the cause in the manual's order, from 0. */
    DOOR_MALFORMED = 0x105,
    /* Likewise: the task has not ended in time; value is the number of its accelerator. Does not return. */
    DOOR_TIMEOUT = 0x106,
};

/* The program's state at a trap. */
struct kernel_frame {
    uint64_t x[32];
    uint64_t pc, cause, value; /* sepc, scause, stval */
    /* Written by DOOR_CALL: missing_size is 0 when the call is served, and its result is in x[10]. Otherwise
     * nothing has happened yet, since the program's bytes [missing, missing + missing_size), which the call
     * reads or writes, are not all mapped with that permission: the kernel maps them and calls again, or
     * answers -EFAULT. */
    uint64_t missing, missing_size, missing_write;
    /* Written by DOOR_CALL: the program is to go on after so many nanoseconds of simulated time. */
    uint64_t sleep;
    /* For DOOR_FAULT: the number + 1 of the accelerator in whose region, at task_pc, it was, by the driver's task of the
     * nucd at pc; or 0. */
    uint64_t accelerator, task_pc;
    /* Written by DOOR_CALL: a thread of multiprocessors that the call has launched makes a call of the kernel's own, with
     * that number and these arguments; 0: none. The kernel puts the result into the first one and calls again. */
    uint64_t thread_call, thread_arguments[6];
};

_Static_assert(offsetof(struct kernel_frame, pc) == KERNEL_FRAME_PC &&
                   offsetof(struct kernel_frame, cause) == KERNEL_FRAME_CAUSE &&
                   offsetof(struct kernel_frame, value) == KERNEL_FRAME_VALUE,
               "the kernel's assembler finds the fields");

/* A part of the program as the emulator has loaded it. All addresses are multiples of 4096. */
struct kernel_segment {
    uint64_t first, end, physical;
    uint64_t filled_first,
        filled_end; /* these pages hold bytes; the others, zeros, are mapped when they are touched */
    uint32_t permissions, use; /* as in struct croft_range */
};

enum { KERNEL_SEGMENTS = 320, KERNEL_DRIVER_UNITS = 64 };

/* What the driver has done since the start; clocks are the host's. It counts without the instructions that save and
 * restore the program's registers. */
struct kernel_driver_counters {
    uint64_t calls; /* begun */
    uint64_t tasks; /* given to accelerators */
    uint64_t maps;  /* pages of devices that were mapped into the program */
    uint64_t
        waits; /* tasks that had to wait for an older one, whose ranges conflict or which took the room */
    uint64_t faults;       /* of tasks, that were answered */
    uint64_t clocks;       /* spent in the driver, of which: */
    uint64_t wait_clocks;  /* waiting for accelerators */
    uint64_t os_clocks;    /* in the stead of a full operating system */
    uint64_t clean_clocks; /* cleaning and invalidating cache blocks */
};

/* The accelerators that the driver has; all zeros: there is no driver. */
struct kernel_driver {
    uint64_t units; /* their number, at most KERNEL_DRIVER_UNITS */
    uint64_t base,
        size;       /* physical address of the host's page of the first one, and the distance of the next */
    uint64_t lines; /* of each work queue, at least 2 */
    uint64_t capabilities; /* of each */
    uint64_t
        os_clocks; /* host clocks that a full operating system takes in addition to map a device (nucd.os_clocks) */
    uint64_t timeout;                       /* of a task, in ticks of `time` */
    struct kernel_driver_counters counters; /* written by the kernel */
};

/* In memory at a1 when hart 0 starts. */
struct kernel_boot {
    uint64_t memory_base, memory_size; /* physical, in bytes */
    uint64_t bitmap;               /* physical address of memory_size / 4096 bits, rounded up to 8 bytes */
    uint64_t used_end;             /* kernel, boot block and bitmap lie between memory_base and here */
    uint64_t entry, sp;            /* of the program */
    uint64_t break_start, map_top; /* between them are break and mappings */
    uint64_t break_physical;       /* where the break's memory begins if that is free */
    uint64_t accelerators;         /* that translate by the table of ranges */
    uint64_t unit_count;           /* of those that may be sent tasks; 0: nobody sends any */
    uint64_t unit_base,
        unit_size; /* physical address of the first one's host's page; the distance of the next */
    struct kernel_driver driver;
    uint64_t segment_count;
    struct kernel_segment segments[KERNEL_SEGMENTS]; /* ascending, disjoint */
};

#endif
#endif
