/* The statistics of runs as results.db keeps them: the names once for all runs that have the same ones, and the values of
 * each run in the names' order. */
#ifndef EMU_EXPERIMENT_RESULTS_STATISTICS_H
#define EMU_EXPERIMENT_RESULTS_STATISTICS_H

#include <jansson.h>

#include "emu/sim/error.h"

/* Names, units and meanings: {"names": [], "units": [], "meanings": []}. */
struct statistics_names {
    json_t *json;
    size_t count;
    const char **names;
};

/* Statistics of one run: {"run": {facts}, "total": [values], "regions": {"NAME": {"entries": 1, "values": []}}}. */
struct statistics {
    const struct statistics_names *names; /* borrowed */
    json_t *json;
};

/* The names of the text that was packed last: most runs of an experiment have the same ones, which are longer than the values. All
 * zeros: none. Free it with statistics_forget(). */
struct statistics_latest {
    char *text; /* the part of the file that has the names */
    size_t size;
    json_t *schema;
    char *names;
};

/* Converts the text of a file of croft run --stats into two texts, which the caller frees: of struct statistics_names and of
 * struct statistics. Leaves out values that depend on the host. Returns false and sets err if the text is not such a file. */
bool statistics_pack(struct statistics_latest *latest, const char *text, size_t size, char **names,
                     char **values, struct error *err);
void statistics_forget(struct statistics_latest *latest);

/* Read the texts that statistics_pack() made. Return false if they are damaged. */
bool statistics_names_load(struct statistics_names *names, const char *text, size_t size);
void statistics_names_free(struct statistics_names *names);
bool statistics_load(struct statistics *statistics, const struct statistics_names *names, const char *text,
                     size_t size);
void statistics_free(struct statistics *statistics);

/* Returns the values of a region, or of the whole run if it is "total", as an array in the names' order; NULL: there is no such
 * region. The array belongs to the statistics. */
const json_t *statistics_region(const struct statistics *statistics, const char *region);

/* Returns the statistics in the format of croft run --stats, without values that depend on the host; the caller frees the text. */
char *statistics_text(const struct statistics *statistics);

/* Returns the names of the regions as an object that has them as keys. */
const json_t *statistics_regions(const struct statistics *statistics);

/* Returns the number that a value stands for: integers above 2^63-1 are texts of digits. NaN: no number, like the mean of no
 * samples. */
double statistics_number(const json_t *value);

#endif
