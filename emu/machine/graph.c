#include "emu/machine/graph.h"

#include <string.h>

#include "emu/core/tlb.h"
#include "emu/machine/wiring.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"

enum { FACTS = 128 };

/* Returns true if the part represents all its copies: the first copy, in the first copy of each ancestor. */
static bool stands_for_all(const struct instance *part)
{
    for (; part; part = part->parent)
        if (part->index > 0)
            return false;
    return true;
}

/* Returns the copy that represents the part. */
static const struct instance *representative(const struct machine_config *machine,
                                             const struct instance *part)
{
    for (const struct instance *i = tree_next(machine->tree, NULL); i; i = tree_next(machine->tree, i)) {
        const struct instance *a = i, *b = part;
        while (a && b && a->kind == b->kind && strcmp(a->name, b->name) == 0) {
            a = a->parent;
            b = b->parent;
        }
        if (!a && !b && stands_for_all(i))
            return i;
    }
    return part;
}

/* Writes the most important properties of a part, for its label. */
static void facts_of(const struct instance *part, char facts[FACTS])
{
    char size[UNIT_TEXT];
    facts[0] = '\0';
    if (part->kind == &core_kind) {
        const struct core_config *core = part->config;
        unit_format(UNIT_FREQUENCY, core->clock, size);
        (void)snprintf(facts, FACTS, "%s, %s",
                       core->core == CORE_OOO       ? "out of order"
                       : core->core == CORE_INORDER ? "in order"
                                                    : "functional",
                       size);
    } else if (part->kind == &cache_kind) {
        unit_format(UNIT_SIZE, ((const struct cache_config *)part->config)->size, size);
        (void)snprintf(facts, FACTS, "%s", size);
    } else if (part->kind == &llc_kind) {
        const struct llc_config *llc = part->config;
        unit_format(UNIT_SIZE, llc->size, size);
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

/* Returns true for the parts that a drawing shows: the groups, and the parts with timing except TLBs. */
static bool is_drawn(const struct instance *part)
{
    if (!part->parent || part->kind == &tlb_kind)
        return false;
    for (; part->parent; part = part->parent)
        if (!is_timed(part->kind))
            return false;
    return true;
}

static void label_of(const struct instance *part, char *label, size_t size, const char *separator)
{
    char facts[FACTS];
    facts_of(part, facts);
    (void)snprintf(label, size, "%s", part->name);
    size_t used = strlen(label);
    if (part->copies > 1)
        (void)snprintf(label + used, size - used, " x %u", part->copies);
    used = strlen(label);
    if (*facts)
        (void)snprintf(label + used, size - used, "%s%s", separator, facts);
}

static void text_wires(const struct machine_config *machine, const struct wiring *wiring,
                       const struct instance *part, FILE *out)
{
    const struct instance *last = NULL;
    for (size_t i = 0; i < wiring->count; i++) {
        const struct wire *wire = &wiring->wires[i];
        const struct instance *server = representative(machine, wire->server);
        if (wire->client != part || server == last)
            continue;
        (void)fprintf(out, "  -> %s", server->path);
        last = server;
    }
}

/* Plans the wiring. It is empty on a machine without timing. */
static bool plan(struct wiring *wiring, const struct machine_config *machine, struct error *err)
{
    *wiring = (struct wiring){NULL, 0};
    if (!machine_timed(machine) || wiring_plan(wiring, machine->tree, machine_kinds, err))
        return true;
    wiring_free(wiring);
    return false;
}

bool graph_text(const struct machine_config *machine, FILE *out, struct error *err)
{
    struct wiring wiring;
    if (!plan(&wiring, machine, err))
        return false;
    (void)fprintf(out, "%s\n", machine->name);
    for (const struct instance *i = tree_next(machine->tree, NULL); i; i = tree_next(machine->tree, i)) {
        char label[256];
        int depth = 0;
        if (!is_drawn(i) || !stands_for_all(i))
            continue;
        for (const struct instance *above = i->parent; above; above = above->parent)
            depth += 2;
        label_of(i, label, sizeof label, ": ");
        (void)fprintf(out, "%*s%s", depth, "", label);
        text_wires(machine, &wiring, i, out);
        (void)fputc('\n', out);
    }
    wiring_free(&wiring);
    return true;
}

static void dot_part(const struct machine_config *machine, const struct instance *part, int depth, FILE *out)
{
    char label[256];
    bool holds = false;
    label_of(part, label, sizeof label, "\\n");
    for (const struct instance *below = part->first; below; below = below->next)
        holds = holds || (is_drawn(below) && stands_for_all(below) && !below->absent);
    if (!holds) {
        (void)fprintf(out, "%*s\"%s\" [label=\"%s\"];\n", depth, "", part->path, label);
        return;
    }
    (void)fprintf(out, "%*ssubgraph \"cluster %s\" {\n%*slabel=\"%s\"; style=rounded; color=gray50;\n", depth,
                  "", part->path, depth + 2, "", label);
    if (part->kind->ports)
        (void)fprintf(out, "%*s\"%s\" [shape=point, width=0.08];\n", depth + 2, "", part->path);
    for (const struct instance *below = part->first; below; below = below->next)
        if (!below->absent && is_drawn(below) && stands_for_all(below))
            dot_part(machine, below, depth + 2, out);
    (void)fprintf(out, "%*s}\n", depth, "");
}

static void dot_wires(const struct machine_config *machine, const struct wiring *wiring, FILE *out)
{
    for (size_t i = 0; i < wiring->count; i++) {
        const struct wire *wire = &wiring->wires[i];
        const struct instance *server = representative(machine, wire->server);
        bool again = false;
        for (size_t j = 0; j < i && !again; j++)
            again = wiring->wires[j].client == wire->client &&
                    representative(machine, wiring->wires[j].server) == server;
        if (!again && stands_for_all(wire->client))
            (void)fprintf(out, "  \"%s\" -> \"%s\";\n", wire->client->path, server->path);
    }
}

bool graph_dot(const struct machine_config *machine, FILE *out, struct error *err)
{
    struct wiring wiring;
    if (!plan(&wiring, machine, err))
        return false;
    (void)fprintf(out,
                  "digraph machine {\n  label=\"%s\"; labelloc=t; fontname=\"sans-serif\"; rankdir=TB;\n"
                  "  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n"
                  "  edge [arrowsize=0.6]; graph [fontname=\"sans-serif\", fontsize=11];\n",
                  machine->name);
    for (const struct instance *below = tree_root(machine->tree)->first; below; below = below->next)
        if (!below->absent && is_drawn(below) && stands_for_all(below))
            dot_part(machine, below, 2, out);
    dot_wires(machine, &wiring, out);
    (void)fputs("}\n", out);
    wiring_free(&wiring);
    return true;
}
