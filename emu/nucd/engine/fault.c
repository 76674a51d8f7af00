/* Faults in regions of the host's tasks: the trap at the nucd, and the answer to it. */
#include "emu/nucd/engine/state.h"

/* Answers to a fault, which nucdctl takes (isa/MANUAL.md, "Offload traps"). No answer means NUCDCTL_RESUME. */
enum { NUCDCTL_RESUME = 1, NUCDCTL_KILL = 2 };

enum hart_stop engine_trap(struct engine *e)
{
    struct engine_task *t = e->records.first;
    struct hart *hart = e->parts.hart;
    if (!t || !t->stopped || t->told || hart->pc != t->task.pc)
        return HART_STOP_LIMIT;
    t->told = true;
    if (engine_at_order_point(t))
        return HART_STOP_LIMIT; /* all older instructions are complete: it is resumed when its nucd is dispatched */
    e->fault = (struct engine_fault){t->accelerator, t->task.pc, t->task.begin + (uint64_t)t->report.offset,
                                     t->report.cause, t->report.value};
    e->faulted = true;
    if (!hart->privileged) {
        hart->trap = (struct trap){(enum trap_cause)t->report.cause, t->report.value};
        return HART_STOP_TRAP;
    }
    e->frozen = t;
    hart->offload.frozen = true;
    hart->offload.cause = t->report.cause;
    hart->offload.value = t->report.value;
    hart->offload.offset = (uint64_t)t->report.offset;
    hart->trap = (struct trap){TRAP_NUCD_FAULT, 0};
    priv_take_trap(hart);
    return HART_STOP_LIMIT;
}

void engine_control(void *context, uint64_t action)
{
    struct engine *e = context;
    struct engine_task *t = e->frozen;
    if (!t || action != NUCDCTL_KILL)
        return; /* the task is resumed when its nucd is reached again */
    e->frozen = NULL;
    e->parts.hart->offload.frozen = false;
    engine_list_remove(&e->records, t);
    engine_task_drop(t);
}

const struct engine_fault *engine_fault(const struct engine *e)
{
    return e->faulted ? &e->fault : NULL;
}
