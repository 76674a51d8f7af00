/* Descriptions of experiments: programs, variants of a machine, and tables of statistics. */
#ifndef EMU_EXPERIMENT_DESCRIPTION_H
#define EMU_EXPERIMENT_DESCRIPTION_H

#include "emu/experiment/doc.h"

/* A description:
 *
 *     title: one line
 *     text: what a page says first, in Markdown
 *     machine: nucd                      # name, or file relative to the description
 *     options: [--env, kernel]           # further options of croft run
 *     set: {host.l1d.prefetch: stride}   # settings of every run
 *     sizes:                             # croft experiment --size: settings of every run, too; the first one if no size is named
 *       small: {$tasks: 8}
 *       full: {$tasks: 64}
 *     programs:
 *       meabo2: {source: meabo2.c, flags: [-O2], arguments: [$tasks], region: meabo2}
 *       other: {file: other.elf, set: {host.rob: 32}} # files are relative to the description; settings of its runs
 *       placed:
 *         source: placed.c
 *         prepare: [[croft, run, --trace, "memory:$prepared/trace", $program, 8], [croft, pages, --place, $prepared/pages, $prepared/trace]]
 *         set: {pages: $prepared/pages}
 *     means:
 *       both: [meabo2, other]
 *       busy: {column: rate, at_least: 0.5, at: {offload: none}}
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
 *       lost: {printed: "quality lost "}
 *       energy: {value: 12.5 * misses + 0.3 * cycles}
 *       speedup: {speedup: cycles, from: {offload: none, accelerators: 4}, mean: geometric}
 *     tables: [{column: speedup, across: offload, at: {offload: [none, nucd]}, title: Figure 8, text: "nucd takes {{+speedup nucd}}."}]
 *     references: [{column: speedup, at: {program: meabo2, accelerators: 4}, value: 1.2, source: figure 8}]
 *     searches:
 *       - {axis: rob, column: of_ideal, at_least: 0.95, at: {offload: nucd}}
 *       - {axis: rob, column: cycles, best: least, within: {energy: 1.0e+9}}
 *     compare: [{axis: offload, from: none, to: nucd}]
 *
 * Each program is run at each combination of the axes' points, except for those that `skip` names or for which a condition of
 * `where` does not hold. The programs are the first axis, named `program`.
 *
 * A point is a mapping of settings. A name that begins with $ is a variable; it can replace a whole argument of a program. If
 * two axes set the same name, the later axis wins; axes win over programs, these over sizes, these over `set`. The command
 * line's --set wins over all, but an axis of values must keep its own: it is an error there. A name A|B stands for those of
 * several keys that a run's machine has: dram.tCL|stack.*.dram.tCL. $machine is the machine of a run instead of `machine`,
 * which is not needed if all runs have one; $croft the path of another croft (relative to the description) that executes it;
 * $program, in a point, a file in $prepared that is run in place of the program.
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
 * `prepare` are commands that are executed before a program's runs, here, one after the other: training, a trace. In them and in settings,
 * $prepared is a folder of the program; its N.txt is what command N has printed. $program and $source are the program and
 * its source, for commands. They are executed again if they, croft or the program have changed.
 *
 * A run is found in results.db by what determines it: croft, the program's bytes, its arguments, `options`, the resolved machine,
 * and the bytes of files that arguments and options name. `inputs: [FILE]` in a program names further files that it reads.
 *
 * `region` is the program's region of interest whose statistics are read: by default the program's name;
 * `total` is the whole run.
 *
 * A column is one of the following. `statistic`: a statistic, or the sum of several, of which those after a - are subtracted;
 * `*` stands for any characters. A statistic that a run does not have is an error, or has the value of `absent`. `of: most`
 * takes the largest of all in place of their sum; the value is multiplied by `times`. Names can have $variables of the run's points,
 * router.$from.flits; points that differ in these alone are one run. `divide`: the quotient of two columns.
 * `speedup` ... `from`: a column's value at a baseline divided by its own value. `ratio` ... `to`: the inverse of that.
 * `value`: an expression of SQLite over earlier columns. `printed`: the number behind a text that the program has printed, at
 * its first place, or the one that `number` counts from 1; `file: $prepared/2.txt` looks in that file. A baseline names points of some axes; in all other axes it has the run's points.
 *
 * `mean` adds a row over all programs, named `mean`, and one for each of `means`: over the programs that it lists, or those whose
 * column is `at_least` or `at_most` a value, at the row's points or those of `at`.
 *
 * A table shows all points, or those of `at`; an axis of which it shows one has no column.
 *
 * A description with a `text` gets a page, page.md: the text, and the tables with their titles and texts. In texts,
 * {{column point ...}} stands for the column's value at these points, in any axes, and the first ones of all others; {{+column ...}}
 * for its change from 1 in percent, {{%column ...}} for it in percent.
 *
 * A search finds the first point of an axis at which a column is `at_least` or `at_most` a value, for each combination of the
 * other axes (or those of `at`). It bisects: once a point reaches the threshold, all later ones are taken to do so. With searches,
 * only the runs that they need are executed. With `best: least` or `best: most` in place of a threshold, it finds the point, of an axis
 * that need have no order, such as a sample, with the least or greatest value among those within a budget: each column of `within`
 * has at most its number there. It executes all points; those whose runs fail are left out.
 *
 * A comparison writes each statistic that differs between two points of an axis to differences.csv. */

