#include "emu/mem/cache/mshr.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"
#include "emu/sim/list.h"

void cache_waiters_add(struct cache_waiters *waiters, struct cache_waiter *waiter)
{
    LIST_APPEND(waiters->first, waiters->last, waiter, next);
    waiters->count++;
}

struct cache_waiter *cache_waiters_take(struct cache_waiters *waiters)
{
    struct cache_waiter *waiter = waiters->first;
    if (!waiter)
        return NULL;
    waiters->first = waiter->next;
    if (!waiters->first)
        waiters->last = NULL;
    waiters->count--;
    return waiter;
}

void mshr_init(struct mshr_file *file, uint32_t limit, uint32_t targets, void *owner)
{
    assert(limit > 0 && limit <= MSHR_LIMIT && targets > 0);
    *file = (struct mshr_file){.limit = limit, .targets = targets};
    file->mshrs = alloc(limit, sizeof *file->mshrs);
    file->pool = alloc((size_t)limit * targets, sizeof *file->pool);
    for (uint32_t i = 0; i < limit; i++) {
        file->mshrs[i].target = &file->pool[(size_t)i * targets];
        file->mshrs[i].owner = owner;
    }
}

void mshr_free(struct mshr_file *file)
{
    free(file->mshrs);
    free(file->pool);
    *file = (struct mshr_file){0};
}

struct mshr *mshr_take(struct mshr_file *file, uint64_t line, uint64_t asked)
{
    assert(file->used < file->limit);
    uint32_t number = (uint32_t)__builtin_ctzll(~file->busy);
    struct mshr *mshr = &file->mshrs[number];
    file->busy |= UINT64_C(1) << number;
    file->hashed[mshr_hash(line)] |= UINT64_C(1) << number;
    if (++file->used > file->peak)
        file->peak = file->used;
    mshr->line = line;
    mshr->asked = asked;
    mshr->state = MSHR_PLANNED;
    mshr->prefetch = false;
    mshr->expired = false;
    mshr->ahead = false;
    mshr->targets = 0;
    return mshr;
}

bool mshr_add(const struct mshr_file *file, struct mshr *mshr, const struct mshr_target *target)
{
    if (mshr->targets == file->targets)
        return false;
    mshr->target[mshr->targets++] = *target;
    return true;
}

void mshr_release(struct mshr_file *file, struct mshr *mshr)
{
    assert(mshr->targets == 0 && !mshr->blocked.first);
    const uint64_t bit = UINT64_C(1) << (mshr - file->mshrs);
    file->busy &= ~bit;
    file->hashed[mshr_hash(mshr->line)] &= ~bit;
    file->used--;
}
