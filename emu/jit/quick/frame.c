/* What both levels of the quick compiler emit: guest registers, exits and checks. */
#include <stddef.h>

#include "emu/hart/hart.h"
#include "emu/hart/mmu.h"
#include "emu/jit/quick/state.h"
#include "emu/sim/alloc.h"

/* Returns the memory of a field of the hart. */
struct place quick_field(size_t offset)
{
    return in_memory(AT_HART, (int32_t)offset - HART_BIAS);
}

struct place quick_x(const struct quick *q, unsigned r)
{
    return q->home[r] != NO_REGISTER ? in_register(q->home[r])
                                     : quick_field(offsetof(struct hart, x) + 8 * (size_t)r);
}

struct place quick_f(unsigned r)
{
    return quick_field(offsetof(struct hart, f) + 8 * (size_t)r);
}

void quick_load_float(struct quick *q, unsigned xmm, struct place from)
{
    x86_vex(&q->code, 1, 3, 0x10, false, xmm, 0, from);
}

void quick_store_float(struct quick *q, struct place to, unsigned xmm)
{
    x86_vex(&q->code, 1, 3, 0x11, false, xmm, 0, to);
}

void quick_save(struct quick *q, uint32_t set, uint32_t floats)
{
    for (unsigned r = 0; r < 32; r++) {
        if (q->home[r] != NO_REGISTER && set >> q->home[r] & 1)
            x86_store(&q->code, quick_field(offsetof(struct hart, x) + 8 * (size_t)r), q->home[r]);
        if (q->float_home[r] != NO_REGISTER && floats >> r & 1)
            quick_store_float(q, quick_f(r), q->float_home[r]);
    }
}

void quick_load(struct quick *q, uint32_t set, uint32_t floats)
{
    for (unsigned r = 0; r < 32; r++) {
        if (q->home[r] != NO_REGISTER && set >> q->home[r] & 1)
            x86_load(&q->code, q->home[r], quick_field(offsetof(struct hart, x) + 8 * (size_t)r));
        if (q->float_home[r] != NO_REGISTER && floats >> r & 1)
            quick_load_float(q, q->float_home[r], quick_f(r));
    }
}

struct place quick_saved(const struct quick *q, const struct place *place)
{
    for (unsigned r = 1; r < 32 && !place->memory && (CALLS_CHANGE >> place->reg & 1); r++)
        if (q->home[r] == place->reg)
            return quick_field(offsetof(struct hart, x) + 8 * (size_t)r);
    return *place;
}

void quick_note_write(struct quick *q, unsigned r)
{
    q->known &= ~(UINT32_C(1) << r);
    q->checked[0][r].valid = q->checked[1][r].valid = false;
    q->page.valid &= q->page.rs1 != r;
}

uint32_t quick_leave(struct quick *q, enum compiled_exit_kind kind, const union op *op)
{
    if ((q->exit_count & (q->exit_count - 1)) == 0) /* 0 or a power of two: the array is full */
        q->exits = alloc_resize(q->exits, (2 * (size_t)q->exit_count + 1) * sizeof *q->exits);
    q->exits[q->exit_count] =
        (struct compiled_exit){op, (uint8_t)kind, (uint8_t)(kind == COMPILED_RESUME ? q->acc : 0)};
    return q->exit_count++;
}

uint32_t quick_resume(struct quick *q)
{
    if (q->resume == UINT32_MAX)
        q->resume = quick_leave(q, COMPILED_RESUME, q->op);
    return q->resume;
}

struct open_jump *quick_jump(struct quick *q, uint32_t at)
{
    if ((q->jump_count & (q->jump_count - 1)) == 0)
        q->jumps = alloc_resize(q->jumps, (2 * (size_t)q->jump_count + 1) * sizeof *q->jumps);
    struct open_jump *jump = &q->jumps[q->jump_count++];
    *jump = (struct open_jump){.at = at};
    return jump;
}

void quick_return_to(struct quick *q, uint32_t first)
{
    for (uint32_t i = first; i < q->jump_count; i++)
        q->jumps[i].back = q->code.size;
}

void quick_exit_from(struct quick *q, uint32_t at, uint32_t exit)
{
    struct open_jump *jump = quick_jump(q, at);
    jump->kind = TO_EXIT;
    jump->to = exit;
}

void quick_exit_if(struct quick *q, enum x86_condition condition, uint32_t exit)
{
    quick_exit_from(q, x86_jump_if(&q->code, condition), exit);
}

bool quick_is_small(uint64_t value)
{
    return (int64_t)value == (int32_t)value;
}

/* Emits the check of an access through the mirror: the address is within it, or within the guard behind it. */
static void check_mirror(struct quick *q, struct place address, int64_t least)
{
    struct code *code = &q->code;
    unsigned reg = address.reg;
    if (address.memory || least < 0) {
        reg = RCX;
        if (address.memory)
            x86_load(code, RCX, address);
        if (least < 0)
            x86_lea(code, RCX, in_memory(address.memory ? RCX : address.reg, (int32_t)least));
    }
    x86_arithmetic(code, X86_CMP, true, reg, quick_field(offsetof(struct hart, load_last)));
    quick_exit_if(q, X86_A, quick_resume(q));
}

