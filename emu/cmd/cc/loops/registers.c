#include "emu/cmd/cc/loops/state.h"

/* Removes the highest register from the set and returns it; 0: the set is empty. */
static uint8_t take(uint32_t *set)
{
    if (!*set)
        return 0;
    unsigned reg = 31 - (unsigned)__builtin_clz(*set);
    *set &= ~(UINT32_C(1) << reg);
    return (uint8_t)reg;
}

/* Takes a register that the loop does not name (`free`); if there is none, one that it names (`others`). */
static uint8_t take_any(uint32_t *free, uint32_t *others)
{
    uint8_t reg = take(free);
    return reg ? reg : take(others);
}

static bool varies(const struct loop_task *task, const struct task_carrier *carrier)
{
    if (carrier->carry == CARRY_RANGE)
        return task->ranges[carrier->number].stride != 0;
    for (unsigned i = 0; i < task->counter_count && carrier->carry == CARRY_REGISTER; i++)
        if (task->counters[i].reg == carrier->number)
            return true;
    return false;
}

static bool is_carried(const struct launch *l, unsigned number)
{
    return l->task->nested || varies(l->task, &l->task->carriers[number]);
}

/* Finds the registers of a nest's launch. Its tasks load what they need, so they may be any, but for the limit's. */
static bool find_nest_registers(struct launch *l, uint32_t *free, uint32_t *others)
{
    const struct task_nest *nest = &l->task->nest;
    unsigned written = 0;
    bool done = true;
    for (unsigned i = 0; i < nest->range_count; i++)
        written += nest->ranges[i].written;
    written += nest->slices.there && !written; /* slices store to one range */
    l->outputs = written < CROFT_NEST_OUTPUTS ? written : CROFT_NEST_OUTPUTS;
    l->inputs = nest->range_count - written;
    l->inputs = l->inputs < CROFT_NEST_INPUTS ? l->inputs : CROFT_NEST_INPUTS;
    l->carrier_count = 1 + l->inputs + l->outputs;
    l->limit = nest->limit_alone && nest->limit < 32 ? nest->limit : take(free);
    *others &= ~(UINT32_C(1) << l->limit); /* a task does not preserve it */
    done = l->limit != 0;
    for (unsigned pair = 30; pair >= 6 && !l->pair; pair -= 2)
        l->pair = (uint8_t)(((*free | *others) >> pair & 3) == 3 ? pair : 0);
    *free &= ~(UINT32_C(3) << l->pair);
    *others &= ~(UINT32_C(3) << l->pair);
    for (unsigned i = 0; i < l->carrier_count; i++)
        done = (l->carriers[i] = take_any(free, others)) && done;
    return done;
}

/* Finds the registers of a loop's launch. Its operands stay where they are when the task begins. */
static bool find_loop_registers(struct launch *l, uint32_t *free, uint32_t *others)
{
    bool done = true;
    l->carrier_count = l->task->carrier_count;
    l->limit = take(free);
    done = l->limit != 0;
    for (unsigned pair = 30; pair >= 6 && !l->pair; pair -= 2)
        if ((*free >> pair & 3) == 3 && __builtin_popcount(*free) >= (int)l->carrier_count + 2)
            l->pair = (uint8_t)pair;
    for (unsigned pair = 30; pair >= 6 && !l->pair; pair -= 2)
        if ((*others >> pair & 3) == 3)
            l->pair = (uint8_t)pair;
    *free &= ~(UINT32_C(3) << l->pair);
    *others &= ~(UINT32_C(3) << l->pair);
    for (unsigned i = 0; i < l->carrier_count; i++)
        done = (l->carriers[i] = take(free)) && done;
    return done;
}

/* Finds registers that a nest's task may use besides those of its loop: for each far load one that holds what is added to its base, and one
 * for the bound of interleaved rounds. Returns whether there are those that slices must have. */
static bool find_task_registers(struct launch *l, uint32_t unnamed)
{
    const struct task_nest *nest = &l->task->nest;
    unnamed &= ~(UINT32_C(1) << l->limit);
    l->address = take(&unnamed);
    l->slice = nest->slices.there ? take(&unnamed) : 0;
    for (unsigned i = 0; i < nest->far_count; i++)
        l->ahead[i] = take(&unnamed);
    l->bound = take(&unnamed);
    return l->slice || !nest->slices.there;
}

const char *launch_find_registers(struct launch *l, enum task_need *need)
{
    static const char hinders[] = "there are not enough registers for its launch";
    const uint32_t pool = ~UINT32_C(0x1f); /* not zero, ra, sp, gp, tp */
    const struct loop_task *task = l->task;
    uint32_t free = pool & ~(uint32_t)task->named, others = pool & (uint32_t)task->named,
             dead = pool & ~(uint32_t)task->live;
    l->spare = take(&dead);
    bool done =
        l->task->nested ? find_nest_registers(l, &free, &others) : find_loop_registers(l, &free, &others);
    done = done && l->spare;
    done = (l->xn = take_any(&free, &others)) && done;
    done = (l->count = take_any(&free, &others)) && done;
    if (l->task->nested) {
        done = (l->batch = take_any(&free, &others)) && done;
        done = find_task_registers(l, pool & ~(uint32_t)task->named) && done;
    }
    for (unsigned i = 0; i < l->carrier_count; i++)
        if (is_carried(l, i))
            done = (l->increments[i] = take_any(&free, &others)) && done;
    l->launching = pool & ~(free | others) & ~(UINT32_C(1) << l->limit);
    *need = NEED_FEWER_VALUES;
    return done && l->pair ? NULL : hinders;
}
