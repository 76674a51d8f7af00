/* Describes instructions for timing cores, from their rows. */
#ifndef EMU_HART_STREAM_OP_H
#define EMU_HART_STREAM_OP_H

#include "emu/hart/stream.h"

/* Describes *insn at pc; *insn must live as long as *op. Sets STREAM_SERIAL for the classes that stream_step()
 * executes, and for illegal instructions. */
void stream_op_describe(struct stream_op *op, uint64_t pc, const struct insn *insn);

#endif
