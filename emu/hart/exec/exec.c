#include "emu/hart/exec.h"

#include <stddef.h>

#include "emu/hart/block.h"
#include "emu/hart/dispatch.h"
#include "emu/hart/exec/compiled.h"
#include "emu/hart/hart.h"
#include "emu/hart/mmu.h"
#include "emu/hart/mmu/mirror.h"
#include "emu/hart/stream/trace.h"
#include "emu/sim/alloc.h"

enum host { HOST_BASE, HOST_V3, HOSTS };

/* By host; whether data accesses go through the TLB; whether there is a trace. */
static const struct exec_table *const variants[HOSTS][2][2] = {
    [HOST_BASE] = {{&exec_base, &exec_base_traced}, {&exec_base_tlb, &exec_base_tlb_traced}},
    [HOST_V3] = {{&exec_v3, &exec_v3_traced}, {&exec_v3_tlb, &exec_v3_tlb_traced}},
};

const struct exec_table *exec_choose(bool tlb)
{
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
              __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    return variants[v3 ? HOST_V3 : HOST_BASE][tlb][false];
}

const struct exec_table *exec_paged(const struct exec_table *table)
{
    if (table == &exec_v3_direct)
        return &exec_v3_tlb;
    for (unsigned host = 0; host < HOSTS; host++)
        for (unsigned traced = 0; traced < 2; traced++)
            if (variants[host][false][traced] == table)
                return variants[host][true][traced];
    return table;
}

const struct exec_table *exec_traced(const struct exec_table *table)
{
    table = table == &exec_v3_direct ? &exec_v3_tlb : table;
    for (unsigned host = 0; host < HOSTS; host++)
        for (unsigned tlb = 0; tlb < 2; tlb++)
            if (variants[host][tlb][false] == table)
                return variants[host][tlb][true];
    return table;
}

void exec_use_mirror(struct hart *hart, const struct mirror *mirror)
{
    hart->mirror = mirror;
    if (hart->exec != &exec_v3_tlb || !mirror->bytes)
        return;
    hart->exec = &exec_v3_direct;
    hart->load_bytes = mirror->bytes;
    hart->load_last = mirror->size - sizeof(uint64_t);
    hart_flush_code(hart);
}

void exec_leave_mirror(struct hart *hart)
{
    if (hart->exec != &exec_v3_direct)
        return;
    hart->exec = &exec_v3_tlb;
    mmu_flush(hart);
    hart_flush_code(hart);
}

void exec_use_tlb(struct hart *hart)
{
    hart->paging_due = false;
    hart->mirror = NULL;
    if (!hart->tlb)
        hart->tlb = mmu_tables();
    if (!hart->tlb)
        alloc_failed();
    hart->exec = exec_paged(hart->exec);
    if (hart->trace)
        hart->trace->plain = exec_paged(hart->trace->plain);
    mmu_flush(hart);
    priv_changed(hart);
    hart_flush_code(hart);
}

const union op *exec_enter(struct hart *hart)
{
    const union op *op = block_at(hart, hart->pc);
    if (op)
        return op;
    exec_use_tlb(hart);
    block_update(hart);
    return block_at(hart, hart->pc);
}

/* Runs handlers, of which `run` is op's, until the run ends. */
static void run_handlers(struct hart *hart, op_handler *run, const union op *op, int64_t budget)
{
    if (HART_TRAMPOLINE) {
        hart->acc = 0;
        hart->budget = budget;
        op = run(hart, op, hart->acc, hart->budget);
        while (op)
            op = op->run(hart, op, hart->acc, hart->budget);
    } else {
        (void)run(hart, op, 0, budget);
    }
}

void exec_run(struct hart *hart, const union op *op, int64_t budget)
{
    run_handlers(hart, op->run, op, budget);
}

void exec_run_alone(struct hart *hart, const union op *op)
{
    const bool compiled = op->run == hart->exec->compiled;
    run_handlers(hart, compiled ? op[-1].head.compiled->run : op->run, op, EXEC_ALONE);
}
