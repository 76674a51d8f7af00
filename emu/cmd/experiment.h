/* Experiments: runs programs on variants of a machine, as a description says, and writes tables of their
 * statistics. */
#ifndef EMU_CMD_EXPERIMENT_H
#define EMU_CMD_EXPERIMENT_H

#include <stdint.h>

#include "emu/cmd/experiment_tree.h"

/* A description:
 *
 *     title: one line
 *     machine: nucd                      # name, or file relative to the description
 *     options: [--env, kernel]           # further options of croft run
 *     set: {host.l1d.prefetch: stride}   # settings of every run
 *     programs:
 *       meabo2: {source: meabo2.c, flags: [-O2], arguments: [$tasks], region: meabo2}
 *       other: {file: other.elf}         # both relative to the description
 *     axes:
 *       accelerators:
 *         4: {accel.count: 4, $tasks: 4}
 *         8: {accel.count: 8, $tasks: 8}
 *       offload:
 *         none: {nucd.mode: none, $tasks: 1}
 *         nucd: {nucd.mode: nucd}
 *     skip: [{offload: none, accelerators: 8}]
 *     columns:
 *       cycles: {statistic: host.0.cycles}
 *       misses: {statistic: [host.0.l1d.misses, accel.*.l1d.misses], absent: 0}
 *       rate: {divide: [misses, cycles], mean: arithmetic}
 *       speedup: {speedup: cycles, from: {offload: none, accelerators: 4}, mean: geometric}
 *     tables: [{column: speedup, across: offload}]
 *     references: [{column: speedup, at: {program: meabo2, accelerators: 4}, value: 1.2, source: figure 8}]
 *
 * Each program is run at each combination of the axes' points, except for those that `skip` names. The
 * programs are the first axis, named `program`.
 *
 * A point is a mapping of settings. A name that begins with $ is a variable; it can replace a whole argument
 * of a program. If two axes set the same name, the later axis wins. The command line's --set wins over all.
 *
 * `region` is the program's region of interest whose statistics are read: by default the program's name;
 * `total` is the whole run.
 *
 * A column is one of the following. `statistic`: a statistic, or the sum of several, of which those after a -
 * are subtracted; * stands for any characters. A statistic that a run does not have is an error, or has the
 * value of `absent`. `divide`: the quotient of two columns. `speedup` ... `from`: a column's value at a
 * baseline divided by its own value. `ratio` ... `to`: the inverse of that. A baseline names points of some
 * axes; in all other axes it has the run's points.
 *
 * `mean` adds a row over all programs, named `mean`. */

enum { EXPERIMENT_AXES = 8, EXPERIMENT_POINTS = 64, EXPERIMENT_RUNS = 4096 };

struct experiment_pair {
    const char *name, *value;
};

struct experiment_pairs {
    struct experiment_pair *items;
    int count;
};

struct experiment_texts {
    const char **items;
    int count;
};

struct experiment_program {
    const char *file, *source, *region; /* one of file and source is NULL */
    struct experiment_texts flags, arguments;
    const yaml_node_t *node;
};

struct experiment_point {
    const char *name;
    struct experiment_pairs pairs;      /* settings and variables; none in the axis `program` */
    struct experiment_program *program; /* in the axis `program` only */
};

struct experiment_axis {
    const char *name;
    struct experiment_point *points;
    int count;
};

/* A set of points for each axis: bit n stands for point n. */
struct experiment_choice {
    uint64_t points[EXPERIMENT_AXES];
};

enum experiment_kind {
    EXPERIMENT_STATISTIC,
    EXPERIMENT_DIVIDE,
    EXPERIMENT_SPEEDUP,
    EXPERIMENT_RATIO,
};

enum experiment_mean { EXPERIMENT_NO_MEAN, EXPERIMENT_ARITHMETIC, EXPERIMENT_GEOMETRIC };

struct experiment_column {
    const char *name;
    enum experiment_kind kind;
    struct experiment_texts statistics;
    int operands[2];               /* indices of earlier columns */
    int baseline[EXPERIMENT_AXES]; /* index of a point for each axis; -1: the run's point */
    double absent;                 /* NaN: a missing statistic is an error */
    enum experiment_mean mean;
};

struct experiment_table {
    int column, across;
};

struct experiment_reference {
    int column;
    struct experiment_choice at; /* for `program`, the bit after the last program stands for the mean */
    double value;
    const char *source;
};

struct experiment {
    struct tree tree;
    char *text; /* the file's text */
    const char *title, *machine;
    struct experiment_texts options;
    struct experiment_pairs set;
    struct experiment_axis axes[EXPERIMENT_AXES];
    int axis_count;
    struct experiment_choice *skips;
    struct experiment_column *columns;
    struct experiment_table *tables;
    struct experiment_reference *references;
    int skip_count, column_count, table_count, reference_count;
};

/* Reads the description at `path`; the string must outlive the experiment. Returns false and sets err on
 * failure. */
bool experiment_read(struct experiment *e, const char *path, struct error *err);
void experiment_free(struct experiment *e);

/* A place is a point of each axis. Places are numbered in the description's order; the last axis varies
 * fastest. The places of the mean follow those of the last program. */
int experiment_places(const struct experiment *e); /* including the places of the mean */
int experiment_runs(const struct experiment *e);   /* without the places of the mean */
void experiment_place(const struct experiment *e, int number, int point[EXPERIMENT_AXES]);
int experiment_number(const struct experiment *e, const int point[EXPERIMENT_AXES]);
bool experiment_skipped(const struct experiment *e, const int point[EXPERIMENT_AXES]);

/* Returns a point's name; "mean" for the point after the last program. */
const char *experiment_point_name(const struct experiment *e, int axis, int point);

/* The run at a place. */
struct experiment_run {
    char *label;    /* base name of its files: the points' names, separated by dots */
    char **command; /* terminated by NULL */
    bool skipped, failed;
    double *values; /* by column; NaN: unknown */
};

/* Paths, and what the command line adds. */
struct experiment_where {
    const char *croft, *out, *folder; /* folder: the description's */
    const char *const *sets;
    size_t set_count;
    unsigned jobs;
};

/* Plans all places. Returns runs[experiment_places()], to be released by experiment_unplan(); or NULL with
 * err set. */
struct experiment_run *experiment_plan(const struct experiment *e, const struct experiment_where *where,
                                       struct error *err);
void experiment_unplan(const struct experiment *e, struct experiment_run *runs);

/* Compiles the programs that have sources, then executes all runs, where->jobs at a time. Marks failed runs
 * and reports them on standard error. Returns false and sets err only if nothing could be started. */
bool experiment_execute(const struct experiment *e, const struct experiment_where *where,
                        struct experiment_run *runs, struct error *err);

/* Reads the runs' statistics and computes all columns and means. Reports runs without statistics and marks
 * them as failed. */
void experiment_evaluate(const struct experiment *e, const struct experiment_where *where,
                         struct experiment_run *runs);

/* Returns the reference for a column at a place, or NULL. */
const struct experiment_reference *experiment_reference_at(const struct experiment *e, int column,
                                                           const int point[EXPERIMENT_AXES]);

/* Writes results.csv, results.json, tables.txt and a copy of the description, and prints the tables. Returns
 * false and sets err on failure. */
bool experiment_write(const struct experiment *e, const struct experiment_where *where,
                      const struct experiment_run *runs, struct error *err);

#endif
