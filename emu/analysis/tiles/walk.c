#include "emu/analysis/tiles/walk.h"

#include <stdlib.h>
#include <string.h>

#include "emu/analysis/tiles/evaluate.h"
#include "emu/analysis/values.h"
#include "emu/sim/alloc.h"
#include "isa/csr.h"

enum {
    NOTHING = SUM_UNKNOWN, /* a place on the stack whose contents are not known */
    SECOND = -2,           /* the second word of 8 bytes, which the word before it holds */
    UNRESOLVED = -3,       /* of a place: its node comes later; of a sum: walk_resolve() has not seen it */
    TP_SHIFT = 17
};

static const struct insn_info *info_of(const struct cfg_insn *insn)
{
    return &insn_table[insn->step.insn.id];
}

static int unknown_of(struct walk *w, enum atom_kind kind, int number, int place)
{
    return sum_of_atom(
        w->sums, &(struct atom){.kind = kind, .number = number, .place = place, .operands = {-1, -1, -1}});
}

static int entry_of(struct walk *w, int reg)
{
    return unknown_of(w, ATOM_ENTRY, reg, 0);
}

static int read_register(struct walk *w, const int *now, unsigned reg)
{
    return reg == REGISTER_NONE || reg == 0 ? sum_constant(w->sums, 0) : now[reg];
}

/* The stack. */

/* Returns the place of an address that is sp at the function's entry plus a constant, or -1. */
static int stack_place(struct walk *w, int address)
{
    int64_t offset;
    const int distance = sum_add(w->sums, address, entry_of(w, SP), -1);
    if (!sum_is_constant(w->sums, distance, &offset) || offset >= 0 || offset < -4 * STACK_WORDS ||
        offset % 4)
        return -1;
    return (int)(REGISTERS + STACK_WORDS + offset / 4);
}

static bool on_stack(const struct walk *w, int address)
{
    if (address == SUM_UNKNOWN)
        return false;
    const struct sum *sum = sums_at(w->sums, address);
    for (unsigned i = 0; i < sum->count; i++) {
        const struct atom *atom =
            sum->terms[i].count == 1 ? sums_atom_at(w->sums, sum->terms[i].atoms[0]) : NULL;
        if (atom && atom->kind == ATOM_ENTRY && atom->number == SP)
            return true;
    }
    return false;
}

static void forget_word(int *now, int place)
{
    if (now[place] == SECOND)
        now[place - 1] = NOTHING;
    if (place + 1 < PLACES && now[place + 1] == SECOND)
        now[place + 1] = NOTHING;
    now[place] = NOTHING;
}

static void store_on_stack(struct walk *w, int *now, int address, int size, int value)
{
    const int place = stack_place(w, address);
    if (place < 0) {
        for (int i = REGISTERS; i < PLACES; i++)
            now[i] = NOTHING;
        return;
    }
    forget_word(now, place);
    if (size == 8 && place + 1 < PLACES) {
        forget_word(now, place + 1);
        now[place + 1] = SECOND;
    }
    now[place] = size >= 4 ? value : NOTHING;
}

/* Returns what a load from the stack brings, or SUM_UNKNOWN. */
static int load_from_stack(struct walk *w, const int *now, int address, int size)
{
    const int place = stack_place(w, address);
    if (place < 0 || now[place] < 0 || size < 4)
        return SUM_UNKNOWN;
    const bool two = place + 1 < PLACES && now[place + 1] == SECOND;
    return two == (size == 8) ? now[place] : SUM_UNKNOWN;
}

/* Instructions. */

static void note_access(struct walk *w, int insn, unsigned node, int address, int value)
{
    if (w->count == w->room) {
        w->room = w->room ? 2 * w->room : 64;
        w->accesses = alloc_resize(w->accesses, w->room * sizeof *w->accesses);
    }
    w->accesses[w->count++] = (struct walk_access){insn, node, address, value};
}

static int result_of(struct walk *w, int at, const int operands[3])
{
    struct atom atom = {.kind = ATOM_RESULT, .number = at};
    memcpy(atom.operands, operands, sizeof atom.operands);
    return sum_of_atom(w->sums, &atom);
}

