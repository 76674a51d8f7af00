/* Copies of the rows' functions (row_table.h), wherever a region has such an instruction. */
#ifndef EMU_JIT_COPY_H
#define EMU_JIT_COPY_H

#include "emu/jit/builder.h"

/* Copies the function to the end of the current block. Returns the value of its result; sets b->taken or b->target, if the row
 * is a branch or an indirect jump. */
LLVMValueRef copy_row(struct builder *b, LLVMValueRef row, const LLVMValueRef arguments[ROW_PARAMETERS]);

#endif
