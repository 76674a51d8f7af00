#include "emu/machine/builder.h"

#include <stdlib.h>
#include <string.h>

#include "emu/dram/map.h"
#include "emu/machine/system.h"
#include "emu/mem/home_bits.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"
#include "emu/net/link.h"

/* The part below an instance under that name, or NULL when there is none. */
static const struct instance *below(const struct instance *instance, const char *name)
{
    for (const struct instance *i = instance->first; i; i = i->next)
        if (!i->absent && strcmp(i->name, name) == 0)
            return i;
    return NULL;
}

/* Places that the multiprocessors of a part take of what they are joined to: one for each slice of their last level or, without
 * one, for their crossbar, or else for each of them. */
static unsigned simt_places(const struct instance *simt)
{
    const struct instance *l2 = below(simt, "l2");
    if (l2)
        return ((const struct llc_config *)l2->config)->slices;
    return below(simt, "crossbar") ? 1 : ((const struct simt_config *)simt->config)->count;
}

/* Places that a wire takes at its server, and of its client's own ends. */
static unsigned places_in(const struct wire *wire)
{
    if (wire->client->kind == &llc_kind)
        return ((const struct llc_config *)wire->client->config)->slices;
    return wire->client->kind == &simt_kind ? simt_places(wire->client) : 1;
}

static unsigned places_out(const struct wire *wire)
{
    bool spreads = wire->client->kind == &crossbar_kind && wire->server->kind == &dram_kind;
    return spreads ? ((const struct dram_config *)wire->server->config)->channels : 1;
}

/* The first place of a wire at its server: behind those of lower slots. */
static unsigned first_in(const struct wiring *wiring, const struct wire *wire)
{
    unsigned first = 0;
    for (size_t i = 0; i < wiring->count; i++) {
        const struct wire *other = &wiring->wires[i];
        if (other->server == wire->server && other->server_port == wire->server_port &&
            other->server_slot < wire->server_slot)
            first += places_in(other);
    }
    return first;
}

static unsigned first_out(const struct wiring *wiring, const struct wire *wire)
{
    unsigned first = 0;
    for (size_t i = 0; i < wiring->count; i++) {
        const struct wire *other = &wiring->wires[i];
        if (other->client == wire->client && other->client_port == wire->client_port &&
            other->client_slot < wire->client_slot)
            first += places_out(other);
    }
    return first;
}

static unsigned all_in(const struct wiring *wiring, const struct instance *server)
{
    unsigned all = 0;
    for (size_t i = 0; i < wiring->count; i++)
        if (wiring->wires[i].server == server)
            all += places_in(&wiring->wires[i]);
    return all;
}

static unsigned all_out(const struct wiring *wiring, const struct instance *client)
{
    unsigned all = 0;
    for (size_t i = 0; i < wiring->count; i++)
        if (wiring->wires[i].client == client)
            all += places_out(&wiring->wires[i]);
    return all;
}

/* The number of the n-th part with copies outwards; 0 when there are fewer. */
static uint16_t outer_number(const struct instance *part, unsigned n)
{
    for (; part; part = part->parent)
        if (part->index >= 0 && n-- == 0)
            return (uint16_t)part->index;
    return 0;
}

static const struct instance *next_memory(const struct builder *builder, const struct instance *memory)
{
    do
        memory = tree_next(builder->machine->tree, memory);
    while (memory && memory->kind != &dram_kind);
    return memory;
}

static bool is_alike(const struct dram_config *a, const struct dram_config *b)
{
    return a->channels == b->channels && a->ranks == b->ranks && a->groups == b->groups &&
           a->banks == b->banks && a->rows == b->rows && a->row_bytes == b->row_bytes &&
           a->burst_bytes == b->burst_bytes && strcmp(a->map, b->map) == 0;
}

/* The number of a memory among all, and where that lies. */
static uint32_t memory_number(const struct builder *builder, const struct instance *memory)
{
    if (builder->modules * builder->stacks == 1)
        return 0;
    if (!builder->through)
        return outer_number(memory, 1) * builder->stacks + outer_number(memory, 0);
    uint32_t number = 0;
    for (const struct instance *i = next_memory(builder, NULL); i != memory; i = next_memory(builder, i))
        number++;
    return number;
}

/* Whether each pair of numbers of a module and a stack is that of one memory. */
static bool is_grid(const struct builder *builder, uint32_t memories)
{
    bool grid = (uint64_t)builder->modules * builder->stacks == memories;
    for (const struct instance *i = next_memory(builder, NULL); grid && i; i = next_memory(builder, i))
        for (const struct instance *j = next_memory(builder, i); grid && j; j = next_memory(builder, j))
            grid = memory_number(builder, i) != memory_number(builder, j);
    return grid;
}

