/* The timed machine of `croft run`: its options, traces and checks. */
#ifndef EMU_CMD_RUN_TIMING_H
#define EMU_CMD_RUN_TIMING_H

#include "emu/core/tasks.h"
#include "emu/debug/log.h"
#include "emu/debug/trace.h"
#include "emu/env/user.h"
#include "emu/machine/timed.h"
#include "emu/machine/untimed.h"

/* Options of timed machines; initialize with timing_init(). */
struct timing_options {
    uint64_t max_time; /* fs; UINT64_MAX: no limit */
    bool roi, check_coherence, check_dram, check_tasks;
    struct {
        const char *kind, *path; /* path: NULL: the kind's default */
    } traces[TRACE_KINDS];
    size_t trace_count;
    const char *study; /* file for --partition-study; NULL: none */
    unsigned threads;  /* of the host; 0: one */
    const char *first; /* the first of these options on the command line, or NULL */
};

void timing_init(struct timing_options *options);

/* Take the value of --max-time, --detail, --check, --trace, --partition-study and --threads. Return false and set err if it is not
 * allowed. */
bool timing_take_max_time(struct timing_options *options, const char *value, struct error *err);
bool timing_take_detail(struct timing_options *options, const char *value, struct error *err);
bool timing_take_check(struct timing_options *options, const char *value, struct error *err);
bool timing_take_trace(struct timing_options *options, const char *value, struct error *err);
bool timing_take_study(struct timing_options *options, const char *value, struct error *err);
bool timing_take_threads(struct timing_options *options, const char *value, struct error *err);

/* Returns false and sets err if options were given but the machine has no clock. */
bool timing_check(const struct timing_options *options, const struct machine_config *machine,
                  struct error *err);

/* A run on a timed machine. */
struct timing {
    struct timed *timed; /* NULL: the machine has no clock */
    struct trace *traces[TRACE_KINDS];
    size_t trace_count;
    struct trace *trace;     /* these joined; it owns them */
    const char *study;       /* file for --partition-study; NULL: none */
    struct untimed *untimed; /* of a machine without a clock; or NULL */
};

/* If the machine is timed, builds it around the harts and registers its statistics. All arguments must
 * outlive it. tasks and log may be NULL. The program is `bias` above the addresses in its file. Returns false and sets err on failure. */
bool timing_start(struct timing *timing, const struct timing_options *options,
                  const struct machine_config *machine, struct hart *harts, unsigned count,
                  struct tasks *tasks, struct log *log, const char *program, uint64_t bias,
                  struct stats *stats, struct error *err);

/* Finishes a run before the statistics are written: adds facts, reports findings, closes the trace. Sets
 * *status to 3 if a check has found something. Returns false and sets err on failure. */
bool timing_finish(struct timing *timing, struct stats *stats, int *status, struct error *err);

/* Returns whether the run has statistics; if not, says why. */
bool timing_counts(const struct timing *timing);

/* Prints warnings about the energies in the statistics, if there are some. */
void timing_doubt(const struct timing *timing);

/* Releases the machine. The statistics must not be read afterwards. */
void timing_free(struct timing *timing);

#endif
