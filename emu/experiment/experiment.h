/* Experiments: runs programs on variants of a machine, as a description says, and writes tables of their
 * statistics. */
#ifndef EMU_EXPERIMENT_EXPERIMENT_H
#define EMU_EXPERIMENT_EXPERIMENT_H

#include <stdint.h>

#include "emu/experiment/doc.h"
#include "emu/experiment/engine.h"
#include "emu/experiment/results.h"

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
 * A run is found in results.db by what determines it: croft, the program's bytes, its arguments, `options`, the resolved machine,
 * and the bytes of files that arguments and options name. `inputs: [FILE]` in a program names further files that it reads.
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

enum {
    EXPERIMENT_AXES = 16,
    EXPERIMENT_COLUMNS = 256,
    EXPERIMENT_POINTS = 1 << 20,    /* of one axis */
    EXPERIMENT_RUNS = 100000000,    /* and means: most of an experiment */
    EXPERIMENT_WITHOUT_YES = 10000, /* most runs that croft experiment does not ask about */
};

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
    struct experiment_texts flags, arguments, inputs;
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

/* Points of one axis: all, or those of a list. */
struct experiment_points {
    bool chosen; /* false: all */
    int *items, count;
};

struct experiment_choice {
    struct experiment_points axes[EXPERIMENT_AXES];
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
    struct experiment_choice at; /* for `program`, the number after the last program stands for the mean */
    double value;
    const char *source;
};

struct experiment {
    struct doc doc;
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

enum experiment_state { EXPERIMENT_LEFT, EXPERIMENT_SKIPPED, EXPERIMENT_FAILED, EXPERIMENT_DONE };

/* The run at a place. */
struct experiment_run {
    enum experiment_state state;
    bool known; /* key is set: its program and machine can be read */
    struct digest key;
    char *failure;  /* one line about a failed run; NULL: none */
    double *values; /* by column; NaN: unknown */
};

/* Paths, and what the command line adds. */
struct experiment_where {
    const char *croft, *out, *folder; /* folder: the description's */
    const char *results;              /* path of results.db */
    const char *machines;             /* folder of the shipped machines */
    const char *parts[4]; /* files that are part of croft, ended by NULL: they determine runs, too */
    const char *const *sets;
    size_t set_count;
    unsigned jobs;
    uint64_t memory; /* bytes for all runs; 0: what is free */
    bool retry_failed;
    engine_body *body;
};

/* Makes runs[experiment_places()], to be released by experiment_unplan(). Returns NULL with err set if the description names
 * variables that have no value, or if nothing is left to run. */
struct experiment_run *experiment_plan(const struct experiment *e, struct error *err);
void experiment_unplan(const struct experiment *e, struct experiment_run *runs);

/* Returns the points' names of a place, separated by dots; the caller frees it. */
char *experiment_label(const struct experiment *e, const int point[EXPERIMENT_AXES]);

/* What a place runs. */
struct experiment_task {
    char *label;              /* as experiment_label() */
    char *machine, *program;  /* name or path; path */
    char **sets, **arguments; /* of croft run --set, and of the program; NULL-terminated */
    char **files;             /* further files that the program reads: paths; NULL-terminated */
    char **options;           /* borrowed from the description; NULL-terminated */
};

void experiment_task(const struct experiment *e, const struct experiment_where *where,
                     const int point[EXPERIMENT_AXES], struct experiment_task *task);
void experiment_task_free(struct experiment_task *task);

/* Returns the words of the task's command, NULL-terminated and to be freed with one free(); they borrow the task's texts. If
 * `statistics` is not NULL, it gets the index of the word for the file of statistics. */
char **experiment_words(const struct experiment_where *where, const struct experiment_task *task,
                        int *statistics);

/* Returns words as a text for a shell, quoted if necessary; the caller frees it. */
char *experiment_command(char *const *words);

/* Compiles the programs that have sources, then executes all runs that are not in results.db, and adds each as it ends. Marks
 * failed runs and reports them on standard error. A signal ends what is under way. Returns false and sets err if results cannot
 * be kept or nothing can be started. */
bool experiment_execute(const struct experiment *e, const struct experiment_where *where,
                        struct results *results, struct experiment_run *runs, struct error *err);

/* Reads the runs' statistics and computes all columns and means. Reports runs without statistics and marks them as failed. */
void experiment_evaluate(const struct experiment *e, struct results *results, struct experiment_run *runs);

/* Returns the reference for a column at a place, or NULL. */
const struct experiment_reference *experiment_reference_at(const struct experiment *e, int column,
                                                           const int point[EXPERIMENT_AXES]);

/* Writes results.csv, results.json, tables.txt and a copy of the description, stores the tables in results.db, and prints
 * them. Returns false and sets err on failure. */
bool experiment_write(const struct experiment *e, const struct experiment_where *where,
                      struct results *results, const struct experiment_run *runs, struct error *err);

/* Writes each run's command, output, messages, statistics and machine to files in runs/. Returns false and sets err on
 * failure. */
bool experiment_files(const struct experiment *e, const struct experiment_where *where,
                      struct results *results, const struct experiment_run *runs, struct error *err);

#endif
