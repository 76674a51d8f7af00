#include "emu/analysis/flow/reach.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"
#include "isa/decoder/flow.h"

/* ra, t0-t2, a0-a7, t3-t6; ft0-ft7, fa0-fa7, ft8-ft11 (psABI, register convention). */
#define CALLER_SAVED       0xf003fce2u
#define CALLER_SAVED_FLOAT 0xf003fcffu

/* The state of a walk: places still to visit, and places visited. */
struct walk {
    const struct decoder *decoder;
    const struct reach_code *code;
    const struct reach_visitor *visitor;
    struct reach reach;
    uint64_t *stack;
    size_t depth, stack_size;
    uint64_t *seen; /* hash table of pc + 1, 0: empty; size a power of two */
    size_t seen_size;
};

/* An instruction, and the result of the AUIPC before it. */
struct place {
    uint64_t pc;
    struct insn insn;
    unsigned flow; /* flow_of() */
    unsigned base; /* register that the AUIPC wrote; 0: there is no AUIPC */
    uint64_t value;
};

static void *memory_of(void *old, size_t count)
{
    void *memory = alloc_resize(old, count * sizeof(uint64_t));
    return memory;
}

static void push(struct walk *walk, uint64_t pc)
{
    if (walk->depth == walk->stack_size)
        walk->stack = memory_of(walk->stack, walk->stack_size *= 2);
    walk->stack[walk->depth++] = pc;
}

/* Marks pc as seen. Returns whether it is new. */
static bool see(struct walk *walk, uint64_t pc)
{
    size_t at = (size_t)(pc * MIX_FACTOR >> 32) & (walk->seen_size - 1);
    while (walk->seen[at] && walk->seen[at] != pc + 1)
        at = (at + 1) & (walk->seen_size - 1);
    bool fresh = walk->seen[at] == 0;
    walk->seen[at] = pc + 1;
    return fresh;
}

static bool look(const struct walk *walk, uint64_t pc, struct place *place)
{
    uint32_t bits;
    if (pc % 2 || !walk->code->fetch(walk->code->context, pc, &bits))
        return false;
    place->insn = decode(walk->decoder, bits);
    place->pc = pc;
    place->flow = flow_of(&place->insn);
    return place->insn.id != INSN_illegal;
}

static void name_registers(struct reach *reach, const struct place *place)
{
    bool whole = insn_table[place->insn.id].precision == PRECISION_D;
    const struct insn_registers named = insn_registers(&place->insn);
    const uint8_t registers[] = {named.rd, named.rs1, named.rs2, named.rs3};
    for (size_t i = 0; i < sizeof registers; i++) {
        if (registers[i] < 32)
            reach->integer |= UINT32_C(1) << registers[i];
        else if (registers[i] < REGISTER_NONE)
            *(whole ? &reach->whole : &reach->single) |= UINT32_C(1) << (registers[i] - 32);
    }
    reach->insns++;
}

static void note_auipc(struct place *place)
{
    place->base = 0;
    if (place->insn.id != INSN_auipc)
        return;
    place->base = place->insn.rd;
    place->value = place->pc + (uint64_t)(int64_t)place->insn.imm;
}

/* Sets *target to the target of a jump. Returns false if it is unknown. */
static bool target_of(const struct place *place, uint64_t *target)
{
    if (!(place->flow & FLOW_INDIRECT)) {
        *target = place->pc + (uint64_t)(int64_t)place->insn.imm;
        return true;
    }
    *target = (place->value + (uint64_t)(int64_t)place->insn.imm) & ~UINT64_C(1);
    return place->base != 0 && place->base == place->insn.rs1;
}

/* Pushes all instructions that follow an indirect jump, up to a return beyond which no direct jump among them leads.
 * Returns the address behind the last one. */
static uint64_t sweep(struct walk *walk, uint64_t pc)
{
    uint64_t farthest = pc;
    struct place place;
    for (unsigned i = 0; i < REACH_INSNS && look(walk, pc, &place); i++) {
        uint64_t target = pc + (uint64_t)(int64_t)place.insn.imm;
        push(walk, pc);
        bool direct = (place.flow & (FLOW_BRANCH | FLOW_JUMP)) && !(place.flow & (FLOW_INDIRECT | FLOW_CALL));
        if (direct && target > farthest)
            farthest = target;
        bool last = (place.flow & FLOW_RETURN) && pc >= farthest;
        pc += place.insn.length;
        if (last)
            break;
    }
    return pc;
}

/* Pushes the target of a jump. Returns false if the path ends at the jump. */
static bool follow_jump(struct walk *walk, const struct place *place, struct reach_step *step)
{
    bool call = place->flow & FLOW_CALL, known = target_of(place, &step->target);
    step->known = known;
    bool within = walk->visitor && walk->visitor->within;
    if (known && !(call && within))
        push(walk, step->target);
    if (call && !known) {
        walk->reach.integer |= CALLER_SAVED;
        walk->reach.whole |= CALLER_SAVED_FLOAT;
    }
    if (!call && !known && !(place->flow & FLOW_RETURN))
        step->end = sweep(walk, place->pc + place->insn.length);
    return call;
}

static void walk_path(struct walk *walk, uint64_t pc)
{
    struct place place = {0};
    while (walk->reach.insns < REACH_INSNS && see(walk, pc)) {
        if (!look(walk, pc, &place))
            return;
        struct reach_step step = {.pc = pc, .insn = place.insn, .flow = place.flow};
        name_registers(&walk->reach, &place);
        if (place.flow & FLOW_BRANCH) {
            step.known = true;
            step.target = pc + (uint64_t)(int64_t)place.insn.imm;
            push(walk, step.target);
        }
        bool goes_on = !(place.flow & FLOW_JUMP) || follow_jump(walk, &place, &step);
        if (walk->visitor)
            walk->visitor->visit(walk->visitor->context, &step);
        if (!goes_on)
            return;
        note_auipc(&place);
        pc += place.insn.length;
    }
}

struct reach reach_walk(const struct decoder *decoder, const struct reach_code *code, const uint64_t *entries,
                        size_t count, const struct reach_visitor *visitor)
{
    struct walk walk = {.decoder = decoder,
                        .code = code,
                        .visitor = visitor,
                        .stack_size = 64,
                        .seen_size = 4 * (size_t)REACH_INSNS};
    walk.stack = memory_of(NULL, walk.stack_size);
    walk.seen = alloc(walk.seen_size, sizeof *walk.seen);
    for (size_t i = count; i-- > 0;)
        push(&walk, entries[i]);
    while (walk.depth && walk.reach.insns < REACH_INSNS)
        walk_path(&walk, walk.stack[--walk.depth]);
    if (walk.reach.insns >= REACH_INSNS) {
        walk.reach.integer = UINT32_MAX << 1;
        walk.reach.whole = UINT32_MAX;
    }
    walk.reach.single &= ~walk.reach.whole;
    free(walk.stack);
    free(walk.seen);
    return walk.reach;
}

unsigned reach_halves(const struct reach *reach)
{
    return 2 * (unsigned)__builtin_popcount(reach->integer) + 2 * (unsigned)__builtin_popcount(reach->whole) +
           (unsigned)__builtin_popcount(reach->single);
}
