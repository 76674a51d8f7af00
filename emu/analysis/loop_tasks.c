#include "emu/analysis/loop_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "emu/analysis/loop_tasks/search.h"
#include "emu/sim/alloc.h"

enum { UNKNOWN_ROUNDS = 8, MOST_TIMES = 100000 }; /* guesses for the length of a round */

/* Calls visit() for each instruction of the loop, until it returns false. */
static bool each_insn(struct task_search *s, bool (*visit)(struct task_search *s, unsigned node, int at))
{
    const struct loop *l = &s->f->loops.list[s->loop];
    for (unsigned i = 0; i < l->count; i++) {
        unsigned node = s->f->loops.members[l->first + i];
        for (int at = function_first(s->f, node); at <= function_last(s->f, node); at++)
            if (!visit(s, node, at))
                return false;
    }
    return true;
}

/* Instructions that a loop may not have. */

static const char *obstacle(const struct cfg_insn *insn, enum task_need *need)
{
    *need = NEED_INLINE;
    if (cfg_is_call(insn))
        return "it calls a function";
    *need = NEED_COMPARISONS;
    if (insn->step.flow & FLOW_INDIRECT)
        return "it has an indirect jump";
    *need = NEED_OUTSIDE;
    switch ((enum insn_class)search_info(insn)->iclass) {
    case CLASS_AMO: *need = NEED_PLAIN_ACCESS; return "it has an atomic operation";
    case CLASS_FENCE: return "it has a fence";
    case CLASS_SYSTEM: return "it calls the environment";
    case CLASS_CSR: *need = NEED_NO_FLAGS; return "it accesses a CSR";
    case CLASS_HINT: return "it has a hint (nucd, a marker)";
    case CLASS_CUSTOM: return "it has a custom instruction";
    default: break;
    }
    bool block = search_info(insn)->access == ACCESS_BLOCK || search_info(insn)->access == ACCESS_ZERO;
    return block ? "it manages cache blocks" : NULL;
}

/* Estimates how often a round executes the node. */
static unsigned times_of(const struct task_search *s, unsigned node)
{
    unsigned times = 1;
    for (unsigned inner = s->f->loops.inner[node];
         inner != s->loop && inner != NODE_NONE && times < MOST_TIMES;
         inner = s->f->loops.list[inner].parent) {
        const struct trip *trip = &s->trips[inner];
        times *=
            trip->kind == TRIP_STATIC && trip->count < MOST_TIMES ? (unsigned)trip->count : UNKNOWN_ROUNDS;
    }
    return times < MOST_TIMES ? times : MOST_TIMES;
}

static bool plain(struct task_search *s, unsigned node, int at)
{
    const struct cfg_insn *insn = search_insn(s, at);
    enum task_need need, needed;
    const char *text = obstacle(insn, &need);
    uint64_t named = register_bit(insn->regs.rd) | register_bit(insn->regs.rs1) |
                     register_bit(insn->regs.rs2) | register_bit(insn->regs.rs3);
    s->task->length++;
    s->task->insns += times_of(s, node);
    s->task->named |= named;
    const char *told = s->names->obstacle(s->names->context, at, &needed);
    if (told) {
        text = told;
        need = needed;
    } else if (!text && nest_slot(s->nests, insn))
        s->task->slots = 1;
    else if (!text && (named & register_bit(SP))) {
        text = "it uses the stack frame, not only for spilled integers of 8 bytes";
        need = NEED_FEWER_VALUES;
    }
    return text ? task_refuse(s->task, at, need, "%s", text) : true;
}

/* Finds the branch and the last instruction of a loop that goes back by a jump right behind a branch that leaves it when two values
 * are equal. Code between them would not be executed in a task's last round. */
static void find_exit_before_jump(const struct task_search *s, const struct nest_loop *nest)
{
    struct loop_task *task = s->task;
    const struct loop *l = &s->f->loops.list[s->loop];
    if (nest->unknown || !nest->differs)
        return;
    int branch = function_last(s->f, nest->out), last = task->begin;
    for (unsigned i = 0; i < l->count; i++) {
        int at = function_last(s->f, s->f->loops.members[l->first + i]);
        last = at > last ? at : last;
    }
    const struct cfg_insn *jump = search_insn(s, last);
    if (last != branch + 1 || search_insn(s, branch)->step.insn.id != INSN_beq ||
        !(jump->step.flow & FLOW_JUMP) || jump->target != task->begin)
        return;
    task->branch = branch;
    task->last = last;
}

/* Tells why a loop does not end in a branch that is its only exit. */
static bool refuse_ends(const struct task_search *s)
{
    static const char says[] = "it does not end in a branch that is its only exit";
    const struct loop_ends ends = function_loop_ends(s->f, s->loop);
    if (ends.backs != 1)
        return task_refuse(s->task, s->task->begin, NEED_ONE_WAY_BACK, "%s: its rounds end in %u places",
                           says, ends.backs);
    const int exit = ends.ways ? function_last(s->f, ends.out) : s->task->begin;
    if (ends.ways != 1)
        return task_refuse(s->task, exit, NEED_ONE_EXIT,
                           ends.ways ? "%s: it has %u exits" : "%s: it has none", says, ends.ways);
    return task_refuse(s->task, exit, NEED_EXIT_AT_END, "%s: code of the round is behind it", says);
}

