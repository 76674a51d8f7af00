#include "emu/debug/backtrace.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "isa/decode.h"

enum { RA = 1, SP = 2, REGISTERS = 32, EXPRESSION_DEPTH = 16, PROLOGUE_MAX = 256 };

/* Register values in one frame. */
struct frame {
    uint64_t x[REGISTERS];
    uint32_t known; /* bit n: x[n] is known */
    uint64_t pc;
    bool innermost; /* pc is the next instruction to execute; in outer frames pc is a return address */
};

struct walker {
    struct symbols *symbols;
    const struct backtrace_memory *memory;
    Dwarf_CFI *debug_frame, *eh_frame;
    struct decoder *decoder;
};

static bool load64(const struct backtrace_memory *memory, uint64_t address, uint64_t *value)
{
    return memory->read(memory->context, address, value, 8);
}

static bool get_register(const struct frame *frame, uint64_t number, uint64_t *value)
{
    if (number >= REGISTERS || !(frame->known >> number & 1))
        return false;
    *value = frame->x[number];
    return true;
}

/* The evaluation of one DWARF expression. */
struct evaluation {
    const struct frame *frame;
    const struct backtrace_memory *memory;
    uint64_t cfa;
    uint64_t stack[EXPRESSION_DEPTH];
    size_t depth;
    bool is_value; /* the result is the value itself, not the address of the value */
};

static bool push(struct evaluation *e, uint64_t value)
{
    if (e->depth == EXPRESSION_DEPTH)
        return false;
    e->stack[e->depth++] = value;
    return true;
}

static bool push_register(struct evaluation *e, uint64_t number, uint64_t offset)
{
    uint64_t value;
    return get_register(e->frame, number, &value) && push(e, value + offset);
}

static bool add_top(struct evaluation *e, uint64_t value)
{
    if (e->depth == 0)
        return false;
    e->stack[e->depth - 1] += value;
    return true;
}

static bool evaluate_step(struct evaluation *e, const Dwarf_Op *op)
{
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
        return push_register(e, op->atom - DW_OP_breg0, op->number);
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
        e->is_value = true;
        return push_register(e, op->atom - DW_OP_reg0, 0);
    }
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
        return push(e, op->atom - DW_OP_lit0);
    switch (op->atom) {
    case DW_OP_bregx: return push_register(e, op->number, op->number2);
    case DW_OP_regx: e->is_value = true; return push_register(e, op->number, 0);
    case DW_OP_call_frame_cfa: return push(e, e->cfa);
    case DW_OP_plus_uconst: return add_top(e, op->number);
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts: return push(e, op->number);
    case DW_OP_plus: return e->depth >= 2 && (e->depth--, add_top(e, e->stack[e->depth]));
    case DW_OP_minus: return e->depth >= 2 && (e->depth--, add_top(e, -e->stack[e->depth]));
    case DW_OP_deref:
        return e->depth >= 1 && load64(e->memory, e->stack[e->depth - 1], &e->stack[e->depth - 1]);
    case DW_OP_stack_value: e->is_value = true; return e->depth >= 1;
    default: return false;
    }
}

static bool evaluate(struct evaluation *e, const Dwarf_Op *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!evaluate_step(e, &ops[i]))
            return false;
    }
    return e->depth >= 1;
}

static bool frame_cfa(const struct walker *w, const struct frame *frame, Dwarf_Frame *rules, uint64_t *cfa)
{
    Dwarf_Op *ops;
    size_t count;
    struct evaluation e = {.frame = frame, .memory = w->memory};
    if (dwarf_frame_cfa(rules, &ops, &count) != 0 || count == 0 || !evaluate(&e, ops, count))
        return false;
    *cfa = e.stack[e.depth - 1];
    return true;
}

/* Computes register `number` of the caller from the callee's CFI rules. False when it is unknown. */
static bool caller_register(const struct walker *w, const struct frame *frame, Dwarf_Frame *rules,
                            uint64_t cfa, int number, uint64_t *value)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    if (dwarf_frame_register(rules, number, memory, &ops, &count) != 0)
        return false;
    if (count == 0)
        return !ops && get_register(frame, (uint64_t)number, value);
    struct evaluation e = {.frame = frame, .memory = w->memory, .cfa = cfa};
    if (!evaluate(&e, ops, count))
        return false;
    *value = e.stack[e.depth - 1];
    return e.is_value || load64(w->memory, *value, value);
}