/* "FILE:LINE: homes: " in front of the message; without a text of its own, it is the memories' map that does not fit. */
static bool at_homes(const struct builder *builder, const struct instance *memory, struct error *err)
{
    const struct instance *root = tree_root(builder->machine->tree);
    if (*((const struct root_config *)root->config)->homes)
        return tree_at(builder->machine->tree, root, "homes", err);
    (void)error_prefix(err, "homes");
    return tree_at_part(builder->machine->tree, memory, err);
}

/* The map of several memories. */
static bool plan_range(struct builder *builder, const struct instance *first, struct error *err)
{
    const struct memory_config *range = builder->machine->memory;
    const struct root_config *root = tree_root(builder->machine->tree)->config;
    const struct dram_config *dram = first->config;
    struct home_layout layout = dram_map_layout(dram);
    layout.geometry.modules = builder->modules;
    layout.geometry.stacks = builder->stacks;
    if (*root->homes)
        (void)snprintf(layout.text, sizeof layout.text, "%s", root->homes);
    else if (!home_text_fit(dram->map, &layout.geometry, layout.text, err))
        return at_homes(builder, first, err);
    builder->homes = home_map_new();
    return home_range_add(builder->homes, range->base, range->size, &layout, err) ||
           at_homes(builder, first, err);
}

static bool plan_homes(struct builder *builder, struct error *err)
{
    const struct instance *first = next_memory(builder, NULL);
    unsigned memories = 0;
    if (!first)
        return error_set(err, "the machine has no dram");
    builder->modules = builder->stacks = 1;
    builder->controllers = ((const struct dram_config *)first->config)->channels;
    for (const struct instance *i = first; i; i = next_memory(builder, i), memories++) {
        if (!is_alike(first->config, i->config)) {
            (void)error_set(err, "%s and %s: several memories of a machine have one organisation and one map",
                            first->path, i->path);
            return tree_at_parts(builder->machine->tree, first, i, err);
        }
        uint32_t stack = outer_number(i, 0), module = outer_number(i, 1);
        builder->stacks = stack >= builder->stacks ? stack + 1 : builder->stacks;
        builder->modules = module >= builder->modules ? module + 1 : builder->modules;
    }
    builder->through = !is_grid(builder, memories);
    if (builder->through) {
        builder->modules = 1;
        builder->stacks = memories;
    }
    if (memories > 1)
        return plan_range(builder, first, err);
    builder->through = false;
    builder->modules = builder->stacks = 1;
    builder->homes = dram_map_homes(first->config, builder->machine->memory->base);
    return true;
}

static size_t number_of(const struct builder *builder, const struct instance *part)
{
    size_t number = 0;
    for (const struct instance *i = tree_next(builder->machine->tree, NULL); i != part;
         i = tree_next(builder->machine->tree, i))
        number++;
    return number;
}

/* The wire on the shortest way from a part to a memory, or NULL. */
static const struct wire *shortest(const struct builder *builder, const struct instance *part,
                                   const uint32_t *distances)
{
    const struct wire *best = NULL;
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < builder->wiring.count; i++) {
        const struct wire *wire = &builder->wiring.wires[i];
        uint32_t distance = wire->client == part ? distances[number_of(builder, wire->server)] : UINT32_MAX;
        bool earlier = best && distance == least && wire->client_slot < best->client_slot;
        if (distance >= least && !earlier)
            continue;
        best = wire;
        least = distance;
    }
    return best;
}

/* The outputs of a crossbar by home. Those of memories that cannot be reached from it do not matter: a request goes the
 * shortest way, and check_ways() found one from where it comes. */
static uint16_t *routes_of(const struct builder *builder, const struct instance *crossbar)
{
    size_t size = (size_t)builder->modules * builder->stacks * builder->controllers;
    uint16_t *routes = calloc(size, sizeof *routes);
    if (!routes)
        abort();
    for (const struct instance *memory = next_memory(builder, NULL); memory;
         memory = next_memory(builder, memory)) {
        uint32_t *distances;
        (void)wiring_distances(&builder->wiring, builder->machine->tree, memory, &distances);
        const struct wire *wire = shortest(builder, crossbar, distances);
        free(distances);
        if (!wire)
            continue;
        size_t place = memory_number(builder, memory);
        unsigned first = first_out(&builder->wiring, wire);
        for (uint32_t i = 0; i < builder->controllers; i++)
            routes[place * builder->controllers + i] = (uint16_t)(first + (wire->server == memory ? i : 0));
    }
    return routes;
}

