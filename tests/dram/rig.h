/* A memory with a scripted requester, for the tests of this folder. */
#ifndef TESTS_DRAM_RIG_H
#define TESTS_DRAM_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/dram/memory.h"
#include "emu/dram/observers/check.h"
#include "emu/dram/observers/trace.h"
#include "emu/dram/standard.h"
#include "tests/isa/random.h"

struct rig;

/* A client with one request at a time. */
struct probe {
    struct rig *rig;
    struct mem_link link;
    struct mem_request request;
    uint64_t sent, done; /* done: time of the response; 0: none yet */
    unsigned refusals;   /* responses that the client will still refuse */
    bool waits;          /* the request was refused */
    bool away;           /* the request was accepted or refused, and has no response yet */
    bool parked;         /* when there is room, do not send again */
    void (*then)(struct probe *probe, uint64_t now);
};

struct rig {
    struct event_queue queue;
    struct home_map *homes;
    struct dram_memory memory;
    struct dram_checker checker;
    uint64_t random;
    uint64_t finished; /* responses so far */
    bool resting;
    struct probe *probes;
};

static inline uint64_t rig_random(struct rig *rig)
{
    random_step(&rig->random);
    return rig->random >> 24;
}

static bool probe_respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct probe *probe = client;
    assert_ptr_equal(link, &probe->link);
    assert_ptr_equal(request, &probe->request);
    assert_int_equal(request->depth, 0);
    if (probe->refusals) {
        probe->refusals--;
        return false;
    }
    assert_int_equal(probe->done, 0);
    probe->done = now;
    probe->away = false;
    probe->rig->finished++;
    if (probe->then)
        probe->then(probe, now);
    return true;
}

static void probe_room(void *client, struct mem_link *link, uint64_t now)
{
    struct probe *probe = client;
    assert_true(probe->waits);
    if (probe->parked)
        return;
    probe->waits = !mem_link_request(link, &probe->request, now);
}

/* Sends a request now. Returns whether it was accepted. */
static inline bool probe_send(struct probe *probe, enum mem_op op, uint64_t address, uint32_t size)
{
    static const struct mem_client_ops ops = {probe_respond, probe_room};
    struct rig *rig = probe->rig;
    if (!probe->link.client)
        probe->link =
            (struct mem_link){&dram_memory_ops, &rig->memory, &ops, probe, NULL, false, rig->homes, NULL};
    mem_request_init(&probe->request, op, address, size);
    probe->done = 0;
    probe->away = true;
    probe->sent = rig->queue.now;
    probe->waits = !mem_link_request(&probe->link, &probe->request, rig->queue.now);
    return !probe->waits;
}

/* Advances to `cycle` of the memory's clock and runs all events until then. */
static inline void rig_until(struct rig *rig, uint64_t cycle)
{
    event_queue_run(&rig->queue, cycle * rig->memory.common.config.tCK);
}

/* Returns the clocks from the probe's request to its response. */
static inline uint64_t probe_clocks(const struct probe *probe)
{
    uint64_t tCK = probe->rig->memory.common.config.tCK;
    assert_true(probe->done > 0);
    assert_int_equal((probe->done - probe->sent) % tCK, 0);
    return (probe->done - probe->sent) / tCK;
}

/* Makes a rig with that many probes and no observer. */
static inline struct rig *rig_unwatched(const struct dram_config *config, unsigned probes)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct error err;
    assert_non_null(rig);
    event_queue_init(&rig->queue);
    dram_checker_init(&rig->checker, config);
    rig->homes = dram_map_homes(config, 0);
    if (!part_check(&dram_kind, config, &err))
        fail_msg("%s", err.text);
    dram_memory_init(&rig->memory, config, &rig->queue, 1, rig->homes);
    rig->random = 1;
    rig->probes = calloc(probes, sizeof *rig->probes);
    for (unsigned i = 0; i < probes; i++)
        rig->probes[i].rig = rig;
    return rig;
}

/* rig_new() with an observer, by default the checker. */
static inline struct rig *rig_new(const struct dram_config *config, unsigned probes,
                                  struct dram_observer *observer)
{
    struct rig *rig = rig_unwatched(config, probes);
    dram_memory_observe(&rig->memory, observer ? observer : dram_checker_observer(&rig->checker));
    return rig;
}

/* Finishes all requests. Fails if a rule was broken. */
static inline void rig_free(struct rig *rig)
{
    dram_memory_sync(&rig->memory, rig->queue.now);
    if (rig->checker.violations)
        fail_msg("%s: %s", dram_standard_name(rig->checker.config.standard), rig->checker.first.text);
    dram_memory_free(&rig->memory);
    home_map_free(rig->homes);
    dram_checker_free(&rig->checker);
    free(rig->probes);
    free(rig);
}

/* Returns the standard's defaults, but with one channel. */
static inline struct dram_config one_channel(enum dram_standard standard)
{
    static const char *const maps[DRAM_STANDARDS] = {
        "R12 B2 C6 G2 O5", "R16 B4 C3 O5",    "R12 B4 C6 O6",    "R14 B2 C5 G2 O6", "R16 B3 C7 O6",
        "R12 B2 C6 G2 O5", "R14 B2 C6 G2 O5", "R16 B4 C3 O5",    "R16 B2 C7 G2 O6", "R16 B2 C6 G3 O6",
        "R15 B2 C6 G2 O5", "R14 B2 C6 G2 O5", "R14 B2 C5 G2 O5", "R14 B2 C5 G2 O5"};
    struct dram_config config;
    dram_config_default(&config, standard);
    config.channels = 1;
    config.channel_hash = false;
    (void)snprintf(config.map, sizeof config.map, "%s", maps[standard]);
    return config;
}

/* Returns the address of a burst in channel 0. */
static inline uint64_t address_of(const struct rig *rig, uint32_t group, uint32_t bank, uint32_t row,
                                  uint32_t column)
{
    const uint32_t banks = rig->memory.common.config.banks;
    const struct home home = {.bank = (uint16_t)(group * banks + bank), .row = row, .column = column};
    uint64_t address = 0;
    assert_true(home_address(rig->homes, &home, &address));
    return address;
}

#endif
