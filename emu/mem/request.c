#include "emu/mem/request.h"

#include <stddef.h>

void mem_waiters_add(struct mem_waiters *waiters, struct mem_link *link)
{
    if (link->waiting)
        return;
    link->waiting = true;
    link->next_waiting = NULL;
    if (waiters->last)
        waiters->last->next_waiting = link;
    else
        waiters->first = link;
    waiters->last = link;
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
