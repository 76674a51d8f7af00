#include "emu/analysis/flow/function.h"

#include <stdlib.h>

#include "emu/analysis/values.h"
#include "emu/sim/alloc.h"

enum { MOST_STEPS = 256 }; /* instructions and blocks looked at for a value */

struct function function_open(const struct cfg *cfg, const struct cfg_function *part)
{
    struct function function = {.cfg = cfg, .part = part, .reverse = digraph_reverse(&part->graph)};
    function.dominators = dominators_of(&part->graph, 0);
    function.post = dominators_of(&function.reverse, part->count);
    function.loops = loops_of(&part->graph, &function.dominators);
    return function;
}

void function_close(struct function *function)
{
    loops_free(&function->loops);
    dominators_free(&function->post);
    dominators_free(&function->dominators);
    digraph_free(&function->reverse);
}

const struct cfg_block *function_block(const struct function *function, unsigned node)
{
    return &function->cfg->blocks[function->part->blocks[node]];
}

int function_first(const struct function *function, unsigned node)
{
    return function_block(function, node)->first;
}

int function_last(const struct function *function, unsigned node)
{
    const struct cfg_block *block = function_block(function, node);
    return block->first + block->count - 1;
}

bool function_changes(const struct cfg_insn *insn, unsigned reg)
{
    uint64_t changed = register_bit(insn->regs.rd);
    if (cfg_is_call(insn))
        changed |= values_changed_by(insn);
    return changed & register_bit(reg);
}

/* Returns the first instruction of a node that changes the register, or CFG_NONE. */
static int changer_of(const struct function *function, unsigned node, unsigned reg)
{
    for (int i = function_first(function, node); i <= function_last(function, node); i++)
        if (function_changes(&function->cfg->insns[i], reg))
            return i;
    return CFG_NONE;
}

static bool block_changes(const struct function *function, unsigned node, unsigned reg)
{
    return changer_of(function, node, reg) != CFG_NONE;
}

int function_changer(const struct function *function, unsigned loop, unsigned reg)
{
    const struct loop *l = &function->loops.list[loop];
    int found = CFG_NONE;
    for (unsigned i = 0; i < l->count && found == CFG_NONE; i++)
        found = changer_of(function, function->loops.members[l->first + i], reg);
    return found;
}

/* Marks the nodes from which `to` can be reached without passing `stop`; `to` itself only if it is in such a cycle. */
static void mark_between(const struct function *function, unsigned stop, unsigned to, bool *marks)
{
    const struct digraph *reverse = &function->reverse;
    unsigned *todo = alloc(reverse->nodes + 1, sizeof *todo), count = 0;
    todo[count++] = to;
    while (count) {
        unsigned node = todo[--count];
        for (unsigned i = reverse->first[node]; i < reverse->first[node + 1]; i++) {
            if (marks[reverse->to[i]] || reverse->to[i] == stop)
                continue;
            marks[reverse->to[i]] = true;
            todo[count++] = reverse->to[i];
        }
    }
    free(todo);
}

/* Returns the immediate dominator if the register holds at its end what it holds at the start of the node, because no instruction
 * on the way changes it; otherwise NODE_NONE. */
static unsigned same_before(const struct function *function, unsigned node, unsigned reg)
{
    unsigned dominator = function->dominators.parent[node];
    bool *between = alloc(function->reverse.nodes + 1, sizeof *between), found = dominator != NODE_NONE;
    if (found)
        mark_between(function, dominator, node, between);
    for (unsigned i = 0; i < function->part->count && found; i++)
        found = !between[i] || !block_changes(function, i, reg);
    free(between);
    return found ? dominator : NODE_NONE;
}

static struct value opaque(unsigned reg, int place, int64_t offset)
{
    return (struct value){.base = reg, .place = place, .offset = offset};
}

/* Goes back over instruction `at`, which wrote *reg. Returns true if it copied a register or added a constant to one: *reg is that
 * register, and value->offset includes the constant. Otherwise *value is the result. */
static bool undo(const struct cfg_insn *insn, int at, unsigned *reg, struct value *value)
{
    const struct insn *i = &insn->step.insn;
    bool plain = insn->regs.rd == *reg && !cfg_is_call(insn);
    int64_t offset = value->offset;
    *value = opaque(*reg, at, offset);
    if (!plain)
        return false;
    switch ((enum insn_id)i->id) {
    case INSN_auipc:
        *value = opaque(REGISTER_NONE, at, (int64_t)insn->step.pc + i->imm + offset);
        return false;
    case INSN_lui: *value = opaque(REGISTER_NONE, 0, i->imm + offset); return false;
    case INSN_addi:
    case INSN_addiw:
        if (i->rs1 != 0 && i->id == INSN_addiw)
            return false;
        offset += i->imm;
        *value = opaque(REGISTER_NONE, 0, offset);
        *reg = i->rs1;
        return i->rs1 != 0;
    case INSN_add: /* the assembler's `mv` of compressed code */
        if (i->rs1 != 0 && i->rs2 != 0)
            return false;
        *reg = i->rs1 ? i->rs1 : i->rs2;
        return *reg != 0;
    default: return false;
    }
}

struct value function_value(const struct function *function, unsigned node, int skip, unsigned reg)
{
    struct value value = opaque(REGISTER_NONE, 0, 0);
    int at = function_last(function, node) - skip;
    for (unsigned steps = 0; steps < MOST_STEPS && reg != 0 && reg != REGISTER_NONE; steps++) {
        for (; at >= function_first(function, node); at--)
            if (function_changes(&function->cfg->insns[at], reg))
                break;
        if (at >= function_first(function, node)) {
            if (!undo(&function->cfg->insns[at], at, &reg, &value))
                return value;
            at--;
            continue;
        }
        unsigned before = same_before(function, node, reg);
        if (before == NODE_NONE)
            return opaque(reg, -2 - function_first(function, node), value.offset);
        node = before;
        at = function_last(function, node);
    }
    return reg == 0 || reg == REGISTER_NONE ? opaque(REGISTER_NONE, 0, value.offset)
                                            : opaque(reg, -1, value.offset);
}

struct value function_value_before(const struct function *function, unsigned node, unsigned reg)
{
    unsigned before = same_before(function, node, reg);
    if (before == NODE_NONE)
        return opaque(reg, -2 - function_first(function, node), 0);
    return function_value(function, before, 0, reg);
}

struct loop_ends function_loop_ends(const struct function *function, unsigned loop)
{
    const struct loop *l = &function->loops.list[loop];
    const struct digraph *graph = &function->part->graph;
    struct loop_ends ends = {.out = NODE_NONE, .latch = NODE_NONE};
    for (unsigned i = 0; i < l->count; i++) {
        const unsigned node = function->loops.members[l->first + i];
        for (unsigned j = graph->first[node]; j < graph->first[node + 1]; j++) {
            const bool leaves = !loops_contain(&function->loops, loop, graph->to[j]),
                       returns = graph->to[j] == l->header;
            ends.ways += leaves;
            ends.backs += returns;
            ends.out = leaves ? node : ends.out;
            ends.latch = returns ? node : ends.latch;
        }
    }
    return ends;
}
