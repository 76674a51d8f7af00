#include "emu/schema/tree/kinds.h"

#include <stdio.h>
#include <string.h>

#include "emu/schema/dotted.h"
#include "emu/schema/tree/state.h"
#include "emu/sim/text/text.h"

const struct part_kind *tree_kind(const struct tree *tree, const char *name)
{
    for (const struct part_kind *const *kind = tree->options.kinds; *kind; kind++)
        if (strcmp((*kind)->name, name) == 0)
            return *kind;
    return NULL;
}

void tree_kinds(const struct tree *tree, const char *wrong, char names[TREE_KINDS], struct nearest_hint *hint)
{
    const char *all[64];
    size_t count = 0;
    names[0] = '\0';
    for (const struct part_kind *const *kind = tree->options.kinds; *kind && count < 64; kind++) {
        size_t used = strlen(names);
        (void)snprintf(names + used, TREE_KINDS - used, "%s%s", used ? ", " : "", (*kind)->name);
        all[count++] = (*kind)->name;
    }
    *hint = nearest_hint(wrong, all, count);
}

bool kind_has_key(const struct part_kind *kind, const char *name)
{
    if (part_field_find(kind, name) >= 0)
        return true;
    for (const struct part_port *port = kind->ports; port && port->name; port++)
        if (strcmp(port->name, name) == 0)
            return true;
    for (const struct part_section *section = kind->sections; section && section->prefix; section++)
        if (strcmp(section->prefix, name) == 0)
            return true;
    return false;
}

static void append(char *buffer, size_t size, const char *text)
{
    size_t used = strlen(buffer);
    (void)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "", text);
}

static bool listed(const char *list, const char *name, size_t length)
{
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

void kind_members(const struct part_kind *kind, const struct part_role *role, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (role && role->many)
        append(buffer, size, "count");
    for (size_t i = 0; i < kind->field_count; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)name_length(kind->fields[i].name),
                       kind->fields[i].name);
        if (!listed(buffer, name, strlen(name)))
            append(buffer, size, name);
    }
    for (const struct part_role *below = kind->roles; below && below->name; below++)
        append(buffer, size, below->name);
    for (const struct part_port *port = kind->ports; port && port->name; port++)
        append(buffer, size, port->name);
}

bool tree_not_a_value(const struct part_kind *kind, const char *name, struct error *err)
{
    char keys[768];
    kind_members(kind, NULL, keys, sizeof keys);
    return error_set(err, "%s is a section, not a value; its keys: %s", text_quote(name).text, keys);
}
