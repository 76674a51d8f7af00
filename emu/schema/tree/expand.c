/* Creates the parts of a description: parts in roles, custom parts, and their copies. */
#include <stdlib.h>
#include <string.h>

#include "emu/schema/dotted.h"
#include "emu/schema/tree/kinds.h"
#include "emu/schema/tree/match.h"
#include "emu/schema/tree/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"
#include "emu/sim/text/text.h"

enum {
    PARTS_MAX = 65536, /* parts of one machine */
    DEPTH_MAX = 16,
};

/* Limits parts * settings, and so loading to a few seconds of host time, because each part examines each
 * setting. */
static const uint64_t looks_most = UINT64_C(1) << 28;

/* What the settings say about one part of a parent. */
struct mention {
    const char *name;
    const char *kind;      /* value of its key `kind`, as written; NULL: none */
    unsigned kind_setting; /* the setting of `kind`, counted from 1 */
    const char *count;     /* value of its key `count`, as written; NULL: none */
    unsigned count_setting;
    unsigned since; /* `none` cancels the settings before this one */
    bool present, removed;
    bool pattern; /* a count is set by the name `*` */
};

/* Returns true if a setting of a part of this kind can have the name. NULL: the kind is unknown. */
static bool can_have(const struct part_kind *kind, const char *name)
{
    if (!kind || *name == '\0' || kind_has_key(kind, name))
        return true;
    for (const struct part_role *role = kind->roles; role && role->name; role++) {
        const char *tail = name_behind(name);
        if (name_begins(name, role->name))
            return (role->many && strcmp(tail, "count") == 0) ||
                   can_have(role->kind, name_is_index(tail) ? name_behind(tail) : tail);
    }
    return kind->open && *name_behind(name); /* of a custom part */
}

/* Marks the settings of a part that `none` removes as used, so that they are not reported as unknown keys.
 * They are those from mention->since to before `number` that match the part and that its kind can have. */
static void forget(const struct tree *tree, const struct instance *parent, const struct mention *mention,
                   const struct part_role *role, unsigned number)
{
    const struct part_kind *kind = role ? role->kind : mention->kind ? tree_kind(tree, mention->kind) : NULL;
    struct match_walk walk = match_walk(parent->matches, mention->name);
    for (const struct match *match; (match = match_next(&walk)) != NULL && match->number < number;) {
        struct setting *setting = &tree->settings[match->number];
        const char *tail = name_behind(match->rest);
        if (match->number < mention->since)
            continue;
        bool counts = strcmp(tail, "count") == 0 && (!role || role->many);
        tail = name_is_index(tail) ? name_behind(tail) : tail;
        setting->matched = setting->matched || counts || (*tail && can_have(kind, tail));
    }
}

/* Reads one setting of the part; `tail` is the setting's name without the part's name. */
static bool read_mention(const struct tree *tree, struct mention *mention, unsigned number, const char *tail,
                         const struct part_role *role, const struct instance *parent, struct error *err)
{
    struct setting *setting = &tree->settings[number];
    const char *value = setting->value;
    bool countable = !role || role->many;
    if (*tail == '\0') {
        setting->matched = true;
        mention->present = !value || !*value || strcmp(value, "default") == 0;
        if (value && strcmp(value, "none") == 0) {
            forget(tree, parent, mention, role, number);
            mention->removed = true;
            mention->since = number + 1;
            mention->count = mention->kind = NULL;
            mention->count_setting = mention->kind_setting = 0;
            return true;
        }
        if (mention->present) {
            mention->removed = false;
            return true;
        }
        (void)tree_not_a_value(role ? role->kind : parent->kind, setting->pattern, err);
        return tree_at_setting(tree, number, err);
    }
    bool counts = strcmp(tail, "count") == 0 && (countable || part_field_find(role->kind, tail) >= 0);
    if (value && counts && !countable) {
        mention->present = true; /* `count` is a field of the part: it makes no copies */
        mention->removed = false;
    }
    if (value && countable && counts) {
        setting->matched = true;
        mention->count = value;
        mention->count_setting = number + 1;
        mention->present = true;
        mention->removed = false;
    }
    if (value && !role && strcmp(tail, "kind") == 0) {
        setting->matched = true;
        mention->kind = value;
        mention->kind_setting = number + 1;
    }
    return true;
}

