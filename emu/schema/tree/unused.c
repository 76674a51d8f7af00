/* Finds the settings that have no effect on a machine. */
#include <stdlib.h>
#include <string.h>

#include "emu/schema/tree/state.h"
#include "emu/sim/alloc.h"

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* Returns true if the field has an effect on this machine. */
static bool is_used(const struct tree *tree, const struct instance *instance, const struct part_field *field)
{
    const char *functional = instance->kind->functional;
    if (instance->absent || !part_field_used(instance->kind, field, instance->config))
        return false;
    return tree->options.timed(tree) || !functional || has_word(functional, field->name);
}

/* Returns true if the field has the value that the kind derives for it. */
static bool is_derived(const struct instance *instance, const struct part_field *field)
{
    const struct part_kind *kind = instance->kind;
    unsigned char *plain = alloc(1, kind->config_size);
    bool *given = alloc(kind->field_count, sizeof *given);
    memcpy(plain, instance->config, kind->config_size);
    for (size_t i = 0; i < kind->field_count; i++)
        given[i] = &kind->fields[i] != field;
    kind->derive(plain, given);
    bool same =
        memcmp(plain + field->offset, (const char *)instance->config + field->offset, field->size) == 0;
    free(given);
    free(plain);
    return same;
}

/* Returns true if the field's value equals its default. */
static bool is_default(const struct instance *instance, const struct part_field *field)
{
    struct error ignored;
    const struct part_default *role = tree_role_default(instance, field->name);
    const char *text = role ? role->value : field->initial[part_variant(instance->kind, instance->config)];
    if (!text && instance->kind->derive)
        return is_derived(instance, field);
    void *plain = alloc(1, instance->kind->config_size);
    bool same = text && *text != '@' && field_set(field, plain, text, &ignored) &&
                memcmp((const char *)plain + field->offset, (const char *)instance->config + field->offset,
                       field->size) == 0;
    free(plain);
    return same;
}

/* Returns true if the setting affects only fields and counts without effect on this machine. */
static bool is_idle(const struct tree *tree, unsigned number)
{
    bool idle = false;
    for (const struct instance *i = tree->root; i; i = tree_next_of(i, true)) {
        if (i->count_setting == number) {
            if (!i->role || !i->kind->functional || tree->options.timed(tree))
                return false;
            idle = true;
        }
        for (size_t field = 0; field < i->kind->field_count; field++) {
            if (i->winner[field] != number)
                continue;
            if (is_used(tree, i, &i->kind->fields[field]) || is_default(i, &i->kind->fields[field]))
                return false;
            idle = true;
        }
    }
    return idle;
}

size_t tree_unused(const struct tree *tree, const char **names, size_t room)
{
    size_t count = 0;
    for (unsigned number = 1; number <= tree->setting_count; number++)
        if (is_idle(tree, number) && count++ < room)
            names[count - 1] = tree->settings[number - 1].pattern;
    return count;
}
