#include "emu/jit/builder.h"

#include <string.h>

#include "emu/sim/alloc.h"

static void add_attributes(struct builder *b)
{
    const struct llvm *l = b->llvm;
    static const char *const attributes[] = {"nounwind", "strictfp"};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        unsigned kind = l->GetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
        LLVMAttributeRef attribute = l->CreateEnumAttribute(b->rows->context, kind, 0);
        l->AddAttributeAtIndex(b->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
    }
    l->AddTargetDependentFunctionAttr(b->function, "target-cpu", "x86-64-v3");
}

void builder_begin(struct builder *b, const struct row_table *rows, const struct hart *hart)
{
    const struct llvm *l = &rows->llvm;
    *b = (struct builder){.rows = rows, .llvm = l, .hart = hart};
    b->i8 = l->Int8TypeInContext(rows->context);
    b->i32 = l->Int32TypeInContext(rows->context);
    b->i64 = l->Int64TypeInContext(rows->context);
    b->f64 = l->DoubleTypeInContext(rows->context);
    b->module = l->ModuleCreateWithNameInContext("region", rows->context);
    l->SetDataLayout(b->module, l->GetDataLayoutStr(rows->module));
    l->SetTarget(b->module, l->GetTarget(rows->module));
    LLVMTypeRef pointer = l->PointerType(b->i8, 0);
    LLVMTypeRef parameters[] = {pointer, b->i64, b->i32, pointer, pointer};
    LLVMTypeRef type = l->FunctionType(b->i32, parameters, sizeof parameters / sizeof *parameters, false);
    b->function = l->AddFunction(b->module, "region", type);
    add_attributes(b);
    b->at = l->CreateBuilderInContext(rows->context);
    b->entry = builder_block(b);
    b->leave = builder_block(b);
    l->PositionBuilderAtEnd(b->at, b->leave);
    b->which = l->BuildPhi(b->at, b->i32, "");
    l->PositionBuilderAtEnd(b->at, b->entry);
}

void builder_end(struct builder *b)
{
    b->llvm->DisposeBuilder(b->at);
}

LLVMValueRef builder_constant(struct builder *b, uint64_t value)
{
    return b->llvm->ConstInt(b->i64, value, false);
}

LLVMBasicBlockRef builder_block(struct builder *b)
{
    return b->llvm->AppendBasicBlockInContext(b->rows->context, b->function, "");
}

LLVMValueRef builder_field(struct builder *b, unsigned parameter, size_t offset, LLVMTypeRef type)
{
    const struct llvm *l = b->llvm;
    LLVMValueRef at = builder_constant(b, offset);
    LLVMValueRef byte = l->BuildGEP2(b->at, b->i8, l->GetParam(b->function, parameter), &at, 1, "");
    return l->BuildBitCast(b->at, byte, l->PointerType(type, 0), "");
}

void builder_likely(struct builder *b, LLVMValueRef branch, bool first)
{
    enum { OFTEN = 10000, RARELY = 1 };
    static const char name[] = "branch_weights", kind[] = "prof";
    const struct llvm *l = b->llvm;
    LLVMContextRef context = b->rows->context;
    LLVMValueRef weights[] = {l->MDStringInContext(context, name, sizeof name - 1),
                              l->ConstInt(b->i32, first ? OFTEN : RARELY, false),
                              l->ConstInt(b->i32, first ? RARELY : OFTEN, false)};
    l->SetMetadata(branch, l->GetMDKindIDInContext(context, kind, sizeof kind - 1),
                   l->MDNodeInContext(context, weights, 3));
}

static uint32_t add_exit(struct builder *b, enum compiled_exit_kind kind, const union op *op, unsigned acc)
{
    if ((b->exit_count & (b->exit_count - 1)) == 0) /* 0 or a power of two: the array is full */
        b->exits = alloc_resize(b->exits, (2 * (size_t)b->exit_count + 1) * sizeof *b->exits);
    b->exits[b->exit_count] = (struct compiled_exit){op, (uint8_t)kind, (uint8_t)acc};
    return b->exit_count++;
}

static void go(struct builder *b, uint32_t exit)
{
    LLVMValueRef number = b->llvm->ConstInt(b->i32, exit, false);
    LLVMBasicBlockRef from = b->llvm->GetInsertBlock(b->at);
    b->llvm->AddIncoming(b->which, &number, &from, 1);
    b->llvm->BuildBr(b->at, b->leave);
}

void builder_leave(struct builder *b, enum compiled_exit_kind kind, const union op *op)
{
    go(b, add_exit(b, kind, op, 0));
}

void builder_resume(struct builder *b)
{
    if (!b->resume)
        b->resume = add_exit(b, COMPILED_RESUME, b->op, b->acc) + 1;
    go(b, b->resume - 1);
}

void builder_require(struct builder *b, LLVMValueRef condition)
{
    LLVMBasicBlockRef on = builder_block(b), otherwise = builder_block(b);
    builder_likely(b, b->llvm->BuildCondBr(b->at, condition, on, otherwise), true);
    b->llvm->PositionBuilderAtEnd(b->at, otherwise);
    builder_resume(b);
    b->llvm->PositionBuilderAtEnd(b->at, on);
}

LLVMValueRef builder_access(struct builder *b, LLVMValueRef address, uint64_t base, uint64_t last)
{
    const struct llvm *l = b->llvm;
    LLVMValueRef offset = l->BuildSub(b->at, address, builder_constant(b, base), "");
    builder_require(b, l->BuildICmp(b->at, LLVMIntULE, offset, builder_constant(b, last), ""));
    return l->BuildGEP2(b->at, b->i8, l->GetParam(b->function, CODE_MEMORY), &address, 1, "");
}
