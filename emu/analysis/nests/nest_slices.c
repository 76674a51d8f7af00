/* Nests whose rounds store to columns, or add to arrays: for (j) { sum of column j; column j -= sum * p; }. What a round stores along
 * a row is executed first, some rounds a task; then some rounds of the inner loop that stores along a column, in all rounds of the nest. So
 * all that an element gets, it gets in the order of the rounds. */
#include <stdlib.h>

#include "emu/analysis/loop_tasks.h"
#include "emu/sim/alloc.h"

/* What is needed: rows, slices, slices without the round -1. */
enum seeds { SEEDS_ROWS, SEEDS_SLICES, SEEDS_ROUNDS, SEEDS };

enum store { STORE_ROW, STORE_SLICE, STORE_PEELED };

struct slicer {
    const struct nests *nests;
    const struct function *f;
    const struct nest_inner *inner;
    const struct nest_form *forms;
    const uint8_t *ranges;
    struct loop_task *task;
    struct nest_slices slices;
    struct nest_form stored;                 /* what the slices' loop stores to, in all its rounds */
    unsigned number, sliced;                 /* loops */
    unsigned nodes[NEST_SLICE_INSNS];        /* by instruction from task->begin on */
    uint64_t *in;                            /* by node: registers that are needed where it begins */
    struct nest_again without[NEST_UNROLLS]; /* loops that are not executed */
    unsigned without_count;
};

static const struct cfg_insn *insn_at(const struct slicer *s, int at)
{
    return &s->f->cfg->insns[at];
}

static unsigned node_at(const struct slicer *s, int at)
{
    return s->nodes[at - s->task->begin];
}

static bool accesses(const struct slicer *s, int at, enum insn_access access)
{
    const struct cfg_insn *insn = insn_at(s, at);
    return insn_table[insn->step.insn.id].access == access && !nest_slot(s->nests, insn);
}

static const struct nest_form *form_at(const struct slicer *s, int at)
{
    return &s->forms[at - s->task->begin];
}

static unsigned range_at(const struct slicer *s, int at)
{
    return s->ranges[at - s->task->begin];
}

static int64_t size_at(const struct slicer *s, int at)
{
    return (int64_t)insn_table[insn_at(s, at)->step.insn.id].size;
}

static bool is_within(const struct nest_slices *slices, int at)
{
    return at >= slices->first && at <= slices->branch;
}

static bool same_form(const struct nest_form *a, const struct nest_form *b)
{
    return nest_same_terms(a, b) && a->low == b->low && a->high == b->high;
}

/* Finds how many bytes an access is behind what the slices' loop stores in its round 0, in each round of the nest. Returns false if that
 * is not known. */
static bool find_distance(const struct slicer *s, const struct nest_form *form, int64_t *distance)
{
    const struct nest_form difference = nest_sum(form, &s->slices.from, -1);
    return nest_difference(s->nests, s->number, &difference, distance);
}

/* Returns whether an instruction is before another one in each round that comes to that. */
static bool is_before(const struct slicer *s, int at, int other)
{
    unsigned a = node_at(s, at), b = node_at(s, other);
    return a == b ? at < other : dominates(&s->f->dominators, a, b);
}

static enum store kind_of(const struct slicer *s, int at)
{
    if (at == s->slices.peeled)
        return STORE_PEELED;
    return is_within(&s->slices, at) && range_at(s, at) == s->slices.range + 1 ? STORE_SLICE : STORE_ROW;
}

/* Needs. */

static bool is_seed(const struct slicer *s, int at, enum seeds seeds)
{
    const struct cfg_insn *insn = insn_at(s, at);
    if (insn->step.flow & (FLOW_BRANCH | FLOW_JUMP))
        return true;
    if (insn_table[insn->step.insn.id].access != ACCESS_STORE)
        return false;
    if (nest_slot(s->nests, insn))
        return true;
    enum store kind = kind_of(s, at);
    return seeds == SEEDS_ROWS ? kind == STORE_ROW
                               : kind == STORE_SLICE || (kind == STORE_PEELED && seeds == SEEDS_SLICES);
}

/* Returns whether an instruction is needed, and changes the needed registers behind it to those before it. */
static bool is_needed(const struct slicer *s, int at, enum seeds seeds, uint64_t *live)
{
    const struct insn_registers *regs = &insn_at(s, at)->regs;
    const uint64_t written = register_bit(regs->rd);
    if (!is_seed(s, at, seeds) && !(written & *live))
        return false;
    *live &= ~written;
    *live |= register_bit(regs->rs1) | register_bit(regs->rs2) | register_bit(regs->rs3);
    return true;
}

