#include "emu/machine/plan/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/dram/map.h"
#include "emu/machine/plan/lines.h"
#include "emu/machine/plan/networks.h"
#include "emu/machine/plan/pages.h"
#include "emu/mem/home_bits.h"
#include "emu/mem/llc.h"
#include "emu/sim/alloc.h"

/* Most links between parts on a request's way. The rest of MEM_HOPS is for links inside a part: in
 * multiprocessors, from a first-level cache to the crossbar, and from there to a slice. */
enum { WAY_MOST = MEM_HOPS - 3 };

static void *array_of(size_t count, size_t size)
{
    return alloc(count + 1, size);
}

static unsigned ends_of(const struct instance *client)
{
    if (!client->kind->ends)
        return 1;
    const void **below = tree_configs_below(client);
    const unsigned ends = client->kind->ends(client->config, below);
    free(below);
    return ends;
}

static unsigned channels_of(const struct wire *wire)
{
    const struct part_kind *server = wire->server->kind;
    if (!wire->client->kind->ports[wire->client_port].spreads || !server->channels)
        return 1;
    return server->channels(wire->server->config);
}

/* A port's slot, as a key that sorts by part, port and slot. */
struct slot {
    uint64_t key;
    size_t wire;
};

static int by_key(const void *a, const void *b)
{
    const struct slot *one = a, *other = b;
    return (one->key > other->key) - (one->key < other->key);
}

static uint64_t key_of(const struct instance *part, unsigned port, unsigned slot)
{
    return (uint64_t)part->number << 40 | (uint64_t)port << 32 | slot;
}

/* Sets each wire's first place at its server (first_in) or client (first_out): the sum over the port's lower
 * slots. */
static void sum_places(struct plan *plan, bool servers)
{
    const struct wiring *wiring = &plan->wiring;
    struct slot *slots = array_of(wiring->count, sizeof *slots);
    for (size_t i = 0; i < wiring->count; i++) {
        const struct wire *wire = &wiring->wires[i];
        slots[i].wire = i;
        slots[i].key = servers ? key_of(wire->server, wire->server_port, wire->server_slot)
                               : key_of(wire->client, wire->client_port, wire->client_slot);
    }
    qsort(slots, wiring->count, sizeof *slots, by_key);
    unsigned first = 0;
    for (size_t i = 0; i < wiring->count; i++) {
        struct plan_places *places = &plan->places[slots[i].wire];
        if (i == 0 || slots[i].key >> 32 != slots[i - 1].key >> 32)
            first = 0;
        *(servers ? &places->first_in : &places->first_out) = first;
        first += servers ? places->in : places->out;
    }
    free(slots);
}

static void plan_places(struct plan *plan)
{
    plan->places = array_of(plan->wiring.count, sizeof *plan->places);
    for (size_t i = 0; i < plan->wiring.count; i++) {
        const struct wire *wire = &plan->wiring.wires[i];
        plan->places[i].in = ends_of(wire->client);
        plan->places[i].out = channels_of(wire);
    }
    sum_places(plan, true);
    sum_places(plan, false);
}

/* Returns the copy number of the n-th part with copies, counted from 0 at `part` outwards; 0 when there are
 * fewer. */
static uint32_t outer_number(const struct instance *part, unsigned n)
{
    for (; part; part = part->parent)
        if (part->index >= 0 && n-- == 0)
            return (uint32_t)part->index;
    return 0;
}

static void find_memories(struct plan *plan)
{
    const struct tree *tree = plan->machine->tree;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        plan->memory_count += i->kind == &dram_kind;
    plan->memories = array_of(plan->memory_count, sizeof *plan->memories);
    size_t count = 0;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind == &dram_kind)
            plan->memories[count++].instance = i;
}

static bool is_equal(const struct part_field *field, const struct instance *one, const struct instance *other,
                     char values[2][FIELD_VALUE])
{
    field_format(field, one->config, values[0]);
    field_format(field, other->config, values[1]);
    return strcmp(values[0], values[1]) == 0;
}

/* Adds the origin to a message about memories that differ in a field: the field's setting if there is one;
 * else the last setting of another field in which they differ, because the field may be derived from it.
 * Returns false. */