/* Whether requests begin at the part: it asks for memory, and serves nobody with it. */
static bool is_origin(const struct instance *part)
{
    bool asks = false, serves = false;
    for (const struct part_port *port = part->kind->ports; port && port->name; port++) {
        bool memory = strcmp(port->type, "memory") == 0;
        asks |= memory && port->direction == PART_ASKS;
        serves |= memory && port->direction == PART_SERVES;
    }
    return asks && !serves;
}

/* Whether each part that asks for memory reaches all of it, within what a request can remember of its way. */
static bool check_ways(const struct builder *builder, struct error *err)
{
    const struct tree *tree = builder->machine->tree;
    for (const struct instance *memory = next_memory(builder, NULL); memory;
         memory = next_memory(builder, memory)) {
        uint32_t *distances;
        const struct instance *lost = NULL;
        (void)wiring_distances(&builder->wiring, tree, memory, &distances);
        size_t number = 0;
        for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i), number++) {
            if (!lost && is_origin(i) && distances[number] > MEM_HOPS - 3)
                lost = i;
        }
        bool far = lost && distances[number_of(builder, lost)] != UINT32_MAX;
        free(distances);
        if (!lost)
            continue;
        (void)error_set(err,
                        far ? "%s is too many links away from %s; a request passes at most %d"
                            : "%s has no way to %s",
                        lost->path, memory->path, MEM_HOPS - 3);
        return tree_at_parts(tree, lost, memory, err);
    }
    return true;
}

bool builder_plan(struct builder *builder, const struct machine_config *machine, const struct phys *bytes,
                  struct error *err)
{
    *builder = (struct builder){.machine = machine, .bytes = bytes};
    return wiring_plan(&builder->wiring, machine->tree, machine_kinds, err) && plan_homes(builder, err) &&
           check_ways(builder, err);
}

/* Whether the builder makes it: parts in roles of a kind that is `whole` are made by those above them. */
static bool is_made(const struct instance *part)
{
    if (!part->kind->make)
        return false;
    for (const struct instance *i = part; i->parent; i = i->parent)
        if (i->role && i->parent->kind->whole)
            return false;
    return true;
}

static void find_parts(struct builder *builder)
{
    const struct tree *tree = builder->machine->tree;
    for (const struct part_kind *const *kind = machine_kinds; *kind; kind++)
        for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
            if (i->kind != *kind || !is_made(i))
                continue;
            builder->parts = realloc(builder->parts, (builder->count + 1) * sizeof *builder->parts);
            if (!builder->parts)
                abort();
            builder->parts[builder->count++] = (struct built_part){.instance = i};
        }
}

/* The last level that the part is joined to, or NULL. */
static struct llc_slices *level_of(const struct builder *builder, const struct instance *part)
{
    for (size_t i = 0; i < builder->wiring.count; i++) {
        const struct wire *wire = &builder->wiring.wires[i];
        if (wire->client == part && wire->server->kind == &llc_kind)
            return builder_object(builder, wire->server);
    }
    return NULL;
}

static void set_place(const struct builder *builder, struct built_part *part)
{
    const struct instance *instance = part->instance;
    uint32_t number = instance->kind == &dram_kind ? memory_number(builder, instance) : 0;
    part->place = (struct mem_site){.homes = builder->homes,
                                    .bytes = builder->bytes,
                                    .modules = builder->modules,
                                    .stacks = builder->stacks,
                                    .controllers = builder->controllers,
                                    .module = (uint16_t)(number / builder->stacks),
                                    .stack = (uint16_t)(number % builder->stacks),
                                    .inputs = all_in(&builder->wiring, instance),
                                    .outputs = all_out(&builder->wiring, instance),
                                    .level = level_of(builder, instance)};
    if (instance->kind == &crossbar_kind)
        part->routes = routes_of(builder, instance);
    part->place.routes = part->routes;
}

static const void **configs_below(const struct instance *instance)
{
    const struct part_role *roles = instance->kind->roles;
    size_t count = 0;
    while (roles && roles[count].name)
        count++;
    const void **configs = calloc(count + 1, sizeof *configs);
    if (!configs)
        abort();
    for (size_t i = 0; i < count; i++) {
        const struct instance *part = below(instance, roles[i].name);
        configs[i] = part ? part->config : NULL;
    }
    return configs;
}

static bool make_part(struct built_part *part, const struct builder_making *making, const void *place,
                      struct error *err)
{
    const struct instance *instance = part->instance;
    const void **configs = configs_below(instance);
    const struct part_site site = {.name = instance->path,
                                   .queue = making->queue,
                                   .clock = &part->clock,
                                   .numbers = making->numbers,
                                   .below = configs,
                                   .place = place};
    part->object = instance->kind->make(instance->config, &site, err);
    free(configs);
    if (part->object && making->sink && instance->kind->observe)
        instance->kind->observe(part->object, making->sink, instance->path);
    return part->object || error_prefix(err, "%s", instance->path);
}

