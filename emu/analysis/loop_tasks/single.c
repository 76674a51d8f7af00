#include "emu/analysis/loop_tasks/search.h"

#include <string.h>

/* Finds the counters: the registers live where the loop begins that it changes. Refuses the loop if one is no counter. */
static bool find_counters(struct task_search *s)
{
    struct loop_task *task = s->task;
    for (unsigned reg = 1; reg < REGISTERS; reg++) {
        struct task_counter counter;
        if (!(task->live >> reg & 1) || function_changer(s->f, s->loop, reg) == CFG_NONE)
            continue;
        if (!loop_counter_of(s->f, s->loop, reg, &counter))
            return task_refuse(s->task, function_changer(s->f, s->loop, reg),
                               task_need_of_register(s->f, s->loop, reg),
                               "register %s carries a value from round to round", name_of_register(reg));
        if (task->counter_count == TASK_COUNTERS)
            return task_refuse(s->task, task->begin, NEED_FEWER_COUNTERS, "it has more than %d counters",
                               TASK_COUNTERS);
        task->counters[task->counter_count++] = counter;
    }
    return true;
}

/* Memory. */

static bool same_terms(const struct task_form *a, const struct task_form *b)
{
    struct task_form x = *a, y = *b;
    x.low = x.high = y.low = y.high = 0;
    return form_same(&x, &y);
}

static int64_t stride_of(const struct task_search *s, const struct task_form *form)
{
    int64_t stride = 0;
    for (unsigned i = 0; i < form->terms; i++) {
        const struct task_counter *counter = task_counter_of(s->task, form->regs[i]);
        stride += counter ? counter->step * form->factors[i] : 0;
    }
    return stride;
}

