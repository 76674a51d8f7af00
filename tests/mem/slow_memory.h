/* A memory of constant latency, for tests of the parts above it. */
#ifndef TESTS_MEM_SLOW_MEMORY_H
#define TESTS_MEM_SLOW_MEMORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/mem/request.h"

enum { CLOCK = 1000000, MEMORY = 100 };

/* A memory that answers MEMORY clocks, and `late` fs, after it has accepted a request. */
struct slow_memory {
    struct event_queue *queue;
    uint64_t late;
    struct mem_waiters waiters;
    bool closed, closed_to_writes; /* refuses everything, or writes */
    unsigned held, most, refused_responses;
    unsigned seen[MEM_COMMAND + 1];                                     /* requests accepted, by op */
    void (*accepted)(void *context, const struct mem_request *request); /* may be NULL */
    void *context;
};

static void slow_answer(void *owner, uint64_t now)
{
    struct mem_request *request = owner;
    struct slow_memory *memory = mem_request_link(request)->port;
    if (!mem_request_respond(request, now)) {
        memory->refused_responses++;
        event_schedule(memory->queue, &request->event, now + CLOCK);
        return;
    }
    memory->held--;
    (void)mem_waiters_wake(&memory->waiters, now);
}

static bool slow_request(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct slow_memory *memory = port;
    if (memory->closed || (memory->closed_to_writes && request->op == MEM_WRITE) ||
        (memory->most && memory->held >= memory->most)) {
        mem_waiters_add(&memory->waiters, link);
        return false;
    }
    memory->held++;
    memory->seen[request->op]++;
    if (memory->accepted)
        memory->accepted(memory->context, request);
    event_init(&request->event, 1, slow_answer, request);
    event_schedule(memory->queue, &request->event, now + MEMORY * CLOCK + memory->late);
    return true;
}

static void slow_room(void *port, struct mem_link *link, uint64_t now)
{
    (void)port;
    (void)link;
    (void)now;
}

static const struct mem_port_ops slow_ops = {slow_request, slow_room, NULL, NULL, NULL};

static inline void slow_open(struct slow_memory *memory)
{
    memory->closed = memory->closed_to_writes = false;
    for (struct mem_link *last = memory->waiters.last; memory->waiters.first;) {
        bool end = memory->waiters.first == last;
        (void)mem_waiters_wake(&memory->waiters, memory->queue->now);
        if (end)
            break;
    }
}

#endif
