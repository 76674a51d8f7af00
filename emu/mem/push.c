#include "emu/mem/push.h"

#include <stddef.h>

#include "emu/sim/alloc.h"

void mem_push_include(struct mem_push *push, uint64_t number)
{
    if (push->count == push->room) {
        push->room = push->room ? 2 * push->room : 8;
        push->numbers = alloc_resize(push->numbers, push->room * sizeof *push->numbers);
    }
    push->numbers[push->count++] = number;
}

bool mem_pushes_add_some(struct mem_pushes *pushes, struct mem_push *push)
{
    if (!mem_pushes_add(pushes, push, UINT64_MAX, push->count))
        return false;
    push->some = true;
    return true;
}

/* Returns whether the push waits for the write. */
static bool waits_for(const struct mem_push *push, uint64_t number)
{
    if (!push->some)
        return number < push->before;
    for (uint32_t i = 0; i < push->count; i++)
        if (push->numbers[i] == number)
            return true;
    return false;
}

void mem_pushes_answered(struct mem_pushes *pushes, uint64_t number, uint64_t now)
{
    struct mem_push *done = NULL;
    for (struct mem_push **at = &pushes->first; *at;) {
        struct mem_push *push = *at;
        if (!waits_for(push, number) || --push->left > 0) {
            at = &push->next;
            continue;
        }
        *at = push->next;
        push->next = done;
        done = push;
    }
    while (done) {
        struct mem_push *next = done->next;
        done->done(done, now);
        done = next;
    }
}
