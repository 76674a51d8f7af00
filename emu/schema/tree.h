/* A machine description: a tree of instances of kinds (emu/sim/part.h), resolved from files and --set
 * options.
 *
 * A description is a YAML mapping. Each key is a field of the part that the mapping describes, a port of that
 * part (`memory: crossbar`), or the name of a part below it with a mapping of its own. `extends: MACHINE`
 * inherits another description. A MACHINE is the name of a shipped machine or a path, which contains a '/' or
 * ends in .yaml. A path in `extends` is relative to the file that contains it.
 *
 * Parts. A kind lists the parts that it can contain (struct part_role). Some are always present; others are
 * present when the description mentions them: `crossbar: {}` adds one with its defaults. `crossbar: none`
 * removes an inherited one and all settings below it. A part of any other name (a custom part) has the kind
 * that its key `kind` names. `count: N` makes N copies of a part and everything below it, numbered from 0.
 * The mapping `templates` holds mappings by name; a part with `template: NAME` starts with the settings of
 * that template, before all other settings of the same file. Templates that no part uses are checked too.
 *
 * Names. host.l1d.size is a field. If a part has copies, accel.3.l1d.size is the field of one copy, and
 * accel.*.l1d.size or accel.l1d.size the field of all. `*` matches any name or number. Files (as nested
 * mappings or dotted names), --set, messages, statistics and traces use the same names. In --set, `A|B` stands for those of
 * several names that the machine has, at least one: dram.tCL|stack.*.dram.tCL.
 *
 * Settings form a list in the order of files (the extended file first), then of --set; a later setting wins.
 * Counts are applied first, then all other settings. Fields without a setting then get the role's default,
 * the kind's default, or a value that derive() computes from other fields; the value `auto` requests the
 * same. A port with `auto` has its default partners. `*.count` counts the parts that exist; it adds none. A
 * setting that matches nothing is an error, also below a part that `none` removes. */
#ifndef EMU_SCHEMA_TREE_H
#define EMU_SCHEMA_TREE_H

#include <stdio.h>

#include "emu/sim/part.h"

enum {
    TREE_CHAIN = 16,   /* most files in one chain of `extends` */
    TREE_SOURCE = 512, /* size of tree_source()'s buffer, in bytes */
    TREE_NAME = 256,   /* size of a dotted name with its final zero, in bytes */
};

struct instance {
    const struct part_kind *kind;
    const struct part_role *role; /* NULL: the root or a custom part */
    struct instance *parent, *first, *last, *next;
    char *name; /* for example "l1d"; "" for the root */
    char *path; /* for example "accel.3.l1d" */
    int index;  /* number among its copies; -1: the part has no copies */
    uint32_t copies;
    void *config;      /* of the kind's config type */
    bool *given;       /* given[field]: the description sets the field */
    unsigned *winner;  /* winner[field]: the setting that has won, counted from 1; 0: none */
    char **references; /* references[port]: the reference's text; NULL: none, or `auto` */
    unsigned *reference_setting;
    unsigned since;                /* `none` cancels the settings before this one */
    unsigned count_setting;        /* the setting of the count, counted from 1; 0: none */
    const struct matches *matches; /* its settings (match.h) while parts below it are created; then NULL */
    bool absent;                   /* the machine lacks the part; the instance only matches settings */
    bool implied;                  /* present because of PART_TIMED, not because of a setting */
    uint8_t resolved;              /* 0: not yet; 1: in progress; 2: done */

    /* Made after loading, not of absent parts. */
    unsigned number;         /* in the order of tree_next(), from 0 */
    struct instance **below; /* first, its next and so on; NULL */
};

struct tree;

struct tree_options {
    const struct part_kind *root;
    const struct part_kind *const *kinds; /* kinds that the key `kind` can name, NULL-terminated */
    const char *machine;                  /* name of a shipped machine, or a path */
    const char *text; /* the description itself, which messages call `machine`; NULL: it is in the file */
    const char *shipped_dir; /* folder of the shipped machines, NAME.yaml; NULL: there are none */
    const char *const *sets; /* NAME=VALUE each */
    size_t set_count;
    /* the command that reads such descriptions ("croft net FILE"); NULL: croft run, of machines */
    const char *reader;
    /* Returns true if the machine has timed cores; otherwise PART_TIMED parts are absent. Called when all
     * fields are set. */
    bool (*timed)(const struct tree *tree);
};

