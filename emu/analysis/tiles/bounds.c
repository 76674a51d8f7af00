#include "emu/analysis/tiles/bounds.h"

#include "isa/csr.h"

static const struct tile_parameter none = {.sum = SUM_UNKNOWN, .divisor = 1};

/* A condition that holds where a node is executed: `below` < 0, or != 0. */
struct condition {
    int below;
    bool differs;
};

static bool is_above(enum insn_id id)
{
    return id == INSN_bge || id == INSN_bgeu || id == INSN_beq;
}

/* What holds behind a branch on the way where it is taken, or not. */
static struct condition condition_of(struct walk *w, unsigned node, bool taken)
{
    const struct walk_branch *branch = &w->branches[node];
    const enum insn_id id = w->f->cfg->insns[function_last(w->f, node)].step.insn.id;
    if (id == INSN_beq || id == INSN_bne)
        return (struct condition){
            is_above(id) == taken ? SUM_UNKNOWN : sum_add(w->sums, branch->left, branch->right, -1), true};
    if (is_above(id) != taken)
        return (struct condition){sum_add(w->sums, branch->left, branch->right, -1), false};
    const int least = sum_add(w->sums, branch->right, branch->left, -1);
    return (struct condition){sum_add(w->sums, least, sum_constant(w->sums, -1), 1), false};
}

static unsigned ways_to(const struct walk *w, unsigned node)
{
    const struct digraph *reverse = &w->f->reverse;
    unsigned ways = 0;
    for (unsigned i = reverse->first[node]; i < reverse->first[node + 1]; i++) {
        const unsigned from = reverse->to[i];
        ways += from < w->f->part->count && w->live[from] &&
                (w->always[from] == NODE_NONE || w->always[from] == node);
    }
    return ways;
}

/* Returns the loop that an edge continues, if it contains a node, or -1. */
static int continues(const struct walk *w, unsigned from, unsigned to, unsigned node)
{
    const struct loops *loops = &w->f->loops;
    for (unsigned i = 0; i < loops->count; i++)
        if (loops->list[i].header == to && loops_contain(loops, i, from) && loops_contain(loops, i, node))
            return (int)i;
    return -1;
}

/* Returns the sum in the round before. */
static int earlier(struct walk *w, int sum, int loop)
{
    const struct sum at = *sums_at(w->sums, sum);
    for (unsigned i = 0; i < at.count; i++)
        for (unsigned j = 0; j < at.terms[i].count; j++) {
            const struct atom *atom = sums_atom_at(w->sums, at.terms[i].atoms[j]);
            if (atom->kind != ATOM_ROUND || atom->number != loop)
                continue;
            struct sum_term term = at.terms[i];
            term.count--;
            for (unsigned k = j; k < term.count; k++)
                term.atoms[k] = term.atoms[k + 1];
            sum = sum_add(w->sums, sum, sum_of_term(w->sums, &term), -1);
            break;
        }
    return sum;
}

/* Returns the factor of a term with the same atoms, or 0. */
static int64_t factor_of(const struct sum *sum, const struct sum_term *term)
{
    for (unsigned i = 0; i < sum->count; i++) {
        bool same = sum->terms[i].count == term->count;
        for (unsigned j = 0; same && j < term->count; j++)
            same = sum->terms[i].atoms[j] == term->atoms[j];
        if (same)
            return sum->terms[i].factor;
    }
    return 0;
}

/* Returns the index's term with the greatest factor, among those that vary. */
static struct sum_term top_of(const struct walk *w, int index)
{
    struct sum_term top = {0};
    const struct sum *sum = sums_at(w->sums, index);
    for (unsigned i = 0; i < sum->count; i++) {
        bool varies = false;
        for (unsigned j = 0; j < sum->terms[i].count; j++)
            varies |= walk_atom_varies(w, sum->terms[i].atoms[j]) != 0;
        if (varies && sum->terms[i].factor > top.factor)
            top = sum->terms[i];
    }
    return top;
}

/* a / d is at most the exact quotient: replaces one that the sum has with a negative factor. Returns a multiple of the sum, or
 * SUM_UNKNOWN. */
static int relaxed(struct walk *w, int sum)
{
    const struct sum at = *sums_at(w->sums, sum);
    for (unsigned i = 0; i < at.count; i++) {
        const struct sum_term term = at.terms[i];
        if (term.count != 1 || term.factor >= 0)
            continue;
        const struct atom atom = *sums_atom_at(w->sums, term.atoms[0]);
        if (atom.kind != ATOM_QUOTIENT || !atom.divisor || !walk_varies(w, atom.operands[0]))
            continue;
        const int others = sum_add(w->sums, sum, sum_of_term(w->sums, &term), -1);
        const int scaled = sum_add(w->sums, sum_constant(w->sums, 0), others, atom.divisor);
        return sum_add(w->sums, scaled, atom.operands[0], term.factor);
    }
    return SUM_UNKNOWN;
}

/* With n0 * below = e0 * index + rest, where all threads have the rest in common, index < -rest / e0. */
static struct tile_parameter solve(struct walk *w, int index, int below)
{
    const struct sum_term top = top_of(w, index);
    int64_t value;
    if (below == SUM_UNKNOWN || top.factor == 0)
        return none;
    const int64_t e0 = factor_of(sums_at(w->sums, below), &top);
    if (e0 <= 0)
        return none;
    const int scaled = sum_add(w->sums, sum_constant(w->sums, 0), below, top.factor);
    const int rest = sum_add(w->sums, scaled, index, -e0);
    if (rest == SUM_UNKNOWN || walk_varies(w, rest))
        return solve(w, index, relaxed(w, below));
    const int limit = sum_add(w->sums, sum_constant(w->sums, 0), rest, -1);
    if (sum_is_constant(w->sums, limit, &value))
        return value <= 0 ? none
                          : (struct tile_parameter){sum_constant(w->sums, (value + e0 - 1) / e0), 1, false};
    const int exact = sum_exact(w->sums, limit, e0);
    return exact == SUM_UNKNOWN ? (struct tile_parameter){limit, e0, false}
                                : (struct tile_parameter){exact, 1, false};
}

