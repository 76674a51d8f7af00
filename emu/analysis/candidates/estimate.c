#include "emu/analysis/candidates/search.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

enum { MOST_ROUNDS = 1 << 20 }; /* a block that needs more rounds is no candidate */

/* What a block accesses: loads, stores, and the lines that they bring and take. */
struct accesses {
    double loads, stores;
    double load_lines, store_lines; /* N_LD * Coal_LD * Miss_LD; N_ST * Coal_ST */
    double loaded_lines;            /* N_LD * Coal_LD */
};

static double tx_of(const struct candidate_model *m, double values, struct accesses a)
{
    return values - (a.load_lines + a.stores * m->lanes + a.store_lines);
}

static double rx_of(const struct candidate_model *m, double values, struct accesses a)
{
    return values - (a.load_lines * m->line_ratio + a.store_lines / 4);
}

static struct accesses accesses_of(const struct candidate_model *m, double loads, double stores)
{
    return (struct accesses){.loads = loads,
                             .stores = stores,
                             .load_lines = loads * m->coalesced * m->load_misses,
                             .store_lines = stores * m->coalesced};
}

double candidate_tx(const struct candidate_model *m, double registers, double loads, double stores)
{
    return tx_of(m, registers * m->lanes, accesses_of(m, loads, stores));
}

double candidate_rx(const struct candidate_model *m, double registers, double loads, double stores)
{
    return rx_of(m, registers * m->lanes, accesses_of(m, loads, stores));
}

/* Adds to what the candidate saves: it sends and returns so many registers, or makes so many accesses, with that weight. */
static void add_saved(const struct candidate_search *s, struct candidate *c, struct candidate_weight weight,
                      struct accesses accesses)
{
    c->saved[weight.power] -= weight.times * (tx_of(s->model, 0, accesses) + rx_of(s->model, 0, accesses));
}

static void add_cost(struct candidate *c, struct candidate_weight weight)
{
    c->saved[weight.power] -= weight.times * (c->tx_values + c->rx_values);
}

double candidate_lines(const struct candidate *c)
{
    const double accesses = c->loads + c->stores;
    return accesses > 0 ? (c->loaded_lines + c->store_lines) / accesses : 0;
}

double candidate_misses(const struct candidate *c)
{
    return c->loaded_lines > 0 ? c->load_lines / c->loaded_lines : 0;
}

struct candidate_sets block_sets(const struct candidate_region *r, unsigned node)
{
    struct candidate_sets sets = {0};
    for (int i = block_first(r, node); i <= block_last(r, node); i++) {
        const struct insn_registers *regs = &r->f->cfg->insns[i].regs;
        sets.uses |=
            (register_bit(regs->rs1) | register_bit(regs->rs2) | register_bit(regs->rs3)) & ~sets.defines;
        sets.defines |= register_bit(regs->rd);
    }
    return sets;
}

/* Returns the most registers that are live at a time in a node, with those that are live behind it. */
static unsigned most_live(const struct candidate_region *r, unsigned node, uint64_t behind)
{
    unsigned most = (unsigned)__builtin_popcountll(behind);
    for (int i = block_last(r, node); i >= block_first(r, node); i--) {
        const struct insn_registers *regs = &r->f->cfg->insns[i].regs;
        behind &= ~register_bit(regs->rd);
        behind |= register_bit(regs->rs1) | register_bit(regs->rs2) | register_bit(regs->rs3);
        const unsigned live = (unsigned)__builtin_popcountll(behind);
        most = live > most ? live : most;
    }
    return most;
}

unsigned candidate_live_of(const struct candidate_search *s, const struct function *f)
{
    unsigned most = 0;
    for (unsigned node = 0; node < f->part->count; node++)
        for (int i = function_first(f, node); i <= function_last(f, node); i++) {
            const unsigned live = (unsigned)__builtin_popcountll(s->live.in[i].any);
            most = live > most ? live : most;
        }
    return most;
}

