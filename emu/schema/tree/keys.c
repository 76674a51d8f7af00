/* Lists the keys that a setting can change. */
#include <string.h>

#include "emu/schema/dotted.h"
#include "emu/schema/tree/state.h"

struct lister {
    void (*each)(void *context, const struct tree_key *key);
    void *context;
};

/* Calls each() with the key `name` of the part whose path, without numbers, is `prefix`. */
static void give(const struct lister *lister, const char *prefix, const char *name, struct tree_key key)
{
    char whole[2 * TREE_NAME];
    (void)snprintf(whole, sizeof whole, "%s%s%s", prefix, *prefix ? "." : "", name);
    key.name = whole;
    lister->each(lister->context, &key);
}

/* Writes a path without the numbers of copies. Returns false if it leads through a copy other than the first. */
static bool first_copy(const char *path, char plain[TREE_NAME])
{
    bool first = true;
    plain[0] = '\0';
    for (; *path; path = name_behind(path)) {
        const size_t used = strlen(plain);
        if (!name_is_index(path))
            (void)snprintf(plain + used, TREE_NAME - used, "%s%.*s", used ? "." : "", (int)name_length(path),
                           path);
        else
            first = first && name_begins(path, "0");
    }
    return first;
}

/* Lists the roles that may have copies, and those without a part, which `default` adds. */
static void list_roles(const struct lister *lister, const struct instance *part, const char *prefix)
{
    for (const struct part_role *role = part->kind->roles; role && role->name; role++) {
        char count[TREE_NAME];
        bool there = false;
        for (const struct instance *below = part->first; below; below = below->next)
            there = there || (below->role == role && !below->absent);
        if (!there)
            give(lister, prefix, role->name, (struct tree_key){.adds = true, .meaning = role->explanation});
        (void)snprintf(count, sizeof count, "%s.count", role->name);
        if (role->many)
            give(lister, prefix, count, (struct tree_key){.meaning = role->counts});
    }
}

void tree_keys(const struct tree *tree, void (*each)(void *context, const struct tree_key *key),
               void *context)
{
    const struct lister lister = {each, context};
    for (const struct instance *part = tree_next(tree, NULL); part; part = tree_next(tree, part)) {
        char prefix[TREE_NAME], value[FIELD_VALUE];
        if (!first_copy(part->path, prefix))
            continue;
        if (!part->role && part->index >= 0)
            give(&lister, prefix, "count",
                 (struct tree_key){.meaning = "Number of copies of this part and everything below it."});
        for (size_t i = 0; i < part->kind->field_count; i++) {
            const struct part_field *field = &part->kind->fields[i];
            field_format(field, part->config, value);
            give(&lister, prefix, field->name,
                 (struct tree_key){.field = field, .value = value, .meaning = field->explanation});
        }
        for (const struct part_port *port = part->kind->ports; port && port->name; port++)
            give(&lister, prefix, port->name, (struct tree_key){.meaning = port->explanation});
        list_roles(&lister, part, prefix);
    }
}
