#include "emu/experiment/results/tables.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/experiment/grid.h"
#include "emu/experiment/results/cells.h"
#include "emu/experiment/results/compare.h"
#include "emu/experiment/results/markdown.h"
#include "emu/experiment/results/units.h"
#include "emu/experiment/runs/search.h"
#include "emu/experiment/runs/task.h"
#include "emu/io/output.h"
#include "emu/sim/alloc.h"

enum { TEXT = 4096, NUMBER = 64 };

static struct output *open_file(const struct experiment_where *where, const char *name, struct error *err)
{
    char path[TEXT];
    (void)snprintf(path, sizeof path, "%s/%s", where->out, name);
    return output_open(path, err);
}

/* Returns whether the place has a row: it is not skipped and, for a mean, a value is known. */
static bool has_row(const struct experiment *e, const struct experiment_run *run, bool mean)
{
    bool known = false;
    for (int c = 0; c < e->column_count; c++)
        known = known || !isnan(run->values[c]);
    bool needed = e->search_count == 0 || run->state != EXPERIMENT_LEFT || run->wanted;
    return run->state != EXPERIMENT_SKIPPED && needed && (known || !mean);
}

static bool column_has_references(const struct experiment *e, int column)
{
    for (int i = 0; i < e->reference_count; i++)
        if (e->references[i].column == column)
            return true;
    return false;
}

/* Writes counts exactly, quotients with six decimal places; NaN as an empty text. */
static void number_text(double value, char text[NUMBER])
{
    if (isnan(value))
        text[0] = '\0';
    else
        (void)snprintf(text, NUMBER, value == floor(value) && fabs(value) < 1e15 ? "%.0f" : "%.6f", value);
}

/* Writes a text as a field of CSV (RFC 4180). NULL: an empty one. */
static void write_quoted(FILE *out, const char *text)
{
    if (text && strpbrk(text, ",\"")) {
        (void)fputc('"', out);
        for (; *text; text++)
            (void)fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
        (void)fputc('"', out);
    } else if (text)
        (void)fputs(text, out);
}

/* Writes the settings of sampled points: their names, or, if point is not NULL, their values. */
static void write_sampled(const struct experiment *e, const int *point, FILE *out)
{
    for (int axis = 1; axis < e->axis_count; axis++) {
        const struct experiment_pairs *pairs = &e->axes[axis].points[point ? point[axis] : 0].pairs;
        for (int i = 0; e->axes[axis].sampled && i < pairs->count; i++) {
            (void)fputc(',', out);
            write_quoted(out, point ? pairs->items[i].value : pairs->items[i].name);
        }
    }
}

static bool write_csv(const struct experiment *e, const struct experiment_where *where,
                      const struct experiment_run *runs, struct error *err)
{
    char text[NUMBER];
    int point[EXPERIMENT_AXES];
    struct output *file = open_file(where, "results.csv", err);
    if (!file)
        return false;
    FILE *out = output_stream(file);
    for (int axis = 0; axis < e->axis_count; axis++)
        (void)fprintf(out, "%s%s", axis ? "," : "", e->axes[axis].name);
    write_sampled(e, NULL, out);
    for (int c = 0; c < e->column_count; c++)
        (void)fprintf(out, column_has_references(e, c) ? ",%s,%s.reference" : ",%s", e->columns[c].name,
                      e->columns[c].name);
    (void)fputs(",failure\n", out);
    for (int n = 0; n < experiment_places(e); n++) {
        experiment_place(e, n, point);
        if (!has_row(e, &runs[n], n >= experiment_runs(e)))
            continue;
        for (int axis = 0; axis < e->axis_count; axis++)
            (void)fprintf(out, "%s%s", axis ? "," : "", experiment_point_name(e, axis, point[axis]));
        write_sampled(e, point, out);
        for (int c = 0; c < e->column_count; c++) {
            const struct experiment_reference *reference = cells_reference(e, c, point);
            number_text(runs[n].values[c], text);
            (void)fprintf(out, ",%s", text);
            number_text(reference ? reference->value : NAN, text);
            if (column_has_references(e, c))
                (void)fprintf(out, ",%s", text);
        }
        (void)fputc(',', out);
        write_quoted(out, runs[n].failure);
        (void)fputc('\n', out);
    }
    return output_keep(file, err);
}

