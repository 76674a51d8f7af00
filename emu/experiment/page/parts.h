/* The parts of a page: the table of an experiment, and machines. */
#ifndef EMU_EXPERIMENT_PAGE_PARTS_H
#define EMU_EXPERIMENT_PAGE_PARTS_H

#include <jansson.h>
#include <stdbool.h>

#include "emu/sim/error.h"

/* Returns the page's data for a table of an experiment (results.json). Means over programs are listed as such. Takes over
 * `tables`. Returns NULL with err set if it is not such a table. */
json_t *page_table(json_t *tables, struct error *err);

/* Adds the drawing of a machine to the data: as a picture if Graphviz is there, else as text. `text` is its description. */
void page_graph(json_t *data, const char *name, const char *text, const char *machines);

/* Returns what rooflines need of a machine's description: {"bandwidth": bytes/s, "burst": bytes, "issue": instructions/s}; 0:
 * unknown. */
json_t *page_machine(const char *text, const char *machines);

#endif
