/* A hart: its architectural state, and the execution of its instructions. */
#ifndef EMU_HART_HART_H
#define EMU_HART_HART_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/priv.h"
#include "emu/hart/priv/trap_loop.h"
#include "emu/hart/priv/trigger.h"
#include "emu/mem/phys.h"
#include "emu/mem/phys/bus.h"
#include "emu/sim/error.h"
#include "isa/decode.h"
#include "isa/include/croft/nucd_bits.h"

/* Why execution stopped. */
enum hart_stop {
    HART_STOP_LIMIT, /* the instruction limit of this call is reached */
    /* hart->trap says why; pc is at the instruction, which has changed nothing. Only of unprivileged harts, and of others in
     * a trap loop (hart->loop.found). */
    HART_STOP_TRAP,
    HART_STOP_MARKER,   /* a marker HINT has retired; hart->marker describes it */
    HART_STOP_WFI,      /* WFI has retired: nothing need run until hart_has_interrupt() */
    HART_STOP_YIELD,    /* hart_request_yield() was called */
    HART_STOP_SEMIHOST, /* pc is at the EBREAK of a semihosting call */
    HART_STOP_BREAK,    /* pc is at a breakpoint; the instruction has not been executed */
    HART_STOP_WATCH,    /* a watchpoint: hart->watch_hit names it; the access is done */
};

/* Exception causes (privileged specification, table of mcause values). */
enum trap_cause {
    TRAP_FETCH_MISALIGNED = 0,
    TRAP_FETCH_ACCESS = 1,
    TRAP_ILLEGAL_INSTRUCTION = 2,
    TRAP_BREAKPOINT = 3,
    TRAP_LOAD_MISALIGNED = 4,
    TRAP_LOAD_ACCESS = 5,
    TRAP_STORE_MISALIGNED = 6,
    TRAP_STORE_ACCESS = 7,
    TRAP_ECALL_USER = 8,
    TRAP_ECALL_SUPERVISOR = 9,
    TRAP_ECALL_MACHINE = 11,
    TRAP_FETCH_PAGE = 12,
    TRAP_LOAD_PAGE = 13,
    TRAP_STORE_PAGE = 15,
    TRAP_NUCD_FAULT = CROFT_NUCD_CAUSE_FAULT, /* custom: the region of a task has faulted */
    /* custom: a nucd, or a mark around a call of tasks, that a driver serves */
    TRAP_NUCD_CALL = CROFT_NUCD_CAUSE_CALL,
    /* custom, of accelerators: an order point (hart_offload.ordered); a region was not left by its end */
    TRAP_NUCD_ORDER = CROFT_NUCD_CAUSE_ORDER,
    TRAP_NUCD_LEFT = CROFT_NUCD_CAUSE_LEFT,
};

struct trap {
    enum trap_cause cause;
    uint64_t value; /* as for mtval: the faulting address, or the instruction's bits */
};

struct hart;

/* An exception or interrupt that a hart takes, or an exception that stops it. */
struct hart_taken {
    bool interrupt;
    uint64_t cause, value; /* cause: enum trap_cause, or the interrupt's number */
    uint64_t pc;           /* of the instruction that has trapped, or before which the interrupt comes */
};

/* The offload state of a hart (isa/MANUAL.md, "Offload traps"). */
struct hart_offload {
    bool present; /* the CSRs nucdcause ... exist */
    /* slt x0 with HART_NUCD or HART_NUCD_MARK in the upper half of rs1 traps in user mode: TRAP_NUCD_CALL */
    bool traps;
    bool ordered; /* of an accelerator: nucd.order traps in user mode (TRAP_NUCD_ORDER) */
    bool frozen;  /* nucdctl reads it: the last faulted task waits for an answer */
    bool settles; /* no task begins, but those that were sent before an interrupt are reached again */
    uint64_t cause, value, offset;                   /* nucdcause, nucdval, nucdoff: of that fault */
    void (*control)(void *context, uint64_t action); /* nucdctl was written; may be NULL */
    void *context;
    bool translated; /* a nucd is in a block of the fast handlers, which ignore it */
    bool inlined;    /* a nucd with its signature was executed as a HINT: the hart runs the region itself */
    /* The nucd *insn at pc is about to trap, as a driver's call. May be NULL. */
    void (*called)(void *context, const struct hart *hart, const struct insn *insn);
    void *call_context;
};

