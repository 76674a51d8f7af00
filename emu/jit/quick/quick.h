/* The quick compiler: machine code straight from the rows' micro-operations, with the region's most used registers in host
 * registers. It makes code in a hundredth of LLVM's time. */
#ifndef EMU_JIT_QUICK_QUICK_H
#define EMU_JIT_QUICK_QUICK_H

#include "emu/hart/exec/compiled.h"
#include "emu/jit/memory.h"
#include "emu/jit/region.h"

/* Instructions of the code that may fault because they access data through a mirror, and where the code then goes on: offsets in it. */
struct quick_fault {
    uint32_t at, to;
};
struct quick_faults {
    struct quick_fault *at; /* by ascending offsets */
    uint32_t count;
};

/* Makes a region's code, its exits and a list of its faults, both to be freed by the caller. Returns NULL if the code finds no place. */
compiled_code *quick_generate(const struct hart *hart, const struct region *region,
                              struct code_memory *memory, struct compiled_exit **exits,
                              struct quick_faults *faults);

/* Returns how many instructions of a block of the region its code executes by calls of functions, which take some time. */
uint32_t quick_calls(const struct hart *hart, const struct region_block *block);

/* Returns how many of them access the floating-point flags, for which LLVM's code leaves the region. */
uint32_t quick_flag_accesses(const struct hart *hart, const struct region_block *block);

#endif
