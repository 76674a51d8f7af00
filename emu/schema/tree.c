#include "emu/schema/tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/schema/match.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text.h"

enum { UNDER_WAY = 1, RESOLVED };

struct instance *tree_root(const struct tree *tree)
{
    return tree->root;
}

/* Returns the next instance in tree order, including absent ones. `below`: visit the instance's children
 * first. */
static struct instance *next_of(const struct instance *instance, bool below)
{
    if (below && instance->first)
        return instance->first;
    while (instance && !instance->next)
        instance = instance->parent;
    return instance ? instance->next : NULL;
}

struct instance *tree_next(const struct tree *tree, const struct instance *instance)
{
    struct instance *next = instance ? next_of(instance, true) : tree->root;
    while (next && next->absent)
        next = next_of(next, false);
    return next;
}

static struct instance *find_below(const struct instance *instance, const char *path)
{
    if (!*path)
        return (struct instance *)(uintptr_t)instance;
    for (const struct instance *below = instance->first; below; below = below->next) {
        size_t length = name_length(path);
        if (below->absent || strlen(below->name) != length || strncmp(below->name, path, length) != 0)
            continue;
        const char *rest = path + length + (path[length] == '.');
        if (below->index >= 0 && name_is_index(rest)) {
            if (strtoul(rest, NULL, 10) != (unsigned long)below->index)
                continue;
            rest += name_length(rest);
            rest += *rest == '.';
        } else if (below->index > 0) {
            continue;
        }
        return find_below(below, rest);
    }
    return NULL;
}

struct instance *tree_find(const struct tree *tree, const char *path)
{
    return find_below(tree->root, path);
}

const struct instance *tree_below(const struct instance *instance, const struct part_kind *kind)
{
    for (const struct instance *i = instance->first; i; i = i->next)
        if (!i->absent && i->kind == kind)
            return i;
    return NULL;
}

const void **tree_configs_below(const struct instance *instance)
{
    const struct part_role *roles = instance->kind->roles;
    size_t count = 0;
    while (roles && roles[count].name)
        count++;
    const void **configs = alloc(count + 1, sizeof *configs);
    for (size_t i = 0; i < count; i++) {
        for (const struct instance *part = instance->first; part; part = part->next)
            if (part->role == &roles[i] && !part->absent)
                configs[i] = part->config;
    }
    return configs;
}

const void *tree_config(const struct tree *tree, const char *path)
{
    const struct instance *instance = tree_find(tree, path);
    return instance ? instance->config : NULL;
}

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
        if (tree->settings[i].matched)
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
    struct instance *from = find_below(instance->parent, dot ? part : "");
    int index = from ? part_field_find(from->kind, dot ? dot + 1 : part) : -1;
    if (index < 0)
        return error_set(err, "%s.%s defaults to %s, which this machine lacks; set a value", instance->path,
                         field->name, path);
    if (!resolve(tree, from, err))
        return false;
    field_put(field, instance->config, field_number(&from->kind->fields[index], from->config));
    return true;
}

static const struct part_default *role_default(const struct instance *instance, const char *field)
{
    const struct part_default *d = instance->role ? instance->role->defaults : NULL;
    for (; d && d->field; d++)
        if (strcmp(d->field, field) == 0)
            return d;
    return NULL;
}

/* Sets the fields that the description does not set to their defaults for the variant. settled[field] tells
 * derive() which fields it must keep. */
static bool set_defaults(struct tree *tree, struct instance *instance, unsigned variant, bool *settled,
                         struct error *err)
{
    for (size_t i = 0; i < instance->kind->field_count; i++) {
        const struct part_field *field = &instance->kind->fields[i];
        const struct part_default *role = role_default(instance, field->name);
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
    for (struct instance *i = tree->root; i; i = next_of(i, true))
        if (!resolve(tree, i, err))
            return false;
    return true;
}

/* Writes the name for messages: the winning setting's pattern, or the path without copy numbers. */
static void shown_name(const struct tree *tree, const struct instance *instance, const char *field,
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
    const struct part_default *role = role_default(instance, f->name);
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
    for (const struct instance *i = tree->root; i; i = next_of(i, true)) {
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
    shown_name(tree, instance, field, winner, name);
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

/* Gives a field of a configuration the value that it has without its winning setting: that of an earlier setting, or the
 * default. False if there is none, so that derive() sets it. */
static bool take_back(const struct tree *tree, const struct instance *instance, unsigned index, void *config)
{
    const struct part_field *field = &instance->kind->fields[index];
    const struct part_default *role = role_default(instance, field->name);
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
        settled[i] = instance->given[i] || role_default(instance, kind->fields[i].name);
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
    shown_name(tree, instance, instance->kind->fields[field].name, instance->winner[field], name);
    shown_name(tree, instance, instance->kind->fields[other].name, instance->winner[other], cause);
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
    shown_name(tree, instance, "", 0, name);
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
    for (struct instance *i = tree->root; i; i = next_of(i, true))
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
    const struct part_default *role = role_default(instance, field->name);
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
    for (const struct instance *i = tree->root; i; i = next_of(i, true)) {
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
