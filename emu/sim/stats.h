/* The statistics of a run: plain counters, registered once with unit and meaning, read by named regions. */
#ifndef EMU_SIM_STATS_H
#define EMU_SIM_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/sim/error.h"
#include "emu/sim/histogram.h"
#include "emu/sim/scope.h"

struct stats;

/* A counter of a table. */
struct stats_row {
    const char *name;
    const uint64_t *value;
    const char *unit, *meaning;
};

/* What a ratio is made of: a counter, or one that is computed. */
struct stats_operand {
    const uint64_t *value; /* NULL: call read(context) */
    uint64_t (*read)(const void *context);
    const void *context;
};

enum {
    STATS_REGIONS = 4096, /* named regions that are kept */
    STATS_DUMPS = 4096,   /* snapshots that are kept; programs ask for them, so there must be a bound */
};

/* An empty registry; NULL never (out of memory aborts). Free with stats_free(). */
struct stats *stats_new(void);
void stats_free(struct stats *stats);

/* Registers a counter that its owner only ever increases. It is called `name` in its scope (`hart.0.instructions`), which
 * must be unique; the name is copied; unit ("instructions", "bytes", "fs", "pJ") and meaning (one line) must outlive the
 * registry. The value is read whenever a region begins, is reset or ends, so *value must stay valid until stats_free().
 * All counters are registered before the first region, reset or dump. */
void stats_counter(struct stats *stats, struct scope scope, const char *name, const uint64_t *value,
                   const char *unit, const char *meaning);

/* The same for all rows of a table, in their order; the table itself need not stay. */
void stats_counters(struct stats *stats, struct scope scope, const struct stats_row *rows, size_t count);

/* The same for a counter that is computed: read(context) is called instead. */
void stats_computed(struct stats *stats, struct scope scope, const char *name,
                    uint64_t (*read)(const void *context), const void *context, const char *unit,
                    const char *meaning);

/* Registers a mean or a rate: what `over` has counted divided by what `under` has, in the run or region that is written.
 * It is a real number, or null where `under` has counted nothing; unit is that of the quotient ("accesses/access"). The
 * operands are read as counters are, and are no statistics themselves. */
void stats_ratio(struct stats *stats, struct scope scope, const char *name, struct stats_operand over,
                 struct stats_operand under, const char *unit, const char *meaning);

/* Registers a histogram of values in `unit`: the counter "NAME.16" says how many of what `counted` names were at most 16 and
 * in no bucket before, and "NAME.more" how many were above all buckets; "NAME.mean" is a ratio. Each is subtracted, added
 * and reset like any other counter. The histogram stays valid until stats_free(). */
void stats_histogram(struct stats *stats, struct scope scope, const char *name,
                     const struct histogram *histogram, const char *unit, const char *counted,
                     const char *meaning);

/* Named regions. begin opens one; end closes it and adds what was counted since its begin. Regions may
 * overlap in any way; one that is entered several times accumulates, and counts its entries. begin returns
 * false, and does nothing, when the region is open already or STATS_REGIONS others exist; end does so when
 * the region is not open. */
bool stats_region_begin(struct stats *stats, const char *region);
bool stats_region_end(struct stats *stats, const char *region);

/* Zeroes what the whole run has counted so far, and all that open regions have: each begins afresh as its own
 * first entry. Closed regions and dumps stay as they are. */
void stats_reset(struct stats *stats);

/* reset(context) is called by every stats_reset(), after counters were read: for what is kept beside counters, as a least
 * value, and so has to begin afresh too. The context outlives the registry. */
void stats_on_reset(struct stats *stats, void (*reset)(void *context), void *context);

/* Keeps a numbered snapshot of the whole run since the start or the last reset. False when STATS_DUMPS are
 * kept already; the further ones are counted only. */
bool stats_dump(struct stats *stats);

/* Facts about the run that are no counters (machine name, program, exit status): string or number, written
 * under "run". Host-dependent figures (seconds, MIPS) go under "host", apart from what is deterministic.
 * Names and texts are copied; a fact that is given again replaces the earlier one. */
void stats_fact_text(struct stats *stats, const char *name, const char *value);
void stats_fact_number(struct stats *stats, const char *name, uint64_t value);
void stats_host_number(struct stats *stats, const char *name, double value);

/* Writes everything as one JSON object and a newline, keys in registration order; regions still open are
 * closed first. Fails when `out` cannot be written.
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
 * So `jq .run`, `jq '.total["hart.0.instructions"]'` and `jq '.regions.spmv["hart.0.instructions"]'` do what
 * they say. Counters are exact integers; one above 2^63-1, which common JSON readers refuse, is a string of
 * its decimal digits. Ratios are reals of 9 digits. Bytes of texts that are not UTF-8 appear as \xNN. */
bool stats_write_json(struct stats *stats, FILE *out, struct error *err);

/* Writes the counters since the start or the last reset as lines for a reader, `name value # meaning (unit)`.
 * Changes nothing: regions stay open. */
void stats_print(struct stats *stats, FILE *out);

#endif
