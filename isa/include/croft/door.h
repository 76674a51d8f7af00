/* The interface between kernel and emulator: the boot block, and the door, which forwards calls.
 *
 * The door is a semihosting call (RISC-V semihosting 0.95: slli x0, x0, 0x1f; ebreak; srai x0, x0, 7) with an operation
 * number reserved for applications, 0x100-0x1ff. Operation in a0, argument in a1. Only supervisor and machine mode can
 * use it.
 *
 * Assembler sources see only what precedes the C part. */
#ifndef CROFT_DOOR_H
#define CROFT_DOOR_H

/* Offsets in struct kernel_frame; register n is at 8 * n. */
#define KERNEL_FRAME_PC    256
#define KERNEL_FRAME_CAUSE 264
#define KERNEL_FRAME_VALUE 272
#define KERNEL_FRAME_STACK 280

/* Most hosts on which the kernel runs threads of the program. */
#define KERNEL_HOSTS 64

#define DOOR_PANIC_NUMBER 0x104

/* What the part of the kernel beneath programs of Linux (host/kernel/linux) shares with the emulator: a frame for each host, and the
 * answers of the door. */

/* Offsets in struct linux_frame; register n is at 8 * n. */
#define LINUX_FRAME_PC     256
#define LINUX_FRAME_CAUSE  264
#define LINUX_FRAME_VALUE  272
#define LINUX_FRAME_FLOATS 280
#define LINUX_FRAME_OLD    544

/* The door's operation (door.h has the others): a host has trapped, or has been woken. Its answer is a set of: */
#define DOOR_LINUX_NUMBER 0x10b
#define LINUX_NEXT_FENCE  1 /* page tables have changed */
#define LINUX_NEXT_SWITCH 2 /* the frame is another thread's: its floating-point registers are in `floats` */
#define LINUX_NEXT_IDLE   4 /* the host has no thread: it waits for its software interrupt, and asks again */

/* Offsets in the image: the handler of traps, and where a host without a thread begins, with s0 = the address of its frame. */
#define LINUX_KERNEL_TRAP 0
#define LINUX_KERNEL_IDLE 4

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

/* Unless stated otherwise, a1 is the physical address of the program's struct kernel_frame. */
enum door_operation {
    /* The program is about to start; a1: physical address of the struct croft_range_table. */
    DOOR_START = 0x100,
    DOOR_CALL = 0x101,              /* the emulator serves the program's call */
    DOOR_FAULT = 0x102,             /* the program cannot continue; cause and value say why */
    DOOR_FULL = 0x103,              /* no memory is left for the program's page at `value` */
    DOOR_PANIC = DOOR_PANIC_NUMBER, /* a trap in the kernel itself; a1: cause, a2: pc, a3: value */
    /* From the driver (host/kernel/driver/driver.h), with pc at the nucd: its operands are malformed; value is the number of
     * the cause in the manual's order, from 0. */
    DOOR_MALFORMED = 0x105,
    /* From the driver, with pc at the nucd: the task has not ended in time; value is the number of its accelerator.
     * Does not return. */
    DOOR_TIMEOUT = 0x106,
    /* A region has stopped at a call, with pc at its nucd: the emulator writes the region's x[] and pc, and the number of
     * its accelerator plus 1 to `accelerator`, or 0 if the call cannot be served. DOOR_CALL with such a frame serves the
     * region's call. DOOR_ANSWER gives the region the result in x[10]: it continues behind its call when it is resumed, and
     * forgets its translations by ranges. */
    DOOR_REGION = 0x107,
    DOOR_ANSWER = 0x108,
    /* The multiprocessors have interrupted (SEIP), or the kernel waits for them: the frame, not the program's, takes the
     * result of what the last DOOR_THREADS asked for, and asks for the next thing that a thread needs: the bytes
     * [missing, missing + missing_size), or thread_call. The kernel brings the bytes in, or sets missing_denied, or
     * stores the call's result in thread_arguments[0], and calls again, until nothing is asked for. */
    DOOR_THREADS = 0x109,
    /* Mappings or permissions have been removed: multiprocessors forget their translations. a1 is not used. */
    DOOR_FORGET = 0x10a,
    DOOR_LINUX = DOOR_LINUX_NUMBER, /* beneath programs of Linux; a1 is not used */
};

enum kernel_wait {
    KERNEL_WAITS = 1, /* the kernel waits for their interrupt, serves DOOR_THREADS and calls again */
    KERNEL_TURN = 2,  /* without a clock: the kernel lets other hosts enter it and calls again */
};

/* The program's state at a trap. */
struct kernel_frame {
    uint64_t x[32];
    uint64_t pc, cause, value; /* sepc, scause, stval */
    uint64_t stack;            /* where the kernel's stack on this host begins */
    /* Written by DOOR_CALL: missing_size is 0 if the call is served, and x[10] holds its result. Otherwise the call has
     * had no effect, because the program's bytes [missing, missing + missing_size), which it reads or (missing_write)
     * writes, are not all mapped with that permission: the kernel maps them and calls again, or answers -EFAULT. */
    uint64_t missing, missing_size, missing_write;
    /* Written by DOOR_CALL: the program continues after this many nanoseconds of simulated time. */
    uint64_t sleep;
    /* For DOOR_REGION, DOOR_CALL and DOOR_ANSWER: see there. For DOOR_FAULT: if a region faulted in the driver's task of the nucd at pc, the number of its accelerator plus 1,
     * and the faulting pc in task_pc; else 0. */
    uint64_t accelerator, task_pc;
    /* Written by DOOR_CALL: the number of a system call that a multiprocessor's thread, launched by the call, makes and
     * the kernel itself serves, with its arguments; 0: none. The kernel stores the result in thread_arguments[0] and
     * calls again. */
    uint64_t thread_call, thread_arguments[6];
    uint64_t missing_denied; /* for DOOR_THREADS */
    /* Written by DOOR_CALL, one of enum kernel_wait: whether the call waits for multiprocessors. */
    uint64_t waits;
};

