#include "emu/analysis/nests/nests.h"

#include <stdlib.h>
#include <string.h>

#include "emu/analysis/terms.h"
#include "emu/analysis/trips.h"
#include "emu/sim/alloc.h"

enum { LARGEST_FACTOR = 1 << 30 };

/* A walk over one loop. */
struct walk {
    const struct nests *nests;
    const struct function *f;
    unsigned loop;
    struct nest_form *after; /* by node and register */
    bool *done;              /* by node: `after` is valid */
    struct nest_inner *inner;
    struct nest_form *entry; /* by loop and register: where it is entered */
    const struct nest_walker *walker;
};

static const struct nest_form unknown = {.kind = NEST_UNKNOWN, .object = CFG_NONE};

/* Forms. */

static struct nest_form constant_form(int64_t value)
{
    return (struct nest_form){.kind = NEST_SUM, .low = value, .high = value, .object = CFG_NONE};
}

static struct nest_form register_form(unsigned reg)
{
    return (struct nest_form){
        .kind = NEST_SUM, .terms = 1, .regs = {(uint8_t)reg}, .factors = {1}, .object = CFG_NONE};
}

bool nest_is_exact(const struct nest_form *form)
{
    return form->kind == NEST_SUM && form->low == form->high && form->ways == 0;
}

static bool is_constant(const struct nest_form *form)
{
    return nest_is_exact(form) && form->terms == 0;
}

static bool too_large(int64_t factor)
{
    return factor > LARGEST_FACTOR || factor < -LARGEST_FACTOR;
}

/* Adds a term, in the order of registers. Returns false if there are too many, or its factor is too large. */
static bool add_term(struct nest_form *form, unsigned reg, int64_t factor)
{
    if (!terms_add(form->regs, form->factors, &form->terms, NEST_TERMS, reg, factor))
        return false;
    for (unsigned i = 0; i < form->terms; i++)
        if (form->regs[i] == reg)
            return !too_large(form->factors[i]);
    return true;
}

/* Adds a way, in the order of loops. Values of one loop may belong to different rounds, so ways never cancel. */
static bool add_way(struct nest_form *form, unsigned inner, int64_t up, int64_t down)
{
    unsigned i = 0;
    while (i < form->ways && form->inner[i] < inner)
        i++;
    if (i == form->ways || form->inner[i] != inner) {
        if (form->ways == NEST_WAYS)
            return false;
        for (unsigned j = form->ways++; j > i; j--) {
            form->inner[j] = form->inner[j - 1];
            form->up[j] = form->up[j - 1];
            form->down[j] = form->down[j - 1];
        }
        form->inner[i] = inner;
        form->up[i] = form->down[i] = 0;
    }
    form->up[i] += up;
    form->down[i] += down;
    return !too_large(form->up[i]) && !too_large(form->down[i]);
}

struct nest_form nest_sum(const struct nest_form *a, const struct nest_form *b, int64_t factor)
{
    struct nest_form sum = *a;
    int64_t low, high, product;
    bool fits = a->kind == NEST_SUM && b->kind == NEST_SUM && !too_large(factor);
    if (a->kind == NEST_OBJECT || b->kind == NEST_OBJECT)
        return factor != 1 || a->kind == b->kind ? unknown : a->kind == NEST_OBJECT ? *a : *b;
    for (unsigned i = 0; fits && i < b->terms; i++)
        fits = !__builtin_mul_overflow(b->factors[i], factor, &product) && !too_large(product) &&
               add_term(&sum, b->regs[i], product);
    for (unsigned i = 0; fits && i < b->ways; i++) {
        int64_t up = b->up[i] * factor, down = b->down[i] * factor; /* no overflow: both are below 2^31 */
        fits = factor >= 0 ? add_way(&sum, b->inner[i], up, down) : add_way(&sum, b->inner[i], -down, -up);
    }
    fits = fits && !__builtin_mul_overflow(factor >= 0 ? b->low : b->high, factor, &low) &&
           !__builtin_mul_overflow(factor >= 0 ? b->high : b->low, factor, &high) &&
           !__builtin_add_overflow(sum.low, low, &sum.low) &&
           !__builtin_add_overflow(sum.high, high, &sum.high);
    return fits ? sum : unknown;
}

