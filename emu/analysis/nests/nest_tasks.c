#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/analysis/loop_tasks.h"
#include "emu/sim/alloc.h"

enum { LEAST_ROUNDS = 8, NEAR = 64, SOME_ROUNDS = 8, GUESSED_ROUNDS = 64, MOST_TIMES = 1 << 24 };

/* The state of the analysis of a nest. */
struct search {
    const struct nests *nests;
    const struct function *f;
    const struct nest_loop *loop;
    const struct task_names *names;
    const struct liveness *live;
    struct loop_task *task;
    struct nest_inner *inner; /* by loop of the function */
    uint8_t *ranges;          /* by instruction from task->begin on: the number of its range, plus 1 */
    struct nest_form
        *forms; /* by instruction from task->begin on: what it accesses; ways name loops of the function */
    unsigned *numbers; /* by loop of the function: its number in nest.inners, plus 1; 0: none yet */
    unsigned number;
};

static const struct cfg_insn *insn_at(const struct search *s, int at)
{
    return &s->f->cfg->insns[at];
}

static bool find_counters(struct search *s)
{
    struct task_nest *nest = &s->task->nest;
    for (unsigned reg = 1; reg < REGISTERS; reg++) {
        int at = function_changer(s->f, s->number, reg);
        if (!(s->task->live >> reg & 1) || at == CFG_NONE || (reg < 32 && s->loop->change[reg] == NEST_KEPT))
            continue;
        if (reg >= 32 || s->loop->change[reg] != NEST_COUNTS)
            return task_refuse(s->task, at, task_need_of_register(s->f, s->number, reg),
                               "register %s carries a value from round to round", name_of_register(reg));
        if (nest->counter_count == NEST_COUNTERS)
            return task_refuse(s->task, s->task->begin, NEED_FEWER_COUNTERS, "it has more than %d counters",
                               NEST_COUNTERS);
        nest->counters[nest->counter_count++] =
            (struct task_counter){(uint8_t)reg, s->loop->step[reg], false};
    }
    return true;
}

/* Returns the register that holds the operand of the branch when a round begins and counts, or REGISTER_NONE. */
static unsigned counter_of(const struct search *s, unsigned operand)
{
    const struct nest_form *form = &s->loop->compared[operand];
    unsigned reg = form->regs[0];
    bool counts = nest_is_exact(form) && form->terms == 1 && form->factors[0] == 1 &&
                  s->loop->change[reg] == NEST_COUNTS && form->low == s->loop->step[reg] &&
                  (s->task->live >> reg & 1);
    return counts ? reg : REGISTER_NONE;
}

/* Finds the counter and the limit, and the trip that they make. */
static bool find_trip(struct search *s)
{
    struct loop_task *task = s->task;
    const struct insn_registers *regs = &insn_at(s, task->branch)->regs;
    if (s->loop->unknown)
        return task_refuse(s->task, task->branch, NEED_COUNTED_ROUNDS,
                           "its number of rounds is not known when it begins: %s", s->loop->unknown);
    bool first = counter_of(s, 0) != REGISTER_NONE, second = counter_of(s, 1) != REGISTER_NONE;
    if (first == second)
        return task_refuse(s->task, task->branch, NEED_COUNTED_ROUNDS,
                           "its number of rounds is not known when it begins: %s",
                           first ? "its limit moves" : "its end compares no register that counts");
    unsigned counter = counter_of(s, first ? 0 : 1), limit = first ? regs->rs2 : regs->rs1;
    if (limit < 32 && s->loop->change[limit] != NEST_KEPT)
        return task_refuse(s->task, task->branch, NEED_COUNTED_ROUNDS,
                           "its number of rounds is not known when it begins: its limit changes");
    int64_t step = s->loop->step[counter];
    task->nest.counter = (uint8_t)counter;
    task->nest.compared = first ? regs->rs1 : regs->rs2;
    task->nest.limit = (uint8_t)limit;
    task->up = step > 0;
    task->trip = (struct trip){.kind = TRIP_KNOWN, .step_register = REGISTER_NONE};
    task->trip.minuend = (uint8_t)(step > 0 ? limit : counter);
    task->trip.subtrahend = (uint8_t)(step > 0 ? counter : limit);
    task->trip.step = (uint64_t)s->loop->each;
    enum insn_id id = (enum insn_id)insn_at(s, task->branch)->step.insn.id;
    bool less = id == INSN_blt;
    task->trip.first = s->loop->differs ? 0 : (less ? 1 : 0) - s->loop->each;
    if (s->loop->extra.terms == 0 && nest_is_exact(&s->loop->extra)) {
        task->trip.kind = TRIP_STATIC;
        task->trip.count = s->loop->extra.low < 0 ? 1 : (uint64_t)(s->loop->extra.low / s->loop->each) + 1;
        if (task->trip.count < LEAST_ROUNDS)
            return task_refuse(s->task, task->begin, NEED_MORE_ROUNDS, "it has %d rounds only",
                               (int)task->trip.count);
    }
    return true;
}

