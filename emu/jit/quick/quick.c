#include "emu/jit/quick/quick.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/exec.h"
#include "emu/hart/fp/flags.h"
#include "emu/hart/hart.h"
#include "emu/jit/quick/micro.h"
#include "emu/jit/quick/state.h"
#include "emu/jit/region/ops.h"
#include "emu/sim/alloc.h"

enum { CODE_ALIGNMENT = 32, OFTEN = 4096, TARGETS_MOST = 4096, LOST_OF = 256 };

/* An entry of the table of indirect targets. A hart with a TLB has all of it, and goes there only while its jump cache has the block. */
struct target {
    uint64_t pc, code; /* where the code is */
    uint64_t place;    /* of the block in the jump cache, in bytes */
    const union op *first;
};
enum { TARGET_SHORT = offsetof(struct target, place) };

/* Returns the offsets to the value of a register at which a block accesses data from instruction i on. */
static struct ops_range coming(const struct quick *q, uint32_t i, unsigned r, bool store)
{
    struct ops_range range = ops_coming(q->hart, q->block, i, r, store);
    if (q->mirrored) {
        const struct ops_range stores = ops_coming(q->hart, q->block, i, r, true);
        range.least = stores.least < range.least ? stores.least : range.least;
        range.most = stores.most > range.most ? stores.most : range.most;
    }
    return range;
}

/* Checks that an instruction's access is in bounds, together with the block's later accesses by the same value of the register. */
static void check_access(struct quick *q, uint32_t i, const struct insn *insn)
{
    const struct hart *hart = q->hart;
    unsigned r = insn->rs1;
    bool store = ops_accesses(insn, true) && !q->mirrored; /* whose bounds are the same */
    for (unsigned k = store; k < 2; k++)
        if (q->checked[k][r].valid && q->checked[k][r].least <= insn->imm &&
            insn->imm <= q->checked[k][r].most)
            return;
    uint64_t last = store ? hart->store_last : hart->load_last;
    const uint64_t base = q->mirrored ? 0 : store ? hart->store_base : hart->load_base;
    struct ops_range range = coming(q, i, r, store);
    if ((uint64_t)(range.most - range.least) > last)
        range = (struct ops_range){insn->imm, insn->imm};
    uint64_t first = (q->known >> r & 1 ? q->constant[r] : 0) + (uint64_t)range.least;
    q->checked[store][r] = (struct checked){true, range.least, range.most};
    if (q->known >> r & 1 && first - base <= last - (uint64_t)(range.most - range.least))
        return;
    if (r == 0)
        x86_constant(&q->code, RAX, 0);
    struct place address = r ? quick_x(q, r) : in_register(RAX);
    quick_check(q, address, range.least, (uint64_t)(range.most - range.least), store);
}

enum { PAGE_SPAN = 1024 }; /* bytes of a page for which the TLB is looked at once, at most */

/* Adds an access at an offset to those that one look at the TLB serves. Returns whether that is possible. */
static bool widen(struct page *page, int64_t offset, unsigned size)
{
    const int64_t alignment = size > page->alignment ? size : page->alignment;
    int64_t first = offset < page->first ? offset : page->first;
    const int64_t last = page->first + page->span, end = offset + size > last ? offset + size : last;
    first &= -alignment;
    if (offset % size || end - first > PAGE_SPAN || !quick_is_small((uint64_t)first))
        return false;
    page->alignment = (uint8_t)alignment;
    page->first = first;
    page->span = end - first;
    return true;
}

/* Looks at the TLB for an instruction's access, and for the block's next ones of the same kind by the same value of the register. */
static void look_at_page(struct quick *q, uint32_t i, const struct insn *insn)
{
    const bool store = ops_accesses(insn, true);
    const unsigned size = insn_table[insn->id].size, r = insn->rs1;
    const struct page *known = &q->page;
    if (known->valid && known->rs1 == r && known->store == store && insn->imm % (int)size == 0 &&
        size <= known->alignment && insn->imm >= known->first &&
        insn->imm + (int)size <= known->first + known->span)
        return;
    struct page page = {true, store, (uint8_t)r, (uint8_t)size, insn->imm, size};
    bool more = insn->imm % (int)size == 0;
    for (; more && i < q->block->limit; i++) {
        const struct insn *next = block_view_insn(q->hart->blocks, &q->block->view, i).insn;
        const struct insn_info *info = &insn_table[next->id];
        const bool simple = ops_accesses(next, true) || ops_accesses(next, false);
        if (simple)
            more = next->rs1 == r && ops_accesses(next, store) && widen(&page, next->imm, info->size);
        else
            more = info->access == ACCESS_NONE;
        more &= !(format_table[info->format].rd == ROLE_X && next->rd == r);
    }
    if (r == 0)
        x86_constant(&q->code, RAX, 0);
    quick_page(q, r ? quick_x(q, r) : in_register(RAX), &page);
}

