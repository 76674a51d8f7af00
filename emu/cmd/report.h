/* The statistics of `croft run`: which counters there are, and the files that they go to. */
#ifndef EMU_CMD_REPORT_H
#define EMU_CMD_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/hart.h"
#include "emu/machine/machine.h"
#include "emu/sim/error.h"
#include "emu/sim/stats.h"

struct report;

/* A report on a run; never NULL. path: FILE of --stats, "-" for standard output, or NULL when none is wanted.
 */
struct report *report_new(const char *path);
void report_free(struct report *report);

/* The counters, for those who begin regions or show them while the program runs. */
struct stats *report_stats(struct report *report);

/* Opens the file, so that a path that cannot be written is known before the run. */
bool report_open(struct report *report, struct error *err);

/* Registers the counters of a hart, which must outlive the report, as hart.0, hart.1, ... */
void report_add_hart(struct report *report, const struct hart *hart);

/* Facts about the run. */
struct report_run {
    const char *program;
    const struct machine_config *machine;
    int status;
    double seconds; /* of the host */
};

/* Writes the statistics, and the machine's resolved description beside them as FILE.machine.yaml. */
bool report_write(struct report *report, const struct report_run *run, struct error *err);

#endif
