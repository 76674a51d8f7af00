#include "emu/schema/tree.h"

#include <stdlib.h>
#include <string.h>

#include "emu/schema/tree/match.h"
#include "emu/schema/tree/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/text.h"

enum { UNDER_WAY = 1, RESOLVED };

static int port_find(const struct part_kind *kind, const char *name)
{
    for (int i = 0; kind->ports && kind->ports[i].name; i++)
        if (strcmp(kind->ports[i].name, name) == 0)
            return i;
    return -1;
}

/* Stores a setting's text in a field. */
static bool apply_field(struct tree *tree, struct instance *instance, int index, unsigned number,
                        struct error *err)
{
    const struct setting *setting = &tree->settings[number];
    const struct part_field *field = &instance->kind->fields[index];
    if (!setting->value) {
        (void)error_set(err, "%s takes one value, not a mapping", setting->pattern);
        return tree_at_setting(tree, number, err);
    }
    instance->given[index] = strcmp(setting->value, "auto") != 0 || !field_has_auto(field);
    instance->winner[index] = instance->given[index] ? number + 1 : 0;
    if (!instance->given[index] || field_set(field, instance->config, setting->value, err))
        return true;
    if (strncmp(err->text, field->name, strlen(field->name)) ==
        0) { /* replace the field's name by the pattern */
        struct error message = *err;
        (void)error_set(err, "%s%s", setting->pattern, message.text + strlen(field->name));
    }
    return tree_at_setting(tree, number, err);
}

/* Applies a setting to the part itself. `rest` is the setting's name relative to the part. False with err set
 * if a field does not take the value. */
static bool apply(struct tree *tree, struct instance *instance, const char *rest, unsigned number,
                  struct error *err)
{
    struct setting *setting = &tree->settings[number];
    int field = part_field_find(instance->kind, rest), port = port_find(instance->kind, rest);
    if (field >= 0) {
        setting->matched = true;
        return apply_field(tree, instance, field, number, err);
    }
    if (port >= 0 && setting->value) {
        setting->matched = true;
        bool is_auto = strcmp(setting->value, "auto") == 0;
        instance->references[port] = is_auto ? NULL : setting->value;
        instance->reference_setting[port] = is_auto ? 0 : number + 1;
        return true;
    }
    for (const struct part_section *section = instance->kind->sections; section && section->prefix; section++)
        if (strcmp(section->prefix, rest) == 0 && !setting->value)
            setting->matched = true;
    return true;
}

/* The first setting that a field does not take. */
struct fault {
    unsigned number; /* UINT32_MAX: none */
    struct error message;
};

/* Applies its settings to the part and those below it. */
static void apply_below(struct tree *tree, struct instance *instance, const struct matches *above,
                        struct fault *fault)
{
    struct matches matches = above ? matches_within(above, instance) : matches_all(tree);
    for (size_t i = 0; i < matches.count; i++) {
        const struct match *match = &matches.items[i];
        struct error message;
        if (match->number < instance->since) /* `none` has cancelled it */
            continue;
        if (!apply(tree, instance, match->rest, match->number, &message) && match->number < fault->number)
            *fault = (struct fault){match->number, message};
    }
    for (struct instance *below = instance->first; below; below = below->next)
        apply_below(tree, below, &matches, fault);
    matches_free(&matches);
}

/* Returns whether the machine has one of the names of which the setting's is one. */
static bool is_matched(const struct tree *tree, unsigned number)
{
    unsigned first = tree->settings[number].first;
    for (unsigned i = first; i < tree->setting_count && tree->settings[i].first == first; i++)
        if (tree->settings[i].matched)
            return true;
    return false;
}

/* Applies all settings. A setting is also used if it names a section of fields or if expansion has read it;
 * any other unmatched setting is an error. Reports the first error in the order of settings. */
static bool apply_all(struct tree *tree, struct error *err)
{
    struct fault fault = {.number = UINT32_MAX};
    apply_below(tree, tree->root, NULL, &fault);
    for (unsigned i = 0; i < tree->setting_count; i++) {
        if (i == fault.number) {
            *err = fault.message;
            return false;
        }
        if (is_matched(tree, i))
            continue;
        (void)tree_unknown(tree, tree->settings[i].pattern, err);
        return tree_at_setting(tree, i, err);
    }
    return true;
}

static bool resolve(struct tree *tree, struct instance *instance, struct error *err);

/* Copies a field of another part. The path is relative to the parent: "@host.0.clock". */
static bool copy_field(struct tree *tree, struct instance *instance, const struct part_field *field,
                       const char *path, struct error *err)
{
    char part[TREE_NAME];
    (void)snprintf(part, sizeof part, "%s", path);
    char *dot = strrchr(part, '.');
    if (dot)
        *dot = '\0';
    struct instance *from = tree_find_below(instance->parent, dot ? part : "");
    int index = from ? part_field_find(from->kind, dot ? dot + 1 : part) : -1;
    if (index < 0)
        return error_set(err, "%s.%s defaults to %s, which this machine lacks; set a value", instance->path,
                         field->name, path);
    if (!resolve(tree, from, err))
        return false;
    field_put(field, instance->config, field_number(&from->kind->fields[index], from->config));
    return true;
}

