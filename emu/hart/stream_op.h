/* What timing cores need to know of an instruction, from its row. */
#ifndef EMU_HART_STREAM_OP_H
#define EMU_HART_STREAM_OP_H

#include "emu/hart/stream.h"

/* Describes *insn at pc; *insn must live as long as *op. STREAM_SERIAL is set for the classes that
 * stream_step() executes, and for what is no instruction. */
void stream_op_describe(struct stream_op *op, uint64_t pc, const struct insn *insn);

#endif
