#include "emu/jit/engine.h"

#include <stddef.h>

enum {
    CODE_ALIGNMENT = 16,
    LEAST_OPTIMISED = 1 /* LLVM's code generator with its register allocator for loops */
};

/* Few passes: registers get values, and what the rows' functions leave side by side is combined. */
static void optimise(const struct llvm *l, LLVMModuleRef module, LLVMValueRef function)
{
    LLVMPassManagerRef passes = l->CreateFunctionPassManagerForModule(module);
    l->AddPromoteMemoryToRegisterPass(passes);
    l->AddInstructionCombiningPass(passes);
    l->AddEarlyCSEPass(passes);
    (void)l->InitializeFunctionPassManager(passes);
    (void)l->RunFunctionPassManager(passes, function);
    l->DisposePassManager(passes);
}

static uint8_t *take_code(void *memory, uintptr_t size, unsigned alignment, unsigned id, const char *name)
{
    (void)id, (void)name;
    return code_memory_take(memory, size, alignment ? alignment : CODE_ALIGNMENT);
}

static uint8_t *take_data(void *memory, uintptr_t size, unsigned alignment, unsigned id, const char *name,
                          LLVMBool constant)
{
    (void)constant;
    return take_code(memory, size, alignment, id, name);
}

static LLVMBool seal(void *memory, char **message)
{
    (void)message;
    return !code_memory_seal(memory);
}

/* The code outlives LLVM's engine. */
static void keep(void *memory)
{
    (void)memory;
}

compiled_code *engine_generate(const struct llvm *llvm, LLVMModuleRef module, LLVMValueRef function,
                               struct code_memory *memory)
{
    struct LLVMMCJITCompilerOptions options;
    LLVMExecutionEngineRef engine;
    char *message = NULL;
    optimise(llvm, module, function);
    llvm->InitializeMCJITCompilerOptions(&options, sizeof options);
    options.OptLevel = LEAST_OPTIMISED;
    options.MCJMM = llvm->CreateSimpleMCJITMemoryManager(memory, take_code, take_data, seal, keep);
    if (llvm->CreateMCJITCompilerForModule(&engine, module, &options, sizeof options, &message)) {
        llvm->DisposeMessage(message);
        return NULL;
    }
    size_t length;
    uint64_t address = llvm->GetFunctionAddress(engine, llvm->GetValueName2(function, &length));
    llvm->DisposeExecutionEngine(engine);
    return (compiled_code *)(uintptr_t)address;
}
