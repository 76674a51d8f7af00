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