/* Returns true if the setting is the count of all parts; `rest` is its name below their parent. */
static bool is_any_count(const struct setting *setting, const char *rest)
{
    return setting->value && strcmp(rest, "*.count") == 0;
}

static bool find_mention(const struct tree *tree, const struct instance *parent, const struct part_role *role,
                         const char *name, struct mention *mention, struct error *err)
{
    *mention = (struct mention){.name = name, .since = parent->since};
    struct match_walk walk = match_walk(parent->matches, name);
    for (const struct match *match; (match = match_next(&walk)) != NULL;) {
        unsigned i = match->number;
        const char *rest = match->rest;
        if (i < parent->since)
            continue;
        if ((!role || role->many) && is_any_count(&tree->settings[i], rest)) {
            mention->count = tree->settings[i].value;
            mention->count_setting = i + 1;
            mention->pattern = true;
        }
        if (!name_begins(rest, name))
            continue;
        const char *tail = name_behind(rest);
        if (name_is_index(tail)) {
            if (!*name_behind(tail) && !tree->settings[i].value)
                tree->settings[i].matched = true; /* the mapping of one copy */
            continue;
        }
        if (!read_mention(tree, mention, i, tail, role, parent, err))
            return false;
    }
    return true;
}

static bool read_count(const struct tree *tree, const struct mention *mention, const struct part_role *role,
                       uint32_t *count, struct error *err)
{
    uint64_t value = 0, most = PARTS_MAX;
    const char *text = mention->count;
    if (!text || strcmp(text, "auto") == 0)
        text = role && role->initial ? role->initial : "1";
    if (role && role->most)
        (void)quantity_parse(QUANTITY_COUNT, role->most, &most, err);
    if (!quantity_parse(QUANTITY_COUNT, text, &value, err))
        (void)error_prefix(err, "%s", tree->settings[mention->count_setting - 1].pattern);
    else if (value <= most && (value > 0 || !role || role->presence != PART_ALWAYS)) {
        *count = (uint32_t)value;
        return true;
    } else
        (void)error_set(err, "%s: %s is not allowed; allowed: %d to %llu%s%s",
                        tree->settings[mention->count_setting - 1].pattern, text_quote(text).text,
                        role && role->presence == PART_ALWAYS, (unsigned long long)most,
                        role && role->limit ? ", " : "", role && role->limit ? role->limit : "");
    return tree_at_setting(tree, mention->count_setting - 1, err);
}

static struct instance *add_instance(struct instance *parent, const struct part_kind *kind,
                                     const struct part_role *role, const struct mention *mention, int index)
{
    struct instance *instance = alloc(1, sizeof *instance);
    char number[16] = "";
    size_t ports = 0;
    while (kind->ports && kind->ports[ports].name)
        ports++;
    *instance = (struct instance){
        .kind = kind,
        .role = role,
        .parent = parent,
        .name = alloc_text(mention->name),
        .index = index,
        .config = alloc(1, kind->config_size ? kind->config_size : 1),
        .given = alloc(kind->field_count + 1, sizeof *instance->given),
        .winner = alloc(kind->field_count + 1, sizeof *instance->winner),
        .references = alloc(ports + 1, sizeof *instance->references),
        .reference_setting = alloc(ports + 1, sizeof *instance->reference_setting),
        .since = mention->since,
        .count_setting = mention->count_setting,
    };
    if (index >= 0)
        (void)snprintf(number, sizeof number, ".%d", index);
    bool nested = parent && *parent->path;
    if (asprintf(&instance->path, "%s%s%s%s", nested ? parent->path : "", nested ? "." : "", mention->name,
                 number) < 0)
        alloc_failed();
    if (!parent)
        return instance;
    LIST_APPEND(parent->first, parent->last, instance, next);
    return instance;
}

static bool expand_below(struct tree *tree, struct instance *parent, unsigned depth, struct error *err);

