/* Two modules of two stacks of memory each; each module's crossbar forwards by home, over a link to the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/dram/memory.h"
#include "emu/dram/standard.h"
#include "emu/net/crossbar.h"
#include "emu/net/link.h"
#include "tests/isa/random.h"

enum {
    MODULES = 2,
    STACKS = 2,
    CHANNELS = 8,
    PERIOD = 800000,
    LATENCY = 3,
    WIDTH = 32,
    WINDOW = 32,
    TRAFFIC = 20000
};

struct rig;

struct client {
    struct rig *rig;
    struct mem_link link;
    struct mem_request requests[WINDOW];
    bool away[WINDOW];
    unsigned waiting; /* the slot that was refused, or WINDOW */
    uint64_t limit, sent, answered, done;
};

struct rig {
    struct event_queue queue;
    struct clock clock;
    struct home_map *homes;
    struct home_layout layout;
    struct dram_config config;
    struct dram_memory memories[MODULES][STACKS];
    struct crossbar *crossbars[MODULES];
    struct link *links[MODULES]; /* away from the module */
    struct client clients[MODULES];
    uint64_t random, hash, changes;
};

static uint64_t random_number(struct rig *rig)
{
    random_step(&rig->random);
    return rig->random >> 33;
}

static uint64_t bytes_of(const struct rig *rig)
{
    return MODULES * STACKS * dram_config_bytes(&rig->config);
}

/* Sends random requests as long as it may. */
static void go(struct client *client, uint64_t now)
{
    while (client->sent < client->limit && client->waiting == WINDOW) {
        unsigned slot = 0;
        while (slot < WINDOW && client->away[slot])
            slot++;
        if (slot == WINDOW)
            return;
        /* Aligned: a request's bursts are in one memory. */
        uint32_t size = random_number(client->rig) % 4 ? 64 : 128;
        uint64_t address = random_number(client->rig) % (bytes_of(client->rig) / size) * size;
        mem_request_init(&client->requests[slot], random_number(client->rig) % 3 ? MEM_READ : MEM_WRITE,
                         address, size);
        client->away[slot] = true;
        client->sent++;
        if (!mem_link_request(&client->link, &client->requests[slot], now))
            client->waiting = slot;
    }
}

static bool respond(void *owner, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct client *client = owner;
    ptrdiff_t slot = request - client->requests;
    (void)link;
    assert_true(client->away[slot]);
    client->away[slot] = false;
    client->answered++;
    client->done = now;
    client->rig->hash = random_digest(client->rig->hash, now ^ (uint64_t)slot);
    go(client, now);
    return true;
}

static void room(void *owner, struct mem_link *link, uint64_t now)
{
    struct client *client = owner;
    unsigned slot = client->waiting;
    assert_true(slot < WINDOW);
    if (!mem_link_request(link, &client->requests[slot], now))
        return;
    client->waiting = WINDOW;
    go(client, now);
}

static void make_memories(struct rig *rig)
{
    struct error err;
    assert_true(part_check(&dram_kind, &rig->config, &err));
    for (uint16_t m = 0; m < MODULES; m++)
        for (uint16_t s = 0; s < STACKS; s++) {
            dram_memory_init(&rig->memories[m][s], &rig->config, &rig->queue, 10, rig->homes);
            dram_memory_serve(&rig->memories[m][s], m, s);
        }
}

/* Inputs: the module's client, and the other module. Outputs: the channels of the stacks, and the link. */
static void make_crossbar(struct rig *rig, unsigned own)
{
    const struct crossbar_config config = {.inputs = 2,
                                           .outputs = STACKS * CHANNELS + 1,
                                           .width = WIDTH,
                                           .latency = LATENCY,
                                           .request_queue = 4,
                                           .response_queue = 4,
                                           .buffer = 4};
    uint16_t outputs[MODULES * STACKS * CHANNELS];
    for (uint16_t i = 0; i < MODULES * STACKS * CHANNELS; i++)
        outputs[i] = i / (STACKS * CHANNELS) == own ? i % (STACKS * CHANNELS) : STACKS * CHANNELS;
    const struct crossbar_route route = {.homes = rig->homes,
                                         .modules = MODULES,
                                         .stacks = STACKS,
                                         .controllers = CHANNELS,
                                         .outputs = outputs};
    rig->crossbars[own] = crossbar_new(&config, &rig->queue, &rig->clock, 20 + own, &route);
    for (unsigned i = 0; i < STACKS * CHANNELS; i++)
        crossbar_connect(rig->crossbars[own], i, &dram_memory_ops, &rig->memories[own][i / CHANNELS]);
}

