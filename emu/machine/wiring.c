#include "emu/machine/wiring.h"

#include <stdlib.h>
#include <string.h>

#include "emu/schema/reference.h"
#include "emu/sim/text.h"

struct planning {
    struct wiring *wiring;
    const struct tree *tree;
    struct error *err;
};

enum { FREE = UINT32_MAX };

static const struct part_port *port_of(const struct instance *part, unsigned port)
{
    return &part->kind->ports[port];
}

static unsigned count_ports(const struct part_kind *kind)
{
    unsigned count = 0;
    while (kind->ports && kind->ports[count].name)
        count++;
    return count;
}

/* Prefixes the message with "FILE:LINE: accel.3.memory". Returns false. */
static bool at_port(const struct planning *p, const struct instance *part, unsigned port)
{
    (void)error_prefix(p->err, "%s%s%s", part->path, *part->path ? "." : "", port_of(part, port)->name);
    if (part->reference_setting[port])
        return tree_at_setting(p->tree, part->reference_setting[port] - 1, p->err);
    return tree_at_part(p->tree, part, p->err);
}

static void add_wire(struct planning *p, const struct wire *wire)
{
    struct wiring *wiring = p->wiring;
    wiring->wires = realloc(wiring->wires, (wiring->count + 1) * sizeof *wiring->wires);
    if (!wiring->wires)
        abort();
    wiring->wires[wiring->count++] = *wire;
}

/* Returns the port of `part` that can connect to `port`; -1: none. */
static int counterpart(const struct instance *part, const struct part_port *port)
{
    for (unsigned i = 0; i < count_ports(part->kind); i++)
        if (port_of(part, i)->direction != port->direction && strcmp(port_of(part, i)->type, port->type) == 0)
            return (int)i;
    return -1;
}

static bool mistyped(struct planning *p, const struct instance *part, unsigned port,
                     const struct instance *other, int named)
{
    const struct part_port *own = port_of(part, port);
    const char *wanted = own->direction == PART_ASKS ? "serves" : "asks for";
    if (named >= 0)
        (void)error_set(p->err, "%s.%s is not a port that %s %s", other->path,
                        port_of(other, (unsigned)named)->name, wanted, own->type);
    else
        (void)error_set(p->err, "%s, a %s, has no port that %s %s", other->path, other->kind->name, wanted,
                        own->type);
    return at_port(p, part, port);
}

/* Connects a port of a part to the target of a reference. */
static bool join(struct planning *p, struct instance *part, unsigned port, const struct reference *to)
{
    const struct part_port *own = port_of(part, port);
    int other = to->port >= 0 ? to->port : counterpart(to->part, own);
    if (other < 0 || port_of(to->part, (unsigned)other)->direction == own->direction ||
        strcmp(port_of(to->part, (unsigned)other)->type, own->type) != 0)
        return mistyped(p, part, port, to->part, to->port);
    struct wire wire = {.client = part,
                        .server = to->part,
                        .client_port = port,
                        .server_port = (unsigned)other,
                        .client_slot = FREE,
                        .server_slot = to->slot >= 0 ? (unsigned)to->slot : FREE};
    if (own->direction == PART_SERVES)
        wire = (struct wire){.client = to->part,
                             .server = part,
                             .client_port = (unsigned)other,
                             .server_port = port,
                             .client_slot = to->slot >= 0 ? (unsigned)to->slot : FREE,
                             .server_slot = FREE};
    add_wire(p, &wire);
    return true;
}

/* Returns the default partners of a port without a reference: the role's or the kind's. */
static const char *partners_of(const struct instance *part, const struct part_port *port)
{
    const struct part_default *d = part->role ? part->role->defaults : NULL;
    for (; d && d->field; d++)
        if (strcmp(d->field, port->name) == 0)
            return d->value;
    return port->partners;
}

/* Finds the first alternative that exists next to the part, then next to its parent, and so on. */
static bool find_partner(struct instance *part, const char *alternatives, struct references *found)
{
    struct error ignored;
    for (struct instance *beside = part; beside->parent; beside = beside->parent) {
        char names[TREE_NAME], *save = NULL;
        (void)snprintf(names, sizeof names, "%s", alternatives);
        for (char *name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
            if (reference_find(beside, name, found, &ignored))
                return true;
            free(found->items);
            *found = (struct references){NULL, 0};
        }
    }
    return false;
}

static bool plan_port(struct planning *p, struct instance *part, unsigned port)
{
    const struct part_port *own = port_of(part, port);
    const char *partners = partners_of(part, own);
    struct references found = {NULL, 0};
    bool fine = true, named = false;
    if (part->references[port]) {
        fine = reference_find(part, part->references[port], &found, p->err) || at_port(p, part, port);
        named = fine;
    } else if (own->direction == PART_ASKS && partners && *partners) {
        named = find_partner(part, partners, &found);
    }
    if (fine && named && found.count > 1 && !own->many) {
        (void)error_set(p->err, "the port takes one partner, not %zu", found.count);
        fine = at_port(p, part, port);
    }
    for (size_t i = 0; fine && i < found.count; i++)
        fine = join(p, part, port, &found.items[i]);
    free(found.items);
    return fine;
}

/* Returns true if another wire than `except` uses the slot at that end of `like`. */
static bool is_taken(const struct wiring *wiring, const struct wire *like, bool server, unsigned slot,
                     size_t except)
{
    for (size_t i = 0; i < wiring->count; i++) {
        const struct wire *wire = &wiring->wires[i];
        bool same = server ? wire->server == like->server && wire->server_port == like->server_port
                           : wire->client == like->client && wire->client_port == like->client_port;
        if (i != except && same && (server ? wire->server_slot : wire->client_slot) == slot)
            return true;
    }
    return false;
}

