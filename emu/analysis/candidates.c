#include "emu/analysis/candidates.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/analysis/candidates/choose.h"
#include "emu/analysis/liveness.h"
#include "emu/sim/alloc.h"
#include "isa/csr.h"

enum {
    MOST_ENDS = 16,        /* post-dominators of an entry that are tried as ends */
    MOST_ROUNDS = 1 << 20, /* a block that needs more rounds is no candidate */
    /* What parts of basic blocks have to save, in addresses of 8 bytes: what the equations leave out, headers, addresses and mask of
     * a packet and its answer (emu/tom: 2 * 16 + 20 + 4 bytes). Otherwise each store of a constant would be a block. */
    LEAST_OF_PARTS = 7,
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

/* Returns why no block may have the instruction, or NULL. */
static const char *obstacle_of(const struct cfg_insn *insn)
{
    const struct insn *i = &insn->step.insn;
    const struct insn_info *info = &insn_table[i->id];
    switch ((enum insn_class)info->iclass) {
    case CLASS_AMO: return "it has an atomic operation";
    case CLASS_FENCE: return "it has a fence";
    case CLASS_SYSTEM: return "it calls the environment";
    case CLASS_HINT: return "it has a hint";
    case CLASS_CUSTOM: return "it has a custom instruction";
    case CLASS_CSR:
        if (coordinate_of(i) >= 0)
            return NULL;
        return ((unsigned)i->imm & 0xfff) == CSR_sbarrier ? "it has a barrier" : "it accesses a CSR";
    default: return NULL;
    }
}

static bool stands_alone(void *context, const struct cfg_insn *insn)
{
    (void)context;
    return insn->step.flow & FLOW_RETURN || obstacle_of(insn) != NULL;
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
    bool *taken;        /* likewise: a block that begins with it has been found */
    struct candidates found;
    size_t room;
    struct candidate
        best; /* of the function, if best_known: with the least change, whether it is a candidate or not */
    bool best_known;
    unsigned explained;     /* the loop that is refused; NODE_NONE: the function is */
    unsigned function_live; /* most registers that are live in it at a time */
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

/* Regions: the nodes between an entry and an end. The first node may lack its first instructions, and `last`, the only node that
 * leads to the end, its last ones. */

struct region {
    const struct function *f;
    const struct trip *trips; /* by loop */
    unsigned entry, end;
    int begin, stop; /* first instruction, and the one that control reaches when the region ends */
    unsigned last;   /* the node that lacks instructions at its end; NODE_NONE: none */
    unsigned *nodes, count, insns;
    bool *inside;
};

static int first_of(const struct region *r, unsigned node)
{
    return node == r->entry ? r->begin : function_first(r->f, node);
}

/* Returns whether the region lacks instructions of its first node, so that it has no loop that begins there. */
static bool is_cut(const struct region *r)
{
    return r->begin != function_first(r->f, r->entry) || r->last == r->entry;
}

static int last_of(const struct region *r, unsigned node)
{
    return node == r->last ? r->stop - 1 : function_last(r->f, node);
}

static const char *ending_of(unsigned marks)
{
    return marks & CFG_RETURNS         ? "it returns"
           : marks & CFG_CALLS_UNKNOWN ? "it calls a function by a register"
           : marks & CFG_CALLS         ? "it calls a function"
           : marks & CFG_JUMPS_UNKNOWN ? "it has an indirect jump"
                                       : "its code ends";
}

/* Returns why no region may have the node, or NULL. Sets *at to the instruction. */
static const char *node_obstacle(const struct search *s, const struct function *f, unsigned node, int *at)
{
    const struct cfg_block *block = function_block(f, node);
    for (int i = block->first; i < block->first + block->count; i++) {
        const struct cfg_insn *insn = &s->cfg->insns[i];
        bool access = insn_table[insn->step.insn.id].access != ACCESS_NONE;
        const char *obstacle = obstacle_of(insn);
        *at = i;
        if (obstacle)
            return obstacle;
        if (access && s->scratch[i] & register_bit(insn->regs.rs1))
            return s->model->known_only ? "it accesses memory through a pointer that was loaded"
                                        : "it may access the scratchpad";
    }
    return block->marks ? ending_of(block->marks) : NULL;
}

/* Collects the region's nodes. Returns NULL, or why it can be no block: a node is not allowed, it has too many instructions, or another
 * way in or out; *at is the instruction. */
static const char *collect(const struct search *s, struct region *r, int *at)
{
    const struct function *f = r->f;
    const char *obstacle;
    r->nodes[r->count++] = r->entry;
    r->inside[r->entry] = true;
    for (unsigned i = 0; i < r->count; i++) {
        unsigned node = r->nodes[i];
        assert(node < f->part->count); /* what leads to the exit has an obstacle */
        if ((obstacle = node_obstacle(s, f, node, at)))
            return obstacle;
        r->insns += (unsigned)function_block(f, node)->count;
        if (r->insns > CANDIDATE_INSNS)
            return "it has too many instructions";
        for (unsigned j = f->part->graph.first[node]; j < f->part->graph.first[node + 1]; j++) {
            unsigned to = f->part->graph.to[j];
            if (to == r->end || r->inside[to])
                continue;
            r->inside[to] = true;
            r->nodes[r->count++] = to;
        }
    }
    for (unsigned i = 1; i < r->count; i++) {
        *at = function_first(f, r->nodes[i]);
        if (!dominates(&f->dominators, r->entry, r->nodes[i]))
            return "code outside of it jumps into it";
    }
    return NULL;
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

/* Returns whether the region has all of a loop. */
static bool has_loop(const struct region *r, unsigned loop)
{
    const struct loops *loops = &r->f->loops;
    for (unsigned i = 0; i < loops->list[loop].count; i++)
        if (!r->inside[loops->members[loops->list[loop].first + i]])
            return false;
    return loops->list[loop].header != r->entry || !is_cut(r);
}

/* Returns how often each execution of the region executes the node at least: a product of static trip counts, or 0. Leaves out
 * the rounds of loop `but`. */
static double times_of(const struct region *r, unsigned node, unsigned but)
{
    const struct function *f = r->f;
    double times = 1;
    for (unsigned loop = f->loops.inner[node]; loop != NODE_NONE; loop = f->loops.list[loop].parent) {
        unsigned header = f->loops.list[loop].header;
        if (!has_loop(r, loop))
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
    if (is_cut(r))
        return NODE_NONE;
    for (unsigned loop = loops->inner[r->entry]; loop != NODE_NONE; loop = loops->list[loop].parent) {
        if (loops->list[loop].header != r->entry)
            break;
        found = loop;
    }
    return found != NODE_NONE && has_loop(r, found) ? found : NODE_NONE;
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
    for (int i = first_of(r, node); i <= last_of(r, node); i++) {
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
    for (int i = last_of(r, node); i >= first_of(r, node); i--) {
        const struct insn_registers *regs = &r->f->cfg->insns[i].regs;
        behind &= ~register_bit(regs->rd);
        behind |= register_bit(regs->rs1) | register_bit(regs->rs2) | register_bit(regs->rs3);
        const unsigned live = (unsigned)__builtin_popcountll(behind);
        most = live > most ? live : most;
    }
    return most;
}

static unsigned most_live_of_function(const struct search *s, const struct function *f)
{
    unsigned most = 0;
    for (unsigned node = 0; node < f->part->count; node++)
        for (int i = function_first(f, node); i <= function_last(f, node); i++) {
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
    c->out = written & s->live.in[r->stop].any;
    for (bool grows = true; grows;) {
        grows = false;
        for (unsigned i = r->count; i-- > 0;) {
            unsigned node = r->nodes[i];
            struct flow_sets sets = sets_of(r, node);
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
        c->insns += (unsigned)(last_of(r, node) - first_of(r, node) + 1);
        for (int at = first_of(r, node); at <= last_of(r, node); at++)
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
    c->begin = cfg->insns[r->begin].step.pc;
    c->end = cfg->insns[r->stop].step.pc;
    c->function = cfg->insns[r->f->part->entry].step.pc;
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

static struct region region_of(const struct search *s, const struct function *f, unsigned entry, unsigned end)
{
    const size_t nodes = f->part->graph.nodes + 1;
    return (struct region){.f = f,
                           .trips = s->trips,
                           .entry = entry,
                           .end = end,
                           .begin = function_first(f, entry),
                           .stop = end < f->part->count ? function_first(f, end) : CFG_NONE,
                           .last = NODE_NONE,
                           .nodes = alloc(nodes, sizeof(unsigned)),
                           .inside = alloc(nodes, sizeof(bool))};
}

static void region_free(struct region *r)
{
    free(r->nodes);
    free(r->inside);
}

static void try_region(struct search *s, const struct region *r)
{
    struct candidate c = {.trip = {.kind = TRIP_UNKNOWN, .step_register = REGISTER_NONE}};
    const unsigned loop = first_loop(r);
    bool found = look_at(s, r, &c);
    if (is_cut(r) || r->last != NODE_NONE)
        found = found && c.tx + c.rx < -LEAST_OF_PARTS;
    if (found)
        add(s, &c);
    if (found && loop != NODE_NONE)
        s->taken[loop] = true;
    if (c.loads + c.stores > 0 && (!s->best_known || c.tx + c.rx < s->best.tx + s->best.rx)) {
        s->best = c;
        s->best_known = true;
    }
}

/* What an instruction of the node saves. */
static double gain_of(const struct search *s, const struct region *r, unsigned node, int at)
{
    struct candidate c = {.loads = 0};
    struct accesses own = {0};
    count_insn(s, &s->cfg->insns[at], &own, &c);
    return -times_of(r, node, NODE_NONE) * (tx_of(s->model, 0, own) + rx_of(s->model, 0, own));
}

/* Returns the instruction of the region's first node from which on it saves most, by the registers that are read then. `behind` are
 * those that the rest of the region reads. */
static int best_begin(const struct search *s, const struct region *r, uint64_t behind)
{
    int best = r->begin;
    double lost = 0, least = 0;
    for (int i = r->begin; i <= last_of(r, r->entry); i++)
        lost += gain_of(s, r, r->entry, i);
    for (int i = last_of(r, r->entry); i >= r->begin; i--) {
        const struct insn_registers *regs = &s->cfg->insns[i].regs;
        behind &= ~register_bit(regs->rd);
        behind |= register_bit(regs->rs1) | register_bit(regs->rs2) | register_bit(regs->rs3);
        lost -= gain_of(s, r, r->entry, i);
        const double change = s->model->lanes * __builtin_popcountll(behind) + lost;
        if (i == last_of(r, r->entry) || change <= least) {
            best = i;
            least = change;
        }
    }
    return best;
}

/* Returns the instruction of node `last` in front of which the region should end, by the registers that are returned then. */
static int best_stop(const struct search *s, const struct region *r, unsigned last, int stop)
{
    uint64_t written = 0;
    double lost = 0, least = 0;
    int best = stop, first = first_of(r, last), end = function_last(r->f, last) + 1;
    const int final = r->last == last ? r->stop : end;
    for (unsigned i = 0; i < r->count; i++)
        written |= r->nodes[i] == last ? 0 : sets_of(r, r->nodes[i]).defines;
    for (int i = first; i < final; i++)
        lost += gain_of(s, r, last, i);
    for (int i = first; i < final; i++) {
        written |= register_bit(s->cfg->insns[i].regs.rd);
        lost -= gain_of(s, r, last, i);
        const int next = i + 1 < final ? i + 1 : stop;
        const double change = s->model->lanes * __builtin_popcountll(written & s->live.in[next].any) + lost;
        if (i == first || change <= least) {
            best = next;
            least = change;
        }
    }
    return best;
}

/* Returns the only node that leads to the region's end, if it leads nowhere else. */
static unsigned last_node(const struct region *r)
{
    const struct digraph *graph = &r->f->part->graph;
    unsigned found = NODE_NONE, ways = 0;
    for (unsigned i = 0; i < r->count; i++)
        for (unsigned j = graph->first[r->nodes[i]]; j < graph->first[r->nodes[i] + 1]; j++)
            if (graph->to[j] == r->end) {
                ways++;
                found = r->nodes[i];
            }
    return ways == 1 && graph->first[found + 1] - graph->first[found] == 1 ? found : NODE_NONE;
}

/* Returns whether the region comes back to its first node. */
static bool comes_back(const struct region *r)
{
    for (unsigned i = r->f->reverse.first[r->entry]; i < r->f->reverse.first[r->entry + 1]; i++)
        if (r->inside[r->f->reverse.to[i]])
            return true;
    return false;
}

/* Tries the region without the first instructions of its first node, and without the last ones of its last, where that saves more. */
static void try_parts(struct search *s, const struct region *whole)
{
    struct region r = *whole;
    struct candidate c = {.trip = {.kind = TRIP_UNKNOWN}};
    const bool single = r.last == r.entry;
    const unsigned last = single ? r.entry : last_node(&r);
    const bool late = single || !comes_back(&r);
    find_registers(s, &r, &c);
    const int begin = late ? best_begin(s, &r, c.behind) : r.begin;
    int stop = r.stop;
    r.begin = begin;
    if (last != NODE_NONE)
        stop = best_stop(s, &r, last, r.stop);
    if (begin != whole->begin)
        try_region(s, &r);
    if (stop == whole->stop)
        return;
    r.stop = stop;
    r.last = last;
    try_region(s, &r);
    r.begin = whole->begin;
    if (begin != r.begin)
        try_region(s, &r);
}

/* Tries the block from an entry to one of its post-dominators, or parts of it. Returns false if no longer block can be a candidate,
 * either. */
static bool try_end(struct search *s, const struct function *f, unsigned entry, unsigned end, bool parts)
{
    struct region r = region_of(s, f, entry, end);
    int at;
    bool valid = collect(s, &r, &at) == NULL;
    if (valid && parts)
        try_parts(s, &r);
    else if (valid)
        try_region(s, &r);
    region_free(&r);
    return valid;
}

/* Tries parts of a basic block whose last instruction is a branch. */
static void try_inside(struct search *s, const struct function *f, unsigned node)
{
    struct region r = region_of(s, f, node, NODE_NONE);
    int at;
    if (function_block(f, node)->count > 1 && s->cfg->insns[function_last(f, node)].step.flow & FLOW_BRANCH &&
        !node_obstacle(s, f, node, &at)) {
        r.nodes[r.count++] = node;
        r.inside[node] = true;
        r.last = node;
        r.stop = function_last(f, node);
        r.insns = (unsigned)function_block(f, node)->count - 1;
        if (r.insns <= CANDIDATE_INSNS) {
            try_region(s, &r);
            try_parts(s, &r);
        }
    }
    region_free(&r);
}

static void try_entry(struct search *s, const struct function *f, unsigned entry, bool parts)
{
    unsigned end = f->post.parent[entry];
    for (unsigned i = 0; i < MOST_ENDS && end != NODE_NONE && end != f->part->count; i++) {
        if (!try_end(s, f, entry, end, parts))
            break;
        end = f->post.parent[end];
    }
    if (parts)
        try_inside(s, f, entry);
}

/* Returns whether the node is in a loop that can be a block. Its parts would only compete with it, at the fewest rounds with which it is
 * worth it. */
static bool in_taken_loop(const struct search *s, const struct function *f, unsigned node)
{
    for (unsigned loop = f->loops.inner[node]; loop != NODE_NONE; loop = f->loops.list[loop].parent)
        if (s->taken[loop])
            return true;
    return false;
}

/* Why loops and functions are not taken. */

__attribute__((format(printf, 5, 6))) static void refuse(struct search *s, const struct function *f,
                                                         int begin, int where, const char *format, ...)
{
    struct candidates *found = &s->found;
    if ((found->refused & (found->refused - 1)) == 0)
        found->refusals = alloc_resize(found->refusals, 2 * (found->refused + 1) * sizeof *found->refusals);
    struct candidate_refusal *refusal = &found->refusals[found->refused++];
    int last = begin;
    for (unsigned i = 0; s->explained != NODE_NONE && i < f->loops.list[s->explained].count; i++) {
        const int end = function_last(f, f->loops.members[f->loops.list[s->explained].first + i]);
        last = end > last ? end : last;
    }
    *refusal = (struct candidate_refusal){.last = s->cfg->insns[last].step.pc,
                                          .function = s->cfg->insns[f->part->entry].step.pc,
                                          .begin = s->cfg->insns[begin].step.pc,
                                          .loop = s->explained != NODE_NONE,
                                          .where = where == CFG_NONE ? 0 : s->cfg->insns[where].step.pc};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(refusal->text, sizeof refusal->text, format, arguments);
    va_end(arguments);
}

static const char other_blocks[] = "blocks that share code with it save more, or enough others do (--most)";

/* Tells what a block changes. `rounds` tells of its loop, if it begins with one. */
static void refuse_change(struct search *s, const struct function *f, int begin, int where, const char *what,
                          const struct candidate *c, const char *rounds)
{
    refuse(s, f, begin, where, "%s %+.2f: N_LD %g, N_ST %g, %u registers sent, %u returned%s", what,
           c->tx + c->rx, c->loads, c->stores, c->reg_tx, c->reg_rx, rounds);
}

static void explain_loop(struct search *s, const struct function *f, unsigned loop)
{
    unsigned header = f->loops.list[loop].header, end = header;
    const int begin = function_first(f, header);
    const struct trip *trip = &s->trips[loop];
    int at = CFG_NONE;
    char rounds[96] = "";
    s->explained = loop;
    while (end != NODE_NONE && end != f->part->count && loops_contain(&f->loops, loop, end))
        end = f->post.parent[end];
    struct region r = region_of(s, f, header, end == NODE_NONE ? f->part->count : end);
    struct candidate c = {.trip = {.kind = TRIP_UNKNOWN, .step_register = REGISTER_NONE}};
    const char *reason = collect(s, &r, &at);
    if (!reason && (end == NODE_NONE || end == f->part->count))
        reason = "its paths do not end at one instruction";
    if (trip->kind == TRIP_UNKNOWN)
        (void)snprintf(rounds, sizeof rounds, ", in one round, because %s", trip->unknown);
    else if (trip->kind == TRIP_STATIC)
        (void)snprintf(rounds, sizeof rounds, ", in its %llu rounds", (unsigned long long)trip->count);
    else
        (void)snprintf(rounds, sizeof rounds, ", and more rounds do not pay for them");
    if (reason)
        refuse(s, f, begin, at, "%s", reason);
    else if (look_at(s, &r, &c))
        refuse(s, f, begin, CFG_NONE, "%s", other_blocks);
    else if (!(c.loads + c.stores > 0))
        refuse(s, f, begin, CFG_NONE, "no load or store is executed in each round");
    else
        refuse_change(s, f, begin, CFG_NONE, "it changes bytes by", &c, rounds);
    region_free(&r);
}

/* Returns the first access of the function that is not relative to sp, or CFG_NONE. */
static int first_access(const struct function *f)
{
    for (unsigned node = 0; node < f->part->count; node++)
        for (int i = function_first(f, node); i <= function_last(f, node); i++) {
            const struct insn *insn = &f->cfg->insns[i].step.insn;
            if (insn_table[insn->id].access != ACCESS_NONE && insn->rs1 != SP)
                return i;
        }
    return CFG_NONE;
}

static void explain_function(struct search *s, const struct function *f)
{
    const int begin = f->part->entry, access = first_access(f);
    int at = CFG_NONE;
    s->explained = NODE_NONE;
    if (access == CFG_NONE) {
        refuse(s, f, begin, CFG_NONE, "it has no loads or stores but of its stack");
    } else if (!s->best_known) {
        unsigned node = 0;
        while (function_first(f, node) > access || function_last(f, node) < access)
            node++;
        const char *reason = node_obstacle(s, f, node, &at);
        refuse(s, f, begin, reason ? at : access, "%s",
               reason ? reason : "no block around its accesses is executed as a whole");
    } else if (s->best.tx + s->best.rx < 0) {
        refuse(s, f, begin, CFG_NONE, "%s", other_blocks);
    } else {
        refuse_change(s, f, begin, cfg_at(s->cfg, s->best.begin), "its best block changes bytes by", &s->best,
                      "");
    }
}

/* Keeps the refusals of those that no candidate has. */
static void keep_refusals(struct candidates *found, const struct cfg *cfg)
{
    bool *in = alloc((size_t)cfg->count + 1, sizeof *in);
    size_t kept = 0;
    candidates_mark(found, cfg, in);
    for (size_t i = 0; i < found->refused; i++) {
        const struct candidate_refusal *refusal = &found->refusals[i];
        const struct cfg_function *part = &cfg->functions[cfg->function_at[cfg_at(cfg, refusal->function)]];
        bool taken = refusal->loop && in[cfg_at(cfg, refusal->begin)] && in[cfg_at(cfg, refusal->last)];
        for (unsigned j = 0; !refusal->loop && j < part->count; j++)
            for (int at = cfg->blocks[part->blocks[j]].first, n = cfg->blocks[part->blocks[j]].count; n > 0;
                 n--)
                taken |= in[at++];
        if (!taken)
            found->refusals[kept++] = *refusal;
    }
    found->refused = kept;
    free(in);
}

static void look_at_function(struct search *s, const struct function *f)
{
    s->trips = alloc(f->loops.count + 1, sizeof *s->trips);
    for (unsigned loop = 0; loop < f->loops.count; loop++)
        s->trips[loop] = trip_guess(f, loop);
    s->taken = alloc(f->loops.count + 1, sizeof *s->taken);
    s->best_known = false;
    s->function_live = most_live_of_function(s, f);
    for (unsigned node = 0; node < f->part->count; node++)
        try_entry(s, f, node, false);
    for (unsigned node = 0; node < f->part->count; node++)
        if (!in_taken_loop(s, f, node))
            try_entry(s, f, node, true);
    if (s->model->why)
        explain_function(s, f);
    for (unsigned loop = 0; s->model->why && loop < f->loops.count; loop++)
        explain_loop(s, f, loop);
    free(s->taken);
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
    keep_refusals(&s.found, cfg);
    liveness_free(&s.live);
    free(s.scratch);
    return s.found;
}

void candidates_free(struct candidates *candidates)
{
    free(candidates->list);
    free(candidates->refusals);
    *candidates = (struct candidates){0};
}
