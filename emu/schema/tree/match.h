/* The settings that match a part or parts below it, sorted so that those of one part below it are found by
 * its name. */
#ifndef EMU_SCHEMA_TREE_MATCH_H
#define EMU_SCHEMA_TREE_MATCH_H

#include "emu/schema/tree/state.h"

struct match {
    const char *rest; /* what follows the part's name in the setting's name; never empty */
    unsigned number;  /* index in tree->settings */
};

/* Sorted by the first component of `rest`, then by number. */
struct matches {
    struct match *items;
    size_t count;
};

/* Returns the rest of a pattern after the instance's path, or NULL if the pattern does not match the
 * instance. */
const char *pattern_within(const char *pattern, const struct instance *instance);

/* Returns all settings, as those of the root. Free with matches_free(). */
struct matches matches_all(const struct tree *tree);

/* Finds the settings of a part among those of its parent. Free with matches_free(). */
struct matches matches_within(const struct matches *parent, const struct instance *instance);

/* Finds the settings of a part of that name and of its numbered copies among those of its parent. Skips
 * settings in which `*` stands for the name. Keeps a `*` after the name in `rest`, because it can stand for
 * copies or for parts below. Free with matches_free(). */
struct matches matches_below(const struct matches *parent, const char *name);

void matches_free(struct matches *matches);

/* A walk over the settings whose first component is a name or `*`, by number. */
struct match_walk {
    const struct match *named, *named_end, *any, *any_end;
};

struct match_walk match_walk(const struct matches *matches, const char *name);

/* Returns the next setting, or NULL at the end. */
const struct match *match_next(struct match_walk *walk);

#endif