/* Sets the fields that the description does not set to their defaults for the variant. settled[field] tells
 * derive() which fields it must keep. */
static bool set_defaults(struct tree *tree, struct instance *instance, unsigned variant, bool *settled,
                         struct error *err)
{
    for (size_t i = 0; i < instance->kind->field_count; i++) {
        const struct part_field *field = &instance->kind->fields[i];
        const struct part_default *role = tree_role_default(instance, field->name);
        const char *text = role ? role->value : field->initial[variant];
        settled[i] = instance->given[i] || role;
        if (instance->given[i] || !text)
            continue;
        if (*text == '@' && field->type != FIELD_TEXT) {
            if (!copy_field(tree, instance, field, text + 1, err))
                return false;
        } else if (!field_set(field, instance->config, text, err)) {
            return error_prefix(err, "default of %s", instance->path);
        }
    }
    return true;
}

static bool resolve(struct tree *tree, struct instance *instance, struct error *err)
{
    const struct part_kind *kind = instance->kind;
    if (instance->resolved == RESOLVED)
        return true;
    if (instance->resolved == UNDER_WAY)
        return error_set(err, "%s: its defaults depend on themselves through other parts", instance->path);
    instance->resolved = UNDER_WAY;
    bool *settled = alloc(kind->field_count + 1, sizeof *settled);
    bool fine = set_defaults(tree, instance, 0, settled, err);
    unsigned variant = fine ? part_variant(kind, instance->config) : 0;
    fine = fine && (variant == 0 || set_defaults(tree, instance, variant, settled, err));
    if (fine && kind->derive)
        kind->derive(instance->config, settled);
    if (fine && kind->number && instance->index >= 0)
        kind->number(instance->config, (unsigned)instance->index, settled);
    free(settled);
    instance->resolved = RESOLVED;
    return fine;
}

static bool resolve_all(struct tree *tree, struct error *err)
{
    for (struct instance *i = tree->root; i; i = tree_next_of(i, true))
        if (!resolve(tree, i, err))
            return false;
    return true;
}

/* Gives a field of a configuration the value that it has without its winning setting: that of an earlier setting, or the
 * default. False if there is none, so that derive() sets it. */
static bool take_back(const struct tree *tree, const struct instance *instance, unsigned index, void *config)
{
    const struct part_field *field = &instance->kind->fields[index];
    const struct part_default *role = tree_role_default(instance, field->name);
    const char *text =
        role && *role->value != '@' ? role->value : field->initial[part_variant(instance->kind, config)];
    struct error ignored;
    for (unsigned i = instance->winner[index] - 1; i-- > instance->since;) {
        const struct setting *setting = &tree->settings[i];
        const char *rest = setting->value ? pattern_within(setting->pattern, instance) : NULL;
        if (!rest || strcmp(rest, field->name) != 0)
            continue;
        if (strcmp(setting->value, "auto") != 0 || !field_has_auto(field))
            return field_set(field, config, setting->value, &ignored);
        break;
    }
    return text && field_set(field, config, text, &ignored);
}

/* Returns whether the part passes its check without the winning setting of a field. */
static bool passes_without(const struct tree *tree, const struct instance *instance, unsigned index)
{
    const struct part_kind *kind = instance->kind;
    bool *settled = alloc(kind->field_count + 1, sizeof *settled);
    void *config = alloc(1, kind->config_size);
    struct error ignored;
    memcpy(config, instance->config, kind->config_size);
    for (unsigned i = 0; i < kind->field_count; i++)
        settled[i] = instance->given[i] || tree_role_default(instance, kind->fields[i].name);
    settled[index] = take_back(tree, instance, index, config);
    if (kind->derive)
        kind->derive(config, settled);
    bool passes = part_check(kind, config, &ignored);
    free(config);
    free(settled);
    return passes;
}

/* Returns the field whose setting makes the part fail its check, if the check's message names `field`. It is
 * the field with the latest setting without which the part passes the check; that setting must be in a file
 * that inherits the setting of `field`, or anywhere if `field` is not set. If there is none, returns
 * `field`. */
static unsigned culprit(const struct tree *tree, const struct instance *instance, unsigned field)
{
    const unsigned *winner = instance->winner;
    unsigned latest = field;
    for (unsigned i = 0; i < instance->kind->field_count; i++) {
        if (winner[i] <= winner[latest])
            continue;
        bool inherits = !winner[field] || (tree->settings[winner[i] - 1].file != SETTING_OPTION &&
                                           !tree_same_file(tree, winner[i], winner[field]));
        if (inherits && passes_without(tree, instance, i))
            latest = i;
    }
    return latest;
}

