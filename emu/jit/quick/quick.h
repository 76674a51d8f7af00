/* The quick compiler: machine code straight from the rows' micro-operations, with the region's most used registers in host
 * registers. It makes code in a hundredth of LLVM's time. */
#ifndef EMU_JIT_QUICK_QUICK_H
#define EMU_JIT_QUICK_QUICK_H

#include "emu/hart/exec/compiled.h"
#include "emu/jit/memory.h"
#include "emu/jit/region.h"

/* Makes a region's code, and its exits, to be freed by the caller. Returns NULL if the code finds no place. */
compiled_code *quick_generate(const struct hart *hart, const struct region *region,
                              struct code_memory *memory, struct compiled_exit **exits);

/* Returns how many instructions of a block of the region its code executes by calls of functions, which take some time. */
uint32_t quick_calls(const struct hart *hart, const struct region_block *block);

#endif
