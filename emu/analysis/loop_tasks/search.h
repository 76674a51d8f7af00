/* The analysis of one loop (emu/analysis/loop_tasks.h), between its files. */
#ifndef EMU_ANALYSIS_LOOP_TASKS_SEARCH_H
#define EMU_ANALYSIS_LOOP_TASKS_SEARCH_H

#include "emu/analysis/loop_tasks.h"

struct task_search {
    const struct function *f;
    const struct task_names *names;
    const struct liveness *live;
    const struct nests *nests;
    unsigned loop;
    struct loop_task *task;
    struct trip *trips;       /* by loop of the function */
    struct task_form *before; /* by node and integer register: at the beginning of the node */
    int objects
        [32]; /* by register that the loop keeps: the AUIPC of the object that it points to, or CFG_NONE */
    int64_t values[32]; /* of these, the address */
};

static inline const struct cfg_insn *search_insn(const struct task_search *s, int at)
{
    return &s->f->cfg->insns[at];
}

static inline const struct insn_info *search_info(const struct cfg_insn *insn)
{
    return &insn_table[insn->step.insn.id];
}

/* In counters.c (and loop_task_branch()). */

/* Returns whether one instruction of the loop changes the register, in each round once, by adding a constant. */
bool loop_counter_of(const struct function *f, unsigned loop, unsigned reg, struct task_counter *counter);

/* Returns the task's counter in the register, or NULL. */
const struct task_counter *task_counter_of(const struct loop_task *task, unsigned reg);

/* In forms.c: sums. */

struct task_form form_constant(int64_t value);

/* Returns a + factor * b. */
struct task_form form_sum(const struct task_search *s, const struct task_form *a, const struct task_form *b,
                          int64_t factor);

/* Returns what a register holds; now: by integer register. */
struct task_form form_of(const struct task_form *now, unsigned reg);

/* Returns what an instruction writes to its integer register. */
struct task_form form_result(const struct task_search *s, int at, const struct task_form *now);

bool form_same(const struct task_form *a, const struct task_form *b);

/* Finds what registers hold at each node of the loop, in terms of what they held at the beginning of the round. order: nodes in reverse
 * post-order. */
void forms_find(struct task_search *s, const unsigned *order, unsigned count);

/* In single.c (and task_range_register()). Looks at a loop as one that is no nest: fills the task's counters, trip, ranges and carriers.
 * Returns false if it cannot be divided so: task->reason tells why. */
bool single_task_of(struct task_search *s, const unsigned *order, unsigned count);

#endif