struct nest_form nest_plus(const struct nest_form *form, int64_t constant)
{
    const struct nest_form added = constant_form(constant);
    return nest_sum(form, &added, 1);
}

bool nest_same_terms(const struct nest_form *a, const struct nest_form *b)
{
    bool same = a->kind == b->kind && a->terms == b->terms && a->ways == b->ways && a->object == b->object;
    for (unsigned i = 0; same && i < a->terms; i++)
        same = a->regs[i] == b->regs[i] && a->factors[i] == b->factors[i];
    for (unsigned i = 0; same && i < a->ways; i++)
        same = a->inner[i] == b->inner[i] && a->up[i] == b->up[i] && a->down[i] == b->down[i];
    return same;
}

static bool same_form(const struct nest_form *a, const struct nest_form *b)
{
    return nest_same_terms(a, b) && a->low == b->low && a->high == b->high;
}

static struct nest_form form_of(const struct nest_form *now, unsigned reg)
{
    return reg == REGISTER_NONE || reg == 0 ? constant_form(0) : reg < 32 ? now[reg] : unknown;
}

/* Returns what an instruction writes to its integer register. *word: it is a sum if that fits into 32 bits. */
static struct nest_form result_of(const struct cfg_insn *insn, int at, const struct nest_form *now,
                                  bool *word)
{
    const struct insn *i = &insn->step.insn;
    struct nest_form a = form_of(now, insn->regs.rs1), b = form_of(now, insn->regs.rs2), c = constant_form(0);
    *word = i->id == INSN_addiw || i->id == INSN_addw || i->id == INSN_subw || i->id == INSN_slliw;
    switch ((enum insn_id)i->id) {
    case INSN_auipc: return (struct nest_form){.kind = NEST_OBJECT, .object = at};
    case INSN_lui: return constant_form(i->imm);
    case INSN_addi:
    case INSN_addiw: return nest_plus(&a, i->imm);
    case INSN_add:
    case INSN_addw: return nest_sum(&a, &b, 1);
    case INSN_sub:
    case INSN_subw: return nest_sum(&a, &b, -1);
    case INSN_sh1add: return nest_sum(&b, &a, 2);
    case INSN_sh2add: return nest_sum(&b, &a, 4);
    case INSN_sh3add: return nest_sum(&b, &a, 8);
    case INSN_slli:
    case INSN_slliw: return i->imm < 30 ? nest_sum(&c, &a, INT64_C(1) << i->imm) : unknown;
    case INSN_mul:
        if (is_constant(&a))
            return nest_sum(&c, &b, a.low);
        return is_constant(&b) ? nest_sum(&c, &a, b.low) : unknown;
    default: return unknown;
    }
}

/* Flow. */

unsigned nest_slot(const struct nests *nests, const struct cfg_insn *insn)
{
    enum insn_id id = (enum insn_id)insn->step.insn.id;
    for (unsigned i = 0; i < nests->slot_count && insn->regs.rs1 == SP; i++)
        if (nests->slots[i] == insn->step.insn.imm && (id == INSN_ld || id == INSN_sd))
            return 32 + i;
    return 0;
}

/* Returns whether an instruction leaves the frame as it is: it is a load or a store of 8 bytes, which are a slot, or moves sp. */
static bool uses_slots_only(struct nests *nests, const struct cfg_insn *insn)
{
    const struct insn_registers *regs = &insn->regs;
    enum insn_id id = (enum insn_id)insn->step.insn.id;
    unsigned i = 0;
    if (cfg_is_call(insn))
        return true;
    if (regs->rd == SP && regs->rs1 == SP && id == INSN_addi)
        return true;
    if (regs->rs1 != SP || regs->rs2 == SP || regs->rs3 == SP || regs->rd == SP)
        return regs->rs1 != SP && regs->rs2 != SP && regs->rs3 != SP && regs->rd != SP;
    if (id == INSN_fld || id == INSN_fsd)
        return true; /* not in a loop that becomes tasks */
    if (id != INSN_ld && id != INSN_sd)
        return false;
    while (i < nests->slot_count && nests->slots[i] != insn->step.insn.imm)
        i++;
    if (i == nests->slot_count && i < NEST_SLOTS)
        nests->slots[nests->slot_count++] = insn->step.insn.imm;
    return true;
}

