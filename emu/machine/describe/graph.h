/* Drawings of a machine: its tree of parts and the links between them. */
#ifndef EMU_MACHINE_DESCRIBE_GRAPH_H
#define EMU_MACHINE_DESCRIBE_GRAPH_H

#include <stdio.h>

#include "emu/machine/machine.h"

/* Writes the tree of parts as text. The links of a part follow below it, as "out -> link.*.in": its port,
 * then the other part and its port, named as in references of descriptions. Copies of a part are drawn once,
 * with their number, if they are alike: their labels are equal and their connections lead to parts that are
 * alike. Other copies are drawn separately, as "module.0-3" and "module.4-7". False with err set when the
 * ports do not match. */
bool graph_text(const struct machine_config *machine, FILE *out, struct error *err);

/* Like graph_text(), in Graphviz's language (`dot -Tsvg`). A part that contains parts is a box around them. */
bool graph_dot(const struct machine_config *machine, FILE *out, struct error *err);

#endif
