#include "emu/jit/emit.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/exec.h"
#include "emu/hart/fp/flags.h"
#include "emu/hart/hart.h"
#include "emu/jit/builder.h"
#include "emu/jit/copy.h"
#include "emu/jit/region/ops.h"
#include "emu/sim/alloc.h"

/* A range of offsets to a register's value at which accesses are in bounds. */
struct checked {
    bool valid;
    int64_t least, most;
};

struct emitter {
    struct builder b;
    const struct region *region;
    const struct region_block *block; /* the current one */
    uint32_t used_x, used_f;
    struct checked checked[2][32]; /* for loads and stores, by register */
    LLVMBasicBlockRef *blocks;     /* by block of the region */
};

/* Returns the row's function for an instruction, or NULL if the interpreter executes it by step.h. */
static LLVMValueRef row_of(const struct emitter *e, const struct insn *insn)
{
    return row_table_function(e->b.rows, insn->id, ops_truncates(e->b.hart, insn));
}

static bool left_to_step(const struct emitter *e, const struct block_insn *at)
{
    return ops_is_stepped(e->b.hart, at) || flags_accesses(at->insn) || !row_of(e, at->insn);
}

static bool covers(const struct checked *range, int64_t offset)
{
    return range->valid && range->least <= offset && offset <= range->most;
}

/* Checks that an instruction's access is in bounds, together with the block's later accesses by the same value of the register. */
static void check_access(struct emitter *e, uint32_t i, const struct insn *insn)
{
    const struct hart *hart = e->b.hart;
    unsigned r = insn->rs1;
    bool store = ops_accesses(insn, true);
    if (covers(&e->checked[store][r], insn->imm) || (!store && covers(&e->checked[1][r], insn->imm)))
        return;
    uint64_t base = store ? hart->store_base : hart->load_base;
    uint64_t last = store ? hart->store_last : hart->load_last;
    struct ops_range coming = ops_coming(hart, e->block, i, r, store);
    struct checked range = {true, coming.least, coming.most};
    uint64_t span = (uint64_t)(range.most - range.least);
    if (span > last) {
        range = (struct checked){true, insn->imm, insn->imm};
        span = 0;
    }
    builder_require_within(&e->b, builder_read_x(&e->b, r), base - (uint64_t)range.least, last - span);
    e->checked[store][r] = range;
}

/* Emits instruction i of the current block by its row, and writes its result. */
static void emit_row(struct emitter *e, const struct block_insn *at, uint32_t i)
{
    const struct insn *insn = at->insn;
    const struct format_info *format = &format_table[insn_table[insn->id].format];
    const LLVMValueRef none = builder_constant(&e->b, 0);
    LLVMValueRef row = row_of(e, insn);
    bool checks = ops_accesses(insn, false) || ops_accesses(insn, true);
    if (checks)
        check_access(e, i, insn);
    const LLVMValueRef arguments[ROW_PARAMETERS] = {
        [ROW_HART] = e->b.llvm->BuildBitCast(e->b.at, e->b.llvm->GetParam(e->b.function, CODE_HART),
                                             e->b.llvm->TypeOf(e->b.llvm->GetParam(row, ROW_HART)), ""),
        [ROW_RS1] = format->rs1 == ROLE_X ? builder_read_x(&e->b, insn->rs1) : none,
        [ROW_RS2] = format->rs2 == ROLE_X ? builder_read_x(&e->b, insn->rs2) : none,
        [ROW_FRS1] = format->rs1 == ROLE_F ? builder_read_f(&e->b, insn->rs1) : none,
        [ROW_FRS2] = format->rs2 == ROLE_F ? builder_read_f(&e->b, insn->rs2) : none,
        [ROW_FRS3] = format->rs3 == ROLE_F ? builder_read_f(&e->b, insn->rs3) : none,
        [ROW_IMM] = builder_constant(&e->b, (uint64_t)(int64_t)insn->imm),
        [ROW_PC] = builder_constant(&e->b, at->pc),
        [ROW_NEXT] = builder_constant(&e->b, at->pc + insn->length),
    };
    e->b.taken = e->b.target = NULL;
    e->b.checked_base = checks ? arguments[ROW_RS1] : NULL;
    e->b.checked_offset = arguments[ROW_IMM];
    LLVMValueRef result = copy_row(&e->b, row, arguments);
    if (format->rd == ROLE_X) {
        builder_write_x(&e->b, insn->rd, result);
        e->checked[0][insn->rd].valid = e->checked[1][insn->rd].valid = false;
    } else if (format->rd == ROLE_F) {
        builder_write_f(&e->b, insn->rd, result);
    }
}

