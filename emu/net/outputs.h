/* Outputs of a crossbar or network: which one leads to the memory of a request. */
#ifndef EMU_NET_OUTPUTS_H
#define EMU_NET_OUTPUTS_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/mem/request.h"
#include "emu/sim/alloc.h"

enum { OUTPUTS_GRAIN = 16 }; /* aligned bytes that always share one route */

/* Selects the output of a request: by the home in the request, or, above the last-level cache, by its
 * address.
 *
 * By home (`homes` is set): `outputs` has an entry for each home at index (module * stacks + stack) *
 * controllers + controller. The entry is the output connected to that memory, or to the link that leads to
 * it: the crossbar of a module has one output per controller of its own stacks, and one link for all homes of
 * another module. Accesses without time carry no home; `homes` resolves their address. By address: the output is
 * (address >> shift) modulo the number of outputs.
 *
 * By partition (`homes` and `partitions` are set): above the slices of a last-level cache, where requests carry
 * no home yet, `homes` resolves the first byte of the line of 1 << shift bytes. One of the numbers of outputs
 * and of channels divides the other. If there are fewer outputs, output n has the n-th group of channels. If
 * there are more, channel n has the n-th group of outputs, and its lines take turns in order of column, bank
 * and row. A line of which the home changes while it is cached stays in the slice of its old home. */
struct crossbar_route {
    const struct home_map *homes;          /* must outlive the crossbar; NULL: route by address */
    uint32_t modules, stacks, controllers; /* sizes of the table's three dimensions */
    const uint16_t *outputs;               /* the table, copied; NULL: the output is the index */
    uint32_t shift;
    bool partitions;
    uint32_t line_bursts; /* of partitions: bursts of a line, at least 1 */
};

struct outputs {
    struct crossbar_route route;
    uint16_t *table; /* copy of route.outputs, or NULL */
    uint64_t mask;   /* count - 1 if requests are routed by address and count is a power of two, else 0 */
    uint32_t count;
};

/* Copies the route; the outputs that it names must exist. Release it with outputs_free(). */
static inline void outputs_init(struct outputs *outputs, const struct crossbar_route *route, uint32_t count)
{
    *outputs = (struct outputs){.route = *route, .count = count};
    outputs->route.outputs = NULL;
    if (!route->homes) {
        outputs->mask = (count & (count - 1)) == 0 ? count - 1 : 0;
        return;
    }
    const size_t homes = (size_t)route->modules * route->stacks * route->controllers;
    if (route->partitions) {
        assert(route->line_bursts > 0 && (homes % count == 0 || count % homes == 0));
        return;
    }
    assert(homes > 0 && (route->outputs || homes <= count));
    if (!route->outputs)
        return;
    outputs->table = alloc(homes, sizeof *outputs->table);
    memcpy(outputs->table, route->outputs, homes * sizeof *outputs->table);
    for (size_t i = 0; i < homes; i++)
        assert(outputs->table[i] < count);
}

static inline void outputs_free(struct outputs *outputs)
{
    free(outputs->table);
}

static inline uint32_t outputs_channel(const struct crossbar_route *route, const struct home *home)
{
    return (home->module * route->stacks + home->stack) * route->controllers + home->controller;
}

static inline uint32_t outputs_of_home(const struct outputs *outputs, const struct home *home)
{
    const struct crossbar_route *route = &outputs->route;
    assert(home->module < route->modules && home->stack < route->stacks &&
           home->controller < route->controllers);
    const uint32_t index = outputs_channel(route, home);
    return outputs->table ? outputs->table[index] : index;
}

static inline uint32_t outputs_of_partition(const struct outputs *outputs, uint64_t address)
{
    const struct crossbar_route *route = &outputs->route;
    const uint32_t channels = route->modules * route->stacks * route->controllers;
    struct home home;
    home_resolve(route->homes, address >> route->shift << route->shift, &home);
    const uint32_t channel = outputs_channel(route, &home);
    if (outputs->count <= channels)
        return channel / (channels / outputs->count);
    const uint32_t each = outputs->count / channels;
    return channel * each + (home.column / route->line_bursts + home.bank + home.row) % each;
}

/* Returns the output for an access without time. */
static inline uint32_t outputs_of_address(const struct outputs *outputs, uint64_t address)
{
    struct home home;
    uint64_t number = address >> outputs->route.shift;
    if (!outputs->route.homes)
        return (uint32_t)(outputs->mask ? number & outputs->mask : number % outputs->count);
    if (outputs->route.partitions)
        return outputs_of_partition(outputs, address);
    home_resolve(outputs->route.homes, address, &home);
    return outputs_of_home(outputs, &home);
}

/* Returns the number of aligned bytes that always share one output: a power of two. */
static inline uint64_t outputs_grain(const struct outputs *outputs)
{
    const struct crossbar_route *route = &outputs->route;
    const bool by_home = route->homes && !route->partitions;
    return by_home ? OUTPUTS_GRAIN : UINT64_C(1) << route->shift;
}

static inline uint32_t outputs_of_request(const struct outputs *outputs, const struct mem_request *request)
{
    if (!outputs->route.homes || outputs->route.partitions)
        return outputs_of_address(outputs, request->address);
    assert(home_current(&request->home));
    return outputs_of_home(outputs, &request->home);
}

#endif
