#include "emu/machine/describe/graph.h"

#include <stdlib.h>
#include <string.h>

#include "emu/core/tlb.h"
#include "emu/machine/plan/wiring.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"
#include "emu/net/network.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

enum {
    FACTS = 128,
    LABEL = 256,
    ROUNDS_MOST = 64, /* of refinement: ends of a longer row of parts are too far apart to matter */
    DEEP = 32,        /* more than parts can be nested */
};

/* What is drawn of a machine. Arrays are indexed by the parts' numbers. */
struct drawing {
    FILE *out;
    bool timed;
    struct wiring wiring;
    size_t parts;
    const struct instance **part;
    const struct instance **stands; /* the part that is drawn in place of this one; NULL: none is drawn */
    uint32_t *alike;                /* number of copies for which the part is drawn */
    uint64_t *colour;               /* equal for parts that are alike */
    size_t *first_wire;             /* wires of client n: by_client[first_wire[n]] to first_wire[n + 1] - 1 */
    size_t *by_client;
    uint64_t *seen; /* the last arrow to each part: copies of a wire are drawn once */
};

/* An arrow of the drawing, from a port of a part to a port of another one. */
struct arrow {
    const char *port, *server_port; /* NULL: the kind has no such port */
    const struct instance *server;
};

/* Writes the most important properties of a part, for its label. */
static void facts_of(const struct instance *part, char facts[FACTS])
{
    char size[QUANTITY_TEXT];
    facts[0] = '\0';
    if (part->kind == &core_kind) {
        const struct core_config *core = part->config;
        quantity_format(QUANTITY_FREQUENCY, core->clock, size);
        (void)snprintf(facts, FACTS, "%s, %s",
                       core->core == CORE_OOO       ? "out of order"
                       : core->core == CORE_INORDER ? "in order"
                                                    : "functional",
                       size);
    } else if (part->kind == &cache_kind) {
        quantity_format(QUANTITY_SIZE, ((const struct cache_config *)part->config)->size, size);
        (void)snprintf(facts, FACTS, "%s", size);
    } else if (part->kind == &llc_kind) {
        const struct llc_config *llc = part->config;
        quantity_format(QUANTITY_SIZE, llc->size, size);
        (void)snprintf(facts, FACTS, llc->slices > 1 ? "%2$u slices of %1$s" : "%1$s", size, llc->slices);
    } else if (part->kind == &dram_kind) {
        const struct dram_config *dram = part->config;
        (void)snprintf(facts, FACTS, "%s, %u channel%s", dram_standard_name(dram->standard), dram->channels,
                       dram->channels > 1 ? "s" : "");
    } else if (part->kind == &simt_kind) {
        const struct simt_config *simt = part->config;
        (void)snprintf(facts, FACTS, "%u multiprocessor%s", simt->count, simt->count > 1 ? "s" : "");
    }
}

/* Returns true for the kinds of parts with timing: those in the list of kinds, and their caches. */
static bool is_timed(const struct part_kind *kind)
{
    for (const struct part_kind *const *at = machine_kinds; *at; at++)
        if (*at == kind)
            return true;
    return kind == &cache_kind || kind->ports;
}

/* Returns true for the parts that a drawing shows: the groups, and the parts with timing except TLBs and what a network is
 * made of. */
static bool is_drawn(const struct instance *part)
{
    if (!part->parent || part->kind == &tlb_kind || part->kind == &network_router_kind ||
        part->kind == &network_wire_kind)
        return false;
    for (; part->parent; part = part->parent)
        if (!is_timed(part->kind))
            return false;
    return true;
}

static void *array(size_t count, size_t size)
{
    return alloc(count + 1, size);
}

static uint64_t mix_text(uint64_t value, const char *text)
{
    for (; *text; text++)
        value = mix(value + (unsigned char)*text + 1);
    return mix(value);
}

/* Colours a part by what its label says, and the labels above it. */
static void colour_label(struct drawing *d, const struct instance *part)
{
    char facts[FACTS];
    facts_of(part, facts);
    uint64_t above = part->parent ? d->colour[part->parent->number] : 0;
    d->colour[part->number] = mix_text(mix_text(mix_text(above, part->name), part->kind->name), facts);
}

/* Refines the colours by those of each part's neighbours: the parts above, below and at its wires. The sums do
 * not depend on the order of neighbours. */
