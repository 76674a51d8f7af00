/* Slices of machine gpu's second level that are tied to memory partitions, or distributed by line: each line
 * is in one slice, all slices have the same number of lines, and a slice requests lines of its channels only.
 *
 * The machine's map, "R12 C2 G2 B2 % C4 O6", changes the channel every 1 << 10 bytes, round-robin over 6. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/dram/map.h"
#include "emu/machine/machine.h"
#include "emu/machine/plan/plan.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"

#define SHIPPED "emu/machine/shipped"
#define BASE    UINT64_C(0x80000000)

enum { LINE = 128, CHANNELS = 6, MOST = 18, CLOCK = 1000000, LATENCY = 100 };

/* A slice's memory, which answers after LATENCY clocks. */
struct channel {
    struct partitions *all;
    unsigned slice, requests;
};

struct partitions {
    struct clock clock;
    struct event_queue queue;
    struct machine_config machine;
    struct home_map *homes;
    struct crossbar *crossbar;
    const struct llc_config *l2;
    struct llc *slices[MOST];
    struct channel channels[MOST];
    struct mem_link link;
    struct mem_request request;
    unsigned answers;
};

/* Returns the channel of an address, by the map. */
static unsigned channel_of(uint64_t address)
{
    return (unsigned)((address - BASE) >> 10) % CHANNELS;
}

static bool serves(const struct partitions *all, unsigned slice, unsigned channel)
{
    const unsigned slices = all->l2->slices;
    return slices <= CHANNELS ? channel / (CHANNELS / slices) == slice
                              : slice / (slices / CHANNELS) == channel;
}

static void answer(void *owner, uint64_t now)
{
    (void)mem_request_respond(owner, now);
}

static bool channel_request(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct channel *channel = port;
    (void)link;
    channel->requests++;
    if (channel->all->l2->interleave == LLC_BY_PARTITION)
        assert_true(serves(channel->all, channel->slice, request->home.controller));
    event_init(&request->event, 1, answer, request);
    event_schedule(&channel->all->queue, &request->event, now + LATENCY * CLOCK);
    return true;
}

static void no_room(void *port, struct mem_link *link, uint64_t now)
{
    (void)port, (void)link, (void)now;
}

static bool answered(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct partitions *all = client;
    (void)link, (void)request, (void)now;
    all->answers++;
    return true;
}

static const struct mem_port_ops channel_ops = {channel_request, no_room, NULL, NULL, NULL};
static const struct mem_client_ops client_ops = {answered, no_room};

static struct partitions *partitions_new(unsigned slices, const char *interleave)
{
    struct partitions *all = calloc(1, sizeof *all);
    char sets[2][64];
    const char *const texts[] = {sets[0], sets[1]};
    struct error err;
    assert_non_null(all);
    all->clock = (struct clock){CLOCK};
    (void)snprintf(sets[0], sizeof sets[0], "simt.l2.slices=%u", slices);
    (void)snprintf(sets[1], sizeof sets[1], "simt.l2.interleave=%s", interleave);
    if (!machine_load(&all->machine, "gpu", SHIPPED, texts, 2, &err) || !plan_check(&all->machine, &err))
        fail_msg("%s", err.text);
    const struct dram_config *dram = tree_config(all->machine.tree, "dram");
    struct crossbar_config crossbar =
        *(const struct crossbar_config *)tree_config(all->machine.tree, "simt.crossbar");
    all->l2 = tree_config(all->machine.tree, "simt.l2");
    all->homes = dram_map_homes(dram, BASE);
    event_queue_init(&all->queue);
    crossbar.inputs = 1;
    crossbar.outputs = slices;
    struct crossbar_route route = {.shift = 7};
    if (all->l2->interleave == LLC_BY_PARTITION)
        route = (struct crossbar_route){.homes = all->homes,
                                        .modules = 1,
                                        .stacks = 1,
                                        .controllers = CHANNELS,
                                        .shift = 7,
                                        .partitions = true,
                                        .line_bursts = 2};
    all->crossbar = crossbar_new(&crossbar, &all->queue, &all->clock, 2, &route);
    for (unsigned i = 0; i < slices; i++) {
        all->channels[i] = (struct channel){.all = all, .slice = i};
        all->slices[i] = llc_new("l2", all->l2, &all->queue, &all->clock, 3 + i, (uint16_t)i, &channel_ops,
                                 &all->channels[i]);
        llc_set_homes(all->slices[i], all->homes);
        crossbar_connect(all->crossbar, i, &llc_ops, all->slices[i]);
    }
    all->link = (struct mem_link){
        &crossbar_ops, crossbar_port(all->crossbar, 0), &client_ops, all, NULL, false, NULL, NULL};
    return all;
}

static void partitions_free(struct partitions *all)
{
    for (unsigned i = 0; i < all->l2->slices; i++)
        llc_free(all->slices[i]);
    crossbar_free(all->crossbar);
    home_map_free(all->homes);
    machine_free(&all->machine);
    free(all);
}

/* Returns the slice that holds the line. There is exactly one. */
static unsigned slice_of(const struct partitions *all, uint64_t line)
{
    unsigned found = MOST;
    for (unsigned i = 0; i < all->l2->slices; i++)
        if (llc_line_state(all->slices[i], line).present) {
            assert_int_equal(found, MOST);
            found = i;
        }
    assert_true(found < MOST);
    return found;
}

