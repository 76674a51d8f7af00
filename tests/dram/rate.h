/* A requester that keeps 16 reads and writes in flight for each channel of a memory: its requests a second. */
#ifndef TESTS_DRAM_RATE_H
#define TESTS_DRAM_RATE_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "emu/dram/memory.h"
#include "emu/dram/standard.h"
#include "tests/isa/random.h"

enum { IN_FLIGHT = 16, REQUESTS = 3000000 };

/* A client has one request in flight, and repeats it when it is refused. */
struct client {
    struct bench *bench;
    struct mem_link link;
    struct mem_request request;
};

struct bench {
    struct event_queue queue;
    struct home_map *homes;
    struct dram_memory memory;
    struct client *clients;
    uint64_t random, done, next, span;
    enum pattern { RANDOM_READS, RANDOM_MIXED, STREAM, PATTERNS } pattern;
};

static uint64_t random_number(struct bench *bench)
{
    random_step(&bench->random);
    return bench->random >> 24;
}

static void send(struct client *client, uint64_t now)
{
    struct bench *bench = client->bench;
    uint32_t burst = bench->memory.common.config.burst_bytes;
    uint64_t number =
        bench->pattern == STREAM ? bench->next++ : (random_number(bench) >> 8) * bench->span >> 32;
    enum mem_op op = bench->pattern == RANDOM_MIXED && random_number(bench) % 4 == 0 ? MEM_WRITE : MEM_READ;
    mem_request_init(&client->request, op, number * burst, burst);
    (void)mem_link_request(&client->link, &client->request, now);
}

static bool respond(void *owner, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct client *client = owner;
    (void)link, (void)request;
    client->bench->done++;
    send(client, now);
    return true;
}

static void request_room(void *owner, struct mem_link *link, uint64_t now)
{
    struct client *client = owner;
    (void)mem_link_request(link, &client->request, now);
}

static const struct mem_client_ops client_ops = {respond, request_room};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Returns millions of requests a second of processor time; *bandwidth is simulated, in GB/s. */
static double rate(enum dram_standard standard, enum pattern pattern, double *bandwidth)
{
    struct dram_config config;
    struct error err;
    struct bench *bench = calloc(1, sizeof *bench);
    dram_config_default(&config, standard);
    if (!bench)
        exit(1);
    event_queue_init(&bench->queue);
    bench->homes = dram_map_homes(&config, 0);
    if (!part_check(&dram_kind, &config, &err)) {
        (void)fprintf(stderr, "dram_bench: %s\n", err.text);
        exit(1);
    }
    dram_memory_init(&bench->memory, &config, &bench->queue, 1, bench->homes);
    bench->pattern = pattern;
    bench->random = 1;
    bench->span = dram_config_bytes(&config) / config.burst_bytes;
    unsigned in_flight = IN_FLIGHT * config.channels;
    bench->clients = calloc(in_flight, sizeof *bench->clients);
    if (!bench->clients)
        exit(1);
    double start = seconds();
    for (unsigned i = 0; i < in_flight; i++) {
        struct client *client = &bench->clients[i];
        client->bench = bench;
        client->link = (struct mem_link){
            &dram_memory_ops, &bench->memory, &client_ops, client, NULL, false, bench->homes, NULL};
        send(client, 0);
    }
    while (bench->done < REQUESTS)
        (void)event_queue_step(&bench->queue);
    double elapsed = seconds() - start;
    *bandwidth = (double)bench->done * config.burst_bytes / ((double)bench->queue.now * 1e-6);
    double millions = (double)bench->done / elapsed * 1e-6;
    dram_memory_free(&bench->memory);
    home_map_free(bench->homes);
    free(bench->clients);
    free(bench);
    return millions;
}

#endif
