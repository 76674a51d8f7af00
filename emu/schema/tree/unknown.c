/* Messages for unknown names, with suggestions. */
#include <stdlib.h>
#include <string.h>

#include "emu/schema/dotted.h"
#include "emu/schema/renames.h"
#include "emu/schema/tree/kinds.h"
#include "emu/schema/tree/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"
#include "emu/sim/text/text.h"

/* All names that descriptions of the root's kind can use, without indices. */
struct name_list {
    char **names;
    size_t count;
};

static void add_name(struct name_list *list, const char *prefix, const char *name)
{
    list->names = realloc(list->names, (list->count + 1) * sizeof *list->names);
    if (!list->names || asprintf(&list->names[list->count++], "%s%s%s", prefix, *prefix ? "." : "", name) < 0)
        alloc_failed();
}

static void collect(struct name_list *list, const struct part_kind *kind, const char *prefix)
{
    for (size_t i = 0; i < kind->field_count; i++)
        add_name(list, prefix, kind->fields[i].name);
    for (const struct part_port *port = kind->ports; port && port->name; port++)
        add_name(list, prefix, port->name);
    for (const struct part_role *role = kind->roles; role && role->name; role++) {
        char below[TREE_NAME];
        (void)snprintf(below, sizeof below, "%s%s%s", prefix, *prefix ? "." : "", role->name);
        add_name(list, prefix, role->name);
        if (role->many)
            add_name(list, below, "count");
        collect(list, role->kind, below);
    }
}

static const char *last_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* Copies the name without numbers and asterisks. */
static void plain_name(const char *name, char plain[TREE_NAME])
{
    plain[0] = '\0';
    while (*name) {
        size_t length = name_length(name), used = strlen(plain);
        if (!name_is_index(name))
            (void)snprintf(plain + used, TREE_NAME - used, "%s%.*s", used ? "." : "", (int)length, name);
        name += length + (name[length] == '.');
    }
}

/* Chooses a suggestion: a name with the same last component in another section, or the name with the nearest
 * spelling. */
static const char *meant_by(const struct name_list *list, const char *name, bool section_known)
{
    const char *elsewhere = NULL,
               *nearest = nearest_name(name, (const char *const *)list->names, list->count);
    for (size_t i = 0; !elsewhere && i < list->count; i++)
        if (strcmp(last_name(list->names[i]), last_name(name)) == 0)
            elsewhere = list->names[i];
    bool misspelt_section = strchr(name, '.') && !section_known;
    return (nearest && misspelt_section) || !elsewhere ? nearest : elsewhere;
}

/* Finds the part for the longest prefix of the name that leads to one. *rest is the remaining name. */
static const struct instance *walk_to(const struct instance *instance, const char *name, const char **rest)
{
    for (const struct instance *below = instance->first; below; below = below->next) {
        size_t length = name_length(name);
        if (strlen(below->name) != length || strncmp(below->name, name, length) != 0 || name[length] != '.')
            continue;
        const char *tail = name + length + 1;
        if (below->index >= 0 && name_is_index(tail)) {
            size_t number = name_length(tail);
            if (tail[number] != '.' || (*tail != '*' && strtoul(tail, NULL, 10) != (unsigned)below->index))
                continue;
            tail += number + 1;
        }
        return walk_to(below, tail, rest);
    }
    *rest = name;
    return instance;
}

/* Finds the field of the kind, or the part below it, whose spelling is nearest to `rest`, the end of `name`, and writes its
 * dotted name to `near`. NULL when none is near. */
static const char *nearest_field(const struct part_kind *kind, const char *name, const char *rest,
                                 char near[TREE_NAME])
{
    size_t count = kind->field_count;
    for (const struct part_role *role = kind->roles; role && role->name; role++)
        count++;
    const char **names = alloc(count + 1, sizeof *names), *found;
    for (count = 0; count < kind->field_count; count++)
        names[count] = kind->fields[count].name;
    for (const struct part_role *role = kind->roles; role && role->name; role++)
        names[count++] = role->name;
    found = nearest_name(rest, names, count);
    if (found)
        (void)snprintf(near, TREE_NAME, "%.*s%s", (int)(rest - name), name, found);
    free(names);
    return found ? near : NULL;
}

/* Finds a present part of the role at another place, and writes the name of the key `tail` of all its copies: stack.*.dram.tCL.
 * Returns false if there is none. */