/* Adds the origin to the message about a field of a part: the setting of the field, or that of another field to which it
 * does not fit. Returns false. */
static bool at_field(const struct tree *tree, const struct instance *instance, unsigned field,
                     struct error *err)
{
    unsigned other = culprit(tree, instance, field);
    char name[TREE_NAME], cause[TREE_NAME], source[TREE_SOURCE], origin[TREE_SOURCE];
    struct error message = *err;
    if (other == field)
        return tree_at(tree, instance, instance->kind->fields[field].name, err);
    tree_shown_name(tree, instance, instance->kind->fields[field].name, instance->winner[field], name);
    tree_shown_name(tree, instance, instance->kind->fields[other].name, instance->winner[other], cause);
    tree_source(tree, instance, field, source);
    tree_setting_source(tree, instance->winner[other], origin);
    return error_set(err, "%s: %s does not fit %s: %s (%s: %s)", origin, cause, name, message.text, name,
                     source);
}

/* Adds the origin to a part's message. Such a message begins with a field's name, or concerns the whole
 * part. */
static bool at_part(const struct tree *tree, const struct instance *instance, struct error *err)
{
    char field[64], name[TREE_NAME];
    struct error message = *err;
    size_t length = strcspn(message.text, ":");
    (void)snprintf(field, sizeof field, "%.*s", length < 63 ? (int)length : 63, message.text);
    int index = part_field_find(instance->kind, field);
    if (message.text[length] == ':' && index >= 0) {
        (void)error_set(err, "%s", message.text + length + strspn(message.text + length, ": "));
        return at_field(tree, instance, (unsigned)index, err);
    }
    tree_shown_name(tree, instance, "", 0, name);
    return *name ? error_prefix(err, "%s", name) : false;
}

static bool check_all(const struct tree *tree, struct error *err)
{
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (!part_check(i->kind, i->config, err))
            return at_part(tree, i, err);
    return true;
}

/* Removes the parts that only timed cores need. */
static void drop_implied(struct tree *tree)
{
    if (tree->options.timed(tree))
        return;
    for (struct instance *i = tree->root; i; i = tree_next_of(i, true))
        i->absent = i->absent || i->implied || (i->parent && i->parent->absent);
}

/* Numbers the parts and lists what is below each. */
static void index_parts(struct tree *tree)
{
    unsigned number = 0;
    for (struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        size_t count = 0;
        i->number = number++;
        for (const struct instance *below = i->first; below; below = below->next)
            count++;
        i->below = alloc(count + 1, sizeof(struct instance *));
        count = 0;
        for (struct instance *below = i->first; below; below = below->next)
            i->below[count++] = below;
    }
}

/* Names the machine after its file if the description sets no name. */
static void name_by_file(struct tree *tree)
{
    int index = part_field_find(tree->root->kind, "name");
    const char *path = tree->files[0].path;
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    if (index < 0 || tree->root->given[index])
        return;
    if (length >= 5 && strcmp(base + length - 5, ".yaml") == 0)
        length -= 5;
    char *name = (char *)tree->root->config + tree->root->kind->fields[index].offset;
    (void)snprintf(name, tree->root->kind->fields[index].size, "%.*s", (int)(length < 250 ? length : 250),
                   base);
    if (!text_printable(name))
        strcpy(name, "unnamed");
}

static bool load(struct tree *tree, struct error *err)
{
    if (!settings_read(tree, err) || !tree_expand(tree, err) || !apply_all(tree, err) ||
        !resolve_all(tree, err))
        return false;
    name_by_file(tree);
    drop_implied(tree);
    index_parts(tree);
    return !tree->options.timed(tree) || check_all(tree, err);
}

struct tree *tree_load(const struct tree_options *options, struct error *err)
{
    struct tree *tree = alloc(1, sizeof *tree);
    tree->options = *options;
    if (load(tree, err))
        return tree;
    tree_free(tree);
    return NULL;
}

static void free_below(struct instance *instance)
{
    if (!instance)
        return;
    for (struct instance *below = instance->first, *next; below; below = next) {
        next = below->next;
        free_below(below);
    }
    free(instance->name);
    free(instance->path);
    free(instance->config);
    free(instance->given);
    free(instance->winner);
    free(instance->references);
    free(instance->reference_setting);
    free(instance->below);
    free(instance);
}

void tree_free(struct tree *tree)
{
    if (!tree)
        return;
    free_below(tree->root);
    for (unsigned i = 0; i < tree->setting_count; i++) {
        free(tree->settings[i].pattern);
        free(tree->settings[i].value);
    }
    free(tree->settings);
    for (unsigned i = 0; i < tree->file_count; i++)
        free(tree->files[i].path);
    free(tree);
}
