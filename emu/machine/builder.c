#include "emu/machine/builder.h"

#include <stdlib.h>
#include <string.h>

#include "emu/machine/describe/sources.h"
#include "emu/machine/plan/lines.h"
#include "emu/machine/plan/networks.h"
#include "emu/mem/llc_slices.h"
#include "emu/net/fabric.h"
#include "emu/sim/alloc.h"

/* Returns whether the builder makes the part. A part of a kind that is `whole` makes the parts in its
 * roles. */
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
    const struct tree *tree = builder->plan.machine->tree;
    size_t all = 0;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        all++;
    builder->parts = alloc(all, sizeof *builder->parts);
    builder->by_number = alloc(all, sizeof *builder->by_number);
    for (const struct part_kind *const *kind = machine_kinds; *kind; kind++)
        for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
            if (i->kind != *kind || !is_made(i))
                continue;
            builder->by_number[i->number] = &builder->parts[builder->count];
            builder->parts[builder->count++] = (struct built_part){.instance = i};
        }
}

/* Fills in the places of all parts, except the members that set_level() sets. */
static void set_places(struct builder *builder)
{
    const struct plan *plan = &builder->plan;
    for (size_t i = 0; i < builder->count; i++) {
        struct built_part *part = &builder->parts[i];
        uint32_t number = plan_memory_number(plan, part->instance);
        if (part->instance->kind->routed)
            part->routes = plan_routes(plan, part->instance);
        part->reached = plan_reached(plan, part->instance);
        part->below = plan_below(plan, part->instance);
        part->place = (struct mem_site){.homes = plan->homes,
                                        .modules = plan->modules,
                                        .stacks = plan->stacks,
                                        .controllers = plan->controllers,
                                        .burst = plan_burst(plan),
                                        .module = (uint16_t)(number / plan->stacks),
                                        .stack = (uint16_t)(number % plan->stacks),
                                        .routes = part->routes,
                                        .reached = part->reached,
                                        .slices = plan_slices(plan, part->instance, part->below)};
    }
    for (size_t i = 0; i < plan->wiring.count; i++) {
        const struct wire *wire = &plan->wiring.wires[i];
        struct built_part *server = builder->by_number[wire->server->number],
                          *client = builder->by_number[wire->client->number];
        if (server)
            server->place.inputs += plan->places[i].in;
        if (client)
            client->place.outputs += plan->places[i].out;
    }
}

/* Sets the last-level cache to which the part is connected; place.last stays true if there is none. */
static void set_level(const struct builder *builder, struct built_part *part)
{
    const struct instance *level = lines_level(&builder->plan.wiring, part->instance, &part->place.far);
    part->place.last = !level;
    part->place.level = level ? builder_object(builder, level) : NULL;
}

static bool make_part(struct built_part *part, const struct builder_making *making, const void *place,
                      struct error *err)
{
    const struct instance *instance = part->instance;
    const void **configs = tree_configs_below(instance);
    const struct cut_network *network = making->cut ? cut_network_of(making->cut, instance) : NULL;
    const struct part_pieces pieces = {.queues = making->queues,
                                       .count = making->queue_count,
                                       .of = network ? making->queue_of + network->first : NULL};
    size_t child_count;
    struct part_child *children = networks_children(instance, &child_count);
    const struct part_site site = {.name = instance->path,
                                   .queue =
                                       &making->queues[making->cut ? making->queue_of[instance->number] : 0],
                                   .pieces = network && network->divisible && !making->sink ? &pieces : NULL,
                                   .clock = &part->clock,
                                   .numbers = making->numbers,
                                   .below = configs,
                                   .children = children,
                                   .child_count = child_count,
                                   .place = place};
    part->first_component = making->numbers->component;
    part->object = instance->kind->make(instance->config, &site, err);
    part->components = making->numbers->component - part->first_component;
    free(configs);
    networks_children_free(children, child_count);
    if (part->object && making->sink && instance->kind->observe)
        instance->kind->observe(part->object, making->sink, instance->path);
    return part->object || error_prefix(err, "%s", instance->path);
}

void *builder_object(const struct builder *builder, const struct instance *instance)
{
    const struct built_part *part = builder->by_number[instance->number];
    return part ? part->object : NULL;
}

static struct part_end end_of(const struct builder *builder, size_t index, unsigned place)
{
    const struct wire *wire = &builder->plan.wiring.wires[index];
    void *server = builder_object(builder, wire->server);
    if (!server || !wire->server->kind->serve)
        return (struct part_end){NULL, NULL};
    return wire->server->kind->serve(server, wire->server_port, builder->plan.places[index].first_in + place);
}

/* Sets the nodes of the part's ends if its requests go to a network that has been made: crossbars and links are made before, and
 * other networks may be. */
