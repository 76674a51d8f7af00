/* Experiments: a description of programs, a machine and axes becomes runs of croft, and their statistics a table. */
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
 * Every program is run at every combination of the axes' points but those that `skip` names. A point is a mapping of
 * settings; names that begin with $ are variables instead, which may stand as a whole argument of a program. Of two
 * that set the same, the later axis wins, and the command line's --set over all. A statistic is that of the program's region
 * of interest (`region`, by default the program's name; `total` is the whole run), a sum where there are several
 * (less those behind a -) or where * stands for any characters; one that a run does not have is an error, or the value of `absent`.
 * `divide` is the quotient of two columns, `speedup` ... `from` the column's value at a baseline over its own, `ratio`
 * ... `to` the inverse; a baseline names points of some axes, and has those of the run in all others.
 * `mean` adds a row over all programs, named `mean`. Programs are the first axis, named `program`. */

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
    struct experiment_pairs pairs;      /* not of programs */
    struct experiment_program *program; /* of the axis `program` alone */
};

struct experiment_axis {
    const char *name;
    struct experiment_point *points;
    int count;
};

/* By axis, the set of points. */
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
    int operands[2];               /* earlier columns */
    int baseline[EXPERIMENT_AXES]; /* points, or -1: that of the run */
    double absent;                 /* NaN: a missing statistic is an error */
    enum experiment_mean mean;
};

struct experiment_table {
    int column, across;
};

struct experiment_reference {
    int column;
    struct experiment_choice at; /* the mean over programs has the bit behind those of programs */
    double value;
    const char *source;
};

struct experiment {
    struct tree tree;
    char *text; /* of the file */
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

/* Reads the description at path, which lives as long as the experiment. */
bool experiment_read(struct experiment *e, const char *path, struct error *err);
void experiment_free(struct experiment *e);

/* A place: a point of each axis. Places are numbered in the order of the description, the last axis fastest; behind the
 * last program's come those of the mean. */
int experiment_places(const struct experiment *e); /* with those of the mean */
int experiment_runs(const struct experiment *e);   /* without */
void experiment_place(const struct experiment *e, int number, int point[EXPERIMENT_AXES]);
int experiment_number(const struct experiment *e, const int point[EXPERIMENT_AXES]);
bool experiment_skipped(const struct experiment *e, const int point[EXPERIMENT_AXES]);

/* A point's name; "mean" behind the programs. */
const char *experiment_point_name(const struct experiment *e, int axis, int point);

/* What is run at a place. */
struct experiment_run {
    char *label;    /* of its files: the points' names with dots between them */
    char **command; /* ends with NULL */
    bool skipped, failed;
    double *values; /* by column; NaN: not known */
};

/* Where results go, and what the command line adds. */
struct experiment_where {
    const char *croft, *out, *folder; /* folder: of the description */
    const char *const *sets;
    size_t set_count;
    unsigned jobs;
};

/* Plans all places: runs[experiment_places()], to be freed by experiment_unplan(). */
struct experiment_run *experiment_plan(const struct experiment *e, const struct experiment_where *where,
                                       struct error *err);
void experiment_unplan(const struct experiment *e, struct experiment_run *runs);

/* Compiles the programs that have sources, then runs everything, where->jobs at a time. What fails is marked and reported on
 * standard error. False only when nothing could be started. */
bool experiment_execute(const struct experiment *e, const struct experiment_where *where,
                        struct experiment_run *runs, struct error *err);

/* Reads the runs' statistics and works out all columns and means. Runs whose statistics are missing are reported and marked
 * as failed. */
void experiment_evaluate(const struct experiment *e, const struct experiment_where *where,
                         struct experiment_run *runs);

/* The reference for a column at a place, or NULL. */
const struct experiment_reference *experiment_reference_at(const struct experiment *e, int column,
                                                           const int point[EXPERIMENT_AXES]);

/* Writes results.csv, results.json, tables.txt and a copy of the description; prints the tables. */
bool experiment_write(const struct experiment *e, const struct experiment_where *where,
                      const struct experiment_run *runs, struct error *err);

#endif