static bool at_difference(const struct plan *plan, const struct instance *memory, unsigned field,
                          struct error *err)
{
    const struct instance *first = plan->memories[0].instance;
    unsigned setting = memory->winner[field] ? memory->winner[field] : first->winner[field];
    char values[2][FIELD_VALUE];
    for (unsigned i = 0; !memory->winner[field] && !first->winner[field] && i < dram_kind.field_count; i++) {
        unsigned later = memory->winner[i] > first->winner[i] ? memory->winner[i] : first->winner[i];
        if (later > setting && !is_equal(&dram_kind.fields[i], memory, first, values))
            setting = later;
    }
    return setting ? tree_at_setting(plan->machine->tree, setting - 1, err)
                   : tree_at_parts(plan->machine->tree, first, memory, err);
}

/* Checks that a memory has the organisation and the map of the first one. */
static bool check_alike(const struct plan *plan, const struct instance *memory, struct error *err)
{
    static const char *const keys[] = {"channels",  "ranks",       "groups", "banks",        "rows",
                                       "row_bytes", "burst_bytes", "map",    "channel_hash", "bank_hash"};
    const struct instance *first = plan->memories[0].instance;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const unsigned field = (unsigned)part_field_find(&dram_kind, keys[i]);
        char values[2][FIELD_VALUE];
        if (is_equal(&dram_kind.fields[field], memory, first, values))
            continue;
        (void)error_set(
            err, "%s.%s is %s, %s.%s is %s: the memories of a machine have one organisation and one map",
            memory->path, keys[i], values[0], first->path, keys[i], values[1]);
        return at_difference(plan, memory, field, err);
    }
    return true;
}

/* Numbers memories by module and stack if exactly one memory has each pair of numbers, else consecutively. */
static void number_memories(struct plan *plan)
{
    plan->modules = plan->stacks = 1;
    for (size_t i = 0; i < plan->memory_count; i++) {
        uint32_t stack = outer_number(plan->memories[i].instance, 0),
                 module = outer_number(plan->memories[i].instance, 1);
        plan->stacks = stack >= plan->stacks ? stack + 1 : plan->stacks;
        plan->modules = module >= plan->modules ? module + 1 : plan->modules;
    }
    bool grid = (uint64_t)plan->modules * plan->stacks == plan->memory_count;
    bool *taken = array_of(plan->memory_count, sizeof *taken);
    for (size_t i = 0; grid && i < plan->memory_count; i++) {
        const struct instance *memory = plan->memories[i].instance;
        plan->memories[i].number = outer_number(memory, 1) * plan->stacks + outer_number(memory, 0);
        grid = !taken[plan->memories[i].number];
        taken[plan->memories[i].number] = true;
    }
    free(taken);
    if (grid)
        return;
    plan->modules = 1;
    plan->stacks = (uint32_t)plan->memory_count;
    for (size_t i = 0; i < plan->memory_count; i++)
        plan->memories[i].number = (uint32_t)i;
}

/* Returns whether the description sets a field of the root. */
static bool is_given(const struct plan *plan, const char *field)
{
    return tree_root(plan->machine->tree)->given[part_field_find(&root_kind, field)];
}

/* Prefixes the message with "FILE:LINE: homes: ", or with the place of stack_hash if that is the cause. If
 * `homes` is derived, the cause is the memories' map, so the prefix is the place of the first memory. */
static bool at_homes(const struct plan *plan, struct error *err)
{
    static const char hash[] = "stack_hash: ";
    const struct instance *root = tree_root(plan->machine->tree);
    if (strncmp(err->text, hash, strlen(hash)) == 0) {
        struct error message = *err;
        (void)error_set(err, "%s", message.text + strlen(hash));
        return tree_at(plan->machine->tree, root, "stack_hash", err);
    }
    if (is_given(plan, "homes") && *((const struct root_config *)root->config)->homes)
        return tree_at(plan->machine->tree, root, "homes", err);
    (void)error_prefix(err, "homes");
    return tree_at_part(plan->machine->tree, plan->memories[0].instance, err);
}