/* Returns what is needed behind a node, or (outside) behind the loop that it is. */
static uint64_t behind(const struct slicer *s, unsigned node, bool outside)
{
    const struct digraph *graph = &s->f->part->graph;
    uint64_t live = 0;
    for (unsigned i = graph->first[node]; i < graph->first[node + 1]; i++)
        if (loops_contain(&s->f->loops, s->number, graph->to[i]) && !(outside && graph->to[i] == node))
            live |= s->in[graph->to[i]];
    return live;
}

static const struct nest_again *left_out(const struct slicer *s, int at)
{
    for (unsigned i = 0; i < s->without_count; i++)
        if (at >= s->without[i].first && at <= s->without[i].branch)
            return &s->without[i];
    return NULL;
}

/* Returns what is needed where a node begins. */
static uint64_t before(const struct slicer *s, unsigned node, enum seeds seeds)
{
    const struct nest_again *again = left_out(s, function_first(s->f, node));
    uint64_t live = behind(s, node, again != NULL);
    if (again && again->store == CFG_NONE)
        return live;
    if (again) {
        const struct insn_registers *regs = &insn_at(s, again->store)->regs;
        return (live & ~register_bit(regs->rs2)) | register_bit(regs->rs1);
    }
    for (int at = function_last(s->f, node); at >= function_first(s->f, node); at--)
        (void)is_needed(s, at, seeds, &live);
    return live;
}

static void find_needs(struct slicer *s, enum seeds seeds)
{
    const struct loop *l = &s->f->loops.list[s->number];
    bool grows = true;
    for (unsigned i = 0; i < l->count; i++)
        s->in[s->f->loops.members[l->first + i]] = 0;
    while (grows) {
        grows = false;
        for (unsigned i = l->count; i-- > 0;) {
            const unsigned node = s->f->loops.members[l->first + i];
            const uint64_t live = before(s, node, seeds) | s->in[node];
            grows |= live != s->in[node];
            s->in[node] = live;
        }
    }
}

/* Stores the instructions that are needed, by find_needs(). */
static void find_kept(const struct slicer *s, enum seeds seeds, uint64_t kept[NEST_SLICE_WORDS])
{
    const struct loop *l = &s->f->loops.list[s->number];
    for (unsigned i = 0; i < l->count; i++) {
        const unsigned node = s->f->loops.members[l->first + i];
        uint64_t live = behind(s, node, false);
        if (left_out(s, function_first(s->f, node)))
            continue;
        for (int at = function_last(s->f, node); at >= function_first(s->f, node); at--) {
            const unsigned number = (unsigned)(at - s->task->begin);
            if (is_needed(s, at, seeds, &live))
                kept[number / 64] |= UINT64_C(1) << number % 64;
        }
    }
}

static uint64_t written_by(const struct slicer *s, int first, int last)
{
    uint64_t set = 0;
    for (int at = first; at <= last; at++)
        set |= register_bit(insn_at(s, at)->regs.rd);
    return set;
}

/* Loops that are not executed. */

/* Returns whether a store of a loop is the last one in its place, and of a register that holds the same behind the loop. */
static bool can_load(const struct slicer *s, const struct nest_again *loop, int store)
{
    const struct cfg_insn *insn = insn_at(s, store);
    const uint64_t changed = written_by(s, loop->first, loop->branch);
    if (!accesses(s, store, ACCESS_STORE) || kind_of(s, store) != STORE_ROW ||
        !nest_is_exact(form_at(s, store)) ||
        (insn->step.insn.id != INSN_fsd && insn->step.insn.id != INSN_sd) || insn->regs.rs1 == SP ||
        (changed & register_bit(insn->regs.rs1)) ||
        (written_by(s, store, loop->branch) & register_bit(insn->regs.rs2)))
        return false;
    for (int at = s->task->begin; at <= s->task->last; at++)
        if (at != store && accesses(s, at, ACCESS_STORE) && range_at(s, at) == range_at(s, store) &&
            (!same_form(form_at(s, at), form_at(s, store)) || !is_before(s, at, loop->first)))
            return false;
    return true;
}

/* Tells whether slices can do without another inner loop: what it computes is not needed, or is one register, which it has stored. */
static bool can_omit(const struct slicer *s, struct nest_again *loop)
{
    uint64_t needed = behind(s, node_at(s, loop->first), true) & written_by(s, loop->first, loop->branch);
    loop->store = CFG_NONE;
    for (int at = loop->first; at <= loop->branch && needed; at++)
        if (register_bit(insn_at(s, at)->regs.rs2) == needed && can_load(s, loop, at))
            loop->store = at;
    return !needed || loop->store != CFG_NONE;
}

