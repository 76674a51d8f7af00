#include "emu/experiment/results/markdown.h"

#include <math.h>
#include <string.h>

#include "emu/experiment/grid.h"
#include "emu/experiment/results/cells.h"

enum { WORD = 64, PLACE = 512 };

/* Finds the point of a name in any axis; the axes that follow it advance, too. */
static bool find_point(const struct experiment *e, const char *name, int point[EXPERIMENT_AXES])
{
    for (int axis = 0; axis < e->axis_count; axis++)
        for (int i = 0; i < experiment_rows(e, axis); i++)
            if (strcmp(experiment_point_name(e, axis, i), name) == 0) {
                point[e->axes[axis].leader] = i;
                experiment_follow(e, point);
                return true;
            }
    return false;
}

/* Reads "column point ...". Returns the column, or -1 with err set. */
static int read_place(const struct experiment *e, char *text, int point[EXPERIMENT_AXES], struct error *err)
{
    char *left = NULL, *name = strtok_r(text, " \n", &left);
    int column = -1;
    memset(point, 0, EXPERIMENT_AXES * sizeof *point);
    for (int c = 0; name && c < e->column_count; c++)
        column = strcmp(e->columns[c].name, name) == 0 ? c : column;
    if (column < 0) {
        (void)error_set(err, "%s: {{%s}}: no such column", e->doc.path, name ? name : "");
        return -1;
    }
    while ((name = strtok_r(NULL, " \n", &left)) != NULL)
        if (!find_point(e, name, point)) {
            (void)error_set(err, "%s: {{%s ... %s}}: no such point", e->doc.path, e->columns[column].name,
                            name);
            return -1;
        }
    return column;
}

/* Writes a value: as in tables; after "+": its change from 1 in percent; after "%": in percent. */
static bool write_value(const struct experiment *e, const struct experiment_run *runs, char *text, FILE *out,
                        struct error *err)
{
    int point[EXPERIMENT_AXES];
    char form = *text == '+' || *text == '%' ? *text : '\0', cell[CELLS_TEXT];
    int column = read_place(e, text + (form != '\0'), point, err);
    if (column < 0 || !runs)
        return column >= 0;
    double value = runs[experiment_number(e, point)].values[column];
    if (!form || isnan(value)) {
        cells_text(e, runs, column, point, 1, cell);
        cell[strcspn(cell, " ")] = '\0'; /* without the reference */
        (void)fputs(cell, out);
    } else
        (void)fprintf(out, form == '+' ? "%+.1f %%" : "%.0f %%", 100 * (value - (form == '+')));
    return true;
}

static bool write_text(const struct experiment *e, const struct experiment_run *runs, const char *text,
                       FILE *out, struct error *err)
{
    char place[PLACE];
    for (const char *open; (open = strstr(text, "{{")) != NULL;) {
        const char *close = strstr(open, "}}");
        if (!close || close - open >= PLACE)
            return error_set(err, "%s: '{{' without '}}' in a text: %.40s", e->doc.path, open);
        if (runs)
            (void)fprintf(out, "%.*s", (int)(open - text), text);
        (void)snprintf(place, sizeof place, "%.*s", (int)(close - open - 2), open + 2);
        if (!write_value(e, runs, place, out, err))
            return false;
        text = close + 2;
    }
    if (runs)
        (void)fprintf(out, "%s\n", text);
    return true;
}

static void write_line(const struct experiment *e, const struct experiment_run *runs,
                       const struct experiment_table *table, int point[EXPERIMENT_AXES], FILE *out)
{
    char text[CELLS_TEXT];
    for (int axis = 0; axis < e->axis_count; axis++)
        if (cells_has_axis(e, table, axis))
            (void)fprintf(out, "| %s ", experiment_point_name(e, axis, point[axis]));
    for (int i = 0; i < experiment_rows(e, table->across); i++) {
        if (!cells_has_point(table, i))
            continue;
        point[table->across] = i;
        experiment_follow(e, point);
        cells_text(e, runs, table->column, point, 1, text);
        (void)fprintf(out, "| %s ", text);
    }
    point[table->across] = 0;
    (void)fputs("|\n", out);
}

static void write_table(const struct experiment *e, const struct experiment_run *runs,
                        const struct experiment_table *table, FILE *out)
{
    int point[EXPERIMENT_AXES], columns = 0;
    for (int axis = 0; axis < e->axis_count; axis++)
        if (cells_has_axis(e, table, axis)) {
            (void)fprintf(out, "| %s ", e->axes[axis].name);
            columns++;
        }
    for (int i = 0; i < experiment_rows(e, table->across); i++)
        if (cells_has_point(table, i)) {
            (void)fprintf(out, "| %s ", experiment_point_name(e, table->across, i));
            columns++;
        }
    (void)fputs("|\n", out);
    for (int i = 0; i < columns; i++)
        (void)fputs("|---", out);
    (void)fputs("|\n", out);
    for (int n = 0; n < experiment_places(e); n++) {
        experiment_place(e, n, point);
        if (point[table->across] == 0 && cells_line(e, runs, table, point))
            write_line(e, runs, table, point, out);
    }
    (void)fputc('\n', out);
}

bool markdown_page(const struct experiment *e, const struct experiment_run *runs, FILE *out,
                   struct error *err)
{
    if (runs)
        (void)fprintf(out, "# %s\n\n", e->title);
    if (e->text_of_page && !write_text(e, runs, e->text_of_page, out, err))
        return false;
    for (int i = 0; i < e->table_count; i++) {
        const struct experiment_table *table = &e->tables[i];
        if (runs) {
            (void)fprintf(out, "## %s\n\n", table->title ? table->title : e->columns[table->column].name);
            write_table(e, runs, table, out);
        }
        if (table->text && !write_text(e, runs, table->text, out, err))
            return false;
    }
    return true;
}
