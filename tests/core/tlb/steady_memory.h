/* A memory that answers each read `latency` fs after it, for tests of walkers. */
#ifndef TESTS_CORE_TLB_STEADY_MEMORY_H
#define TESTS_CORE_TLB_STEADY_MEMORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/mem/request.h"

struct steady_memory {
    struct event_queue *queue;
    uint64_t latency;
    uint64_t requests; /* reads that it has served */
};

static inline void steady_answer(void *owner, uint64_t now)
{
    struct mem_request *request = owner;
    request->level = MEM_LEVEL_MEMORY;
    assert_true(mem_request_respond(request, now));
}

static inline bool steady_request(void *port, struct mem_link *link, struct mem_request *request,
                                  uint64_t now)
{
    struct steady_memory *memory = port;
    (void)link;
    memory->requests++;
    event_init(&request->event, 9, steady_answer, request);
    event_schedule(memory->queue, &request->event, now + memory->latency);
    return true;
}

static inline void steady_room(void *port, struct mem_link *link, uint64_t now)
{
    (void)port, (void)link, (void)now;
}

static const struct mem_port_ops steady_ops = {steady_request, steady_room, NULL, NULL, NULL};

#endif
