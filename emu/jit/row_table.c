#include "emu/jit/row_table.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "emu/hart/fp.h"

/* The bitcode; nothing, if croft was built without it. */
extern const char jit_bitcode_begin[], jit_bitcode_end[];
__asm__(".section .rodata\n"
        ".balign 16\n"
        ".globl jit_bitcode_begin\n"
        "jit_bitcode_begin:\n"
        ".incbin \"rows.bc\"\n"
        ".globl jit_bitcode_end\n"
        "jit_bitcode_end:\n"
        ".byte 0\n"
        ".text\n");

static const char *const row_names[INSN_COUNT] = {
#define INSN(name, ...) [INSN_##name] = #name,
#include "isa/rows.def"
};

/* Functions that rows may call. */
static const struct {
    const char *name;
    uint64_t (*address)(void);
} callable[] = {
    {"fp_to_signed", (uint64_t(*)(void))(void (*)(void))fp_to_signed},
    {"fp_to_unsigned", (uint64_t(*)(void))(void (*)(void))fp_to_unsigned},
};

uint64_t row_callable(const char *name)
{
    for (size_t i = 0; i < sizeof callable / sizeof *callable; i++)
        if (strcmp(name, callable[i].name) == 0)
            return (uint64_t)(uintptr_t)callable[i].address;
    return 0;
}

static bool is_copyable_operand(const struct llvm *l, LLVMValueRef value)
{
    if (l->IsAGlobalVariable(value) || l->IsAConstantExpr(value))
        return false;
    if (!l->IsAFunction(value))
        return true;
    size_t length;
    const char *name = l->GetValueName2(value, &length);
    return strncmp(name, "llvm.", 5) == 0 || strncmp(name, "jit_", 4) == 0 || row_callable(name);
}

/* Returns whether all operands of an instruction can be copied, when the `count` values before it have been. */
static bool has_copyable_operands(const struct llvm *l, LLVMValueRef insn, const LLVMValueRef *before,
                                  unsigned count)
{
    bool phi = l->GetInstructionOpcode(insn) == LLVMPHI;
    for (int k = 0; k < l->GetNumOperands(insn); k++) {
        LLVMValueRef value = l->GetOperand(insn, (unsigned)k);
        unsigned i = 0;
        if (!is_copyable_operand(l, value))
            return false;
        while (i < count && before[i] != value)
            i++;
        if (i == count && !phi && l->IsAInstruction(value))
            return false;
    }
    return true;
}

/* Returns whether the function keeps what row_table.h promises. */
static bool is_copyable(const struct llvm *l, LLVMValueRef row)
{
    LLVMValueRef before[ROW_VALUES - ROW_PARAMETERS];
    unsigned returns = 0, count = 0, blocks = 0;
    for (LLVMBasicBlockRef b = l->GetFirstBasicBlock(row); b; b = l->GetNextBasicBlock(b), blocks++)
        for (LLVMValueRef i = l->GetFirstInstruction(b); i; i = l->GetNextInstruction(i)) {
            if (count == ROW_VALUES - ROW_PARAMETERS || !has_copyable_operands(l, i, before, count))
                return false;
            before[count++] = i;
            returns += l->GetInstructionOpcode(i) == LLVMRet;
        }
    return returns == 1 && blocks <= ROW_BLOCKS;
}

bool row_table_open(struct row_table *table)
{
    struct llvm *llvm = &table->llvm;
    size_t size = (size_t)(jit_bitcode_end - jit_bitcode_begin);
    if (size == 0 || !llvm_open(llvm))
        return false;
    table->context = llvm->ContextCreate();
    LLVMMemoryBufferRef buffer =
        llvm->CreateMemoryBufferWithMemoryRange(jit_bitcode_begin, size, "rows", false);
    if (llvm->GetBitcodeModuleInContext2(table->context, buffer, &table->module))
        return false;
    table->reader = llvm->CreateFunctionPassManagerForModule(table->module);
    return true;
}

LLVMValueRef row_table_function(struct row_table *table, enum insn_id id, bool rtz)
{
    const struct llvm *llvm = &table->llvm;
    if (table->read[id][rtz] || !row_names[id])
        return table->functions[id][rtz];
    char name[64];
    (void)snprintf(name, sizeof name, "row_%s%s", row_names[id], rtz ? "_rtz" : "");
    LLVMValueRef row = llvm->GetNamedFunction(table->module, name);
    if (row) /* LLVM reads what it is to transform, here by no pass */
        (void)llvm->RunFunctionPassManager(table->reader, row);
    table->functions[id][rtz] = row && is_copyable(llvm, row) ? row : NULL;
    table->read[id][rtz] = true;
    return table->functions[id][rtz];
}

void row_table_close(struct row_table *table)
{
    if (table->reader)
        table->llvm.DisposePassManager(table->reader);
    if (table->module)
        table->llvm.DisposeModule(table->module);
    if (table->context)
        table->llvm.ContextDispose(table->context);
    table->reader = NULL;
    table->module = NULL;
    table->context = NULL;
}
