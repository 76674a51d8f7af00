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
 *       rob: {set: host.rob, values: [32, 64, 128]}
 *       l2: {set: l2.size, from: 256 KiB, to: 4 MiB, times: 2}
 *     zip: [[rob, l2]]
 *     skip: [{offload: none, accelerators: 8}]
 *     where: [rob >= 8 * accelerators]
 *     columns:
 *       cycles: {statistic: host.0.cycles}
 *       misses: {statistic: [host.0.l1d.misses, accel.*.l1d.misses], absent: 0}
 *       rate: {divide: [misses, cycles], mean: arithmetic}
 *       speedup: {speedup: cycles, from: {offload: none, accelerators: 4}, mean: geometric}
 *     tables: [{column: speedup, across: offload}]
 *     references: [{column: speedup, at: {program: meabo2, accelerators: 4}, value: 1.2, source: figure 8}]
 *     searches: [{axis: rob, column: of_ideal, at_least: 0.95, at: {offload: nucd}}]
 *     compare: [{axis: offload, from: none, to: nucd}]
 *
 * Each program is run at each combination of the axes' points, except for those that `skip` names or for which a condition of
 * `where` does not hold. The programs are the first axis, named `program`.
 *
 * A point is a mapping of settings. A name that begins with $ is a variable; it can replace a whole argument of a program. If two
 * axes set the same name, the later axis wins. The command line's --set wins over all. $machine is the machine of a run instead
 * of `machine`, $croft the path of another croft (relative to the description) that executes it.
 *
 * An axis can also be:
 *   {set: NAME, values: [16, 32]}                         one setting, or a list of settings that have the same value
 *   {set: NAME, from: 16, to: 128, step: 16}              equal steps; from: 64 KiB, to: 1 MiB, times: 2: factors
 *   {sample: latin, count: 100, seed: 1, of: {NAME: [1, 2, 4], NAME: {from: 16, to: 512, step: 8}}}
 *                                                         points named 1 to 100 with values of several settings: a Latin hypercube,
 *                                                         or `random`; the tables show the values
 *
 * Axes in one group of `zip` advance together. Conditions are expressions of SQLite over axes' points and $variables; sizes,
 * times, frequencies and bandwidths are in bytes, fs, Hz and bytes per second.
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
 * `mean` adds a row over all programs, named `mean`.
 *
 * A search finds the first point of an axis at which a column is `at_least` or `at_most` a value, for each combination of the
 * other axes (or those of `at`). It bisects: once a point reaches the threshold, all later ones are taken to do so. With searches,
 * only the runs that they need are executed.
 *
 * A comparison writes each statistic that differs between two points of an axis to differences.csv. */

enum {
    EXPERIMENT_AXES = 16,
    EXPERIMENT_COLUMNS = 256,
    EXPERIMENT_POINTS = 1 << 20,    /* of one axis */
    EXPERIMENT_RUNS = 100000000,    /* most runs and means of an experiment */
    EXPERIMENT_WITHOUT_YES = 10000, /* most runs that croft experiment does not ask about */
};

struct experiment_pair {
    const char *name, *value;
    const yaml_node_t *node; /* of the description, for messages */
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
    const char *value;                  /* of an axis of values; NULL: none */
    struct experiment_pairs pairs;      /* settings and variables; none in the axis `program` */
    struct experiment_program *program; /* in the axis `program` only */
};

struct experiment_axis {
    const char *name;
    struct experiment_point *points;
    int count;
    int leader;   /* index of the axis that this one follows (`zip`); its own index: none */
    bool sampled; /* tables show the points' settings */
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
    const yaml_node_t *node;       /* of the statistics */
    int operands[2];               /* indices of earlier columns */
    int baseline[EXPERIMENT_AXES]; /* index of a point for each axis; -1: the run's point */
    double absent;                 /* NaN: a missing statistic is an error */
    enum experiment_mean mean;
};

/* A search for the first point of an axis whose column reaches a threshold. One of the limits is NaN. */
struct experiment_search {
    int axis, column;
    double least, most;
    struct experiment_choice at;
};