static int loaded(struct walk *w, int at, unsigned node, const int *now, int address)
{
    const struct cfg_insn *insn = &w->f->cfg->insns[at];
    const int held = load_from_stack(w, now, address, info_of(insn)->size);
    if (held != SUM_UNKNOWN)
        return held;
    const int value = sum_of_atom(
        w->sums, &(struct atom){.kind = ATOM_LOADED, .number = at, .operands = {address, -1, -1}});
    note_access(w, at, node, address, value);
    return value;
}

static void stored(struct walk *w, int at, unsigned node, int *now, int address)
{
    const struct cfg_insn *insn = &w->f->cfg->insns[at];
    const int value = read_register(w, now, insn->regs.rs2);
    if (on_stack(w, address))
        store_on_stack(w, now, address, info_of(insn)->size, value);
    else
        note_access(w, at, node, address, value);
}

static void called(struct walk *w, int at, int *now)
{
    const uint64_t changed = values_changed_by(&w->f->cfg->insns[at]);
    for (int reg = 1; reg < REGISTERS; reg++)
        if (changed >> reg & 1)
            now[reg] = result_of(w, at, (int[3]){-1, -1, -1});
}

static void execute(struct walk *w, int at, unsigned node, int *now)
{
    const struct cfg_insn *insn = &w->f->cfg->insns[at];
    const int operands[3] = {read_register(w, now, insn->regs.rs1), read_register(w, now, insn->regs.rs2),
                             insn->regs.rs3 == REGISTER_NONE ? SUM_UNKNOWN : now[insn->regs.rs3]};
    const enum insn_access access = info_of(insn)->access;
    int result = SUM_UNKNOWN;
    if (cfg_is_call(insn)) {
        called(w, at, now);
        return;
    }
    if (access == ACCESS_LOAD || access == ACCESS_STORE) {
        const int address = sum_add(w->sums, operands[0], sum_constant(w->sums, insn->step.insn.imm), 1);
        if (access == ACCESS_STORE)
            stored(w, at, node, now, address);
        else
            result = loaded(w, at, node, now, address);
    } else if (access == ACCESS_NONE) {
        result = evaluate(w->sums, insn, operands[0], operands[1]);
    }
    if (insn->regs.rd != REGISTER_NONE)
        now[insn->regs.rd] = result == SUM_UNKNOWN ? result_of(w, at, operands) : result;
}

/* Nodes. */

static bool is_header(const struct function *f, unsigned node, unsigned *loop)
{
    *loop = f->loops.inner[node];
    return *loop != NODE_NONE && f->loops.list[*loop].header == node;
}

/* Marks the places that a round of the loop may change; `now` is what they hold before the loop. */
static void find_changed(struct walk *w, unsigned loop, const int *now, bool changed[PLACES])
{
    const struct loop *l = &w->f->loops.list[loop];
    for (unsigned i = 0; i < l->count; i++) {
        const unsigned node = w->f->loops.members[l->first + i];
        for (int at = function_first(w->f, node); at <= function_last(w->f, node); at++) {
            const struct cfg_insn *insn = &w->f->cfg->insns[at];
            for (unsigned reg = 1; reg < REGISTERS; reg++)
                changed[reg] |= function_changes(insn, reg);
            if (info_of(insn)->access != ACCESS_STORE)
                continue;
            const int place = stack_place(w, sum_add(w->sums, read_register(w, now, insn->regs.rs1),
                                                     sum_constant(w->sums, insn->step.insn.imm), 1));
            for (int word = 0; place >= 0 && word < 2 && place + word < PLACES; word++)
                changed[place + word] = true;
        }
    }
}

static bool leads(const struct walk *w, unsigned from, unsigned to)
{
    return w->live[from] && (w->always[from] == NODE_NONE || w->always[from] == to);
}

/* The edges to a node that threads take. Of a loop's header: those from outside of the loop (`inside` false), or those that continue
 * it. */
struct edges {
    unsigned node, at;
    int loop; /* -1: the node is no header */
    bool inside;
};

