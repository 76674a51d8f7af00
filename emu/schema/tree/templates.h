/* Templates that no part uses: their keys are checked without a part. */
#ifndef EMU_SCHEMA_TREE_TEMPLATES_H
#define EMU_SCHEMA_TREE_TEMPLATES_H

#include "emu/schema/tree.h"

#define TEMPLATE_PART "template" /* name of the part that the settings of a template describe */

/* Checks the template of that name. The settings of the tree are the template's, of a part TEMPLATE_PART. With
 * a key `kind`, each key and value must be one of that kind; without it, some kind must have all of them.
 * Parts below it without a kind are not checked, because a part that uses the template can give it. False with
 * err set, naming file, line and template. */
bool template_check(const struct tree *tree, const char *name, struct error *err);

#endif
