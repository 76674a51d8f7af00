/* The kernel's C entry, and the handler of the program's traps. */
#include <croft/firmware/map.h>

#include "host/kernel/driver/driver.h"
#include "host/kernel/hosts.h"
#include "host/kernel/memory/memory.h"
#include "host/kernel/memory/pages.h"
#include "host/kernel/memory/ranges.h"
#include "host/kernel/memory/table.h"
#include "host/kernel/units.h"
#include "isa/csr.h"
#include "isa/include/croft/nucd_bits.h"

enum { SP = 2, A0 = 10, A7 = 17 };

/* scause (privileged specification, table 4.2); the last two are ours (isa/MANUAL.md). */
enum {
    CAUSE_CALL = 8,
    CAUSE_FETCH_PAGE = 12,
    CAUSE_LOAD_PAGE = 13,
    CAUSE_STORE_PAGE = 15,
    CAUSE_NUCD_FAULT = CROFT_NUCD_CAUSE_FAULT,
    CAUSE_NUCD_CALL = CROFT_NUCD_CAUSE_CALL
};

#define CAUSE_SOFTWARE (UINT64_C(1) << 63 | 1) /* another host's interrupt */
#define CAUSE_EXTERNAL (UINT64_C(1) << 63 | 9) /* the multiprocessors' interrupt */

enum { BAD_ADDRESS = 14 };

/* Linux's riscv64 numbers of the calls that the kernel serves itself. */
enum { N_BRK = 214, N_MUNMAP = 215, N_MREMAP = 216, N_MMAP = 222, N_MPROTECT = 226, N_FLUSH_ICACHE = 259 };

extern char kernel_stack_top[];

static struct kernel_frame threads; /* what multiprocessors' threads need */
static bool multiprocessors;        /* they run beside the hart */

void kernel_report(enum door_operation what, const struct kernel_frame *frame)
{
    uint64_t at = (uint64_t)frame; /* in the kernel's image, or in memory taken for another host */
    (void)door(what,
               at - (at >= CROFT_KERNEL_BASE ? CROFT_KERNEL_BASE : CROFT_DIRECT_BASE) + CROFT_DRAM_BASE);
}

void kernel_give_up(enum door_operation why, const struct kernel_frame *frame)
{
    for (;;)
        kernel_report(why, frame);
}

struct kernel_frame *kernel_main(uint64_t boot_physical)
{
    /* Until table_init(), only the kernel's gigapage is mapped; it contains the block. */
    struct kernel_boot *boot = (void *)(boot_physical - CROFT_DRAM_BASE + CROFT_KERNEL_BASE);
    hosts_begin();
    table_init(boot->memory_size);
    boot = pages_at(boot_physical);
    driver_init(&boot->driver);
    units_init(boot);
    struct kernel_frame *program = &host_self()->frame;
    program->pc = boot->entry;
    program->x[SP] = boot->sp;
    program->stack = (uint64_t)kernel_stack_top;
    if (!memory_init(boot) || !hosts_init(boot))
        kernel_give_up(DOOR_FULL, program);
    (void)door(DOOR_START, (uint64_t)&ranges - CROFT_KERNEL_BASE + CROFT_DRAM_BASE);
    multiprocessors = boot->multiprocessors;
    if (multiprocessors) {
        enum { SEIE = 1 << 9 };
        __asm__ volatile("csrs sie, %0" : : "r"((uint64_t)SEIE));
    }
    hosts_leave();
    return program;
}

static uint64_t read_time(void)
{
    uint64_t ticks;
    __asm__ volatile("rdtime %0" : "=r"(ticks));
    return ticks;
}

/* Lets simulated time pass: the hart waits for its timer interrupt, which becomes pending and is never
 * taken. */
static void sleep_for(uint64_t nanoseconds)
{
    enum { STIE = 1 << 5 };
    const uint64_t tick = 1000000000 / CROFT_TIMEBASE;
    uint64_t until = read_time() + (nanoseconds + tick - 1) / tick;
    __asm__ volatile("csrw %0, %1; csrs sie, %2" : : "i"(CSR_stimecmp), "r"(until), "r"((uint64_t)STIE));
    while (read_time() < until) {
        hosts_sleep();
        kernel_serve_threads();
    }
    __asm__ volatile("csrc sie, %0" : : "r"((uint64_t)STIE));
}

