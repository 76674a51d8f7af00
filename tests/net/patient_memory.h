/* A memory below a fabric, for tests: takes `capacity` requests at a time and answers each after a delay that the test chooses. Answers
 * that are refused wait, and later ones behind them. */
#ifndef TESTS_NET_PATIENT_MEMORY_H
#define TESTS_NET_PATIENT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/request.h"

enum { PATIENT_ANSWERS = 512 }; /* most answers that wait */

struct patient_memory {
    struct event_queue *queue;
    struct mem_waiters waiters;
    unsigned capacity, held;
    struct mem_request *refused[PATIENT_ANSWERS]; /* answers, in order; first to last, modulo the size */
    unsigned first, last;
    uint64_t taken, warmed, cleaned;
    /* Called for each request that is taken; returns the femtoseconds to its answer. */
    uint64_t (*take)(void *context, const struct patient_memory *memory, const struct mem_request *request,
                     uint64_t now);
    void *context;
};

static inline void patient_answered(struct patient_memory *memory, uint64_t now)
{
    memory->held--;
    (void)mem_waiters_wake(&memory->waiters, now);
}

static inline void patient_answer(void *owner, uint64_t now)
{
    struct mem_request *request = owner;
    struct patient_memory *memory = mem_request_link(request)->port;
    if (memory->first == memory->last && mem_request_respond(request, now))
        patient_answered(memory, now);
    else
        memory->refused[memory->last++ % PATIENT_ANSWERS] = request;
}

static inline void patient_room(void *port, struct mem_link *link, uint64_t now)
{
    struct patient_memory *memory = port;
    (void)link;
    while (memory->first < memory->last) {
        if (!mem_request_respond(memory->refused[memory->first % PATIENT_ANSWERS], now))
            return;
        memory->first++;
        patient_answered(memory, now);
    }
}

static inline bool patient_request(void *port, struct mem_link *link, struct mem_request *request,
                                   uint64_t now)
{
    struct patient_memory *memory = port;
    if (memory->held >= memory->capacity) {
        mem_waiters_add(&memory->waiters, link);
        return false;
    }
    memory->held++;
    memory->taken++;
    event_init(&request->event, 9, patient_answer, request);
    event_schedule(memory->queue, &request->event, now + memory->take(memory->context, memory, request, now));
    return true;
}

static inline bool patient_warm(void *port, struct mem_link *link, uint64_t address, bool exclusive)
{
    (void)link;
    ((struct patient_memory *)port)->warmed = address;
    return exclusive;
}

static inline void patient_maintain(void *port, struct mem_link *link, enum mem_op op, uint64_t address,
                                    uint64_t size)
{
    (void)link, (void)op, (void)address;
    ((struct patient_memory *)port)->cleaned += size;
}

static const struct mem_port_ops patient_ops = {patient_request, patient_room, patient_warm, patient_maintain,
                                                NULL};

#endif
