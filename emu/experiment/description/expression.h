/* Expressions of descriptions: conditions over axes, columns made of columns. They are SQLite's, and can read nothing but their
 * names. */
#ifndef EMU_EXPERIMENT_DESCRIPTION_EXPRESSION_H
#define EMU_EXPERIMENT_DESCRIPTION_EXPRESSION_H

#include "emu/experiment/doc.h"

struct expression;

/* Reads the expression in a scalar `node`, the value of `key`, over `count` names; real: whole numbers in it are real ones;
 * `help` ends the message about a wrong one. All strings must outlive it. Returns NULL with err set if it is wrong. Release it
 * with expression_free(). */
struct expression *expression_read(const struct doc *doc, const yaml_node_t *node, const char *key,
                                   const char *const *names, int count, bool real, const char *help,
                                   struct error *err);
void expression_free(struct expression *expression);

/* Begins an evaluation: then, each name gets a value. A text is a number, a quantity in its smallest unit, or else a text; a NaN
 * is no value. */
void expression_begin(struct expression *expression);
void expression_bind_text(struct expression *expression, int name, const char *text);
void expression_bind_number(struct expression *expression, int name, double value);

/* Return the number of parameters that the expression has beside its names, which are numbered after these; and one's name
 * ("$rounds"; NULL: it has none). */
int expression_parameters(const struct expression *expression);
const char *expression_parameter(const struct expression *expression, int parameter);

/* Returns false with err set if there is no such value; *value is NaN if a value that it depends on is none. */
bool expression_value(struct expression *expression, double *value, struct error *err);

#endif