/* Forms. */

static int64_t stride_of(const struct search *s, const struct nest_form *form)
{
    int64_t stride = 0;
    for (unsigned i = 0; i < form->terms; i++)
        if (s->loop->change[form->regs[i]] == NEST_COUNTS)
            stride += s->loop->step[form->regs[i]] * form->factors[i];
    return stride;
}

static bool is_known(const struct search *s, const struct nest_form *form)
{
    for (unsigned i = 0; i < form->terms; i++) {
        unsigned reg = form->regs[i];
        bool there = reg < 32 ? s->task->live >> reg & 1 : s->loop->change[reg] == NEST_KEPT;
        if ((reg >= SP && reg <= TP) || s->loop->change[reg] == NEST_OTHER || !there)
            return false;
    }
    return form->kind == NEST_SUM;
}

/* Replaces the loops that ways name by their numbers in nest.inners, to which it adds them. */
static bool number_ways(struct search *s, int at, struct nest_form *form)
{
    struct task_nest *nest = &s->task->nest;
    for (unsigned i = 0; i < form->ways; i++) {
        unsigned loop = form->inner[i];
        if (!s->numbers[loop]) {
            struct nest_extra extra = {.extra = s->inner[loop].extra,
                                       .each = s->nests->loops[loop].each,
                                       .differs = s->nests->loops[loop].differs};
            if (!is_known(s, &extra.extra))
                return task_refuse(
                    s->task, at, NEED_INNER_ROUNDS,
                    "the number of rounds of the loop around it is not known when the nest begins");
            if (!number_ways(s, at, &extra.extra))
                return false;
            if (nest->inner_count == NEST_INNERS)
                return task_refuse(s->task, at, NEED_FEWER_INNERS,
                                   "more than %d inner loops have numbers of rounds that registers decide",
                                   NEST_INNERS);
            nest->inners[nest->inner_count] = extra;
            s->numbers[loop] = ++nest->inner_count;
        }
        form->inner[i] = s->numbers[loop] - 1;
    }
    return true;
}

static bool word(void *context, int at, const struct nest_form *value)
{
    struct search *s = context;
    struct task_nest *nest = &s->task->nest;
    struct nest_form form = *value;
    if (!is_known(s, &form))
        return true; /* no address that is used depends on it: that would not be known either */
    if (!number_ways(s, at, &form))
        return false;
    for (unsigned i = 0; i < nest->word_count; i++) {
        struct nest_form *other = &nest->words[i];
        if (!nest_same_terms(other, &form))
            continue;
        other->low = form.low < other->low ? form.low : other->low;
        other->high = form.high > other->high ? form.high : other->high;
        return true;
    }
    if (nest->word_count == NEST_WORDS)
        return task_refuse(s->task, at, NEED_LONG, "it adds words to more than %d values", NEST_WORDS);
    nest->words[nest->word_count++] = form;
    return true;
}