/* Takes the exit in the slot: counts it, and subtracts from the budget. */
static void count_exit(struct quick *q, const union op *slot, uint64_t retired)
{
    quick_count(q, slot);
    x86_arithmetic_constant(&q->code, X86_SUB, true, in_register(AT_BUDGET), (int32_t)retired);
}

/* Leaves unless the hart's jump cache has the block. */
static void check_cached(struct quick *q, const struct block_view *view, uint32_t exit)
{
    struct code *code = &q->code;
    const uint64_t index = view->pc >> 1 & (HART_JUMP_ENTRIES - 1);
    x86_load(code, RDX, quick_field(offsetof(struct hart, jump_cache)));
    x86_constant(code, RCX, (uint64_t)(uintptr_t)view->first);
    x86_arithmetic(code, X86_CMP, true, RCX, in_memory(RDX, (int32_t)(index * sizeof(union op *))));
    quick_exit_if(q, X86_NE, exit);
}

static void jump_to(struct quick *q, const struct region_block *to)
{
    struct open_jump *jump = quick_jump(q, x86_jump(&q->code));
    jump->kind = TO_BLOCK;
    jump->to = (uint32_t)(to - q->region->blocks);
}

/* Ends the way of control through the exit of an op to a known address. If that is block `next`, it follows. */
static void emit_direct(struct quick *q, const union op *op, const struct region_block *next)
{
    const union op *slot = op + 1;
    bool far;
    count_exit(q, slot, (uint64_t)op->imm);
    const struct region_block *to = region_target(q->region, q->hart, slot->exit.to, &far);
    if (to && far)
        check_cached(q, &to->view, quick_leave(q, COMPILED_LEAVE, slot));
    if (to && to == next)
        return;
    if (to)
        jump_to(q, to);
    else
        quick_exit_from(q, x86_jump(&q->code), quick_leave(q, COMPILED_LEAVE, slot));
}

/* Emits an instruction that does nothing, after which the interpreter goes on as after an indirect jump. */
static void emit_nothing(struct quick *q, const struct block_insn *at)
{
    const struct block_cache *blocks = q->hart->blocks;
    const uint64_t next = at->pc + at->insn->length;
    const uint32_t number = block_view_at(blocks, next);
    const struct region_block *to =
        number == UINT32_MAX ? NULL : region_find(q->region, block_view(blocks, number).first);
    count_exit(q, at->op + 1, (uint64_t)at->op->imm);
    x86_constant(&q->code, RAX, next);
    const uint32_t exit = quick_leave(q, COMPILED_INDIRECT, at->op + 1);
    if (!to || !to->head) {
        quick_exit_from(q, x86_jump(&q->code), exit);
        return;
    }
    check_cached(q, &to->view, exit);
    jump_to(q, to);
}