/* Adds an access of `size` bytes to the ranges. */
static bool add_range(struct task_search *s, int at, const struct task_form *form,
                      const struct task_object *object, bool written)
{
    struct loop_task *task = s->task;
    struct task_range *range = task->ranges;
    struct task_range *end = range + task->range_count;
    int64_t size = (int64_t)search_info(search_insn(s, at))->size;
    while (range < end &&
           (range->from.kind != form->kind ||
            (object ? range->object.address != object->address : !same_terms(&range->from, form))))
        range++;
    if (range == end) {
        if (task->range_count == TASK_RANGES)
            return task_refuse(s->task, at, NEED_FEWER_ARRAYS, "it accesses more than %d arrays",
                               TASK_RANGES);
        *range = (struct task_range){.from = *form, .at = at};
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
    range->at = written && !range->written ? at : range->at;
    range->read |= !written;
    range->written |= written;
    return true;
}

static bool add_access(struct task_search *s, int at, const struct task_form *base)
{
    const struct cfg_insn *insn = search_insn(s, at);
    bool written = search_info(insn)->access == ACCESS_STORE;
    struct task_form offset = form_constant(insn->step.insn.imm);
    struct task_form form = form_sum(s, base, &offset, 1);
    struct task_object object = {0};
    bool named = form.kind == FORM_OBJECT && s->names->object(s->names->context, form.object, &object);
    if (form.kind == FORM_OBJECT && written)
        return task_refuse(s->task, at, NEED_COUNTED_INDEX, "data decide where it stores");
    if (form.kind == FORM_OBJECT && !named)
        return task_refuse(s->task, at, NEED_NAMED_ARRAY,
                           "data decide what it loads, from an array of unknown size");
    if (form.kind == FORM_OBJECT)
        return object.constant || add_range(s, at, &form, &object, false);
    if (form.kind != FORM_SUM)
        return task_refuse_address(s->task, s->f->cfg, at, written);
    if (form.terms == 0)
        return task_refuse(s->task, at, NEED_MOVING_ADDRESS, "it accesses a fixed address");
    return add_range(s, at, &form, NULL, written);
}

static bool find_accesses(struct task_search *s, const unsigned *order, unsigned count)
{
    struct task_form now[32];
    for (unsigned i = 0; i < count; i++) {
        unsigned node = order[i];
        if (!loops_contain(&s->f->loops, s->loop, node))
            continue;
        memcpy(now, &s->before[(size_t)32 * node], sizeof now);
        for (int at = function_first(s->f, node); at <= function_last(s->f, node); at++) {
            const struct cfg_insn *insn = search_insn(s, at);
            struct task_form base = form_of(now, insn->regs.rs1);
            if (search_info(insn)->access != ACCESS_NONE && !add_access(s, at, &base))
                return false;
            if (insn->regs.rd < 32)
                now[insn->regs.rd] = form_result(s, at, now);
        }
    }
    return true;
}

static bool check_ranges(struct task_search *s)
{
    const struct loop_task *task = s->task;
    bool written = false;
    for (unsigned i = 0; i < task->range_count; i++) {
        const struct task_range *range = &task->ranges[i];
        int64_t stride = range->stride < 0 ? -range->stride : range->stride;
        written |= range->written;
        if (range->written && range->from.kind == FORM_SUM && stride == 0)
            return task_refuse(s->task, range->at, NEED_PLACES, "all rounds store to the same place");
        if (range->written && range->size > stride)
            return task_refuse(
                s->task, range->at, NEED_STORES_APART,
                "rounds access what other rounds store: each %lld bytes, %lld bytes from the last",
                (long long)range->size, (long long)range->stride);
    }
    return written || task_refuse(s->task, task->begin, NEED_STORE, "it stores nothing");
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
static uint64_t needed(const struct task_search *s)
{
    const struct loop *l = &s->f->loops.list[s->loop];
    unsigned limit = s->task->up ? s->task->trip.minuend : s->task->trip.subtrahend;
    uint64_t set = 0;
    for (unsigned i = 0; i < l->count; i++) {
        unsigned node = s->f->loops.members[l->first + i];
        for (int at = function_first(s->f, node); at <= function_last(s->f, node); at++) {
            const struct cfg_insn *insn = search_insn(s, at);
            uint64_t read =
                register_bit(insn->regs.rs1) | register_bit(insn->regs.rs2) | register_bit(insn->regs.rs3);
            set |= at == s->task->branch ? read & ~register_bit(limit) : read;
        }
    }
    return set & s->task->live & ~(register_bit(3) | register_bit(4));
}

static bool find_carriers(struct task_search *s)
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
                s->task, task->begin, NEED_FEWER_ARRAYS,
                "it accesses more arrays than a nucd has ranges: 4 that it reads, 4 that it writes");
        left &= ~register_bit(task_range_register(range, &bias));
    }
    bool fits = add_value(task, CARRY_LENGTH, 0, used);
    for (unsigned reg = 1; reg < REGISTERS && fits; reg++)
        if (left >> reg & 1)
            fits = add_value(task, CARRY_REGISTER, reg, used);
    return fits || task_refuse(s->task, task->begin, NEED_FEWER_ARRAYS,
                               "its %u arrays and %d other values are more than a nucd has operands",
                               task->range_count, __builtin_popcountll(left) + 1);
}

/* Finds the object that each register points to, for registers that the loop does not change. */
static void find_objects(struct task_search *s)
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

static bool find_trip(struct task_search *s)
{
    struct loop_task *task = s->task;
    task->trip = s->trips[s->loop];
    if (task->trip.kind == TRIP_UNKNOWN)
        return task_refuse(s->task, task->branch, NEED_COUNTED_ROUNDS,
                           "its number of rounds is not known when it begins");
    const struct task_counter *up = task_counter_of(task, task->trip.subtrahend),
                              *down = task_counter_of(task, task->trip.minuend);
    task->up = up != NULL;
    return (up != NULL) != (down != NULL) || task_refuse(s->task, task->branch, NEED_COUNTED_ROUNDS,
                                                         "its number of rounds is not known when it begins");
}

bool single_task_of(struct task_search *s, const unsigned *order, unsigned count)
{
    if (s->task->slots)
        return task_refuse(s->task, s->task->begin, NEED_FEWER_VALUES, "it uses the stack frame");
    if (!find_counters(s) || !find_trip(s))
        return false;
    find_objects(s);
    forms_find(s, order, count);
    return find_accesses(s, order, count) && check_ranges(s) && find_carriers(s);
}