static struct edges edges_to(const struct walk *w, unsigned node, bool inside)
{
    unsigned loop;
    const bool header = is_header(w->f, node, &loop);
    return (struct edges){node, w->f->reverse.first[node], header ? (int)loop : -1, inside};
}

/* Stores where the next edge comes from. Returns false if there is none. */
static bool next_edge(const struct walk *w, struct edges *e, unsigned *from)
{
    while (e->at < w->f->reverse.first[e->node + 1]) {
        *from = w->f->reverse.to[e->at++];
        if (*from < w->f->part->count && leads(w, *from, e->node) &&
            (e->loop < 0 || loops_contain(&w->f->loops, (unsigned)e->loop, *from) == e->inside))
            return true;
    }
    return false;
}

static int at_end(const struct walk *w, unsigned node, int place)
{
    return w->out[(size_t)node * PLACES + (size_t)place];
}

/* Returns what all edges to a node bring to a place, before the rounds of its loop; UNRESOLVED: they differ, or come from nodes
 * that are not done. */
static int before(struct walk *w, unsigned node, int place, const bool *done)
{
    struct edges edges = edges_to(w, node, false);
    int value = NOTHING;
    unsigned from;
    for (bool first = true; next_edge(w, &edges, &from); first = false) {
        const int other = done[from] ? at_end(w, from, place) : UNRESOLVED;
        if (other == UNRESOLVED || (!first && other != value))
            return UNRESOLVED;
        value = other;
    }
    return value;
}

static bool comes_alive(const struct walk *w, unsigned node, const bool *done)
{
    const struct digraph *reverse = &w->f->reverse;
    bool alive = node == 0;
    for (unsigned i = reverse->first[node]; i < reverse->first[node + 1]; i++) {
        const unsigned from = reverse->to[i];
        alive |= from < w->f->part->count && done[from] && leads(w, from, node);
    }
    return alive;
}

static void begin_node(struct walk *w, unsigned node, const bool *done, int *now)
{
    unsigned loop;
    const bool header = is_header(w->f, node, &loop);
    bool changed[PLACES] = {false};
    for (int place = 1; place < PLACES; place++) {
        if (node == 0) {
            now[place] = place < REGISTERS ? entry_of(w, place) : NOTHING;
            continue;
        }
        now[place] = before(w, node, place, done);
        if (now[place] == UNRESOLVED)
            now[place] = place < REGISTERS ? unknown_of(w, ATOM_JOIN, (int)node, place) : NOTHING;
    }
    if (!header)
        return;
    find_changed(w, loop, now, changed);
    for (int place = 1; place < PLACES; place++)
        if (changed[place] && now[place] >= 0) {
            const struct atom atom = {.kind = ATOM_HEADER,
                                      .number = (int)loop,
                                      .place = place,
                                      .operands = {now[place], SUM_UNKNOWN, SUM_UNKNOWN}};
            now[place] = sum_of_atom(w->sums, &atom);
        } else if (changed[place]) {
            now[place] = NOTHING;
        }
}

/* Threads of multiprocessors have tp's bit 46 set. */
static void end_node(struct walk *w, unsigned node, const int *now)
{
    const struct cfg_insn *insn = &w->f->cfg->insns[function_last(w->f, node)];
    struct walk_branch *branch = &w->branches[node];
    *branch = (struct walk_branch){SUM_UNKNOWN, SUM_UNKNOWN};
    w->always[node] = NODE_NONE;
    if (!(insn->step.flow & FLOW_BRANCH) || insn->target == CFG_NONE)
        return;
    branch->left = read_register(w, now, insn->regs.rs1);
    branch->right = read_register(w, now, insn->regs.rs2);
    const int sign = sum_add(w->sums, sum_constant(w->sums, 0), entry_of(w, TP), INT64_C(1) << TP_SHIFT);
    if (insn->step.insn.id != INSN_blt || branch->left != sign || insn->regs.rs2 != REGISTER_NONE)
        return;
    for (unsigned i = 0; i < w->f->part->count; i++)
        if (w->f->part->blocks[i] == w->f->cfg->insns[insn->target].block)
            w->always[node] = i;
}

