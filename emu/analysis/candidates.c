#include "emu/analysis/candidates.h"

#include <stdlib.h>

#include "emu/analysis/candidates/choose.h"
#include "emu/analysis/candidates/search.h"
#include "emu/sim/alloc.h"
#include "isa/csr.h"

enum {
    MOST_ENDS = 16, /* post-dominators of an entry that are tried as ends */
    /* What parts of basic blocks have to save, in addresses of 8 bytes: what the equations leave out, headers, addresses and mask of
     * a packet and its answer (emu/tom: 2 * 16 + 20 + 4 bytes). Otherwise each store of a constant would be a block. */
    LEAST_OF_PARTS = 7,
};

static bool stands_alone(void *context, const struct cfg_insn *insn)
{
    (void)context;
    return insn->step.flow & FLOW_RETURN || candidate_obstacle(insn) != NULL;
}

const struct cfg_options candidate_options = {.alone = stands_alone};

/* The flow of the scratchpad's address. */

static uint64_t scratch_after(const struct candidate_search *s, const struct cfg_insn *insn, uint64_t before)
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

static bool add_scratch(struct candidate_search *s, int at, uint64_t set)
{
    if (at == CFG_NONE || !(set & ~s->scratch[at]))
        return false;
    s->scratch[at] |= set;
    return true;
}

static void find_scratch(struct candidate_search *s)
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

static void add(struct candidate_search *s, const struct candidate *c)
{
    if (s->found.count == s->room) {
        s->room = s->room ? 2 * s->room : 32;
        s->found.list = alloc_resize(s->found.list, s->room * sizeof *s->found.list);
    }
    s->found.list[s->found.count++] = *c;
}

static void try_region(struct candidate_search *s, const struct candidate_region *r)
{
    struct candidate c = {.trip = {.kind = TRIP_UNKNOWN, .step_register = REGISTER_NONE}};
    const unsigned loop = block_first_loop(r);
    bool found = candidate_estimate(s, r, &c);
    if (block_is_cut(r) || r->last != NODE_NONE)
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

/* Returns the instruction of the region's first node from which on it saves most, by the registers that are read then. `behind` are
 * those that the rest of the region reads. */
static int best_begin(const struct candidate_search *s, const struct candidate_region *r, uint64_t behind)
{
    int best = r->begin;
    double lost = 0, least = 0;
    for (int i = r->begin; i <= block_last(r, r->entry); i++)
        lost += candidate_gain(s, r, r->entry, i);
    for (int i = block_last(r, r->entry); i >= r->begin; i--) {
        const struct insn_registers *regs = &s->cfg->insns[i].regs;
        behind &= ~register_bit(regs->rd);
        behind |= register_bit(regs->rs1) | register_bit(regs->rs2) | register_bit(regs->rs3);
        lost -= candidate_gain(s, r, r->entry, i);
        const double change = candidate_values(s, i, behind) + lost;
        if (i == block_last(r, r->entry) || change <= least) {
            best = i;
            least = change;
        }
    }
    return best;
}

/* Returns the instruction of node `last` in front of which the region should end, by the registers that are returned then. */
static int best_stop(const struct candidate_search *s, const struct candidate_region *r, unsigned last,
                     int stop)
{
    uint64_t written = 0;
    double lost = 0, least = 0;
    int best = stop, first = block_first(r, last), end = function_last(r->f, last) + 1;
    const int final = r->last == last ? r->stop : end;
    for (unsigned i = 0; i < r->count; i++)
        written |= r->nodes[i] == last ? 0 : block_sets(r, r->nodes[i]).defines;
    for (int i = first; i < final; i++)
        lost += candidate_gain(s, r, last, i);
    for (int i = first; i < final; i++) {
        written |= register_bit(s->cfg->insns[i].regs.rd);
        lost -= candidate_gain(s, r, last, i);
        const int next = i + 1 < final ? i + 1 : stop;
        const double change = candidate_values(s, next, written & s->live.in[next].any) + lost;
        if (i == first || change <= least) {
            best = next;
            least = change;
        }
    }
    return best;
}

/* Returns the only node that leads to the region's end, if it leads nowhere else. */
static unsigned last_node(const struct candidate_region *r)
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
static bool comes_back(const struct candidate_region *r)
{
    for (unsigned i = r->f->reverse.first[r->entry]; i < r->f->reverse.first[r->entry + 1]; i++)
        if (r->inside[r->f->reverse.to[i]])
            return true;
    return false;
}

/* Tries the region without the first instructions of its first node, and without the last ones of its last, where that saves more. */
static void try_parts(struct candidate_search *s, const struct candidate_region *whole)
{
    struct candidate_region r = *whole;
    struct candidate c = {.trip = {.kind = TRIP_UNKNOWN}};
    const bool single = r.last == r.entry;
    const unsigned last = single ? r.entry : last_node(&r);
    const bool late = single || !comes_back(&r);
    candidate_registers(s, &r, &c);
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
static bool try_end(struct candidate_search *s, const struct function *f, unsigned entry, unsigned end,
                    bool parts)
{
    struct candidate_region r = block_of(s, f, entry, end);
    int at;
    bool valid = block_collect(s, &r, &at) == NULL;
    if (valid && parts)
        try_parts(s, &r);
    else if (valid)
        try_region(s, &r);
    block_free(&r);
    return valid;
}

/* Tries parts of a basic block whose last instruction is a branch. */
static void try_inside(struct candidate_search *s, const struct function *f, unsigned node)
{
    struct candidate_region r = block_of(s, f, node, NODE_NONE);
    int at;
    if (function_block(f, node)->count > 1 && s->cfg->insns[function_last(f, node)].step.flow & FLOW_BRANCH &&
        !block_node_obstacle(s, f, node, &at)) {
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
    block_free(&r);
}

static void try_entry(struct candidate_search *s, const struct function *f, unsigned entry, bool parts)
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
static bool in_taken_loop(const struct candidate_search *s, const struct function *f, unsigned node)
{
    for (unsigned loop = f->loops.inner[node]; loop != NODE_NONE; loop = f->loops.list[loop].parent)
        if (s->taken[loop])
            return true;
    return false;
}

static void look_at_function(struct candidate_search *s, const struct function *f)
{
    s->trips = alloc(f->loops.count + 1, sizeof *s->trips);
    for (unsigned loop = 0; loop < f->loops.count; loop++)
        s->trips[loop] = trip_guess(f, loop);
    s->taken = alloc(f->loops.count + 1, sizeof *s->taken);
    s->best_known = false;
    s->function_live = candidate_live_of(s, f);
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
    struct candidate_search s = {.cfg = cfg,
                                 .model = model,
                                 .live = model->kernels ? liveness_of_kernels(cfg) : liveness_of(cfg, NULL),
                                 .lanes = lanes_of(cfg, model->kernels)};
    find_scratch(&s);
    for (int i = 0; i < cfg->function_count && !cfg->too_large; i++) {
        struct function f = function_open(cfg, &cfg->functions[i]);
        look_at_function(&s, &f);
        function_close(&f);
    }
    candidates_choose(&s.found, cfg, most);
    explain_kept(&s.found, cfg);
    liveness_free(&s.live);
    lanes_free(&s.lanes);
    free(s.scratch);
    return s.found;
}

void candidates_free(struct candidates *candidates)
{
    free(candidates->list);
    free(candidates->refusals);
    *candidates = (struct candidates){0};
}
