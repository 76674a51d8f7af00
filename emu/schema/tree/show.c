/* Writes a description as text: every key with its value, meaning and the value's origin. */
#include <stdlib.h>
#include <string.h>

#include "emu/schema/dotted.h"
#include "emu/schema/reference.h"
#include "emu/schema/tree/state.h"

struct show {
    const struct tree *tree;
    FILE *out;
};

static const char *not_used_by(const struct part_kind *kind, const struct instance *instance)
{
    return kind->variants ? kind->variants[part_variant(kind, instance->config)] : "this kind of core";
}

static void show_field(const struct show *show, const struct instance *instance, unsigned index,
                       const char *name, int indent)
{
    const struct part_field *field = &instance->kind->fields[index];
    char value[FIELD_VALUE], allowed[512], source[TREE_SOURCE];
    field_format(field, instance->config, value);
    field_allowed(field, allowed, sizeof allowed);
    tree_source(show->tree, instance, index, source);
    (void)fprintf(show->out, "%*s# %s\n", indent, "", field->explanation);
    (void)fprintf(show->out, "%*s# Allowed: %s%s.", indent, "", allowed,
                  field_has_auto(field) ? "; or auto" : "");
    if (instance->winner[index] && field->initial[0] && *field->initial[0])
        (void)fprintf(show->out, " Default: %s.",
                      field->initial[part_variant(instance->kind, instance->config)]);
    if (!part_field_used(instance->kind, field, instance->config))
        (void)fprintf(show->out, " Not used by %s.", not_used_by(instance->kind, instance));
    (void)fprintf(show->out, "\n%*s%s: %s  # %s\n", indent, "", name, value, source);
}

static const struct part_section *section_of(const struct part_kind *kind, const char *name)
{
    size_t length = name_length(name);
    for (const struct part_section *section = kind->sections; name[length] && section && section->prefix;
         section++)
        if (strlen(section->prefix) == length && strncmp(section->prefix, name, length) == 0)
            return section;
    return NULL;
}

static void show_fields(const struct show *show, const struct instance *instance, int indent)
{
    const struct part_section *section = NULL;
    for (unsigned i = 0; i < instance->kind->field_count; i++) {
        const char *name = instance->kind->fields[i].name;
        const struct part_section *within = section_of(instance->kind, name);
        if (!*instance->path)
            (void)fputc('\n', show->out);
        if (within && within != section)
            (void)fprintf(show->out, "%*s# %s\n%*s%s:\n", indent, "", within->explanation, indent, "",
                          within->prefix);
        section = within;
        show_field(show, instance, i, within ? name + strlen(within->prefix) + 1 : name,
                   within ? indent + 2 : indent);
    }
}

/* Writes the alternatives for a default partner: "the first of l2, crossbar, dram". */
static void show_partners(const struct show *show, const char *partners)
{
    (void)fprintf(show->out, " Default: %s", strchr(partners, ' ') ? "the first of " : "");
    for (; *partners; partners++)
        (void)fputs(*partners == ' ' ? ", " : (char[]){*partners, '\0'}, show->out);
    (void)fputc('.', show->out);
}

/* Writes where a port's partners come from: the setting, or the default partner that exists, as a reference
 * from the part. A machine without timing connects no ports. */
static void port_source(const struct show *show, struct instance *instance, unsigned index,
                        const char *because, char source[TREE_SOURCE])
{
    struct references found = {NULL, 0};
    char text[TREE_NAME] = "";
    if (instance->references[index]) {
        tree_setting_source(show->tree, instance->reference_setting[index], source);
        return;
    }
    if (show->tree->options.timed(show->tree) &&
        !reference_default(instance, &instance->kind->ports[index], &found, text))
        text[0] = '\0';
    (void)snprintf(source, TREE_SOURCE, "default%s%s%s%s%s", *text ? ": " : "", text, *because ? " (" : "",
                   because, *because ? ")" : "");
    free(found.items);
}

/* Shows a port with its reference; `auto`: the description has none. */
static void show_port(const struct show *show, struct instance *instance, unsigned index, int indent)
{
    const struct part_port *port = &instance->kind->ports[index];
    char source[TREE_SOURCE];
    const char *reference = instance->references[index], *because;
    const char *partners = reference_partners(instance, port, &because);
    if (!reference && partners && !*partners)
        return; /* the part above connects it */
    port_source(show, instance, index, because, source);
    (void)fprintf(show->out, "%*s# %s\n%*s# Allowed: %s that %s%s%s %s; or auto.", indent, "",
                  port->explanation, indent, "", port->many ? "parts" : "a part",
                  port->direction == PART_ASKS ? "serve" : "ask", port->many ? "" : "s",
                  port->direction == PART_ASKS ? "" : " for", port->type);
    if (partners && *partners)
        show_partners(show, partners);
    (void)fprintf(show->out, "\n%*s%s: %s%s%s  # %s\n", indent, "", port->name, reference ? "\"" : "",
                  reference ? reference : "auto", reference ? "\"" : "", source);
}

static void show_ports(const struct show *show, struct instance *instance, int indent)
{
    for (unsigned i = 0; instance->kind->ports && instance->kind->ports[i].name; i++)
        show_port(show, instance, i, indent);
}

/* Returns the part, or the first one after it that is present. */
static const struct instance *present(const struct instance *part)
{
    while (part && part->absent)
        part = part->next;
    return part;
}

