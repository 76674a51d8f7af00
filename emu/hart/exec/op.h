/* Predecoded code: the translator writes it, and the fast handlers execute it. */
#ifndef EMU_HART_EXEC_OP_H
#define EMU_HART_EXEC_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"

struct hart;
struct stream_op;
struct compiled_entry;
union op;

/* Executes *op and continues with the following ops until the run ends. acc is the value that the previous op has
 * written to its integer register; budget is the number of instructions that may still retire. Returns NULL when the
 * run has ended, or the next op in builds without tail calls (emu/hart/dispatch.h). */
typedef const union op *op_handler(struct hart *hart, const union op *op, uint64_t acc, int64_t budget);

/* One 16-byte slot of a block. An instruction takes a `run` slot and, depending on its kind, one more: an `exit` slot
 * follows BRANCH, goto and step ops, a `link` slot JALR, a `value` slot AUIPC and followed JAL. The slot before a
 * block's first op, and before every link stub, is a `head`. */
union op {
    struct {
        op_handler *run;
        int32_t imm; /* immediate; for ops that leave the block, the instructions retired at that exit */
        uint8_t rd;  /* HART_SINK for x0 */
        uint8_t rs1, rs2;
        uint8_t
            rs3; /* of loads, stores and prefetches of a streamed hart: the block's instructions before it */
    };
    struct {
        const union op *to; /* target of the exit: a block's first op, or the exit's link stub */
        uint64_t count;     /* times that it was taken */
    } exit;
    struct {
        uint64_t value;
        uint64_t count;
    } link;
    struct {
        uint64_t pc; /* guest address of the op after this slot */
        union {
            const struct stream_op *ops; /* before a block's first op in a streamed hart: its instructions */
            struct compiled_entry *compiled; /* before one with the handler `compiled` */
        };
    } head;
    const struct insn *insn; /* second slot after a step op: its instruction */
};

/* The sources of an op's operands: registers, or acc in place of one of them. */
enum op_source { OP_REGISTERS, OP_ACC_RS1, OP_ACC_RS2, OP_SOURCES };

#endif
