#include "emu/schema/tree/templates.h"

#include <stdlib.h>
#include <string.h>

#include "emu/schema/dotted.h"
#include "emu/schema/tree/kinds.h"
#include "emu/schema/tree/match.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/text.h"

enum { KINDS_MOST = 256 };

struct check {
    const struct tree *tree;
    const char *name; /* of the template */
};

/* Prefixes the message with "FILE:LINE: template NAME". Returns false. */
static bool at_setting(const struct check *check, unsigned setting, struct error *err)
{
    (void)error_prefix(err, "template %s", text_quote(check->name).text);
    return tree_at_setting(check->tree, setting, err);
}

/* All kinds of parts, also those that only roles have. */
struct kinds {
    const struct part_kind *of[KINDS_MOST];
    size_t count;
};

static void add_kind(struct kinds *kinds, const struct part_kind *kind)
{
    for (size_t i = 0; i < kinds->count; i++)
        if (kinds->of[i] == kind)
            return;
    if (kinds->count == KINDS_MOST)
        return;
    kinds->of[kinds->count++] = kind;
    for (const struct part_role *role = kind->roles; role && role->name; role++)
        add_kind(kinds, role->kind);
}

/* Sets *kind to the kind that the part's key `kind` names, or to NULL. False with err set if there is no such
 * kind. */
static bool read_kind(const struct check *check, const struct matches *part, const struct part_kind **kind,
                      struct error *err)
{
    *kind = NULL;
    for (size_t i = 0; i < part->count; i++) {
        const struct match *match = &part->items[i];
        const char *value = check->tree->settings[match->number].value;
        if (strcmp(match->rest, "kind") != 0 || !value)
            continue;
        *kind = tree_kind(check->tree, value);
        if (*kind)
            continue;
        (void)error_set(err, "unknown kind %s", text_quote(value).text);
        return at_setting(check, match->number, err);
    }
    return true;
}

static bool check_value(const struct check *check, const struct part_kind *kind, const struct match *match,
                        struct error *err)
{
    const char *value = check->tree->settings[match->number].value;
    int field = part_field_find(kind, match->rest);
    if (field < 0 || (value && strcmp(value, "auto") == 0))
        return true;
    void *config = alloc(1, kind->config_size);
    bool fine = value ? field_set(&kind->fields[field], config, value, err)
                      : error_set(err, "%s takes one value, not a mapping", match->rest);
    free(config);
    return fine || at_setting(check, match->number, err);
}

static const struct part_role *find_role(const struct part_kind *kind, const char *name)
{
    for (const struct part_role *role = kind->roles; role && role->name; role++)
        if (strcmp(role->name, name) == 0)
            return role;
    return NULL;
}

static bool check_part(const struct check *check, const struct part_kind *kind, const struct matches *part,
                       const struct part_role *role, struct error *err);

/* Checks the settings of a part below a part of the kind. */
static bool check_below(const struct check *check, const struct part_kind *kind, const struct matches *above,
                        const char *name, struct error *err)
{
    const struct part_role *role = find_role(kind, name);
    const struct part_kind *own = role ? role->kind : NULL;
    struct matches part = matches_below(above, name);
    bool fine =
        (role || read_kind(check, &part, &own, err)) && (!own || check_part(check, own, &part, role, err));
    matches_free(&part);
    return fine;
}

static bool unknown_key(const struct check *check, const struct part_kind *kind, const struct match *match,
                        struct error *err)
{
    char keys[768];
    kind_members(kind, NULL, keys, sizeof keys);
    (void)error_set(err, "unknown key %s; keys of %s: %s", text_quote(match->rest).text, kind->name, keys);
    return at_setting(check, match->number, err);
}

/* Checks the settings of a part. role NULL: a custom part, or the template's own. */
static bool check_part(const struct check *check, const struct part_kind *kind, const struct matches *part,
                       const struct part_role *role, struct error *err)
{
    char last[TREE_NAME] = "";
    for (size_t i = 0; i < part->count; i++) {
        const struct match *match = &part->items[i];
        const char *value = check->tree->settings[match->number].value;
        char name[TREE_NAME];
        (void)snprintf(name, sizeof name, "%.*s", (int)name_length(match->rest), match->rest);
        if (kind_has_key(kind, match->rest)) {
            if (!check_value(check, kind, match, err))
                return false;
            continue;
        }
        bool whole = !*name_behind(match->rest);
        bool counts = whole && strcmp(name, "count") == 0 && (!role || role->many);
        if (name_is_index(name) || counts || (whole && !role && strcmp(name, "kind") == 0))
            continue;
        bool section = !value || !*value || strcmp(value, "default") == 0 || strcmp(value, "none") == 0;
        if ((!kind->open && !find_role(kind, name)) || (whole && !section))
            return unknown_key(check, kind, match, err);
        if (strcmp(name, last) != 0 && !check_below(check, kind, part, name, err))
            return false;
        (void)snprintf(last, sizeof last, "%s", name);
    }
    return true;
}

/* Returns true if some kind has all of these settings. */
static bool fits_some(const struct check *check, const struct kinds *kinds, const struct matches *part)
{
    struct error ignored;
    for (size_t i = 0; i < kinds->count; i++)
        if (check_part(check, kinds->of[i], part, NULL, &ignored))
            return true;
    return false;
}

/* Checks a template without a kind. */
static bool check_kindless(const struct check *check, const struct matches *part, struct error *err)
{
    struct kinds kinds = {.count = 0};
    const struct match *first = NULL;
    add_kind(&kinds, check->tree->options.root);
    for (const struct part_kind *const *kind = check->tree->options.kinds; *kind; kind++)
        add_kind(&kinds, *kind);
    if (part->count == 0 || fits_some(check, &kinds, part))
        return true;
    for (size_t i = 0; i < part->count; i++) {
        struct match *match = &part->items[i];
        if (!fits_some(check, &kinds, &(struct matches){match, 1}) &&
            (!first || match->number < first->number))
            first = match;
    }
    (void)error_set(err,
                    first ? "no kind of part takes the key %s with this value"
                          : "no kind of part has all keys; a key `kind` tells which one is meant%.0s",
                    first ? text_quote(first->rest).text : "");
    return at_setting(check, first ? first->number : part->items[0].number, err);
}

bool template_check(const struct tree *tree, const char *name, struct error *err)
{
    const struct check check = {tree, name};
    const struct part_kind *kind;
    struct matches all = matches_all(tree), part = matches_below(&all, TEMPLATE_PART);
    bool fine = read_kind(&check, &part, &kind, err) &&
                (kind ? check_part(&check, kind, &part, NULL, err) : check_kindless(&check, &part, err));
    matches_free(&all);
    matches_free(&part);
    return fine;
}