/* Memory. */

/* Adds an access to the ranges: to one with the same terms, if it is near. */
static bool add_range(struct search *s, int at, const struct nest_form *form, bool written)
{
    struct task_nest *nest = &s->task->nest;
    int64_t size = (int64_t)insn_table[insn_at(s, at)->step.insn.id].size;
    struct nest_range *range = nest->ranges, *end = range + nest->range_count;
    for (; range < end; range++) {
        if (!nest_same_terms(&range->from, form))
            continue;
        int64_t low = form->low < range->from.low ? form->low : range->from.low;
        int64_t mine = form->high + size, others = range->from.high + range->size;
        if (form->low - others > NEAR || range->from.low - mine > NEAR)
            continue;
        range->from.low = low;
        range->size = (mine > others ? mine : others) - range->from.high;
        range->at = written && !range->written ? at : range->at;
        range->read |= !written;
        range->written |= written;
        s->ranges[at - s->task->begin] = (uint8_t)(range - nest->ranges + 1);
        return true;
    }
    if (nest->range_count == NEST_RANGES)
        return task_refuse(s->task, at, NEED_FEWER_ARRAYS, "it accesses more than %d arrays", NEST_RANGES);
    *range = (struct nest_range){.from = *form, .size = size, .read = !written, .written = written, .at = at};
    nest->range_count++;
    s->ranges[at - s->task->begin] = (uint8_t)nest->range_count;
    return true;
}

/* Refuses an access whose address is not known. */
static bool not_known(struct search *s, int at, bool written)
{
    for (unsigned loop = s->f->loops.inner[s->f->loops.list[s->number].header]; loop < s->f->loops.count;
         loop++) {
        const struct loop *l = &s->f->loops.list[loop];
        bool around = false;
        for (unsigned i = 0; i < l->count && loop != s->number; i++) {
            unsigned node = s->f->loops.members[l->first + i];
            around |= at >= function_first(s->f, node) && at <= function_last(s->f, node);
        }
        if (around && loops_contain(&s->f->loops, s->number, l->header) && !s->inner[loop].known)
            return task_refuse(s->task, at, NEED_INNER_ROUNDS,
                               "%s is not known, because the number of rounds of an inner loop is not: %s",
                               written ? "the address of its store" : "the address of its load",
                               s->nests->loops[loop].unknown ? s->nests->loops[loop].unknown
                                                             : "its limit is not known");
    }
    return task_refuse_address(s->task, s->f->cfg, at, written);
}

static bool visit(void *context, int at, const struct nest_form regs[NEST_REGISTERS])
{
    struct search *s = context;
    const struct cfg_insn *insn = insn_at(s, at);
    const struct insn_info *info = &insn_table[insn->step.insn.id];
    if (info->access == ACCESS_NONE || nest_slot(s->nests, insn))
        return true;
    bool written = info->access == ACCESS_STORE;
    struct nest_form form =
        insn->regs.rs1 < 32 ? nest_plus(&regs[insn->regs.rs1], insn->step.insn.imm) : regs[0];
    struct task_object object = {0};
    if (form.kind == NEST_OBJECT && !written && s->names->object(s->names->context, form.object, &object) &&
        object.constant)
        return true;
    if (form.kind == NEST_OBJECT)
        return task_refuse(s->task, at, NEED_COUNTED_INDEX,
                           written ? "data decide where it stores" : "data decide what it loads");
    if (!is_known(s, &form))
        return not_known(s, at, written);
    if (form.terms == 0)
        return task_refuse(s->task, at, NEED_MOVING_ADDRESS, "it accesses a fixed address");
    s->forms[at - s->task->begin] = form;
    return number_ways(s, at, &form) && add_range(s, at, &form, written);
}

