/* A YAML document as libyaml's tree of nodes, read with messages that name file and line. */
#ifndef EMU_CMD_EXPERIMENT_TREE_H
#define EMU_CMD_EXPERIMENT_TREE_H

#include <yaml.h>

#include "emu/sim/error.h"

/* Texts that its functions return live as long as the tree. Not libcyaml, whose messages know no lines. */
struct tree {
    const char *path; /* the caller's */
    yaml_document_t document;
};

enum { TREE_BYTES = 1 << 20 }; /* no larger file is read */

/* Reads the file, which holds one document. Its text, if asked for, is the caller's to free. */
bool experiment_tree_load(struct tree *tree, const char *path, char **text, struct error *err);
void experiment_tree_free(struct tree *tree);

const yaml_node_t *experiment_tree_root(struct tree *tree);
const yaml_node_t *tree_node(struct tree *tree, int index);

/* Sets "PATH:LINE: message" and returns false. */
bool tree_wrong(const struct tree *tree, const yaml_node_t *node, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The text of a plain value; NULL with err set if it is none. `what` names it in the message. */
const char *tree_text(const struct tree *tree, const yaml_node_t *node, const char *what, struct error *err);

/* A number; false with err set. */
bool tree_number(const struct tree *tree, const yaml_node_t *node, const char *what, double *value,
                 struct error *err);

/* The number of a sequence's items or of a mapping's pairs; -1 with err set if the node is none. */
int tree_items(const struct tree *tree, const yaml_node_t *node, const char *what, struct error *err);
int tree_pairs(const struct tree *tree, const yaml_node_t *node, const char *what, struct error *err);

/* Item i of a sequence; key and value of pair i of a mapping whose keys are different texts (tree_pairs() has looked). */
const yaml_node_t *tree_item(struct tree *tree, const yaml_node_t *node, int i);
const char *tree_key(struct tree *tree, const yaml_node_t *node, int i);
const yaml_node_t *tree_value(struct tree *tree, const yaml_node_t *node, int i);

/* A key that a mapping may have, and who reads its value. */
struct tree_field {
    const char *name;
    bool (*read)(void *context, const yaml_node_t *value, struct error *err);
    bool required;
};

/* Reads a mapping of known keys, in the order of the fields; unknown ones are answered with the nearest name. */
bool tree_fields(struct tree *tree, const yaml_node_t *node, const char *what,
                 const struct tree_field *fields, size_t count, void *context, struct error *err);

#endif
