/* The statistics of `croft run`: registers the counters and writes the files. */
#ifndef EMU_CMD_RUN_REPORT_H
#define EMU_CMD_RUN_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/hart.h"
#include "emu/machine/machine.h"
#include "emu/sim/error.h"
#include "emu/sim/report/stats.h"

struct report;

/* Makes a report on a run; never returns NULL. path: FILE of --stats, "-" for standard output; NULL: no
 * report is written. */
struct report *report_new(const char *path);
void report_free(struct report *report);

/* Makes report_write() write the statistics to this open file, which it closes, and no description. */
void report_to(struct report *report, int stream);

/* Returns whether a report is written. */
bool report_wanted(const struct report *report);

/* Returns the counters, for callers that begin regions or print statistics during the run. */
struct stats *report_stats(struct report *report);

/* Opens the file before the run, so that an error in the path is reported early. Returns false and sets err
 * if it cannot be written. */
bool report_open(struct report *report, struct error *err);

/* Registers the counters of a hart, which must outlive the report, as hart.0, hart.1, ... */
void report_add_hart(struct report *report, const struct hart *hart);

/* Registers the sums of accelerators' instructions by class ("accel.class.alu", ...). Not for harts of report_add_hart(). */
void report_add_accelerators(struct report *report, const struct hart *harts, unsigned count);

/* Facts about a run. */
struct report_run {
    const char *program;
    const struct machine_config *machine;
    int status;
    double seconds; /* host time */
};

/* Writes the statistics, and the machine's resolved description to FILE.machine.yaml. Returns false and sets
 * err on failure. */
bool report_write(struct report *report, const struct report_run *run, struct error *err);

#endif