/* Sets the layout of several memories. */
static bool lay_out(const struct plan *plan, uint32_t span, struct home_layout *layout, struct error *err)
{
    const struct root_config *root = tree_root(plan->machine->tree)->config;
    const struct dram_config *dram = plan->memories[0].instance->config;
    *layout = dram_map_layout(dram);
    layout->stack_hash = root->stack_hash;
    layout->geometry.modules = plan->modules;
    layout->geometry.stacks = plan->stacks;
    if (*root->homes) {
        (void)snprintf(layout->text, sizeof layout->text, "%s", root->homes);
        return true;
    }
    return home_text_fit(dram->map, &layout->geometry, layout->text, err) &&
           home_text_raise(layout->text, span, root->stack_hash, layout->text, err);
}

/* Makes the map of several memories. */
static bool plan_range(struct plan *plan, struct error *err)
{
    const struct memory_config *range = plan->machine->memory;
    const struct home_layout *layout = &plan->layout;
    const struct instance *longest;
    uint32_t span = lines_longest(plan->machine->tree, &longest);
    if (!lay_out(plan, span, &plan->layout, err))
        return at_homes(plan, err);
    plan->homes = home_map_new();
    if (!home_range_add(plan->homes, range->base, range->size, layout, err))
        return at_homes(plan, err);
    if (home_text_span(layout->text, layout->stack_hash) >= span)
        return true;
    (void)error_set(
        err,
        "\"%s\" changes the stack within %u bytes, the line of %s; S and M, divisions (%%) and, with "
        "stack_hash, R must stand above its bits",
        layout->text, span, longest->path);
    return at_homes(plan, err);
}

void plan_derive_homes(const struct machine_config *machine)
{
    struct plan plan = {.machine = machine};
    struct root_config *root = tree_root(machine->tree)->config;
    struct home_layout layout;
    const struct instance *longest;
    struct error ignored;
    if (!machine_timed(machine) || *root->homes)
        return;
    find_memories(&plan);
    if (plan.memory_count > 1) {
        number_memories(&plan);
        if (lay_out(&plan, lines_longest(machine->tree, &longest), &layout, &ignored))
            (void)snprintf(root->homes, sizeof root->homes, "%s", layout.text);
    }
    plan_free(&plan);
}

static bool plan_homes(struct plan *plan, struct error *err)
{
    find_memories(plan);
    if (plan->memory_count == 0) {
        (void)error_set(err, "the machine has no dram");
        return tree_at_part(plan->machine->tree, tree_root(plan->machine->tree), err);
    }
    for (size_t i = 1; i < plan->memory_count; i++)
        if (!check_alike(plan, plan->memories[i].instance, err))
            return false;
    const struct dram_config *first = plan->memories[0].instance->config;
    plan->controllers = first->channels;
    if (plan->memory_count > 1) {
        number_memories(plan);
        return plan_range(plan, err);
    }
    plan->modules = plan->stacks = 1;
    plan->layout = dram_map_layout(first);
    plan->homes = dram_map_homes(first, plan->machine->memory->base);
    return true;
}

/* Returns true if requests begin at the part: it has a port that asks for memory and none that serves it. */
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

/* Checks that each part where requests begin reaches all memories over at most WAY_MOST links. */
static bool check_ways(const struct plan *plan, struct error *err)
{
    const struct tree *tree = plan->machine->tree;
    for (size_t m = 0; m < plan->memory_count; m++) {
        const struct plan_memory *memory = &plan->memories[m];
        for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
            uint32_t distance = memory->distances[i->number];
            if (distance <= WAY_MOST || !is_origin(i))
                continue;
            (void)error_set(
                err,
                distance == UINT32_MAX
                    ? "%s has no way to %s; it must reach all memories, through crossbars and links"
                    : "%s is too many links away from %s; a request passes at most %d",
                i->path, memory->instance->path, WAY_MOST);
            return tree_at_parts(tree, i, memory->instance, err);
        }
    }
    return true;
}

static bool plan_ways(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->memory_count; i++)
        (void)wiring_distances(&plan->wiring, plan->machine->tree, plan->memories[i].instance,
                               &plan->memories[i].distances);
    return check_ways(plan, err);
}

uint32_t plan_burst(const struct plan *plan)
{
    return ((const struct dram_config *)plan->memories[0].instance->config)->burst_bytes;
}

/* Returns whether each of the first lines of memory lies in one channel. This suffices, because address bits
 * that select the channel within a line do so in every line. */
