/* One description file: a tree of names and text values with their line numbers. */
#ifndef EMU_SCHEMA_DOCUMENT_H
#define EMU_SCHEMA_DOCUMENT_H

#include <stdbool.h>

#include "emu/sim/error.h"

struct node {
    char *name;    /* as written; NULL for the document itself */
    char *text;    /* the value; NULL for a mapping */
    char *comment; /* the comments before it and on its line, one a line, each with its '#'; NULL: none */
    unsigned line;
    struct node *first, *last; /* members of a mapping, in file order */
    unsigned members;          /* number of members */
    bool used;                 /* settings.c: a template that has been read */
    struct node *next;
};

enum { DOCUMENT_BYTES = 1 << 20 }; /* largest machine description, in bytes */

/* Reads an open regular file of at most DOCUMENT_BYTES; the file stays open. The file holds one YAML
 * document: a mapping of names to values and mappings, with no name twice in one mapping. Sequences, anchors,
 * aliases and tags are refused. Reads libyaml's events rather than a fixed schema, because the description
 * itself determines which keys exist. Messages begin with path and line. Returns NULL with err set on
 * failure. Free the result with node_free(). */
struct node *document_read(int file, const char *path, struct error *err);
void node_free(struct node *node);

/* Appends lines to the node's comment. NULL: none. */
void node_comment(struct node *node, const char *lines);

/* Finds the member of a mapping by name. NULL when there is none. */
const struct node *node_find(const struct node *mapping, const char *name);

#endif