/* Returns whether it is sure, before the loop runs, that a round of one range and a round of the other meet. */
static bool meet(const struct search *s, const struct nest_range *a, const struct nest_range *b)
{
    if (!nest_same_terms(&a->from, &b->from))
        return false;
    int64_t stride = stride_of(s, &a->from), rounds = SOME_ROUNDS;
    stride = stride < 0 ? -stride : stride;
    if (s->task->trip.kind == TRIP_STATIC && s->task->trip.count < INT32_MAX)
        rounds = (int64_t)s->task->trip.count;
    int64_t low = a->from.low < b->from.low ? a->from.low : b->from.low;
    int64_t end = a->from.high + a->size, other = b->from.high + b->size, size;
    size = (end > other ? end : other) - low;
    return size > stride && size <= stride * rounds;
}

/* Returns whether the last element of a range that an inner loop reads is one that an earlier round has stored. */
static bool reads_back(const struct search *s, const struct nest_range *stored, const struct nest_range *read)
{
    const struct nest_form *from = &read->from;
    const int64_t stride = stride_of(s, &stored->from);
    if (from->ways != 1 || from->down[0] || from->low != from->high)
        return false;
    const struct nest_extra *inner = &s->task->nest.inners[from->inner[0]];
    if (!inner->differs || !nest_is_exact(&inner->extra) || from->up[0] % inner->each != 0)
        return false;
    struct nest_form last = *from;
    last.ways = 0;
    last = nest_sum(&last, &inner->extra, from->up[0] / inner->each);
    int64_t distance;
    last = nest_sum(&stored->from, &last, -1);
    return nest_difference(s->nests, s->number, &last, &distance) && distance != 0 &&
           (stride == 0 || ((distance > 0) == (stride > 0) && distance % stride == 0));
}

static bool check_stores(struct search *s, const struct nest_range *range)
{
    const struct task_nest *nest = &s->task->nest;
    int64_t stride = stride_of(s, &range->from), size = range->from.high - range->from.low + range->size;
    if (stride == 0)
        return task_refuse(s->task, range->at, NEED_PLACES, "all rounds store to the same place");
    if (size > (stride < 0 ? -stride : stride))
        return task_refuse(s->task, range->at, NEED_STORES_APART,
                           "rounds access what other rounds store: each %lld bytes, %lld bytes from the last",
                           (long long)size, (long long)stride);
    for (unsigned i = 0; i < range->from.ways; i++)
        if (range->from.up[i] + range->from.down[i] >= (stride < 0 ? -stride : stride))
            return task_refuse(
                s->task, range->at, NEED_STORES_APART,
                "rounds access what other rounds store: columns, %lld bytes from the last round's",
                (long long)stride);
    for (unsigned j = 0; j < nest->range_count; j++)
        if (&nest->ranges[j] != range &&
            (meet(s, range, &nest->ranges[j]) || reads_back(s, range, &nest->ranges[j])))
            return task_refuse(s->task, nest->ranges[j].at, NEED_STORES_APART,
                               "rounds access what other rounds store");
    return true;
}

static bool check_ranges(struct search *s)
{
    const struct task_nest *nest = &s->task->nest;
    bool written = false;
    for (unsigned i = 0; i < nest->range_count; i++) {
        written |= nest->ranges[i].written;
        if (nest->ranges[i].written && !check_stores(s, &nest->ranges[i]))
            return false;
    }
    return written || task_refuse(s->task, s->task->begin, NEED_STORE, "it stores nothing");
}

/* Finds the registers that a task needs when it begins; the limit only if other instructions than the branch read it. */
static void find_needed(struct search *s)
{
    struct loop_task *task = s->task;
    const struct loop *l = &s->f->loops.list[s->number];
    uint64_t set = 0, others = 0;
    for (unsigned i = 0; i < l->count; i++) {
        unsigned node = s->f->loops.members[l->first + i];
        for (int at = function_first(s->f, node); at <= function_last(s->f, node); at++) {
            const struct insn_registers *regs = &insn_at(s, at)->regs;
            uint64_t read = register_bit(regs->rs1) | register_bit(regs->rs2) | register_bit(regs->rs3);
            set |= read;
            others |= at == task->branch ? register_bit(task->nest.compared) : read;
        }
    }
    task->nest.limit_alone = !(others & register_bit(task->nest.limit));
    if (task->nest.limit_alone)
        set &= ~register_bit(task->nest.limit);
    task->nest.needed = set & task->live & ~POINTERS;
}