/* Finds the slots of the function's loops. Loads and stores are of 8 bytes and aligned, so that slots do not overlap. */
static void find_slots(struct nests *nests)
{
    const struct function *f = nests->f;
    bool only = true;
    for (unsigned node = 0; node < f->part->count; node++) {
        const unsigned count = nests->slot_count;
        for (int at = function_first(f, node); at <= function_last(f, node); at++)
            only = only && uses_slots_only(nests, &f->cfg->insns[at]);
        if (f->loops.inner[node] == NODE_NONE)
            nests->slot_count = count; /* what a function saves at its entry is none */
    }
    nests->slot_count = only ? nests->slot_count : 0;
}

/* Returns whether a loop changes a register or a slot. */
static bool changes(const struct nests *nests, unsigned loop, unsigned reg)
{
    const struct function *f = nests->f;
    const struct loop *l = &f->loops.list[loop];
    if (reg < 32)
        return function_changer(f, loop, reg) != CFG_NONE;
    for (unsigned i = 0; i < l->count; i++) {
        unsigned node = f->loops.members[l->first + i];
        for (int at = function_first(f, node); at <= function_last(f, node); at++) {
            const struct cfg_insn *insn = &f->cfg->insns[at];
            if (cfg_is_call(insn) || (nest_slot(nests, insn) == reg && insn->step.insn.id == INSN_sd))
                return true;
        }
    }
    return false;
}

/* Returns what a register holds where the loop that is walked begins a round. */
static struct nest_form at_header(const struct walk *w, unsigned reg)
{
    int64_t constant;
    unsigned header = w->f->loops.list[w->loop].header;
    if (reg < 32 && !changes(w->nests, w->loop, reg) && trip_constant(w->f, header, reg, &constant))
        return constant_form(constant);
    return register_form(reg);
}

/* Returns an exact form with its registers replaced by what they hold. */
static struct nest_form replaced(const struct nest_form *form, const struct nest_form *now)
{
    struct nest_form result = constant_form(form->low);
    for (unsigned i = 0; i < form->terms; i++)
        result = nest_sum(&result, &now[form->regs[i]], form->factors[i]);
    return result;
}

/* Finds what an inner loop's extra rounds are in terms of the loop that is walked. */
static void enter(const struct walk *w, unsigned loop, const struct nest_form *now)
{
    const struct nest_loop *l = &w->nests->loops[loop];
    struct nest_inner *inner = &w->inner[loop];
    memcpy(&w->entry[(size_t)NEST_REGISTERS * loop], now, NEST_REGISTERS * sizeof *now);
    inner->known = !l->unknown;
    if (l->unknown)
        return;
    inner->extra = replaced(&l->extra, now);
    unsigned parent = w->f->loops.list[loop].parent;
    if (l->fixed && !nest_is_exact(&inner->extra) && parent != w->loop)
        inner->extra = replaced(&l->around, &w->entry[(size_t)NEST_REGISTERS * parent]);
    inner->known = inner->extra.kind == NEST_SUM;
}

/* Returns how often at most a loop with constant extra rounds goes round again; -1: it is no constant. */
static int64_t again(const struct walk *w, unsigned loop)
{
    const struct nest_form *extra = &w->inner[loop].extra;
    if (extra->terms || extra->ways)
        return -1;
    return extra->high < 0 ? 0 : extra->high / w->nests->loops[loop].each;
}

