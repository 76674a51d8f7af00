/* Emits a region's code: the rows of its blocks' instructions, with guest registers in host registers. */
#ifndef EMU_JIT_EMIT_H
#define EMU_JIT_EMIT_H

#include "emu/hart/exec/compiled.h"
#include "emu/jit/region.h"
#include "emu/jit/row_table.h"

struct hart;

/* LLVM's form of a region, for engine_generate(). */
struct emitted {
    LLVMModuleRef module;
    LLVMValueRef function;
    struct compiled_exit *exits; /* a new array */
};

/* Emits a region, which is not empty, for the hart. */
struct emitted emit_region(struct row_table *rows, const struct hart *hart, const struct region *region);

#endif