/* Returns true if two copies, including everything below them, have equal descriptions. */
static bool alike(const struct instance *a, const struct instance *b)
{
    if (a->kind != b->kind || memcmp(a->config, b->config, a->kind->config_size) != 0)
        return false;
    for (unsigned i = 0; a->kind->ports && a->kind->ports[i].name; i++)
        if ((a->references[i] || b->references[i]) &&
            (!a->references[i] || !b->references[i] || strcmp(a->references[i], b->references[i]) != 0))
            return false;
    const struct instance *x = present(a->first), *y = present(b->first);
    for (; x && y; x = present(x->next), y = present(y->next))
        if (strcmp(x->name, y->name) != 0 || x->index != y->index || x->copies != y->copies || !alike(x, y))
            return false;
    return !x && !y;
}

static void show_count(const struct show *show, const struct instance *instance, int indent)
{
    const struct part_role *role = instance->role;
    char source[TREE_SOURCE];
    tree_count_source(show->tree, instance, source);
    (void)fprintf(show->out, "%*s# %s\n%*s# Allowed: %d to %s; or auto. Default: %s.\n", indent, "",
                  role ? role->counts : "Number of copies of this part and everything below it.", indent, "",
                  role && role->presence == PART_ALWAYS, role ? role->most : "65536",
                  role ? role->initial : "1");
    (void)fprintf(show->out, "%*scount: %u  # %s\n", indent, "", instance->copies, source);
}

/* Returns the present part with that name below the parent, or its first copy; NULL: none. */
static const struct instance *part_named(const struct instance *parent, const char *name)
{
    const struct instance *below = present(parent->first);
    while (below && strcmp(below->name, name) != 0)
        below = present(below->next);
    return below;
}

/* Takes back what the text of `base` gives to `copy` and `copy` lacks: references and custom parts. A custom
 * part that differs in kind, or in being numbered, is removed too; the text of `copy` then adds it again.
 * `name` is that of `copy` in the mapping. */
static void show_resets(const struct show *show, const struct instance *copy, const struct instance *base,
                        const char *name, int indent)
{
    for (unsigned i = 0; base->kind->ports && base->kind->ports[i].name; i++)
        if (base->references[i] && !copy->references[i])
            (void)fprintf(show->out, "%*s%s.%s: auto\n", indent, "", name, base->kind->ports[i].name);
    for (const struct instance *lead = base->first; lead; lead = lead->next) {
        const struct instance *own = part_named(copy, lead->name), *model = lead;
        if (lead->absent || lead->index > 0)
            continue;
        if (!own || own->kind != lead->kind || (own->index < 0) != (lead->index < 0)) {
            if (!lead->role) /* show_absent() writes roles */
                (void)fprintf(show->out, "%*s%s.%s: none\n", indent, "", name, lead->name);
            continue;
        }
        for (uint32_t i = 0, copies = own->copies; i < copies; i++, own = own->next) {
            char below[TREE_NAME], number[16] = "";
            if (own->index >= 0)
                (void)snprintf(number, sizeof number, ".%d", own->index);
            (void)snprintf(below, sizeof below, "%s.%s%s", name, own->name, number);
            show_resets(show, own, model, below, indent);
            model = i + 1 < lead->copies ? model->next : lead;
        }
    }
}

static void show_parts(const struct show *show, const struct instance *parent, int indent);

static void show_body(const struct show *show, const struct instance *instance, int indent)
{
    show_fields(show, instance, indent);
    show_ports(show, (struct instance *)(uintptr_t)instance, indent);
    show_parts(show, instance, indent);
}

static void show_part(const struct show *show, const struct instance *instance, int indent)
{
    const char *text = instance->role ? instance->role->explanation : instance->kind->explanation;
    if (indent == 0)
        (void)fputc('\n', show->out);
    (void)fprintf(show->out, "%*s# %s\n%*s%s:%s\n", indent, "", text, indent, "", instance->name,
                  instance->kind->field_count || instance->first || instance->index >= 0 || !instance->role
                      ? ""
                      : " {}");
    if (!instance->role)
        (void)fprintf(show->out, "%*skind: %s\n", indent + 2, "", instance->kind->name);
    if (instance->index >= 0)
        show_count(show, instance, indent + 2);
    show_body(show, instance, indent + 2);
    const struct instance *copy = instance->next;
    for (unsigned i = 1; instance->index == 0 && i < instance->copies; i++, copy = copy->next) {
        if (alike(instance, copy))
            continue;
        char number[16];
        (void)snprintf(number, sizeof number, "%d", copy->index);
        show_resets(show, copy, instance, number, indent + 2);
        (void)fprintf(show->out, "%*s%s:\n", indent + 2, "", number);
        show_body(show, copy, indent + 4);
    }
}

static void show_absent(const struct show *show, const struct instance *parent, int indent)
{
    for (const struct part_role *role = parent->kind->roles; role && role->name; role++) {
        bool there = false;
        for (const struct instance *below = parent->first; below; below = below->next)
            there = there || (below->role == role && !below->absent);
        if (there || role->presence == PART_ALWAYS)
            continue;
        (void)fprintf(show->out, "%s%*s# %s\n%*s%s: none\n", indent == 0 ? "\n" : "", indent, "",
                      role->explanation, indent, "", role->name);
    }
}

static void show_parts(const struct show *show, const struct instance *parent, int indent)
{
    for (const struct instance *below = parent->first; below; below = below->next)
        if (below->index <= 0 && !below->absent)
            show_part(show, below, indent);
    show_absent(show, parent, indent);
}

void tree_show(const struct tree *tree, FILE *out)
{
    const struct show show = {tree, out};
    const char *reader = tree->options.reader ? tree->options.reader : "croft run --machine FILE";
    (void)fprintf(out,
                  "# A resolved %s description: each key with its value and the value's origin.\n"
                  "# `%s` accepts this text unchanged.\n",
                  tree->options.reader ? tree->options.root->name : "machine", reader);
    show_fields(&show, tree->root, 0);
    show_parts(&show, tree->root, 0);
}
