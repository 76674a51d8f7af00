#include "emu/analysis/trips.h"

/* The branch that ends a loop. */
struct exit {
    unsigned node;
    const struct cfg_insn *branch;
    bool stays; /* the loop goes on where the branch is taken */
};

/* Finds the only way out of the loop. Returns false if there are others, or if it is no branch. */
static bool find_exit(const struct function *f, unsigned loop, struct exit *out)
{
    const struct loop *l = &f->loops.list[loop];
    const struct loop_ends ends = function_loop_ends(f, loop);
    if (ends.ways != 1)
        return false;
    out->node = ends.out;
    out->branch = &f->cfg->insns[function_last(f, out->node)];
    if (!(out->branch->step.flow & FLOW_BRANCH) || out->branch->target == CFG_NONE)
        return false;
    int block = f->cfg->insns[out->branch->target].block;
    out->stays = false;
    for (unsigned i = 0; i < l->count; i++)
        out->stays |= f->part->blocks[f->loops.members[l->first + i]] == block;
    return true;
}

/* Counts the instructions of the loop that change the register; *at is the last one found, in *node. */
static unsigned changes(const struct function *f, unsigned loop, unsigned reg, unsigned *node, int *at)
{
    const struct loop *l = &f->loops.list[loop];
    unsigned count = 0;
    for (unsigned i = 0; i < l->count; i++) {
        unsigned member = f->loops.members[l->first + i];
        for (int j = function_first(f, member); j <= function_last(f, member); j++) {
            if (!function_changes(&f->cfg->insns[j], reg))
                continue;
            count++;
            *node = member;
            *at = j;
        }
    }
    return count;
}

/* What the loop adds to a register in each round. */
struct step {
    int64_t constant; /* 0: it does something else, or `reg` tells */
    unsigned reg;     /* a register whose value is not known; REGISTER_NONE: none */
    bool down;        /* it is subtracted */
    bool behind;      /* behind the exit, so that there may be no round */
};

/* Returns the node of an instruction of the function. */
static unsigned node_of(const struct function *f, int at)
{
    unsigned node = 0;
    while (node < f->part->count && f->part->blocks[node] != f->cfg->insns[at].block)
        node++;
    return node;
}

/* Returns whether a value is a constant in the code. Constants of more than 12 bits end in ADDIW, which function_value() leaves. */
static bool is_constant(const struct function *f, struct value value, int64_t *constant)
{
    *constant = value.offset;
    if (value.base == REGISTER_NONE)
        return value.place == 0;
    const struct insn *insn = value.place >= 0 ? &f->cfg->insns[value.place].step.insn : NULL;
    if (!insn || insn->id != INSN_addiw || insn->rd != value.base)
        return false;
    unsigned node = node_of(f, value.place);
    if (node == f->part->count)
        return false;
    struct value before = function_value(f, node, function_last(f, node) - value.place + 1, insn->rs1);
    *constant = (int32_t)(uint32_t)(before.offset + insn->imm) + value.offset;
    return before.base == REGISTER_NONE && before.place == 0;
}

/* Returns whether each round of the loop executes the node exactly once before the exit, or behind it if the exit is the header. */
static bool once(const struct function *f, unsigned loop, const struct exit *out, unsigned node)
{
    unsigned header = f->loops.list[loop].header;
    if (f->loops.inner[node] != loop || f->loops.inner[out->node] != loop)
        return false;
    if (dominates(&f->dominators, node, out->node))
        return true;
    for (unsigned i = f->reverse.first[header]; i < f->reverse.first[header + 1]; i++)
        if (loops_contain(&f->loops, loop, f->reverse.to[i]) &&
            !dominates(&f->dominators, node, f->reverse.to[i]))
            return false;
    return out->node == header;
}

static struct step step_of(const struct function *f, unsigned loop, const struct exit *out, unsigned reg)
{
    struct step step = {.reg = REGISTER_NONE};
    unsigned node, other;
    int at, another;
    if (reg >= 32 || changes(f, loop, reg, &node, &at) != 1 || !once(f, loop, out, node))
        return step;
    const struct insn *insn = &f->cfg->insns[at].step.insn;
    step.behind = !dominates(&f->dominators, node, out->node);
    const bool subtracts = insn->id == INSN_sub || insn->id == INSN_subw;
    if (insn->rd != reg)
        return step;
    if (insn->id == INSN_addi || insn->id == INSN_addiw) {
        step.constant = insn->rs1 == reg ? insn->imm : 0;
        return step;
    }
    if ((insn->id != INSN_add && insn->id != INSN_addw && !subtracts) ||
        (insn->rs1 != reg && (insn->rs2 != reg || subtracts)))
        return step;
    unsigned by = insn->rs1 == reg ? insn->rs2 : insn->rs1;
    if (by == reg || by == 0 || changes(f, loop, by, &other, &another))
        return step;
    int64_t constant;
    step.down = subtracts;
    if (!is_constant(f, function_value_before(f, f->loops.list[loop].header, by), &constant))
        step.reg = by;
    else
        step.constant = subtracts ? -constant : constant;
    return step;
}

/* Returns how the register compares with the limit, seen in the direction of its steps, while the loop goes on. first: it
 * is the branch's first operand. */
