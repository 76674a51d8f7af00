/* State of a description: its files, its settings and its parts. */
#ifndef EMU_SCHEMA_TREE_STATE_H
#define EMU_SCHEMA_TREE_STATE_H

#include "emu/schema/tree.h"

struct setting {
    char *pattern; /* dotted name */
    char *value;   /* NULL: a mapping begins here */
    unsigned file; /* index in tree->files; SETTING_OPTION: --set */
    unsigned line;
    unsigned first; /* of a name with alternatives, the setting of the first one */
    bool matched;
};

#define SETTING_OPTION UINT32_MAX

struct tree_file {
    char *path;   /* path used to open it */
    bool shipped; /* found by name among the shipped machines */
};

struct tree {
    struct tree_options options;
    struct instance *root;
    unsigned part_count; /* without absent parts */
    struct setting *settings;
    unsigned setting_count;
    struct tree_file files[TREE_CHAIN];
    unsigned file_count;
};

/* settings.c: reads the chain of files and the options into tree->settings. False with err set on failure. */
bool settings_read(struct tree *tree, struct error *err);

/* expand.c: creates the instances. False with err set on failure. */
bool tree_expand(struct tree *tree, struct error *err);

/* unknown.c: sets the message for a name that matches nothing. Returns false. */
bool tree_unknown(const struct tree *tree, const char *name, struct error *err);

/* walk.c: returns the next instance in tree order, including absent ones. `below`: visit the instance's children first. */
struct instance *tree_next_of(const struct instance *instance, bool below);

/* Finds the part at a dotted path below an instance, as tree_find() does. */
struct instance *tree_find_below(const struct instance *instance, const char *path);

/* origin.c: writes the origin of a setting, counted from 1: "--set" or "FILE:LINE". */
void tree_setting_source(const struct tree *tree, unsigned winner, char buffer[TREE_SOURCE]);

/* Returns the default that the part's role gives to a field, or NULL. */
const struct part_default *tree_role_default(const struct instance *instance, const char *field);

/* Writes the name for messages: the winning setting's pattern, or the path without copy numbers. */
void tree_shown_name(const struct tree *tree, const struct instance *instance, const char *field,
                     unsigned winner, char name[TREE_NAME]);

#endif