struct marker {
    uint32_t code;  /* enum croft_marker of isa/include/croft/roi.h */
    uint64_t value; /* the rs1 operand: the guest address of a name, or 0 */
};

/* Signatures in the upper half of rs1: of nucd, and of the marks around a call of tasks. */
enum { HART_NUCD = CROFT_NUCD_SIGNATURE, HART_NUCD_MARK = CROFT_NUCD_MARK_SIGNATURE };

enum {
    HART_SINK = 32,           /* x[HART_SINK] receives values written to x0 */
    HART_JUMP_ENTRIES = 4096, /* entries of the indirect-jump cache; a power of two */
    HART_BREAKPOINTS = 64,
    HART_WATCHPOINTS = 16,
};

enum hart_watch { HART_WATCH_READ = 1, HART_WATCH_WRITE = 2 };

struct watchpoint {
    uint64_t address, length;
    unsigned kinds; /* set of enum hart_watch */
};

struct watch_hit {
    uint64_t address; /* of the watchpoint */
    bool write;
    bool hit;
};

/* What the blocks of code do not follow yet; block_update() makes them, before the next one is entered. */
enum hart_stale {
    HART_STALE_MODE = 1,   /* privilege, mstatus, satp, mrange or frm has changed */
    HART_STALE_LEAVES = 2, /* hart->fence was executed */
    HART_STALE_CODE = 4,   /* all predecoded code is to be forgotten */
};

union op;
struct exec_table;
struct block_cache;
struct compiler;
struct stream_trace;
struct stream_entry;
struct trace_run;
struct custom_units;
struct custom_waiter;
struct mirror;

struct hart {
    uint64_t x[33]; /* integer registers; x[0] stays 0 */
    uint64_t f[32]; /* floating-point registers, floats NaN-boxed */
    uint64_t pc;

    /* The fast paths' window on memory: an access of up to 8 bytes at load_base + d is in bounds for d <= load_last,
     * and its bytes are at load_bytes + d; likewise for stores. Other accesses take the general path of step.h. */
    uint64_t load_base, load_last;
    uint8_t *load_bytes;
    uint64_t store_base, store_last;
    uint8_t *store_bytes;
    /* HART_JUMP_ENTRIES entries, by low bits of the target pc: the first op of its block */
    const union op **jump_cache;

    uint64_t instret; /* instructions retired since reset; exact after hart_run() */
    uint8_t fflags;   /* accrued exceptions, enum fp_flag; while code runs, the host's unit holds more */
    uint8_t frm;      /* dynamic rounding mode, 0-7; 5-7 are reserved: using them traps */
    bool reserved;    /* an LR reservation is held, for virtual address `reservation` */
    uint64_t reservation;
    uint64_t reservation_physical; /* its physical address; only of harts under a stream with peers */

    /* Of a hart with a TLB: the tables of the current data mode. */
    struct tlb_entry *load_tlb, *store_tlb;

