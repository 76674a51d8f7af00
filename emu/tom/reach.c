/* Accesses of blocks in stacks to scratchpads, which stay in front. */
#include "emu/hart/custom.h"
#include "emu/simt/shared_banks.h"
#include "emu/tom/unit_state.h"

static void send_reach(void *owner, uint64_t now)
{
    struct tom_task *task = owner;
    struct tom_unit *unit = task->unit;
    tom_unit_answer(unit, task, now);
    mem_waiters_wake(&unit->waiters, now);
}

bool tom_unit_reaches(struct tom_unit *unit, struct tom_task *task, uint64_t cycle,
                      struct custom_waiter *waiter)
{
    uint64_t addresses[WARP_LANES];
    uint32_t mask, shared = 0;
    const struct stream_op *op = warp_next(task->guest.warp, &mask);
    if (!op || !(op->flags & (STREAM_LOAD | STREAM_STORE)) || unit->config_tom->policy == TOM_IDEAL)
        return false;
    if (task->reach == TOM_REACHED) {
        task->reach = TOM_NEAR;
        return false;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t base = op->rs1 < STREAM_NONE ? warp_register(task->guest.warp, op->rs1, lane) : 0;
        addresses[lane] = base + (uint64_t)(int64_t)op->imm - WARP_SHARED_WINDOW;
        shared |= (uint32_t)(base + (uint64_t)(int64_t)op->imm >= WARP_SHARED_WINDOW) << lane;
    }
    if (!shared)
        return false;
    const uint32_t lanes = (uint32_t)__builtin_popcount(shared), data = lanes * op->size;
    task->reach = TOM_REACHING;
    task->reach_waiter = waiter;
    task->reach_passes = shared_banks_passes(addresses, shared, op->size, task->front->banks, false);
    task->reach_bytes = TOM_STATUS_BYTES + (op->flags & STREAM_LOAD ? data : 0);
    task->request.size = TOM_STATUS_BYTES + lanes * TOM_ADDRESS_BYTES + (op->flags & STREAM_STORE ? data : 0);
    unit->reaching++;
    event_init(&task->event, unit->component, send_reach, task);
    event_schedule(unit->queue, &task->event, clock_time(&unit->clock, cycle + 1));
    return true;
}

void tom_unit_reached(struct tom_unit *unit, struct tom_task *task, uint64_t now)
{
    unit->packet_bytes += task->request.size;
    unit->reaching--;
    task->reach = TOM_REACHED;
    custom_returned(task->reach_waiter, now);
}