static bool lines_in_channels(const struct plan *plan, uint32_t line)
{
    const uint64_t base = plan->machine->memory->base, end = base + 64 * (uint64_t)line;
    for (uint64_t at = base; at < end; at += plan_burst(plan)) {
        struct home first, home;
        home_resolve(plan->homes, at & ~(uint64_t)(line - 1), &first);
        home_resolve(plan->homes, at, &home);
        if (first.module != home.module || first.stack != home.stack || first.controller != home.controller)
            return false;
    }
    return true;
}

/* Checks that the slices of a second level fit the channels that they serve. */
static bool check_partitions(const struct plan *plan, const struct instance *l2, struct error *err)
{
    const struct llc_config *config = l2->config;
    const uint32_t channels = plan->modules * plan->stacks * plan->controllers, slices = config->slices;
    if (l2->parent->kind != &simt_kind && plan->controllers % slices != 0) {
        (void)error_set(err,
                        "partition is not allowed with %" PRIu32 " slices and memories of %" PRIu32
                        " channels: the slices must divide the channels of a memory",
                        slices, plan->controllers);
        return tree_at(plan->machine->tree, l2, "interleave", err);
    }
    if (channels % slices != 0 && slices % channels != 0) {
        (void)error_set(err,
                        "partition is not allowed with %" PRIu32 " slices and %" PRIu32
                        " memory channels: one number must divide the other",
                        slices, channels);
        return tree_at(plan->machine->tree, l2, "interleave", err);
    }
    if (lines_in_channels(plan, config->line))
        return true;
    (void)error_set(err,
                    "partition is not allowed: a line of %" PRIu32 " bytes lies in several memory channels",
                    config->line);
    return tree_at(plan->machine->tree, l2, "interleave", err);
}

static bool plan_partitions(const struct plan *plan, struct error *err)
{
    const struct tree *tree = plan->machine->tree;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind == &llc_kind && ((const struct llc_config *)i->config)->interleave == LLC_BY_PARTITION &&
            !check_partitions(plan, i, err))
            return false;
    return true;
}

/* Moves pages to the memories that the root's table gives them. */
static bool plan_pages(const struct plan *plan, struct error *err)
{
    const struct instance *root = tree_root(plan->machine->tree);
    const struct root_config *config = root->config;
    const struct memory_config *memory = plan->machine->memory;
    const struct pages_range range = {.base = memory->base,
                                      .size = memory->size,
                                      .memories = plan->modules * plan->stacks,
                                      .stacks = plan->stacks};
    if (!*config->pages)
        return true;
    if (plan->memory_count < 2)
        (void)error_set(err, "the machine has one memory; allowed: machines with several");
    else if (home_text_span(config->homes, config->stack_hash) < PAGES_BYTES)
        (void)error_set(
            err,
            "`homes` changes the memory within %d bytes; allowed: maps with S and M above that, such as "
            "machine nupim_pages has",
            PAGES_BYTES);
    else if (pages_place(plan->homes, &range, config->pages, err))
        return true;
    return tree_at(plan->machine->tree, root, "pages", err);
}

static size_t count_reached(const struct plan *plan, const struct instance *part)
{
    size_t reached = 0;
    for (size_t i = 0; i < plan->memory_count; i++)
        reached += plan->memories[i].distances[part->number] != UINT32_MAX;
    return reached;
}

/* Returns whether a last-level cache has only the lines of some channels or memories. */
static bool stands_at_memory(const struct plan *plan, const struct instance *cache)
{
    const size_t reached = count_reached(plan, cache);
    return ((const struct llc_config *)cache->config)->interleave == LLC_BY_PARTITION ||
           (reached && reached < plan->memory_count);
}

/* Lets mechanisms check what their parts need of the plan, and set homes. */
static bool plan_mechanisms(const struct plan *plan, struct error *err)
{
    const struct tree *tree = plan->machine->tree;
    struct assembly assembly = machine_assembly(plan->machine);
    assembly.homes = plan->homes;
    assembly.layout = &plan->layout;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind->hooks && i->kind->hooks->plan && !i->kind->hooks->plan(&assembly, i, err))
            return false;
    return true;
}

/* Forbids changes of homes if a last-level cache stands at a memory: the cache would keep the lines of
 * addresses that move to another memory, and requests for these would no longer reach it. */
