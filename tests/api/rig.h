/* Models of the library for tests, and what their callbacks have seen. */
#ifndef TESTS_API_RIG_H
#define TESTS_API_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/api/undercroft.h"

#define DDR3 "dram: {standard: ddr3_1600k, refresh: none}\n"
#define MESH                                                                                                 \
    "network: {topology: mesh, size: 2x2, clock: 1 GHz, wires: on_chip, vcs: 2, buffer: 4, classes: 2}\n"

/* What callbacks have received. */
struct seen {
    struct undercroft *model;
    uint64_t answers, rooms, tag, now;
    uint32_t destination;
    int refuse; /* deliver() refuses */
    void (*then)(struct seen *seen);
    int status; /* of what `then` has tried */
};

static inline void seen_answer(void *context, uint64_t tag, uint64_t now)
{
    struct seen *seen = context;
    seen->answers++;
    seen->tag = tag;
    seen->now = now;
    if (seen->then)
        seen->then(seen);
}

static inline void seen_room(void *context, uint64_t now)
{
    struct seen *seen = context;
    (void)now;
    seen->rooms++;
}

static inline int seen_deliver(void *context, const struct undercroft_packet *packet, uint64_t now)
{
    struct seen *seen = context;
    if (seen->refuse)
        return 1;
    seen->destination = packet->destination;
    seen_answer(context, packet->tag, now);
    return 0;
}

static inline void seen_node_room(void *context, uint32_t node, uint32_t message_class, uint64_t now)
{
    (void)node, (void)message_class;
    seen_room(context, now);
}

static inline struct undercroft_source text_of(const char *text)
{
    return (struct undercroft_source){.size = sizeof(struct undercroft_source), .text = text};
}

static inline struct undercroft *memory_of(const char *text, struct seen *seen)
{
    const struct undercroft_source source = text_of(text);
    const struct undercroft_memory_client client = {sizeof client, seen, seen_answer, seen_room};
    struct undercroft_error error;
    if (undercroft_memory_new(&seen->model, &source, &client, &error) != UNDERCROFT_OK)
        fail_msg("%s", error.text);
    return seen->model;
}

static inline struct undercroft *network_of(const char *text, struct seen *seen)
{
    const struct undercroft_source source = text_of(text);
    const struct undercroft_network_client client = {sizeof client, seen, seen_deliver, seen_node_room};
    struct undercroft_error error;
    if (undercroft_network_new(&seen->model, &source, 4, &client, &error) != UNDERCROFT_OK)
        fail_msg("%s", error.text);
    return seen->model;
}

#define FINE(call) assert_int_equal(call, UNDERCROFT_OK)

#endif
