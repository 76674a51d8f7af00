/* One description file as it stands: a tree of names and texts, with their lines. */
#ifndef EMU_SCHEMA_DOCUMENT_H
#define EMU_SCHEMA_DOCUMENT_H

#include <stdbool.h>

#include "emu/sim/error.h"

struct node {
    char *name; /* as written; NULL for the document itself */
    char *text; /* of a value; NULL: a mapping */
    unsigned line;
    struct node *first, *last; /* what a mapping holds, in its order */
    unsigned members;          /* how many that are */
    struct node *next;
};

enum { DOCUMENT_BYTES = 1 << 20 }; /* no machine description is larger */

/* Reads an open regular file of at most DOCUMENT_BYTES, which stays open: one YAML document, a mapping of names to values and
 * mappings, no name twice in one mapping. Sequences, anchors, aliases and tags are refused. The parts of a description are
 * known only when it has been read, so that libyaml's events are read here and not a fixed schema. Messages begin with path
 * and line. NULL on failure; release with node_free(). */
struct node *document_read(int file, const char *path, struct error *err);
void node_free(struct node *node);

/* The member of a mapping, or NULL. */
const struct node *node_find(const struct node *mapping, const char *name);

#endif