/* Loads a description. Every part of the result has passed part_check(). On failure, returns NULL with err
 * set to a message that names file, line, key and what is allowed. Free the result with tree_free(). */
struct tree *tree_load(const struct tree_options *options, struct error *err);
void tree_free(struct tree *tree);

/* Returns the path of the description's file, as it was opened. */
const char *tree_file(const struct tree *tree);

struct instance *tree_root(const struct tree *tree);

/* Finds the part at a dotted path, which must not contain `*`. Without a copy number, finds the first copy.
 * NULL when there is none or it is absent. */
struct instance *tree_find(const struct tree *tree, const char *path);

/* Returns the first part of that kind directly below, or NULL. */
const struct instance *tree_below(const struct instance *instance, const struct part_kind *kind);

/* Returns the configurations of the parts in the roles of the part's kind, by role; NULL for a role without a part. For
 * a role with copies, that of the last one. The caller frees the array. */
const void **tree_configs_below(const struct instance *instance);

/* Returns the configuration of the part at the path, of its kind's config type, or NULL. */
const void *tree_config(const struct tree *tree, const char *path);

/* Returns the next part in tree order (a part before its children), or the root if instance is NULL. Skips
 * absent parts. NULL at the end. */
struct instance *tree_next(const struct tree *tree, const struct instance *instance);

/* A key that a setting can change. */
struct tree_key {
    const char *name;               /* dotted, without numbers: of all copies */
    const struct part_field *field; /* NULL: not a field, but a count, a port or a part */
    const char *value;              /* the field's value; NULL: not a field */
    const char *meaning;            /* one line */
    bool adds;                      /* names a part that the machine lacks; `default` adds it */
};

/* Calls each() with each key, in the order of tree_show(). */
void tree_keys(const struct tree *tree, void (*each)(void *context, const struct tree_key *key),
               void *context);

/* Writes the origin of a field's value, for messages and comments: "default", "--set", "FILE:LINE", or what a
 * derived value follows. */
void tree_source(const struct tree *tree, const struct instance *instance, unsigned field,
                 char buffer[TREE_SOURCE]);

/* Writes the origin of the number of a part's copies. */
void tree_count_source(const struct tree *tree, const struct instance *instance, char buffer[TREE_SOURCE]);

/* Like tree_source() for a dotted name, which must be known ("memory.size"; "host.count"). */
void tree_source_of(const struct tree *tree, const char *name, char buffer[TREE_SOURCE]);

/* Prefixes the message with "FILE:LINE: host.l1d.size", the origin and name of the field. Returns false. */
bool tree_at(const struct tree *tree, const struct instance *instance, const char *field, struct error *err);

/* Returns whether two settings, counted from 1, are of one file, both of --set, or both 0 (none). */
bool tree_same_file(const struct tree *tree, unsigned one, unsigned other);

/* Prefixes the message with "FILE:LINE" or "--set", the origin of a setting counted from 0. Returns false. */
bool tree_at_setting(const struct tree *tree, unsigned setting, struct error *err);

/* Prefixes the message with "FILE:LINE: " of the part's first setting, or of its nearest ancestor with a
 * setting; without one, with the machine's file. Returns false. */
bool tree_at_part(const struct tree *tree, const struct instance *instance, struct error *err);

/* Like tree_at_part() for a message about two parts: uses the one whose first setting is later. */
bool tree_at_parts(const struct tree *tree, const struct instance *one, const struct instance *other,
                   struct error *err);

/* Finds the settings that have no effect on this machine. Stores the dotted names of the first `room` of them
 * to names, in setting order; the tree owns the strings. Returns their total number. */
size_t tree_unused(const struct tree *tree, const char **names, size_t room);

/* Writes the description as YAML. A comment explains each key: its meaning, what is allowed, and the origin
 * of its value. Loading the text again gives the same machine. The text does not depend on where croft is
 * installed. */
void tree_show(const struct tree *tree, FILE *out);

#endif
