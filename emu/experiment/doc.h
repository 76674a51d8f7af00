/* A YAML document as libyaml's tree of nodes; error messages name file and line. (libcyaml's messages do not
 * have lines.) */
#ifndef EMU_EXPERIMENT_DOC_H
#define EMU_EXPERIMENT_DOC_H

#include <yaml.h>

#include "emu/sim/error.h"

/* Texts returned by the functions below are valid as long as the tree. */
struct doc {
    const char *path; /* borrowed */
    yaml_document_t document;
};

enum { DOC_BYTES = 1 << 20 }; /* maximum size of a file */

/* Reads the file, which must hold one document. If text is not NULL, sets *text to the file's text, which the
 * caller frees. Returns false and sets err on failure. */
bool doc_load(struct doc *doc, const char *path, char **text, struct error *err);
void doc_free(struct doc *doc);

const yaml_node_t *doc_root(struct doc *doc);
const yaml_node_t *doc_node(struct doc *doc, int index);

/* Sets err to "PATH:LINE: message" and returns false. */
bool doc_wrong(const struct doc *doc, const yaml_node_t *node, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns the text of a scalar; NULL with err set if the node is none. `what` names the node in the
 * message. */
const char *doc_text(const struct doc *doc, const yaml_node_t *node, const char *what, struct error *err);

/* Reads a number. Returns false and sets err if the node is none. */
bool doc_number(const struct doc *doc, const yaml_node_t *node, const char *what, double *value,
                struct error *err);

/* Return the number of a sequence's items or of a mapping's pairs; -1 with err set if the node has another
 * type. */
int doc_items(const struct doc *doc, const yaml_node_t *node, const char *what, struct error *err);
int doc_pairs(const struct doc *doc, const yaml_node_t *node, const char *what, struct error *err);

/* Returns the number of pairs of a mapping. */
static inline int doc_pair_count(const yaml_node_t *node)
{
    return (int)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
}

/* Return item i of a sequence, and key and value of pair i of a mapping that doc_pairs() has checked: its
 * keys are different texts. */
const yaml_node_t *doc_item(struct doc *doc, const yaml_node_t *node, int i);
const char *doc_key(struct doc *doc, const yaml_node_t *node, int i);
const yaml_node_t *doc_value(struct doc *doc, const yaml_node_t *node, int i);

/* A key that a mapping may have, and the function that reads its value. */
struct doc_field {
    const char *name;
    bool (*read)(void *context, const yaml_node_t *value, struct error *err);
    bool required;
};

/* Reads a mapping of known keys, in the order of `fields`. The message about an unknown key suggests the
 * nearest name. Returns false and sets err on failure. */
bool doc_fields(struct doc *doc, const yaml_node_t *node, const char *what, const struct doc_field *fields,
                size_t count, void *context, struct error *err);

#endif