#ifndef __cplusplus
_Static_assert(offsetof(struct kernel_frame, pc) == KERNEL_FRAME_PC &&
                   offsetof(struct kernel_frame, cause) == KERNEL_FRAME_CAUSE &&
                   offsetof(struct kernel_frame, value) == KERNEL_FRAME_VALUE &&
                   offsetof(struct kernel_frame, stack) == KERNEL_FRAME_STACK,
               "the kernel's assembler finds the fields");
#endif

struct linux_frame {
    uint64_t x[32];
    uint64_t pc, cause, value; /* sepc, scause, stval */
    uint64_t floats[33];       /* f0 to f31 and fcsr, of the thread that a host goes on with */
    uint64_t old[33];          /* where the kernel stores those of the thread before */
};

#ifndef __cplusplus
_Static_assert(offsetof(struct linux_frame, pc) == LINUX_FRAME_PC &&
                   offsetof(struct linux_frame, cause) == LINUX_FRAME_CAUSE &&
                   offsetof(struct linux_frame, value) == LINUX_FRAME_VALUE &&
                   offsetof(struct linux_frame, floats) == LINUX_FRAME_FLOATS &&
                   offsetof(struct linux_frame, old) == LINUX_FRAME_OLD,
               "the kernel's assembler finds the fields");
#endif

/* A loaded segment of the program. All addresses are multiples of 4096. */
struct kernel_segment {
    uint64_t first, end, physical;
    /* Pages that hold bytes of the file; the other pages are zero and are mapped when they are touched. */
    uint64_t filled_first, filled_end;
    uint32_t permissions, use; /* as in struct croft_range */
};

enum { KERNEL_SEGMENTS = 320, KERNEL_DRIVER_ACCELERATORS = 64 };

/* Counters of the driver for one host since the start; clocks are the host's. They exclude the instructions that save and restore
 * the program's registers. */
struct kernel_driver_counters {
    uint64_t calls; /* calls begun */
    uint64_t tasks; /* tasks sent to accelerators */
    uint64_t maps;  /* device pages mapped into the program */
    /* tasks that waited for an older one, because of conflicting ranges or a full queue */
    uint64_t waits;
    uint64_t faults;      /* faults of tasks that were answered */
    uint64_t clocks;      /* spent in the driver; of these: */
    uint64_t wait_clocks; /* waiting for accelerators */
    uint64_t
        turn_clocks; /* waiting for other hosts: for accelerators that have their tasks, and for the kernel's lock */
    uint64_t os_clocks;    /* standing in for a full operating system */
    uint64_t clean_clocks; /* cleaning and invalidating cache blocks */
};

/* The accelerators of the driver; all zeros: there is no driver. */
struct kernel_driver {
    uint64_t units; /* number of accelerators, at most KERNEL_DRIVER_ACCELERATORS */
    /* Physical address of the first accelerator's host page; distance to the next one's. */
    uint64_t base, size;
    uint64_t lines;        /* in each work queue, at least 2 */
    uint64_t capabilities; /* of each accelerator */
    /* host clocks that a full operating system takes in addition to map a device (nucd.os_clocks) */
    uint64_t os_clocks;
    uint64_t timeout;                                     /* time limit of a task, in ticks of `time` */
    struct kernel_driver_counters counters[KERNEL_HOSTS]; /* by host; written by the kernel */
};

/* The boot block: a1 holds its address when hart 0 starts. */
struct kernel_boot {
    uint64_t memory_base, memory_size; /* physical, in bytes */
    uint64_t bitmap;               /* physical address of memory_size / 4096 bits, rounded up to 8 bytes */
    uint64_t used_end;             /* end of kernel, boot block and bitmap, which begin at memory_base */
    uint64_t entry, sp;            /* of the program */
    uint64_t break_start, map_top; /* the break and the mappings lie between these */
    uint64_t break_physical;       /* preferred physical address of the break's memory */
    uint64_t accelerators;         /* number of accelerators that translate by the table of ranges */
    uint64_t unit_count;           /* number of these that accept tasks; 0: no tasks are sent */
    /* Physical address of the first one's host page; distance to the next one's. */
    uint64_t unit_base, unit_size;
    struct kernel_driver driver;
    uint64_t multiprocessors; /* 1: they run at the same time as the hart and interrupt it; else 0 */
    /* Number of hosts, which are the first harts, 1 to KERNEL_HOSTS; if it is more than 1, the physical address of the
     * CLINT, whose software interrupts connect them. */
    uint64_t hosts, clint;
    uint64_t segment_count;
    struct kernel_segment segments[KERNEL_SEGMENTS]; /* ascending, disjoint */
};

#endif
#endif
