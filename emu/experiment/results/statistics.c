#include "emu/experiment/results/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

/* Returns the values of one region in the order of the names. */
static json_t *values_of(json_t *region, json_t *schema)
{
    json_t *values = alloc_checked(json_array()), *explanation;
    const char *name;
    json_object_foreach(schema, name, explanation)
    {
        json_t *value = json_object_get(region, name);
        (void)json_array_append_new(values, value ? json_incref(value) : json_null());
    }
    return values;
}

static char *pack_names(json_t *schema)
{
    json_t *names = json_array(), *units = json_array(), *meanings = json_array(), *row;
    const char *name;
    json_object_foreach(schema, name, row)
    {
        json_t *unit = json_object_get(row, "unit"), *meaning = json_object_get(row, "meaning");
        (void)json_array_append_new(names, json_string(name));
        (void)json_array_append_new(units, unit ? json_incref(unit) : json_string(""));
        (void)json_array_append_new(meanings, meaning ? json_incref(meaning) : json_string(""));
    }
    json_t *all = json_pack("{s:o, s:o, s:o}", "names", names, "units", units, "meanings", meanings);
    char *text = alloc_checked(json_dumps(all, JSON_COMPACT));
    json_decref(all);
    return text;
}

static char *pack_values(json_t *file, json_t *schema)
{
    json_t *regions = alloc_checked(json_object()), *region, *run = json_object_get(file, "run");
    const char *name;
    json_object_foreach(json_object_get(file, "regions"), name, region)
    {
        json_t *entries = json_object_get(region, "entries");
        (void)json_object_set_new(regions, name,
                                  json_pack("{s:O, s:o}", "entries", entries ? entries : json_null(),
                                            "values", values_of(region, schema)));
    }
    json_t *all = json_pack("{s:O, s:o, s:o}", "run", run ? run : json_null(), "total",
                            values_of(json_object_get(file, "total"), schema), "regions", regions);
    char *text = alloc_checked(json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(9)));
    json_decref(all);
    return text;
}

void statistics_forget(struct statistics_latest *latest)
{
    free(latest->text);
    free(latest->names);
    json_decref(latest->schema);
    *latest = (struct statistics_latest){NULL, 0, NULL, NULL};
}

/* Finds the part of a file that holds the names: its first and last line are those that stats_write_json() writes. Returns NULL if
 * there is none. */
static const char *names_part(const char *text, size_t size, size_t *length)
{
    static const char first[] = "\n  \"statistics\": {\n", last[] = "\n  },";
    const char *begin = memmem(text, size, first, sizeof first - 1);
    const char *end = begin ? memmem(begin, size - (size_t)(begin - text), last, sizeof last - 1) : NULL;
    *length = end ? (size_t)(end - begin) + sizeof last - 1 : 0;
    return end ? begin : NULL;
}

/* Parses a file without the part that has the names. */
static json_t *load_rest(const char *text, size_t size, const char *part, size_t length)
{
    size_t before = (size_t)(part - text), after = size - before - length;
    char *rest = alloc(before + after + 1, 1);
    memcpy(rest, text, before);
    memcpy(rest + before, part + length, after);
    json_t *file = json_loadb(rest, before + after, 0, NULL);
    free(rest);
    return file;
}

/* Parses a file, and sets *latest to its names. Returns NULL and sets err if it is no file of statistics. */
static json_t *load_whole(struct statistics_latest *latest, const char *text, size_t size, struct error *err)
{
    json_error_t problem;
    size_t length;
    json_t *file = json_loadb(text, size, 0, &problem), *schema = json_object_get(file, "statistics");
    const char *format = json_string_value(json_object_get(file, "format")),
               *part = names_part(text, size, &length);
    if (!schema || !format || strcmp(format, "croft statistics 1") != 0) {
        if (!file)
            (void)error_set(err, "its statistics are not JSON: %s", problem.text);
        else
            (void)error_set(err, "its statistics have another format than 'croft statistics 1'");
        json_decref(file);
        return NULL;
    }
    statistics_forget(latest);
    latest->schema = json_incref(schema);
    latest->names = pack_names(schema);
    if (part) {
        latest->text = alloc(length, 1);
        latest->size = length;
        memcpy(latest->text, part, length);
    }
    return file;
}

