#include "emu/net/allocator/loads.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

struct load {
    uint32_t window; /* number of the one in which it was counted last */
    uint32_t count;
};

struct loads {
    const struct topology *topology;
    size_t *rows; /* by input port: the place of its first pair */
    struct load *pairs;
};

struct loads *loads_new(const struct topology *topology)
{
    struct loads *loads = alloc(1, sizeof *loads);
    size_t pairs = 0;
    *loads = (struct loads){.topology = topology, .rows = alloc(topology->port_count, sizeof *loads->rows)};
    for (uint32_t p = 0; p < topology->port_count; p++) {
        loads->rows[p] = pairs;
        pairs += topology->routers[topology->ports[p].router].ports;
    }
    loads->pairs = alloc(pairs, sizeof *loads->pairs);
    return loads;
}

void loads_free(struct loads *loads)
{
    if (!loads)
        return;
    free(loads->rows);
    free(loads->pairs);
    free(loads);
}

static struct load *pair_of(const struct loads *loads, uint32_t in_port, uint32_t out_port)
{
    const struct topology_router *router = &loads->topology->routers[loads->topology->ports[in_port].router];
    return &loads->pairs[loads->rows[in_port] + out_port - router->first_port];
}

static uint32_t count_of(const struct load *load, uint32_t window)
{
    uint32_t windows = window - load->window;
    return windows < 32 ? load->count >> windows : 0;
}

void loads_passed(struct loads *loads, uint32_t in_port, uint32_t out_port, uint64_t clock)
{
    struct load *load = pair_of(loads, in_port, out_port);
    uint32_t window = (uint32_t)(clock / LOADS_WINDOW);
    *load = (struct load){.window = window, .count = count_of(load, window) + 1};
}

uint32_t loads_of(const struct loads *loads, uint32_t in_port, uint32_t out_port, uint64_t clock)
{
    return count_of(pair_of(loads, in_port, out_port), (uint32_t)(clock / LOADS_WINDOW));
}