static bool name_elsewhere(const struct tree *tree, const struct part_role *role, const char *tail,
                           char name[TREE_NAME])
{
    char near[TREE_NAME];
    const struct instance *i = tree_next(tree, NULL);
    while (i && !(i->role && i->kind == role->kind && strcmp(i->name, role->name) == 0))
        i = tree_next(tree, i);
    if (!i)
        return false;
    name[0] = '\0';
    for (const char *path = i->path; *path; path = name_behind(path)) {
        size_t used = strlen(name);
        bool number = name_is_index(path);
        (void)snprintf(name + used, TREE_NAME - used, "%.*s.", number ? 1 : (int)name_length(path),
                       number ? "*" : path);
    }
    const char *key = part_field_find(i->kind, tail) < 0 ? nearest_field(i->kind, tail, tail, near) : NULL;
    size_t used = strlen(name);
    (void)snprintf(name + used, TREE_NAME - used, "%s", key ? key : tail);
    return true;
}

/* Returns whether parts of the role can have the key, which may be that of a part below. */
static bool has_key(const struct part_role *role, const char *key)
{
    if (name_is_index(key))
        key = name_behind(key);
    const size_t length = name_length(key);
    if (!*key || role->kind->open || kind_has_key(role->kind, key) ||
        (role->many && strcmp(key, "count") == 0))
        return true;
    for (const struct part_role *below = role->kind->roles; below && below->name; below++)
        if (strlen(below->name) == length && strncmp(below->name, key, length) == 0)
            return !key[length] || has_key(below, key + length + 1);
    return false;
}

/* Reports a key that no part of the role has, which the machine lacks besides. Returns true. */
static bool no_key(const struct instance *instance, const struct part_role *role, const char *key,
                   struct error *err)
{
    struct name_list list = {NULL, 0};
    char keys[768], whole[2 * TREE_NAME], hint[3 * TREE_NAME] = "";
    const char *dot = *instance->path ? "." : "";
    collect(&list, role->kind, "");
    if (role->many)
        add_name(&list, "", "count");
    const char *near = nearest_name(name_is_index(key) ? name_behind(key) : key,
                                    (const char *const *)list.names, list.count);
    if (near)
        (void)snprintf(hint, sizeof hint, "did you mean '%s%s%s.%s'? Known", instance->path, dot, role->name,
                       near);
    (void)snprintf(whole, sizeof whole, "%s%s%s.%s", instance->path, dot, role->name, key);
    kind_members(role->kind, role, keys, sizeof keys);
    (void)error_set(err, "unknown key %s; %s in %s: %s", text_quote(whole).text, *hint ? hint : "known",
                    role->name, keys);
    for (size_t i = 0; i < list.count; i++)
        free(list.names[i]);
    free(list.names);
    return true;
}

/* Reports that `rest` names a part that this kind can have but this machine lacks. False if it does not. */
static bool is_absent(const struct tree *tree, const struct instance *instance, const char *rest,
                      struct error *err)
{
    size_t length = name_length(rest);
    const char *prefix = instance->path;
    char elsewhere[TREE_NAME], hint[2 * TREE_NAME] = "";
    if (rest[length] != '.')
        return false;
    for (const struct part_role *role = instance->kind->roles; role && role->name; role++) {
        if (strlen(role->name) != length || strncmp(role->name, rest, length) != 0)
            continue;
        const bool other = name_elsewhere(tree, role, rest + length + 1, elsewhere);
        if (!other && !has_key(role, rest + length + 1))
            return no_key(instance, role, rest + length + 1, err);
        if (other)
            (void)snprintf(hint, sizeof hint, "; did you mean %s? Otherwise", text_quote(elsewhere).text);
        (void)error_set(err,
                        role->many ? "the machine has no %1$s%2$s%3$s%4$s %1$s%2$s%3$s=default or "
                                     "%1$s%2$s%3$s.count=N adds one"
                                   : "the machine has no %1$s%2$s%3$s%4$s %1$s%2$s%3$s=default adds one",
                        prefix, *prefix ? "." : "", role->name, *hint ? hint : ";");
        return true;
    }
    return false;
}

