#include "emu/hart/custom.h"

#include <assert.h>
#include <string.h>

#include "emu/hart/fp.h"

void custom_serve(struct custom_units *units, enum insn_extension extension, const struct custom_unit *unit)
{
    const struct custom_unit *other = &units->of[extension];
    assert((unit->execute || unit->take_lanes) && !other->execute && !other->take_lanes);
    units->of[extension] = *unit;
}

const struct custom_unit *custom_find(const struct custom_units *units, const struct insn *insn)
{
    const struct custom_unit *unit = units ? &units->of[insn_table[insn->id].extension] : NULL;
    return unit && (unit->execute || unit->take_lanes) ? unit : NULL;
}

static bool execute(const struct custom_unit *unit, struct custom_call *call)
{
    call->result = 0;
    call->trap = (struct trap){TRAP_ILLEGAL_INSTRUCTION, call->insn->bits};
    return unit && unit->execute && unit->execute(unit->context, call);
}

bool custom_execute(const struct custom_unit *unit, struct custom_call *call)
{
    uint32_t saved = fp_begin(RM_RNE);
    bool done = execute(unit, call);
    (void)fp_end(saved);
    return done;
}

static bool execute_each(const struct custom_unit *unit, struct custom_lanes *lanes)
{
    for (uint32_t left = lanes->mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        struct custom_call call = {.insn = lanes->insn,
                                   .pc = lanes->pc,
                                   .operand = {lanes->operand[0][lane], lanes->operand[1][lane]},
                                   .cycle = lanes->cycle,
                                   .time = lanes->time,
                                   .waiter = lanes->waiter,
                                   .warp = lanes->warp,
                                   .lane = lane};
        if (!execute(unit, &call)) {
            lanes->lane = lane;
            lanes->trap = call.trap;
            return false;
        }
        lanes->result[lane] = call.result;
    }
    return true;
}

bool custom_execute_lanes(const struct custom_unit *unit, struct custom_lanes *lanes)
{
    uint32_t saved = fp_begin(RM_RNE);
    memset(lanes->result, 0, sizeof lanes->result);
    lanes->lane = (unsigned)__builtin_ctz(lanes->mask);
    lanes->trap = (struct trap){TRAP_ILLEGAL_INSTRUCTION, lanes->insn->bits};
    bool done =
        unit && unit->execute_lanes ? unit->execute_lanes(unit->context, lanes) : execute_each(unit, lanes);
    (void)fp_end(saved);
    return done;
}

struct custom_waiter *custom_later(struct custom_waiter *waiter)
{
    if (waiter)
        waiter->waits++;
    return waiter;
}

struct custom_waiter *custom_halt(struct custom_waiter *waiter)
{
    if (waiter)
        waiter->halts = true;
    return custom_later(waiter);
}

void custom_done(struct custom_waiter *waiter, uint64_t now)
{
    assert(waiter->waits > 0);
    if (--waiter->waits)
        return;
    waiter->halts = false;
    waiter->done(waiter, now);
}

void custom_returned(struct custom_waiter *waiter, uint64_t now)
{
    waiter->returned(waiter, now);
}
