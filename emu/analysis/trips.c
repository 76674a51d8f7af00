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
    unsigned ways = 0;
    for (unsigned i = 0; i < l->count; i++) {
        unsigned node = f->loops.members[l->first + i];
        for (unsigned j = f->part->graph.first[node]; j < f->part->graph.first[node + 1]; j++) {
            if (loops_contain(&f->loops, loop, f->part->graph.to[j]))
                continue;
            ways++;
            out->node = node;
        }
    }
    if (ways != 1)
        return false;
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

/* Returns what the loop adds to the register in each round, before the exit; 0: it does something else. */
static int64_t step_of(const struct function *f, unsigned loop, const struct exit *out, unsigned reg)
{
    unsigned node;
    int at;
    if (reg >= 32 || changes(f, loop, reg, &node, &at) != 1)
        return 0;
    const struct insn *insn = &f->cfg->insns[at].step.insn;
    bool adds = (insn->id == INSN_addi || insn->id == INSN_addiw) && insn->rs1 == reg && insn->rd == reg;
    /* Once in each round: in this loop, not in an inner one. */
    bool once = f->loops.inner[node] == loop && dominates(&f->dominators, node, out->node);
    return adds && once && f->loops.inner[out->node] == loop ? insn->imm : 0;
}

enum relation { DIFFERS, LESS, LESS_EQUAL, OTHER };

/* Returns how the register compares with the limit, seen in the direction of its steps, while the loop goes on. first: it
 * is the branch's first operand. */
static enum relation relation_of(const struct exit *out, bool first, bool up)
{
    enum relation relation = OTHER;
    switch ((enum insn_id)out->branch->step.insn.id) {
    case INSN_beq: return out->stays ? OTHER : DIFFERS;
    case INSN_bne: return out->stays ? DIFFERS : OTHER;
    case INSN_blt:
    case INSN_bltu: relation = LESS; break;
    case INSN_bge:
    case INSN_bgeu: relation = LESS_EQUAL; break; /* second <= first */
    default: return OTHER;
    }
    /* `less` tells whether, while the loop goes on, the register is less than the limit, or may be equal. */
    bool less = relation == LESS ? first : !first;
    if (!out->stays) {
        less = !less;
        relation = relation == LESS ? LESS_EQUAL : LESS;
    }
    return less == up ? relation : OTHER;
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
static void look_before(const struct function *f, unsigned loop, unsigned minuend, unsigned subtrahend,
                        struct trip *trip)
{
    unsigned node = before_loop(f, loop);
    if (node == NODE_NONE)
        return;
    struct value a = function_value(f, node, 0, minuend), b = function_value(f, node, 0, subtrahend);
    if (a.base != b.base || (a.base != REGISTER_NONE && a.place != b.place))
        return;
    int64_t rest = a.offset - b.offset - trip->first;
    trip->kind = TRIP_STATIC;
    trip->count = rest < (int64_t)trip->step ? 1 : (uint64_t)rest / trip->step;
}

static struct trip trip_by(const struct function *f, unsigned loop, const struct exit *out, bool first)
{
    const struct insn_registers *regs = &out->branch->regs;
    unsigned reg = first ? regs->rs1 : regs->rs2, limit = first ? regs->rs2 : regs->rs1, node;
    int at;
    struct trip trip = {.kind = TRIP_UNKNOWN};
    int64_t step = step_of(f, loop, out, reg);
    if (step == 0 || (limit != REGISTER_NONE && changes(f, loop, limit, &node, &at)))
        return trip;
    enum relation relation = relation_of(out, first, step > 0);
    if (relation == OTHER)
        return trip;
    trip.kind = TRIP_KNOWN;
    trip.step = (uint64_t)(step > 0 ? step : -step);
    trip.first = relation == DIFFERS ? 0 : (relation == LESS) - (int64_t)trip.step;
    trip.minuend = (uint8_t)(step > 0 ? limit : reg);
    trip.subtrahend = (uint8_t)(step > 0 ? reg : limit);
    look_before(f, loop, trip.minuend, trip.subtrahend, &trip);
    return trip;
}

struct trip trip_of(const struct function *function, unsigned loop)
{
    struct exit out = {0};
    struct trip trip = {.kind = TRIP_UNKNOWN};
    if (!find_exit(function, loop, &out))
        return trip;
    trip = trip_by(function, loop, &out, true);
    return trip.kind == TRIP_UNKNOWN ? trip_by(function, loop, &out, false) : trip;
}

int64_t trip_threshold(const struct trip *trip, uint64_t n)
{
    return trip->first + (int64_t)(n * trip->step);
}