/* Returns a text as JSON. Bytes that are not UTF-8 become '?'. */
static json_t *text_json(const char *text)
{
    json_t *json = json_string(text);
    if (json)
        return json;
    char *plain = alloc_text(text);
    for (char *c = plain; *c; c++)
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    json = alloc_checked(json_string(plain));
    free(plain);
    return json;
}

static json_t *values_json(const struct experiment *e, const struct experiment_run *run)
{
    json_t *values = json_object();
    for (int c = 0; c < e->column_count; c++) {
        double value = run->values[c];
        bool whole = value == floor(value) && fabs(value) < 1e15;
        (void)json_object_set_new(values, e->columns[c].name,
                                  isnan(value) ? json_null()
                                  : whole      ? json_integer((json_int_t)value)
                                               : json_real(value));
    }
    return values;
}

static json_t *references_json(const struct experiment *e, const int point[EXPERIMENT_AXES])
{
    json_t *references = json_object();
    for (int c = 0; c < e->column_count; c++) {
        const struct experiment_reference *reference = cells_reference(e, c, point);
        if (reference)
            (void)json_object_set_new(
                references, e->columns[c].name,
                json_pack("{s:f, s:s}", "value", reference->value, "source", reference->source));
    }
    return references;
}

/* Adds what a run was to its row; the mean of several runs has no such things. */
static void run_json(json_t *row, const struct experiment *e, const struct experiment_where *where,
                     const struct experiment_run *run, const int point[EXPERIMENT_AXES])
{
    struct experiment_task task;
    char key[DIGEST_TEXT];
    json_t *command = json_array();
    experiment_task(e, where, point, &task);
    char **words = experiment_words(where, &task, NULL);
    for (char **word = words; *word; word++)
        (void)json_array_append_new(command, text_json(*word));
    (void)json_object_set_new(row, "command", command);
    free(words);
    experiment_task_free(&task);
    digest_text(&run->key, key);
    if (run->known)
        (void)json_object_set_new(row, "run", json_string(key));
    if (run->failure)
        (void)json_object_set_new(row, "failure", text_json(run->failure));
}

static json_t *row_json(const struct experiment *e, const struct experiment_where *where,
                        const struct experiment_run *run, const int point[EXPERIMENT_AXES])
{
    json_t *places = json_object();
    for (int axis = 0; axis < e->axis_count; axis++)
        (void)json_object_set_new(places, e->axes[axis].name,
                                  json_string(experiment_point_name(e, axis, point[axis])));
    for (int axis = 1; axis < e->axis_count; axis++) {
        const struct experiment_pairs *pairs = &e->axes[axis].points[point[axis]].pairs;
        for (int i = 0; e->axes[axis].sampled && i < pairs->count; i++)
            (void)json_object_set_new(places, pairs->items[i].name, text_json(pairs->items[i].value));
    }
    json_t *row = json_pack("{s:o, s:b, s:o, s:o}", "at", places, "failed", run->state == EXPERIMENT_FAILED,
                            "values", values_json(e, run), "references", references_json(e, point));
    if (point[0] < e->axes[0].count)
        run_json(row, e, where, run, point);
    return row;
}

/* Returns the units of the columns that have one. */
static json_t *units_json(const struct experiment *e, const struct results *results)
{
    json_t *json = json_object();
    const char **units = alloc((size_t)e->column_count + 1, sizeof *units);
    experiment_units(e, results, units);
    for (int c = 0; c < e->column_count; c++)
        if (units[c] && *units[c])
            (void)json_object_set_new(json, e->columns[c].name, text_json(units[c]));
    free(units);
    return json;
}

