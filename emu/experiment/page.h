/* The page of croft report: one HTML file with the data, the program that draws them, and nothing to load. */
#ifndef EMU_EXPERIMENT_PAGE_H
#define EMU_EXPERIMENT_PAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "emu/sim/error.h"

/* The sources of a page. */
struct page_options {
    const char
        *results; /* folder or results.db of an experiment, results.json, or a file of croft run --stats */
    const char *experiment; /* name of one of several experiments in results.db; NULL: the last */
    const char *share;      /* folder of the page's parts */
    const char *machines;   /* folder of the shipped machines */
};

/* Writes the page. Returns false and sets err on failure. */
bool page_write(const struct page_options *options, FILE *out, struct error *err);

/* Returns the page's data for a table of an experiment (results.json). Means over programs are listed as such. Takes over
 * `tables`. Returns NULL with err set if it is not such a table. */
json_t *page_table(json_t *tables, struct error *err);

/* Adds the drawing of a machine to the data: as a picture if Graphviz is there, else as text. `text` is its description. */
void page_graph(json_t *data, const char *name, const char *text, const char *machines);

/* Returns what rooflines need of a machine's description: {"bandwidth": bytes/s, "burst": bytes, "issue": instructions/s}; 0:
 * unknown. */
json_t *page_machine(const char *text, const char *machines);

#endif
