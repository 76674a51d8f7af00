/* Emits a region's code: the rows of its blocks' instructions, with guest registers in host registers. */
#ifndef EMU_JIT_EMIT_H
#define EMU_JIT_EMIT_H

#include "emu/hart/exec/compiled.h"
#include "emu/jit/memory.h"
#include "emu/jit/region.h"
#include "emu/jit/row_table.h"

struct hart;

/* Makes the code of a region, which is not empty, for the hart. Its exits are in a new array. Returns NULL if LLVM cannot make
 * code for this host. */
compiled_code *emit_region(struct row_table *rows, struct code_memory *memory, const struct hart *hart,
                           const struct region *region, struct compiled_exit **exits);

#endif