static enum trip_relation relation_of(const struct exit *out, bool first, bool up)
{
    enum trip_relation relation = TRIP_OTHER;
    switch ((enum insn_id)out->branch->step.insn.id) {
    case INSN_beq: return out->stays ? TRIP_OTHER : TRIP_DIFFERS;
    case INSN_bne: return out->stays ? TRIP_DIFFERS : TRIP_OTHER;
    case INSN_blt:
    case INSN_bltu: relation = TRIP_LESS; break;
    case INSN_bge:
    case INSN_bgeu: relation = TRIP_LESS_EQUAL; break; /* second <= first */
    default: return TRIP_OTHER;
    }
    /* `less` tells whether, while the loop goes on, the register is less than the limit, or may be equal. */
    bool less = relation == TRIP_LESS ? first : !first;
    if (!out->stays) {
        less = !less;
        relation = relation == TRIP_LESS ? TRIP_LESS_EQUAL : TRIP_LESS;
    }
    return less == up ? relation : TRIP_OTHER;
}

/* Returns the only node outside of the loop that leads to its header, or NODE_NONE. */
static unsigned before_loop(const struct function *f, unsigned loop)
{
    unsigned header = f->loops.list[loop].header, found = NODE_NONE;
    for (unsigned i = f->reverse.first[header]; i < f->reverse.first[header + 1]; i++) {
        unsigned node = f->reverse.to[i];
        if (loops_contain(&f->loops, loop, node) || !f->dominators.depth[node])
            continue;
        if (found != NODE_NONE)
            return NODE_NONE;
        found = node;
    }
    return found;
}

/* Makes the count static if D is a constant in the code. */
static void look_before(const struct function *f, unsigned loop, bool behind, struct trip *trip)
{
    unsigned node = before_loop(f, loop);
    if (node == NODE_NONE)
        return;
    struct value a = function_value(f, node, 0, trip->minuend),
                 b = function_value(f, node, 0, trip->subtrahend);
    int64_t x, y;
    if (!is_constant(f, a, &x) || !is_constant(f, b, &y)) {
        if (a.base != b.base || (a.base != REGISTER_NONE && a.place != b.place))
            return;
        x = a.offset;
        y = b.offset;
    }
    int64_t rest = x - y - trip->first;
    trip->kind = TRIP_STATIC;
    trip->count = rest < (int64_t)trip->step ? !behind : (uint64_t)rest / trip->step;
}

/* Returns whether the loop changes the limit only by loading it from where it was loaded before the loop. */
static bool is_reloaded(const struct function *f, unsigned loop, unsigned limit)
{
    unsigned node, before = before_loop(f, loop), other;
    int at, another;
    if (limit >= 32 || before == NODE_NONE || changes(f, loop, limit, &node, &at) != 1)
        return false;
    const struct insn *insn = &f->cfg->insns[at].step.insn;
    const struct value value = function_value(f, before, 0, limit);
    if (insn_table[insn->id].access != ACCESS_LOAD || value.place < 0 || value.base != limit || value.offset)
        return false;
    const struct insn *first = &f->cfg->insns[value.place].step.insn;
    return first->id == insn->id && first->rs1 == insn->rs1 && first->imm == insn->imm &&
           insn->rs1 != limit && !changes(f, loop, insn->rs1, &other, &another);
}

static struct trip unknown(const char *why)
{
    return (struct trip){.kind = TRIP_UNKNOWN, .step_register = REGISTER_NONE, .unknown = why};
}

static struct trip trip_by(const struct function *f, unsigned loop, const struct exit *out, bool first,
                           bool guess)
{
    const struct insn_registers *regs = &out->branch->regs;
    unsigned reg = first ? regs->rs1 : regs->rs2, limit = first ? regs->rs2 : regs->rs1, node;
    int at;
    const struct step step = step_of(f, loop, out, reg);
    if (step.constant == 0 && (!guess || step.reg == REGISTER_NONE))
        return unknown("what it compares at its end does not grow by the same step in each round");
    if (limit != REGISTER_NONE && changes(f, loop, limit, &node, &at) &&
        !(guess && is_reloaded(f, loop, limit)))
        return unknown("the limit of its rounds changes in it");
    bool up = step.constant ? step.constant > 0 : !step.down;
    enum trip_relation relation = relation_of(out, first, up);
    if (relation == TRIP_OTHER && step.constant == 0) {
        up = !up;
        relation = relation_of(out, first, up);
    }
    if (relation == TRIP_OTHER)
        return unknown("its comparison does not fit the direction of its steps");
    struct trip trip = {.kind = TRIP_KNOWN, .step_register = REGISTER_NONE};
    trip.minuend = (uint8_t)(up ? limit : reg);
    trip.subtrahend = (uint8_t)(up ? reg : limit);
    if (step.constant == 0) {
        trip.step_register = (uint8_t)step.reg;
        trip.relation = relation;
        return trip;
    }
    trip.step = (uint64_t)(step.constant > 0 ? step.constant : -step.constant);
    trip.first = relation == TRIP_DIFFERS ? 0 : (relation == TRIP_LESS) - (int64_t)trip.step;
    look_before(f, loop, step.behind, &trip);
    return trip;
}

static struct trip find_trip(const struct function *function, unsigned loop, bool guess)
{
    struct exit out = {0};
    if (!find_exit(function, loop, &out))
        return unknown("it has no exit that is a branch, or several");
    const struct trip trip = trip_by(function, loop, &out, true, guess);
    if (trip.kind != TRIP_UNKNOWN)
        return trip;
    const struct trip other = trip_by(function, loop, &out, false, guess);
    return other.kind != TRIP_UNKNOWN ? other : trip;
}

struct trip trip_of(const struct function *function, unsigned loop)
{
    return find_trip(function, loop, false);
}

struct trip trip_guess(const struct function *function, unsigned loop)
{
    return find_trip(function, loop, true);
}

bool trip_constant(const struct function *function, unsigned node, unsigned reg, int64_t *constant)
{
    return is_constant(function, function_value_before(function, node, reg), constant);
}

int64_t trip_threshold(const struct trip *trip, uint64_t n)
{
    return trip->first + (int64_t)(n * trip->step);
}
