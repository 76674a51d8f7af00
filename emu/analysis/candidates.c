#include "emu/analysis/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "emu/analysis/candidates_choose.h"
#include "emu/analysis/liveness.h"
#include "emu/sim/alloc.h"
#include "isa/csr.h"

enum {
    MOST_ENDS = 16,        /* post-dominators of an entry that are tried as ends */
    MOST_ROUNDS = 1 << 20, /* a block that needs more rounds is no candidate */
};

/* What a block accesses: loads, stores, and the lines that they bring and take. */
struct accesses {
    double loads, stores;
    double load_lines, store_lines; /* N_LD * Coal_LD * Miss_LD; N_ST * Coal_ST */
    double loaded_lines;            /* N_LD * Coal_LD */
};

static double tx_of(const struct candidate_model *m, double registers, struct accesses a)
{
    return registers * m->lanes - (a.load_lines + a.stores * m->lanes + a.store_lines);
}

static double rx_of(const struct candidate_model *m, double registers, struct accesses a)
{
    return registers * m->lanes - (a.load_lines * m->line_ratio + a.store_lines / 4);
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
    return tx_of(m, registers, accesses_of(m, loads, stores));
}

double candidate_rx(const struct candidate_model *m, double registers, double loads, double stores)
{
    return rx_of(m, registers, accesses_of(m, loads, stores));
}

/* Returns the number of the coordinate that a CSR instruction reads, or -1: it does something else. */
static int coordinate_of(const struct insn *insn)
{
    unsigned number = (unsigned)insn->imm & 0xfff;
    bool reads = (insn->id == INSN_csrrs || insn->id == INSN_csrrc) && insn->rs1 == 0;
    bool fixed = number >= CSR_sthread_x && number <= CSR_sthread_id && number != CSR_smp;
    return reads && fixed ? (int)(number - CSR_sthread_x) : -1;
}

static bool forbidden(void *context, const struct cfg_insn *insn)
{
    (void)context;
    const struct insn *i = &insn->step.insn;
    const struct insn_info *info = &insn_table[i->id];
    switch ((enum insn_class)info->iclass) {
    case CLASS_AMO:
    case CLASS_FENCE:
    case CLASS_SYSTEM:
    case CLASS_HINT:
    case CLASS_CUSTOM: return true;
    case CLASS_CSR: return coordinate_of(i) < 0;
    default: return info->access == ACCESS_BLOCK || info->access == ACCESS_ZERO;
    }
}

static bool stands_alone(void *context, const struct cfg_insn *insn)
{
    return insn->step.flow & FLOW_RETURN || forbidden(context, insn);
}

const struct cfg_options candidate_options = {.alone = stands_alone};

/* The state of a search. */
struct search {
    const struct cfg *cfg;
    const struct candidate_model *model;
    struct liveness live;
    uint64_t *
        scratch; /* by instruction: registers into which the scratchpad's address, or one that is not trusted, may have flowed */
    struct trip *trips; /* by loop of the function that is looked at */
    struct candidates found;
    size_t room;
};

/* The flow of the scratchpad's address. */

static uint64_t scratch_after(const struct search *s, const struct cfg_insn *insn, uint64_t before)
{
    const struct insn_info *info = &insn_table[insn->step.insn.id];
    uint64_t rd = register_bit(insn->regs.rd);
    uint64_t sources =
        register_bit(insn->regs.rs1) | register_bit(insn->regs.rs2) | register_bit(insn->regs.rs3);
    bool reads = info->iclass == CLASS_CSR && (insn->step.insn.imm & 0xfff) == CSR_sshared;
    bool flows = (before & sources) && info->access == ACCESS_NONE;
    bool loads = s->model->known_only && info->access != ACCESS_NONE && info->size == 8 && insn->regs.rd < 32;
    return reads || flows || loads ? before | rd : before & ~rd;
}

static bool add_scratch(struct search *s, int at, uint64_t set)
{
    if (at == CFG_NONE || !(set & ~s->scratch[at]))
        return false;
    s->scratch[at] |= set;
    return true;
}

static void find_scratch(struct search *s)
{
    const struct cfg *cfg = s->cfg;
    s->scratch = alloc((size_t)cfg->count + 1, sizeof *s->scratch);
    for (bool grows = true; grows;) {
        grows = false;
        for (int i = 0; i < cfg->count; i++) {
            uint64_t after = scratch_after(s, &cfg->insns[i], s->scratch[i]);
            grows |= add_scratch(s, cfg->insns[i].next, after);
            grows |= add_scratch(s, cfg->insns[i].target, after);
            for (int j = cfg->insns[i].first; j < cfg->insns[i].last; j++)
                grows |= add_scratch(s, j, after);
        }
    }
}

