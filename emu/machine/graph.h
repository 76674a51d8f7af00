/* Drawings of a machine: its tree of parts with the links between them. */
#ifndef EMU_MACHINE_GRAPH_H
#define EMU_MACHINE_GRAPH_H

#include <stdio.h>

#include "emu/machine/machine.h"

/* Writes the parts as an indented text, each with what it is joined to. Copies are shown once, with their number. False with
 * err set when the ports do not fit. */
bool graph_text(const struct machine_config *machine, FILE *out, struct error *err);

/* The same as a graph in the language of Graphviz (`dot -Tsvg`): parts that hold parts are boxes around them. */
bool graph_dot(const struct machine_config *machine, FILE *out, struct error *err);

#endif