static void fix_homes(const struct plan *plan)
{
    const struct tree *tree = plan->machine->tree;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        struct error why;
        if (i->kind != &llc_kind || !stands_at_memory(plan, i))
            continue;
        (void)error_set(&why,
                        "homes cannot change while the machine runs, because this cache has the lines of its "
                        "memory alone; allowed: a second level in front of all memories, or `l2: none`");
        (void)tree_at(tree, i, "interleave", &why);
        home_map_fix(plan->homes, why.text);
        return;
    }
}

/* Checks that slices which stand at nodes are the outputs of one network, and of no other part. */
static bool check_nodes(const struct plan *plan, const struct instance *llc, struct error *err)
{
    const struct instance *network = NULL;
    bool fine = true;
    if (((const struct llc_config *)llc->config)->interleave != LLC_BY_NODE)
        return true;
    for (size_t w = 0; w < plan->wiring.count; w++) {
        const struct wire *wire = &plan->wiring.wires[w];
        if (wire->server != llc)
            continue;
        fine = fine && !network && lines_slices(&plan->wiring, wire->client) == wire;
        network = wire->client;
    }
    if (network && fine)
        return true;
    (void)error_set(err, "node is not allowed: %s; allowed: `out` of one network, in front of one such cache",
                    network ? "requests come from other parts, too"
                            : "no network sends requests to this cache");
    return tree_at(plan->machine->tree, llc, "interleave", err);
}

/* Checks that the parts connected to each network have nodes. */
static bool check_networks(const struct plan *plan, struct error *err)
{
    const struct tree *tree = plan->machine->tree;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        uint32_t inputs = 0, outputs = 0;
        for (size_t w = 0; w < plan->wiring.count; w++) {
            inputs += plan->wiring.wires[w].server == i ? plan->places[w].in : 0;
            outputs += plan->wiring.wires[w].client == i ? plan->places[w].out : 0;
        }
        const bool slices = lines_slices(&plan->wiring, i);
        if (i->kind == &network_kind && !networks_check(tree, i, inputs, outputs, slices, err))
            return false;
        if (i->kind == &llc_kind && !check_nodes(plan, i, err))
            return false;
    }
    return true;
}

/* Returns whether each row of `row` bytes lies in one memory, and successive rows in successive memories. */
static bool rows_take_turns(const struct plan *plan, uint64_t row)
{
    const uint32_t memories = plan->modules * plan->stacks;
    const uint64_t base = plan->machine->memory->base;
    for (uint64_t at = 0; at < 4 * memories * row; at += plan_burst(plan)) {
        struct home home;
        home_resolve(plan->homes, base + at, &home);
        if ((uint64_t)home.module * plan->stacks + home.stack != at / row % memories)
            return false;
    }
    return true;
}

/* Checks that thread stacks can lie near their multiprocessors (simt.stack_near). */
static bool plan_stacks(const struct plan *plan, struct error *err)
{
    const struct machine_config *machine = plan->machine;
    const struct simt_config *simt = machine->simt;
    const struct instance *part = NULL;
    const uint32_t memories = plan->modules * plan->stacks;
    for (const struct instance *i = tree_next(machine->tree, NULL); i; i = tree_next(machine->tree, i))
        part = i->config == simt && simt ? i : part;
    if (!part || !simt->stack_near)
        return true;
    if (machine->multiprocessors % memories)
        (void)error_set(err, "%u multiprocessors cannot be shared equally by %u memories",
                        machine->multiprocessors, memories);
    else if (machine->warps % machine->multiprocessors ||
             machine->warps / machine->multiprocessors != simt->warps)
        (void)error_set(err, "all multiprocessors must hold %u warps", simt->warps);
    else if (!rows_take_turns(plan, simt->width * UINT64_C(8)))
        (void)error_set(err, "homes: memories must take turns every %u bytes, in sequence", simt->width * 8);
    else
        return true;
    return tree_at(machine->tree, part, "stack_near", err);
}