static unsigned product(unsigned a, uint64_t b)
{
    return b < MOST_TIMES && a * b < MOST_TIMES ? (unsigned)(a * b) : MOST_TIMES;
}

/* Finds the innermost loop around a loop, or this one, that is in nest.inners; otherwise the outer loop. Returns how many rounds of the
 * given loop each of its rounds has; *number: its number in nest.inners, plus 1; 0: it is the outer loop. */
static unsigned times_of(const struct search *s, unsigned loop, unsigned *number)
{
    unsigned times = 1;
    for (*number = 0; loop != s->number && !(*number = s->numbers[loop]);
         loop = s->f->loops.list[loop].parent) {
        const struct nest_form *extra = &s->inner[loop].extra;
        bool known = s->inner[loop].known && !extra->terms && !extra->ways;
        uint64_t again = known && extra->high > 0 ? (uint64_t)(extra->high / s->nests->loops[loop].each) : 0;
        times = product(times, known ? again + 1 : SOME_ROUNDS);
    }
    return times;
}

/* Estimates the instructions of a round. */
static void find_lengths(struct search *s)
{
    struct task_nest *nest = &s->task->nest;
    const struct loop *l = &s->f->loops.list[s->number];
    unsigned number, guessed[NEST_INNERS];
    for (unsigned loop = 0; loop < s->f->loops.count; loop++)
        if (s->numbers[loop]) {
            struct nest_extra *extra = &nest->inners[s->numbers[loop] - 1];
            extra->times = times_of(s, s->f->loops.list[loop].parent, &extra->around);
        }
    for (unsigned i = 0; i < l->count; i++) {
        unsigned node = s->f->loops.members[l->first + i];
        unsigned length = (unsigned)(function_last(s->f, node) - function_first(s->f, node) + 1);
        length = product(length, times_of(s, s->f->loops.inner[node], &number));
        *(number ? &nest->inners[number - 1].insns : &nest->insns) += length;
    }
    s->task->insns = nest->insns;
    for (unsigned i = 0; i < nest->inner_count; i++) {
        const struct nest_extra *extra = &nest->inners[i];
        guessed[i] = product(extra->times, GUESSED_ROUNDS);
        if (extra->around && extra->around <= i)
            guessed[i] = product(guessed[i], guessed[extra->around - 1]);
        s->task->insns += product(extra->insns, guessed[i]);
    }
}

/* A walk over an innermost loop. */
struct far {
    const struct search *s;
    const struct nest_loop *loop;
    unsigned loads;
};

static bool no_word(void *context, int at, const struct nest_form *value)
{
    (void)context, (void)at, (void)value;
    return true;
}

static bool count_far(void *context, int at, const struct nest_form regs[NEST_REGISTERS])
{
    struct far *far = context;
    struct task_nest *nest = &far->s->task->nest;
    const struct cfg_insn *insn = insn_at(far->s, at);
    int64_t stride = 0;
    if (insn_table[insn->step.insn.id].access != ACCESS_LOAD || insn->regs.rs1 >= 32)
        return true;
    const struct nest_form *form = &regs[insn->regs.rs1];
    for (unsigned i = 0; i < form->terms && form->kind == NEST_SUM; i++)
        if (far->loop->change[form->regs[i]] == NEST_COUNTS)
            stride += far->loop->step[form->regs[i]] * form->factors[i];
    if (stride < NEAR && stride > -NEAR)
        return true;
    far->loads++;
    if (nest->far_count < NEST_FARS)
        nest->fars[nest->far_count++] = (struct nest_far){at, stride};
    return true;
}