/* Looks at what holds for all loops. */
static bool look_at(struct task_search *s, const struct nest_loop *nest)
{
    struct loop_task *task = s->task;
    unsigned header = s->f->loops.list[s->loop].header;
    task->begin = function_first(s->f, header);
    task->where = task->begin;
    task->branch = task->last = loop_task_branch(s->f, s->loop);
    if (task->branch == CFG_NONE)
        find_exit_before_jump(s, nest);
    task->live = s->live->in[task->begin].any;
    if (!each_insn(s, plain))
        return false;
    if (task->branch == CFG_NONE)
        return refuse_ends(s);
    if ((int)task->length != task->last - task->begin + 1)
        return task_refuse(s->task, task->begin, NEED_ONE_PIECE, "its code is not in one piece");
    return true;
}

static bool has_inner(const struct task_search *s)
{
    for (unsigned loop = 0; loop < s->f->loops.count; loop++)
        if (loop != s->loop && loops_contain(&s->f->loops, s->loop, s->f->loops.list[loop].header))
            return true;
    return false;
}

/* Looks at the loop as a nest, if loops are within it, and as a single one; or first as a single one. Of the reasons why it cannot be divided,
 * that of a nest tells more, unless data decide where it accesses memory. */
static bool look_at_all(struct task_search *s, const struct nests *nests)
{
    struct loop_task *task = s->task, nested;
    if (!look_at(s, &nests->loops[s->loop]))
        return false;
    const bool single = task->last == task->branch, inner = has_inner(s);
    nested = *task;
    bool done = (inner || !single) && nest_task_of(nests, s->loop, s->names, s->live, &nested);
    if (!done && single && single_task_of(s, nests->order, nests->count))
        return true;
    if (!done && !inner && single)
        done = nest_task_of(nests, s->loop, s->names, s->live, &nested);
    if (done || !single || (inner && strncmp(task->reason, "data decide", 11) != 0))
        *task = nested;
    return done;
}

/* Adds a loop. Code behind the call of a function that never returns may seem to run into the next function: of several
 * functions that have the loop, it belongs to the one that begins nearest before it. */
static void add(struct loop_tasks *tasks, size_t *room, const struct cfg *cfg, const struct loop_task *task)
{
    int entry = cfg->functions[task->function].entry;
    for (size_t i = 0; i < tasks->count; i++) {
        struct loop_task *other = &tasks->list[i];
        int others = cfg->functions[other->function].entry;
        if (other->begin != task->begin)
            continue;
        if (entry <= task->begin && (others > task->begin || entry > others))
            *other = *task;
        return;
    }
    if (tasks->count == *room) {
        *room = *room ? 2 * *room : 32;
        tasks->list = alloc_resize(tasks->list, *room * sizeof *tasks->list);
    }
    tasks->list[tasks->count++] = *task;
}

/* Returns whether code outside of the function leads into it other than to its entry. */
static bool entered_elsewhere(const struct cfg *cfg, const struct cfg_function *part)
{
    bool *inside = alloc((size_t)cfg->block_count + 1, sizeof *inside), found = false;
    for (unsigned i = 0; i < part->count; i++)
        inside[part->blocks[i]] = true;
    for (int i = 0; i < cfg->count; i++) {
        const struct cfg_insn *insn = &cfg->insns[i];
        if (inside[insn->block])
            continue;
        const int to[] = {insn->next, insn->target};
        for (unsigned j = 0; j < 2; j++)
            found |= to[j] != CFG_NONE && to[j] != part->entry && inside[cfg->insns[to[j]].block];
        for (int j = insn->first; j < insn->last; j++)
            found |= inside[cfg->insns[j].block];
    }
    free(inside);
    return found;
}

static void look_at_function(struct loop_tasks *tasks, size_t *room, const struct function *f, int number,
                             const struct task_names *names, const struct liveness *live)
{
    struct nests nests = nests_of(f);
    bool shared = entered_elsewhere(f->cfg, f->part);
    struct task_search s = {.f = f,
                            .names = names,
                            .live = live,
                            .nests = &nests,
                            .trips = alloc(f->loops.count + 1, sizeof *s.trips),
                            .before = alloc((size_t)32 * (f->part->graph.nodes + 1), sizeof *s.before)};
    for (unsigned loop = 0; loop < f->loops.count; loop++)
        s.trips[loop] = trip_of(f, loop);
    for (s.loop = 0; s.loop < f->loops.count; s.loop++) {
        struct loop_task task = {.function = number};
        memset(s.before, 0, (size_t)32 * (f->part->graph.nodes + 1) * sizeof *s.before);
        s.task = &task;
        task.possible = look_at_all(&s, &nests);
        if (shared && task.possible)
            task.possible =
                task_refuse(s.task, task.begin, NEED_ONE_ENTRY, "other functions jump into its function");
        add(tasks, room, f->cfg, &task);
    }
    free(s.before);
    free(s.trips);
    nests_free(&nests);
}

static int by_begin(const void *a, const void *b)
{
    const struct loop_task *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

struct loop_tasks loop_tasks_of(const struct cfg *cfg, const struct task_names *names)
{
    struct loop_tasks tasks = {0};
    size_t room = 0;
    struct liveness live = liveness_of(cfg, NULL);
    for (int i = 0; i < cfg->function_count && !cfg->too_large; i++) {
        struct function f = function_open(cfg, &cfg->functions[i]);
        look_at_function(&tasks, &room, &f, i, names, &live);
        function_close(&f);
    }
    liveness_free(&live);
    if (tasks.count)
        qsort(tasks.list, tasks.count, sizeof *tasks.list, by_begin);
    return tasks;
}

void loop_tasks_free(struct loop_tasks *tasks)
{
    free(tasks->list);
    *tasks = (struct loop_tasks){0};
}