/* Ends the way of control: goes to the address in RAX, by the table of targets. */
static void emit_indirect(struct quick *q, const union op *slot, uint64_t retired)
{
    static const uint8_t lea_rdx[] = {0x48, 0x8d, 0x15, 0, 0, 0, 0};
    struct code *code = &q->code;
    count_exit(q, slot, retired);
    uint32_t miss = quick_leave(q, COMPILED_INDIRECT, slot);
    if (!q->target_mask) {
        quick_exit_from(q, x86_jump(code), miss);
        return;
    }
    x86_op(code, 0, 0x8b, false, RCX, in_register(RAX));
    x86_arithmetic_constant(code, X86_AND, false, in_register(RCX), (int32_t)q->target_mask);
    x86_bytes(code, lea_rdx, sizeof lea_rdx);
    quick_jump(q, code->size - 4)->kind = TO_TARGETS;
    if (!q->hart->tlb) {
        x86_arithmetic(code, X86_CMP, true, RAX, indexed(RDX, RCX, 3, offsetof(struct target, pc)));
        quick_exit_if(q, X86_NE, miss);
        x86_op(code, 0, 0xff, false, 4, indexed(RDX, RCX, 3, offsetof(struct target, code)));
        return;
    }
    x86_shift(code, X86_SHL, false, RCX, 1);
    x86_lea(code, RDX, indexed(RDX, RCX, 3, 0));
    x86_arithmetic(code, X86_CMP, true, RAX, in_memory(RDX, offsetof(struct target, pc)));
    quick_exit_if(q, X86_NE, miss);
    x86_load(code, RCX, in_memory(RDX, offsetof(struct target, place)));
    x86_arithmetic(code, X86_ADD, true, RCX, quick_field(offsetof(struct hart, jump_cache)));
    x86_load(code, RCX, in_memory(RCX, 0));
    x86_arithmetic(code, X86_CMP, true, RCX, in_memory(RDX, offsetof(struct target, first)));
    quick_exit_if(q, X86_NE, miss);
    x86_op(code, 0, 0xff, false, 4, in_memory(RDX, offsetof(struct target, code)));
}

/* Emits a return. If it goes to the address that the block expects, the block continues. */
static void emit_return(struct quick *q, const struct block_insn *at)
{
    struct code *code = &q->code;
    uint64_t expected = at->op[2].head.pc;
    struct place target = quick_x(q, at->insn->rs1);
    if (quick_is_small(expected)) {
        x86_arithmetic_constant(code, X86_CMP, true, target, (int32_t)expected);
    } else {
        x86_constant(code, RCX, expected);
        x86_arithmetic(code, X86_CMP, true, RCX, target);
    }
    struct open_jump *jump = quick_jump(q, x86_jump_if(code, X86_NE));
    jump->kind = TO_SIDE;
    jump->side = SIDE_RETURN;
    jump->op = at->op;
    jump->rs1 = at->insn->rs1;
}

/* Returns whether a branch leaves the block more often than not. */
static bool leaves_often(const struct quick *q, const union op *op)
{
    const struct block_view *view = &q->block->view;
    uint64_t later = 0;
    for (uint32_t e = 0; e < view->exits; e++) {
        struct block_exit exit = block_view_exit(q->hart->blocks, view, e);
        if (exit.retired > (uint64_t)op->imm)
            later += exit.slot->exit.count;
    }
    return op[1].exit.count > later;
}

static void emit_branch(struct quick *q, const union op *op, enum x86_condition taken)
{
    struct code *code = &q->code;
    if (leaves_often(q, op)) {
        uint32_t on = x86_jump_if(code, taken ^ 1U);
        emit_direct(q, op, NULL);
        x86_patch(code, on, code->size);
    } else {
        struct open_jump *jump = quick_jump(q, x86_jump_if(code, taken));
        jump->kind = TO_SIDE;
        jump->side = SIDE_TAKEN;
        jump->op = op;
    }
}

static void emit_resume(struct quick *q)
{
    uint32_t at = x86_jump(&q->code);
    quick_exit_from(q, at, quick_resume(q));
}

/* Lets the instructions that may fault, from number `first` on, lead to the exit before the current one. */
static void note_faults(struct quick *q, uint32_t first)
{
    for (uint32_t i = first; i < q->code.touch_count; i++) {
        const uint32_t exit = quick_resume(q);
        struct open_jump *jump = quick_jump(q, q->code.touches[i]);
        jump->kind = TO_FAULT;
        jump->to = exit;
    }
}

