/* The executed instruction stream: what a hart does, a batch at a time, in the form that timing cores read.
 *
 * A core asks for a batch, which has been executed when stream_run() returns, and works out when each of its
 * instructions would have happened. What depends on time, or may stop the hart, is not executed in a batch
 * but left to stream_step(), which the core calls when its clock has reached that instruction.
 */
#ifndef EMU_HART_STREAM_H
#define EMU_HART_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/step.h"
#include "isa/flow.h"

enum {
    STREAM_BATCH = 128,          /* instructions of a batch at most */
    STREAM_NONE = REGISTER_NONE, /* in place of a register's number */
    STREAM_FLOW = 2, /* a set of enum stream_flag holds one of enum flow, shifted by so many bits */
};

enum stream_flag {
    STREAM_LOAD = 1, /* reads memory; AMO and LR too */
    STREAM_STORE = 2,
    STREAM_BRANCH = FLOW_BRANCH << STREAM_FLOW,
    STREAM_JUMP = FLOW_JUMP << STREAM_FLOW,
    STREAM_INDIRECT = FLOW_INDIRECT << STREAM_FLOW,
    STREAM_CALL = FLOW_CALL << STREAM_FLOW,
    STREAM_RETURN = FLOW_RETURN << STREAM_FLOW,
    STREAM_SERIAL = 128, /* executed by stream_step(): CSR, fence, AMO, LR/SC, system, HINT, trap, MMIO */
};

/* What a core needs to know of an instruction, worked out once. Registers are struct insn_registers'. */
struct stream_op {
    uint64_t pc;
    const struct insn *insn;
    uint16_t id;    /* enum insn_id */
    uint8_t iclass; /* enum insn_class */
    uint8_t flags;  /* set of enum stream_flag */
    uint8_t length; /* in bytes */
    uint8_t size;   /* of the memory access in bytes, or 0 */
    uint8_t rd, rs1, rs2, rs3;
    int32_t imm;
};

/* One executed instruction. The next pc is that of the next entry, or of the stream behind the last one. */
struct stream_entry {
    const struct stream_op *op;
    uint64_t address;  /* of its memory access, as the program sees it; of others it means nothing */
    uint64_t physical; /* the same in physical memory; the bytes are contiguous up to the end of a page */
};

enum stream_end {
    STREAM_MORE, /* the batch or the limit leaves no room for more; nothing stands in the way */
    STREAM_STEP, /* what comes next has to be stepped: stream_step() */
    STREAM_STOP, /* a breakpoint: pc is at it; stream_step() passes over it */
};

struct stream_trace;

/* Harts that share memory, each under a stream of its own, and threads of multiprocessors beside them: what one of them
 * stores ends the reservations (LR) that others hold in the same block of STREAM_RESERVATION bytes. */
struct stream_peers {
    struct hart *harts;
    unsigned count;
    bool reserved; /* one of them may hold a reservation */
    /* Ends the reservations that threads hold in size bytes that a hart has stored; size may be 0. Returns whether a thread
     * may hold one. Called while `reserved` is set. NULL: there are no threads. */
    bool (*threads_stored)(void *threads, uint64_t physical, unsigned size);
    void *threads;
};

/* A thread has stored: ends the reservations that harts hold there. */
void stream_peers_stored(struct stream_peers *peers, uint64_t physical, unsigned size);

enum { STREAM_RESERVATION = 64 };

struct stream {
    struct hart *hart;
    struct stream_peers *peers; /* set by the owner after stream_init(); NULL: the hart is alone */
    uint32_t count;             /* of entries */
    uint64_t next_pc;           /* behind the last entry */
    struct stream_entry entries[STREAM_BATCH];
    struct stream_op stepped; /* of the last stream_step() */
    struct insn stepped_insn;
    struct stream_entry step_entry; /* likewise; address and physical are valid if it accessed memory */
    /* Is told of every instruction that was executed; then all are stepped, slowly. NULL: nobody. */
    void (*observe)(void *context, struct hart *hart, const struct step_report *report);
    void *context;
    /* Is told of what was executed, in order: of a batch, or of a step that has retired. NULL: nobody. */
    void (*follow)(void *context, const struct stream_entry *entries, uint32_t count);
    void *follow_context;
    struct stream_trace *trace; /* what the handlers leave behind */
};

/* A stream over the hart, which must outlive it and is run by nobody else meanwhile. False when the host has
 * no memory. Release with stream_free(). */
bool stream_init(struct stream *stream, struct hart *hart, struct error *err);
void stream_free(struct stream *stream);

/* Executes at most max_insns (and at most STREAM_BATCH) instructions from hart->pc and lists them in
 * `entries`: at least one with STREAM_MORE unless max_insns is 0, possibly none otherwise. What entries point
 * to is valid until the next call of stream_run() or stream_step(). An interrupt or yield that is due when it
 * is called ends the batch, empty, with STREAM_STEP. Which instructions are left to stream_step() depends on
 * the program and on watchpoints alone: CSR, fences, cache-block operations, AMO, LR, SC, system, HINT and
 * custom instructions; what would trap; accesses not wholly in main memory, at a hook's address, or touching
 * a watchpoint. */
enum stream_end stream_run(struct stream *stream, uint64_t max_insns);

/* A store of the stream's hart has reached memory without its help: ends the reservations that other harts hold there. */
void stream_note_store(struct stream *stream, uint64_t physical, unsigned size);

/* hart_step() (it passes over breakpoints, and takes an interrupt that is due), with `stepped` and
 * `step_entry` filled in when report->retired; `entries` stay as they are. */
enum hart_stop stream_step(struct stream *stream, struct step_report *report);

#endif