static bool is_innermost(const struct function *f, unsigned loop)
{
    for (unsigned other = 0; other < f->loops.count; other++)
        if (f->loops.list[other].parent == loop)
            return false;
    return true;
}

/* Counts the loads of innermost loops whose next round loads from another cache line. */
static void find_far(struct search *s)
{
    struct task_nest *nest = &s->task->nest;
    struct nest_inner *inner = alloc(s->f->loops.count + 1, sizeof *inner);
    for (unsigned loop = 0; loop < s->f->loops.count; loop++) {
        if (loop == s->number || !is_innermost(s->f, loop) ||
            !loops_contain(&s->f->loops, s->number, s->f->loops.list[loop].header))
            continue;
        struct far far = {s, &s->nests->loops[loop], 0};
        (void)nest_walk(s->nests, loop, &(struct nest_walker){count_far, no_word, &far}, inner);
        const struct nest_form *extra = &s->inner[loop].extra;
        if (s->numbers[loop])
            nest->inners[s->numbers[loop] - 1].far = far.loads;
        else if (far.loads > 1 && s->inner[loop].known && !extra->terms && !extra->ways && extra->high > 0) {
            unsigned lines = product(far.loads, (uint64_t)(extra->high / s->nests->loops[loop].each) + 1);
            nest->far = lines > nest->far ? lines : nest->far;
        }
    }
    free(inner);
}

/* Returns the node in which each round of the loop stores to a slot, or NODE_NONE. *at: its last store. */
static unsigned find_store(const struct search *s, unsigned slot, int *at)
{
    const struct loop *l = &s->f->loops.list[s->number];
    unsigned exit = s->loop->out, found = NODE_NONE;
    for (unsigned i = 0; i < l->count; i++) {
        unsigned node = s->f->loops.members[l->first + i];
        for (int j = function_first(s->f, node); j <= function_last(s->f, node); j++) {
            const struct cfg_insn *insn = insn_at(s, j);
            if (nest_slot(s->nests, insn) != slot || insn->step.insn.id != INSN_sd ||
                !dominates(&s->f->dominators, node, exit) ||
                (found != NODE_NONE && !dominates(&s->f->dominators, node, found)))
                continue;
            *at = found == node ? *at : j;
            found = node;
        }
    }
    return found;
}

/* Checks that each round stores to a slot before it loads it, or that the loop never does, so that tasks may have slots of their own. */
static bool check_slots(struct search *s)
{
    const struct loop *l = &s->f->loops.list[s->number];
    for (unsigned i = 0; i < l->count; i++) {
        unsigned node = s->f->loops.members[l->first + i];
        for (int at = function_first(s->f, node); at <= function_last(s->f, node); at++) {
            unsigned slot = nest_slot(s->nests, insn_at(s, at));
            int store = CFG_NONE;
            if (!slot)
                continue;
            s->task->slots |= 1U << (slot - 32);
            if (s->loop->change[slot] == NEST_KEPT && !s->loop->unknown) {
                s->task->nest.needed_slots |= 1U << (slot - 32);
                continue;
            }
            unsigned there = s->loop->unknown ? NODE_NONE : find_store(s, slot, &store);
            if (there == NODE_NONE || !dominates(&s->f->dominators, there, node) ||
                (there == node && store > at))
                return task_refuse(s->task, at, NEED_FEWER_VALUES,
                                   "it uses the stack frame: a round loads what it has not stored there");
        }
    }
    memcpy(s->task->nest.slots, s->nests->slots, sizeof s->nests->slots);
    s->task->nest.slot_count = s->task->slots ? s->nests->slot_count : 0;
    return true;
}

/* Returns whether a store may be done once, behind the loop: a block that ends in its branch, of which each round stores to the same place
 * a register that it does not write again. */