/* Emits instruction i of the current block. Returns whether the block goes on after it. */
static bool emit_insn(struct quick *q, const struct block_insn *at, uint32_t i)
{
    const union op *op = at->op;
    const struct insn *insn = at->insn;
    enum insn_format kind = insn_table[insn->id].format;
    bool rtz = ops_truncates(q->hart, insn);
    struct outcome outcome;
    q->op = op;
    q->resume = UINT32_MAX;
    if (insn->length && ops_handler(q->hart, op) == q->hart->exec->step && micro_is_nothing(insn->id)) {
        emit_nothing(q, at);
        return false;
    }
    if (ops_is_stepped(q->hart, at) || !select_knows(insn, rtz)) {
        emit_resume(q);
        return false;
    }
    if (flags_accesses(insn)) {
        quick_flags(q, insn);
        q->acc = insn->rd;
        return true;
    }
    if (kind == FORMAT_JALR && ops_handler(q->hart, op) == q->hart->exec->returns) {
        emit_return(q, at);
        q->acc = 0;
        return true;
    }
    if (ops_accesses(insn, false) || ops_accesses(insn, true))
        (q->looks ? look_at_page : check_access)(q, i, insn);
    const uint32_t touches = q->code.touch_count;
    if (!select_row(q, at, rtz, &outcome)) {
        emit_resume(q);
        return false;
    }
    note_faults(q, touches);
    if (kind == FORMAT_JALR) {
        emit_indirect(q, op + 1, op->rs2);
        return false;
    }
    if (kind == FORMAT_B)
        emit_branch(q, op, outcome.taken);
    if (kind != FORMAT_J || insn->rd)
        q->acc = format_table[insn_table[insn->id].format].rd == ROLE_X ? insn->rd : 0;
    return true;
}

static void begin_block(struct quick *q, uint32_t number)
{
    q->block = &q->region->blocks[number];
    if (q->block->head && q->block->entries >= OFTEN) /* the host fetches 32 bytes at once */
        x86_align(&q->code, CODE_ALIGNMENT);
    q->starts[number] = q->code.size;
    q->acc = 0;
    q->known = 0;
    memset(q->checked, 0, sizeof q->checked);
    q->page.valid = false;
    q->boxed = 0;
    if (!q->block->head)
        return;
    x86_arithmetic_constant(&q->code, X86_CMP, true, in_register(AT_BUDGET), (int32_t)q->block->need);
    quick_exit_if(q, X86_L, quick_leave(q, COMPILED_ENTER, q->block->view.first));
}

/* Emits a block. Returns the one that has to follow, or NULL. */
static const struct region_block *emit_block(struct quick *q, uint32_t number)
{
    struct block_insn at = {0};
    begin_block(q, number);
    const struct region_block *block = q->block;
    for (uint32_t i = 0; i < block->limit; i++) {
        at = block_view_insn(q->hart->blocks, &block->view, i);
        if (!emit_insn(q, &at, i))
            return NULL;
    }
    if (block->limit < block->view.insns) {
        at = block_view_insn(q->hart->blocks, &block->view, block->limit);
        q->op = at.op;
        q->resume = UINT32_MAX;
        emit_resume(q);
        return NULL;
    }
    const union op *last = ops_after(&at);
    bool far;
    const struct region_block *next = region_target(q->region, q->hart, last[1].exit.to, &far);
    if (next && q->starts[next - q->region->blocks] != UINT32_MAX)
        next = NULL;
    emit_direct(q, last, next);
    return next;
}

static void emit_blocks(struct quick *q)
{
    for (uint32_t b = 0; b < q->region->count; b++)
        for (uint32_t at = b; q->starts[at] == UINT32_MAX;) {
            const struct region_block *next = emit_block(q, at);
            if (next)
                at = (uint32_t)(next - q->region->blocks);
        }
}

/* Emits what was left for later, out of the way of what runs often. */
static void emit_sides(struct quick *q)
{
    for (uint32_t i = 0; i < q->jump_count; i++) {
        struct open_jump jump = q->jumps[i];
        if (jump.kind != TO_SIDE)
            continue;
        x86_patch(&q->code, jump.at, q->code.size);
        if (jump.side == SIDE_TAKEN) {
            emit_direct(q, jump.op, NULL);
            continue;
        }
        if (jump.side == SIDE_PAGE) {
            quick_misaligned(q, &jump);
            continue;
        }
        if (jump.side == SIDE_CALL) {
            q->known = 0;
            select_call(q, &jump.insn, ops_truncates(q->hart, jump.insn.insn));
            uint32_t at = x86_jump(&q->code);
            x86_patch(&q->code, at, jump.back);
            continue;
        }
        x86_load(&q->code, RAX, quick_x(q, jump.rs1));
        x86_arithmetic_constant(&q->code, X86_AND, true, in_register(RAX), -2);
        emit_indirect(q, jump.op + 1, jump.op->rs2);
    }
}