void candidate_registers(const struct candidate_search *s, const struct candidate_region *r,
                         struct candidate *c)
{
    const struct digraph *graph = &r->f->part->graph;
    uint64_t *in = alloc(graph->nodes + 1, sizeof *in), written = 0;
    for (unsigned i = 0; i < r->count; i++)
        written |= block_sets(r, r->nodes[i]).defines;
    c->out = written & s->live.in[r->stop].any;
    for (bool grows = true; grows;) {
        grows = false;
        for (unsigned i = r->count; i-- > 0;) {
            unsigned node = r->nodes[i];
            struct candidate_sets sets = block_sets(r, node);
            uint64_t out = 0;
            for (unsigned j = graph->first[node]; j < graph->first[node + 1]; j++)
                out |= graph->to[j] == r->end || node == r->last ? c->out : in[graph->to[j]];
            uint64_t before = sets.uses | (out & ~sets.defines);
            grows |= before != in[node];
            in[node] = before;
            c->behind = node == r->entry ? out : c->behind;
            const unsigned live = most_live(r, node, out);
            c->live = live > c->live ? live : c->live;
        }
    }
    c->in = in[r->entry];
    c->function_live = s->function_live;
    free(in);
}

/* Counts an instruction: in *accesses, and in the candidate's other counts. */
static void count_insn(const struct candidate_search *s, const struct cfg_insn *insn,
                       struct accesses *accesses, struct candidate *c)
{
    const struct candidate_model *m = s->model;
    double coalesced = m->coalesced, missed = m->load_misses;
    const struct insn *i = &insn->step.insn;
    const struct insn_info *info = &insn_table[i->id];
    bool own = info->access != ACCESS_NONE && i->rs1 == SP;
    bool shifted = (i->id == INSN_addiw && i->imm == 0) || (i->id == INSN_slli && i->imm == 32);
    if (info->access != ACCESS_NONE && m->measured)
        (void)m->measured(m->context, insn->step.pc, &coalesced, &missed);
    const bool parameter =
        m->held && lanes_kind_of(&s->lanes.before[insn - s->cfg->insns], insn->regs.rs1) == LANES_SAME;
    if (info->access == ACCESS_LOAD && !own && !parameter) {
        accesses->loads++;
        accesses->load_lines += coalesced * missed;
        accesses->loaded_lines += coalesced;
    }
    if (info->access == ACCESS_STORE && !own) {
        accesses->stores++;
        accesses->store_lines += coalesced;
    }
    c->stack += own;
    c->extensions += shifted || i->id == INSN_sext_b || i->id == INSN_sext_h || i->id == INSN_zext_h;
    c->floats |= insn_is_float(info);
    int coordinate = info->iclass == CLASS_CSR ? candidate_coordinate(i) : -1;
    if (coordinate >= 0)
        c->coordinates |= UINT32_C(1) << coordinate;
}

static void add_accesses(struct accesses *to, double times, struct accesses more)
{
    to->loads += times * more.loads;
    to->stores += times * more.stores;
    to->load_lines += times * more.load_lines;
    to->store_lines += times * more.store_lines;
    to->loaded_lines += times * more.loaded_lines;
}

/* The region's accesses are `fixed` in each execution, and `round` in each round of its first loop. */
static void estimate(const struct candidate_search *s, struct candidate *c, struct accesses fixed,
                     struct accesses round, double rounds)
{
    struct accesses all = fixed;
    add_accesses(&all, rounds, round);
    c->loads = all.loads;
    c->stores = all.stores;
    c->load_lines = all.load_lines;
    c->store_lines = all.store_lines;
    c->loaded_lines = all.loaded_lines;
    c->tx = tx_of(s->model, c->tx_values, all);
    c->rx = rx_of(s->model, c->rx_values, all);
    c->tag = (c->tx < 0 ? CANDIDATE_SAVES_TX : 0) | (c->rx < 0 ? CANDIDATE_SAVES_RX : 0);
}