static json_t *all_json(const struct experiment *e, const struct experiment_where *where,
                        const struct results *results, const struct experiment_run *runs)
{
    json_t *rows = json_array();
    int point[EXPERIMENT_AXES];
    for (int n = 0; n < experiment_places(e); n++) {
        experiment_place(e, n, point);
        if (has_row(e, &runs[n], n >= experiment_runs(e)))
            (void)json_array_append_new(rows, row_json(e, where, &runs[n], point));
    }
    json_t *tables = json_array();
    for (int i = 0; i < e->table_count; i++)
        (void)json_array_append_new(tables,
                                    json_pack("{s:s, s:s}", "column", e->columns[e->tables[i].column].name,
                                              "across", e->axes[e->tables[i].across].name));
    char *machines = experiment_machines(e);
    json_t *all =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "format", "croft experiment 1", "title",
                  text_json(e->title), "machine", text_json(machines), "results", text_json(where->results),
                  "units", units_json(e, results), "tables", tables, "rows", rows);
    free(machines);
    return all;
}

/* Writes results.json, and stores it in results.db under the description's name. */
static bool write_json(const struct experiment *e, const struct experiment_where *where,
                       struct results *results, const struct experiment_run *runs, struct error *err)
{
    const char *slash = strrchr(e->doc.path, '/');
    json_t *all = all_json(e, where, results, runs);
    char *text = alloc_checked(json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(12)));
    struct output *out = open_file(where, "results.json", err);
    if (out)
        (void)fprintf(output_stream(out), "%s\n", text);
    bool good = out && output_keep(out, err) &&
                results_describe(results, slash ? slash + 1 : e->doc.path, e->text, text, err) &&
                results_commit(results, err);
    json_decref(all);
    free(text);
    return good;
}

/* Returns the least value above 0 that a table shows; infinity: none. */
static double least_shown(const struct experiment *e, const struct experiment_run *runs,
                          const struct experiment_table *table)
{
    int point[EXPERIMENT_AXES], across = table->across;
    double least = INFINITY;
    for (int n = 0; n < experiment_places(e); n++) {
        experiment_place(e, n, point);
        if (point[across] != 0 || !cells_line(e, runs, table, point))
            continue;
        for (; point[across] < experiment_rows(e, across); point[across]++) {
            const double value = fabs(runs[experiment_number(e, point)].values[table->column]);
            if (cells_has_point(table, point[across]) && value > 0 && value < least)
                least = value;
        }
    }
    return least;
}

/* The unit of a table for people. */
struct shown_unit {
    const char *name; /* NULL or "": none */
    double scale;     /* what a value of the files is divided by */
};

/* Returns the largest unit in which a table has no value below 1: 4247500000 fs are 4.247 us. */
static struct shown_unit unit_shown(const char *unit, double least)
{
    static const char *const names[2][5] = {{"fs", "ps", "ns", "us", "ms"}, {"fJ", "pJ", "nJ", "uJ", "mJ"}};
    struct shown_unit shown = {unit, 1};
    for (int kind = 0; unit && kind < 2; kind++)
        if (strcmp(unit, names[kind][0]) == 0)
            for (int i = 1; i < 5 && isfinite(least) && least >= 1000 * shown.scale; i++) {
                shown.name = names[kind][i];
                shown.scale *= 1000;
            }
    return shown;
}

static void table_line(const struct experiment *e, const struct experiment_run *runs,
                       const struct experiment_table *table, double scale, int point[EXPERIMENT_AXES],
                       FILE *out)
{
    char text[CELLS_TEXT];
    for (int axis = 0; axis < e->axis_count; axis++)
        if (cells_has_axis(e, table, axis))
            (void)fprintf(out, "%-14s", experiment_point_name(e, axis, point[axis]));
    int across = table->across, points = experiment_rows(e, across);
    for (point[across] = 0; point[across] < points; point[across]++) {
        if (!cells_has_point(table, point[across]))
            continue;
        cells_text(e, runs, table->column, point, scale, text);
        (void)fprintf(out, " %15s", text);
    }
    point[across] = 0;
    (void)fputc('\n', out);
}