static struct rig *rig_new(void)
{
    static const struct mem_client_ops ops = {respond, room};
    struct rig *rig = calloc(1, sizeof *rig);
    struct link_config link;
    struct error err;
    assert_non_null(rig);
    event_queue_init(&rig->queue);
    rig->clock.period = PERIOD;
    rig->random = 1;
    dram_config_default(&rig->config, DRAM_STANDARD_hbm1);
    rig->config.refresh = DRAM_REFRESH_NONE;
    rig->layout = dram_map_layout(&rig->config);
    rig->layout.geometry.modules = MODULES;
    rig->layout.geometry.stacks = STACKS;
    (void)strcpy(rig->layout.text, "M1 S1 R14 B2 C5 G2 H3 O6");
    rig->homes = home_map_new();
    assert_true(home_range_add(rig->homes, 0, bytes_of(rig), &rig->layout, &err));
    make_memories(rig);
    part_defaults(&link_kind, 0, &link);
    for (unsigned m = 0; m < MODULES; m++) {
        make_crossbar(rig, m);
        rig->links[m] = link_new(&link, &rig->queue, 30 + m);
    }
    for (unsigned m = 0; m < MODULES; m++) {
        struct client *client = &rig->clients[m];
        crossbar_connect(rig->crossbars[m], STACKS * CHANNELS, &link_ops, rig->links[m]);
        link_connect(rig->links[m], &crossbar_ops, crossbar_port(rig->crossbars[1 - m], 1));
        client->rig = rig;
        client->waiting = WINDOW;
        client->link = (struct mem_link){.port_ops = &crossbar_ops,
                                         .port = crossbar_port(rig->crossbars[m], 0),
                                         .client_ops = &ops,
                                         .client = client,
                                         .homes = rig->homes};
    }
    return rig;
}

static void rig_free(struct rig *rig)
{
    for (unsigned m = 0; m < MODULES; m++) {
        crossbar_free(rig->crossbars[m]);
        link_free(rig->links[m]);
        for (unsigned s = 0; s < STACKS; s++)
            dram_memory_free(&rig->memories[m][s]);
    }
    home_map_free(rig->homes);
    free(rig);
}

static uint64_t edge(uint64_t time, uint64_t period)
{
    return (time + period - 1) / period * period;
}

/* What a crossbar takes for a message of so many bytes of data that comes at a time. */
static uint64_t crossed(uint64_t time, uint64_t bytes)
{
    uint64_t clocks = bytes ? (bytes + WIDTH - 1) / WIDTH : 1;
    return edge(time, PERIOD) + (LATENCY + clocks - 1) * PERIOD;
}

/* Likewise an idle memory for a read. */
static uint64_t read_memory(const struct dram_config *config, uint64_t time)
{
    const struct dram_clocks clocks = dram_config_clocks(config);
    return edge(time, config->tCK) + config->front_latency + config->back_latency +
           (uint64_t)(clocks.tRCDRD + clocks.tCL + clocks.tBURST) * config->tCK;
}

/* Reads of 64 bytes from every stack by both clients. The link, with its header and tail of 16 bytes, takes 1 flit
 * there and 5 back at 60 GB/s, and 11 ns. */
static void idle_latencies_are_the_sums_of_their_parts(void **state)
{
    (void)state;
    const uint64_t flit = 266667, wire = 11000000;
    struct rig *rig = rig_new();
    for (unsigned from = 0; from < MODULES; from++)
        for (unsigned to = 0; to < MODULES; to++)
            for (unsigned stack = 0; stack < STACKS; stack++) {
                struct client *client = &rig->clients[from];
                const uint64_t start =
                    edge(rig->queue.now, 1000000) + 3 * from + 5 * stack; /* off all edges */
                event_queue_run(&rig->queue, start);
                struct mem_request *request = &client->requests[0];
                /* Each client has a bank group of its own, so that no row is open. */
                const uint64_t number = to * STACKS + stack;
                mem_request_init(request, MEM_READ,
                                 number * dram_config_bytes(&rig->config) + 0x40 + 0x200 * from, 64);
                client->away[0] = true;
                assert_true(mem_link_request(&client->link, request, start));
                event_queue_run(&rig->queue, start + 1000000000);
                uint64_t time = crossed(start, 0);
                if (from != to)
                    time = crossed(time + flit + wire, 0);
                time = crossed(read_memory(&rig->config, time), 64);
                if (from != to)
                    time = crossed(time + 5 * flit + wire, 64);
                assert_int_equal(client->done, time);
                assert_int_equal(rig->memories[to][stack].requests_read, from + 1);
            }
    rig_free(rig);
}

