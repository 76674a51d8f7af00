/* Predecoded code: what the translator writes and the fast handlers execute. */
#ifndef EMU_HART_OP_H
#define EMU_HART_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"

struct hart;
struct stream_op;
union op;

/* Executes *op and goes on with the next one, until something ends the run. acc is the value that the op
 * before it has written to its integer register; budget counts down the instructions that may still retire.
 * Returns NULL when the run has ended, or the next op where the build does without tail calls
 * (emu/hart/dispatch.h). */
typedef const union op *op_handler(struct hart *hart, const union op *op, uint64_t acc, int64_t budget);

/* One 16-byte slot of a block. An instruction takes a `run` slot and, by its kind, one more:
 * BRANCH, goto and step ops have an `exit` slot behind them, JALR a `link` slot, AUIPC and followed JAL a
 * `value` slot. The slot before a block's first op, and before every link stub, is a `head`. */
union op {
    struct {
        op_handler *run;
        int32_t imm; /* immediate; for ops that leave the block, the instructions retired on that way out */
        uint8_t rd;  /* HART_SINK for x0 */
        uint8_t rs1, rs2;
        uint8_t rs3; /* of loads and stores of a streamed hart: the block's instructions in front of it */
    };
    struct {
        const union op *to; /* where the exit leads: a block's first op, or the exit's link stub */
        uint64_t count;     /* how often it was taken */
    } exit;
    struct {
        uint64_t value;
        uint64_t count;
    } link;
    struct {
        uint64_t pc;                 /* guest address of the op behind this slot */
        const struct stream_op *ops; /* of a block's first op in a streamed hart: its instructions */
    } head;
    const struct insn *insn; /* behind the exit slot of a step op: its instruction */
};

/* Where an op's source operands come from: its registers, or acc in place of one of them. */
enum op_source { OP_REGISTERS, OP_ACC_RS1, OP_ACC_RS2, OP_SOURCES };

/* A handler for two ops in a row (fuse.def). */
struct exec_fusion {
    uint16_t first, second; /* enum insn_id */
    uint8_t first_source, second_source;
    op_handler *run;
};

/* The handlers of one build variant. Rows that only `step` executes hold NULL. */
struct exec_table {
    op_handler *rows[INSN_COUNT][OP_SOURCES];
    op_handler *truncating[INSN_COUNT]; /* conversions whose static rounding mode is RTZ; NULL otherwise */
    op_handler *slow;                   /* executes one instruction the general way and goes on behind it */
    op_handler *step;                   /* the same, as a block's last op */
    op_handler *stop;                   /* a breakpoint */
    op_handler *go;                     /* leaves the block through the exit slot */
    op_handler *link;                /* a link stub: finds the exit's target, and lets the exit lead there */
    op_handler *returns;             /* JALR that is expected to go on in the same block */
    const struct exec_table *traced; /* the variant that leaves a trace (leave_traced.h) */
    const struct exec_fusion *fusions;
    unsigned fusion_count;
};

/* For every x86-64 host, and for hosts with AVX2, BMI and FMA; data reached through the hart's window, or its
 * TLB. */
extern const struct exec_table exec_base;
extern const struct exec_table exec_v3;
extern const struct exec_table exec_base_tlb;
extern const struct exec_table exec_v3_tlb;
extern const struct exec_table exec_base_traced;
extern const struct exec_table exec_v3_traced;
extern const struct exec_table exec_base_tlb_traced;
extern const struct exec_table exec_v3_tlb_traced;

/* Runs the hart's handlers from op on until one of them ends the run. */
void exec_run(struct hart *hart, const union op *op, int64_t budget);

/* The table for the host that we run on. */
const struct exec_table *exec_choose(bool tlb);

#endif