/* Regions: the nodes between an entry and an end. */

struct region {
    const struct function *f;
    const struct trip *trips; /* by loop */
    unsigned entry, end;
    unsigned *nodes, count, insns;
    bool *inside;
};

static bool node_allowed(const struct search *s, const struct function *f, unsigned node)
{
    const struct cfg_block *block = function_block(f, node);
    if (block->marks)
        return false;
    for (int i = block->first; i < block->first + block->count; i++) {
        const struct cfg_insn *insn = &s->cfg->insns[i];
        bool access = insn_table[insn->step.insn.id].access != ACCESS_NONE;
        if (forbidden(NULL, insn) || (access && s->scratch[i] & register_bit(insn->regs.rs1)))
            return false;
    }
    return true;
}

/* Collects the region's nodes. Returns false if one is not allowed, if there are too many instructions, or if there is another way
 * in or out. */
static bool collect(const struct search *s, struct region *r)
{
    const struct function *f = r->f;
    r->nodes[r->count++] = r->entry;
    r->inside[r->entry] = true;
    for (unsigned i = 0; i < r->count; i++) {
        unsigned node = r->nodes[i];
        if (node == f->part->count || !node_allowed(s, f, node))
            return false;
        r->insns += (unsigned)function_block(f, node)->count;
        if (r->insns > CANDIDATE_INSNS)
            return false;
        for (unsigned j = f->part->graph.first[node]; j < f->part->graph.first[node + 1]; j++) {
            unsigned to = f->part->graph.to[j];
            if (to == r->end || r->inside[to])
                continue;
            r->inside[to] = true;
            r->nodes[r->count++] = to;
        }
    }
    for (unsigned i = 1; i < r->count; i++)
        if (!dominates(&f->dominators, r->entry, r->nodes[i]))
            return false;
    return true;
}

/* Returns whether each round of the loop executes the node. */
static bool in_each_round(const struct function *f, unsigned loop, unsigned node)
{
    unsigned header = f->loops.list[loop].header;
    for (unsigned i = f->reverse.first[header]; i < f->reverse.first[header + 1]; i++) {
        unsigned from = f->reverse.to[i];
        if (loops_contain(&f->loops, loop, from) && !dominates(&f->dominators, node, from))
            return false;
    }
    return true;
}

/* Returns how often each execution of the region executes the node at least: a product of static trip counts, or 0. Leaves out
 * the rounds of loop `but`. */
static double times_of(const struct region *r, unsigned node, unsigned but)
{
    const struct function *f = r->f;
    double times = 1;
    for (unsigned loop = f->loops.inner[node]; loop != NODE_NONE; loop = f->loops.list[loop].parent) {
        unsigned header = f->loops.list[loop].header;
        if (!r->inside[header])
            break;
        if (!in_each_round(f, loop, node))
            return 0;
        if (loop != but && r->trips[loop].kind == TRIP_STATIC)
            times *= (double)r->trips[loop].count;
        node = header;
    }
    return dominates(&f->post, node, r->entry) ? times : 0;
}

/* Returns the outermost loop that begins where the region begins and lies in it, or NODE_NONE. */
static unsigned first_loop(const struct region *r)
{
    const struct loops *loops = &r->f->loops;
    unsigned found = NODE_NONE;
    for (unsigned loop = loops->inner[r->entry]; loop != NODE_NONE; loop = loops->list[loop].parent) {
        if (loops->list[loop].header != r->entry)
            break;
        found = loop;
    }
    for (unsigned i = 0; found != NODE_NONE && i < loops->list[found].count; i++)
        if (!r->inside[loops->members[loops->list[found].first + i]])
            return NODE_NONE;
    return found;
}

/* How often something is executed while the function is executed once: times * n^power, if loops of known trip counts have n
 * rounds. */
struct weight {
    double times;
    unsigned power;
};

/* Returns the weight of what is executed in each round of `loop` (NODE_NONE: outside of all). */
static struct weight weight_in(const struct region *r, unsigned loop)
{
    struct weight weight = {.times = 1};
    for (; loop != NODE_NONE; loop = r->f->loops.list[loop].parent) {
        if (r->trips[loop].kind == TRIP_STATIC)
            weight.times *= (double)r->trips[loop].count;
        else if (r->trips[loop].kind == TRIP_KNOWN && weight.power + 1 < CANDIDATE_POWERS)
            weight.power++;
    }
    return weight;
}

/* Adds to what the candidate saves: it sends and returns so many registers, or makes so many accesses, with that weight. */
static void add_saved(const struct search *s, struct candidate *c, struct weight weight,
                      struct accesses accesses)
{
    c->saved[weight.power] -= weight.times * (tx_of(s->model, 0, accesses) + rx_of(s->model, 0, accesses));
}