static void changed(void *context, uint64_t now)
{
    struct rig *rig = context;
    (void)now;
    rig->changes++;
}

/* Swaps the bits of stack and module with bits of the row, or back: each change of the whole range waits until it is
 * quiet. The memories assert that nothing comes late. */
static uint64_t run_traffic(uint64_t changes)
{
    static const char *const texts[] = {"M1 S1 R14 B2 C5 G2 H3 O6", "R14 S1 M1 B2 C5 G2 H3 O6",
                                        "R13 S1 B2 R1 C5 M1 G2 H3 O6"};
    struct rig *rig = rig_new();
    struct error err;
    rig->random = 7;
    for (unsigned m = 0; m < MODULES; m++) {
        rig->clients[m].limit = TRAFFIC;
        go(&rig->clients[m], 0);
    }
    for (uint64_t i = 0; i < changes; i++) {
        event_queue_run(&rig->queue, rig->queue.now + 2000000000);
        assert_true(rig->clients[0].sent < TRAFFIC); /* there is traffic */
        (void)strcpy(rig->layout.text, texts[(i + 1) % 3]);
        assert_true(home_range_change(rig->homes, 0, bytes_of(rig), &rig->layout, changed, rig,
                                      rig->queue.now, &err));
        event_queue_run(&rig->queue, rig->queue.now + 1000000000);
        assert_int_equal(rig->changes, i + 1);
    }
    while (event_queue_step(&rig->queue))
        continue;
    uint64_t reads = 0;
    for (unsigned m = 0; m < MODULES; m++) {
        assert_int_equal(rig->clients[m].answered, TRAFFIC);
        for (unsigned s = 0; s < STACKS; s++) {
            assert_true(rig->memories[m][s].requests_read > 1000);
            reads += rig->memories[m][s].requests_read + rig->memories[m][s].requests_write;
        }
    }
    assert_int_equal(reads, 2 * TRAFFIC);
    uint64_t hash = rig->hash;
    rig_free(rig);
    return hash;
}

static void traffic_is_answered_while_maps_change(void **state)
{
    (void)state;
    uint64_t still = run_traffic(0), moving = run_traffic(4);
    assert_true(still == run_traffic(0));
    assert_true(moving == run_traffic(4));
    assert_true(still != moving);
}

/* 300 inputs to one output, more than a word of bits has: each gets its turn. */
static void crossbars_have_as_many_ends_as_they_are_given(void **state)
{
    (void)state;
    static const struct mem_client_ops ops = {respond, room};
    struct rig *rig = rig_new();
    struct crossbar_config config;
    struct client *clients = calloc(300, sizeof *clients);
    part_defaults(&crossbar_kind, 0, &config);
    config.inputs = config.outputs = 1;
    config.inputs = 300;
    config.outputs = CHANNELS;
    const struct crossbar_route route = {
        .homes = rig->homes, .modules = 1, .stacks = 1, .controllers = CHANNELS};
    struct crossbar *crossbar = crossbar_new(&config, &rig->queue, &rig->clock, 40, &route);
    for (unsigned i = 0; i < CHANNELS; i++)
        crossbar_connect(crossbar, i, &dram_memory_ops, &rig->memories[0][0]);
    for (unsigned i = 0; i < 300; i++) {
        clients[i].rig = rig;
        clients[i].waiting = WINDOW;
        clients[i].link = (struct mem_link){.port_ops = &crossbar_ops,
                                            .port = crossbar_port(crossbar, i),
                                            .client_ops = &ops,
                                            .client = &clients[i],
                                            .homes = rig->homes};
        mem_request_init(&clients[i].requests[0], MEM_READ, 0x40, 64);
        clients[i].away[0] = true;
        assert_true(mem_link_request(&clients[i].link, &clients[i].requests[0], 0));
    }
    event_queue_run(&rig->queue, UINT64_C(10000000000));
    for (unsigned i = 0; i < 300; i++)
        assert_int_equal(clients[i].answered, 1);
    crossbar_free(crossbar);
    free(clients);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_latencies_are_the_sums_of_their_parts),
        cmocka_unit_test(traffic_is_answered_while_maps_change),
        cmocka_unit_test(crossbars_have_as_many_ends_as_they_are_given),
    };
    return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