/* Takes the exit in the slot: subtracts from the budget, and counts it. */
static void count_exit(struct emitter *e, const union op *slot, uint64_t retired)
{
    const struct llvm *l = e->b.llvm;
    const char *slots = (const char *)block_view_slots(e->b.hart->blocks);
    size_t offset = (size_t)((const char *)&slot->exit.count - slots);
    LLVMValueRef counter = builder_field(&e->b, CODE_SLOTS, offset, e->b.i64);
    LLVMValueRef old = l->BuildLoad2(e->b.at, e->b.i64, counter, "");
    l->BuildStore(e->b.at, l->BuildAdd(e->b.at, old, builder_constant(&e->b, 1), ""), counter);
    LLVMValueRef budget = l->BuildLoad2(e->b.at, e->b.i64, e->b.budget, "");
    l->BuildStore(e->b.at, l->BuildSub(e->b.at, budget, builder_constant(&e->b, retired), ""), e->b.budget);
}

/* Ends the current block through the exit of an op to a known address. */
static void emit_direct(struct emitter *e, const union op *op)
{
    const union op *slot = op + 1;
    count_exit(e, slot, (uint64_t)op->imm);
    const struct region_block *to = region_find(e->region, slot->exit.to);
    if (!to) {
        builder_leave(&e->b, COMPILED_LEAVE, slot);
        return;
    }
    if (!to->loop || to->loop != e->block->loop)
        builder_flush(&e->b);
    builder_go(&e->b, e->blocks[to - e->region->blocks]);
}

/* Ends the current block: goes to a computed address. */
static void emit_indirect(struct emitter *e, const union op *slot, uint64_t retired, LLVMValueRef target)
{
    const struct llvm *l = e->b.llvm;
    const uint32_t dirty_x = e->b.dirty_x, dirty_f = e->b.dirty_f;
    count_exit(e, slot, retired);
    builder_flush(&e->b);
    e->b.dirty_x = e->b.dirty_f = 0;
    LLVMBasicBlockRef miss = builder_block(&e->b);
    LLVMValueRef choice = l->BuildSwitch(e->b.at, target, miss, 16);
    for (uint32_t b = 0; b < e->region->count; b++)
        if (e->region->blocks[b].indirect)
            l->AddCase(choice, builder_constant(&e->b, e->region->blocks[b].view.pc), e->blocks[b]);
    l->PositionBuilderAtEnd(e->b.at, miss);
    l->BuildStore(e->b.at, target, builder_field(&e->b, CODE_HART, offsetof(struct hart, pc), e->b.i64));
    builder_leave(&e->b, COMPILED_INDIRECT, slot);
    e->b.dirty_x = dirty_x;
    e->b.dirty_f = dirty_f;
}

/* Emits a return. If it goes to the address that the block expects, the block continues; else the region is left. */
static void emit_return(struct emitter *e, const struct block_insn *at)
{
    const struct llvm *l = e->b.llvm;
    const union op *op = at->op;
    LLVMValueRef target = builder_read_x(&e->b, at->insn->rs1);
    LLVMBasicBlockRef on = builder_block(&e->b), other = builder_block(&e->b);
    LLVMValueRef expected =
        l->BuildICmp(e->b.at, LLVMIntEQ, target, builder_constant(&e->b, op[2].head.pc), "");
    builder_branch(&e->b, expected, on, other, BUILDER_FIRST);
    l->PositionBuilderAtEnd(e->b.at, other);
    emit_indirect(e, op + 1, op->rs2,
                  l->BuildAnd(e->b.at, target, builder_constant(&e->b, ~UINT64_C(1)), ""));
    l->PositionBuilderAtEnd(e->b.at, on);
}