/* Turns what registers hold where an inner loop is entered into what they hold in all its rounds. */
static void spread(const struct walk *w, unsigned loop, struct nest_form *now)
{
    const struct nest_loop *l = &w->nests->loops[loop];
    int64_t rounds = w->inner[loop].known ? again(w, loop) : 0;
    for (unsigned reg = 1; reg < NEST_REGISTERS; reg++) {
        int64_t way;
        if (l->change[reg] == NEST_KEPT)
            continue;
        bool fits = l->change[reg] == NEST_COUNTS && w->inner[loop].known && now[reg].kind == NEST_SUM;
        if (fits && rounds >= 0) {
            fits = !__builtin_mul_overflow(l->step[reg], rounds, &way) &&
                   !__builtin_add_overflow(now[reg].low, way < 0 ? way : 0, &now[reg].low) &&
                   !__builtin_add_overflow(now[reg].high, way > 0 ? way : 0, &now[reg].high);
        } else if (fits) {
            fits = !too_large(l->step[reg]) && add_way(&now[reg], loop, l->step[reg] > 0 ? l->step[reg] : 0,
                                                       l->step[reg] < 0 ? -l->step[reg] : 0);
        }
        if (!fits)
            now[reg] = unknown;
    }
}

/* Makes what registers hold behind an inner loop exact, where the number of its rounds is. */
static void leave(const struct walk *w, unsigned loop, struct nest_form *now)
{
    const struct nest_loop *l = &w->nests->loops[loop];
    const struct nest_form *extra = &w->inner[loop].extra;
    if (!w->inner[loop].known || !nest_is_exact(extra))
        return;
    int64_t rounds = again(w, loop);
    for (unsigned reg = 1; reg < NEST_REGISTERS; reg++) {
        const struct nest_form *start = &w->entry[(size_t)NEST_REGISTERS * loop + reg];
        int64_t way;
        if (l->change[reg] != NEST_COUNTS || start->kind != NEST_SUM)
            continue;
        if (rounds >= 0 && !__builtin_mul_overflow(rounds, l->step[reg], &way) &&
            !__builtin_add_overflow(way, l->at_exit[reg], &way)) {
            now[reg] = nest_plus(start, way);
        } else if (rounds < 0 && l->differs && l->step[reg] % l->each == 0) {
            const struct nest_form end = nest_sum(start, extra, l->step[reg] / l->each);
            now[reg] = nest_plus(&end, l->at_exit[reg]);
        }
    }
}

/* Joins what registers hold where a node begins. Returns false if no edge leads to it. */
static bool gather(const struct walk *w, unsigned node, unsigned inner, struct nest_form *now)
{
    struct nest_form from[NEST_REGISTERS];
    bool first = true;
    for (unsigned i = w->f->reverse.first[node]; i < w->f->reverse.first[node + 1]; i++) {
        unsigned before = w->f->reverse.to[i];
        if (!loops_contain(&w->f->loops, w->loop, before) || !w->f->dominators.depth[before] ||
            (inner != NODE_NONE && loops_contain(&w->f->loops, inner, before)))
            continue;
        if (w->done[before])
            memcpy(from, &w->after[(size_t)NEST_REGISTERS * before], sizeof from);
        for (unsigned reg = 0; reg < NEST_REGISTERS && !w->done[before]; reg++)
            from[reg] = unknown; /* an edge back into no loop */
        unsigned loop = w->f->loops.inner[before];
        if (w->done[before] && loop != w->loop && !loops_contain(&w->f->loops, loop, node) &&
            w->f->loops.list[loop].parent != NODE_NONE &&
            loops_contain(&w->f->loops, w->f->loops.list[loop].parent, node) &&
            before == w->nests->loops[loop].out)
            leave(w, loop, from);
        for (unsigned reg = 1; reg < NEST_REGISTERS; reg++)
            if (first || !same_form(&now[reg], &from[reg]))
                now[reg] = first ? from[reg] : unknown;
        first = false;
    }
    return !first;
}

