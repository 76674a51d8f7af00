/* The functions of LLVM's C interface that the compiler calls. The library is opened when the first region is compiled: a
 * run without hot code does not load it, and croft works on hosts without it. It is croft's own, which has only what is
 * needed and loads in a sixth of the time, or Debian's (emu/emu.mk). */
#ifndef EMU_JIT_LLVM_H
#define EMU_JIT_LLVM_H

#include <stdbool.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/InstCombine.h>
#include <llvm-c/Transforms/Scalar.h>
#include <llvm-c/Transforms/Utils.h>

/* Each name becomes a field of struct llvm: LLVMBuildAdd() is llvm->BuildAdd(). */
#define LLVM_FUNCTIONS(LLVM)                                                                                 \
    LLVM(AddAttributeAtIndex)                                                                                \
    LLVM(AddCFGSimplificationPass)                                                                           \
    LLVM(AddCase)                                                                                            \
    LLVM(AddEarlyCSEPass)                                                                                    \
    LLVM(AddFunction)                                                                                        \
    LLVM(AddIncoming)                                                                                        \
    LLVM(AddInstructionCombiningPass)                                                                        \
    LLVM(AddPromoteMemoryToRegisterPass)                                                                     \
    LLVM(AddTargetDependentFunctionAttr)                                                                     \
    LLVM(AppendBasicBlockInContext)                                                                          \
    LLVM(BasicBlockAsValue)                                                                                  \
    LLVM(BuildAdd)                                                                                           \
    LLVM(BuildAlloca)                                                                                        \
    LLVM(BuildAnd)                                                                                           \
    LLVM(BuildBitCast)                                                                                       \
    LLVM(BuildBr)                                                                                            \
    LLVM(BuildCall2)                                                                                         \
    LLVM(BuildCondBr)                                                                                        \
    LLVM(BuildFence)                                                                                         \
    LLVM(BuildGEP2)                                                                                          \
    LLVM(BuildICmp)                                                                                          \
    LLVM(BuildLoad2)                                                                                         \
    LLVM(BuildPhi)                                                                                           \
    LLVM(BuildRet)                                                                                           \
    LLVM(BuildStore)                                                                                         \
    LLVM(BuildSub)                                                                                           \
    LLVM(BuildSwitch)                                                                                        \
    LLVM(ConstInt)                                                                                           \
    LLVM(ConstIntGetZExtValue)                                                                               \
    LLVM(ConstIntToPtr)                                                                                      \
    LLVM(ConstReal)                                                                                          \
    LLVM(ContextCreate)                                                                                      \
    LLVM(ContextDispose)                                                                                     \
    LLVM(CountIncoming)                                                                                      \
    LLVM(CreateBuilderInContext)                                                                             \
    LLVM(CreateEnumAttribute)                                                                                \
    LLVM(CreateFunctionPassManagerForModule)                                                                 \
    LLVM(CreateMCJITCompilerForModule)                                                                       \
    LLVM(CreateMemoryBufferWithMemoryRange)                                                                  \
    LLVM(CreateSimpleMCJITMemoryManager)                                                                     \
    LLVM(DisposeBuilder)                                                                                     \
    LLVM(DisposeExecutionEngine)                                                                             \
    LLVM(DisposeMemoryBuffer)                                                                                \
    LLVM(DisposeMessage)                                                                                     \
    LLVM(DisposeModule)                                                                                      \
    LLVM(DisposePassManager)                                                                                 \
    LLVM(DoubleTypeInContext)                                                                                \
    LLVM(FunctionType)                                                                                       \
    LLVM(GetBitcodeModuleInContext2)                                                                         \
    LLVM(GetCalledValue)                                                                                     \
    LLVM(GetDataLayoutStr)                                                                                   \
    LLVM(GetEnumAttributeKindForName)                                                                        \
    LLVM(GetFirstBasicBlock)                                                                                 \
    LLVM(GetFirstInstruction)                                                                                \
    LLVM(GetFirstUse)                                                                                        \
    LLVM(GetFunctionAddress)                                                                                 \
    LLVM(GetIncomingBlock)                                                                                   \
    LLVM(GetIncomingValue)                                                                                   \
    LLVM(GetInsertBlock)                                                                                     \
    LLVM(GetInstructionOpcode)                                                                               \
    LLVM(GetInstructionParent)                                                                               \
    LLVM(GetMDKindIDInContext)                                                                               \
    LLVM(GetNamedFunction)                                                                                   \
    LLVM(GetNextBasicBlock)                                                                                  \
    LLVM(GetNextInstruction)                                                                                 \
    LLVM(GetNumOperands)                                                                                     \
    LLVM(GetOperand)                                                                                         \
    LLVM(GetParam)                                                                                           \
    LLVM(GetTarget)                                                                                          \
    LLVM(GetValueName2)                                                                                      \
    LLVM(GlobalGetValueType)                                                                                 \
    LLVM(InitializeFunctionPassManager)                                                                      \
    LLVM(InitializeMCJITCompilerOptions)                                                                     \
    LLVM(InitializeX86AsmPrinter)                                                                            \
    LLVM(InitializeX86Target)                                                                                \
    LLVM(InitializeX86TargetInfo)                                                                            \
    LLVM(InitializeX86TargetMC)                                                                              \
    LLVM(InsertIntoBuilder)                                                                                  \
    LLVM(InstructionClone)                                                                                   \
    LLVM(Int32TypeInContext)                                                                                 \
    LLVM(Int64TypeInContext)                                                                                 \
    LLVM(Int8TypeInContext)                                                                                  \
    LLVM(IsAConstantInt)                                                                                     \
    LLVM(IsAConstantExpr)                                                                                    \
    LLVM(IsAFunction)                                                                                        \
    LLVM(IsAGlobalVariable)                                                                                  \
    LLVM(IsAInstruction)                                                                                     \
    LLVM(LinkInMCJIT)                                                                                        \
    LLVM(MDNodeInContext)                                                                                    \
    LLVM(MDStringInContext)                                                                                  \
    LLVM(ModuleCreateWithNameInContext)                                                                      \
    LLVM(ParseCommandLineOptions)                                                                            \
    LLVM(PointerType)                                                                                        \
    LLVM(PositionBuilderAtEnd)                                                                               \
    LLVM(PositionBuilderBefore)                                                                              \
    LLVM(RunFunctionPassManager)                                                                             \
    LLVM(SetDataLayout)                                                                                      \
    LLVM(SetMetadata)                                                                                        \
    LLVM(SetOperand)                                                                                         \
    LLVM(SetTarget)                                                                                          \
    LLVM(TypeOf)                                                                                             \
    LLVM(ValueAsBasicBlock)                                                                                  \
    LLVM(ValueIsBasicBlock)

struct llvm {
#define FIELD(name) __typeof__(LLVM##name) *name;
    LLVM_FUNCTIONS(FIELD)
#undef FIELD
    void *library;
};

/* Opens the library and makes LLVM ready for this host. Returns false if there is no such library. */
bool llvm_open(struct llvm *llvm);

#endif
