#include "emu/machine/plan/wiring.h"

#include <stdlib.h>
#include <string.h>

#include "emu/schema/reference.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/text.h"

enum { FREE = UINT32_MAX };

static const size_t wires_most = (size_t)1 << 20; /* most wires of a machine: 32 MiB of memory */

/* The wires at one port of one part. */
struct joints {
    uint32_t count; /* number of wires, and thus of slots */
    uint32_t next;  /* no slot below this one is free */
    size_t used;    /* index of the port's slot 0 in planning.users */
};

struct planning {
    struct wiring *wiring;
    const struct tree *tree;
    struct error *err;
    size_t parts, ports;
    size_t *first_port;    /* by part number: index of its port 0 in joints */
    struct joints *joints; /* by port, of all parts */
    size_t *users;         /* by slot, of all ports: the wire's number, counted from 1; 0: the slot is free */
};

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
    if ((wiring->count & (wiring->count - 1)) == 0) {
        size_t room = wiring->count ? 2 * wiring->count : 1;
        wiring->wires = alloc_resize(wiring->wires, room * sizeof *wiring->wires);
    }
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

static bool plan_port(struct planning *p, struct instance *part, unsigned port)
{
    const struct part_port *own = port_of(part, port);
    struct references found = {NULL, 0};
    bool fine = true, named = false;
    const char *partners = reference_partners(part, own, NULL);
    if (part->references[port] && partners && !*partners) {
        (void)error_set(p->err, "'%s' is not allowed: %s joins this port itself; allowed: auto",
                        part->references[port], part->parent->path);
        fine = at_port(p, part, port);
    } else if (part->references[port]) {
        fine = reference_find(part, part->references[port], &found, p->err) || at_port(p, part, port);
        named = fine;
    } else {
        char text[TREE_NAME];
        named = reference_default(part, own, &found, text);
    }
    if (fine && named && found.count > 1 && !own->many) {
        (void)error_set(p->err, "the port takes one partner, not %zu", found.count);
        fine = at_port(p, part, port);
    }
    if (fine && p->wiring->count + found.count > wires_most) {
        (void)error_set(p->err, "a machine may have at most %zu connections", wires_most);
        fine = at_port(p, part, port);
    }
    for (size_t i = 0; fine && i < found.count; i++)
        fine = join(p, part, port, &found.items[i]);
    free(found.items);
    return fine;
}

static void *array(size_t count, size_t size)
{
    return alloc(count + 1, size);
}

static struct joints *joints_of(const struct planning *p, const struct instance *part, unsigned port)
{
    return &p->joints[p->first_port[part->number] + port];
}

/* One end of a wire. */
struct end {
    const struct instance *part;
    unsigned port;
    unsigned *slot;
};

static struct end end_of(struct wire *wire, bool server)
{
    return server ? (struct end){wire->server, wire->server_port, &wire->server_slot}
                  : (struct end){wire->client, wire->client_port, &wire->client_slot};
}

/* Counts the wires of each port. */
static void count_joints(struct planning *p)
{
    size_t used = 0;
    for (const struct instance *part = tree_next(p->tree, NULL); part; part = tree_next(p->tree, part))
        p->parts++;
    p->first_port = array(p->parts, sizeof *p->first_port);
    for (const struct instance *part = tree_next(p->tree, NULL); part; part = tree_next(p->tree, part)) {
        p->first_port[part->number] = p->ports;
        p->ports += count_ports(part->kind);
    }
    p->joints = array(p->ports, sizeof *p->joints);
    p->users = array(2 * p->wiring->count, sizeof *p->users);
    for (size_t i = 0; i < 2 * p->wiring->count; i++) {
        struct end end = end_of(&p->wiring->wires[i / 2], i % 2 == 0);
        joints_of(p, end.part, end.port)->count++;
    }
    for (size_t i = 0; i < p->ports; i++) {
        p->joints[i].used = used;
        used += p->joints[i].count;
    }
}

/* Prefixes the message about one end of two wires with the port whose reference made one of them: the later one
 * if it has a reference. Returns false. */
static bool at_wires(const struct planning *p, size_t later, size_t earlier, bool server)
{
    for (unsigned i = 0; i < 4; i++) {
        struct end end = end_of(&p->wiring->wires[i < 2 ? later : earlier], server == (i % 2 == 1));
        if (end.part->reference_setting[end.port])
            return at_port(p, end.part, end.port);
    }
    struct end end = end_of(&p->wiring->wires[later], !server);
    return at_port(p, end.part, end.port);
}

/* Sets the message for two wires that do not fit on one port. */
static bool collide(struct planning *p, const char *what, size_t later, size_t earlier, bool server)
{
    struct end one = end_of(&p->wiring->wires[earlier], !server),
               two = end_of(&p->wiring->wires[later], !server),
               shared = end_of(&p->wiring->wires[later], server);
    char slot[16] = "";
    if (port_of(shared.part, shared.port)->many)
        (void)snprintf(slot, sizeof slot, "[%u]", *shared.slot);
    (void)error_set(p->err, "%s.%s%s %s %s.%s and %s.%s", shared.part->path,
                    port_of(shared.part, shared.port)->name, slot, what, one.part->path,
                    port_of(one.part, one.port)->name, two.part->path, port_of(two.part, two.port)->name);
    return at_wires(p, later, earlier, server);
}