/* Serves the calls that change mappings. Returns false for any other call. */
static bool serve_memory(uint64_t number, uint64_t a[6])
{
    switch (number) {
    case N_BRK: a[0] = (uint64_t)memory_break(a[0]); return true;
    case N_MUNMAP: a[0] = (uint64_t)memory_unmap(a[0], a[1]); return true;
    case N_MREMAP: a[0] = (uint64_t)memory_remap(a); return true;
    case N_MMAP: a[0] = (uint64_t)memory_map(a); return true;
    case N_MPROTECT: a[0] = (uint64_t)memory_protect(a[0], a[1], a[2]); return true;
    case N_FLUSH_ICACHE:
        __asm__ volatile("fence.i" : : : "memory");
        a[0] = 0;
        return true;
    default: return false;
    }
}

/* Maps the memory that the emulator needs. False if the program may not access it. */
static bool bring_in(struct kernel_frame *frame)
{
    uint32_t permission = frame->missing_write ? CROFT_RANGE_WRITE : CROFT_RANGE_READ;
    switch (memory_touch(frame->missing, frame->missing_size, permission)) {
    case MEMORY_READY: return true;
    case MEMORY_DENIED: return false;
    case MEMORY_FULL: frame->value = frame->missing; kernel_give_up(DOOR_FULL, frame);
    }
    return false;
}

void kernel_serve_threads(void)
{
    while (multiprocessors) {
        kernel_report(DOOR_THREADS, &threads);
        if (threads.thread_call) {
            (void)serve_memory(threads.thread_call, threads.thread_arguments);
            units_forget_ranges();
        } else if (threads.missing_size) {
            threads.missing_denied = !bring_in(&threads);
        } else {
            return;
        }
        units_show_ranges();
    }
}

/* Forwards the call to the emulator. */
static void forward(struct kernel_frame *frame)
{
    for (;;) {
        kernel_report(DOOR_CALL, frame);
        if (frame->thread_call) {
            (void)serve_memory(frame->thread_call, frame->thread_arguments);
        } else if (frame->waits == KERNEL_TURN) {
            hosts_pause();
        } else if (frame->waits) {
            hosts_sleep();
            kernel_serve_threads();
        } else if (frame->missing_size == 0) {
            if (frame->sleep)
                sleep_for(frame->sleep);
            return;
        } else if (!bring_in(frame)) {
            frame->x[A0] = (uint64_t)-BAD_ADDRESS;
            return;
        }
    }
}

static void serve_call(struct kernel_frame *frame)
{
    driver_settle();
    if (!serve_memory(frame->x[A7], &frame->x[A0]) && !hosts_serve(frame))
        forward(frame);
    units_forget_ranges();
    units_show_ranges();
    frame->pc += 4;
}

bool kernel_serve_region(const struct kernel_frame *frame)
{
    struct kernel_frame *region = &host_self()->region;
    region->pc = frame->pc;
    kernel_report(DOOR_REGION, region);
    if (!region->accelerator)
        return false;
    if (!serve_memory(region->x[A7], &region->x[A0]))
        forward(region);
    units_forget_ranges();
    units_show_ranges();
    kernel_report(DOOR_ANSWER, region);
    return true;
}

static void serve_fault(struct kernel_frame *frame, uint32_t permission)
{
    switch (memory_fault(frame->value, permission)) {
    case MEMORY_READY: units_show_ranges(); return;
    case MEMORY_DENIED: kernel_give_up(DOOR_FAULT, frame); return;
    case MEMORY_FULL: kernel_give_up(DOOR_FULL, frame); return;
    }
}

static void serve(struct kernel_frame *frame)
{
    switch (frame->cause) {
    case CAUSE_CALL: serve_call(frame); return;
    case CAUSE_EXTERNAL: kernel_serve_threads(); return;
    case CAUSE_FETCH_PAGE: serve_fault(frame, CROFT_RANGE_EXECUTE); return;
    case CAUSE_LOAD_PAGE: serve_fault(frame, CROFT_RANGE_READ); return;
    case CAUSE_STORE_PAGE: serve_fault(frame, CROFT_RANGE_WRITE); return;
    case CAUSE_NUCD_FAULT: driver_region_fault(frame); return;
    case CAUSE_NUCD_CALL: driver_trap(frame); return;
    default: kernel_give_up(DOOR_FAULT, frame);
    }
}

void kernel_trap(struct kernel_frame *frame)
{
    if (frame->cause == CAUSE_SOFTWARE) {
        hosts_interrupted();
        return;
    }
    hosts_enter();
    serve(frame);
    hosts_leave();
}