/* Reports that `rest` names a copy with a number beyond the count. False if it does not. */
static bool is_beyond(const struct instance *instance, const char *rest, struct error *err)
{
    size_t length = name_length(rest);
    for (const struct instance *below = instance->first; below; below = below->next) {
        const char *tail = rest + length + 1;
        if (below->index < 0 || strlen(below->name) != length || strncmp(below->name, rest, length) != 0 ||
            rest[length] != '.' || !name_is_index(tail) || *tail == '*' ||
            strtoul(tail, NULL, 10) < below->copies)
            continue;
        (void)error_set(err, "the machine has no %s%s%.*s: %s.count is %u, and copies are numbered from 0",
                        instance->path, *instance->path ? "." : "", (int)(length + 1 + name_length(tail)),
                        rest, below->name, below->copies);
        return true;
    }
    return false;
}

/* Returns whether the setting is that of a part: a mapping, or a key below. */
static bool is_part(const struct tree *tree, const char *name, const char *rest)
{
    for (unsigned i = 0; i < tree->setting_count; i++)
        if (tree->settings[i].pattern == name && !tree->settings[i].value)
            return true;
    return strchr(rest, '.') != NULL;
}

/* Finds the custom part below the parent whose name is nearest to the first component of `rest`, the end of
 * `name`. Writes `name` to `near`, with that component corrected. NULL when none is near. */
static const char *nearest_part(const struct instance *parent, const char *name, const char *rest,
                                char near[TREE_NAME])
{
    char part[TREE_NAME];
    size_t count = 0;
    (void)snprintf(part, sizeof part, "%.*s", (int)name_length(rest), rest);
    for (const struct instance *i = parent->first; i; i = i->next)
        count++;
    const char **names = alloc(count + 1, sizeof *names), *found;
    count = 0;
    for (const struct instance *i = parent->first; i; i = i->next)
        if (!i->role && i->index <= 0)
            names[count++] = i->name;
    found = nearest_name(part, names, count);
    if (found)
        (void)snprintf(near, TREE_NAME, "%.*s%s%s", (int)(rest - name), name, found, rest + strlen(part));
    free(names);
    return found ? near : NULL;
}

/* Writes that a custom part needs a kind. */
static void explain_kindless(const struct tree *tree, const char *rest, char text[TREE_KINDS + TREE_NAME])
{
    char part[TREE_NAME], kinds[TREE_KINDS];
    struct nearest_hint ignored;
    (void)snprintf(part, sizeof part, "%.*s", (int)name_length(rest), rest);
    tree_kinds(tree, part, kinds, &ignored);
    if (tree_kind(tree, part))
        (void)snprintf(text, TREE_KINDS + TREE_NAME,
                       "; a part of that name needs its kind, such as kind: %s; known ", part);
    else
        (void)snprintf(text, TREE_KINDS + TREE_NAME,
                       "; a part of that name needs its kind, one of %s; known ", kinds);
}

bool tree_unknown(const struct tree *tree, const char *name, struct error *err)
{
    char keys[768], plain[TREE_NAME];
    const char *rest = name;
    const struct instance *instance = walk_to(tree->root, name, &rest);
    struct name_list list = {NULL, 0};
    plain_name(name, plain);
    bool free_name = !*instance->path;
    if (renames_explain(plain, err) || (free_name && renames_moved(plain, err)) ||
        is_beyond(instance, rest, err) || is_absent(tree, instance, rest, err))
        return false;
    collect(&list, tree->root->kind, "");
    add_name(&list, "", "extends");
    bool known = !strchr(rest, '.') && *instance->path;
    const struct instance *shown = strchr(rest, '.') ? tree->root : instance;
    char near[TREE_NAME], hint[TREE_KINDS + TREE_NAME] = "; known ";
    bool kindless = instance->kind->open && is_part(tree, name, rest);
    const char *meant = kindless ? nearest_part(instance, name, rest, near) : NULL;
    if (!meant && known && nearest_field(instance->kind, name, rest, near) &&
        strncmp(near, name, strlen(name)) == 0)
        meant = near; /* the beginning of a name of this part */
    if (!meant)
        meant = meant_by(&list, plain, known);
    if (!meant && known)
        meant = nearest_field(instance->kind, name, rest, near);
    if (meant)
        (void)snprintf(hint, sizeof hint, "; did you mean %s? Known ", text_quote(meant).text);
    else if (kindless)
        explain_kindless(tree, rest, hint);
    kind_members(shown->kind, shown->role, keys, sizeof keys);
    (void)error_set(err, "unknown key %s%s%s%s: %s", text_quote(name).text, hint,
                    *shown->path ? "in " : "at the top", shown->path, keys);
    for (size_t i = 0; i < list.count; i++)
        free(list.names[i]);
    free(list.names);
    return false;
}