/* Returns true if `count` more parts fit; counts them. */
static bool has_room(struct tree *tree, const struct instance *parent, const struct mention *mention,
                     uint32_t count, struct error *err)
{
    tree->part_count += count;
    if (tree->part_count <= PARTS_MAX && (uint64_t)tree->part_count * tree->setting_count <= looks_most)
        return true;
    if (tree->part_count > PARTS_MAX)
        (void)error_set(err, "a machine may have at most %d parts", PARTS_MAX);
    else
        (void)error_set(err, "the machine is too large: %u parts and %u settings", tree->part_count,
                        tree->setting_count);
    (void)error_prefix(err, "%s%s%s", parent->path, *parent->path ? "." : "", mention->name);
    unsigned setting = mention->count_setting; /* or the nearest enclosing count that multiplies this part */
    for (; parent && !setting; parent = parent->parent)
        setting = parent->count_setting;
    return setting ? tree_at_setting(tree, setting - 1, err) : false;
}

/* Marks the counts that the name `*` sets as used: the part exists. */
static void use_counts(const struct tree *tree, const struct instance *parent, unsigned since)
{
    struct match_walk walk = match_walk(parent->matches, "*");
    for (const struct match *match; (match = match_next(&walk)) != NULL;)
        if (match->number >= since && is_any_count(&tree->settings[match->number], match->rest))
            tree->settings[match->number].matched = true;
}

/* Adds the copies of a part. If the count is 0, adds one absent instance, which checks the settings below
 * it. */
static bool add_copies(struct tree *tree, struct instance *parent, const struct part_kind *kind,
                       const struct part_role *role, const struct mention *mention, unsigned depth,
                       struct error *err)
{
    bool numbered = role ? role->many : mention->count != NULL;
    uint32_t count = 1;
    struct mention single = *mention;
    if (numbered && !role &&
        part_field_find(kind, "count") >= 0) { /* `count` is a field of the part: it makes no copies */
        numbered = false;
        single.count_setting = 0;
        mention = &single;
    }
    if ((numbered && !read_count(tree, mention, role, &count, err)) ||
        !has_room(tree, parent, mention, count, err))
        return false;
    if (numbered && mention->pattern)
        use_counts(tree, parent, mention->since);
    for (uint32_t i = 0; i == 0 || i < count; i++) {
        struct instance *instance = add_instance(parent, kind, role, mention, numbered ? (int)i : -1);
        instance->copies = count;
        instance->absent = parent->absent || count == 0;
        instance->implied = role && role->presence == PART_TIMED && !mention->present;
        if (!expand_below(tree, instance, depth + 1, err))
            return false;
    }
    return true;
}

static bool expand_role(struct tree *tree, struct instance *parent, const struct part_role *role,
                        unsigned depth, struct error *err)
{
    struct mention mention;
    if (!find_mention(tree, parent, role, role->name, &mention, err))
        return false;
    if (mention.removed && role->presence == PART_ALWAYS) {
        (void)error_set(err, "%s: none is not allowed: every %s has this part", role->name,
                        parent->kind->name);
        return tree_at_setting(tree, mention.since - 1, err);
    }
    if (mention.removed || (role->presence == PART_OPTIONAL && !mention.present))
        return true;
    return add_copies(tree, parent, role->kind, role, &mention, depth, err);
}

static bool unknown_kind(const struct tree *tree, const struct mention *mention, struct error *err)
{
    char names[TREE_KINDS];
    struct nearest_hint hint;
    tree_kinds(tree, mention->kind, names, &hint);
    (void)error_set(err, "%s: unknown kind %s%s%s%s", mention->name, text_quote(mention->kind).text,
                    hint.text, *hint.text ? " Allowed: " : "; allowed: ", names);
    return tree_at_setting(tree, mention->kind_setting - 1, err);
}

/* A part whose name the description chooses. */
struct custom {
    char *name;
    size_t rank; /* index of its kind in the list of kinds */
    const struct part_kind *kind;
    struct mention mention;
};

static int by_kind_and_name(const void *a, const void *b)
{
    const struct custom *one = a, *other = b;
    if (one->rank != other->rank)
        return one->rank < other->rank ? -1 : 1;
    return strcmp(one->name, other->name);
}

