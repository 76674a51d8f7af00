#include "emu/jit/builder.h"

#include <string.h>

#include "emu/hart/hart.h"
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

void builder_begin(struct builder *b, struct row_table *rows, const struct hart *hart)
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

static void weigh(struct builder *b, LLVMValueRef branch)
{
    enum { OFTEN = 10000, RARELY = 1 };
    static const char name[] = "branch_weights", kind[] = "prof";
    const struct llvm *l = b->llvm;
    LLVMContextRef context = b->rows->context;
    LLVMValueRef weights[] = {l->MDStringInContext(context, name, sizeof name - 1),
                              l->ConstInt(b->i32, OFTEN, false), l->ConstInt(b->i32, RARELY, false)};
    l->SetMetadata(branch, l->GetMDKindIDInContext(context, kind, sizeof kind - 1),
                   l->MDNodeInContext(context, weights, 3));
}

/* The fast selector goes through a block from its end to what it cannot do, and leaves the rest to the thorough one: here to a
 * fence, which makes no code. */
static void leave_to_thorough(struct builder *b)
{
    if (b->inner)
        (void)b->llvm->BuildFence(b->at, LLVMAtomicOrderingRelease, true, "");
}

void builder_branch(struct builder *b, LLVMValueRef condition, LLVMBasicBlockRef first,
                    LLVMBasicBlockRef second, enum builder_side side)
{
    leave_to_thorough(b);
    LLVMValueRef branch = b->llvm->BuildCondBr(b->at, condition, first, second);
    if (side == BUILDER_FIRST)
        weigh(b, branch);
}

void builder_go(struct builder *b, LLVMBasicBlockRef to)
{
    leave_to_thorough(b);
    (void)b->llvm->BuildBr(b->at, to);
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

LLVMValueRef builder_read_x(struct builder *b, unsigned r)
{
    return r ? b->llvm->BuildLoad2(b->at, b->i64, b->x[r], "") : builder_constant(b, 0);
}

LLVMValueRef builder_read_f(struct builder *b, unsigned r)
{
    LLVMValueRef value = b->llvm->BuildLoad2(b->at, b->f64, b->f[r], "");
    return b->llvm->BuildBitCast(b->at, value, b->i64, "");
}

void builder_write_x(struct builder *b, unsigned r, LLVMValueRef value)
{
    if (!r)
        return;
    b->llvm->BuildStore(b->at, value, b->x[r]);
    b->dirty_x |= UINT32_C(1) << r;
}

void builder_write_f(struct builder *b, unsigned r, LLVMValueRef value)
{
    b->llvm->BuildStore(b->at, b->llvm->BuildBitCast(b->at, value, b->f64, ""), b->f[r]);
    b->dirty_f |= UINT32_C(1) << r;
}

static void save(struct builder *b, LLVMValueRef place, size_t offset, LLVMTypeRef type)
{
    LLVMValueRef field = builder_field(b, CODE_HART, offset, type);
    b->llvm->BuildStore(b->at, b->llvm->BuildLoad2(b->at, type, place, ""), field);
}

void builder_flush(struct builder *b)
{
    for (unsigned r = 0; r < 32; r++) {
        if (b->dirty_x >> r & 1)
            save(b, b->x[r], offsetof(struct hart, x) + 8 * r, b->i64);
        if (b->dirty_f >> r & 1)
            save(b, b->f[r], offsetof(struct hart, f) + 8 * r, b->f64);
    }
}

void builder_return(struct builder *b)
{
    b->llvm->PositionBuilderAtEnd(b->at, b->leave);
    save(b, b->budget, offsetof(struct hart, budget), b->i64);
    b->llvm->BuildRet(b->at, b->which);
}

void builder_leave(struct builder *b, enum compiled_exit_kind kind, const union op *op)
{
    builder_flush(b);
    go(b, add_exit(b, kind, op, kind == COMPILED_RESUME ? b->acc : 0));
}

/* Returns where the region is left before the instruction. */
static LLVMBasicBlockRef resume(struct builder *b)
{
    if (b->resume)
        return b->resume;
    LLVMBasicBlockRef here = b->llvm->GetInsertBlock(b->at);
    b->resume = builder_block(b);
    b->llvm->PositionBuilderAtEnd(b->at, b->resume);
    builder_leave(b, COMPILED_RESUME, b->op);
    b->llvm->PositionBuilderAtEnd(b->at, here);
    return b->resume;
}

void builder_resume(struct builder *b)
{
    b->llvm->BuildBr(b->at, resume(b));
}

void builder_require(struct builder *b, LLVMValueRef condition)
{
    LLVMBasicBlockRef on = builder_block(b);
    builder_branch(b, condition, on, resume(b), BUILDER_FIRST);
    b->llvm->PositionBuilderAtEnd(b->at, on);
}

void builder_require_within(struct builder *b, LLVMValueRef address, uint64_t base, uint64_t last)
{
    LLVMValueRef offset = b->llvm->BuildSub(b->at, address, builder_constant(b, base), "");
    builder_require(b, b->llvm->BuildICmp(b->at, LLVMIntULE, offset, builder_constant(b, last), ""));
}

static bool is_checked(const struct builder *b, LLVMValueRef address)
{
    const struct llvm *l = b->llvm;
    if (!b->checked_base || !l->IsAInstruction(address) || l->GetInstructionOpcode(address) != LLVMAdd)
        return false;
    LLVMValueRef first = l->GetOperand(address, 0), second = l->GetOperand(address, 1);
    return (first == b->checked_base && second == b->checked_offset) ||
           (first == b->checked_offset && second == b->checked_base);
}

LLVMValueRef builder_access(struct builder *b, LLVMValueRef address, uint64_t base, uint64_t last)
{
    const struct llvm *l = b->llvm;
    if (!is_checked(b, address))
        builder_require_within(b, address, base, last);
    return l->BuildGEP2(b->at, b->i8, l->GetParam(b->function, CODE_MEMORY), &address, 1, "");
}
