#include <stdarg.h>
#include <stdio.h>

#include "emu/analysis/loop_tasks.h"

bool task_refuse(struct loop_task *task, int insn, const char *format, ...)
{
    va_list list;
    if (task->reason[0])
        return false;
    va_start(list, format);
    (void)vsnprintf(task->reason, sizeof task->reason, format, list);
    va_end(list);
    task->where = insn;
    return false;
}

bool task_refuse_address(struct loop_task *task, const struct cfg *cfg, int at, bool written)
{
    uint64_t decide = register_bit(cfg->insns[at].regs.rs1);
    bool data = false;
    for (int i = at - 1; i >= task->begin; i--) {
        const struct insn_registers *regs = &cfg->insns[i].regs;
        if (!(register_bit(regs->rd) & decide))
            continue;
        data |= insn_table[cfg->insns[i].step.insn.id].access == ACCESS_LOAD;
        decide &= ~register_bit(regs->rd);
        decide |= register_bit(regs->rs1) | register_bit(regs->rs2);
    }
    return task_refuse(task, at, "the address of its %s is not known: %s", written ? "store" : "load",
                       data ? "it depends on what the loop loads"
                            : "it is no sum of registers that the loop keeps or that count");
}