struct walk walk_open(const struct function *f)
{
    const size_t nodes = f->part->graph.nodes + 1;
    struct walk w = {.f = f,
                     .sums = sums_new(),
                     .out = alloc(nodes * PLACES, sizeof *w.out),
                     .live = alloc(nodes, sizeof *w.live),
                     .always = alloc(nodes, sizeof *w.always),
                     .branches = alloc(nodes, sizeof *w.branches)};
    bool *done = alloc(nodes, sizeof *done);
    unsigned *order = alloc(nodes, sizeof *order), count = digraph_order(&f->part->graph, 0, order);
    for (unsigned i = 0; i < count; i++) {
        const unsigned node = order[i];
        int *now = w.out + (size_t)node * PLACES;
        if (node >= f->part->count || !comes_alive(&w, node, done))
            continue;
        w.live[node] = true;
        begin_node(&w, node, done, now);
        for (int at = function_first(f, node); at <= function_last(f, node); at++)
            execute(&w, at, node, now);
        end_node(&w, node, now);
        done[node] = true;
    }
    free(order);
    free(done);
    return w;
}

void walk_close(struct walk *w)
{
    sums_free(w->sums);
    free(w->out);
    free(w->live);
    free(w->always);
    free(w->branches);
    free(w->accesses);
    free(w->resolved);
}

/* Counters. */

static bool has_atom(const struct walk *w, int sum, int atom)
{
    const struct sum *at = sums_at(w->sums, sum);
    for (unsigned i = 0; i < at->count; i++)
        for (unsigned j = 0; j < at->terms[i].count; j++)
            if (at->terms[i].atoms[j] == atom)
                return true;
    return false;
}

/* Returns what a round that ends at node `from` adds to the place that atom `number` is; SUM_UNKNOWN: it changes it otherwise. */
static int step_of(struct walk *w, int number, unsigned from)
{
    const struct atom atom = *sums_atom_at(w->sums, number);
    const struct sum_term term = {.factor = 1, .count = 1, .atoms = {number}};
    const int own = sum_of_term(w->sums, &term), end = at_end(w, from, atom.place);
    if (end < 0)
        return SUM_UNKNOWN;
    if (!has_atom(w, end, number) && walk_resolve(w, end) == walk_resolve(w, atom.operands[0]))
        return sum_constant(w->sums, 0);
    const int step = walk_resolve(w, sum_add(w->sums, end, own, -1));
    return walk_varies(w, step) ? SUM_UNKNOWN : step;
}

/* Returns start + step * round for what a place holds where a loop's header begins; SUM_UNKNOWN if rounds change it otherwise. */
static int counter(struct walk *w, int number, const struct atom *atom)
{
    struct edges edges = edges_to(w, w->f->loops.list[atom->number].header, true);
    const int round = unknown_of(w, ATOM_ROUND, atom->number, 0), start = walk_resolve(w, atom->operands[0]);
    int step = SUM_UNKNOWN;
    unsigned from;
    for (bool first = true; next_edge(w, &edges, &from); first = false) {
        const int other = step_of(w, number, from);
        if (other == SUM_UNKNOWN || (!first && other != step))
            return SUM_UNKNOWN;
        step = other;
    }
    return sum_add(w->sums, start, sum_multiply(w->sums, step, round), 1);
}

/* Returns what a place holds where paths meet, if it is the same on all of them. */
static int joined(struct walk *w, const struct atom *atom)
{
    struct edges edges = edges_to(w, (unsigned)atom->number, false);
    int value = SUM_UNKNOWN;
    unsigned from;
    for (bool first = true; next_edge(w, &edges, &from); first = false) {
        const int other =
            walk_resolve(w, at_end(w, from, atom->place) < 0 ? SUM_UNKNOWN : at_end(w, from, atom->place));
        if (other == SUM_UNKNOWN || (!first && other != value))
            return SUM_UNKNOWN;
        value = other;
    }
    return value;
}