    uint8_t privilege; /* enum privilege; always PRIV_U in an unprivileged hart */
    bool privileged;   /* the hart takes its traps itself; otherwise they stop hart_run() */
    bool hardware_ad;  /* page walks set A and D; otherwise they fault if these are clear */
    bool semihosting;  /* semihosting calls stop hart_run() */
    bool has_ranges;   /* the CSRs mrange and mlocal exist: an accelerator (emu/hart/mmu/ranges.h) */
    bool attention;    /* an interrupt wire has changed, or a yield is requested: check before continuing */
    bool yield;        /* set by hart_request_yield() */
    uint8_t page_bits; /* log2 of the page size of the last translation */
    bool paging_due;   /* exec_use_tlb() is due, before the next block is entered */
    uint8_t stale;     /* set of enum hart_stale */
    uint32_t hartid;
    struct priv priv;
    uint64_t traps; /* exceptions and interrupts taken since reset */
    /* Unless timed, time = (time_base + hart_progress() - time_origin) / time_divisor + time_offset, and each
     * instruction takes one cycle. */
    uint64_t time_base, time_origin, time_divisor;
    uint64_t time_offset; /* ticks that a program has added by writing mtime */
    bool timed;           /* hart_set_clock() was called: cycles and time come from it */
    uint64_t timed_cycles, timed_ticks;
    void (*timer_moved)(void *context); /* stimecmp was written or enabled; may be NULL */
    void *timer_context;

    struct trap trap;
    struct marker marker;
    struct hart_offload offload;

    /* State between handlers (emu/hart/exec/handlers.h): the remaining budget, the sum of instret and budget, the value for
     * the next op, and why the run ended. */
    int64_t budget;
    uint64_t origin;
    uint64_t acc;
    enum hart_stop stop;

    /* Of a hart under a stream (trace.h): the entry of the current block's first instruction, the record for the end of
     * the block, and the difference of physical and host addresses. */
    struct stream_trace *trace; /* NULL: there is none */
    struct stream_entry *trace_entry;
    struct trace_run *trace_run;
    uint64_t trace_offset;

    /* Stores that touch [hook_address, hook_address + 8) call hook afterwards: HTIF's tohost. */
    uint64_t hook_page; /* physical page of hook_address; UINT64_MAX: none */
    uint64_t hook_address;
    void (*hook)(void *context, uint64_t address, uint64_t size);
    void *hook_context;

    /* the page fetched from last, and its bytes in the host; UINT64_MAX: none */
    uint64_t fetch_page;
    const uint8_t *fetch_bytes;
    const uint8_t *fetched; /* where the last parcel fetched is in the host; NULL: not in main memory */

    struct block_cache *blocks;
    struct compiler *compiler; /* NULL: code is only interpreted */
    const struct exec_table *exec;
    /* TLB_MODES tables (mmu.h). NULL: the window on memory serves instead, since the hart is not privileged, and memory that it
     * can store to has no code. */
    struct tlb *tlb;
    /* Loads and stores of the fast handlers go through it if it has bytes: load_bytes is the first one, load_last the last but 7. NULL:
     * there is none. */
    const struct mirror *mirror;
    const struct phys *memory;
    const struct bus *bus; /* devices; NULL when the hart is not privileged */
    const struct decoder *decoder;

    unsigned breakpoint_count, watchpoint_count;
    uint64_t breakpoints[HART_BREAKPOINTS];
    bool compares;       /* hart_compare() was called: `comparator` is valid */
    uint64_t comparator; /* address at which the hart stops, in addition to `breakpoints` */
    struct watchpoint watchpoints[HART_WATCHPOINTS];
    struct watch_hit watch_hit;
    struct triggers triggers;
    struct trap_loop loop;
    void (*taken)(void *context, const struct hart *hart, const struct hart_taken *taken); /* may be NULL */
    void *taken_context;
    uint64_t stepped[CLASS_COUNT];     /* instructions executed by step.h, by class */
    const struct custom_units *custom; /* units of custom instructions (custom.h); NULL: none */
    struct custom_waiter *waiter;      /* waits for these units; NULL: they take no time */
    /* Bytes outside plain memory, for external access (probe.h, system calls); NULL: none. */
    const struct bytes_holders *holders;
    struct mmu_fence fence; /* while HART_STALE_LEAVES is set: all fences since then */
};