/* The condition under which a loop goes on, in the round before the one that it leads to: of counters that differ from their
 * limits, they are at least a step below them. Counters go up. */
static int below_before(struct walk *w, const struct condition *condition, int loop)
{
    const struct atom round = {.kind = ATOM_ROUND, .number = loop, .operands = {-1, -1, -1}};
    const struct sum_term term = {.factor = 1, .count = 1, .atoms = {sums_atom(w->sums, &round)}};
    int below = walk_resolve(w, condition->below);
    if (below == SUM_UNKNOWN)
        return SUM_UNKNOWN;
    int64_t step = condition->differs ? factor_of(sums_at(w->sums, below), &term) : 1;
    if (step < 0) {
        below = sum_add(w->sums, sum_constant(w->sums, 0), below, -1);
        step = -step;
    }
    below = earlier(w, below, loop);
    return sum_add(w->sums, below, sum_constant(w->sums, step ? step - 1 : 0), 1);
}

/* Returns the bound that the branch at the end of a node sets, where another one is executed. */
static struct tile_parameter bound_by(struct walk *w, int index, unsigned branch, unsigned node)
{
    const struct digraph *graph = &w->f->part->graph;
    const struct cfg_insn *insn = &w->f->cfg->insns[function_last(w->f, branch)];
    for (unsigned i = graph->first[branch]; i < graph->first[branch + 1]; i++) {
        const unsigned to = graph->to[i];
        const int loop = to < w->f->part->count ? continues(w, branch, to, node) : -1;
        const bool guard = loop < 0 && to < w->f->part->count && dominates(&w->f->dominators, branch, node) &&
                           dominates(&w->f->dominators, to, node) && ways_to(w, to) == 1;
        if (loop < 0 && !guard)
            continue;
        const bool taken = w->f->part->blocks[to] == w->f->cfg->insns[insn->target].block;
        const struct condition condition = condition_of(w, branch, taken);
        if (condition.below == SUM_UNKNOWN || (condition.differs && guard))
            continue;
        const int below = guard ? walk_resolve(w, condition.below) : below_before(w, &condition, loop);
        const struct tile_parameter bound = solve(w, index, below);
        if (bound.sum != SUM_UNKNOWN)
            return bound;
    }
    return none;
}

static struct tile_parameter bound_by_branches(struct walk *w, int index, unsigned node)
{
    struct tile_parameter best = none;
    int64_t least, value;
    for (unsigned i = 0; i < w->f->part->count; i++) {
        if (!w->live[i] || w->always[i] != NODE_NONE || w->branches[i].left == SUM_UNKNOWN ||
            w->branches[i].right == SUM_UNKNOWN)
            continue;
        const struct tile_parameter bound = bound_by(w, index, i, node);
        if (bound.sum == SUM_UNKNOWN)
            continue;
        const bool constant = sum_is_constant(w->sums, bound.sum, &value);
        if (best.sum == SUM_UNKNOWN ||
            (constant && (!sum_is_constant(w->sums, best.sum, &least) || value < least)))
            best = bound;
    }
    return best;
}

/* Returns whether a limit differs between blocks. Threads that are not counted by rounds may be fewer than such a limit, as
 * where the last block has less to do. */
static bool is_of_block(const struct walk *w, int sum)
{
    const struct sum *at = sums_at(w->sums, sum);
    for (unsigned i = 0; i < at->count; i++)
        for (unsigned j = 0; j < at->terms[i].count; j++) {
            const struct atom *atom = sums_atom_at(w->sums, at->terms[i].atoms[j]);
            if (atom->kind == ATOM_CSR && atom->number >= CSR_sblock_x && atom->number < CSR_sblockdim_x)
                return true;
        }
    return false;
}

struct tile_parameter bounds_of(struct walk *w, int index, unsigned node)
{
    struct tile_parameter bound = bound_by_branches(w, index, node);
    struct sum_term top = top_of(w, index);
    const bool exact =
        bound.sum != SUM_UNKNOWN && ((walk_varies(w, index) & VARIES_ROUND) || !is_of_block(w, bound.sum));
    if (exact || top.count != 1)
        return bound;
    const int64_t factor = top.factor;
    top.factor = 1;
    const int variable = sum_of_term(w->sums, &top);
    const struct atom *atom = sums_atom_at(w->sums, top.atoms[0]);
    if (variable != index) {
        bound = bounds_of(w, variable, node);
        bound.sum = sum_add(w->sums, sum_constant(w->sums, 0), bound.sum, factor);
    } else if (atom->kind == ATOM_CSR && atom->number >= CSR_sthread_x && atom->number < CSR_sblock_x) {
        const struct atom size = {.kind = ATOM_CSR,
                                  .number = atom->number + CSR_sblockdim_x - CSR_sthread_x,
                                  .operands = {-1, -1, -1}};
        bound = (struct tile_parameter){sum_of_atom(w->sums, &size), 1, true};
    }
    return bound;
}
