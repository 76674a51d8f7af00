#include "emu/mem/request.h"
#include "emu/sim/list.h"

#include <stddef.h>

const char *mem_op_name(enum mem_op op)
{
    static const char *const names[] = {
        [MEM_READ] = "read",
        [MEM_WRITE] = "write",
        [MEM_CLEAN] = "clean",
        [MEM_INVALIDATE] = "invalidate",
        [MEM_CLEAN_INVALIDATE] = "clean and invalidate",
        [MEM_COMMAND] = "command",
    };
    return names[op];
}

void mem_waiters_add(struct mem_waiters *waiters, struct mem_link *link)
{
    if (link->waiting)
        return;
    link->waiting = true;
    LIST_APPEND(waiters->first, waiters->last, link, next_waiting);
}

bool mem_waiters_wake(struct mem_waiters *waiters, uint64_t now)
{
    struct mem_link *link = waiters->first;
    if (!link)
        return false;
    waiters->first = link->next_waiting;
    if (!waiters->first)
        waiters->last = NULL;
    link->waiting = false;
    link->client_ops->request_room(link->client, link, now);
    return true;
}