static void emit_exits(struct quick *q)
{
    uint32_t *stubs = alloc(q->exit_count + 1, sizeof *stubs);
    for (uint32_t i = 0; i < q->jump_count; i++) {
        struct open_jump *jump = &q->jumps[i];
        if (jump->kind != TO_EXIT && jump->kind != TO_FAULT)
            continue;
        if (!stubs[jump->to]) {
            stubs[jump->to] = q->code.size;
            if (q->exits[jump->to].kind == COMPILED_INDIRECT)
                x86_store(&q->code, quick_field(offsetof(struct hart, pc)), RAX);
            x86_constant(&q->code, RAX, jump->to);
            uint32_t at = x86_jump(&q->code);
            x86_patch(&q->code, at, q->leave);
        }
        if (jump->kind == TO_EXIT)
            x86_patch(&q->code, jump->at, stubs[jump->to]);
        jump->back = stubs[jump->to];
    }
    free(stubs);
}

static void emit_entry(struct quick *q)
{
    static const uint8_t enter[] = {0x53, 0x55, 0x41, 0x54, 0x41,
                                    0x55, 0x41, 0x56, 0x41, 0x57, /* push RBX, RBP, R12 to R15 */
                                    0x48, 0x83, 0xec, 0x08};      /* sub RSP, 8 */
    static const uint8_t lea_rcx[] = {0x48, 0x8d, 0x0d, 0, 0, 0, 0};
    struct code *code = &q->code;
    x86_bytes(code, enter, sizeof enter);
    x86_lea(code, AT_HART, in_memory(RDI, HART_BIAS));
    x86_move(code, AT_BUDGET, RSI);
    x86_move(code, AT_MEMORY, R8);
    x86_move(code, RAX, RDX);
    quick_load(q, UINT32_MAX, UINT32_MAX);
    quick_begin_counts(q);
    x86_bytes(code, lea_rcx, sizeof lea_rcx);
    quick_jump(q, code->size - 4)->kind = TO_ENTRIES;
    x86_op(code, 0, 0x63, true, RAX, indexed(RCX, RAX, 2, 0));
    x86_arithmetic(code, X86_ADD, true, RAX, in_register(RCX));
    x86_op(code, 0, 0xff, false, 4, in_register(RAX));
}

static void emit_leave(struct quick *q)
{
    static const uint8_t leave[] = {0x48, 0x83, 0xc4, 0x08, 0x41, 0x5f, 0x41, 0x5e,
                                    0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3};
    q->leave = q->code.size;
    uint32_t written = 0;
    for (unsigned r = 1; r < 32; r++)
        if (q->home[r] != NO_REGISTER && q->written >> r & 1)
            written |= UINT32_C(1) << q->home[r];
    quick_save(q, written, q->written_f);
    quick_end_counts(q);
    x86_store(&q->code, quick_field(offsetof(struct hart, budget)), AT_BUDGET);
    x86_bytes(&q->code, leave, sizeof leave);
}

/* Adds how often a block uses registers, by how often it was entered. */
static void count_uses(struct quick *q, const struct region_block *block, uint64_t x[32], uint64_t f[32])
{
    for (uint32_t i = 0; i < block->limit; i++) {
        const struct insn *insn = block_view_insn(q->hart->blocks, &block->view, i).insn;
        const struct format_info *format = &format_table[insn_table[insn->id].format];
        const uint8_t roles[] = {format->rd, format->rs1, format->rs2, format->rs3};
        const uint8_t registers[] = {insn->rd, insn->rs1, insn->rs2, insn->rs3};
        for (size_t k = 0; k < sizeof roles; k++) {
            x[registers[k]] += roles[k] == ROLE_X ? block->entries + 1 : 0;
            f[registers[k]] += roles[k] == ROLE_F ? block->entries + 1 : 0;
        }
        q->written |= (uint32_t)(format->rd == ROLE_X) << insn->rd;
        q->written_f |= (uint32_t)(format->rd == ROLE_F) << insn->rd;
    }
}

/* Gives the registers that are used most a host register each. */
static void assign(uint8_t home[32], uint64_t uses[32], const uint8_t *homes, size_t count)
{
    memset(home, NO_REGISTER, 32);
    for (size_t i = 0; i < count; i++) {
        unsigned best = 0;
        for (unsigned r = 1; r < 32; r++)
            best = uses[r] > uses[best] ? r : best;
        if (uses[best])
            home[best] = homes[i];
        uses[best] = 0;
    }
}