/* A comparison of the statistics of two points. */
struct experiment_comparison {
    int axis, from, to;
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
    char *text;                   /* the file's text */
    const yaml_node_t *axes_node; /* of the whole description, if it has no axes */
    const yaml_node_t *machine_node;
    const char *title, *machine;
    struct experiment_texts options;
    struct experiment_pairs set;
    struct experiment_axis axes[EXPERIMENT_AXES];
    int axis_count;
    unsigned char *skipped; /* one bit for each run */
    char **made;            /* texts that are not in the file */
    struct experiment_search *searches;
    struct experiment_comparison *comparisons;
    struct experiment_column *columns;
    struct experiment_table *tables;
    struct experiment_reference *references;
    int column_count, table_count, reference_count, search_count, comparison_count, made_count;
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
void experiment_follow(const struct experiment *e,
                       int point[EXPERIMENT_AXES]); /* sets the axes that others lead */
bool experiment_chosen(const struct experiment *e, const struct experiment_choice *choice,
                       const int point[EXPERIMENT_AXES]);
void experiment_free_choice(struct experiment_choice *choice);

/* Returns a variable's value at a place, from the last axis that sets it; NULL: none does. */
const char *experiment_variable(const struct experiment *e, const int point[EXPERIMENT_AXES],
                                const char *name);

bool experiment_skipped(const struct experiment *e, const int point[EXPERIMENT_AXES]);

/* Returns a point's name; "mean" for the point after the last program. */
const char *experiment_point_name(const struct experiment *e, int axis, int point);

enum experiment_state { EXPERIMENT_LEFT, EXPERIMENT_SKIPPED, EXPERIMENT_FAILED, EXPERIMENT_DONE };

/* The run at a place. */
struct experiment_run {
    enum experiment_state state;
    bool wanted;    /* execute it in this round */
    bool evaluated; /* its statistics are in values */
    bool known;     /* `key` is set, because program and machine could be read */
    struct digest key;
    char *failure;  /* one line about a failed run; NULL: none */
    double *values; /* by column; NaN: unknown */
};

enum experiment_engine { EXPERIMENT_LOCAL, EXPERIMENT_SLURM, EXPERIMENT_PARALLEL };

/* Paths, and values from the command line. */
struct experiment_where {
    const char *croft, *out, *folder; /* folder: the description's */
    const char *results;              /* path of results.db */
    const char *machines;             /* folder of the shipped machines */
    const char *parts[4]; /* files that are part of croft, ended by NULL: they determine runs, too */
    const char *const *sets;
    size_t set_count;
    unsigned jobs;
    uint64_t memory; /* bytes for all runs; 0: what is free */
    enum experiment_engine engine;
    const char *partition, *time, *hosts; /* the first two for Slurm, hosts for GNU parallel; NULL: none */
    bool retry_failed;
    engine_body *body;
};

/* Checks the machine and the names of settings at the first run and at each written point of the axes. Returns false with err
 * set, which names the description's line, if the machine does not exist or lacks a key. */
bool experiment_check(const struct experiment *e, const struct experiment_where *where, struct error *err);

/* Makes runs[experiment_places()], to be released by experiment_unplan(). Returns NULL with err set if the description names
 * variables that have no value, or if nothing is left to run. */
struct experiment_run *experiment_plan(const struct experiment *e, struct error *err);
void experiment_unplan(const struct experiment *e, struct experiment_run *runs);

/* Returns the points' names of a place, separated by dots; the caller frees it. */
char *experiment_label(const struct experiment *e, const int point[EXPERIMENT_AXES]);

/* The run of a place: its command's parts. */
struct experiment_task {
    char *label;              /* as experiment_label() */
    char *croft;              /* path of another croft; NULL: this one */
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
 * failed runs and reports them on standard error. A signal ends the runs that are under way. Returns false and sets err if results
 * cannot be stored or no run can be started. */
bool experiment_execute(const struct experiment *e, const struct experiment_where *where,
                        struct results *results, struct experiment_run *runs, struct error *err);

/* Reads the runs' statistics and computes all columns and means. Reports runs without statistics and marks them as failed. */
void experiment_evaluate(const struct experiment *e, struct results *results, struct experiment_run *runs);

/* Reads the statistics of the run at place n, if it is done, and stores its columns that are statistics. Reports as above. */
void experiment_evaluate_run(const struct experiment *e, struct results *results, struct experiment_run *runs,
                             int n);

/* Sets `wanted` of the runs to execute next: all that are left or, with searches, those that the searches need for their next
 * step. Returns whether there are any. */
bool experiment_want(const struct experiment *e, struct experiment_run *runs);

enum experiment_found { EXPERIMENT_FOUND, EXPERIMENT_NONE, EXPERIMENT_SEARCHING, EXPERIMENT_UNKNOWN };

/* Returns whether a search begins at a place: the place has the axis's first point, is of a program, is among those of `at`, and not
 * all places along the axis are skipped. */
bool experiment_searched(const struct experiment *e, const struct experiment_search *search,
                         const int point[EXPERIMENT_AXES]);

/* Follows a search from the place where it begins as far as values are known, and sets point[] of its axis. EXPERIMENT_UNKNOWN:
 * a value is missing, because a run failed. */
enum experiment_found experiment_search(const struct experiment *e, const struct experiment_search *search,
                                        struct experiment_run *runs, int point[EXPERIMENT_AXES]);

struct experiment_differences {
    int runs; /* pairs that were compared */
    long lines, compared;
    char name[32]; /* of the file in the folder for results */
};

/* Writes every statistic that differs between the two points of a comparison. Returns false and sets err on failure. */
bool experiment_compare(const struct experiment *e, const struct experiment_where *where,
                        struct results *results, const struct experiment_run *runs, int number,
                        struct experiment_differences *differences, struct error *err);

/* Returns the reference for a column at a place, or NULL. */
const struct experiment_reference *experiment_reference_at(const struct experiment *e, int column,
                                                           const int point[EXPERIMENT_AXES]);

/* Writes results.csv, results.json, tables.txt and a copy of the description, stores the tables in results.db, and prints
 * them. Returns false and sets err on failure. */
bool experiment_write(const struct experiment *e, const struct experiment_where *where,
                      struct results *results, struct experiment_run *runs, struct error *err);

/* Writes each run's command, output, messages, statistics and machine to files in runs/. Returns false and sets err on
 * failure. */
bool experiment_files(const struct experiment *e, const struct experiment_where *where,
                      struct results *results, const struct experiment_run *runs, struct error *err);

#endif