/* Returns the unroll that is a loop: a block in the nest's rounds; NULL: there is none. */
static const struct nest_unroll *block_of(const struct slicer *s, unsigned loop)
{
    const struct task_nest *nest = &s->task->nest;
    for (unsigned i = 0; i < nest->unroll_count && s->f->loops.list[loop].parent == s->number; i++)
        if (nest->unrolls[i].first == function_first(s->f, s->f->loops.list[loop].header))
            return &nest->unrolls[i];
    return NULL;
}

static void find_agains(struct slicer *s)
{
    struct nest_slices *slices = &s->slices;
    for (unsigned loop = 0; loop < s->f->loops.count; loop++) {
        const struct nest_unroll *block = block_of(s, loop);
        if (!block || loop == s->sliced)
            continue;
        struct nest_again *again = &slices->agains[slices->again_count];
        *again = (struct nest_again){block->first, block->branch, CFG_NONE};
        slices->again_count += can_omit(s, again);
    }
    for (unsigned i = 0; i < slices->again_count; i++)
        s->without[s->without_count++] = slices->agains[i];
}

static bool find_slices(struct slicer *s)
{
    struct nest_slices *slices = &s->slices;
    const struct nest_loop *loop = &s->nests->loops[s->sliced];
    uint64_t rounds[NEST_SLICE_WORDS] = {0}, changed = written_by(s, slices->first, slices->branch),
             counts = 0;
    const unsigned node = node_at(s, slices->first);
    find_needs(s, SEEDS_SLICES);
    find_agains(s);
    find_needs(s, SEEDS_SLICES);
    for (unsigned i = 0; i < slices->counter_count; i++)
        counts |= register_bit(slices->counters[i]);
    /* A slice begins in the middle and ends before the end. */
    if ((s->in[node] & changed & ~counts) || (behind(s, node, true) & changed) || loop->unknown)
        return false;
    find_kept(s, SEEDS_SLICES, slices->kept[NEST_SLICES]);
    find_needs(s, SEEDS_ROUNDS);
    find_kept(s, SEEDS_ROUNDS, rounds);
    for (unsigned i = 0; i < NEST_SLICE_WORDS; i++)
        slices->alone[i] = slices->kept[NEST_SLICES][i] & ~rounds[i];
    for (int at = s->task->begin; at <= s->task->last; at++)
        if (nest_has(slices->alone, at - s->task->begin) && s->f->loops.inner[node_at(s, at)] != s->number)
            return false;
    s->without_count = 0;
    return true;
}

/* Returns whether there are rows. */
static bool find_rows(struct slicer *s)
{
    struct nest_slices *slices = &s->slices;
    bool rows = false, within = false;
    for (int at = s->task->begin; at <= s->task->last; at++)
        if (accesses(s, at, ACCESS_STORE) && kind_of(s, at) == STORE_ROW) {
            rows = true;
            within |= is_within(slices, at);
        }
    find_needs(s, SEEDS_ROWS);
    slices->skipped = !within && !(behind(s, node_at(s, slices->first), true) &
                                   written_by(s, slices->first, slices->branch));
    if (slices->skipped)
        s->without[s->without_count++] = (struct nest_again){slices->first, slices->branch, CFG_NONE};
    find_needs(s, SEEDS_ROWS);
    if (rows)
        find_kept(s, SEEDS_ROWS, slices->kept[NEST_ROWS]);
    s->without_count = 0;
    return rows;
}

/* What phases access. */

/* Returns by how much the inner loop around a load, if there is one, changes its address in a round; -1: it is not known. */
static int64_t stride_at(const struct slicer *s, int at)
{
    const struct nest_unroll *block = block_of(s, s->f->loops.inner[node_at(s, at)]);
    if (s->f->loops.inner[node_at(s, at)] == s->number)
        return 0;
    for (unsigned i = 0; block && i < block->access_count; i++)
        if (block->accesses[i].at == at && block->accesses[i].address < NEST_ACCESSES)
            return block->accesses[i].stride;
    return -1;
}

/* Returns whether a load of rows reads nothing that slices of other rounds store, and is before those of its round: it is in the same
 * column. */
static bool reads_before(const struct slicer *s, int at)
{
    const struct nest_slices *slices = &s->slices;
    struct nest_form form = *form_at(s, at);
    int64_t stride = stride_at(s, at), distance;
    if (form.ways > 1 || (form.ways && form.inner[0] != s->f->loops.inner[node_at(s, at)]) ||
        (stride == 0 && !nest_is_exact(&form)))
        return false;
    form.ways = 0;
    form.high = form.low;
    return (stride == 0 || stride == slices->stride) && find_distance(s, &form, &distance) &&
           size_at(s, at) == slices->size && distance % slices->stride == 0 &&
           is_before(s, at, slices->first) && !is_within(slices, at) &&
           (slices->peeled == CFG_NONE || is_before(s, at, slices->peeled));
}