/* Emits instruction i of the current block. Returns whether the block goes on after it. */
static bool emit_insn(struct emitter *e, const struct block_insn *at, uint32_t i)
{
    const union op *op = at->op;
    const struct insn *insn = at->insn;
    e->b.op = op;
    e->b.resume = NULL;
    if (left_to_step(e, at)) {
        builder_resume(&e->b);
        return false;
    }
    enum insn_format kind = insn_table[insn->id].format;
    if (kind == FORMAT_JALR && ops_handler(e->b.hart, op) == e->b.hart->exec->returns) {
        emit_return(e, at);
        e->b.acc = 0;
        return true;
    }
    emit_row(e, at, i);
    if (kind == FORMAT_JALR) {
        emit_indirect(e, op + 1, op->rs2, e->b.target);
        return false;
    }
    if (kind == FORMAT_B) {
        LLVMBasicBlockRef taken = builder_block(&e->b), on = builder_block(&e->b);
        builder_branch(&e->b, e->b.taken, taken, on, BUILDER_ANY);
        e->b.llvm->PositionBuilderAtEnd(e->b.at, taken);
        emit_direct(e, op);
        e->b.llvm->PositionBuilderAtEnd(e->b.at, on);
    }
    if (kind != FORMAT_J || insn->rd)
        e->b.acc = format_table[kind].rd == ROLE_X ? insn->rd : 0;
    return true;
}

/* Leaves the region if the budget might not suffice until the next head. */
static void emit_head(struct emitter *e)
{
    const struct llvm *l = e->b.llvm;
    LLVMBasicBlockRef on = builder_block(&e->b), over = builder_block(&e->b);
    LLVMValueRef budget = l->BuildLoad2(e->b.at, e->b.i64, e->b.budget, "");
    LLVMValueRef within =
        l->BuildICmp(e->b.at, LLVMIntSGE, budget, builder_constant(&e->b, e->block->need), "");
    builder_branch(&e->b, within, on, over, BUILDER_FIRST);
    l->PositionBuilderAtEnd(e->b.at, over);
    builder_leave(&e->b, COMPILED_ENTER, e->block->view.first);
    l->PositionBuilderAtEnd(e->b.at, on);
}

static void note_written(const struct emitter *e, const struct region_block *block, uint32_t *x, uint32_t *f)
{
    for (uint32_t i = 0; i < block->limit; i++) {
        const struct insn *insn = block_view_insn(e->b.hart->blocks, &block->view, i).insn;
        const struct format_info *format = &format_table[insn_table[insn->id].format];
        *x |= (uint32_t)(format->rd == ROLE_X) << insn->rd;
        *f |= (uint32_t)(format->rd == ROLE_F) << insn->rd;
    }
    *x &= ~UINT32_C(1);
}

/* Begins a block. What its loop writes is dirty there. */
static void begin_block(struct emitter *e, uint32_t number)
{
    e->block = &e->region->blocks[number];
    e->b.llvm->PositionBuilderAtEnd(e->b.at, e->blocks[number]);
    e->b.acc = 0;
    e->b.dirty_x = e->b.dirty_f = 0;
    e->b.inner = e->block->loop != 0;
    memset(e->checked, 0, sizeof e->checked);
    for (uint32_t b = 0; e->block->loop && b < e->region->count; b++)
        if (e->region->blocks[b].loop == e->block->loop)
            note_written(e, &e->region->blocks[b], &e->b.dirty_x, &e->b.dirty_f);
    if (e->block->head)
        emit_head(e);
}

