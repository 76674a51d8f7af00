#include "emu/analysis/candidates/search.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/analysis/candidates/choose.h"
#include "emu/sim/alloc.h"
#include "isa/csr.h"

int candidate_coordinate(const struct insn *insn)
{
    unsigned number = (unsigned)insn->imm & 0xfff;
    bool reads = (insn->id == INSN_csrrs || insn->id == INSN_csrrc) && insn->rs1 == 0;
    bool fixed = number >= CSR_sthread_x && number <= CSR_sthread_id && number != CSR_smp;
    return reads && fixed ? (int)(number - CSR_sthread_x) : -1;
}

const char *candidate_obstacle(const struct cfg_insn *insn)
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
        if (candidate_coordinate(i) >= 0)
            return NULL;
        return ((unsigned)i->imm & 0xfff) == CSR_sbarrier ? "it has a barrier" : "it accesses a CSR";
    default: return NULL;
    }
}

struct candidate_region block_of(const struct candidate_search *s, const struct function *f, unsigned entry,
                                 unsigned end)
{
    const size_t nodes = f->part->graph.nodes + 1;
    return (struct candidate_region){.f = f,
                                     .trips = s->trips,
                                     .entry = entry,
                                     .end = end,
                                     .begin = function_first(f, entry),
                                     .stop = end < f->part->count ? function_first(f, end) : CFG_NONE,
                                     .last = NODE_NONE,
                                     .nodes = alloc(nodes, sizeof(unsigned)),
                                     .inside = alloc(nodes, sizeof(bool))};
}

void block_free(struct candidate_region *r)
{
    free(r->nodes);
    free(r->inside);
}

int block_first(const struct candidate_region *r, unsigned node)
{
    return node == r->entry ? r->begin : function_first(r->f, node);
}

bool block_is_cut(const struct candidate_region *r)
{
    return r->begin != function_first(r->f, r->entry) || r->last == r->entry;
}

int block_last(const struct candidate_region *r, unsigned node)
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

const char *block_node_obstacle(const struct candidate_search *s, const struct function *f, unsigned node,
                                int *at)
{
    const struct cfg_block *block = function_block(f, node);
    for (int i = block->first; i < block->first + block->count; i++) {
        const struct cfg_insn *insn = &s->cfg->insns[i];
        bool access = insn_table[insn->step.insn.id].access != ACCESS_NONE;
        const char *obstacle = candidate_obstacle(insn);
        *at = i;
        if (obstacle)
            return obstacle;
        if (access && s->scratch[i] & register_bit(insn->regs.rs1))
            return s->model->known_only ? "it accesses memory through a pointer that was loaded"
                                        : "it may access the scratchpad";
    }
    return block->marks ? ending_of(block->marks) : NULL;
}

const char *block_collect(const struct candidate_search *s, struct candidate_region *r, int *at)
{
    const struct function *f = r->f;
    const char *obstacle;
    r->nodes[r->count++] = r->entry;
    r->inside[r->entry] = true;
    for (unsigned i = 0; i < r->count; i++) {
        unsigned node = r->nodes[i];
        assert(node < f->part->count); /* what leads to the exit has an obstacle */
        if ((obstacle = block_node_obstacle(s, f, node, at)))
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
static bool has_loop(const struct candidate_region *r, unsigned loop)
{
    const struct loops *loops = &r->f->loops;
    for (unsigned i = 0; i < loops->list[loop].count; i++)
        if (!r->inside[loops->members[loops->list[loop].first + i]])
            return false;
    return loops->list[loop].header != r->entry || !block_is_cut(r);
}

double block_times(const struct candidate_region *r, unsigned node, unsigned but)
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

unsigned block_first_loop(const struct candidate_region *r)
{
    const struct loops *loops = &r->f->loops;
    unsigned found = NODE_NONE;
    if (block_is_cut(r))
        return NODE_NONE;
    for (unsigned loop = loops->inner[r->entry]; loop != NODE_NONE; loop = loops->list[loop].parent) {
        if (loops->list[loop].header != r->entry)
            break;
        found = loop;
    }
    return found != NODE_NONE && has_loop(r, found) ? found : NODE_NONE;
}

struct candidate_weight block_weight(const struct candidate_region *r, unsigned loop)
{
    struct candidate_weight weight = {.times = 1};
    for (; loop != NODE_NONE; loop = r->f->loops.list[loop].parent) {
        if (r->trips[loop].kind == TRIP_STATIC)
            weight.times *= (double)r->trips[loop].count;
        else if (r->trips[loop].kind == TRIP_KNOWN && weight.power + 1 < CANDIDATE_POWERS)
            weight.power++;
    }
    return weight;
}
