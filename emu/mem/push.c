#include "emu/mem/push.h"

#include <stddef.h>

void mem_pushes_answered(struct mem_pushes *pushes, uint64_t number, uint64_t now)
{
    struct mem_push *done = NULL;
    for (struct mem_push **at = &pushes->first; *at;) {
        struct mem_push *push = *at;
        if (number >= push->before || --push->left > 0) {
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