/* Returns whether a load of slices reads what rows of the same round have stored. */
static bool reads_own(const struct slicer *s, int at)
{
    for (int store = s->task->begin; store <= s->task->last; store++)
        if (accesses(s, store, ACCESS_STORE) && range_at(s, store) == range_at(s, at) &&
            (!nest_is_exact(form_at(s, at)) || !same_form(form_at(s, store), form_at(s, at)) ||
             size_at(s, store) != size_at(s, at) || is_within(&s->slices, store) || !is_before(s, store, at)))
            return false;
    return true;
}

static bool check_load_of_rows(struct slicer *s, int at)
{
    const unsigned range = range_at(s, at) - 1;
    struct nest_range *of = &s->task->nest.ranges[range];
    const bool before = reads_before(s, at);
    of->before = before && (of->before || !of->read);
    of->read = true;
    return before || (range != s->slices.range && range != s->slices.peeled_range);
}

static bool check_load_of_slices(struct slicer *s, int at)
{
    const bool alone = nest_has(s->slices.alone, at - s->task->begin);
    const unsigned range = range_at(s, at) - 1;
    struct nest_range *of = &s->task->nest.ranges[range];
    if (range == s->slices.range)
        return !alone;
    if (range == s->slices.peeled_range)
        return alone;
    of->sliced = true;
    of->own = of->written;
    return !of->written || reads_own(s, at);
}

static bool check_loads(struct slicer *s)
{
    struct task_nest *nest = &s->task->nest;
    bool done = true;
    for (unsigned i = 0; i < nest->range_count; i++)
        nest->ranges[i].read = nest->ranges[i].written = nest->ranges[i].sliced = nest->ranges[i].before =
            nest->ranges[i].own = false;
    for (int at = s->task->begin; at <= s->task->last; at++)
        if (accesses(s, at, ACCESS_STORE) && kind_of(s, at) == STORE_ROW)
            nest->ranges[range_at(s, at) - 1].written = true;
    for (int at = s->task->begin; at <= s->task->last && done; at++) {
        if (!accesses(s, at, ACCESS_LOAD) || !range_at(s, at))
            continue;
        if (nest_has(s->slices.kept[NEST_ROWS], at - s->task->begin))
            done = check_load_of_rows(s, at);
        if (nest_has(s->slices.kept[NEST_SLICES], at - s->task->begin))
            done = done && check_load_of_slices(s, at);
    }
    for (unsigned i = 0; i < s->slices.again_count; i++)
        if (s->slices.agains[i].store != CFG_NONE) {
            struct nest_range *of = &nest->ranges[range_at(s, s->slices.agains[i].store) - 1];
            of->sliced = of->own = true;
        }
    return done && !nest->ranges[s->slices.range].written && !nest->ranges[s->slices.peeled_range].written;
}

/* The loop. */

/* Finds the store of the round before the first one, which the compiler has peeled. Returns false if what it stores to is accessed
 * otherwise, too, or what the loop stores to. */
static bool find_peeled(struct slicer *s)
{
    struct nest_slices *slices = &s->slices;
    int64_t distance;
    for (int at = s->task->begin; at <= s->task->last; at++) {
        const bool stores = accesses(s, at, ACCESS_STORE);
        if (!range_at(s, at))
            continue;
        if (range_at(s, at) == slices->range + 1 &&
            (!is_within(slices, at) || !same_form(form_at(s, at), &s->stored) ||
             size_at(s, at) != slices->size))
            return false;
        if (!stores || s->f->loops.inner[node_at(s, at)] != s->number || size_at(s, at) != slices->size ||
            !find_distance(s, form_at(s, at), &distance) || distance != -slices->stride)
            continue;
        if (slices->peeled != CFG_NONE || !is_before(s, at, slices->first))
            return false;
        slices->peeled = at;
        slices->peeled_range = range_at(s, at) - 1;
    }
    for (int at = s->task->begin; at <= s->task->last && slices->peeled != CFG_NONE; at++)
        if (range_at(s, at) == slices->peeled_range + 1 &&
            !same_form(form_at(s, at), form_at(s, slices->peeled)))
            return false;
    return true;
}