static void add_cost(const struct search *s, struct candidate *c, struct weight weight)
{
    c->saved[weight.power] -=
        weight.times * (candidate_tx(s->model, c->reg_tx, 0, 0) + candidate_rx(s->model, c->reg_rx, 0, 0));
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

/* The registers that the region reads before it writes them, and those that it writes. */

struct flow_sets {
    uint64_t uses, defines;
};

static struct flow_sets sets_of(const struct region *r, unsigned node)
{
    struct flow_sets sets = {0};
    for (int i = function_first(r->f, node); i <= function_last(r->f, node); i++) {
        const struct insn_registers *regs = &r->f->cfg->insns[i].regs;
        sets.uses |=
            (register_bit(regs->rs1) | register_bit(regs->rs2) | register_bit(regs->rs3)) & ~sets.defines;
        sets.defines |= register_bit(regs->rd);
    }
    return sets;
}

/* Returns the most registers that are live at a time in a node, with those that are live behind it. */
static unsigned most_live(const struct region *r, unsigned node, uint64_t behind)
{
    unsigned most = (unsigned)__builtin_popcountll(behind);
    for (int i = function_last(r->f, node); i >= function_first(r->f, node); i--) {
        const struct insn_registers *regs = &r->f->cfg->insns[i].regs;
        behind &= ~register_bit(regs->rd);
        behind |= register_bit(regs->rs1) | register_bit(regs->rs2) | register_bit(regs->rs3);
        const unsigned live = (unsigned)__builtin_popcountll(behind);
        most = live > most ? live : most;
    }
    return most;
}

static unsigned most_live_of_function(const struct search *s, const struct region *r)
{
    unsigned most = 0;
    for (unsigned node = 0; node < r->f->part->count; node++)
        for (int i = function_first(r->f, node); i <= function_last(r->f, node); i++) {
            const unsigned live = (unsigned)__builtin_popcountll(s->live.in[i].any);
            most = live > most ? live : most;
        }
    return most;
}

/* Finds what is sent and what is returned. What is returned and not written on all paths is sent, too. */
static void find_registers(const struct search *s, const struct region *r, struct candidate *c)
{
    const struct digraph *graph = &r->f->part->graph;
    uint64_t *in = alloc(graph->nodes + 1, sizeof *in), written = 0;
    for (unsigned i = 0; i < r->count; i++)
        written |= sets_of(r, r->nodes[i]).defines;
    c->out = written & s->live.in[function_first(r->f, r->end)].any;
    for (bool grows = true; grows;) {
        grows = false;
        for (unsigned i = r->count; i-- > 0;) {
            unsigned node = r->nodes[i];
            struct flow_sets sets = sets_of(r, node);
            uint64_t out = 0;
            for (unsigned j = graph->first[node]; j < graph->first[node + 1]; j++)
                out |= graph->to[j] == r->end ? c->out : in[graph->to[j]];
            uint64_t before = sets.uses | (out & ~sets.defines);
            grows |= before != in[node];
            in[node] = before;
            const unsigned live = most_live(r, node, out);
            c->live = live > c->live ? live : c->live;
        }
    }
    c->in = in[r->entry];
    c->function_live = most_live_of_function(s, r);
    free(in);
}

/* Counts an instruction: in *accesses, and in the candidate's other counts. */
static void count_insn(const struct search *s, const struct cfg_insn *insn, struct accesses *accesses,
                       struct candidate *c)
{
    const struct candidate_model *m = s->model;
    double coalesced = m->coalesced, missed = m->load_misses;
    const struct insn *i = &insn->step.insn;
    const struct insn_info *info = &insn_table[i->id];
    bool own = info->access != ACCESS_NONE && i->rs1 == SP;
    bool shifted = (i->id == INSN_addiw && i->imm == 0) || (i->id == INSN_slli && i->imm == 32);
    if (info->access != ACCESS_NONE && m->measured)
        (void)m->measured(m->context, insn->step.pc, &coalesced, &missed);
    if (info->access == ACCESS_LOAD && !own) {
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
    int coordinate = info->iclass == CLASS_CSR ? coordinate_of(i) : -1;
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
static void estimate(const struct search *s, struct candidate *c, struct accesses fixed,
                     struct accesses round, double rounds)
{
    struct accesses all = fixed;
    add_accesses(&all, rounds, round);
    c->loads = all.loads;
    c->stores = all.stores;
    c->load_lines = all.load_lines;
    c->store_lines = all.store_lines;
    c->loaded_lines = all.loaded_lines;
    c->tx = tx_of(s->model, c->reg_tx, all);
    c->rx = rx_of(s->model, c->reg_rx, all);
    c->tag = (c->tx < 0 ? CANDIDATE_SAVES_TX : 0) | (c->rx < 0 ? CANDIDATE_SAVES_RX : 0);
}

/* Sets the condition if more than one round is needed. Returns whether the region is a candidate. */
static bool worth_it(const struct search *s, struct candidate *c, struct accesses fixed,
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

static bool look_at(const struct search *s, const struct region *r, struct candidate *c)
{
    const struct cfg *cfg = s->cfg;
    struct accesses fixed = {0}, round = {0};
    unsigned loop = first_loop(r);
    if (loop != NODE_NONE)
        c->trip = r->trips[loop];
    for (unsigned i = 0; i < r->count; i++) {
        unsigned node = r->nodes[i];
        bool rounds = loop != NODE_NONE && loops_contain(&r->f->loops, loop, node);
        struct accesses *to = rounds ? &round : &fixed;
        double times = times_of(r, node, loop);
        struct accesses own = {0};
        for (int at = function_first(r->f, node); at <= function_last(r->f, node); at++)
            count_insn(s, &cfg->insns[at], &own, c);
        add_accesses(to, times, own);
        add_saved(s, c, weight_in(r, r->f->loops.inner[node]), own);
    }
    if (!(fixed.loads + fixed.stores + round.loads + round.stores > 0))
        return false;
    find_registers(s, r, c);
    c->reg_tx = (unsigned)(__builtin_popcountll(c->in) + __builtin_popcount(c->coordinates));
    c->reg_rx = (unsigned)__builtin_popcountll(c->out);
    add_cost(s, c,
             weight_in(r, loop != NODE_NONE ? r->f->loops.list[loop].parent : r->f->loops.inner[r->entry]));
    c->begin = cfg->insns[function_first(r->f, r->entry)].step.pc;
    c->end = cfg->insns[function_first(r->f, r->end)].step.pc;
    c->function = cfg->insns[r->f->part->entry].step.pc;
    c->insns = r->insns;
    return worth_it(s, c, fixed, round);
}

static void add(struct search *s, const struct candidate *c)
{
    if (s->found.count == s->room) {
        s->room = s->room ? 2 * s->room : 32;
        s->found.list = alloc_resize(s->found.list, s->room * sizeof *s->found.list);
    }
    s->found.list[s->found.count++] = *c;
}

/* Tries the block from an entry to one of its post-dominators. Returns false if no longer block can be a candidate, either. */
static bool try_end(struct search *s, const struct function *f, unsigned entry, unsigned end)
{
    struct region r = {.f = f,
                       .trips = s->trips,
                       .entry = entry,
                       .end = end,
                       .nodes = alloc(f->part->graph.nodes + 1, sizeof *r.nodes),
                       .inside = alloc(f->part->graph.nodes + 1, sizeof *r.inside)};
    struct candidate c = {.trip = {.kind = TRIP_UNKNOWN}};
    bool valid = collect(s, &r);
    if (valid && look_at(s, &r, &c))
        add(s, &c);
    free(r.nodes);
    free(r.inside);
    return valid;
}

static void try_entry(struct search *s, const struct function *f, unsigned entry)
{
    unsigned end = f->post.parent[entry];
    for (unsigned i = 0; i < MOST_ENDS && end != NODE_NONE && end != f->part->count; i++) {
        if (!try_end(s, f, entry, end))
            break;
        end = f->post.parent[end];
    }
}

static void look_at_function(struct search *s, const struct function *f)
{
    s->trips = alloc(f->loops.count + 1, sizeof *s->trips);
    for (unsigned loop = 0; loop < f->loops.count; loop++)
        s->trips[loop] = trip_guess(f, loop);
    for (unsigned node = 0; node < f->part->count; node++)
        try_entry(s, f, node);
    free(s->trips);
}

struct candidates candidates_of(const struct cfg *cfg, const struct candidate_model *model, size_t most)
{
    struct search s = {.cfg = cfg,
                       .model = model,
                       .live = model->kernels ? liveness_of_kernels(cfg) : liveness_of(cfg, NULL)};
    find_scratch(&s);
    for (int i = 0; i < cfg->function_count && !cfg->too_large; i++) {
        struct function f = function_open(cfg, &cfg->functions[i]);
        look_at_function(&s, &f);
        function_close(&f);
    }
    candidates_choose(&s.found, cfg, most);
    liveness_free(&s.live);
    free(s.scratch);
    return s.found;
}

void candidates_free(struct candidates *candidates)
{
    free(candidates->list);
    *candidates = (struct candidates){0};
}
