/* The executed instruction stream: batches of instructions that a hart has executed, in the form that timing cores
 * read.
 *
 * stream_run() executes a batch, and the core computes when each of its instructions would have happened. Instructions
 * that depend on time or may stop the hart are not executed in a batch: the core calls stream_step() for them when its
 * clock has reached them. */
#ifndef EMU_HART_STREAM_H
#define EMU_HART_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/step.h"
#include "isa/decoder/flow.h"

enum {
    STREAM_BATCH = 128,          /* most instructions of a batch */
    STREAM_NONE = REGISTER_NONE, /* in place of a register number: none */
    STREAM_FLOW = 2,             /* position of enum flow in enum stream_flag */
};

enum stream_flag {
    STREAM_LOAD = 1, /* reads memory; also AMO and LR */
    STREAM_STORE = 2,
    STREAM_BRANCH = FLOW_BRANCH << STREAM_FLOW,
    STREAM_JUMP = FLOW_JUMP << STREAM_FLOW,
    STREAM_INDIRECT = FLOW_INDIRECT << STREAM_FLOW,
    STREAM_CALL = FLOW_CALL << STREAM_FLOW,
    STREAM_RETURN = FLOW_RETURN << STREAM_FLOW,
    STREAM_SERIAL = 128, /* executed by stream_step(): CSR, fence, AMO, LR/SC, system, HINT, trap, MMIO */
    STREAM_PREFETCH = 256,
};

/* An instruction as cores need it, prepared once. Registers are numbered as in struct insn_registers. */
struct stream_op {
    uint64_t pc;
    const struct insn *insn;
    uint16_t id;    /* enum insn_id */
    uint16_t flags; /* set of enum stream_flag */
    uint8_t iclass; /* enum insn_class */
    uint8_t length; /* in bytes */
    uint8_t size;   /* of the memory access in bytes, or 0; of a prefetch CACHE_BLOCK */
    uint8_t rd, rs1, rs2, rs3;
    int32_t imm;
};

/* One executed instruction. Its next pc is that of the next entry, which the last one has, too: stream_end_at(). */
struct stream_entry {
    const struct stream_op *op;
    uint64_t address; /* virtual address of its memory access or prefetch; undefined for others */
    uint64_t
        physical; /* the physical address; the bytes are contiguous up to the end of a page; or EFFECTS_NOWHERE */
};

enum stream_end {
    STREAM_MORE, /* the batch is full or the limit reached; nothing prevents the next instruction */
    STREAM_STEP, /* the next instruction has to be stepped: stream_step() */
    STREAM_STOP, /* pc is at a breakpoint; stream_step() passes over it */
};

struct stream_trace;

/* Harts that share memory, each under its own stream, and threads of multiprocessors. A store of one of them ends the
 * reservations (LR) that others hold in the same block of STREAM_RESERVATION bytes. */
struct stream_peers {
    struct hart *harts;
    unsigned count;
    bool reserved; /* some hart or thread may hold a reservation */
    /* Ends the threads' reservations in size bytes that a hart has stored; size may be 0. Returns whether a thread may
     * still hold one. Called while `reserved` is set. NULL: there are no threads. */
    bool (*threads_stored)(void *threads, uint64_t physical, unsigned size);
    void *threads;
};

/* Ends the harts' reservations in bytes that a thread has stored. */
void stream_peers_stored(struct stream_peers *peers, uint64_t physical, unsigned size);

enum { STREAM_RESERVATION = 64 };

struct stream {
    struct hart *hart;
    struct stream_peers *peers; /* set by the owner after stream_init(); NULL: no other hart or thread */
    uint32_t count;             /* number of entries */
    uint64_t next_pc;           /* pc after the last entry */
    struct stream_entry entries[STREAM_BATCH + 1];
    struct stream_op after;   /* only its pc is defined: next_pc */
    struct stream_op stepped; /* instruction of the last stream_step() */
    struct insn stepped_insn;
    /* of the last stream_step(); address and physical are valid if it accessed memory */
    struct stream_entry step_entry;
    /* Called for every executed instruction; then all are stepped, slowly. May be NULL. */
    void (*observe)(void *context, struct hart *hart, const struct step_report *report);
    void *context;
    /* Called for executed instructions, in order: of a batch, or of a retired step. May be NULL. */
    void (*follow)(void *context, const struct stream_entry *entries, uint32_t count);
    void *follow_context;
    struct stream_trace *trace; /* written by the handlers */
};

/* Makes a stream over the hart, which must outlive it and must not be run otherwise meanwhile. Returns false if the
 * host has no memory. Release with stream_free(). */
bool stream_init(struct stream *stream, struct hart *hart, struct error *err);
void stream_free(struct stream *stream);

/* Executes at most max_insns (and at most STREAM_BATCH) instructions from hart->pc and lists them in `entries`: at
 * least one with STREAM_MORE unless max_insns is 0, possibly none otherwise. The pointers in entries are valid until
 * the next stream_run() or stream_step(). If an interrupt or yield is due, it returns an empty batch with STREAM_STEP.
 * Only the program, triggers and watchpoints decide which instructions are left to stream_step(): CSR, fences, cache-block
 * operations, AMO, LR, SC, system, HINT and custom instructions; instructions that would trap; accesses not wholly in
 * main memory, at a hook's address, or touching a watchpoint; and what a trigger may compare. */
enum stream_end stream_run(struct stream *stream, uint64_t max_insns);

/* Makes next_pc the pc after the last entry. For owners that set `entries` and `count` themselves; stream_run() does it. */
static inline void stream_end_at(struct stream *stream, uint64_t next_pc)
{
    stream->next_pc = stream->after.pc = next_pc;
    stream->entries[stream->count].op = &stream->after;
}

/* Ends the reservations that other harts and threads hold in bytes that the stream's hart has stored by other means. */
void stream_note_store(struct stream *stream, uint64_t physical, unsigned size);

/* Calls hart_step() (which passes over breakpoints and takes a due interrupt), and sets `stepped` and `step_entry` if
 * report->retired; `entries` stay unchanged. */
enum hart_stop stream_step(struct stream *stream, struct step_report *report);

#endif