void quick_check(struct quick *q, struct place address, int64_t least, uint64_t span, bool store)
{
    if (q->mirrored) {
        check_mirror(q, address, least);
        return;
    }
    const struct hart *hart = q->hart;
    struct code *code = &q->code;
    uint64_t base = store ? hart->store_base : hart->load_base;
    uint64_t whole = store ? hart->store_last : hart->load_last;
    if (least > 0 && span + (uint64_t)least <=
                         whole) { /* an address before the memory with an offset into it goes the long way */
        span += (uint64_t)least;
        least = 0;
    }
    uint64_t last = whole - span;
    uint64_t offset = (uint64_t)least - base;
    size_t field = store ? offsetof(struct hart, store_base) : offsetof(struct hart, load_base);
    bool sums = quick_is_small(offset);
    int32_t addend = sums ? (int32_t)offset : (int32_t)least;
    if (!address.memory && addend) {
        x86_lea(code, RCX, in_memory(address.reg, addend));
    } else {
        x86_load(code, RCX, address);
        if (addend)
            x86_arithmetic_constant(code, X86_ADD, true, in_register(RCX), addend);
    }
    if (!sums)
        x86_arithmetic(code, X86_SUB, true, RCX, quick_field(field));
    if (quick_is_small(last) && (int64_t)last >= 0) {
        x86_arithmetic_constant(code, X86_CMP, true, in_register(RCX), (int32_t)last);
    } else {
        x86_constant(code, RDX, last);
        x86_arithmetic(code, X86_CMP, true, RCX, in_register(RDX));
    }
    quick_exit_if(q, X86_A, quick_resume(q));
}

/* tlb_index() times the size of an entry, by 32-bit operations on the address. */
enum { ENTRY_SHIFT = 4, ENTRY_MASK = (TLB_ENTRIES - 1) << ENTRY_SHIFT };
_Static_assert(sizeof(struct tlb_entry) == 1 << ENTRY_SHIFT, "the index is shifted");
_Static_assert(offsetof(struct tlb_entry, tag) == 0, "the comparison has no displacement");

/* Loads address + first into RCX. */
static void load_first(struct quick *q, struct place address, const struct page *page)
{
    struct code *code = &q->code;
    if (!address.memory && page->first) {
        x86_lea(code, RCX, in_memory(address.reg, (int32_t)page->first));
        return;
    }
    x86_load(code, RCX, address);
    if (page->first)
        x86_arithmetic_constant(code, X86_ADD, true, in_register(RCX), (int32_t)page->first);
}

/* Leaves through the exit if `span` bytes from the address in a register on are not in one page. */
static void check_span(struct quick *q, unsigned address, unsigned scratch, int64_t span, uint32_t exit)
{
    struct code *code = &q->code;
    x86_op(code, 0, 0x8b, false, scratch, in_register(address));
    x86_arithmetic_constant(code, X86_AND, false, in_register(scratch), MMU_PAGE - 1);
    x86_arithmetic_constant(code, X86_CMP, false, in_register(scratch), (int32_t)(MMU_PAGE - span));
    quick_exit_if(q, X86_A, exit);
}

void quick_page(struct quick *q, struct place address, const struct page *page)
{
    struct code *code = &q->code;
    const size_t table = page->store ? offsetof(struct hart, store_tlb) : offsetof(struct hart, load_tlb);
    load_first(q, address, page);
    x86_op(code, 0, 0x8b, false, AT_MEMORY, in_register(RCX));
    x86_shift(code, X86_SHR, false, AT_MEMORY, 8);
    x86_arithmetic(code, X86_XOR, false, AT_MEMORY, in_register(RCX));
    x86_shift(code, X86_SHR, false, AT_MEMORY, 8);
    x86_arithmetic_constant(code, X86_AND, false, in_register(AT_MEMORY), ENTRY_MASK);
    x86_arithmetic(code, X86_ADD, true, AT_MEMORY, quick_field(table));
    if (page->span > page->alignment)
        check_span(q, RCX, RDX, page->span, quick_resume(q));
    x86_arithmetic_constant(code, X86_AND, true, in_register(RCX), -MMU_PAGE | (page->alignment - 1));
    x86_arithmetic(code, X86_CMP, true, RCX, in_memory(AT_MEMORY, 0));
    if (!page->valid || page->alignment == 1 || address.reg == RAX) {
        quick_exit_if(q, X86_NE, quick_resume(q));
    } else {
        const uint32_t exit = quick_resume(q);
        struct open_jump *side = quick_jump(q, x86_jump_if(code, X86_NE));
        side->kind = TO_SIDE;
        side->side = SIDE_PAGE;
        side->address = address;
        side->page = *page;
        side->exit = exit;
        side->back = code->size;
    }
    x86_load(code, AT_MEMORY, in_memory(AT_MEMORY, offsetof(struct tlb_entry, addend)));
    q->page = *page;
}

/* As the fast handlers do (emu/hart/exec/window_tlb.h). */
void quick_misaligned(struct quick *q, const struct open_jump *side)
{
    struct code *code = &q->code;
    load_first(q, side->address, &side->page);
    if (side->page.span <= side->page.alignment) {
        check_span(q, RCX, RCX, side->page.span, side->exit);
        load_first(q, side->address, &side->page);
    }
    x86_arithmetic_constant(code, X86_AND, true, in_register(RCX), -MMU_PAGE);
    x86_arithmetic(code, X86_CMP, true, RCX, in_memory(AT_MEMORY, 0));
    quick_exit_if(q, X86_NE, side->exit);
    const uint32_t at = x86_jump(code);
    x86_patch(code, at, side->back);
}