static bool give_slot(struct planning *p, size_t index, bool server)
{
    struct wire *wire = &p->wiring->wires[index];
    unsigned *slot = server ? &wire->server_slot : &wire->client_slot;
    const struct instance *part = server ? wire->server : wire->client;
    unsigned port = server ? wire->server_port : wire->client_port;
    if (*slot == FREE)
        for (*slot = 0; is_taken(p->wiring, wire, server, *slot, index);)
            ++*slot;
    else if (is_taken(p->wiring, wire, server, *slot, index)) {
        (void)error_set(p->err, "%s.%s[%u] is used twice", part->path, port_of(part, port)->name, *slot);
        return at_port(p, server ? wire->client : wire->server,
                       server ? wire->client_port : wire->server_port);
    }
    if (*slot == 0 || port_of(part, port)->many)
        return true;
    (void)error_set(p->err, "%s.%s takes one partner and already has one", part->path,
                    port_of(part, port)->name);
    return at_port(p, server ? wire->client : wire->server, server ? wire->client_port : wire->server_port);
}

static bool check_open(struct planning *p)
{
    for (struct instance *part = tree_next(p->tree, NULL); part; part = tree_next(p->tree, part))
        for (unsigned port = 0; port < count_ports(part->kind); port++) {
            const char *partners = partners_of(part, port_of(part, port));
            bool joined = port_of(part, port)->optional || (partners && !*partners);
            for (size_t i = 0; !joined && i < p->wiring->count; i++) {
                const struct wire *wire = &p->wiring->wires[i];
                joined = (wire->client == part && wire->client_port == port) ||
                         (wire->server == part && wire->server_port == port);
            }
            if (joined)
                continue;
            const struct part_port *open = port_of(part, port);
            (void)error_set(p->err, "the port has no partner (%.*s); name a part, for example `%s: crossbar`",
                            (int)strlen(open->explanation) - 1, open->explanation, open->name);
            return at_port(p, part, port);
        }
    return true;
}

static bool plan_all(struct planning *p, const struct part_kind *const *kinds)
{
    for (; *kinds; kinds++)
        for (struct instance *part = tree_next(p->tree, NULL); part; part = tree_next(p->tree, part))
            for (unsigned port = 0; part->kind == *kinds && port < count_ports(part->kind); port++)
                if (!plan_port(p, part, port))
                    return false;
    for (size_t i = 0; i < p->wiring->count; i++)
        if (!give_slot(p, i, true) || !give_slot(p, i, false))
            return false;
    return check_open(p);
}

bool wiring_plan(struct wiring *wiring, const struct tree *tree, const struct part_kind *const *kinds,
                 struct error *err)
{
    struct planning planning = {wiring, tree, err};
    *wiring = (struct wiring){NULL, 0};
    return plan_all(&planning, kinds);
}

void wiring_free(struct wiring *wiring)
{
    free(wiring->wires);
    *wiring = (struct wiring){NULL, 0};
}

const struct wire *wiring_of_client(const struct wiring *wiring, const struct instance *client, unsigned port,
                                    unsigned slot)
{
    for (size_t i = 0; i < wiring->count; i++) {
        const struct wire *wire = &wiring->wires[i];
        if (wire->client == client && wire->client_port == port && wire->client_slot == slot)
            return wire;
    }
    return NULL;
}

unsigned wiring_inputs(const struct wiring *wiring, const struct instance *server)
{
    unsigned inputs = 0;
    for (size_t i = 0; i < wiring->count; i++)
        if (wiring->wires[i].server == server && wiring->wires[i].server_slot >= inputs)
            inputs = wiring->wires[i].server_slot + 1;
    return inputs;
}

unsigned wiring_outputs(const struct wiring *wiring, const struct instance *client)
{
    unsigned outputs = 0;
    for (size_t i = 0; i < wiring->count; i++)
        if (wiring->wires[i].client == client && wiring->wires[i].client_slot >= outputs)
            outputs = wiring->wires[i].client_slot + 1;
    return outputs;
}

static size_t number_of(const struct tree *tree, const struct instance *part)
{
    size_t number = 0;
    for (const struct instance *i = tree_next(tree, NULL); i != part; i = tree_next(tree, i))
        number++;
    return number;
}

size_t wiring_distances(const struct wiring *wiring, const struct tree *tree, const struct instance *target,
                        uint32_t **distances)
{
    size_t parts = number_of(tree, NULL), *from = malloc(wiring->count * sizeof *from + 1);
    size_t *to = malloc(wiring->count * sizeof *to + 1);
    *distances = calloc(parts + 1, sizeof **distances);
    if (!from || !to || !*distances)
        abort();
    for (size_t i = 0; i < parts; i++)
        (*distances)[i] = UINT32_MAX;
    for (size_t i = 0; i < wiring->count; i++) {
        from[i] = number_of(tree, wiring->wires[i].client);
        to[i] = number_of(tree, wiring->wires[i].server);
    }
    (*distances)[number_of(tree, target)] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < wiring->count; i++) {
            uint32_t behind = (*distances)[to[i]];
            if (behind == UINT32_MAX || (*distances)[from[i]] <= behind + 1)
                continue;
            (*distances)[from[i]] = behind + 1;
            changed = true;
        }
    }
    free(from);
    free(to);
    return parts;
}
