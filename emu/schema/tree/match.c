#include "emu/schema/tree/match.h"

#include <stdlib.h>
#include <string.h>

#include "emu/schema/dotted.h"
#include "emu/sim/alloc.h"

static int compare_first(const char *a, const char *b)
{
    size_t one = name_length(a), other = name_length(b);
    int order = memcmp(a, b, one < other ? one : other);
    return order ? order : (one > other) - (one < other);
}

static int by_name_and_number(const void *a, const void *b)
{
    const struct match *one = a, *other = b;
    int order = compare_first(one->rest, other->rest);
    return order ? order : (one->number > other->number) - (one->number < other->number);
}

const char *pattern_within(const char *pattern, const struct instance *instance)
{
    if (!instance->parent)
        return pattern;
    const char *rest = pattern_within(pattern, instance->parent);
    if (!rest || !*rest || (!name_begins(rest, instance->name) && !name_begins(rest, "*")))
        return NULL;
    rest = name_behind(rest);
    if (instance->index < 0 || !name_is_index(rest))
        return rest;
    bool meant = *rest == '*' || strtoul(rest, NULL, 10) == (unsigned long)instance->index;
    return meant ? name_behind(rest) : NULL;
}

static void add(struct matches *matches, const char *rest, unsigned number)
{
    if ((matches->count & (matches->count - 1)) == 0) {
        size_t room = matches->count ? 2 * matches->count : 1;
        matches->items = alloc_resize(matches->items, room * sizeof *matches->items);
    }
    matches->items[matches->count++] = (struct match){rest, number};
}

static void sort(struct matches *matches)
{
    if (matches->count > 1)
        qsort(matches->items, matches->count, sizeof *matches->items, by_name_and_number);
}

struct matches matches_all(const struct tree *tree)
{
    struct matches found = {NULL, 0};
    for (unsigned i = 0; i < tree->setting_count; i++)
        if (*tree->settings[i].pattern)
            add(&found, tree->settings[i].pattern, i);
    sort(&found);
    return found;
}

struct matches matches_within(const struct matches *parent, const struct instance *instance)
{
    struct matches found = {NULL, 0};
    struct match_walk walk = match_walk(parent, instance->name);
    for (const struct match *match; (match = match_next(&walk)) != NULL;) {
        const char *rest = name_behind(match->rest);
        if (instance->index >= 0 && name_is_index(rest)) {
            if (*rest != '*' && strtoul(rest, NULL, 10) != (unsigned long)instance->index)
                continue;
            rest = name_behind(rest);
        }
        if (*rest)
            add(&found, rest, match->number);
    }
    sort(&found);
    return found;
}

struct matches matches_below(const struct matches *parent, const char *name)
{
    struct matches found = {NULL, 0};
    struct match_walk walk = match_walk(parent, name);
    for (const struct match *match = walk.named; match < walk.named_end; match++) {
        const char *rest = name_behind(match->rest);
        rest = name_is_index(rest) && *rest != '*' ? name_behind(rest) : rest;
        if (*rest)
            add(&found, rest, match->number);
    }
    sort(&found);
    return found;
}

void matches_free(struct matches *matches)
{
    free(matches->items);
    *matches = (struct matches){NULL, 0};
}

/* Returns the index of the first setting whose first component is not less than the name (`above`: greater). */
static size_t find(const struct matches *matches, const char *name, bool above)
{
    size_t low = 0, high = matches->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_first(matches->items[middle].rest, name);
        if (order < 0 || (above && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct match_walk match_walk(const struct matches *matches, const char *name)
{
    const struct match *items = matches->items;
    if (!items)
        return (struct match_walk){NULL, NULL, NULL, NULL};
    return (struct match_walk){items + find(matches, name, false), items + find(matches, name, true),
                               items + find(matches, "*", false), items + find(matches, "*", true)};
}

const struct match *match_next(struct match_walk *walk)
{
    if (walk->named < walk->named_end &&
        (walk->any >= walk->any_end || walk->named->number < walk->any->number))
        return walk->named++;
    return walk->any < walk->any_end ? walk->any++ : NULL;
}
