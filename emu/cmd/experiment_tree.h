/* A YAML document as libyaml's tree of nodes; error messages name file and line. (libcyaml's messages do not
 * have lines.) */
#ifndef EMU_CMD_EXPERIMENT_TREE_H
#define EMU_CMD_EXPERIMENT_TREE_H

#include <yaml.h>

#include "emu/sim/error.h"

/* Texts returned by the functions below are valid as long as the tree. */
struct tree {
    const char *path; /* borrowed */
    yaml_document_t document;
};

enum { TREE_BYTES = 1 << 20 }; /* maximum size of a file */

/* Reads the file, which must hold one document. If text is not NULL, sets *text to the file's text, which the
 * caller frees. Returns false and sets err on failure. */
bool experiment_tree_load(struct tree *tree, const char *path, char **text, struct error *err);
void experiment_tree_free(struct tree *tree);

const yaml_node_t *experiment_tree_root(struct tree *tree);
const yaml_node_t *tree_node(struct tree *tree, int index);

/* Sets err to "PATH:LINE: message" and returns false. */
bool tree_wrong(const struct tree *tree, const yaml_node_t *node, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns the text of a scalar; NULL with err set if the node is none. `what` names the node in the
 * message. */
const char *tree_text(const struct tree *tree, const yaml_node_t *node, const char *what, struct error *err);

/* Reads a number. Returns false and sets err if the node is none. */
bool tree_number(const struct tree *tree, const yaml_node_t *node, const char *what, double *value,
                 struct error *err);

/* Return the number of a sequence's items or of a mapping's pairs; -1 with err set if the node has another
 * type. */
int tree_items(const struct tree *tree, const yaml_node_t *node, const char *what, struct error *err);
int tree_pairs(const struct tree *tree, const yaml_node_t *node, const char *what, struct error *err);

/* Return item i of a sequence, and key and value of pair i of a mapping that tree_pairs() has checked: its
 * keys are different texts. */
const yaml_node_t *tree_item(struct tree *tree, const yaml_node_t *node, int i);
const char *tree_key(struct tree *tree, const yaml_node_t *node, int i);
const yaml_node_t *tree_value(struct tree *tree, const yaml_node_t *node, int i);

/* A key that a mapping may have, and the function that reads its value. */
struct tree_field {
    const char *name;
    bool (*read)(void *context, const yaml_node_t *value, struct error *err);
    bool required;
};

/* Reads a mapping of known keys, in the order of `fields`. The message about an unknown key suggests the
 * nearest name. Returns false and sets err on failure. */
bool tree_fields(struct tree *tree, const yaml_node_t *node, const char *what,
                 const struct tree_field *fields, size_t count, void *context, struct error *err);

#endif