static void refine(const struct drawing *d, uint64_t *finer)
{
    enum { BELOW = 1, ABOVE, SERVER, CLIENT };
    for (size_t i = 0; i < d->parts; i++)
        finer[i] = 0;
    for (size_t i = 1; i < d->parts; i++) {
        size_t above = d->part[i]->parent->number;
        if (!is_drawn(d->part[i]))
            continue;
        finer[above] += mix(d->colour[i] + BELOW);
        finer[i] += mix(d->colour[above] + ABOVE);
    }
    for (size_t i = 0; i < d->wiring.count; i++) {
        const struct wire *wire = &d->wiring.wires[i];
        finer[wire->client->number] += mix(mix(d->colour[wire->server->number] + SERVER) + wire->client_port);
        finer[wire->server->number] += mix(mix(d->colour[wire->client->number] + CLIENT) + wire->server_port);
    }
    for (size_t i = 0; i < d->parts; i++)
        finer[i] = mix(d->colour[i] + mix(finer[i]));
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *one = a, *two = b;
    return (*one > *two) - (*one < *two);
}

static size_t count_colours(const struct drawing *d, uint64_t *sorted)
{
    size_t count = d->parts > 0;
    memcpy(sorted, d->colour, d->parts * sizeof *sorted);
    qsort(sorted, d->parts, sizeof *sorted, by_value);
    for (size_t i = 1; i < d->parts; i++)
        count += sorted[i] != sorted[i - 1];
    return count;
}

/* Refines the colours of labels until parts of one colour lead to parts of one colour, and so on. */
static void colour_parts(struct drawing *d)
{
    uint64_t *finer = array(d->parts, sizeof *finer), *sorted = array(d->parts, sizeof *sorted);
    size_t before = 0, colours = count_colours(d, sorted);
    for (unsigned round = 0; colours > before && round < ROUNDS_MOST; round++) {
        refine(d, finer);
        memcpy(d->colour, finer, d->parts * sizeof *finer);
        before = colours;
        colours = count_colours(d, sorted);
    }
    free(finer);
    free(sorted);
}

/* Returns the first part below `above` that has the part's name and, if `same`, its colour. NULL: there is
 * none. */
static const struct instance *first_alike(const struct drawing *d, const struct instance *above,
                                          const struct instance *part, bool same)
{
    for (const struct instance *i = above->first; i; i = i->next)
        if (!i->absent && strcmp(i->name, part->name) == 0 &&
            (!same || d->colour[i->number] == d->colour[part->number]))
            return i;
    return NULL;
}

/* Chooses the parts that are drawn: one for all copies that are alike. */
static void choose_parts(struct drawing *d)
{
    d->stands[0] = d->part[0];
    for (size_t i = 1; i < d->parts; i++) {
        const struct instance *part = d->part[i], *above = d->stands[part->parent->number];
        if (!above || !is_drawn(part))
            continue;
        d->stands[i] = first_alike(d, above, part, true);
        if (!d->stands[i]) /* the refinement was cut short */
            d->stands[i] = first_alike(d, above, part, false);
        if (d->stands[i] && above == part->parent)
            d->alike[d->stands[i]->number]++;
    }
}

static void sort_wires(struct drawing *d)
{
    for (size_t i = 0; i < d->wiring.count; i++)
        d->first_wire[d->wiring.wires[i].client->number]++;
    for (size_t i = 1; i <= d->parts; i++)
        d->first_wire[i] += d->first_wire[i - 1];
    for (size_t i = d->wiring.count; i-- > 0;)
        d->by_client[--d->first_wire[d->wiring.wires[i].client->number]] = i;
}

/* Plans the wiring, which is empty on a machine without timing, and what is drawn. Free with drawing_free(), also
 * after a failure. */
static bool drawing_make(struct drawing *d, const struct machine_config *machine, FILE *out,
                         struct error *err)
{
    *d = (struct drawing){.out = out, .timed = machine_timed(machine)};
    if (d->timed && !wiring_plan(&d->wiring, machine->tree, machine_kinds, err))
        return false;
    for (const struct instance *i = tree_next(machine->tree, NULL); i; i = tree_next(machine->tree, i))
        d->parts++;
    d->part = array(d->parts, sizeof *d->part);
    d->stands = array(d->parts, sizeof *d->stands);
    d->alike = array(d->parts, sizeof *d->alike);
    d->colour = array(d->parts, sizeof *d->colour);
    d->first_wire = array(d->parts, sizeof *d->first_wire);
    d->by_client = array(d->wiring.count, sizeof *d->by_client);
    d->seen = array(d->parts, sizeof *d->seen);
    for (const struct instance *i = tree_next(machine->tree, NULL); i; i = tree_next(machine->tree, i)) {
        d->part[i->number] = i;
        colour_label(d, i);
    }
    colour_parts(d);
    choose_parts(d);
    sort_wires(d);
    return true;
}