bool plan_machine(struct plan *plan, const struct machine_config *machine, struct error *err)
{
    *plan = (struct plan){.machine = machine};
    if (!wiring_plan(&plan->wiring, machine->tree, machine_kinds, err))
        return false;
    plan_places(plan);
    if (!check_networks(plan, err) || !plan_homes(plan, err) || !plan_ways(plan, err) ||
        !plan_partitions(plan, err) || !plan_stacks(plan, err) || !plan_pages(plan, err) ||
        !plan_mechanisms(plan, err))
        return false;
    fix_homes(plan);
    return true;
}

void plan_free(struct plan *plan)
{
    for (size_t i = 0; i < plan->memory_count; i++)
        free(plan->memories[i].distances);
    free(plan->memories);
    free(plan->places);
    home_map_free(plan->homes);
    wiring_free(&plan->wiring);
    *plan = (struct plan){.machine = plan->machine};
}

uint32_t plan_memory_number(const struct plan *plan, const struct instance *memory)
{
    for (size_t i = 0; i < plan->memory_count; i++)
        if (plan->memories[i].instance == memory)
            return plan->memories[i].number;
    return 0;
}

uint16_t *plan_routes(const struct plan *plan, const struct instance *crossbar)
{
    uint16_t *routes = array_of((size_t)plan->modules * plan->stacks * plan->controllers, sizeof *routes);
    const struct wire **best = array_of(plan->memory_count, sizeof *best);
    for (size_t w = 0; w < plan->wiring.count; w++) {
        const struct wire *wire = &plan->wiring.wires[w];
        if (wire->client != crossbar)
            continue;
        for (size_t m = 0; m < plan->memory_count; m++) {
            const uint32_t *distances = plan->memories[m].distances, own = distances[wire->server->number];
            const uint32_t least = best[m] ? distances[best[m]->server->number] : UINT32_MAX;
            if (own < least || (best[m] && own == least && wire->client_slot < best[m]->client_slot))
                best[m] = wire;
        }
    }
    for (size_t m = 0; m < plan->memory_count; m++) {
        if (!best[m])
            continue;
        uint16_t *route = &routes[(size_t)plan->memories[m].number * plan->controllers];
        const struct plan_places *places = &plan->places[best[m] - plan->wiring.wires];
        unsigned first = places->first_out;
        for (uint32_t i = 0; i < plan->controllers; i++)
            route[i] = (uint16_t)(first + i * places->out / plan->controllers);
    }
    free(best);
    return routes;
}

bool *plan_reached(const struct plan *plan, const struct instance *part)
{
    const size_t count = count_reached(plan, part);
    bool *reached;
    if (count == 0 || count == plan->memory_count)
        return NULL;
    reached = array_of((size_t)plan->modules * plan->stacks, sizeof *reached);
    for (size_t i = 0; i < plan->memory_count; i++)
        reached[plan->memories[i].number] = plan->memories[i].distances[part->number] != UINT32_MAX;
    return reached;
}

bool *plan_below(const struct plan *plan, const struct instance *network)
{
    const struct wire *slices = lines_slices(&plan->wiring, network);
    unsigned inputs = 0;
    bool *below;
    if (!slices)
        return NULL;
    for (size_t w = 0; w < plan->wiring.count; w++)
        inputs += plan->wiring.wires[w].server == network ? plan->places[w].in : 0;
    below = array_of(inputs, sizeof *below);
    for (size_t w = 0; w < plan->wiring.count; w++) {
        const struct wire *wire = &plan->wiring.wires[w];
        for (unsigned i = 0; wire->server == network && i < plan->places[w].in; i++)
            below[plan->places[w].first_in + i] = wire->client == slices->server;
    }
    return below;
}

struct mem_site_slices plan_slices(const struct plan *plan, const struct instance *network, const bool *below)
{
    const struct wire *slices = lines_slices(&plan->wiring, network);
    if (!slices)
        return (struct mem_site_slices){0};
    const struct llc_config *llc = slices->server->config;
    return (struct mem_site_slices){.first = plan->places[slices - plan->wiring.wires].first_out,
                                    .count = llc->slices,
                                    .shift = (uint32_t)__builtin_ctz(llc->line),
                                    .below = below};
}

bool plan_check(const struct machine_config *machine, struct error *err)
{
    struct plan plan;
    if (!machine_timed(machine))
        return true;
    bool planned = plan_machine(&plan, machine, err);
    plan_free(&plan);
    return planned;
}