static void set_mail(const struct builder *builder, struct built_part *part)
{
    for (size_t i = 0; i < builder->plan.wiring.count; i++) {
        const struct wire *wire = &builder->plan.wiring.wires[i];
        const unsigned ends = builder->plan.places[i].in;
        if (wire->client != part->instance || wire->server->kind != &network_kind ||
            !builder_object(builder, wire->server))
            continue;
        free(part->nodes);
        part->nodes = alloc(ends, sizeof *part->nodes);
        part->place.mail = (struct mem_site_mail){
            .ops = &fabric_mail_ops, .carrier = NULL, .nodes = part->nodes, .count = ends};
        for (unsigned place = 0; place < ends; place++) {
            struct part_end end = end_of(builder, i, place);
            part->nodes[place] = (uint16_t)fabric_port_node(end.object);
            part->place.mail.carrier = fabric_of_port(end.object);
        }
    }
}

static void connect_parts(const struct builder *builder)
{
    for (size_t i = 0; i < builder->plan.wiring.count; i++) {
        const struct wire *wire = &builder->plan.wiring.wires[i];
        const struct plan_places *places = &builder->plan.places[i];
        void *client = builder_object(builder, wire->client);
        for (unsigned place = 0; client && place < places->in * places->out; place++) {
            struct part_end end = end_of(builder, i, places->in > 1 ? place : 0);
            wire->client->kind->connect(client, wire->client_port, places->first_out + place, &end);
        }
    }
}

/* Adds the part's units to the table. False with err set if another part serves the same extension. */
static bool add_units(struct builder *builder, const struct built_part *part, struct error *err)
{
    struct custom_units own = {0};
    if (!part->object || !part->instance->kind->units)
        return true;
    part->instance->kind->units(part->object, &own);
    if (own.local)
        builder->units.local = own.local; /* a part that has it serves instructions, too, so there is one */
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

bool builder_plan(struct builder *builder, const struct machine_config *machine, struct error *err)
{
    *builder = (struct builder){.count = 0};
    return plan_machine(&builder->plan, machine, err);
}

bool builder_make(struct builder *builder, const struct builder_making *making, struct error *err)
{
    find_parts(builder);
    set_places(builder);
    for (size_t i = 0; i < builder->count; i++) {
        struct built_part *part = &builder->parts[i];
        set_level(builder, part);
        set_mail(builder, part);
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

static void publish_part(const struct builder *builder, const struct built_part *part, struct stats *stats,
                         struct energy_ledger *ledger)
{
    const struct part_kind *kind = part->instance->kind;
    const struct scope scope = scope_enter(NULL, part->instance->path);
    if (kind->publish)
        kind->publish(part->object, stats, scope);
    if (kind->energy) {
        const struct sources of = {builder->plan.machine->tree, part->instance};
        const struct energy_sources sources = {sources_of_field, &of};
        ledger->sources = &sources;
        ledger->part = part->instance->path;
        kind->energy(part->object, ledger, scope);
        ledger->sources = NULL;
        ledger->part = NULL;
    }
}

void builder_publish(const struct builder *builder, const struct part_kind *kind, struct stats *stats,
                     struct energy_ledger *ledger)
{
    for (size_t i = 0; i < builder->count; i++)
        if (builder->parts[i].object && builder->parts[i].instance->kind == kind)
            publish_part(builder, &builder->parts[i], stats, ledger);
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

/* Returns the hooks of a part that has been made and has some, or NULL. */
static const struct assembly_hooks *hooks_of(const struct built_part *part)
{
    return part->object ? part->instance->kind->hooks : NULL;
}

void builder_allocated(const struct builder *builder, uint64_t base, uint64_t bytes)
{
    for (size_t i = 0; i < builder->count; i++) {
        const struct assembly_hooks *hooks = hooks_of(&builder->parts[i]);
        if (hooks && hooks->allocated)
            hooks->allocated(builder->parts[i].object, base, bytes);
    }
}

void builder_finish(const struct builder *builder)
{
    for (size_t i = 0; i < builder->count; i++) {
        const struct assembly_hooks *hooks = hooks_of(&builder->parts[i]);
        if (hooks && hooks->finish)
            hooks->finish(builder->parts[i].object);
    }
}

unsigned builder_findings(const struct builder *builder)
{
    unsigned parts = 0;
    for (size_t i = 0; i < builder->count; i++) {
        const struct assembly_hooks *hooks = hooks_of(&builder->parts[i]);
        if (hooks && hooks->findings)
            parts += hooks->findings(builder->parts[i].object) > 0;
    }
    return parts;
}

void builder_free(struct builder *builder)
{
    while (builder->count > 0) {
        struct built_part *part = &builder->parts[--builder->count];
        if (part->object)
            part->instance->kind->free(part->object);
        free(part->routes);
        free(part->reached);
        free(part->below);
        free(part->nodes);
    }
    free(builder->parts);
    free(builder->by_number);
    plan_free(&builder->plan);
    *builder = (struct builder){.count = 0};
}