static bool can_sink(const struct search *s, unsigned loop, int store, int branch)
{
    const struct cfg_insn *insn = insn_at(s, store);
    if (insn->regs.rs1 >= 32 || insn->regs.rs1 == SP ||
        function_changer(s->f, loop, insn->regs.rs1) != CFG_NONE || !s->ranges[store - s->task->begin])
        return false;
    for (int at = function_first(s->f, s->f->loops.list[loop].header); at <= branch; at++) {
        bool accesses = insn_table[insn_at(s, at)->step.insn.id].access != ACCESS_NONE;
        if (at > store && insn_at(s, at)->regs.rd == insn->regs.rs2)
            return false;
        if (at != store && accesses && s->ranges[at - s->task->begin] == s->ranges[store - s->task->begin])
            return false;
    }
    return true;
}

/* Returns the ranges that instructions access: a set. */
static unsigned ranges_of(const struct search *s, int first, int last)
{
    unsigned set = 0;
    for (int at = first; at <= last; at++)
        if (s->ranges[at - s->task->begin])
            set |= 1U << (s->ranges[at - s->task->begin] - 1);
    return set;
}

static void find_sinks(struct search *s)
{
    struct task_nest *nest = &s->task->nest;
    for (unsigned loop = 0; loop < s->f->loops.count; loop++) {
        const struct loop *l = &s->f->loops.list[loop];
        if (loop == s->number || l->count != 1 || !loops_contain(&s->f->loops, s->number, l->header))
            continue;
        int branch = function_last(s->f, l->header), first = function_first(s->f, l->header);
        bool ends = !s->nests->loops[loop].unknown && insn_at(s, branch)->target == first;
        for (int at = first; ends && at < branch; at++)
            if (insn_table[insn_at(s, at)->step.insn.id].access == ACCESS_STORE &&
                nest->sink_count < NEST_SINKS && can_sink(s, loop, at, branch))
                nest->sinks[nest->sink_count++] = (struct nest_sink){at, branch, ranges_of(s, first, branch)};
    }
}

/* Finds the slices of a nest whose rounds access what other rounds store. Otherwise, it cannot be divided for the reason that is noted. */
static bool find_slices(struct search *s)
{
    struct loop_task *task = s->task;
    if (!nest_find_slices(s->nests, s->number, s->inner, s->forms, s->ranges, task))
        return false;
    task->reason[0] = '\0';
    for (unsigned i = 0; i < task->nest.range_count; i++)
        if (task->nest.ranges[i].written && !check_stores(s, &task->nest.ranges[i]))
            return false;
    return true;
}

static bool look_at(struct search *s)
{
    struct nest_walker walker = {visit, word, s};
    if (!check_slots(s) || !find_counters(s) || !find_trip(s) ||
        !nest_walk(s->nests, s->number, &walker, s->inner))
        return false;
    const bool apart = check_ranges(s);
    nest_find_unrolls(s->nests, s->number, s->live, s->ranges, s->task);
    if (!apart && !find_slices(s))
        return false;
    find_needed(s);
    find_lengths(s);
    find_far(s);
    find_sinks(s);
    s->task->nested = true;
    return true;
}

bool nest_task_of(const struct nests *nests, unsigned loop, const struct task_names *names,
                  const struct liveness *live, struct loop_task *task)
{
    struct search s = {.nests = nests,
                       .f = nests->f,
                       .loop = &nests->loops[loop],
                       .names = names,
                       .live = live,
                       .task = task,
                       .inner = alloc(nests->f->loops.count + 1, sizeof *s.inner),
                       .ranges = alloc((size_t)(task->last - task->begin) + 1, sizeof *s.ranges),
                       .forms = alloc((size_t)(task->last - task->begin) + 1, sizeof *s.forms),
                       .numbers = alloc(nests->f->loops.count + 1, sizeof *s.numbers),
                       .number = loop};
    bool done = look_at(&s);
    free(s.inner);
    free(s.numbers);
    free(s.ranges);
    free(s.forms);
    return done;
}
