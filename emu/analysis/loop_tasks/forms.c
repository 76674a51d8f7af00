#include "emu/analysis/loop_tasks/search.h"

#include <string.h>

#include "emu/analysis/terms.h"

static const struct task_form unknown = {.kind = FORM_UNKNOWN, .object = CFG_NONE};

struct task_form form_constant(int64_t value)
{
    return (struct task_form){.kind = FORM_SUM, .low = value, .high = value, .object = CFG_NONE};
}

static struct task_form register_form(unsigned reg)
{
    return (struct task_form){
        .kind = FORM_SUM, .terms = 1, .regs = {(uint8_t)reg}, .factors = {1}, .object = CFG_NONE};
}

/* Returns the AUIPC of the object whose address is part of the form, or CFG_NONE. */
static int object_of(const struct task_search *s, const struct task_form *form)
{
    if (form->kind == FORM_OBJECT)
        return form->object;
    for (unsigned i = 0; form->kind == FORM_SUM && i < form->terms; i++)
        if (form->factors[i] == 1 && s->objects[form->regs[i]] != CFG_NONE)
            return s->objects[form->regs[i]];
    return CFG_NONE;
}

/* Returns the form of a sum whose terms are not known: an address in the object that a or b names; unknown if both or none
 * do. */
static struct task_form blurred(const struct task_search *s, const struct task_form *a,
                                const struct task_form *b)
{
    int first = object_of(s, a), second = object_of(s, b);
    if ((first == CFG_NONE) == (second == CFG_NONE))
        return unknown;
    return (struct task_form){.kind = FORM_OBJECT, .object = first == CFG_NONE ? second : first};
}

static bool scale(struct task_form *form, int64_t factor)
{
    bool over = __builtin_mul_overflow(form->low, factor, &form->low);
    over |= __builtin_mul_overflow(form->high, factor, &form->high);
    for (unsigned i = 0; i < form->terms; i++)
        over |= __builtin_mul_overflow(form->factors[i], factor, &form->factors[i]);
    if (factor < 0) {
        int64_t low = form->high;
        form->high = form->low;
        form->low = low;
    }
    return !over;
}

struct task_form form_sum(const struct task_search *s, const struct task_form *a, const struct task_form *b,
                          int64_t factor)
{
    struct task_form sum = *a, added = *b;
    bool fits = a->kind == FORM_SUM && b->kind == FORM_SUM && scale(&added, factor);
    for (unsigned i = 0; fits && i < added.terms; i++)
        fits = terms_add(sum.regs, sum.factors, &sum.terms, TASK_TERMS, added.regs[i], added.factors[i]);
    fits = fits && !__builtin_add_overflow(sum.low, added.low, &sum.low) &&
           !__builtin_add_overflow(sum.high, added.high, &sum.high);
    if (fits)
        return sum;
    return factor == 1 ? blurred(s, a, b) : blurred(s, a, &unknown);
}

struct task_form form_of(const struct task_form *now, unsigned reg)
{
    return reg == REGISTER_NONE ? form_constant(0) : reg < 32 ? now[reg] : unknown;
}

struct task_form form_result(const struct task_search *s, int at, const struct task_form *now)
{
    const struct cfg_insn *insn = search_insn(s, at);
    const struct insn *i = &insn->step.insn;
    struct task_form a = form_of(now, insn->regs.rs1), b = form_of(now, insn->regs.rs2), c;
    switch ((enum insn_id)i->id) {
    case INSN_auipc: return (struct task_form){.kind = FORM_OBJECT, .object = at};
    case INSN_lui: return form_constant(i->imm);
    case INSN_addi: c = form_constant(i->imm); return form_sum(s, &a, &c, 1);
    case INSN_add: return form_sum(s, &a, &b, 1);
    case INSN_sub: return form_sum(s, &a, &b, -1);
    case INSN_sh1add: return form_sum(s, &b, &a, 2);
    case INSN_sh2add: return form_sum(s, &b, &a, 4);
    case INSN_sh3add: return form_sum(s, &b, &a, 8);
    case INSN_slli: return a.kind == FORM_SUM && i->imm < 32 && scale(&a, INT64_C(1) << i->imm) ? a : unknown;
    default: return unknown;
    }
}

bool form_same(const struct task_form *a, const struct task_form *b)
{
    if (a->kind != b->kind || a->terms != b->terms || a->object != b->object)
        return false;
    for (unsigned i = 0; i < a->terms; i++)
        if (a->regs[i] != b->regs[i] || a->factors[i] != b->factors[i])
            return false;
    return a->low == b->low && a->high == b->high;
}