enum {
    EXPERIMENT_AXES = 16,
    EXPERIMENT_COLUMNS = 256,
    EXPERIMENT_POINTS = 1 << 20, /* of one axis */
    EXPERIMENT_RUNS = 100000000, /* most runs and means of an experiment */
};

struct expression;

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
    struct experiment_texts *prepare; /* commands */
    int prepare_count;
    const yaml_node_t *node;
};

struct experiment_point {
    const char *name;
    const char *value;                  /* of an axis of values; NULL: none */
    struct experiment_pairs pairs;      /* settings and variables */
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
    EXPERIMENT_VALUE,
    EXPERIMENT_PRINTED,
};

enum experiment_mean { EXPERIMENT_NO_MEAN, EXPERIMENT_ARITHMETIC, EXPERIMENT_GEOMETRIC };

struct experiment_column {
    const char *name;
    enum experiment_kind kind;
    struct experiment_texts statistics;
    const char *printed;           /* a text in the program's output; NULL: none */
    const char *file;              /* the text is in this file; NULL: in the program's output */
    int number;                    /* which of the numbers behind the text, from 1 */
    struct expression *expression; /* over the earlier columns; NULL: none */
    const yaml_node_t *node;       /* of the statistics */
    int operands[2];               /* indices of earlier columns */
    int baseline[EXPERIMENT_AXES]; /* index of a point for each axis; -1: the run's point */
    bool most;                     /* the largest of the statistics, not their sum */
    double times;
    double absent; /* NaN: a missing statistic is an error */
    enum experiment_mean mean;
};

/* A mean over some programs: those listed, or those whose column is within limits. */
struct experiment_group {
    const char *name;
    bool *members; /* by program; NULL: by the column */
    int column;
    int place[EXPERIMENT_AXES]; /* as the baseline of a column */
    double least, most;         /* NaN: no limit */
};

enum { EXPERIMENT_LIMITS = 8 };

/* A search for the first point of an axis whose column reaches a threshold, one of the limits being NaN; or for the best one within a
 * budget, both being NaN. */
struct experiment_search {
    int axis, column;
    double least, most;
    enum { EXPERIMENT_FIRST, EXPERIMENT_LEAST, EXPERIMENT_MOST } best;
    struct {
        int column;
        double most;
    } limits[EXPERIMENT_LIMITS];
    int limit_count;
    struct experiment_choice at;
};

/* A comparison of the statistics of two points. */
struct experiment_comparison {
    int axis, from, to;
};

struct experiment_table {
    int column, across;
    struct experiment_choice at; /* the points that it shows */
    const char *title, *text;    /* of the page; NULL: none */
};

struct experiment_reference {
    int column;
    struct experiment_choice at; /* for `program`, the numbers after the last program stand for the means */
    double value;
    const char *source;
};

struct experiment {
    struct doc doc;
    char *text;                   /* the file's text */
    const yaml_node_t *axes_node; /* of the whole description, if it has no axes */
    const yaml_node_t *machine_node;
    const char *title, *machine, *text_of_page;
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
    struct experiment_group *groups;
    const char *size; /* NULL: the description has none */
    bool sized;       /* it has sizes */
    int group_count, column_count, table_count, reference_count, search_count, comparison_count, made_count;
};

/* Reads the description at `path` with the settings of a size (NULL: the first one, if there are sizes); both strings must outlive
 * the experiment. Returns false and sets err on failure. */
bool experiment_read(struct experiment *e, const char *path, const char *size, struct error *err);
void experiment_free(struct experiment *e);

#endif
