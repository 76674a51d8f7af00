/* Machine code from LLVM's form of a function. */
#ifndef EMU_JIT_ENGINE_H
#define EMU_JIT_ENGINE_H

#include "emu/hart/exec/compiled.h"
#include "emu/jit/llvm.h"
#include "emu/jit/memory.h"

/* Optimises the function and makes code of it in the memory. The module, which holds nothing else, is gone afterwards. Returns NULL
 * if LLVM cannot make code for this host. */
compiled_code *engine_generate(const struct llvm *llvm, LLVMModuleRef module, LLVMValueRef function,
                               struct code_memory *memory);

#endif
