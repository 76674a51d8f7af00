/* Execution ahead of offloaded tasks: the function of the instructions that a host executes after a nucd that
 * has not completed.
 *
 * Instructions are executed one by one in program order, but they do not change the hart: results stay in the
 * window's entries, and stores in its store queue, from which younger loads are forwarded byte by byte. So a
 * running task still reads its old inputs, and the hart holds the precise state before the oldest entry.
 * window_commit() applies entries to the hart and to memory; window_squash() discards them.
 *
 * An instruction that needs a task's result is deferred: it is dispatched without a value, and evaluated when
 * its operands arrive, in program order and hence in the order of data flow. Loads from a task's output
 * ranges are deferred too (NUCD paper, section IV-C.2), unless stores between the task and the load provide
 * all of their bytes.
 *
 * Entries are numbered in program order from 1. The numbers of squashed entries are used again. The window
 * has no time: the core decides when an entry issues, whether it retires, and when a task leaves.
 *
 * Limits: a task's ranges and the host's accesses are compared by virtual address, so aliases of a range are
 * not detected. An access that would change page tables (A and D bits) is not executed ahead. */
#ifndef EMU_NUCD_WINDOW_H
#define EMU_NUCD_WINDOW_H

#include "emu/hart/defer.h"
#include "emu/hart/stream.h"
#include "emu/nucd/depend/depend.h"

enum {
    WINDOW_MOST = 8192, /* maximum number of entries, and of stores among them */
    WINDOW_NONE = 0,    /* in place of an entry's number: none */
};

enum window_stop {
    WINDOW_DISPATCHED,
    /* a nucd whose operands and live-ins are known: call window_task() or window_hint() next */
    WINDOW_NUCD,
    WINDOW_FULL,    /* all entries are in use until the oldest is committed */
    WINDOW_STORES,  /* the store queue is full until its oldest store is committed */
    WINDOW_OPERAND, /* a branch, an indirect jump or a nucd needs a deferred value */
    WINDOW_ADDRESS, /* a load after a store of unknown address */
    WINDOW_CODE,    /* code that a store in the window or a running task writes */
    WINDOW_ORDER,   /* an order point behind a task that is not complete */
    /* To be executed normally (stream_step()) when the window is empty: an instruction that is serial for a
     * stream, a fault, a device access, a breakpoint or watchpoint, an access that crosses a page. */
    WINDOW_SERIAL,
};

/* The result of an attempt to dispatch. */
struct window_step {
    enum window_stop stop;
    /* The dispatched entry; otherwise the entry to wait for: it must be evaluated (OPERAND, ADDRESS, ORDER, and
     * CODE if it is a task) or committed (all others) before another attempt. WINDOW_NONE: none; for SERIAL: the
     * window is empty. */
    uint64_t number;
};

/* An instruction in the window. */
struct window_entry {
    /* For a task: pc and class of its nucd; rd is the result's register; STREAM_SERIAL is not set. */
    struct stream_op op;
    struct insn insn;
    uint64_t number;
    uint64_t next_pc;           /* for a task: the end of its region */
    uint64_t address, physical; /* of the memory access; valid if address_known */
    /* The entries whose results the operands rs1, rs2, rs3 wait for; the task or store for which a load is
     * held. WINDOW_NONE: does not wait. */
    uint64_t producer[DEFER_OPERANDS], held_for;
    bool deferred;  /* could not be evaluated when it was dispatched */
    bool evaluated; /* the result is known; for a task: it is complete */
    bool address_known;
    bool is_task;
    uint8_t slot; /* a task's slot in the dependency table */

    struct defer_input input;
    uint64_t result, data; /* data: a store's data */
    uint64_t age;          /* age in queries of the dependency table */
    uint64_t code[2];      /* physical addresses of the instruction's 16-bit parcels */
    uint8_t fflags;
};

struct window;

/* Creates an empty window for the hart with `size` entries, of which at most `stores` are stores; both 1 to
 * WINDOW_MOST. `tasks` lists the tasks in flight, which must be this window's alone. Hart and tasks must
 * outlive the window. Returns NULL with err set when the host has no memory. Free the window with
 * window_free(). While it is not empty, nothing else may change the hart. */
struct window *window_new(struct hart *hart, const struct nucd_depend *tasks, unsigned size, unsigned stores,
                          struct error *err);
void window_free(struct window *window);

/* Dispatches the next instruction if possible. The caller checks for interrupts. */
struct window_step window_step(struct window *window);

/* Returns the address of the next instruction to dispatch: hart->pc if the window is empty. */
uint64_t window_pc(const struct window *window);

/* Returns an integer register's value after the youngest entry in program order, for struct nucd_operands.
 * `context` is the window. After WINDOW_NUCD, every register that nucd_packet_task() reads is known. */
uint64_t window_read(const void *context, unsigned reg);

/* Stores the value, too. Returns false if it comes from an instruction that has not been evaluated. */
bool window_knows(const struct window *window, unsigned reg, uint64_t *value);

/* Call it after WINDOW_NUCD, when the task has been added to the dependency table in `slot`: adds the task as
 * an entry and returns its number. window_complete() completes it. slot == NUCD_NO_TASK: the task was
 * squashed after it had left, and has run already; call window_complete() next. */
uint64_t window_task(struct window *window, const struct nucd_task *task, int slot);

/* Call it after WINDOW_NUCD if the operands are malformed, so that the nucd is a no-op. Returns its entry's
 * number. */
uint64_t window_hint(struct window *window);

/* Returns whether the host's own instructions let a task's packet leave: no older entry can trap or squash the
 * task any more, except for older tasks; none of them is a store to the task's ranges, because its data is not
 * in memory yet; none is a load from its output ranges, because it could still be squashed and repeated.
 * Deferred arithmetic, and deferred loads and stores of known address, let it leave. The NUCD paper, section
 * IV-A, has all older instructions retired instead; then tasks whose results are used run one after another.
 * The dependency table tells whether other tasks let it leave. */
bool window_task_ready(const struct window *window, uint64_t number);

/* Completes a task, whose outputs are in memory and whose slot has been removed from the table. `result` is
 * the value for the register that it brings back, if any. Evaluates the entries that have waited for it. If
 * one of them must be executed normally after all, or its code has been overwritten by a store, it is
 * squashed with all younger ones. Returns the first squashed number, or WINDOW_NONE. No squashed task was
 * ready to leave: window_task_ready() returned false. */
uint64_t window_complete(struct window *window, uint64_t number, uint64_t result, uint8_t fflags);

/* Return the oldest entry's number and the next number to be used. They are equal if the window is empty. */
uint64_t window_oldest(const struct window *window);
uint64_t window_next(const struct window *window);

/* Returns an entry that is in the window. */
const struct window_entry *window_entry(const struct window *window, uint64_t number);

/* Applies all entries up to `number`, which must be evaluated, to the hart and to memory. The caller tells
 * other harts of the stores (struct stream_peers). */
void window_commit(struct window *window, uint64_t number);

/* Discards all entries from `number` on; `number` is at most window_next(). The next instruction to dispatch
 * is that of `number`. The caller removes squashed tasks that were not launched from the table. Those that
 * were launched keep running; they must be complete and out of the table before the next window_step(). When
 * their nucds are reached again, they are not run again (window_task()). */
void window_squash(struct window *window, uint64_t number);

#endif