static bool step_by_rules(const struct walker *w, struct frame *frame, Dwarf_Frame *rules)
{
    uint64_t cfa;
    int return_register = dwarf_frame_info(rules, NULL, NULL, NULL);
    if (return_register < 0 || return_register >= REGISTERS || !frame_cfa(w, frame, rules, &cfa))
        return false;
    struct frame caller = {.known = 1};
    for (int i = 1; i < REGISTERS; i++) {
        if (caller_register(w, frame, rules, cfa, i, &caller.x[i]))
            caller.known |= UINT32_C(1) << i;
    }
    caller.x[SP] = cfa;
    caller.known |= 1 << SP;
    if (!get_register(&caller, (uint64_t)return_register, &caller.pc))
        return false;
    *frame = caller;
    return true;
}

/* Steps to the caller by DWARF call-frame information (CFI). *found tells whether CFI covers this address. */
static bool step_by_cfi(const struct walker *w, struct frame *frame, bool *found)
{
    uint64_t address = (frame->innermost ? frame->pc : frame->pc - 1) - symbols_bias(w->symbols);
    Dwarf_Frame *rules = NULL;
    *found = (w->debug_frame && dwarf_cfi_addrframe(w->debug_frame, address, &rules) == 0) ||
             (w->eh_frame && dwarf_cfi_addrframe(w->eh_frame, address, &rules) == 0);
    bool stepped = *found && step_by_rules(w, frame, rules);
    free(rules);
    return stepped;
}

/* Effects of the executed part of a prologue. */
struct prologue {
    uint64_t size;              /* bytes by which sp was lowered */
    uint64_t offset[REGISTERS]; /* where register n was saved: bytes above the current sp */
    uint32_t saved;             /* bit n: register n was saved */
    uint64_t constant
        [REGISTERS]; /* value that LUI and ADDI left in register n; large frames lower sp by such a constant */
    uint32_t constants; /* bit n: constant[n] is known */
    bool understood;
};

static void lower_stack(struct prologue *p, uint64_t size)
{
    p->size += size;
    for (int i = 0; i < REGISTERS; i++)
        p->offset[i] += size;
}

/* Tracks constants through an instruction that writes integer register rd. */
static void note_constant(struct prologue *p, const struct insn *insn)
{
    bool known = p->constants >> insn->rs1 & 1;
    uint64_t value = p->constant[insn->rs1] + (uint64_t)(int64_t)insn->imm;
    if (insn->id == INSN_lui) {
        known = true;
        value = (uint64_t)(int64_t)insn->imm;
    } else if (insn->id != INSN_addi) {
        known = false;
    }
    p->constant[insn->rd] = value;
    p->constants &= ~(UINT32_C(1) << insn->rd);
    p->constants |= (uint32_t)(known && insn->rd != 0) << insn->rd;
    p->constants |= 1; /* x0 stays 0 */
    p->constant[0] = 0;
}

static void note_insn(struct prologue *p, const struct insn *insn)
{
    unsigned iclass = insn_table[insn->id].iclass;
    bool writes_sp = insn->rd == SP && iclass == CLASS_ALU;
    if (insn->id == INSN_sd && insn->rs1 == SP && !(p->saved >> insn->rs2 & 1)) {
        p->saved |= UINT32_C(1) << insn->rs2;
        p->offset[insn->rs2] = (uint64_t)(int64_t)insn->imm;
    } else if (writes_sp && insn->id == INSN_addi && insn->rs1 == SP) {
        lower_stack(p, (uint64_t)(-(int64_t)insn->imm));
    } else if (writes_sp && insn->id == INSN_add && insn->rs1 == SP && (p->constants >> insn->rs2 & 1)) {
        lower_stack(p, -p->constant[insn->rs2]);
    } else if (writes_sp) {
        p->understood = false;
    } else if (iclass == CLASS_ALU || iclass == CLASS_LOAD) {
        note_constant(p, insn);
    }
}

