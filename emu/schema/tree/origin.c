/* Where the values of a description come from: files, options and defaults. */
#include <stdio.h>
#include <string.h>

#include "emu/schema/dotted.h"
#include "emu/schema/tree/match.h"
#include "emu/schema/tree/state.h"

const struct part_default *tree_role_default(const struct instance *instance, const char *field)
{
    const struct part_default *d = instance->role ? instance->role->defaults : NULL;
    for (; d && d->field; d++)
        if (strcmp(d->field, field) == 0)
            return d;
    return NULL;
}

void tree_shown_name(const struct tree *tree, const struct instance *instance, const char *field,
                     unsigned winner, char name[TREE_NAME])
{
    const char *path = instance->path;
    if (winner) {
        (void)snprintf(name, TREE_NAME, "%s", tree->settings[winner - 1].pattern);
        return;
    }
    name[0] = '\0';
    while (*path) {
        size_t length = name_length(path), used = strlen(name);
        if (!name_is_index(path))
            (void)snprintf(name + used, TREE_NAME - used, "%s%.*s", used ? "." : "", (int)length, path);
        path += length + (path[length] == '.');
    }
    size_t used = strlen(name);
    (void)snprintf(name + used, TREE_NAME - used, "%s%s", used && *field ? "." : "", field);
}

bool tree_at_setting(const struct tree *tree, unsigned setting, struct error *err)
{
    const struct setting *s = &tree->settings[setting];
    if (s->file == SETTING_OPTION)
        return error_prefix(err, "--set");
    return error_prefix(err, "%s:%u", tree->files[s->file].path, s->line);
}

void tree_setting_source(const struct tree *tree, unsigned winner, char buffer[TREE_SOURCE])
{
    const struct setting *setting = &tree->settings[winner - 1];
    if (setting->file == SETTING_OPTION) {
        strcpy(buffer, "--set");
        return;
    }
    const struct tree_file *file = &tree->files[setting->file];
    const char *slash = file->shipped ? strrchr(file->path, '/') : NULL;
    (void)snprintf(buffer, TREE_SOURCE, "%.400s:%u", slash ? slash + 1 : file->path, setting->line);
    for (char *c = buffer; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?'; /* keep it on one line of a comment or message */
}

void tree_source(const struct tree *tree, const struct instance *instance, unsigned field,
                 char buffer[TREE_SOURCE])
{
    const struct part_kind *kind = instance->kind;
    const struct part_field *f = &kind->fields[field];
    const struct part_default *role = tree_role_default(instance, f->name);
    if (instance->winner[field]) {
        tree_setting_source(tree, instance->winner[field], buffer);
        return;
    }
    unsigned variant = part_variant(kind, instance->config);
    const char *source = role && *role->source ? role->source : f->source[variant];
    bool follows = role ? *role->value == '@' : !f->initial[variant];
    if (follows && !role && kind->note)
        kind->note(instance->config, f, buffer, TREE_SOURCE);
    else if (follows && *source)
        (void)snprintf(buffer, TREE_SOURCE, "%s", source);
    else
        (void)snprintf(buffer, TREE_SOURCE, "default%s%s", *source ? ": " : "", source);
}

void tree_count_source(const struct tree *tree, const struct instance *instance, char buffer[TREE_SOURCE])
{
    if (instance->count_setting)
        tree_setting_source(tree, instance->count_setting, buffer);
    else
        strcpy(buffer, "default");
}

void tree_source_of(const struct tree *tree, const char *name, char buffer[TREE_SOURCE])
{
    for (const struct instance *i = tree->root; i; i = tree_next_of(i, true)) {
        const char *rest = pattern_within(name, i);
        int field = rest ? part_field_find(i->kind, rest) : -1;
        if (field >= 0) {
            tree_source(tree, i, (unsigned)field, buffer);
            return;
        }
        if (rest && strcmp(rest, "count") == 0) {
            tree_count_source(tree, i, buffer);
            return;
        }
    }
    strcpy(buffer, "default");
}

bool tree_at(const struct tree *tree, const struct instance *instance, const char *field, struct error *err)
{
    char name[TREE_NAME], source[TREE_SOURCE];
    int index = part_field_find(instance->kind, field);
    unsigned winner = index >= 0                    ? instance->winner[index]
                      : strcmp(field, "count") == 0 ? instance->count_setting
                                                    : 0;
    tree_shown_name(tree, instance, field, winner, name);
    (void)error_prefix(err, "%s", name);
    if (winner)
        tree_setting_source(tree, winner, source);
    else if (index >= 0)
        tree_source(tree, instance, (unsigned)index, source);
    else
        return false;
    return error_prefix(err, "%s", source);
}

/* Returns the number of the part's first setting or, if it has none, of that of its nearest ancestor with a
 * setting, counted from 1; 0: there is none. */
static unsigned first_setting(const struct tree *tree, const struct instance *instance)
{
    for (; instance->parent; instance = instance->parent)
        for (unsigned i = instance->since; i < tree->setting_count; i++)
            if (pattern_within(tree->settings[i].pattern, instance))
                return i + 1;
    return 0;
}

bool tree_same_file(const struct tree *tree, unsigned one, unsigned other)
{
    return one && other ? tree->settings[one - 1].file == tree->settings[other - 1].file : one == other;
}

bool tree_at_part(const struct tree *tree, const struct instance *instance, struct error *err)
{
    unsigned first = first_setting(tree, instance);
    if (first > 0)
        return tree_at_setting(tree, first - 1, err);
    return tree->file_count ? error_prefix(err, "%s", tree->files[tree->file_count - 1].path) : false;
}

bool tree_at_parts(const struct tree *tree, const struct instance *one, const struct instance *other,
                   struct error *err)
{
    return tree_at_part(tree, first_setting(tree, one) > first_setting(tree, other) ? one : other, err);
}