/* Prepares a hart with all registers zero over memory and decoder, which must outlive it. Until hart_protect() is
 * called, all of memory can be stored to. Returns false if the host has no memory. Release with hart_free(). */
bool hart_init(struct hart *hart, const struct phys *memory, const struct decoder *decoder,
               struct error *err);

/* Makes a hart privileged: it starts in machine mode out of reset, sees devices on the bus, and takes its own traps.
 * Call it once, after hart_init(). time advances by 1 for every `ticks` instructions. */
bool hart_init_privileged(struct hart *hart, const struct bus *bus, uint32_t hartid, uint64_t ticks,
                          struct error *err);

void hart_free(struct hart *hart);

/* Drives one of the wires MSIP 3, MTIP 7, SEIP 9, MEIP 11 into mip. The timer wire of Sstc is inside the hart. */
void hart_set_interrupt(struct hart *hart, unsigned number, bool level);

/* Returns whether an interrupt that mie enables is pending, so that WFI continues. */
bool hart_has_interrupt(const struct hart *hart);

/* Makes hart_run() return HART_STOP_YIELD soon: after the device access under way, or at once. */
void hart_request_yield(struct hart *hart);

/* Makes each store that touches the 8 bytes at a physical address call hook afterwards, with the store's address and
 * size. */
void hart_set_hook(struct hart *hart, uint64_t address,
                   void (*hook)(void *context, uint64_t address, uint64_t size), void *context);

/* Restricts stores to [first, end of memory). Loads and fetches are not restricted. */
void hart_protect(struct hart *hart, uint64_t first);

/* Returns what counts against limits and as time: instructions retired and traps taken, so that a handler that always
 * traps also reaches the limit. */
static inline uint64_t hart_progress(const struct hart *hart)
{
    return hart->instret + hart->traps;
}

/* Returns the privilege of loads and stores: MPP in machine mode with MPRV. */
static inline enum privilege priv_data_mode(const struct hart *hart)
{
    if (hart->privilege == PRIV_M && (hart->priv.mstatus & MSTATUS_MPRV))
        return (enum privilege)(hart->priv.mstatus >> MSTATUS_MPP_SHIFT & 3);
    return (enum privilege)hart->privilege;
}

/* Call it when a nucd is executed as a HINT; xn is its operand. */
static inline void hart_note_nucd(struct hart *hart, uint64_t xn)
{
    if (xn >> 32 == HART_NUCD)
        hart->offload.inlined = true;
}

/* For a hart under a timing core: from now on `cycle` counts from `cycles`, the core's clock since reset, and `time`
 * reads `ticks`, simulated time in units of the time base, each plus the offset that programs have written. Call it
 * before every instruction that may read them, because neither advances by itself. */
static inline void hart_set_clock(struct hart *hart, uint64_t cycles, uint64_t ticks)
{
    hart->timed = true;
    hart->timed_cycles = cycles;
    hart->timed_ticks = ticks;
}

/* Runs up to max_insns instructions or taken traps from hart->pc. Returns why it stopped. */
enum hart_stop hart_run(struct hart *hart, uint64_t max_insns);

/* Completes a served ECALL or EBREAK at which hart_run() has stopped: it counts as retired, and pc advances. */
void hart_retire_call(struct hart *hart);

/* Undoes the marker at which hart_run() has stopped: it is executed again. */
void hart_undo_marker(struct hart *hart);

/* Makes the hart forget all predecoded code before it executes the next instruction. Call it after code was changed from
 * outside without phys_note_store(). */
static inline void hart_flush_code(struct hart *hart)
{
    hart->fetch_page = UINT64_MAX;
    hart->stale |= HART_STALE_CODE;
}

/* Counts the instructions retired since reset, by class. */
void hart_count_classes(const struct hart *hart, uint64_t counts[CLASS_COUNT]);

/* Returns the number of blocks translated since reset. */
uint64_t hart_blocks_translated(const struct hart *hart);

#endif
