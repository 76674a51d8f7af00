#include "emu/analysis/loop_tasks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/analysis/terms.h"
#include "emu/sim/alloc.h"

enum { UNKNOWN_ROUNDS = 8, MOST_TIMES = 100000 }; /* guesses for the length of a round */

/* The state of the analysis of a loop. */
struct search {
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

static const struct task_form unknown = {.kind = FORM_UNKNOWN, .object = CFG_NONE};

static const struct insn_info *info_of(const struct cfg_insn *insn)
{
    return &insn_table[insn->step.insn.id];
}

static const struct cfg_insn *insn_at(const struct search *s, int at)
{
    return &s->f->cfg->insns[at];
}

/* Calls visit() for each instruction of the loop, until it returns false. */
static bool each_insn(struct search *s, bool (*visit)(struct search *s, unsigned node, int at))
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

static const char *obstacle(const struct cfg_insn *insn)
{
    if (cfg_is_call(insn))
        return "it calls a function";
    if (insn->step.flow & FLOW_INDIRECT)
        return "it has an indirect jump";
    switch ((enum insn_class)info_of(insn)->iclass) {
    case CLASS_AMO: return "it has an atomic operation";
    case CLASS_FENCE: return "it has a fence";
    case CLASS_SYSTEM: return "it calls the environment";
    case CLASS_CSR: return "it accesses a CSR";
    case CLASS_HINT: return "it has a hint (nucd, a marker)";
    case CLASS_CUSTOM: return "it has a custom instruction";
    default: break;
    }
    bool block = info_of(insn)->access == ACCESS_BLOCK || info_of(insn)->access == ACCESS_ZERO;
    return block ? "it manages cache blocks" : NULL;
}

/* Estimates how often a round executes the node. */
static unsigned times_of(const struct search *s, unsigned node)
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

static bool plain(struct search *s, unsigned node, int at)
{
    const struct cfg_insn *insn = insn_at(s, at);
    const char *text = obstacle(insn);
    uint64_t named = register_bit(insn->regs.rd) | register_bit(insn->regs.rs1) |
                     register_bit(insn->regs.rs2) | register_bit(insn->regs.rs3);
    s->task->length++;
    s->task->insns += times_of(s, node);
    s->task->named |= named;
    const char *told = s->names->obstacle(s->names->context, at);
    if (told)
        text = told;
    else if (!text && nest_slot(s->nests, insn))
        s->task->slots = 1;
    else if (!text && (named & register_bit(SP)))
        text = "it uses the stack frame";
    return text ? task_refuse(s->task, at, "%s", text) : true;
}

int loop_task_branch(const struct function *f, unsigned loop)
{
    const struct loop *l = &f->loops.list[loop];
    unsigned latch = NODE_NONE, out = NODE_NONE, ways = 0, backs = 0;
    for (unsigned i = 0; i < l->count; i++) {
        unsigned node = f->loops.members[l->first + i];
        for (unsigned j = f->part->graph.first[node]; j < f->part->graph.first[node + 1]; j++) {
            unsigned to = f->part->graph.to[j];
            bool leaves = !loops_contain(&f->loops, loop, to);
            ways += leaves;
            backs += to == l->header;
            out = leaves ? node : out;
            latch = to == l->header ? node : latch;
        }
    }
    if (ways != 1 || backs != 1 || latch != out)
        return CFG_NONE;
    int at = function_last(f, latch);
    const struct cfg_insn *insn = &f->cfg->insns[at];
    bool fits = (insn->step.flow & FLOW_BRANCH) && insn->target == function_first(f, l->header);
    return fits ? at : CFG_NONE;
}

/* Counters. */

/* Returns whether one instruction of the loop changes the register, in each round once, by adding a constant. */
static bool counter_of(const struct function *f, unsigned loop, unsigned reg, struct task_counter *counter)
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

static const struct task_counter *find_counter(const struct loop_task *task, unsigned reg)
{
    for (unsigned i = 0; i < task->counter_count; i++)
        if (task->counters[i].reg == reg)
            return &task->counters[i];
    return NULL;
}

/* Finds the counters: the registers live where the loop begins that it changes. Refuses the loop if one is no counter. */
static bool find_counters(struct search *s)
{
    struct loop_task *task = s->task;
    for (unsigned reg = 1; reg < REGISTERS; reg++) {
        struct task_counter counter;
        if (!(task->live >> reg & 1) || function_changer(s->f, s->loop, reg) == CFG_NONE)
            continue;
        if (!counter_of(s->f, s->loop, reg, &counter))
            return task_refuse(s->task, function_changer(s->f, s->loop, reg),
                               "register %s carries a value from round to round", name_of_register(reg));
        if (task->counter_count == TASK_COUNTERS)
            return task_refuse(s->task, task->begin, "it has more than %d counters", TASK_COUNTERS);
        task->counters[task->counter_count++] = counter;
    }
    return true;
}

/* Sums. */

static struct task_form constant_form(int64_t value)
{
    return (struct task_form){.kind = FORM_SUM, .low = value, .high = value, .object = CFG_NONE};
}

static struct task_form register_form(unsigned reg)
{
    return (struct task_form){
        .kind = FORM_SUM, .terms = 1, .regs = {(uint8_t)reg}, .factors = {1}, .object = CFG_NONE};
}

/* Returns the AUIPC of the object whose address is part of the form, or CFG_NONE. */
static int object_of(const struct search *s, const struct task_form *form)
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
static struct task_form blurred(const struct search *s, const struct task_form *a, const struct task_form *b)
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

/* Returns a + factor * b. */
static struct task_form sum_of(const struct search *s, const struct task_form *a, const struct task_form *b,
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

static struct task_form form_of(const struct task_form *now, unsigned reg)
{
    return reg == REGISTER_NONE ? constant_form(0) : reg < 32 ? now[reg] : unknown;
}

/* Returns what an instruction writes to its integer register. */
static struct task_form result_of(const struct search *s, int at, const struct task_form *now)
{
    const struct cfg_insn *insn = insn_at(s, at);
    const struct insn *i = &insn->step.insn;
    struct task_form a = form_of(now, insn->regs.rs1), b = form_of(now, insn->regs.rs2), c;
    switch ((enum insn_id)i->id) {
    case INSN_auipc: return (struct task_form){.kind = FORM_OBJECT, .object = at};
    case INSN_lui: return constant_form(i->imm);
    case INSN_addi: c = constant_form(i->imm); return sum_of(s, &a, &c, 1);
    case INSN_add: return sum_of(s, &a, &b, 1);
    case INSN_sub: return sum_of(s, &a, &b, -1);
    case INSN_sh1add: return sum_of(s, &b, &a, 2);
    case INSN_sh2add: return sum_of(s, &b, &a, 4);
    case INSN_sh3add: return sum_of(s, &b, &a, 8);
    case INSN_slli: return a.kind == FORM_SUM && i->imm < 32 && scale(&a, INT64_C(1) << i->imm) ? a : unknown;
    default: return unknown;
    }
}

static bool same_form(const struct task_form *a, const struct task_form *b)
{
    if (a->kind != b->kind || a->terms != b->terms || a->object != b->object)
        return false;
    for (unsigned i = 0; i < a->terms; i++)
        if (a->regs[i] != b->regs[i] || a->factors[i] != b->factors[i])
            return false;
    return a->low == b->low && a->high == b->high;
}

/* Returns whether *into grows. */
static bool join(const struct search *s, struct task_form *into, const struct task_form *form)
{
    struct task_form old = *into;
    if (old.kind == FORM_UNSEEN)
        *into = *form;
    else if (form->kind != FORM_UNSEEN && !same_form(into, form)) {
        int first = object_of(s, into), second = object_of(s, form);
        *into = first != CFG_NONE && first == second
                    ? (struct task_form){.kind = FORM_OBJECT, .object = first}
                    : unknown;
    }
    return !same_form(&old, into);
}

/* Computes what registers hold behind a node. */
static void go_through(const struct search *s, unsigned node, struct task_form *now)
{
    memcpy(now, &s->before[(size_t)32 * node], 32 * sizeof *now);
    for (int at = function_first(s->f, node); at <= function_last(s->f, node); at++)
        if (insn_at(s, at)->regs.rd < 32)
            now[insn_at(s, at)->regs.rd] = result_of(s, at, now);
}

/* Returns whether the register counts in an inner loop of a static trip count; *way is the sum that all rounds but
 * the last add. */
static bool counts_within(const struct search *s, unsigned inner, unsigned reg, int64_t *way)
{
    struct task_counter counter;
    const struct trip *trip = &s->trips[inner];
    if (trip->kind != TRIP_STATIC || trip->count > INT32_MAX || loop_task_branch(s->f, inner) == CFG_NONE ||
        !counter_of(s->f, inner, reg, &counter) || counter.word)
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
static unsigned inner_loop_at(const struct search *s, unsigned node)
{
    unsigned loop = s->f->loops.inner[node];
    return loop != NODE_NONE && loop != s->loop && s->f->loops.list[loop].header == node ? loop : NODE_NONE;
}

/* Passes the forms at a node's end to a successor. Returns whether a form there grows. */
static bool hand_on(const struct search *s, unsigned from, unsigned to, const struct task_form *now)
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

/* Finds what registers hold at each node of the loop, in terms of what they held at the beginning of the round. */
static void find_forms(struct search *s, const unsigned *order, unsigned count)
{
    unsigned header = s->f->loops.list[s->loop].header;
    struct task_form now[32];
    for (unsigned reg = 1; reg < 32; reg++) {
        /* sp, gp and tp cannot be operands of a launch (thread-local variables are relative to tp). */
        bool known = (reg < SP || reg > TP) &&
                     (function_changer(s->f, s->loop, reg) == CFG_NONE || find_counter(s->task, reg));
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

/* Memory. */

static bool same_terms(const struct task_form *a, const struct task_form *b)
{
    struct task_form x = *a, y = *b;
    x.low = x.high = y.low = y.high = 0;
    return same_form(&x, &y);
}

static int64_t stride_of(const struct search *s, const struct task_form *form)
{
    int64_t stride = 0;
    for (unsigned i = 0; i < form->terms; i++) {
        const struct task_counter *counter = find_counter(s->task, form->regs[i]);
        stride += counter ? counter->step * form->factors[i] : 0;
    }
    return stride;
}

/* Adds an access of `size` bytes to the ranges. */
static bool add_range(struct search *s, int at, const struct task_form *form,
                      const struct task_object *object, bool written)
{
    struct loop_task *task = s->task;
    struct task_range *range = task->ranges;
    struct task_range *end = range + task->range_count;
    int64_t size = (int64_t)info_of(insn_at(s, at))->size;
    while (range < end &&
           (range->from.kind != form->kind ||
            (object ? range->object.address != object->address : !same_terms(&range->from, form))))
        range++;
    if (range == end) {
        if (task->range_count == TASK_RANGES)
            return task_refuse(s->task, at, "it accesses more than %d arrays", TASK_RANGES);
        *range = (struct task_range){.from = *form};
        if (object)
            range->object = *object;
        else
            range->stride = stride_of(s, form);
        range->size = object ? (int64_t)object->size : form->high - form->low + size;
        task->range_count++;
    } else if (!object) {
        int64_t low = form->low < range->from.low ? form->low : range->from.low;
        int64_t end_of = range->from.low + range->size, other = form->high + size;
        range->from.low = low;
        range->size = (other > end_of ? other : end_of) - low;
    }
    range->read |= !written;
    range->written |= written;
    return true;
}

static bool add_access(struct search *s, int at, const struct task_form *base)
{
    const struct cfg_insn *insn = insn_at(s, at);
    bool written = info_of(insn)->access == ACCESS_STORE;
    struct task_form offset = constant_form(insn->step.insn.imm);
    struct task_form form = sum_of(s, base, &offset, 1);
    struct task_object object = {0};
    bool named = form.kind == FORM_OBJECT && s->names->object(s->names->context, form.object, &object);
    if (form.kind == FORM_OBJECT && written)
        return task_refuse(s->task, at, "data decide where it stores");
    if (form.kind == FORM_OBJECT && !named)
        return task_refuse(s->task, at, "data decide what it loads, from an array of unknown size");
    if (form.kind == FORM_OBJECT)
        return object.constant || add_range(s, at, &form, &object, false);
    if (form.kind != FORM_SUM)
        return task_refuse(s->task, at,
                           written ? "the address of its store is not known"
                                   : "the address of its load is not known");
    if (form.terms == 0)
        return task_refuse(s->task, at, "it accesses a fixed address");
    return add_range(s, at, &form, NULL, written);
}

static bool find_accesses(struct search *s, const unsigned *order, unsigned count)
{
    struct task_form now[32];
    for (unsigned i = 0; i < count; i++) {
        unsigned node = order[i];
        if (!loops_contain(&s->f->loops, s->loop, node))
            continue;
        memcpy(now, &s->before[(size_t)32 * node], sizeof now);
        for (int at = function_first(s->f, node); at <= function_last(s->f, node); at++) {
            const struct cfg_insn *insn = insn_at(s, at);
            struct task_form base = form_of(now, insn->regs.rs1);
            if (info_of(insn)->access != ACCESS_NONE && !add_access(s, at, &base))
                return false;
            if (insn->regs.rd < 32)
                now[insn->regs.rd] = result_of(s, at, now);
        }
    }
    return true;
}

static bool check_ranges(struct search *s)
{
    const struct loop_task *task = s->task;
    bool written = false;
    for (unsigned i = 0; i < task->range_count; i++) {
        const struct task_range *range = &task->ranges[i];
        int64_t stride = range->stride < 0 ? -range->stride : range->stride;
        written |= range->written;
        if (range->written && range->from.kind == FORM_SUM && stride == 0)
            return task_refuse(s->task, task->begin, "all rounds store to the same place");
        if (range->written && range->size > stride)
            return task_refuse(s->task, task->begin, "rounds access what other rounds store");
    }
    return written || task_refuse(s->task, task->begin, "it stores nothing");
}

/* Operands. */

unsigned task_range_register(const struct task_range *range, int64_t *bias)
{
    bool one = range->from.terms == 1 && range->from.factors[0] == 1 && range->stride >= 0;
    *bias = range->from.kind == FORM_SUM ? range->from.low : 0;
    return one ? range->from.regs[0] : REGISTER_NONE;
}

static bool add_carrier(struct loop_task *task, enum task_carry carry, unsigned number, bool input,
                        bool output, unsigned used[2])
{
    if (task->carrier_count == TASK_CARRIERS || used[0] + input > TASK_SEGMENTS ||
        used[1] + output > TASK_SEGMENTS)
        return false;
    struct task_carrier carrier = {carry, number, -1, -1};
    if (input)
        carrier.input = (int)used[0]++;
    if (output)
        carrier.output = (int)used[1]++;
    task->carriers[task->carrier_count++] = carrier;
    return true;
}

/* Adds a value, in an input segment or as an empty output range. */
static bool add_value(struct loop_task *task, enum task_carry carry, unsigned number, unsigned used[2])
{
    bool input = used[0] < TASK_SEGMENTS;
    return add_carrier(task, carry, number, input, !input, used);
}

/* Returns the registers that a task needs when it begins, without the limit if only the branch at the end reads it. */
static uint64_t needed(const struct search *s)
{
    const struct loop *l = &s->f->loops.list[s->loop];
    unsigned limit = s->task->up ? s->task->trip.minuend : s->task->trip.subtrahend;
    uint64_t set = 0;
    for (unsigned i = 0; i < l->count; i++) {
        unsigned node = s->f->loops.members[l->first + i];
        for (int at = function_first(s->f, node); at <= function_last(s->f, node); at++) {
            const struct cfg_insn *insn = insn_at(s, at);
            uint64_t read =
                register_bit(insn->regs.rs1) | register_bit(insn->regs.rs2) | register_bit(insn->regs.rs3);
            set |= at == s->task->branch ? read & ~register_bit(limit) : read;
        }
    }
    return set & s->task->live & ~(register_bit(3) | register_bit(4));
}

static bool find_carriers(struct search *s)
{
    struct loop_task *task = s->task;
    unsigned used[2] = {0};
    uint64_t left = needed(s);
    for (unsigned i = 0; i < task->range_count; i++) {
        struct task_range *range = &task->ranges[i];
        int64_t bias;
        for (unsigned reg = 1; range->from.kind == FORM_OBJECT && reg < 32; reg++)
            if (s->objects[reg] != CFG_NONE && (uint64_t)s->values[reg] == range->object.address) {
                range->from.terms = 1;
                range->from.regs[0] = (uint8_t)reg;
                range->from.factors[0] = 1;
            }
        if (!add_carrier(task, CARRY_RANGE, i, range->read, range->written, used))
            return task_refuse(
                s->task, task->begin,
                "it accesses more arrays than a nucd has ranges: 4 that it reads, 4 that it writes");
        left &= ~register_bit(task_range_register(range, &bias));
    }
    bool fits = add_value(task, CARRY_LENGTH, 0, used);
    for (unsigned reg = 1; reg < REGISTERS && fits; reg++)
        if (left >> reg & 1)
            fits = add_value(task, CARRY_REGISTER, reg, used);
    return fits || task_refuse(s->task, task->begin,
                               "its %u arrays and %d other values are more than a nucd has operands",
                               task->range_count, __builtin_popcountll(left) + 1);
}

/* Finds the object that each register points to, for registers that the loop does not change. */
static void find_objects(struct search *s)
{
    unsigned header = s->f->loops.list[s->loop].header;
    for (unsigned reg = 0; reg < 32; reg++) {
        s->objects[reg] = CFG_NONE;
        if (reg == 0 || !(s->task->live >> reg & 1) || function_changer(s->f, s->loop, reg) != CFG_NONE)
            continue;
        struct value value = function_value_before(s->f, header, reg);
        if (value.base == REGISTER_NONE && value.place > 0) {
            s->objects[reg] = value.place;
            s->values[reg] = value.offset;
        }
    }
}

static bool find_trip(struct search *s)
{
    struct loop_task *task = s->task;
    task->trip = s->trips[s->loop];
    if (task->trip.kind == TRIP_UNKNOWN)
        return task_refuse(s->task, task->branch, "its number of rounds is not known when it begins");
    const struct task_counter *up = find_counter(task, task->trip.subtrahend),
                              *down = find_counter(task, task->trip.minuend);
    task->up = up != NULL;
    return (up != NULL) != (down != NULL) ||
           task_refuse(s->task, task->branch, "its number of rounds is not known when it begins");
}

/* Finds the branch and the last instruction of a loop that goes back by a jump right behind a branch that leaves it when two values
 * are equal. Code between them would not be executed in a task's last round. */
static void find_exit_before_jump(const struct search *s, const struct nest_loop *nest)
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
    const struct cfg_insn *jump = insn_at(s, last);
    if (last != branch + 1 || insn_at(s, branch)->step.insn.id != INSN_beq ||
        !(jump->step.flow & FLOW_JUMP) || jump->target != task->begin)
        return;
    task->branch = branch;
    task->last = last;
}

/* Looks at what holds for all loops. */
static bool look_at(struct search *s, const struct nest_loop *nest)
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
        return task_refuse(s->task, task->begin, "it does not end in a branch that is its only exit");
    if ((int)task->length != task->last - task->begin + 1)
        return task_refuse(s->task, task->begin, "its code is not in one piece");
    return true;
}

static bool look_at_single(struct search *s, const unsigned *order, unsigned count)
{
    if (s->task->slots)
        return task_refuse(s->task, s->task->begin, "it uses the stack frame");
    if (!find_counters(s) || !find_trip(s))
        return false;
    find_objects(s);
    find_forms(s, order, count);
    return find_accesses(s, order, count) && check_ranges(s) && find_carriers(s);
}

static bool has_inner(const struct search *s)
{
    for (unsigned loop = 0; loop < s->f->loops.count; loop++)
        if (loop != s->loop && loops_contain(&s->f->loops, s->loop, s->f->loops.list[loop].header))
            return true;
    return false;
}

/* Looks at the loop as a nest if it cannot be divided otherwise. */
static bool look_at_all(struct search *s, const struct nests *nests)
{
    struct loop_task *task = s->task, nested;
    if (!look_at(s, &nests->loops[s->loop]))
        return false;
    nested = *task;
    if (task->last == task->branch && look_at_single(s, nests->order, nests->count))
        return true;
    bool done = nest_task_of(nests, s->loop, s->names, &nested);
    if (done || task->last != task->branch || (has_inner(s) && strncmp(task->reason, "data decide", 11) != 0))
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
    struct search s = {.f = f,
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
            task.possible = task_refuse(s.task, task.begin, "other functions jump into its function");
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
