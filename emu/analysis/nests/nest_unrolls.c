#include <stdlib.h>

#include "emu/analysis/loop_tasks.h"
#include "emu/sim/alloc.h"

enum { LONGEST = 32 /* instructions of a round */ };

/* A walk over an innermost loop, in terms of what registers hold where its round begins. */
struct found {
    const struct nests *nests;
    const struct nest_loop *loop;
    const uint8_t *ranges;
    struct nest_unroll *unroll;
    struct nest_form forms[NEST_ACCESSES];
    int begin;
};

static bool no_word(void *context, int at, const struct nest_form *value)
{
    (void)context, (void)at, (void)value;
    return true;
}

/* Finds by how much a round changes an address. Returns false if it is not known. */
static bool stride_of(const struct nest_loop *loop, const struct nest_form *form, int64_t *stride)
{
    *stride = 0;
    for (unsigned i = 0; i < form->terms; i++) {
        if (loop->change[form->regs[i]] == NEST_OTHER)
            return false;
        if (loop->change[form->regs[i]] == NEST_COUNTS)
            *stride += loop->step[form->regs[i]] * form->factors[i];
    }
    return nest_is_exact(form);
}

static bool note(void *context, int at, const struct nest_form regs[NEST_REGISTERS])
{
    struct found *found = context;
    struct nest_unroll *unroll = found->unroll;
    const struct cfg_insn *insn = &found->nests->f->cfg->insns[at];
    if (insn_table[insn->step.insn.id].access == ACCESS_NONE || nest_slot(found->nests, insn))
        return true;
    if (unroll->access_count == NEST_ACCESSES || insn->regs.rs1 >= 32)
        return false;
    unsigned number = unroll->access_count++;
    struct nest_access *access = &unroll->accesses[number];
    struct nest_form *form = &found->forms[number];
    *form = nest_plus(&regs[insn->regs.rs1], insn->step.insn.imm);
    *access = (struct nest_access){.at = at,
                                   .range = found->ranges[at - found->begin],
                                   .address = NEST_ACCESSES,
                                   .low = form->low,
                                   .size = (int64_t)insn_table[insn->step.insn.id].size};
    if (!stride_of(found->loop, form, &access->stride))
        return true;
    access->address = number;
    for (unsigned i = number; i-- > 0;)
        if (unroll->accesses[i].address < NEST_ACCESSES && nest_same_terms(&found->forms[i], form))
            access->address = unroll->accesses[i].address;
    return true;
}

static bool is_sum_of(const struct nest_form *form, unsigned reg, int64_t constant)
{
    return nest_is_exact(form) && form->terms == 1 && form->regs[0] == reg && form->factors[0] == 1 &&
           form->low == constant;
}

/* Finds the register, or the slot, that holds what the branch compares, and that the loop keeps. */
static bool find_limit(const struct nests *nests, unsigned loop, unsigned operand, unsigned *limit)
{
    const struct nest_loop *summary = &nests->loops[loop];
    const struct nest_form *form = &summary->compared[operand];
    const struct insn_registers *regs =
        &nests->f->cfg->insns[function_last(nests->f, nests->f->loops.list[loop].header)].regs;
    *limit = operand ? regs->rs2 : regs->rs1;
    if (function_changer(nests->f, loop, *limit) == CFG_NONE)
        return true;
    *limit = form->terms ? form->regs[0] : 0;
    return *limit >= 32 && is_sum_of(form, *limit, 0) && summary->change[*limit] == NEST_KEPT;
}

/* Returns whether a loop is one block whose branch at its end compares a counter with a register that stays as it is. */
static bool has_shape(const struct nests *nests, unsigned loop, struct nest_unroll *unroll)
{
    const struct function *f = nests->f;
    const struct loop *l = &f->loops.list[loop];
    const struct nest_loop *summary = &nests->loops[loop];
    if (l->count != 1 || summary->unknown)
        return false;
    unroll->first = function_first(f, l->header);
    unroll->branch = function_last(f, l->header);
    const struct cfg_insn *branch = &f->cfg->insns[unroll->branch];
    if (branch->target != unroll->first || unroll->branch - unroll->first > LONGEST)
        return false;
    for (int at = unroll->first; at < unroll->branch; at++) {
        const struct cfg_insn *insn = &f->cfg->insns[at];
        bool loads = nest_slot(nests, insn) && insn->step.insn.id == INSN_ld;
        if ((insn->regs.rs1 == SP && !loads) || insn->regs.rs2 == SP || insn->step.insn.id == INSN_auipc)
            return false;
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct nest_form *form = &summary->compared[i];
        unsigned reg = i ? branch->regs.rs2 : branch->regs.rs1, limit;
        if (reg >= 32 || summary->change[reg] != NEST_COUNTS || !is_sum_of(form, reg, summary->step[reg]) ||
            !find_limit(nests, loop, 1 - i, &limit))
            continue;
        unroll->counter = (uint8_t)reg;
        unroll->limit = (uint8_t)limit;
        unroll->step = summary->step[reg];
        return true;
    }
    return false;
}

/* Returns the ranges that the loop accesses, as a set; 0 if it stores nothing. */
static unsigned ranges_of(const struct function *f, const struct nest_unroll *unroll)
{
    unsigned set = 0;
    bool stores = false;
    for (unsigned i = 0; i < unroll->access_count; i++) {
        const struct nest_access *access = &unroll->accesses[i];
        set |= access->range ? 1U << (access->range - 1) : 0;
        stores |= insn_table[f->cfg->insns[access->at].step.insn.id].access == ACCESS_STORE;
    }
    return stores ? set : 0;
}

void nest_find_unrolls(const struct nests *nests, unsigned loop, const struct liveness *live,
                       const uint8_t *ranges, struct loop_task *task)
{
    const struct function *f = nests->f;
    struct task_nest *nest = &task->nest;
    struct nest_inner *inner = alloc(f->loops.count + 1, sizeof *inner);
    for (unsigned other = 0; other < f->loops.count && nest->unroll_count < NEST_UNROLLS; other++) {
        struct nest_unroll *unroll = &nest->unrolls[nest->unroll_count];
        *unroll = (struct nest_unroll){0};
        if (other == loop || !loops_contain(&f->loops, loop, f->loops.list[other].header) ||
            !has_shape(nests, other, unroll))
            continue;
        struct found found = {nests, &nests->loops[other], ranges, unroll, {{0}}, task->begin};
        const struct nest_walker walker = {note, no_word, &found};
        unroll->behind = live->out[unroll->branch].any;
        if (!nest_walk(nests, other, &walker, inner))
            continue;
        unroll->apart = ranges_of(f, unroll);
        nest->unroll_count++;
    }
    free(inner);
}

bool nest_are_apart(const struct nest_access *a, const struct nest_access *b, int64_t rounds)
{
    if (a->range != b->range || !a->range)
        return true;
    if (a->address != b->address || a->address == NEST_ACCESSES)
        return false;
    int64_t distance = b->low + b->stride * rounds - a->low;
    return distance >= a->size || distance <= -b->size;
}

bool nest_are_same(const struct nest_access *a, const struct nest_access *b, int64_t rounds)
{
    return a->address == b->address && a->address != NEST_ACCESSES && a->size == b->size &&
           a->low == b->low + b->stride * rounds;
}