static void drawing_free(struct drawing *d)
{
    wiring_free(&d->wiring);
    free(d->part);
    free(d->stands);
    free(d->alike);
    free(d->colour);
    free(d->first_wire);
    free(d->by_client);
    free(d->seen);
}

static bool is_shown(const struct drawing *d, const struct instance *part)
{
    return !part->absent && d->stands[part->number] == part;
}

/* Appends the numbers of the copies like the part: ".0-3,7". */
static void append_numbers(const struct drawing *d, const struct instance *part, char label[LABEL])
{
    const struct instance *i = part;
    for (const char *before = "."; i; before = ",") {
        int first = i->index, last = first;
        for (i = i->next; i && i->index == last + 1 && d->stands[i->number] == part; i = i->next)
            last++;
        while (i && (i->absent || d->stands[i->number] != part))
            i = i->next;
        size_t used = strlen(label);
        bool full = used > LABEL / 2;
        (void)snprintf(label + used, LABEL - used,
                       full            ? ",..."
                       : first == last ? "%s%d"
                                       : "%s%d-%d",
                       before, first, last);
        if (full)
            return;
    }
}

/* Writes "accel x 16: in order, 1 GHz" with the separator instead of ": ". */
static void label_of(const struct drawing *d, const struct instance *part, char label[LABEL],
                     const char *separator)
{
    char facts[FACTS];
    facts_of(part, facts);
    (void)snprintf(label, LABEL, "%.100s", part->name);
    size_t used = strlen(label);
    if (part->index >= 0 && d->alike[part->number] < part->copies)
        append_numbers(d, part, label);
    else if (part->copies > 1)
        (void)snprintf(label + used, LABEL - used, " x %u", part->copies);
    used = strlen(label);
    if (*facts)
        (void)snprintf(label + used, LABEL - used, "%s%s", separator, facts);
}

/* Returns the name of the kind's first port of that direction; NULL: it has none. */
static const char *port_name(const struct part_kind *kind, enum part_direction direction)
{
    for (const struct part_port *port = kind->ports; port && port->name; port++)
        if (port->direction == direction)
            return port->name;
    return NULL;
}

/* Finds the arrow of a part that its parent connects: where it sends its requests (part_role.leads). */
static bool inner_arrow(const struct drawing *d, const struct instance *part, struct arrow *arrow)
{
    const char *name = d->timed && part->role ? part->role->leads : NULL;
    if (!name)
        return false;
    *arrow = (struct arrow){port_name(part->kind, PART_ASKS), port_name(part->parent->kind, PART_ASKS),
                            part->parent};
    for (name += strspn(name, " "); *name; name += strspn(name, " ")) {
        size_t length = strcspn(name, " ");
        for (const struct instance *i = part->parent->first; i; i = i->next)
            if (is_shown(d, i) && strlen(i->name) == length && strncmp(i->name, name, length) == 0) {
                arrow->server_port = port_name(i->kind, PART_SERVES);
                arrow->server = i;
                return true;
            }
        name += length;
    }
    return true;
}

/* Finds the next arrow from a part and advances *next, which starts at the part's first_wire. Finds each
 * arrow once. */
static bool next_arrow(struct drawing *d, const struct instance *part, size_t *next, struct arrow *arrow)
{
    size_t end = d->first_wire[part->number + 1];
    while (*next < end) {
        const struct wire *wire = &d->wiring.wires[d->by_client[(*next)++]];
        const struct instance *server = d->stands[wire->server->number];
        uint64_t mark = ((uint64_t)part->number + 1) << 32 | wire->client_port << 16 | wire->server_port;
        if (!server || d->seen[server->number] == mark)
            continue;
        d->seen[server->number] = mark;
        *arrow = (struct arrow){part->kind->ports[wire->client_port].name,
                                server->kind->ports[wire->server_port].name, server};
        return true;
    }
    return (*next)++ == end && inner_arrow(d, part, arrow);
}

/* Appends the part's name with the numbers of the copies that it is drawn for: "crossbar", "link.*", "module.4-7". */
static void append_name(const struct drawing *d, const struct instance *part, char text[LABEL])
{
    size_t used = strlen(text);
    (void)snprintf(text + used, LABEL - used, "%.100s", part->name);
    if (part->index >= 0 && d->alike[part->number] < part->copies)
        append_numbers(d, part, text);
    else if (part->copies > 1 && strlen(text) + 3 < LABEL)
        strcat(text, ".*");
}

/* Writes the target of an arrow from a part as references of descriptions do: by name if it is beside the
 * part, else by its path from the root. */