/* Returns whether *into grows. */
static bool join(const struct task_search *s, struct task_form *into, const struct task_form *form)
{
    struct task_form old = *into;
    if (old.kind == FORM_UNSEEN)
        *into = *form;
    else if (form->kind != FORM_UNSEEN && !form_same(into, form)) {
        int first = object_of(s, into), second = object_of(s, form);
        *into = first != CFG_NONE && first == second
                    ? (struct task_form){.kind = FORM_OBJECT, .object = first}
                    : unknown;
    }
    return !form_same(&old, into);
}

/* Computes what registers hold behind a node. */
static void go_through(const struct task_search *s, unsigned node, struct task_form *now)
{
    memcpy(now, &s->before[(size_t)32 * node], 32 * sizeof *now);
    for (int at = function_first(s->f, node); at <= function_last(s->f, node); at++)
        if (search_insn(s, at)->regs.rd < 32)
            now[search_insn(s, at)->regs.rd] = form_result(s, at, now);
}

/* Returns whether the register counts in an inner loop of a static trip count; *way is the sum that all rounds but
 * the last add. */
static bool counts_within(const struct task_search *s, unsigned inner, unsigned reg, int64_t *way)
{
    struct task_counter counter;
    const struct trip *trip = &s->trips[inner];
    if (trip->kind != TRIP_STATIC || trip->count > INT32_MAX || loop_task_branch(s->f, inner) == CFG_NONE ||
        !loop_counter_of(s->f, inner, reg, &counter) || counter.word)
        return false;
    *way = counter.step * ((int64_t)trip->count - 1);
    return true;
}

/* Turns a register's value at the entry of an inner loop into its range of values over all rounds. */
static struct task_form spread(struct task_form form, int64_t way)
{
    bool over = __builtin_add_overflow(form.low, way < 0 ? way : 0, &form.low);
    over |= __builtin_add_overflow(form.high, way > 0 ? way : 0, &form.high);
    return over ? unknown : form;
}

/* Returns the inner loop whose header the node is, or NODE_NONE. */
static unsigned inner_loop_at(const struct task_search *s, unsigned node)
{
    unsigned loop = s->f->loops.inner[node];
    return loop != NODE_NONE && loop != s->loop && s->f->loops.list[loop].header == node ? loop : NODE_NONE;
}

/* Passes the forms at a node's end to a successor. Returns whether a form there grows. */
static bool hand_on(const struct task_search *s, unsigned from, unsigned to, const struct task_form *now)
{
    unsigned inner = inner_loop_at(s, to);
    bool grows = false, back = inner != NODE_NONE && loops_contain(&s->f->loops, inner, from);
    for (unsigned reg = 1; reg < 32; reg++) {
        struct task_form form = now[reg];
        struct task_form *into = &s->before[(size_t)32 * to + reg];
        int64_t way;
        if (inner != NODE_NONE && counts_within(s, inner, reg, &way)) {
            if (back && into->kind == FORM_SUM)
                continue; /* the range set at the loop's entry includes it */
            if (!back && form.kind == FORM_SUM)
                form = spread(form, way);
        }
        grows |= join(s, into, &form);
    }
    return grows;
}

void forms_find(struct task_search *s, const unsigned *order, unsigned count)
{
    unsigned header = s->f->loops.list[s->loop].header;
    struct task_form now[32];
    for (unsigned reg = 1; reg < 32; reg++) {
        /* sp, gp and tp cannot be operands of a launch (thread-local variables are relative to tp). */
        bool known = (reg < SP || reg > TP) &&
                     (function_changer(s->f, s->loop, reg) == CFG_NONE || task_counter_of(s->task, reg));
        s->before[(size_t)32 * header + reg] = known ? register_form(reg) : unknown;
    }
    for (bool grows = true; grows;) {
        grows = false;
        for (unsigned i = 0; i < count; i++) {
            unsigned node = order[i];
            if (!loops_contain(&s->f->loops, s->loop, node))
                continue;
            go_through(s, node, now);
            for (unsigned j = s->f->part->graph.first[node]; j < s->f->part->graph.first[node + 1]; j++) {
                unsigned to = s->f->part->graph.to[j];
                if (to != header && loops_contain(&s->f->loops, s->loop, to))
                    grows |= hand_on(s, node, to, now);
            }
        }
    }
}
