/* A machine description: a tree of instances of kinds (emu/sim/part.h), resolved from files and --set options.
 *
 * A description is a YAML mapping. Each of its keys is a field of the part that the mapping describes, a port of it
 * (`memory: crossbar`), or the name of a part below it, with a mapping of its own. `extends: MACHINE` takes over another
 * description. A MACHINE is a shipped machine's name, or a path: what contains a '/' or ends in .yaml. A path in `extends` is
 * relative to the file that holds it.
 *
 * Which parts there are. A kind names the parts that its parts can have (struct part_role); some are always there, some when
 * the description mentions them: `crossbar: {}` puts one in, with its defaults, and `crossbar: none` takes one out that was
 * inherited, with all that was set below it. Any other name is a part of the kind that its key `kind` gives. `count: N` makes
 * N copies, numbered from 0, of the whole part with all that is below it. A mapping `templates` holds mappings by name; a
 * part that says `template: NAME` begins with what that one holds.
 *
 * Names. host.l1d.size is a field; of a part that has copies, accel.3.l1d.size is that of one of them, accel.*.l1d.size or
 * accel.l1d.size that of all. `*` stands for any name or number. The same names serve files (as nested mappings or dotted),
 * --set, messages, statistics and traces.
 *
 * Settings are a list in the order of files (the extended one first), then of --set; a later one wins. Counts are applied
 * first, then the others, then what the user has left to itself is derived: a role's default, the kind's, or what derive()
 * makes of the other fields; `auto` restores that. A setting that concerns nothing is an error. */
#ifndef EMU_SCHEMA_TREE_H
#define EMU_SCHEMA_TREE_H

#include <stdio.h>

#include "emu/sim/part.h"

enum {
    TREE_CHAIN = 16,   /* files that one machine may consist of through `extends` */
    TREE_SOURCE = 512, /* bytes that tree_source() needs at most */
    TREE_NAME = 256,   /* bytes of a dotted name with its end */
};

struct instance {
    const struct part_kind *kind;
    const struct part_role *role; /* NULL: the root, or named by the description */
    struct instance *parent, *first, *last, *next;
    char *name; /* "l1d"; "" for the root */
    char *path; /* "accel.3.l1d" */
    int index;  /* among its copies; -1: it is the only one, and has no number */
    uint32_t copies;
    void *config;      /* of the kind's type */
    bool *given;       /* by field: set by the description */
    unsigned *winner;  /* by field: the setting that has won, counted from 1; 0: none */
    char **references; /* by port: as the description gives it, or NULL */
    unsigned *reference_setting;
    unsigned since;         /* settings before this one were taken out by `none` */
    unsigned count_setting; /* that gave the number of copies, counted from 1; 0: none */
    bool absent;            /* only what its settings would concern: the machine is without */
    bool implied;           /* there because of PART_TIMED, not by a setting */
    uint8_t resolved;       /* 0: not yet; 1: under way; 2: done */
};

struct tree;

struct tree_options {
    const struct part_kind *root;
    const struct part_kind *const *kinds; /* those that `kind` can name, then NULL */
    const char *machine;                  /* a shipped name or a path */
    const char *shipped_dir;              /* of shipped machines, NAME.yaml */
    const char *const *sets;              /* NAME=VALUE */
    size_t set_count;
    /* Whether the cores tell time, asked when all fields are set: else parts of PART_TIMED are absent. */
    bool (*timed)(const struct tree *tree);
};

/* NULL with err set when something is wrong; messages name file, line and key and what is allowed. Each part has passed
 * part_check(). Release with tree_free(). */
struct tree *tree_load(const struct tree_options *options, struct error *err);
void tree_free(struct tree *tree);

struct instance *tree_root(const struct tree *tree);

/* The part of that dotted path, without `*`; of a part with copies the first when no number is given. NULL: there is none, or
 * it is absent. */
struct instance *tree_find(const struct tree *tree, const char *path);

/* The configuration of such a part, or NULL. */
const void *tree_config(const struct tree *tree, const char *path);

/* The next part in the tree's order (a part, then those below it), the root first with NULL; absent ones are left out. */
struct instance *tree_next(const struct tree *tree, const struct instance *instance);

/* Where the value of a field came from, for messages and comments: "default", "--set", "FILE:LINE", or what an automatic
 * value follows. */
void tree_source(const struct tree *tree, const struct instance *instance, unsigned field,
                 char buffer[TREE_SOURCE]);

/* The same of a dotted name, which must be known ("memory.size"; "host.count"). */
void tree_source_of(const struct tree *tree, const char *name, char buffer[TREE_SOURCE]);

/* "FILE:LINE: host.l1d.size" in front of the message; false. */
bool tree_at(const struct tree *tree, const struct instance *instance, const char *field, struct error *err);

/* "FILE:LINE: " of the first setting of the part, or of the nearest one above it that has a setting, in front of the message;
 * false. */
bool tree_at_part(const struct tree *tree, const struct instance *instance, struct error *err);

/* The dotted names that were set but have no effect on this machine, in the order of the settings; returns how many, and at
 * most `room` of them in names, which the tree keeps. */
size_t tree_unused(const struct tree *tree, const char **names, size_t room);

/* Writes the description as YAML in which a comment explains each key: meaning, what is allowed, and where the value came
 * from. Loaded again, the text gives the same machine. The text does not depend on where croft is installed. */
void tree_show(const struct tree *tree, FILE *out);

/* For the files of emu/schema. */
struct setting {
    char *pattern; /* dotted name */
    char *value;   /* NULL: a mapping begins */
    unsigned file; /* index into files; SETTING_OPTION: --set */
    unsigned line;
    bool matched;
};

#define SETTING_OPTION UINT32_MAX

struct tree_file {
    char *path;   /* as it was opened */
    bool shipped; /* found by its name among the shipped machines */
};

struct tree {
    struct tree_options options;
    struct instance *root;
    unsigned part_count; /* absent ones not counted */
    struct setting *settings;
    unsigned setting_count;
    struct tree_file files[TREE_CHAIN];
    unsigned file_count;
};

/* settings.c: reads the chain of files and the options into tree->settings. */
bool settings_read(struct tree *tree, struct error *err);

/* expand.c: makes the instances. */
bool tree_expand(struct tree *tree, struct error *err);

/* The rest of a pattern behind the path of the instance, or NULL when it concerns another one. */
const char *pattern_within(const char *pattern, const struct instance *instance);

/* The length of a dotted name's first component. */
size_t name_length(const char *name);

/* Whether the first component is a number or `*`. */
bool name_is_index(const char *name);

/* names.c: the message for a name that concerns nothing; false. */
bool tree_unknown(const struct tree *tree, const char *name, struct error *err);

/* "FILE:LINE" or "--set" in front of the message; false. */
bool tree_at_setting(const struct tree *tree, unsigned setting, struct error *err);

/* Sets the message for the name of a part that was given a value; false. */
bool tree_not_a_value(const struct part_kind *kind, const char *name, struct error *err);

/* list.c: the names of the shipped machines, sorted. Free with machine_list_free(). */
struct machine_list {
    char **names;
    size_t count;
};

bool machine_list(struct machine_list *list, const char *shipped_dir, struct error *err);
void machine_list_free(struct machine_list *list);

#endif
