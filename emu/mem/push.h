/* Waits until the writes that a cache has under way have been answered by the level below. */
#ifndef EMU_MEM_PUSH_H
#define EMU_MEM_PUSH_H

#include <stdbool.h>
#include <stdint.h>

/* A wait for writes. Its owner sets done and owner. It is busy from a call of cache_push() or llc_push() that
 * returns true until done() is called. */
struct mem_push {
    struct mem_push *next;
    uint64_t before; /* it waits for writes with a lower number */
    uint32_t left;   /* how many of these have not been answered */
    /* With `some`: it waits for the writes of these numbers only, `left` at its beginning. The owner frees them when it frees the push. */
    bool some;
    uint64_t *numbers;
    uint32_t count, room;
    void (*done)(struct mem_push *push, uint64_t now);
    void *owner;
};

/* The pushes that wait for writes of a cache. */
struct mem_pushes {
    struct mem_push *first;
};

/* Makes the push wait for `left` writes, all of which have numbers below `before`. Returns false, and does nothing, if there
 * are none. */
static inline bool mem_pushes_add(struct mem_pushes *pushes, struct mem_push *push, uint64_t before,
                                  uint32_t left)
{
    if (left == 0)
        return false;
    push->before = before;
    push->left = left;
    push->some = false;
    push->next = pushes->first;
    pushes->first = push;
    return true;
}

/* Make an empty set of a push's writes; add the number of one to it; and make the push wait for all of these, which returns false, and
 * does nothing, if there are none. */
static inline void mem_push_begin(struct mem_push *push)
{
    push->count = 0;
}
void mem_push_include(struct mem_push *push, uint64_t number);
bool mem_pushes_add_some(struct mem_pushes *pushes, struct mem_push *push);

/* Records that the write with this number was answered. Calls done() of the pushes for which it was the last
 * one. */
void mem_pushes_answered(struct mem_pushes *pushes, uint64_t number, uint64_t now);

#endif