static void emit_block(struct emitter *e, uint32_t number)
{
    struct block_insn at = {0};
    begin_block(e, number);
    const struct region_block *block = e->block;
    assert(block->limit > 0);
    for (uint32_t i = 0; i < block->limit; i++) {
        at = block_view_insn(e->b.hart->blocks, &block->view, i);
        if (!emit_insn(e, &at, i))
            return;
    }
    if (block->limit < block->view.insns) {
        at = block_view_insn(e->b.hart->blocks, &block->view, block->limit);
        e->b.op = at.op;
        e->b.resume = NULL;
        builder_resume(&e->b);
        return;
    }
    emit_direct(e, ops_after(&at));
}

static void note_used(struct emitter *e, const struct region_block *block)
{
    for (uint32_t i = 0; i < block->limit; i++) {
        const struct insn *insn = block_view_insn(e->b.hart->blocks, &block->view, i).insn;
        const struct format_info *format = &format_table[insn_table[insn->id].format];
        e->used_x |= (uint32_t)(format->rs1 == ROLE_X) << insn->rs1 | (uint32_t)(format->rs2 == ROLE_X)
                                                                          << insn->rs2;
        e->used_f |= (uint32_t)(format->rs1 == ROLE_F) << insn->rs1 |
                     (uint32_t)(format->rs2 == ROLE_F) << insn->rs2 |
                     (uint32_t)(format->rs3 == ROLE_F) << insn->rs3;
    }
    note_written(e, block, &e->used_x, &e->used_f);
}

static void load_register(struct emitter *e, LLVMValueRef place, size_t offset, LLVMTypeRef type)
{
    const struct llvm *l = e->b.llvm;
    LLVMValueRef field = builder_field(&e->b, CODE_HART, offset, type);
    l->BuildStore(e->b.at, l->BuildLoad2(e->b.at, type, field, ""), place);
}

/* Gives each register that the region uses a place, and loads it. */
static void load_registers(struct emitter *e)
{
    const struct llvm *l = e->b.llvm;
    for (uint32_t b = 0; b < e->region->count; b++)
        note_used(e, &e->region->blocks[b]);
    e->b.budget = l->BuildAlloca(e->b.at, e->b.i64, "");
    l->BuildStore(e->b.at, l->GetParam(e->b.function, CODE_BUDGET), e->b.budget);
    for (unsigned r = 0; r < 32; r++) {
        if (r && e->used_x >> r & 1) {
            e->b.x[r] = l->BuildAlloca(e->b.at, e->b.i64, "");
            load_register(e, e->b.x[r], offsetof(struct hart, x) + 8 * r, e->b.i64);
        }
        if (e->used_f >> r & 1) {
            e->b.f[r] = l->BuildAlloca(e->b.at, e->b.f64, "");
            load_register(e, e->b.f[r], offsetof(struct hart, f) + 8 * r, e->b.f64);
        }
    }
}

static void emit_entries(struct emitter *e)
{
    const struct llvm *l = e->b.llvm;
    LLVMValueRef choice = NULL;
    for (uint32_t b = 0; b < e->region->count; b++) {
        if (!e->region->blocks[b].entry)
            continue;
        if (!choice)
            choice = l->BuildSwitch(e->b.at, l->GetParam(e->b.function, CODE_ENTRY), e->blocks[b], 8);
        else
            l->AddCase(choice, l->ConstInt(e->b.i32, b, false), e->blocks[b]);
    }
}

static void emit_function(struct emitter *e)
{
    e->blocks = alloc(e->region->count, sizeof *e->blocks);
    for (uint32_t i = 0; i < e->region->count; i++)
        e->blocks[i] = builder_block(&e->b);
    load_registers(e);
    emit_entries(e);
    for (uint32_t i = 0; i < e->region->count; i++)
        emit_block(e, i);
    builder_return(&e->b);
    free(e->blocks);
}

struct emitted emit_region(struct row_table *rows, const struct hart *hart, const struct region *region)
{
    struct emitter e = {.region = region};
    builder_begin(&e.b, rows, hart);
    emit_function(&e);
    builder_end(&e.b);
    return (struct emitted){e.b.module, e.b.function, e.b.exits};
}