static void print_table(const struct experiment *e, const struct experiment_run *runs,
                        const struct experiment_table *table, const char *unit, FILE *out)
{
    int point[EXPERIMENT_AXES], points = experiment_rows(e, table->across);
    const struct shown_unit shown = unit_shown(unit, unit ? least_shown(e, runs, table) : 0);
    bool has = shown.name && *shown.name;
    (void)fprintf(out, has ? "%s: %s (%s)\n" : "%s: %s\n", e->title, e->columns[table->column].name,
                  shown.name);
    for (int axis = 0; axis < e->axis_count; axis++)
        if (cells_has_axis(e, table, axis))
            (void)fprintf(out, "%-14s", e->axes[axis].name);
    for (int i = 0; i < points; i++)
        if (cells_has_point(table, i))
            (void)fprintf(out, " %15s", experiment_point_name(e, table->across, i));
    (void)fputc('\n', out);
    for (int n = 0; n < experiment_places(e); n++) {
        experiment_place(e, n, point);
        if (point[table->across] == 0 && cells_line(e, runs, table, point))
            table_line(e, runs, table, shown.scale, point, out);
    }
}

/* Prints a value as people read it: 5.1e+12 of fJ as "5.1 mJ". */
static void print_value(double value, const char *unit, FILE *out)
{
    const struct shown_unit shown = unit_shown(unit, fabs(value));
    (void)fprintf(out, "%.4g", value / shown.scale);
    if (shown.name && *shown.name)
        (void)fprintf(out, " %s", shown.name);
}

/* Prints what a search looks for; units[] are those of the columns. */
static void print_sought(const struct experiment *e, const struct experiment_search *search,
                         const char *const units[], FILE *out)
{
    const char *axis = e->axes[search->axis].name, *column = e->columns[search->column].name;
    const double limit = isnan(search->least) ? search->most : search->least;
    if (search->best == EXPERIMENT_FIRST) {
        (void)fprintf(out, "%s: first %s with %s at %s ", e->title, axis, column,
                      isnan(search->least) ? "most" : "least");
        print_value(limit, units[search->column], out);
        (void)fputc('\n', out);
        return;
    }
    (void)fprintf(out, "%s: %s with the %s %s", e->title, axis,
                  search->best == EXPERIMENT_LEAST ? "least" : "most", column);
    for (int i = 0; i < search->limit_count; i++) {
        const int bounded = search->limits[i].column;
        (void)fprintf(out, "%s %s at most ", i ? "," : " within", e->columns[bounded].name);
        print_value(search->limits[i].most, units[bounded], out);
    }
    (void)fputc('\n', out);
}

static void print_search(const struct experiment *e, const struct experiment_search *search,
                         struct experiment_run *runs, const char *const units[], FILE *out)
{
    int point[EXPERIMENT_AXES], at[EXPERIMENT_AXES];
    print_sought(e, search, units, out);
    for (int n = 0; n < experiment_runs(e); n++) {
        experiment_place(e, n, point);
        if (!experiment_searched(e, search, point))
            continue;
        memcpy(at, point, sizeof at);
        enum experiment_found found = experiment_search(e, search, runs, at);
        for (int axis = 0; axis < e->axis_count; axis++)
            if (e->axes[axis].leader != search->axis)
                (void)fprintf(out, "%-14s", experiment_point_name(e, axis, point[axis]));
        if (found == EXPERIMENT_FOUND) {
            (void)fprintf(out, " %15s (", experiment_point_name(e, search->axis, at[search->axis]));
            print_value(runs[experiment_number(e, at)].values[search->column], units[search->column], out);
            (void)fputs(")\n", out);
        } else
            (void)fprintf(out, " %15s\n",
                          found == EXPERIMENT_NONE        ? "none"
                          : found == EXPERIMENT_SEARCHING ? "left"
                                                          : "unknown");
    }
    (void)fputc('\n', out);
}