static bool check_single(struct planning *p, size_t index, bool server)
{
    struct end end = end_of(&p->wiring->wires[index], server);
    size_t *user = &p->users[joints_of(p, end.part, end.port)->used];
    if (port_of(end.part, end.port)->many)
        return true;
    if (*user)
        return collide(p, "takes one partner, not both", index, *user - 1, server);
    *user = index + 1;
    return true;
}

/* Gives one end of a wire the slot that the description numbers. */
static bool take_slot(struct planning *p, size_t index, bool server)
{
    struct end end = end_of(&p->wiring->wires[index], server);
    const struct part_port *port = port_of(end.part, end.port);
    const struct joints *joints = joints_of(p, end.part, end.port);
    if (*end.slot == FREE)
        return true;
    if (*end.slot >= joints->count) {
        (void)error_set(p->err,
                        "%s.%s[%u] leaves a gap: slots are numbered from 0 in sequence, and the port has %u "
                        "partner%s",
                        end.part->path, port->name, *end.slot, joints->count, joints->count == 1 ? "" : "s");
        return at_wires(p, index, index, server);
    }
    size_t *user = &p->users[joints->used + *end.slot];
    if (port->many && *user)
        return collide(p, "is used twice, by", index, *user - 1, server);
    *user = index + 1;
    return true;
}

/* Gives one end of a wire the lowest free slot. */
static void give_slot(struct planning *p, size_t index, bool server)
{
    struct end end = end_of(&p->wiring->wires[index], server);
    struct joints *joints = joints_of(p, end.part, end.port);
    size_t *users = &p->users[joints->used];
    if (*end.slot != FREE)
        return;
    while (port_of(end.part, end.port)->many && users[joints->next])
        joints->next++;
    *end.slot = joints->next;
    users[joints->next] = index + 1;
}

static bool give_slots(struct planning *p)
{
    for (size_t i = 0; i < 2 * p->wiring->count; i++)
        if (!check_single(p, i / 2, i % 2 == 0) || !take_slot(p, i / 2, i % 2 == 0))
            return false;
    for (size_t i = 0; i < 2 * p->wiring->count; i++)
        give_slot(p, i / 2, i % 2 == 0);
    return true;
}

static bool check_open(struct planning *p)
{
    for (struct instance *part = tree_next(p->tree, NULL); part; part = tree_next(p->tree, part))
        for (unsigned port = 0; port < count_ports(part->kind); port++) {
            const struct part_port *open = port_of(part, port);
            const char *partners = reference_partners(part, open, NULL);
            if (joints_of(p, part, port)->count > 0 || open->optional || (partners && !*partners))
                continue;
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
    count_joints(p);
    return give_slots(p) && check_open(p);
}

bool wiring_plan(struct wiring *wiring, const struct tree *tree, const struct part_kind *const *kinds,
                 struct error *err)
{
    struct planning planning = {.wiring = wiring, .tree = tree, .err = err};
    *wiring = (struct wiring){NULL, 0};
    bool fine = plan_all(&planning, kinds);
    free(planning.first_port);
    free(planning.joints);
    free(planning.users);
    return fine;
}

void wiring_free(struct wiring *wiring)
{
    free(wiring->wires);
    *wiring = (struct wiring){NULL, 0};
}

/* Lists the clients' numbers by server: those of part n are from[first[n]] to from[first[n + 1] - 1]. */
static void sort_by_server(const struct wiring *wiring, size_t parts, size_t *first, uint32_t *from)
{
    for (size_t i = 0; i < wiring->count; i++)
        first[wiring->wires[i].server->number]++;
    for (size_t i = 1; i <= parts; i++)
        first[i] += first[i - 1];
    for (size_t i = wiring->count; i-- > 0;)
        from[--first[wiring->wires[i].server->number]] = wiring->wires[i].client->number;
}

size_t wiring_distances(const struct wiring *wiring, const struct tree *tree, const struct instance *target,
                        uint32_t **distances)
{
    size_t parts = 0, reached = 1;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        parts++;
    size_t *first = array(parts, sizeof *first);
    uint32_t *from = array(wiring->count, sizeof *from), *queue = array(parts, sizeof *queue);
    *distances = array(parts, sizeof **distances);
    memset(*distances, 0xff, parts * sizeof **distances); /* UINT32_MAX each */
    sort_by_server(wiring, parts, first, from);
    (*distances)[target->number] = 0;
    queue[0] = target->number;
    for (size_t next = 0; next < reached; next++)
        for (size_t i = first[queue[next]]; i < first[queue[next] + 1]; i++)
            if ((*distances)[from[i]] == UINT32_MAX) {
                (*distances)[from[i]] = (*distances)[queue[next]] + 1;
                queue[reached++] = from[i];
            }
    free(first);
    free(from);
    free(queue);
    return parts;
}
