/* Running ahead of offloaded tasks: the function of what a host executes behind a nucd that has not
 * completed.
 *
 * Younger instructions are executed one by one in program order, but nothing of them reaches the hart:
 * results stay in the window's entries, stores in its store queue, from which younger loads are forwarded to
 * byte by byte. So a running task still reads its old inputs, and the hart holds the precise state in front
 * of the oldest entry. window_commit() hands entries over to the hart and to memory; window_squash() forgets
 * them. What needs a task's result is deferred: dispatched without a value, and evaluated, in program order
 * and hence in the order of data flow, as soon as the results that it waits for arrive. So are loads from a
 * task's output ranges (NUCD paper, section IV-C.2), unless younger stores hold all of their bytes.
 *
 * Entries are numbered in program order from 1; the numbers of squashed ones are given out again. The window
 * knows no time: when an entry was issued, whether it retires, and when a task leaves, is the core's affair.
 *
 * Left out: a task's ranges and the host's accesses are compared by the program's addresses, so that aliases
 * of a range are not seen. What would change page tables (A and D bits) is not executed ahead. */
#ifndef EMU_NUCD_WINDOW_H
#define EMU_NUCD_WINDOW_H

#include "emu/hart/exec_defer.h"
#include "emu/hart/stream.h"
#include "emu/nucd/depend.h"

enum {
    WINDOW_ROB_MOST = 512, /* entries, and stores among them */
    WINDOW_NONE = 0,       /* in place of an entry's number */
};

enum window_stop {
    WINDOW_DISPATCHED,
    WINDOW_NUCD,    /* a nucd, its operands and live-ins are known: window_task() or window_hint() goes on */
    WINDOW_FULL,    /* all entries are taken; frees when the oldest is committed */
    WINDOW_STORES,  /* likewise all places of the store queue */
    WINDOW_OPERAND, /* a branch, an indirect jump or a nucd needs a value that is deferred */
    WINDOW_ADDRESS, /* a load behind a store of unknown address */
    WINDOW_CODE,    /* code that a held store, or a running task, writes */
    WINDOW_SERIAL,  /* to be executed the normal way (stream_step()) when the window is empty: what a stream
                       leaves to it, a fault, a device, a breakpoint or watchpoint, an access across pages */
};

/* What became of one try to dispatch. */
struct window_step {
    enum window_stop stop;
    /* The entry that was dispatched; or the one that must be evaluated (OPERAND, ADDRESS, a task in CODE) or
     * committed (all others) before it is of use to try again. WINDOW_NONE: nothing; of SERIAL, the window
     * is empty. */
    uint64_t number;
};

/* An instruction in the window. */
struct window_entry {
    struct stream_op
        op; /* of a task: pc and class of its nucd, and in rd the result's register; not serial here */
    struct insn insn;
    uint64_t number;
    uint64_t next_pc;           /* of a task: what follows its region */
    uint64_t address, physical; /* of the memory access, valid when address_known */
    /* The entries whose results its operands rs1, rs2, rs3 wait for, and the task or store that its load is
     * held for; WINDOW_NONE: it does not wait. */
    uint64_t producer[DEFER_OPERANDS], held_for;
    bool deferred;  /* it could not be evaluated when it was dispatched */
    bool evaluated; /* its result is known; of a task: it is complete */
    bool address_known;
    bool is_task;
    uint8_t slot; /* of a task, in the dependency table */

    struct defer_input input;
    uint64_t result, data; /* data: of a store */
    uint64_t age;          /* for the dependency table's queries */
    uint64_t code[2];      /* physical addresses of its 16-bit parcels */
    uint8_t fflags;
};

struct window;

/* An empty window over the hart with `rob` entries and room for `stores` stores among them, 1 to
 * WINDOW_ROB_MOST both. `tasks` lists the tasks in flight. Both outlive it. NULL when the host has no memory;
 * free with window_free(). While the window is not empty, nothing else changes the hart. */
struct window *window_new(struct hart *hart, const struct nucd_depend *tasks, unsigned rob, unsigned stores,
                          struct error *err);
void window_free(struct window *window);

/* Dispatches the next instruction, if nothing is in its way. The table lists tasks of this window alone. Whether an
 * interrupt is due, the caller looks. */
struct window_step window_step(struct window *window);

/* Where the next instruction to dispatch stands: hart->pc when the window is empty. */
uint64_t window_pc(const struct window *window);

/* An integer register's value in program order behind the youngest entry, for struct nucd_operands; context
 * is the window. After WINDOW_NUCD, all that nucd_packet_task() asks for is known. */
uint64_t window_read(const void *context, unsigned reg);

/* After WINDOW_NUCD: the task, which the caller has just added to the table in `slot`, becomes an entry; its
 * number. It is complete when window_complete() is called. NUCD_NO_TASK: the task was squashed when it had
 * left already, and has run; window_complete() follows at once. */
uint64_t window_task(struct window *window, const struct nucd_task *task, int slot);

/* After WINDOW_NUCD: the operands are malformed, so that it does nothing. The entry's number. */
uint64_t window_hint(struct window *window);

/* Whether a task's packet may leave, as far as the host's own instructions are concerned: all in front of it
 * are evaluated, except other tasks (NUCD paper, section IV-A), no store among them that memory does not have
 * yet touches its ranges, and no load that could still be squashed, and so read again, touches its outputs.
 * Whether other tasks are in its way, the dependency table knows. */
bool window_task_ready(const struct window *window, uint64_t number);

/* The task has run, its outputs are in memory, and its slot was given back to the table. `result` is for the
 * register that it brings back, if any. Evaluates what has waited for it. Where that finds an instruction
 * that must be executed the normal way after all, or code that a store has overwritten, everything from there
 * on is squashed: the first number squashed, or WINDOW_NONE. No task among them was ready to leave. */
uint64_t window_complete(struct window *window, uint64_t number, uint64_t result, uint8_t fflags);

/* The oldest entry's number and the one that will be given out next; equal when the window is empty. */
uint64_t window_oldest(const struct window *window);
uint64_t window_next(const struct window *window);

/* An entry in the window. */
const struct window_entry *window_entry(const struct window *window, uint64_t number);

/* Hands the entries up to number, which must all be evaluated, to the hart and to memory. The caller tells
 * other harts of the stores (struct stream_peers). */
void window_commit(struct window *window, uint64_t number);

/* Forgets all entries from number on, which is at most window_next(): the next instruction to dispatch is
 * that of `number`. Tasks among them that were not launched, the caller takes out of the table. Those that
 * were run on, and must be complete and out of the table before the next window_step(); when their nucd is
 * reached again, they are not run again (window_task()). */
void window_squash(struct window *window, uint64_t number);

#endif
