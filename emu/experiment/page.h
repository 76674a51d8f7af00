/* The page of croft report: one HTML file with the data, the program that draws them, and nothing to load. */
#ifndef EMU_EXPERIMENT_PAGE_H
#define EMU_EXPERIMENT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/sim/error.h"

/* The sources of a page. */
struct page_options {
    /* Folder or results.db of an experiment, results.json, or a file of croft run --stats. */
    const char *results;
    const char *experiment; /* name of one of several experiments in results.db; NULL: the last */
    const char *share;      /* folder of the page's parts */
    const char *machines;   /* folder of the shipped machines */
};

/* Writes the page. Returns false and sets err on failure. */
bool page_write(const struct page_options *options, FILE *out, struct error *err);

#endif