static bool is_role(const struct part_kind *kind, const char *name)
{
    for (const struct part_role *role = kind->roles; role && role->name; role++)
        if (name_begins(name, role->name))
            return true;
    return false;
}

/* Returns true if settings and references can use the name without ambiguity. */
static bool is_name(const char *name)
{
    static const char *const reserved[] = {"count",   "kind", "template", "templates",
                                           "extends", "none", "auto",     "default"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcmp(name, reserved[i]) == 0)
            return false;
    return ((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z')) &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] == '\0';
}

static bool refuse_name(const struct tree *tree, const char *name, unsigned setting, struct error *err)
{
    (void)error_set(err,
                    "%s is not allowed as a part's name; allowed: a letter, then letters, digits, '_' and "
                    "'-', except the words count, kind, template, templates, extends, none, auto and default",
                    text_quote(name).text);
    return tree_at_setting(tree, setting, err);
}

static bool read_custom(const struct tree *tree, const struct instance *parent, struct custom *custom,
                        struct error *err)
{
    if (!find_mention(tree, parent, NULL, custom->name, &custom->mention, err))
        return false;
    if (!custom->mention.kind || custom->mention.removed)
        return true;
    custom->kind = tree_kind(tree, custom->mention.kind);
    if (!custom->kind)
        return unknown_kind(tree, &custom->mention, err);
    while (tree->options.kinds[custom->rank] != custom->kind)
        custom->rank++;
    return true;
}

/* Expands the custom parts below a parent: those whose key `kind` is set. */
static bool expand_customs(struct tree *tree, struct instance *parent, unsigned depth, struct error *err)
{
    struct custom *customs = NULL;
    size_t count = 0;
    bool fine = true;
    for (size_t i = 0; fine && i < parent->matches->count; i++) {
        const struct match *match = &parent->matches->items[i];
        const char *rest = match->rest;
        size_t length = name_length(rest);
        if (match->number < parent->since || !length || strcmp(rest + length, ".kind") != 0 ||
            is_role(parent->kind, rest) || (count > 0 && name_begins(rest, customs[count - 1].name)))
            continue;
        if ((count & (count - 1)) == 0 &&
            !(customs = realloc(customs, (count ? 2 * count : 1) * sizeof *customs)))
            alloc_failed();
        customs[count] = (struct custom){.name = strndup(rest, length)};
        if (!customs[count].name)
            alloc_failed();
        fine = is_name(customs[count].name) ? read_custom(tree, parent, &customs[count], err)
                                            : refuse_name(tree, customs[count].name, match->number, err);
        count++;
    }
    if (fine && count > 1)
        qsort(customs, count, sizeof *customs, by_kind_and_name);
    for (size_t i = 0; fine && i < count; i++) {
        customs[i].mention.name = customs[i].name;
        if (customs[i].kind)
            fine = add_copies(tree, parent, customs[i].kind, NULL, &customs[i].mention, depth, err);
    }
    for (size_t i = 0; i < count; i++)
        free(customs[i].name);
    free(customs);
    return fine;
}

static bool expand_parts(struct tree *tree, struct instance *parent, unsigned depth, struct error *err)
{
    for (const struct part_role *role = parent->kind->roles; role && role->name; role++)
        if (!expand_role(tree, parent, role, depth, err))
            return false;
    return !parent->kind->open || expand_customs(tree, parent, depth, err);
}

static bool expand_below(struct tree *tree, struct instance *parent, unsigned depth, struct error *err)
{
    if (depth == DEPTH_MAX) {
        (void)error_set(err, "%s: parts are nested more than %d deep; put some of them side by side",
                        parent->path, DEPTH_MAX);
        return tree_at_part(tree, parent, err);
    }
    struct matches matches =
        parent->parent ? matches_within(parent->parent->matches, parent) : matches_all(tree);
    parent->matches = &matches;
    bool fine = expand_parts(tree, parent, depth, err);
    parent->matches = NULL;
    matches_free(&matches);
    return fine;
}

bool tree_expand(struct tree *tree, struct error *err)
{
    tree->root = add_instance(NULL, tree->options.root, NULL, &(struct mention){.name = ""}, -1);
    return expand_below(tree, tree->root, 0, err);
}