static bool go_through(const struct walk *w, unsigned node, struct nest_form *now)
{
    const struct nest_walker *walker = w->walker;
    for (int at = function_first(w->f, node); at <= function_last(w->f, node); at++) {
        const struct cfg_insn *insn = &w->f->cfg->insns[at];
        bool word;
        if (walker && !walker->visit(walker->context, at, now))
            return false;
        if (cfg_is_call(insn))
            for (unsigned reg = 1; reg < NEST_REGISTERS; reg++)
                now[reg] = reg >= 32 || function_changes(insn, reg) ? unknown : now[reg];
        unsigned slot = nest_slot(w->nests, insn);
        if (slot && insn->step.insn.id == INSN_sd)
            now[slot] = form_of(now, insn->regs.rs2);
        if (insn->regs.rd >= 32 || insn->regs.rd == 0)
            continue;
        struct nest_form result = result_of(insn, at, now, &word);
        result = slot ? now[slot] : result;
        if (word && result.kind == NEST_OBJECT)
            result = unknown;
        if (word && result.kind == NEST_SUM && is_constant(&result))
            result = constant_form((int32_t)result.low);
        else if (word && result.kind == NEST_SUM && walker && !walker->word(walker->context, at, &result))
            return false;
        now[insn->regs.rd] = result;
    }
    return true;
}

static bool walk_over(struct walk *w)
{
    struct nest_form now[NEST_REGISTERS];
    unsigned header = w->f->loops.list[w->loop].header;
    for (unsigned i = 0; i < w->nests->count; i++) {
        unsigned node = w->nests->order[i], loop = w->f->loops.inner[node];
        if (!loops_contain(&w->f->loops, w->loop, node))
            continue;
        bool begins = loop != w->loop && loop != NODE_NONE && w->f->loops.list[loop].header == node;
        now[0] = constant_form(0);
        for (unsigned reg = 1; reg < NEST_REGISTERS && node == header; reg++)
            now[reg] = at_header(w, reg);
        if (node != header && !gather(w, node, begins ? loop : NODE_NONE, now))
            for (unsigned reg = 1; reg < NEST_REGISTERS; reg++)
                now[reg] = unknown;
        if (begins) {
            enter(w, loop, now);
            spread(w, loop, now);
        }
        if (!go_through(w, node, now))
            return false;
        memcpy(&w->after[(size_t)NEST_REGISTERS * node], now, sizeof now);
        w->done[node] = true;
    }
    return true;
}

static struct walk begin(const struct nests *nests, unsigned loop, const struct nest_walker *walker,
                         struct nest_inner *inner)
{
    const struct function *f = nests->f;
    return (struct walk){
        .nests = nests,
        .f = f,
        .loop = loop,
        .after = alloc((size_t)NEST_REGISTERS * (f->part->graph.nodes + 1), sizeof(struct nest_form)),
        .done = alloc(f->part->graph.nodes + 1, sizeof(bool)),
        .inner = inner,
        .entry = alloc((size_t)NEST_REGISTERS * (f->loops.count + 1), sizeof(struct nest_form)),
        .walker = walker};
}

static void end(struct walk *w)
{
    free(w->after);
    free(w->done);
    free(w->entry);
}

bool nest_walk(const struct nests *nests, unsigned loop, const struct nest_walker *walker,
               struct nest_inner *inner)
{
    struct walk w = begin(nests, loop, walker, inner);
    bool done = walk_over(&w);
    end(&w);
    return done;
}

/* Summaries. */

/* Finds the only node that leads out of the loop, in each round once, and the only one that leads back. Returns NULL, or why there are
 * none. */
static const char *find_ends(const struct function *f, unsigned loop, unsigned *out, unsigned *latch)
{
    const struct loop_ends ends = function_loop_ends(f, loop);
    *out = ends.out;
    *latch = ends.latch;
    if (ends.backs != 1)
        return "its rounds end in several places";
    if (ends.ways != 1)
        return "it has no exit, or several";
    if (f->loops.inner[*out] != loop || !dominates(&f->dominators, *out, *latch))
        return "not each round comes to its exit";
    return NULL;
}

