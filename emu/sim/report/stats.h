/* The statistics of a run: plain counters, registered once with unit and meaning; programs can mark regions. */
#ifndef EMU_SIM_REPORT_STATS_H
#define EMU_SIM_REPORT_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/sim/error.h"
#include "emu/sim/report/histogram.h"
#include "emu/sim/report/scope.h"

struct stats;

/* A row of a table of counters. */
struct stats_row {
    const char *name;
    const uint64_t *value;
    const char *unit, *meaning;
};

/* An operand of a ratio: a counter, or a computed value. */
struct stats_operand {
    const uint64_t *value; /* NULL: call read(context) */
    uint64_t (*read)(const void *context);
    const void *context;
};

enum {
    STATS_REGIONS = 4096, /* named regions kept */
    STATS_DUMPS = 4096,   /* snapshots kept; programs request them, so their number needs a bound */
};

/* Makes an empty registry; never NULL (out of memory aborts). Free it with stats_free(). */
struct stats *stats_new(void);
void stats_free(struct stats *stats);

/* Registers a counter that its owner only increases. `name` in its scope (`hart.0.instructions`) must be
 * unique and is copied; unit ("instructions", "bytes", "fs", "pJ") and meaning (one line) must outlive the
 * registry. The value is read when a region begins or ends, at a reset or dump, and when the statistics are
 * written or printed, so *value must stay valid until stats_free(). Register all counters before the first
 * region, reset, dump or output. */
void stats_counter(struct stats *stats, struct scope scope, const char *name, const uint64_t *value,
                   const char *unit, const char *meaning);

/* Registers all rows of a table as stats_counter() does, in their order; the table itself need not outlive the call. */
void stats_counters(struct stats *stats, struct scope scope, const struct stats_row *rows, size_t count);

/* As stats_counter(), for what few programs do: the output has the counter only if it has counted something. */
void stats_rare(struct stats *stats, struct scope scope, const char *name, const uint64_t *value,
                const char *unit, const char *meaning);

/* Registers a computed counter: read(context) returns its value. Otherwise as stats_counter(). */
void stats_computed(struct stats *stats, struct scope scope, const char *name,
                    uint64_t (*read)(const void *context), const void *context, const char *unit,
                    const char *meaning);

/* Registers a mean or a rate: the count of `over` divided by the count of `under`, within the run or region. It is
 * written as a real number, or null if the count of `under` is 0; `unit` is that of the quotient ("accesses/access").
 * The operands are read like counters, but are not statistics themselves. */
void stats_ratio(struct stats *stats, struct scope scope, const char *name, struct stats_operand over,
                 struct stats_operand under, const char *unit, const char *meaning);

/* Registers a histogram of values in `unit`: the counter "NAME.16" is the number of values (counted in `counted`) up to
 * 16 and above the bucket before, "NAME.more" the number above all buckets, and "NAME.mean" a ratio. Each is
 * subtracted, added and reset like any other counter. The histogram must stay valid until stats_free(). */
void stats_histogram(struct stats *stats, struct scope scope, const char *name,
                     const struct histogram *histogram, const char *unit, const char *counted,
                     const char *meaning);

/* Named regions. begin opens a region; end closes it and adds the counts since its begin. Regions may overlap in any
 * way; a region that is entered several times accumulates and counts its entries. begin does nothing and returns false
 * if the region is open or STATS_REGIONS other regions exist; end does so if the region is not open. */
bool stats_region_begin(struct stats *stats, const char *region);
bool stats_region_end(struct stats *stats, const char *region);

/* Zeroes the counts of the whole run and of all open regions; each open region starts again as its own first entry.
 * Closed regions and dumps stay as they are. */
void stats_reset(struct stats *stats);

/* Makes every stats_reset() call reset(context), after it has read the counters: for values beside the counters, such
 * as a minimum, that must restart too. The context must outlive the registry. */
void stats_on_reset(struct stats *stats, void (*reset)(void *context), void *context);

/* Keeps a numbered snapshot of the whole run since the start or the last reset. Returns false if STATS_DUMPS are kept
 * already; then the dump is only counted. */
bool stats_dump(struct stats *stats);

/* Facts about the run that are not counters (machine name, program, exit status), as text or number, written under
 * "run". Host-dependent figures (seconds, MIPS) go under "host", apart from deterministic ones. Names and texts are
 * copied; a fact given again replaces the earlier one. */
void stats_fact_text(struct stats *stats, const char *name, const char *value);
void stats_fact_number(struct stats *stats, const char *name, uint64_t value);
void stats_host_number(struct stats *stats, const char *name, double value);

/* Writes everything as one JSON object and a newline, keys in registration order; open regions are closed first. Fails
 * if `out` cannot be written.
 *
 *   {
 *     "format": "croft statistics 1",
 *     "run": {"machine": "functional", "exit_status": 0},     facts, in order of their first naming
 *     "statistics": {"hart.0.instructions": {"unit": "instructions", "meaning": "..."}},
 *     "total": {"hart.0.instructions": 1234},                 since the start or the last reset
 *     "regions": {"spmv": {"entries": 2, "hart.0.instructions": 567}},    in order of their first begin
 *     "dumps": [{"hart.0.instructions": 100}],                in order of time
 *     "dropped": {"regions": 1, "dumps": 0},                  refused for lack of room; absent if none
 *     "host": {"seconds": 0.12}                               figures that differ from run to run
 *   }
 *
 * Read it with `jq .run`, `jq '.total["hart.0.instructions"]'` or `jq '.regions.spmv["hart.0.instructions"]'`. Counters
 * are exact integers; one above 2^63-1, which common JSON readers refuse, is written as a string of its decimal digits.
 * Ratios have 9 digits. Bytes of texts that are not UTF-8 appear as \xNN. */
bool stats_write_json(struct stats *stats, FILE *out, struct error *err);

/* Prints the counts since the start or the last reset, one line each: `name value # meaning (unit)`. pattern:
 * a shell pattern that selects names; NULL: all. Returns the number of lines. Changes no counts; regions stay
 * open. */
size_t stats_print(struct stats *stats, const char *pattern, FILE *out);

/* A statistic as stats_each() hands it out. */
struct stats_value {
    const char *name, *unit, *meaning;
    bool real;      /* a mean or a rate: `quotient`, which is not a number (isnan) if nothing was counted */
    uint64_t count; /* otherwise */
    double quotient;
};

/* Calls each() with the counts since the start or the last reset, in the order of registration, until it returns false.
 * Changes no counts. */
void stats_each(struct stats *stats, bool (*each)(void *context, const struct stats_value *value),
                void *context);

/* Fills in the statistic of that name. Returns false if there is none. Reads only what it needs. */
bool stats_find(const struct stats *stats, const char *name, struct stats_value *value);

#endif
