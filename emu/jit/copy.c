#include "emu/jit/copy.h"

#include <stdlib.h>
#include <string.h>

#include "emu/hart/hart.h"
#include "emu/sim/alloc.h"

/* A copy of a row's function in progress: values and blocks of the function, and what they have become. */
struct copy {
    struct builder *b;
    LLVMValueRef from[ROW_VALUES], to[ROW_VALUES];
    unsigned values;
    LLVMBasicBlockRef block[ROW_BLOCKS], begin[ROW_BLOCKS], end[ROW_BLOCKS];
    unsigned blocks;
    LLVMBasicBlockRef after; /* where it continues after the function's return; NULL: in the last block */
    LLVMValueRef result;
};

static void note(struct copy *c, LLVMValueRef from, LLVMValueRef to)
{
    c->from[c->values] = from;
    c->to[c->values++] = to;
}

static unsigned block_number(const struct copy *c, LLVMBasicBlockRef block)
{
    unsigned i = 0;
    while (c->block[i] != block)
        i++;
    return i;
}

/* Returns the function, which only has a name, in the region's module. */
static LLVMValueRef import(struct copy *c, LLVMValueRef function)
{
    const struct llvm *l = c->b->llvm;
    size_t length;
    const char *name = l->GetValueName2(function, &length);
    LLVMTypeRef type = l->GlobalGetValueType(function);
    uint64_t address = row_callable(name);
    if (address)
        return l->ConstIntToPtr(builder_constant(c->b, address), l->PointerType(type, 0));
    LLVMValueRef found = l->GetNamedFunction(c->b->module, name);
    return found ? found : l->AddFunction(c->b->module, name, type);
}

/* Returns what a value of the function has become. */
static LLVMValueRef mapped(struct copy *c, LLVMValueRef value)
{
    const struct llvm *l = c->b->llvm;
    if (l->ValueIsBasicBlock(value))
        return l->BasicBlockAsValue(c->begin[block_number(c, l->ValueAsBasicBlock(value))]);
    if (l->IsAFunction(value))
        return import(c, value);
    for (unsigned i = c->values; i-- > 0;)
        if (c->from[i] == value)
            return c->to[i];
    return value; /* a constant, metadata or assembly */
}

/* Emits what a call of a function declared in rows.c stands for, in its place. Returns false for other calls. */
static bool copy_special(struct copy *c, LLVMValueRef call)
{
    struct builder *b = c->b;
    const struct llvm *l = b->llvm;
    LLVMValueRef called = l->GetCalledValue(call);
    size_t length;
    if (!l->IsAFunction(called))
        return false;
    const char *name = l->GetValueName2(called, &length);
    if (strncmp(name, "llvm.lifetime.", 14) == 0)
        return true;
    LLVMValueRef argument = l->GetNumOperands(call) > 1 ? mapped(c, l->GetOperand(call, 0)) : NULL;
    const struct hart *hart = b->hart;
    if (strcmp(name, "jit_load_at") == 0)
        note(c, call, builder_access(b, argument, hart->load_base, hart->load_last));
    else if (strcmp(name, "jit_store_at") == 0)
        note(c, call, builder_access(b, argument, hart->store_base, hart->store_last));
    else if (strcmp(name, "jit_require") == 0)
        builder_require(b, argument);
    else if (strcmp(name, "jit_branch") == 0)
        b->taken = argument;
    else if (strcmp(name, "jit_jump") == 0)
        b->target = argument;
    else if (strcmp(name, "jit_nothing") == 0)
        return true;
    else if (strstr(name, "constrained.sitofp") && l->IsAConstantInt(argument) &&
             l->ConstIntGetZExtValue(argument) == 0) /* of _mm_setzero_pd(): exact */
        note(c, call, l->ConstReal(l->TypeOf(call), 0));
    else
        return false;
    return true;
}

/* Inserts a copy of an instruction: allocations once, at the entry, not in each turn of a loop. */
static void insert(struct copy *c, LLVMValueRef copied, LLVMOpcode opcode)
{
    const struct llvm *l = c->b->llvm;
    LLVMBasicBlockRef here = l->GetInsertBlock(c->b->at);
    if (opcode == LLVMAlloca)
        l->PositionBuilderBefore(c->b->at, l->GetFirstInstruction(c->b->entry));
    l->InsertIntoBuilder(c->b->at, copied);
    l->PositionBuilderAtEnd(c->b->at, here);
}

static void copy_insn(struct copy *c, LLVMValueRef insn)
{
    const struct llvm *l = c->b->llvm;
    LLVMOpcode opcode = l->GetInstructionOpcode(insn);
    if (opcode == LLVMCall && copy_special(c, insn))
        return;
    if (opcode == LLVMRet) {
        c->result = mapped(c, l->GetOperand(insn, 0));
        if (l->GetInstructionParent(insn) != c->block[c->blocks - 1]) {
            c->after = builder_block(c->b);
            l->BuildBr(c->b->at, c->after);
        }
        return;
    }
    if (opcode == LLVMPHI) {
        note(c, insn, l->BuildPhi(c->b->at, l->TypeOf(insn), ""));
        return;
    }
    LLVMValueRef copied = l->InstructionClone(insn);
    insert(c, copied, opcode);
    int operands = l->GetNumOperands(insn);
    for (int i = 0; i < operands; i++) {
        LLVMValueRef old = l->GetOperand(insn, (unsigned)i), new = mapped(c, old);
        if (new != old)
            l->SetOperand(copied, (unsigned)i, new);
    }
    note(c, insn, copied);
}

static void copy_phis(struct copy *c, LLVMBasicBlockRef block)
{
    const struct llvm *l = c->b->llvm;
    for (LLVMValueRef i = l->GetFirstInstruction(block); i; i = l->GetNextInstruction(i)) {
        if (l->GetInstructionOpcode(i) != LLVMPHI)
            continue;
        for (unsigned k = 0; k < l->CountIncoming(i); k++) {
            LLVMValueRef value = mapped(c, l->GetIncomingValue(i, k));
            LLVMBasicBlockRef from = c->end[block_number(c, l->GetIncomingBlock(i, k))];
            l->AddIncoming(mapped(c, i), &value, &from, 1);
        }
    }
}

LLVMValueRef copy_row(struct builder *b, LLVMValueRef row, const LLVMValueRef arguments[ROW_PARAMETERS])
{
    const struct llvm *l = b->llvm;
    struct copy *c = alloc(1, sizeof *c);
    c->b = b;
    for (unsigned i = 0; i < ROW_PARAMETERS; i++)
        note(c, l->GetParam(row, i), arguments[i]);
    for (LLVMBasicBlockRef at = l->GetFirstBasicBlock(row); at; at = l->GetNextBasicBlock(at)) {
        c->block[c->blocks] = at;
        c->begin[c->blocks] = c->blocks ? builder_block(b) : l->GetInsertBlock(b->at);
        c->blocks++;
    }
    for (unsigned i = 0; i < c->blocks; i++) {
        l->PositionBuilderAtEnd(b->at, c->begin[i]);
        for (LLVMValueRef at = l->GetFirstInstruction(c->block[i]); at; at = l->GetNextInstruction(at))
            copy_insn(c, at);
        c->end[i] = l->GetInsertBlock(b->at);
    }
    for (unsigned i = 0; i < c->blocks; i++)
        copy_phis(c, c->block[i]);
    if (c->after)
        l->PositionBuilderAtEnd(b->at, c->after);
    LLVMValueRef result = c->result;
    free(c);
    return result;
}