/* Brings lines in, as many as half of the slices' capacity, and checks where they are. */
static void check_spread(unsigned slices, const char *interleave)
{
    struct partitions *all = partitions_new(slices, interleave);
    const uint64_t bytes = slices * all->l2->size / 2;
    unsigned lines[MOST] = {0};
    for (uint64_t at = BASE; at < BASE + bytes; at += LINE)
        (void)crossbar_ops.warm(all->link.port, &all->link, at, false);
    for (uint64_t at = BASE; at < BASE + bytes; at += LINE) {
        const unsigned slice = slice_of(all, at);
        lines[slice]++;
        if (all->l2->interleave == LLC_BY_PARTITION)
            assert_true(serves(all, slice, channel_of(at)));
        else
            assert_int_equal(slice, (at / LINE) % slices);
    }
    /* 1 KiB of a channel is more or less than others have. */
    const unsigned even = (unsigned)(bytes / LINE / slices);
    for (unsigned i = 0; i < slices; i++)
        assert_in_range(lines[i], even - 8, even + 8);
    partitions_free(all);
}

static void lines_are_spread_evenly(void **state)
{
    static const unsigned by_line[] = {1, 5, 6, 7, 8}, by_partition[] = {1, 2, 3, 6, 12, 18};
    (void)state;
    for (unsigned i = 0; i < sizeof by_line / sizeof *by_line; i++)
        check_spread(by_line[i], "line");
    for (unsigned i = 0; i < sizeof by_partition / sizeof *by_partition; i++)
        check_spread(by_partition[i], "partition");
}

static void ask(struct partitions *all, enum mem_op op, uint64_t address)
{
    const unsigned before = all->answers;
    mem_request_init(&all->request, op, address, 64);
    assert_true(mem_link_request(&all->link, &all->request, all->queue.now));
    event_queue_run(&all->queue, all->queue.now + UINT64_C(10000) * CLOCK);
    assert_int_equal(all->answers, before + 1);
}

/* channel_request() checks each fill and write-back. The lines are of all rows of the first 64 MiB, and of
 * all offsets in a channel's block. */
static void slices_request_from_their_channels(void **state)
{
    static const unsigned counts[] = {2, 6, 12, 18};
    (void)state;
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
        struct partitions *all = partitions_new(counts[c], "partition");
        unsigned requests = 0;
        for (uint64_t at = 0; at < UINT64_C(64) << 20; at += 4096 * 5 + LINE)
            ask(all, at % 3 ? MEM_READ : MEM_WRITE, BASE + at + (at % 2 ? 64 : 0));
        for (unsigned i = 0; i < counts[c]; i++) {
            assert_true(all->channels[i].requests > 0);
            requests += all->channels[i].requests;
        }
        assert_true(requests >= (64 << 20) / (4096 * 5 + LINE));
        partitions_free(all);
    }
}

static void check_refused(const char *machine, const char *const *sets, size_t count, const char *message)
{
    struct machine_config config;
    struct error err;
    const bool loaded = machine_load(&config, machine, SHIPPED, sets, count, &err);
    assert_false(loaded && plan_check(&config, &err));
    assert_string_equal(err.text, message);
    if (loaded)
        machine_free(&config);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const char *const
        eight[] = {"simt.l2.interleave=partition"},
        *const split[] = {"simt.l2.interleave=partition", "simt.l2.slices=6", "dram.map=R12 G2 B2 C6 % O6"},
        *const through[] = {"l2.write_policy=write_through"}, *const host[] = {"l2.interleave=partition"};
    check_refused(
        "gpu", eight, 1,
        "--set: simt.l2.interleave: partition is not allowed with 8 slices and 6 memory channels: one "
        "number must divide the other");
    check_refused("gpu", split, 3,
                  "--set: simt.l2.interleave: partition is not allowed: a line of 128 bytes lies in several "
                  "memory channels");
    check_refused("ddr3", through, 1,
                  "--set: l2.write_policy: write_through is only allowed for the second level of "
                  "multiprocessors, or for one at a memory; allowed: write_back");
    check_refused("ddr3", host, 1,
                  "--set: l2.interleave: partition is only allowed for the second level of "
                  "multiprocessors, or for one at a memory; allowed: line");
}

/* Returns whether a page of a machine's memory can move, with the message of a refusal. */
static bool page_moves(const char *machine, const char *const *sets, size_t count, struct error *err)
{
    struct machine_config config;
    struct plan plan;
    if (!machine_load(&config, machine, SHIPPED, sets, count, err) || !plan_machine(&plan, &config, err))
        fail_msg("%s", err->text);
    const uint64_t base = config.memory->base;
    const bool moves = home_range_page(plan.homes, base, 4096, err) &&
                       home_page_move(plan.homes, base, 1, NULL, NULL, 0, err);
    plan_free(&plan);
    machine_free(&config);
    return moves;
}

/* Homes change while a machine runs only if no second level has the lines of one memory or channel. */
static void homes_are_fixed_by_caches_at_memories(void **state)
{
    (void)state;
    static const char *const lines[] = {"simt.l2.interleave=line"}, *const parts[] = {
                                                                        "simt.l2.interleave=partition",
                                                                        "simt.l2.slices=6"};
    struct error err;
    if (!page_moves("gpu", lines, 1, &err))
        fail_msg("%s", err.text);
    assert_true(page_moves("ddr3", NULL, 0, &err));
    assert_false(page_moves("gpu", parts, 2, &err));
    assert_string_equal(
        err.text, "--set: simt.l2.interleave: homes cannot change while the machine runs, because this cache "
                  "has the lines "
                  "of its memory alone; allowed: a second level in front of all memories, or `l2: none`");
    assert_false(page_moves("nupim", NULL, 0, &err));
    assert_non_null(strstr(err.text, "nupim.yaml:"));
    assert_non_null(strstr(err.text, "l2.interleave: homes cannot change while the machine runs"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_spread_evenly),
        cmocka_unit_test(slices_request_from_their_channels),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(homes_are_fixed_by_caches_at_memories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