static void write_target(const struct drawing *d, const struct instance *part, const struct arrow *arrow)
{
    const struct instance *path[DEEP];
    unsigned length = 0;
    bool beside = arrow->server->parent == part->parent, above = arrow->server == part->parent;
    for (const struct instance *i = arrow->server; i->parent && length < DEEP; i = i->parent) {
        path[length++] = i;
        if (beside || above)
            break;
    }
    (void)fputs(above ? "../" : beside ? "" : "/", d->out);
    while (length-- > 0) {
        char text[LABEL] = "";
        append_name(d, path[length], text);
        (void)fprintf(d->out, "%s%s", text, length > 0 ? "." : "");
    }
    if (arrow->server_port)
        (void)fprintf(d->out, ".%s", arrow->server_port);
}

static const struct instance *next_shown(const struct drawing *d, const struct instance *part)
{
    while (part && !is_shown(d, part))
        part = part->next;
    return part;
}

static void text_below(struct drawing *d, const struct instance *above, const char *margin);

static void text_part(struct drawing *d, const struct instance *part, const char *margin)
{
    char label[LABEL], inner[LABEL];
    bool last = !next_shown(d, part->next);
    size_t next = d->first_wire[part->number];
    label_of(d, part, label, ": ");
    (void)fprintf(d->out, "%s%s %s\n", margin, last ? "`-" : "|-", label);
    (void)snprintf(inner, sizeof inner, "%s%s  ", margin, last ? " " : "|");
    for (struct arrow arrow; next_arrow(d, part, &next, &arrow);) {
        (void)fprintf(d->out, "%s%s   %s%s-> ", inner, next_shown(d, part->first) ? "|" : " ",
                      arrow.port ? arrow.port : "", arrow.port ? " " : "");
        write_target(d, part, &arrow);
        (void)fputc('\n', d->out);
    }
    text_below(d, part, inner);
}

/* Draws the parts below a part. The margin holds the lines of the branches further up. */
static void text_below(struct drawing *d, const struct instance *above, const char *margin)
{
    for (const struct instance *i = next_shown(d, above->first); i; i = next_shown(d, i->next))
        text_part(d, i, margin);
}

bool graph_text(const struct machine_config *machine, FILE *out, struct error *err)
{
    struct drawing d;
    bool fine = drawing_make(&d, machine, out, err);
    if (fine) {
        (void)fprintf(out, "%s\n", machine->name);
        text_below(&d, d.part[0], "");
    }
    drawing_free(&d);
    return fine;
}

static void dot_part(const struct drawing *d, const struct instance *part, int depth)
{
    char label[LABEL];
    bool holds = false;
    label_of(d, part, label, "\\n");
    for (const struct instance *below = part->first; below; below = below->next)
        holds = holds || is_shown(d, below);
    if (!holds) {
        (void)fprintf(d->out, "%*s\"%s\" [label=\"%s\"];\n", depth, "", part->path, label);
        return;
    }
    (void)fprintf(d->out, "%*ssubgraph \"cluster %s\" {\n%*slabel=\"%s\"; style=rounded; color=gray50;\n",
                  depth, "", part->path, depth + 2, "", label);
    if (part->kind->ports)
        (void)fprintf(d->out, "%*s\"%s\" [shape=point, width=0.08];\n", depth + 2, "", part->path);
    for (const struct instance *below = part->first; below; below = below->next)
        if (is_shown(d, below))
            dot_part(d, below, depth + 2);
    (void)fprintf(d->out, "%*s}\n", depth, "");
}

bool graph_dot(const struct machine_config *machine, FILE *out, struct error *err)
{
    struct drawing d;
    bool fine = drawing_make(&d, machine, out, err);
    if (fine)
        (void)fprintf(out,
                      "digraph machine {\n  label=\"%s\"; labelloc=t; fontname=\"sans-serif\"; rankdir=TB;\n"
                      "  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n"
                      "  edge [arrowsize=0.6]; graph [fontname=\"sans-serif\", fontsize=11];\n",
                      machine->name);
    for (const struct instance *i = tree_root(machine->tree)->first; fine && i; i = i->next)
        if (is_shown(&d, i))
            dot_part(&d, i, 2);
    for (size_t i = 1; fine && i < d.parts; i++) {
        size_t next = d.first_wire[i];
        if (is_shown(&d, d.part[i]))
            for (struct arrow arrow; next_arrow(&d, d.part[i], &next, &arrow);)
                (void)fprintf(out, "  \"%s\" -> \"%s\";\n", d.part[i]->path, arrow.server->path);
    }
    if (fine)
        (void)fputs("}\n", out);
    drawing_free(&d);
    return fine;
}