bool statistics_pack(struct statistics_latest *latest, const char *text, size_t size, char **names,
                     char **values, struct error *err)
{
    size_t length;
    const char *part = latest->text ? names_part(text, size, &length) : NULL;
    bool known = part && length == latest->size && memcmp(part, latest->text, length) == 0;
    json_t *file = known ? load_rest(text, size, part, length) : NULL;
    const char *format = json_string_value(json_object_get(file, "format"));
    if (!format || strcmp(format, "croft statistics 1") != 0) { /* other names, or the rest cannot be read */
        json_decref(file);
        file = load_whole(latest, text, size, err);
    }
    if (!file)
        return false;
    *names = alloc_text(latest->names);
    *values = pack_values(file, latest->schema);
    json_decref(file);
    return true;
}

bool statistics_names_load(struct statistics_names *names, const char *text, size_t size)
{
    json_t *json = json_loadb(text, size, 0, NULL), *array = json_object_get(json, "names"), *name;
    size_t i;
    if (!json_is_array(array)) {
        json_decref(json);
        return false;
    }
    *names = (struct statistics_names){json, json_array_size(array), NULL};
    names->names = alloc(names->count + 1, sizeof *names->names);
    json_array_foreach(array, i, name) names->names[i] = json_is_string(name) ? json_string_value(name) : "";
    return true;
}

void statistics_names_free(struct statistics_names *names)
{
    json_decref(names->json);
    free(names->names);
    *names = (struct statistics_names){NULL, 0, NULL};
}

bool statistics_load(struct statistics *statistics, const struct statistics_names *names, const char *text,
                     size_t size)
{
    *statistics = (struct statistics){names, json_loadb(text, size, 0, NULL)};
    return statistics->json != NULL;
}

void statistics_free(struct statistics *statistics)
{
    json_decref(statistics->json);
    statistics->json = NULL;
}

const json_t *statistics_region(const struct statistics *statistics, const char *region)
{
    const json_t *values =
        strcmp(region, "total") == 0
            ? json_object_get(statistics->json, "total")
            : json_object_get(json_object_get(statistics_regions(statistics), region), "values");
    return values && json_array_size(values) == statistics->names->count ? values : NULL;
}

const json_t *statistics_regions(const struct statistics *statistics)
{
    return json_object_get(statistics->json, "regions");
}

/* Returns values with their names. */
static json_t *named(const struct statistics_names *names, const json_t *values)
{
    json_t *object = alloc_checked(json_object()), *value;
    size_t i;
    json_array_foreach(values, i, value) if (i < names->count)(void)
        json_object_set(object, names->names[i], value);
    return object;
}

char *statistics_text(const struct statistics *statistics)
{
    const struct statistics_names *names = statistics->names;
    json_t *schema = alloc_checked(json_object()), *regions = alloc_checked(json_object()), *region;
    const char *name;
    for (size_t i = 0; i < names->count; i++)
        (void)json_object_set_new(
            schema, names->names[i],
            json_pack("{s:O, s:O}", "unit", json_array_get(json_object_get(names->json, "units"), i),
                      "meaning", json_array_get(json_object_get(names->json, "meanings"), i)));
    json_object_foreach(json_object_get(statistics->json, "regions"), name, region)
    {
        json_t *row = json_pack("{s:O}", "entries", json_object_get(region, "entries"));
        json_t *values = named(names, json_object_get(region, "values"));
        (void)json_object_update(row, values);
        json_decref(values);
        (void)json_object_set_new(regions, name, row);
    }
    json_t *all = json_pack("{s:s, s:O, s:o, s:o, s:o}", "format", "croft statistics 1", "run",
                            json_object_get(statistics->json, "run"), "statistics", schema, "total",
                            named(names, json_object_get(statistics->json, "total")), "regions", regions);
    char *text = alloc_checked(json_dumps(all, JSON_INDENT(2) | JSON_REAL_PRECISION(9)));
    json_decref(all);
    return text;
}

double statistics_number(const json_t *value)
{
    if (json_is_string(value))
        return strtod(json_string_value(value), NULL);
    return json_is_number(value) ? json_number_value(value) : NAN;
}