/* Finds the registers that count in the loop. Returns false if its branch does not compare one with a limit as a slice needs. */
static bool find_counters(struct slicer *s, const struct nest_unroll *block)
{
    struct nest_slices *slices = &s->slices;
    const struct nest_loop *loop = &s->nests->loops[s->sliced];
    const struct cfg_insn *branch = insn_at(s, block->branch);
    const bool up = block->step > 0;
    for (unsigned reg = 1; reg < NEST_REGISTERS; reg++) {
        if (loop->change[reg] != NEST_COUNTS)
            continue;
        if (reg >= 32 || slices->counter_count == NEST_COUNTERS)
            return false;
        slices->counters[slices->counter_count] = (uint8_t)reg;
        slices->steps[slices->counter_count++] = loop->step[reg];
    }
    slices->counter = block->counter;
    return branch->step.insn.id == INSN_bne ||
           (branch->step.insn.id == INSN_blt && (up ? branch->regs.rs1 : branch->regs.rs2) == block->counter);
}

/* Returns whether all rounds of the nest have the same number of rounds of the loop. */
static bool is_constant(const struct slicer *s)
{
    const struct nest_inner *inner = &s->inner[s->sliced];
    const struct nest_loop *around = &s->nests->loops[s->number];
    int64_t stride = 0;
    for (unsigned i = 0; i < inner->extra.terms; i++)
        if (around->change[inner->extra.regs[i]] == NEST_COUNTS)
            stride += around->step[inner->extra.regs[i]] * inner->extra.factors[i];
    return inner->known && nest_is_exact(&inner->extra) && stride == 0;
}

/* Describes the loop with a store in it whose place each round moves by `stride`. */
static bool describe(struct slicer *s, const struct nest_unroll *block, const struct nest_access *store)
{
    struct nest_slices *slices = &s->slices;
    s->stored = *form_at(s, store->at);
    *slices = (struct nest_slices){.there = true,
                                   .first = block->first,
                                   .branch = block->branch,
                                   .range = range_at(s, store->at) - 1,
                                   .peeled = CFG_NONE,
                                   .from = s->stored,
                                   .size = store->size,
                                   .stride = store->stride,
                                   .extra = s->inner[s->sliced].extra,
                                   .each = s->nests->loops[s->sliced].each};
    slices->peeled_range = slices->range;
    slices->from.ways = 0;
    slices->from.high = slices->from.low;
    if (s->stored.ways > 1 || (s->stored.ways && s->stored.inner[0] != s->sliced))
        return false;
    return is_constant(s) && find_counters(s, block) && find_peeled(s);
}

/* Tries a loop. */
static bool divide(struct slicer *s, const struct nest_unroll *block, const struct nest_access *store)
{
    s->without_count = 0;
    if (!describe(s, block, store) || !find_slices(s))
        return false;
    (void)find_rows(s);
    return check_loads(s);
}

static bool divide_any(struct slicer *s)
{
    for (s->sliced = 0; s->sliced < s->f->loops.count; s->sliced++) {
        const struct nest_unroll *block = block_of(s, s->sliced);
        for (unsigned i = 0; block && i < block->access_count; i++) {
            const struct nest_access *access = &block->accesses[i];
            if (accesses(s, access->at, ACCESS_STORE) && access->range && access->address < NEST_ACCESSES &&
                access->stride >= access->size && divide(s, block, access))
                return true;
        }
    }
    return false;
}

bool nest_find_slices(const struct nests *nests, unsigned loop, const struct nest_inner *inner,
                      const struct nest_form *forms, const uint8_t *ranges, struct loop_task *task)
{
    struct slicer s = {.nests = nests,
                       .f = nests->f,
                       .inner = inner,
                       .forms = forms,
                       .ranges = ranges,
                       .task = task,
                       .number = loop};
    const struct loop *l = &s.f->loops.list[loop];
    struct nest_range saved[NEST_RANGES];
    if (task->last - task->begin >= NEST_SLICE_INSNS)
        return false;
    for (unsigned i = 0; i < l->count; i++) {
        const unsigned node = s.f->loops.members[l->first + i];
        for (int at = function_first(s.f, node); at <= function_last(s.f, node); at++)
            s.nodes[at - task->begin] = node;
    }
    for (unsigned i = 0; i < task->nest.range_count; i++)
        saved[i] = task->nest.ranges[i];
    s.in = alloc(s.f->part->graph.nodes + 1, sizeof *s.in);
    const bool done = divide_any(&s);
    free(s.in);
    for (unsigned i = 0; i < task->nest.range_count && !done; i++)
        task->nest.ranges[i] = saved[i];
    if (done)
        task->nest.slices = s.slices;
    return done;
}