static bool is_step(const struct nest_form *form, unsigned reg)
{
    return nest_is_exact(form) && form->terms == 1 && form->regs[0] == reg && form->factors[0] == 1;
}

static void find_changes(const struct walk *w, unsigned out, unsigned latch, struct nest_loop *l)
{
    for (unsigned reg = 1; reg < NEST_REGISTERS; reg++) {
        const struct nest_form *last = &w->after[(size_t)NEST_REGISTERS * latch + reg],
                               *there = &w->after[(size_t)NEST_REGISTERS * out + reg];
        l->change[reg] = NEST_KEPT;
        if (!changes(w->nests, w->loop, reg))
            continue;
        l->change[reg] = NEST_OTHER;
        if (latch == NODE_NONE || !is_step(last, reg))
            continue;
        l->step[reg] = last->low;
        bool exits = out != NODE_NONE && is_step(there, reg);
        l->at_exit[reg] = exits ? there->low : 0;
        if (last->low == 0)
            l->change[reg] = !exits || there->low == 0 ? NEST_KEPT : NEST_OTHER;
        else if (out == NODE_NONE || exits)
            l->change[reg] = NEST_COUNTS;
    }
}

/* Finds the number of rounds from the difference of what the branch at the exit compares. Returns NULL, or why it is not known. */
static const char *find_rounds(const struct walk *w, unsigned out, struct nest_loop *l)
{
    const struct cfg_insn *branch = &w->f->cfg->insns[function_last(w->f, out)];
    const struct nest_form *now = &w->after[(size_t)NEST_REGISTERS * out], zero = constant_form(0);
    int64_t stride = 0;
    if (!(branch->step.flow & FLOW_BRANCH) || branch->target == CFG_NONE)
        return "its exit is no branch";
    struct nest_form a = form_of(now, branch->regs.rs1), b = form_of(now, branch->regs.rs2);
    struct nest_form extra = nest_sum(&b, &a, -1);
    l->compared[0] = a;
    l->compared[1] = b;
    if (!nest_is_exact(&extra))
        return "it is not known what the branch at its exit compares";
    for (unsigned i = 0; i < extra.terms; i++) {
        if (l->change[extra.regs[i]] == NEST_OTHER)
            return "what the branch at its exit compares does not change by a constant";
        if (l->change[extra.regs[i]] == NEST_COUNTS)
            stride -= l->step[extra.regs[i]] * extra.factors[i];
    }
    if (stride == 0)
        return "no round changes what the branch at its exit compares";
    bool stays = false;
    int block = w->f->cfg->insns[branch->target].block;
    for (unsigned i = 0; i < w->f->loops.list[w->loop].count; i++) {
        unsigned member = w->f->loops.members[w->f->loops.list[w->loop].first + i];
        stays |= w->f->part->blocks[member] == block;
    }
    enum insn_id id = (enum insn_id)branch->step.insn.id;
    if (id == INSN_bgeu || id == INSN_bltu)
        return "the branch at its exit compares without sign";
    l->differs = id == INSN_bne || id == INSN_beq;
    if (l->differs && (id == INSN_bne) != stays)
        return "it ends when two values differ";
    /* blt: it goes on while a < b (or if it exits: while a >= b); extra is b - a, and a - b grows by stride. */
    bool less = (id == INSN_blt) == stays;
    if (!l->differs && less != (stride > 0))
        return "the branch at its exit does not fit the direction of its steps";
    l->each = stride > 0 ? stride : -stride;
    if (stride < 0)
        extra = nest_sum(&zero, &extra, -1);
    /* Up, it goes on while extra > 0 (less), else >= 0 with the sign turned. */
    if (!l->differs)
        extra = nest_plus(&extra, l->each - (less ? 1 : 0));
    l->extra = extra;
    return extra.kind == NEST_SUM ? NULL : "the number of its rounds has too many terms";
}