void *builder_object(const struct builder *builder, const struct instance *instance)
{
    for (size_t i = 0; i < builder->count; i++)
        if (builder->parts[i].instance == instance)
            return builder->parts[i].object;
    return NULL;
}

static struct part_end end_of(const struct builder *builder, const struct wire *wire, unsigned place)
{
    void *server = builder_object(builder, wire->server);
    if (!server || !wire->server->kind->serve)
        return (struct part_end){NULL, NULL};
    return wire->server->kind->serve(server, wire->server_port, first_in(&builder->wiring, wire) + place);
}

/* One of the two ends of a wire takes several places at most. */
static void connect_wire(const struct builder *builder, const struct wire *wire, void *client)
{
    unsigned in = places_in(wire), out = places_out(wire);
    for (unsigned place = 0; place < in * out; place++) {
        struct part_end end = end_of(builder, wire, in > 1 ? place : 0);
        wire->client->kind->connect(client, wire->client_port, first_out(&builder->wiring, wire) + place,
                                    &end);
    }
}

static void connect_parts(const struct builder *builder)
{
    for (size_t i = 0; i < builder->wiring.count; i++) {
        void *client = builder_object(builder, builder->wiring.wires[i].client);
        if (client)
            connect_wire(builder, &builder->wiring.wires[i], client);
    }
}

/* A custom instruction goes to one unit, so that no two parts may serve the same extension. */
static bool add_units(struct builder *builder, const struct built_part *part, struct error *err)
{
    struct custom_units own = {0};
    if (!part->object || !part->instance->kind->units)
        return true;
    part->instance->kind->units(part->object, &own);
    for (unsigned i = 0; i < EXTENSION_COUNT; i++) {
        if (!own.of[i].execute)
            continue;
        if (builder->units.of[i].execute)
            return error_set(err, "%s: another part serves the instructions of %s already",
                             part->instance->path, insn_extension_name[i]);
        custom_serve(&builder->units, (enum insn_extension)i, &own.of[i]);
    }
    return true;
}

bool builder_make(struct builder *builder, const struct builder_making *making, struct error *err)
{
    find_parts(builder);
    for (size_t i = 0; i < builder->count; i++) {
        struct built_part *part = &builder->parts[i];
        set_place(builder, part);
        const void *place = making->place(making->context, part->instance, &part->place);
        if (place && !make_part(part, making, place, err))
            return false;
    }
    if (making->numbers->requester > PART_REQUESTERS)
        return error_set(err, "the machine has %u parts that ask for memory; at most %d are possible",
                         making->numbers->requester, PART_REQUESTERS);
    connect_parts(builder);
    for (size_t i = 0; i < builder->count; i++)
        if (!add_units(builder, &builder->parts[i], err))
            return false;
    return true;
}

static void publish_part(const struct built_part *part, struct stats *stats, struct energy_ledger *ledger)
{
    const struct part_kind *kind = part->instance->kind;
    const struct scope scope = scope_enter(NULL, part->instance->path);
    if (kind->publish)
        kind->publish(part->object, stats, scope);
    if (kind->energy)
        kind->energy(part->object, ledger, scope);
}

void builder_publish(const struct builder *builder, const struct part_kind *kind, struct stats *stats,
                     struct energy_ledger *ledger)
{
    for (size_t i = 0; i < builder->count; i++)
        if (builder->parts[i].object && builder->parts[i].instance->kind == kind)
            publish_part(&builder->parts[i], stats, ledger);
}

void builder_reset(const struct builder *builder)
{
    for (size_t i = 0; i < builder->count; i++)
        if (builder->parts[i].object && builder->parts[i].instance->kind->reset)
            builder->parts[i].instance->kind->reset(builder->parts[i].object);
}

void builder_sync(const struct builder *builder, uint64_t now)
{
    for (size_t i = 0; i < builder->count; i++)
        if (builder->parts[i].object && builder->parts[i].instance->kind->sync)
            builder->parts[i].instance->kind->sync(builder->parts[i].object, now);
}

void builder_free(struct builder *builder)
{
    while (builder->count > 0) {
        struct built_part *part = &builder->parts[--builder->count];
        if (part->object)
            part->instance->kind->free(part->object);
        free(part->routes);
    }
    free(builder->parts);
    builder->parts = NULL;
    home_map_free(builder->homes);
    builder->homes = NULL;
    wiring_free(&builder->wiring);
}