static int resolve_atom(struct walk *w, int number)
{
    struct atom atom = *sums_atom_at(w->sums, number);
    const struct sum_term own = {.factor = 1, .count = 1, .atoms = {number}};
    int result = SUM_UNKNOWN;
    if (atom.kind == ATOM_HEADER)
        result = counter(w, number, &atom);
    if (atom.kind == ATOM_JOIN)
        result = joined(w, &atom);
    if (atom.kind == ATOM_QUOTIENT) {
        const int of = walk_resolve(w, atom.operands[0]);
        result = atom.divisor ? sum_quotient(w->sums, of, atom.divisor)
                              : sum_quotient_by(w->sums, of, walk_resolve(w, atom.operands[1]));
    }
    if (atom.kind == ATOM_LOADED) {
        atom.operands[0] = walk_resolve(w, atom.operands[0]);
        if (atom.operands[0] != SUM_UNKNOWN && !walk_varies(w, atom.operands[0])) {
            atom.kind = ATOM_WORD;
            atom.divisor = info_of(&w->f->cfg->insns[atom.number])->size;
            atom.number = 0;
        }
        result = sum_of_atom(w->sums, &atom);
    }
    return result == SUM_UNKNOWN ? sum_of_term(w->sums, &own) : result;
}

int walk_resolve(struct walk *w, int sum)
{
    if (sum == SUM_UNKNOWN)
        return SUM_UNKNOWN;
    if (sum >= w->resolved_count) {
        const int count = 2 * sum + 64;
        w->resolved = alloc_resize(w->resolved, (size_t)count * sizeof *w->resolved);
        for (int i = w->resolved_count; i < count; i++)
            w->resolved[i] = UNRESOLVED;
        w->resolved_count = count;
    }
    if (w->resolved[sum] != UNRESOLVED)
        return w->resolved[sum];
    w->resolved[sum] = sum; /* what is met again while it is resolved stays as it is */
    const struct sum from = *sums_at(w->sums, sum);
    int result = sum_constant(w->sums, 0);
    for (unsigned i = 0; i < from.count; i++) {
        int product = sum_constant(w->sums, from.terms[i].factor);
        for (unsigned j = 0; j < from.terms[i].count; j++)
            product = sum_multiply(w->sums, product, resolve_atom(w, from.terms[i].atoms[j]));
        result = sum_add(w->sums, result, product, 1);
    }
    w->resolved[sum] = result;
    if (result != SUM_UNKNOWN && result < w->resolved_count)
        w->resolved[result] = result;
    return result;
}

/* What values differ in. */

static unsigned csr_varies(int number)
{
    if ((number >= CSR_sthread_x && number < CSR_sblock_x) || number == CSR_slane || number == CSR_swarp)
        return VARIES_THREAD;
    if (number == CSR_sthread_id)
        return VARIES_THREAD;
    return number >= CSR_sblock_x && number <= CSR_sshared_size ? 0 : VARIES_THREAD | VARIES_DATA;
}

unsigned walk_atom_varies(const struct walk *w, int number)
{
    const struct atom *atom = sums_atom_at(w->sums, number);
    switch (atom->kind) {
    case ATOM_ENTRY:
    case ATOM_WORD: return 0;
    case ATOM_CSR: return csr_varies(atom->number);
    case ATOM_ROUND: return VARIES_ROUND;
    case ATOM_QUOTIENT:
        return walk_varies(w, atom->operands[0]) | (atom->divisor ? 0 : walk_varies(w, atom->operands[1]));
    case ATOM_LOADED: return walk_varies(w, atom->operands[0]) | VARIES_DATA;
    case ATOM_RESULT:
    case ATOM_HEADER:
    case ATOM_JOIN: break;
    }
    return VARIES_THREAD | VARIES_ROUND | VARIES_DATA;
}

unsigned walk_varies(const struct walk *w, int sum)
{
    if (sum == SUM_UNKNOWN)
        return VARIES_THREAD | VARIES_ROUND | VARIES_DATA;
    const struct sum *at = sums_at(w->sums, sum);
    unsigned varies = 0;
    for (unsigned i = 0; i < at->count; i++)
        for (unsigned j = 0; j < at->terms[i].count; j++)
            varies |= walk_atom_varies(w, at->terms[i].atoms[j]);
    return varies;
}
