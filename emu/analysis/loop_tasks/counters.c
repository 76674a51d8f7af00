#include "emu/analysis/loop_tasks/search.h"

int loop_task_branch(const struct function *f, unsigned loop)
{
    const struct loop_ends ends = function_loop_ends(f, loop);
    if (ends.ways != 1 || ends.backs != 1 || ends.latch != ends.out)
        return CFG_NONE;
    int at = function_last(f, ends.latch);
    const struct cfg_insn *insn = &f->cfg->insns[at];
    bool fits =
        (insn->step.flow & FLOW_BRANCH) && insn->target == function_first(f, f->loops.list[loop].header);
    return fits ? at : CFG_NONE;
}

bool loop_counter_of(const struct function *f, unsigned loop, unsigned reg, struct task_counter *counter)
{
    const struct loop *l = &f->loops.list[loop];
    unsigned changes = 0, where = 0;
    const struct insn *adds = NULL;
    for (unsigned i = 0; i < l->count; i++) {
        unsigned node = f->loops.members[l->first + i];
        for (int at = function_first(f, node); at <= function_last(f, node); at++) {
            if (!function_changes(&f->cfg->insns[at], reg))
                continue;
            changes++;
            adds = &f->cfg->insns[at].step.insn;
            where = node;
        }
    }
    if (reg >= 32 || changes != 1 || f->loops.inner[where] != loop || adds->rd != reg || adds->rs1 != reg ||
        (adds->id != INSN_addi && adds->id != INSN_addiw))
        return false;
    for (unsigned i = f->reverse.first[l->header]; i < f->reverse.first[l->header + 1]; i++) {
        unsigned from = f->reverse.to[i];
        if (loops_contain(&f->loops, loop, from) && !dominates(&f->dominators, where, from))
            return false;
    }
    *counter = (struct task_counter){(uint8_t)reg, adds->imm, adds->id == INSN_addiw};
    return true;
}

const struct task_counter *task_counter_of(const struct loop_task *task, unsigned reg)
{
    for (unsigned i = 0; i < task->counter_count; i++)
        if (task->counters[i].reg == reg)
            return &task->counters[i];
    return NULL;
}
