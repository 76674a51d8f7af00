/* The table of an experiment, turned from rows into columns: names once, points as numbers. */
#include "emu/experiment/page/parts.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

/* Numbers the points of one axis in the order of their first row. */
static json_t *axis_data(const char *name, const json_t *rows)
{
    json_t *points = json_array(), *codes = json_array(), *known = json_object(), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        const char *point = json_string_value(json_object_get(json_object_get(row, "at"), name));
        json_t *code = json_object_get(known, point ? point : "");
        if (!code) {
            code = json_integer((json_int_t)json_array_size(points));
            (void)json_array_append_new(points, json_string(point ? point : ""));
            (void)json_object_set_new(known, point ? point : "", code);
        }
        (void)json_array_append(codes, code);
    }
    json_decref(known);
    return json_pack("{s:s, s:o, s:o}", "name", name, "points", points, "codes", codes);
}

static json_t *column_data(const char *name, const json_t *rows, json_t *unit)
{
    json_t *values = json_array(), *references = json_array(), *row;
    bool referred = false;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        json_t *value = json_object_get(json_object_get(row, "values"), name);
        json_t *reference =
            json_object_get(json_object_get(json_object_get(row, "references"), name), "value");
        (void)json_array_append_new(values, value ? json_incref(value) : json_null());
        (void)json_array_append_new(references, reference ? json_incref(reference) : json_null());
        referred = referred || reference;
    }
    json_t *data = json_pack("{s:s, s:o}", "name", name, "values", values);
    if (referred)
        (void)json_object_set(data, "references", references);
    json_decref(references);
    if (json_is_string(unit))
        (void)json_object_set(data, "unit", unit);
    return data;
}

static void add_failures(json_t *data, const json_t *rows)
{
    json_t *failures = json_object(), *means = json_array(), *row;
    char number[32];
    size_t i;
    json_array_foreach(rows, i, row)
    {
        json_t *failure = json_object_get(row, "failure");
        const char *program = json_string_value(json_object_get(json_object_get(row, "at"), "program"));
        (void)snprintf(number, sizeof number, "%zu", i);
        if (failure)
            (void)json_object_set(failures, number, failure);
        if (program && strcmp(program, "mean") == 0)
            (void)json_array_append_new(means, json_integer((json_int_t)i));
    }
    (void)json_object_set_new(data, "failures", failures);
    (void)json_object_set_new(data, "means", means);
}

/* The mean over one program is that program: removes these rows. */
static void drop_means_of_one(json_t *rows)
{
    const char *program = NULL;
    json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        const char *name = json_string_value(json_object_get(json_object_get(row, "at"), "program"));
        if (!name || (program && strcmp(name, program) != 0 && strcmp(name, "mean") != 0))
            return;
        program = strcmp(name, "mean") == 0 ? program : name;
    }
    for (i = json_array_size(rows); program && i-- > 0;) {
        row = json_array_get(rows, i);
        if (strcmp(json_string_value(json_object_get(json_object_get(row, "at"), "program")), "mean") == 0)
            (void)json_array_remove(rows, i);
    }
}

json_t *page_table(json_t *tables, struct error *err)
{
    json_t *rows = json_object_get(tables, "rows"), *first, *value;
    json_t *axes = json_array(), *columns = json_array(), *shown = json_object_get(tables, "tables");
    json_t *units = json_object_get(tables, "units");
    const char *name, *title = json_string_value(json_object_get(tables, "title")),
                      *machine = json_string_value(json_object_get(tables, "machine"));
    if (!json_is_array(rows) || !title || !machine) {
        (void)error_set(err, "not the tables of an experiment");
        json_decref(axes);
        json_decref(columns);
        return NULL;
    }
    drop_means_of_one(rows);
    first = json_array_get(rows, 0);
    json_object_foreach(json_object_get(first, "at"), name, value)(void)
        json_array_append_new(axes, axis_data(name, rows));
    json_object_foreach(json_object_get(first, "values"), name, value)(void)
        json_array_append_new(columns, column_data(name, rows, json_object_get(units, name)));
    json_t *data = json_pack("{s:s, s:o, s:o, s:O, s:s}", "title", title, "axes", axes, "columns", columns,
                             "tables", shown ? shown : json_null(), "machine", machine);
    if (!shown)
        (void)json_object_set_new(data, "tables", json_array());
    add_failures(data, rows);
    return data;
}