/* Sets the condition if more than one round is needed. Returns whether the region is a candidate. */
static bool worth_it(const struct candidate_search *s, struct candidate *c, struct accesses fixed,
                     struct accesses round)
{
    double rounds = c->trip.kind == TRIP_STATIC ? (double)c->trip.count : 1;
    estimate(s, c, fixed, round, rounds);
    double change = c->tx + c->rx;
    if (change < 0 || c->trip.kind != TRIP_KNOWN)
        return change < 0;
    estimate(s, c, fixed, round, 2);
    double gain = change - (c->tx + c->rx);
    if (gain <= 0 || change / gain >= MOST_ROUNDS)
        return false;
    c->threshold = (uint64_t)(change / gain) + 2; /* the fewest rounds whose change is below 0 */
    estimate(s, c, fixed, round, (double)c->threshold);
    return true;
}

static double values_of_kind(const struct candidate_model *m, enum lanes_kind kind)
{
    return !m->held || kind == LANES_VARYING ? m->lanes : kind == LANES_AFFINE ? 2 : 1;
}

double candidate_values(const struct candidate_search *s, int at, uint64_t registers)
{
    double values = 0;
    for (uint64_t left = registers; left; left &= left - 1)
        values +=
            values_of_kind(s->model, lanes_kind_of(&s->lanes.before[at], (unsigned)__builtin_ctzll(left)));
    return values;
}

/* Counts what is sent and returned, each as what its lanes hold. */
static void count_registers(const struct candidate_search *s, const struct candidate_region *r,
                            struct candidate *c)
{
    const struct lanes_sets *begin = &s->lanes.before[r->begin], *end = &s->lanes.before[r->stop];
    c->reg_tx = (unsigned)(__builtin_popcountll(c->in) + __builtin_popcount(c->coordinates));
    c->reg_rx = (unsigned)__builtin_popcountll(c->out);
    c->tx_values = candidate_values(s, r->begin, c->in);
    c->rx_values = candidate_values(s, r->stop, c->out);
    c->same = (uint32_t)~begin->apart;
    for (unsigned reg = 0; reg < REGISTERS; reg++) {
        c->sent_as[lanes_kind_of(begin, reg)] += c->in >> reg & 1;
        c->returned_as[lanes_kind_of(end, reg)] += c->out >> reg & 1;
    }
    for (uint32_t left = c->coordinates; left; left &= left - 1) {
        const enum lanes_kind kind = lanes_of_coordinate((unsigned)__builtin_ctz(left));
        c->tx_values += values_of_kind(s->model, kind);
        c->sent_as[kind]++;
    }
}

bool candidate_estimate(const struct candidate_search *s, const struct candidate_region *r,
                        struct candidate *c)
{
    const struct cfg *cfg = s->cfg;
    struct accesses fixed = {0}, round = {0};
    unsigned loop = block_first_loop(r);
    if (loop != NODE_NONE)
        c->trip = r->trips[loop];
    for (unsigned i = 0; i < r->count; i++) {
        unsigned node = r->nodes[i];
        bool rounds = loop != NODE_NONE && loops_contain(&r->f->loops, loop, node);
        struct accesses *to = rounds ? &round : &fixed;
        double times = block_times(r, node, loop);
        struct accesses own = {0};
        c->insns += (unsigned)(block_last(r, node) - block_first(r, node) + 1);
        for (int at = block_first(r, node); at <= block_last(r, node); at++)
            count_insn(s, &cfg->insns[at], &own, c);
        add_accesses(to, times, own);
        add_saved(s, c, block_weight(r, r->f->loops.inner[node]), own);
    }
    if (!(fixed.loads + fixed.stores + round.loads + round.stores > 0))
        return false;
    candidate_registers(s, r, c);
    count_registers(s, r, c);
    add_cost(
        c, block_weight(r, loop != NODE_NONE ? r->f->loops.list[loop].parent : r->f->loops.inner[r->entry]));
    c->begin = cfg->insns[r->begin].step.pc;
    c->end = cfg->insns[r->stop].step.pc;
    c->function = cfg->insns[r->f->part->entry].step.pc;
    return worth_it(s, c, fixed, round);
}

double candidate_gain(const struct candidate_search *s, const struct candidate_region *r, unsigned node,
                      int at)
{
    struct candidate c = {.loads = 0};
    struct accesses own = {0};
    count_insn(s, &s->cfg->insns[at], &own, &c);
    return -block_times(r, node, NODE_NONE) * (tx_of(s->model, 0, own) + rx_of(s->model, 0, own));
}