static void sum_up(struct nests *nests, unsigned loop, struct nest_inner *inner)
{
    struct nest_loop *l = &nests->loops[loop];
    struct walk w = begin(nests, loop, NULL, inner);
    unsigned out = NODE_NONE, latch = NODE_NONE;
    l->unknown = find_ends(nests->f, loop, &out, &latch);
    (void)walk_over(&w);
    if (l->unknown)
        out = latch = NODE_NONE;
    find_changes(&w, out, latch, l);
    if (!l->unknown)
        l->unknown = find_rounds(&w, out, l);
    l->out = out;
    for (unsigned other = loop + 1; other < nests->f->loops.count; other++) {
        const struct nest_form *extra = &inner[other].extra;
        bool fixed = nests->f->loops.list[other].parent == loop && inner[other].known && nest_is_exact(extra);
        int64_t stride = 0;
        for (unsigned i = 0; fixed && i < extra->terms; i++) {
            int64_t step = l->change[extra->regs[i]] == NEST_COUNTS ? l->step[extra->regs[i]] : 0, change;
            fixed = l->change[extra->regs[i]] != NEST_OTHER &&
                    !__builtin_mul_overflow(step, extra->factors[i], &change) &&
                    !__builtin_add_overflow(stride, change, &stride);
        }
        fixed = fixed && stride == 0;
        nests->loops[other].fixed |= fixed;
        if (fixed)
            nests->loops[other].around = *extra;
    }
    end(&w);
}

/* Differences. */

/* Returns the only node from which a loop is entered, or NODE_NONE. */
static unsigned node_before(const struct function *f, unsigned loop)
{
    const unsigned header = f->loops.list[loop].header;
    unsigned before = NODE_NONE, ways = 0;
    for (unsigned i = f->reverse.first[header]; i < f->reverse.first[header + 1]; i++)
        if (!loops_contain(&f->loops, loop, f->reverse.to[i])) {
            before = f->reverse.to[i];
            ways++;
        }
    return ways == 1 ? before : NODE_NONE;
}

/* Returns by how much a round of a loop changes a form. */
static int64_t change_of(const struct nest_loop *loop, const struct nest_form *form)
{
    int64_t change = 0;
    for (unsigned i = 0; i < form->terms; i++)
        if (loop->change[form->regs[i]] == NEST_COUNTS)
            change += loop->step[form->regs[i]] * form->factors[i];
    return change;
}

bool nest_difference(const struct nests *nests, unsigned loop, const struct nest_form *form,
                     int64_t *difference)
{
    struct value values[NEST_TERMS];
    const unsigned before = node_before(nests->f, loop);
    if (before == NODE_NONE || !nest_is_exact(form) || change_of(&nests->loops[loop], form) != 0)
        return false;
    *difference = form->low;
    for (unsigned i = 0; i < form->terms; i++) {
        if (form->regs[i] >= 32)
            return false;
        values[i] = function_value(nests->f, before, 0, form->regs[i]);
        *difference += form->factors[i] * values[i].offset;
    }
    for (unsigned i = 0; i < form->terms; i++) {
        int64_t factor = 0;
        for (unsigned j = 0; j < form->terms; j++)
            if (values[j].base == values[i].base && values[j].place == values[i].place)
                factor += form->factors[j];
        if (values[i].base != REGISTER_NONE && factor != 0)
            return false;
    }
    return true;
}

struct nests nests_of(const struct function *f)
{
    struct nests nests = {.f = f,
                          .loops = alloc(f->loops.count + 1, sizeof *nests.loops),
                          .order = alloc(f->part->graph.nodes + 1, sizeof *nests.order)};
    struct nest_inner *inner = alloc(f->loops.count + 1, sizeof *inner);
    find_slots(&nests);
    nests.count = digraph_order(&f->part->graph, 0, nests.order);
    for (unsigned loop = f->loops.count; loop-- > 0;)
        sum_up(&nests, loop, inner);
    free(inner);
    return nests;
}

void nests_free(struct nests *nests)
{
    free(nests->loops);
    free(nests->order);
    *nests = (struct nests){0};
}
