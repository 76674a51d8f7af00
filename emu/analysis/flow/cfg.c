#include "emu/analysis/flow/cfg.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

/* The state of a construction. */
struct build {
    struct cfg cfg;
    size_t room, function_room, members;
    const struct cfg_options *options;
    int *mark;                  /* by block: the last function that has it */
    struct digraph_edge *edges; /* of a function */
    size_t edge_count, edge_room;
};

static void visit(void *context, const struct reach_step *step)
{
    struct build *build = context;
    struct cfg *cfg = &build->cfg;
    if ((size_t)cfg->count == build->room) {
        build->room = build->room ? 2 * build->room : 256;
        cfg->insns = alloc_resize(cfg->insns, build->room * sizeof *cfg->insns);
    }
    cfg->insns[cfg->count++] = (struct cfg_insn){.step = *step, .regs = insn_registers(&step->insn)};
}

static int by_pc(const void *a, const void *b)
{
    uint64_t x = ((const struct cfg_insn *)a)->step.pc, y = ((const struct cfg_insn *)b)->step.pc;
    return x < y ? -1 : x > y;
}

int cfg_from(const struct cfg *cfg, uint64_t pc)
{
    int low = 0, high = cfg->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (cfg->insns[middle].step.pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int cfg_at(const struct cfg *cfg, uint64_t pc)
{
    int at = cfg_from(cfg, pc);
    return at < cfg->count && cfg->insns[at].step.pc == pc ? at : CFG_NONE;
}

static void connect(struct cfg *cfg, bool within)
{
    for (int i = 0; i < cfg->count; i++) {
        struct cfg_insn *insn = &cfg->insns[i];
        const struct reach_step *step = &insn->step;
        bool ends = (step->flow & FLOW_JUMP) && !cfg_is_call(insn);
        insn->next = ends ? CFG_NONE : cfg_at(cfg, step->pc + step->insn.length);
        insn->target = step->known && !(within && cfg_is_call(insn)) ? cfg_at(cfg, step->target) : CFG_NONE;
        if (step->end) {
            insn->first = cfg_from(cfg, step->pc + step->insn.length);
            insn->last = cfg_from(cfg, step->end);
        }
    }
}

static void add_function(struct build *build, int entry)
{
    struct cfg *cfg = &build->cfg;
    if (entry == CFG_NONE || cfg->function_at[entry] != CFG_NONE)
        return;
    if ((size_t)cfg->function_count == build->function_room) {
        build->function_room = build->function_room ? 2 * build->function_room : 16;
        cfg->functions = alloc_resize(cfg->functions, build->function_room * sizeof *cfg->functions);
    }
    cfg->function_at[entry] = cfg->function_count;
    cfg->functions[cfg->function_count++] = (struct cfg_function){.entry = entry};
}

static void find_functions(struct build *build, const uint64_t *entries, size_t count)
{
    struct cfg *cfg = &build->cfg;
    cfg->function_at = alloc((size_t)cfg->count + 1, sizeof *cfg->function_at);
    for (int i = 0; i < cfg->count; i++)
        cfg->function_at[i] = CFG_NONE;
    for (size_t i = 0; i < count; i++)
        add_function(build, cfg_at(cfg, entries[i]));
    cfg->entry_count = cfg->function_count;
    for (int i = 0; i < cfg->count; i++)
        if (cfg_is_call(&cfg->insns[i]))
            add_function(build, cfg->insns[i].target);
}

static void lead(bool *leads, int insn)
{
    if (insn != CFG_NONE)
        leads[insn] = true;
}

/* Marks the first instructions of blocks. */
static void find_leaders(const struct build *build, bool *leads)
{
    const struct cfg *cfg = &build->cfg;
    const struct cfg_options *options = build->options;
    for (int i = 0; i < cfg->count; i++) {
        const struct cfg_insn *insn = &cfg->insns[i];
        bool alone = options->alone && options->alone(options->context, insn);
        if (cfg->function_at[i] != CFG_NONE || alone)
            leads[i] = true;
        if (insn->step.flow || alone || insn->next != i + 1) {
            lead(leads, insn->next);
            lead(leads, insn->target);
            leads[i + 1] = true;
        }
        for (int j = insn->first; j < insn->last; j++)
            leads[j] = true;
    }
}

static unsigned marks_of(const struct cfg_insn *insn)
{
    unsigned flow = insn->step.flow, marks = 0;
    bool indirect = (flow & FLOW_INDIRECT) && !insn->step.known;
    if (flow & FLOW_CALL)
        marks |= indirect ? CFG_CALLS | CFG_CALLS_UNKNOWN : CFG_CALLS;
    else if (flow & FLOW_RETURN)
        marks |= CFG_RETURNS;
    else if (indirect)
        marks |= CFG_JUMPS_UNKNOWN;
    if (cfg_leaves(insn) && !(marks & (CFG_RETURNS | CFG_JUMPS_UNKNOWN)))
        marks |= CFG_ENDS;
    return marks;
}

static void make_blocks(struct build *build)
{
    struct cfg *cfg = &build->cfg;
    bool *leads = alloc((size_t)cfg->count + 2, sizeof *leads);
    find_leaders(build, leads);
    cfg->blocks = alloc((size_t)cfg->count + 1, sizeof *cfg->blocks);
    for (int i = 0; i < cfg->count; i++) {
        if (i == 0 || leads[i])
            cfg->blocks[cfg->block_count++].first = i;
        struct cfg_block *block = &cfg->blocks[cfg->block_count - 1];
        block->count++;
        block->marks = marks_of(&cfg->insns[i]);
        cfg->insns[i].block = cfg->block_count - 1;
    }
    free(leads);
}

/* Adds the block of an instruction to the function. */
static void add_block(struct build *build, struct cfg_function *function, int number, int insn)
{
    const struct cfg *cfg = &build->cfg;
    if (insn == CFG_NONE || build->mark[cfg->insns[insn].block] == number)
        return;
    int block = cfg->insns[insn].block;
    build->mark[block] = number;
    if ((function->count & (function->count - 1)) == 0)
        function->blocks =
            alloc_resize(function->blocks, 2 * (function->count + 1) * sizeof *function->blocks);
    function->blocks[function->count++] = block;
    build->members += (size_t)cfg->blocks[block].count;
}

/* Collects the blocks of a function: what its entry leads to without calls. */
static void collect(struct build *build, int number)
{
    const struct cfg *cfg = &build->cfg;
    struct cfg_function *function = &build->cfg.functions[number];
    add_block(build, function, number, function->entry);
    for (unsigned i = 0; i < function->count && build->members < CFG_MEMBERS; i++) {
        const struct cfg_block *block = &cfg->blocks[function->blocks[i]];
        const struct cfg_insn *end = &cfg->insns[block->first + block->count - 1];
        add_block(build, function, number, end->next);
        if (!cfg_is_call(end))
            add_block(build, function, number, end->target);
        for (int j = end->first; j < end->last; j++)
            add_block(build, function, number, j);
    }
}

static void add_edge(struct build *build, unsigned from, unsigned to)
{
    if (build->edge_count == build->edge_room) {
        build->edge_room = build->edge_room ? 2 * build->edge_room : 256;
        build->edges = alloc_resize(build->edges, build->edge_room * sizeof *build->edges);
    }
    build->edges[build->edge_count++] = (struct digraph_edge){from, to};
}

/* Makes the function's graph. `node` has room for each block. */
static void make_graph(struct build *build, struct cfg_function *function, unsigned *node)
{
    const struct cfg *cfg = &build->cfg;
    build->edge_count = 0;
    for (unsigned i = 0; i < function->count; i++)
        node[function->blocks[i]] = i;
    for (unsigned i = 0; i < function->count; i++) {
        const struct cfg_block *block = &cfg->blocks[function->blocks[i]];
        const struct cfg_insn *end = &cfg->insns[block->first + block->count - 1];
        if (end->next != CFG_NONE)
            add_edge(build, i, node[cfg->insns[end->next].block]);
        if (end->target != CFG_NONE && !cfg_is_call(end))
            add_edge(build, i, node[cfg->insns[end->target].block]);
        for (int j = end->first; j < end->last; j++)
            add_edge(build, i, node[cfg->insns[j].block]);
        if (cfg_leaves(end))
            add_edge(build, i, function->count);
    }
    function->graph = digraph_new(function->count + 1, build->edges, build->edge_count);
}

static void make_functions(struct build *build)
{
    struct cfg *cfg = &build->cfg;
    size_t blocks = (size_t)cfg->block_count + 1;
    unsigned *node = alloc(blocks, sizeof *node);
    build->mark = alloc(blocks, sizeof *build->mark);
    for (size_t i = 0; i < blocks; i++)
        build->mark[i] = CFG_NONE;
    for (int i = 0; i < cfg->function_count; i++)
        collect(build, i);
    cfg->too_large = cfg->too_large || build->members >= CFG_MEMBERS;
    for (int i = 0; i < cfg->function_count && !cfg->too_large; i++)
        make_graph(build, &cfg->functions[i], node);
    free(node);
    free(build->mark);
    free(build->edges);
}

struct cfg cfg_build(const struct decoder *decoder, const struct reach_code *code, const uint64_t *entries,
                     size_t count, const struct cfg_options *options)
{
    static const struct cfg_options plain = {0};
    struct build build = {.options = options ? options : &plain};
    const struct reach_visitor visitor = {.visit = visit, .context = &build, .within = build.options->within};
    build.cfg.reach = reach_walk(decoder, code, entries, count, &visitor);
    struct cfg *cfg = &build.cfg;
    cfg->too_large = cfg->reach.insns >= REACH_INSNS;
    if (cfg->count)
        qsort(cfg->insns, (size_t)cfg->count, sizeof *cfg->insns, by_pc);
    connect(cfg, build.options->within);
    find_functions(&build, entries, cfg->too_large ? 0 : count);
    make_blocks(&build);
    if (cfg->too_large)
        cfg->function_count = 0;
    else
        make_functions(&build);
    return build.cfg;
}

void cfg_free(struct cfg *cfg)
{
    for (int i = 0; i < cfg->function_count; i++) {
        free(cfg->functions[i].blocks);
        digraph_free(&cfg->functions[i].graph);
    }
    free(cfg->functions);
    free(cfg->function_at);
    free(cfg->blocks);
    free(cfg->insns);
    *cfg = (struct cfg){0};
}