/* Prints why run n failed, and for how many runs directly after it the cause is the same. Returns their number. */
static int print_failure(const struct experiment *e, const struct experiment_run *runs, int n, FILE *out)
{
    int point[EXPERIMENT_AXES], more = 0;
    while (n + more + 1 < experiment_runs(e) && runs[n + more + 1].state == EXPERIMENT_FAILED &&
           strcmp(runs[n].failure, runs[n + more + 1].failure) == 0)
        more++;
    experiment_place(e, n, point);
    char *label = experiment_label(e, point);
    (void)fprintf(out, "%s failed: %s", label, runs[n].failure);
    if (more > 0)
        (void)fprintf(out, " (and %d more for the same cause)", more);
    (void)fputc('\n', out);
    free(label);
    return more;
}

static void print_tables(const struct experiment *e, const struct results *results,
                         struct experiment_run *runs, const struct experiment_differences *differences,
                         FILE *out)
{
    const char **units = alloc((size_t)e->column_count + 1, sizeof *units);
    experiment_units(e, results, units);
    for (int i = 0; i < e->search_count; i++)
        print_search(e, &e->searches[i], runs, units, out);
    for (int i = 0; i < e->comparison_count; i++)
        (void)fprintf(out, "%s: from %s to %s, %ld of %ld statistics of %d runs differ: %s\n\n",
                      e->axes[e->comparisons[i].axis].name,
                      experiment_point_name(e, e->comparisons[i].axis, e->comparisons[i].from),
                      experiment_point_name(e, e->comparisons[i].axis, e->comparisons[i].to),
                      differences[i].lines, differences[i].compared, differences[i].runs,
                      differences[i].name);
    for (int i = 0; i < e->table_count; i++) {
        if (i > 0)
            (void)fputc('\n', out);
        print_table(e, runs, &e->tables[i], units[e->tables[i].column], out);
    }
    free(units);
    if (e->reference_count)
        (void)fprintf(out, "in brackets: the description's references\n");
    for (int n = 0, more; n < experiment_runs(e); n += 1 + more) {
        more = 0;
        if (runs[n].state == EXPERIMENT_FAILED)
            more = print_failure(e, runs, n, out);
    }
}

static bool write_page(const struct experiment *e, const struct experiment_where *where,
                       const struct experiment_run *runs, struct error *err)
{
    struct output *file = open_file(where, "page.md", err);
    return file && markdown_page(e, runs, output_stream(file), err) && output_keep(file, err);
}

static bool write_files(const struct experiment *e, const struct experiment_where *where,
                        struct results *results, struct experiment_run *runs,
                        const struct experiment_differences *differences, struct error *err)
{
    struct output *tables = open_file(where, "tables.txt", err);
    if (!tables)
        return false;
    print_tables(e, results, runs, differences, output_stream(tables));
    struct output *copy = output_keep(tables, err) ? open_file(where, "experiment.yaml", err) : NULL;
    if (!copy)
        return false;
    (void)fputs(e->text, output_stream(copy));
    if (!output_keep(copy, err) || !write_csv(e, where, runs, err) ||
        !write_json(e, where, results, runs, err))
        return false;
    if (e->text_of_page && !write_page(e, where, runs, err))
        return false;
    print_tables(e, results, runs, differences, stdout);
    bool printed = fflush(stdout) == 0 && !ferror(stdout);
    return printed || error_set(err, "the tables cannot be printed: %s; they are in %s/tables.txt",
                                strerror(errno), where->out);
}

bool experiment_write(const struct experiment *e, const struct experiment_where *where,
                      struct results *results, struct experiment_run *runs, struct error *err)
{
    struct experiment_differences *differences = alloc((size_t)e->comparison_count + 1, sizeof *differences);
    bool good = true;
    for (int i = 0; i < e->comparison_count && good; i++)
        good = experiment_compare(e, where, results, runs, i, &differences[i], err);
    good = good && write_files(e, where, results, runs, differences, err);
    free(differences);
    return good;
}