static void choose_homes(struct quick *q)
{
    static const uint8_t homes[] = {RBX, R12, R13, RSI, RDI, R8, R9, R10, R11};
    static const uint8_t float_homes[] = {6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    uint64_t x[32] = {0}, f[32] = {0};
    for (uint32_t b = 0; b < q->region->count; b++)
        count_uses(q, &q->region->blocks[b], x, f);
    x[0] = 0;
    assign(q->home, x, homes, sizeof homes);
    assign(q->float_home, f, float_homes, sizeof float_homes);
}

static uint32_t count_targets(const struct quick *q, uint64_t *entries)
{
    uint32_t targets = 0;
    *entries = 0;
    for (uint32_t b = 0; b < q->region->count; b++) {
        targets += q->region->blocks[b].indirect;
        *entries += q->region->blocks[b].indirect ? q->region->blocks[b].entries : 0;
    }
    return targets;
}

/* Returns the block for each entry of a table of indirect targets: its number plus 1; 0: none. Of several, the one that was entered most
 * is there; adds up how often the others were. */
static uint32_t *place_targets(const struct quick *q, uint32_t mask, uint64_t *lost)
{
    const struct region_block *blocks = q->region->blocks;
    uint32_t *places = alloc(mask / 2 + 1, sizeof *places);
    *lost = 0;
    for (uint32_t b = 0; b < q->region->count; b++) {
        uint32_t *place = &places[(blocks[b].view.pc & mask) / 2];
        if (!blocks[b].indirect)
            continue;
        const bool better = *place == 0 || blocks[b].entries > blocks[*place - 1].entries;
        if (*place)
            *lost += blocks[better ? *place - 1 : b].entries;
        *place = better ? b + 1 : *place;
    }
    return places;
}

/* Returns target_mask for the smallest table that loses hardly any jump, or else the one that loses least. */
static uint32_t choose_table(const struct quick *q)
{
    uint64_t least = UINT64_MAX, all;
    const uint32_t targets = count_targets(q, &all);
    uint32_t size = 2, best = 0;
    while (size < 4 * targets && size < TARGETS_MOST)
        size *= 2;
    for (; targets && least > all / LOST_OF && size <= TARGETS_MOST; size *= 2) {
        uint64_t lost;
        free(place_targets(q, 2 * size - 2, &lost));
        best = lost < least ? 2 * size - 2 : best;
        least = lost < least ? lost : least;
    }
    return best;
}

static uint32_t target_size(const struct quick *q)
{
    return q->hart->tlb ? sizeof(struct target) : TARGET_SHORT;
}

/* The table of indirect targets: an entry for the bits of a pc that target_mask has. */
static uint32_t emit_targets(struct quick *q)
{
    static const struct target none = {.pc = 1}; /* no pc is odd */
    const uint32_t size = target_size(q);
    while (q->code.size % CODE_ALIGNMENT)
        x86_byte(&q->code, 0xcc);
    uint32_t table = q->code.size;
    for (uint32_t i = 0; q->target_mask && i <= q->target_mask / 2; i++)
        x86_bytes(&q->code, &none, size);
    uint64_t lost;
    uint32_t *places = q->target_mask ? place_targets(q, q->target_mask, &lost) : NULL;
    for (uint32_t i = 0; q->target_mask && i <= q->target_mask / 2; i++) {
        if (!places[i])
            continue;
        const struct block_view *view = &q->region->blocks[places[i] - 1].view;
        const struct target target = {view->pc, q->starts[places[i] - 1],
                                      (view->pc >> 1 & (HART_JUMP_ENTRIES - 1)) * sizeof(union op *),
                                      view->first};
        memcpy(q->code.bytes + table + size * (size_t)i, &target, size);
    }
    free(places);
    return table;
}

static uint32_t emit_entries(struct quick *q)
{
    uint32_t table = q->code.size;
    for (uint32_t b = 0; b < q->region->count; b++)
        x86_word(&q->code, q->starts[b] - table);
    return table;
}

/* Closes jumps; those to slots, and addresses in the table, need the code's place. */
static bool place_code(struct quick *q, uint8_t *at, uint32_t targets, uint32_t entries)
{
    memcpy(at, q->code.bytes, q->code.size);
    for (uint32_t i = 0; i < q->jump_count; i++) {
        const struct open_jump *jump = &q->jumps[i];
        const uint8_t *after = at + jump->at + 4;
        int64_t distance = 0;
        switch (jump->kind) {
        case TO_BLOCK: distance = at + q->starts[jump->to] - after; break;
        case TO_TARGETS: distance = at + targets - after; break;
        case TO_ENTRIES: distance = at + entries - after; break;
        case TO_SLOT: distance = (const uint8_t *)&jump->op->exit.count - after; break;
        default: continue;
        }
        if (distance != (int32_t)distance)
            return false;
        int32_t short_distance = (int32_t)distance;
        memcpy(at + jump->at, &short_distance, sizeof short_distance);
    }
    for (uint32_t i = 0; q->target_mask && i <= q->target_mask / 2; i++) {
        uint8_t *entry = at + targets + target_size(q) * (size_t)i + offsetof(struct target, code);
        uint64_t code;
        memcpy(&code, entry, sizeof code);
        code += (uint64_t)(uintptr_t)at;
        memcpy(entry, &code, sizeof code);
    }
    return true;
}

static compiled_code *finish(struct quick *q, struct code_memory *memory)
{
    uint32_t targets = emit_targets(q), entries = emit_entries(q);
    const uint64_t used = memory->used;
    uint8_t *at = code_memory_take(memory, q->code.size, CODE_ALIGNMENT);
    if (!at || !place_code(q, at, targets, entries) || !code_memory_seal(memory)) {
        memory->used = used;
        return NULL;
    }
    return (compiled_code *)(uintptr_t)at;
}

static int by_place(const void *a, const void *b)
{
    const uint32_t first = ((const struct quick_fault *)a)->at, second = ((const struct quick_fault *)b)->at;
    return (first > second) - (first < second);
}

/* Returns the instructions that may fault, by ascending places. */
static struct quick_faults list_faults(const struct quick *q)
{
    struct quick_faults faults = {alloc(q->code.touch_count + 1, sizeof *faults.at), 0};
    for (uint32_t i = 0; i < q->jump_count; i++)
        if (q->jumps[i].kind == TO_FAULT)
            faults.at[faults.count++] = (struct quick_fault){q->jumps[i].at, q->jumps[i].back};
    qsort(faults.at, faults.count, sizeof *faults.at, by_place);
    return faults;
}

compiled_code *quick_generate(const struct hart *hart, const struct region *region,
                              struct code_memory *memory, struct compiled_exit **exits,
                              struct quick_faults *faults)
{
    const bool mirrored = hart->exec == &exec_v3_direct;
    struct quick q = {.hart = hart, .region = region, .looks = hart->tlb && !mirrored, .mirrored = mirrored};
    q.code.touched = mirrored ? AT_MEMORY : 0;
    q.starts = alloc(region->count, sizeof *q.starts);
    memset(q.starts, 0xff, region->count * sizeof *q.starts);
    q.target_mask = choose_table(&q);
    choose_homes(&q);
    quick_choose_counters(&q);
    emit_entry(&q);
    emit_blocks(&q);
    emit_sides(&q);
    emit_leave(&q);
    emit_exits(&q);
    compiled_code *code = finish(&q, memory);
    *faults = list_faults(&q);
    free(q.code.touches);
    free(q.code.bytes);
    free(q.jumps);
    free(q.starts);
    if (!code)
        free(q.exits);
    *exits = code ? q.exits : NULL;
    return code;
}

uint32_t quick_flag_accesses(const struct hart *hart, const struct region_block *block)
{
    uint32_t accesses = 0;
    for (uint32_t i = 0; i < block->limit; i++) {
        const struct block_insn at = block_view_insn(hart->blocks, &block->view, i);
        accesses += !ops_is_stepped(hart, &at) && flags_accesses(at.insn);
    }
    return accesses;
}

uint32_t quick_calls(const struct hart *hart, const struct region_block *block)
{
    uint32_t calls = 0;
    for (uint32_t i = 0; i < block->limit; i++) {
        const struct insn *insn = block_view_insn(hart->blocks, &block->view, i).insn;
        calls += insn->length && select_calls(insn, ops_truncates(hart, insn));
    }
    return calls;
}