/* Reads the prologue in [start, end): `addi sp, sp, -size` and `sd register, offset(sp)`. */
static struct prologue read_prologue(const struct walker *w, uint64_t start, uint64_t end)
{
    struct prologue p = {.understood = true, .constants = 1};
    for (uint64_t pc = start; pc < end && pc - start < PROLOGUE_MAX;) {
        uint32_t bits = 0;
        if (!w->memory->read(w->memory->context, pc, &bits, 4) &&
            !w->memory->read(w->memory->context, pc, &bits, 2))
            break;
        struct insn insn = decode(w->decoder, bits);
        bool epilogue = insn.id == INSN_addi && insn.rd == SP && insn.rs1 == SP && insn.imm > 0;
        if (insn.id == INSN_illegal || insn_table[insn.id].iclass == CLASS_JUMP || epilogue)
            break;
        note_insn(&p, &insn);
        pc += insn.length;
    }
    return p;
}

static bool step_by_prologue(struct walker *w, struct frame *frame)
{
    uint64_t offset = 0;
    if (!w->decoder)
        w->decoder = decoder_new();
    uint64_t address = frame->innermost ? frame->pc : frame->pc - 1;
    struct prologue p = {.understood = true};
    if (symbols_name(w->symbols, address, &offset))
        p = read_prologue(w, address - offset, frame->pc);
    bool ra_saved = p.saved >> RA & 1;
    if (!p.understood || (!ra_saved && !frame->innermost))
        return false;
    struct frame caller = *frame;
    for (uint64_t i = 1; i < REGISTERS; i++) {
        if ((p.saved >> i & 1) && !load64(w->memory, frame->x[SP] + p.offset[i], &caller.x[i]))
            return false;
    }
    caller.x[SP] = frame->x[SP] + p.size;
    caller.known |= p.saved;
    caller.innermost = false;
    *frame = caller;
    return get_register(&caller, RA, &frame->pc);
}

/* Replaces *frame with its caller's frame. False at the outermost frame or when the stack is inconsistent. */
static bool step(struct walker *w, struct frame *frame)
{
    struct frame callee = *frame;
    bool has_rules;
    if (!step_by_cfi(w, frame, &has_rules) && (has_rules || !step_by_prologue(w, frame)))
        return false;
    bool rises = callee.innermost ? frame->x[SP] >= callee.x[SP] : frame->x[SP] > callee.x[SP];
    return rises && frame->pc % 2 == 0 && symbols_is_code(w->symbols, frame->pc - 1);
}

size_t backtrace_walk_through(struct symbols *symbols, const uint64_t x[32], uint64_t pc,
                              const struct backtrace_memory *memory, uint64_t *frames, size_t max)
{
    struct walker w = {.symbols = symbols, .memory = memory};
    Dwarf *dwarf = symbols_dwarf(symbols);
    w.debug_frame = dwarf ? dwarf_getcfi(dwarf) : NULL;
    w.eh_frame = symbols_elf(symbols) ? dwarf_getcfi_elf(symbols_elf(symbols)) : NULL;

    struct frame frame = {.known = UINT32_MAX, .pc = pc, .innermost = true};
    memcpy(frame.x, x, sizeof frame.x);
    size_t count = 0;
    while (count < max) {
        frames[count++] = frame.pc;
        if (!step(&w, &frame))
            break;
    }
    if (w.eh_frame)
        (void)dwarf_cfi_end(w.eh_frame);
    decoder_free(w.decoder);
    return count;
}

static bool read_phys(const void *context, uint64_t address, void *to, uint64_t length)
{
    const uint8_t *at = phys_at(context, address, length);
    if (at)
        memcpy(to, at, length);
    return at != NULL;
}

size_t backtrace_walk(struct symbols *symbols, const uint64_t x[32], uint64_t pc, const struct phys *memory,
                      uint64_t *frames, size_t max)
{
    const struct backtrace_memory reader = {read_phys, memory};
    return backtrace_walk_through(symbols, x, pc, &reader, frames, max);
}
