#include "emu/experiment/page.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "emu/experiment/page/parts.h"
#include "emu/experiment/results/results.h"
#include "emu/sim/alloc.h"

enum {
    DETAIL = 6 << 20, /* about: bytes of single runs' statistics, so that the page stays small */
    GRAPHS = 4,       /* drawings of machines */
    SETS = 16,        /* sets of statistics' names */
    LARGEST = 1 << 30,
};

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>croft report</title>\n<style>\n";
static const char middle[] =
    "</style>\n</head>\n<body>\n<header><h1></h1><span id=\"facts\" class=\"note\"></span>"
    "<button type=\"button\" id=\"theme\" title=\"change between light and "
    "dark\">Light/dark</button></header>\n"
    "<nav aria-label=\"sections\"></nav>\n<main></main>\n<noscript>This page draws its tables with a "
    "script.</noscript>\n"
    "<script type=\"application/json\" id=\"data\">";

/* A page under construction. */
struct page {
    const struct page_options *options;
    json_t *data, *runs, *machines, *numbers; /* numbers: of machines, by their text */
    struct results *results;
    const struct statistics_names *names[SETS]; /* of the runs in the page: machines have different ones */
    int sets;
    size_t bytes;
};

static char *read_file(const char *path, struct error *err)
{
    struct outcome_text text;
    FILE *file = fopen(path, "re");
    if (!file || !outcome_read(fileno(file), LARGEST, &text, err)) {
        if (!file)
            (void)error_set(err, "%s: %s", path, strerror(errno));
        else
            (void)fclose(file);
        return NULL;
    }
    (void)fclose(file);
    return text.bytes;
}

/* Returns the number of a machine; the first few are drawn. */
static json_int_t machine_number(struct page *page, const char *text)
{
    char name[300] = "machine";
    json_t *known = json_object_get(page->numbers, text);
    if (known)
        return json_integer_value(known);
    json_int_t number = (json_int_t)json_array_size(page->machines);
    if (json_object_set_new(page->numbers, text, json_integer(number)) != 0)
        return -1;
    (void)json_array_append_new(page->machines, page_machine(text, page->options->machines));
    if (number < GRAPHS) {
        const char *line = strstr(text, "name: \"");
        if (line)
            (void)sscanf(line, "name: \"%255[^\"]", name);
        page_graph(page->data, name, text, page->options->machines);
    }
    return number;
}

/* Returns the number of a set of names, which is added if it is new; -1: there are too many. */
static int set_number(struct page *page, const struct statistics_names *names)
{
    for (int i = 0; i < page->sets; i++)
        if (page->names[i] == names)
            return i;
    if (page->sets == SETS)
        return -1;
    page->names[page->sets] = names;
    (void)json_array_append(json_object_get(page->data, "names"), names->json);
    page->bytes += 100 * names->count;
    return page->sets++;
}

/* Adds the statistics of a run, unless the page would become too large. */
static bool add_run(struct page *page, const struct statistics *statistics, const char *label, json_int_t row,
                    const char *machine)
{
    json_t *regions = json_object(), *region;
    const char *name;
    const json_t *total = statistics_region(statistics, "total");
    int set = set_number(page, statistics->names);
    size_t bytes = statistics->names->count * 6 * (1 + json_object_size(statistics_regions(statistics)));
    if (set < 0 || !total || (page->bytes + bytes > DETAIL && json_array_size(page->runs))) {
        json_decref(regions);
        return false;
    }
    page->bytes += bytes;
    json_object_foreach((json_t *)(uintptr_t)statistics_regions(statistics), name, region)(void)
        json_object_set(regions, name, json_object_get(region, "values"));
    (void)json_array_append_new(
        page->runs, json_pack("{s:s, s:i, s:I, s:I, s:O, s:o}", "label", label, "names", set, "row", row,
                              "machine", machine ? machine_number(page, machine) : (json_int_t)-1, "total",
                              (json_t *)(uintptr_t)total, "regions", regions));
    return true;
}

static bool key_of(const json_t *row, struct digest *key)
{
    const char *text = json_string_value(json_object_get(row, "run"));
    for (int i = 0; text && i < DIGEST_BYTES; i++) {
        unsigned byte;
        if (sscanf(text + (size_t)2 * (size_t)i, "%2x", &byte) != 1)
            return false;
        key->bytes[i] = (unsigned char)byte;
    }
    return text != NULL;
}

static void label_of(const json_t *row, char *label, size_t size)
{
    const char *name;
    json_t *point;
    size_t used = 0;
    label[0] = '\0';
    json_object_foreach(json_object_get(row, "at"), name, point)
    {
        int length = snprintf(label + used, size - used, "%s%s", used ? " " : "", json_string_value(point));
        used = length > 0 && used + (size_t)length < size ? used + (size_t)length : used;
    }
}

/* Adds the statistics of as many runs as the page has room for, evenly spread over the rows. */
static void add_runs(struct page *page, const json_t *rows)
{
    size_t count = json_array_size(rows), step = 1, all = 0;
    char label[256];
    for (size_t i = 0; i < count; i++)
        all += json_object_get(json_array_get(rows, i), "run") != NULL;
    for (size_t i = 0; i < count; i += step) {
        struct digest key;
        struct statistics statistics;
        struct outcome_text machine = {NULL, 0};
        struct error ignored;
        const json_t *row = json_array_get(rows, i);
        if (!key_of(row, &key) || !results_statistics(page->results, &key, &statistics, &ignored))
            continue;
        if (page->sets == 0) { /* the first run's size tells how many runs fit */
            size_t bytes =
                1 + statistics.names->count * 6 * (1 + json_object_size(statistics_regions(&statistics)));
            step = 1 + count * bytes / DETAIL;
        }
        (void)results_read(page->results, &key, RESULTS_MACHINE, &machine, &ignored);
        label_of(row, label, sizeof label);
        (void)add_run(page, &statistics, label, (json_int_t)i, machine.bytes);
        free(machine.bytes);
        statistics_free(&statistics);
    }
    (void)json_object_set_new(page->data, "all", json_integer((json_int_t)all));
}

/* Makes the data of an experiment from the text of results.json. */
static bool take_experiment(struct page *page, const char *text, struct error *err)
{
    json_error_t problem;
    json_t *tables = json_loads(text, 0, &problem);
    const char *format = json_string_value(json_object_get(tables, "format"));
    bool good = tables && format && strcmp(format, "croft experiment 1") == 0;
    if (!tables)
        (void)error_set(
            err,
            "%s: line %d: not JSON: %s; a report is made of a folder of croft experiment, or of a file of "
            "croft run --stats",
            page->options->results, problem.line, problem.text);
    else if (!good)
        (void)error_set(err, "%s: its format is neither 'croft experiment 1' nor 'croft statistics 1'",
                        page->options->results);
    page->data = good ? page_table(tables, err) : NULL;
    if (page->data) {
        json_t *rows = json_object_get(tables, "rows");
        const char *machine = json_string_value(json_object_get(page->data, "machine"));
        (void)json_object_set_new(page->data, "facts",
                                  json_sprintf("machine%s %s, %zu rows", strchr(machine, ',') ? "s" : "",
                                               machine, json_array_size(rows)));
        (void)json_object_set_new(page->data, "graphs", json_array());
        (void)json_object_set_new(page->data, "names", json_array());
        if (page->results)
            add_runs(page, rows);
    }
    json_decref(tables);
    return page->data != NULL;
}

/* Makes the data of a single run. */
static bool take_run(struct page *page, const char *text, struct error *err)
{
    struct statistics_names names;
    struct statistics statistics;
    struct error ignored, wrong;
    struct statistics_latest latest = {NULL, 0, NULL, NULL};
    char *first, *second, path[PATH_MAX], facts[512];
    bool packed = statistics_pack(&latest, text, strlen(text), &first, &second, &wrong);
    statistics_forget(&latest);
    if (!packed)
        return error_set(err, "%s: neither a folder of croft experiment nor a file of croft run --stats: %s",
                         page->options->results, wrong.text);
    bool good = statistics_names_load(&names, first, strlen(first)) &&
                statistics_load(&statistics, &names, second, strlen(second));
    free(first);
    free(second);
    if (!good)
        return error_set(err, "%s: damaged", page->options->results);
    json_t *run = json_object_get(statistics.json, "run");
    const char *program = json_string_value(json_object_get(run, "program")),
               *machine = json_string_value(json_object_get(run, "machine")),
               *croft = json_string_value(json_object_get(run, "croft"));
    (void)snprintf(facts, sizeof facts, "machine %s, croft %s", machine ? machine : "", croft ? croft : "");
    page->data = json_pack("{s:s, s:s, s:{}, s:[], s:[], s:i}", "title", program ? program : "a run", "facts",
                           facts, "failures", "graphs", "names", "all", 1);
    (void)snprintf(path, sizeof path, "%s.machine.yaml", page->options->results);
    char *description = read_file(path, &ignored);
    (void)add_run(page, &statistics, program ? program : "run", -1, description);
    free(description);
    statistics_free(&statistics);
    statistics_names_free(&names);
    return true;
}

/* Opens results.db in the folder of results.json, or where results.json says. */
static void open_results(struct page *page, const char *folder, const char *text)
{
    char path[PATH_MAX];
    struct error ignored;
    json_t *tables = json_loads(text, 0, NULL);
    const char *named = json_string_value(json_object_get(tables, "results"));
    (void)snprintf(path, sizeof path, "%s/results.db", folder);
    page->results = results_open(named ? named : path, false, &ignored);
    if (!page->results)
        page->results = results_open(path, false, &ignored);
    json_decref(tables);
}

/* Reads the results that the user names. */
static bool take(struct page *page, struct error *err)
{
    const char *results = page->options->results;
    char path[PATH_MAX], *text = NULL;
    struct stat status;
    size_t length = strlen(results);
    if (stat(results, &status) != 0)
        return error_set(err, "%s: %s", results, strerror(errno));
    if (S_ISDIR(status.st_mode)) {
        (void)snprintf(path, sizeof path, "%s/results.json", results);
        if ((text = read_file(path, err)) != NULL)
            open_results(page, results, text);
    } else if (length > 3 && strcmp(results + length - 3, ".db") == 0) {
        page->results = results_open(results, false, err);
        text = page->results ? results_experiment(page->results, page->options->experiment, err) : NULL;
    } else if ((text = read_file(results, err)) != NULL && !strstr(text, "\"croft statistics 1\"")) {
        const char *slash = strrchr(results, '/');
        (void)snprintf(path, sizeof path, "%.*s", slash ? (int)(slash - results) : 1, slash ? results : ".");
        open_results(page, path, text);
    }
    bool good =
        text && (strstr(text, "\"croft statistics 1\"") && !page->results ? take_run(page, text, err)
                                                                          : take_experiment(page, text, err));
    free(text);
    return good;
}

static bool copy_part(const char *share, const char *name, FILE *out, struct error *err)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", share, name);
    char *text = read_file(path, err);
    if (text)
        (void)fputs(text, out);
    free(text);
    return text != NULL;
}

bool page_write(const struct page_options *options, FILE *out, struct error *err)
{
    static const char *const scripts[] = {"d3.LICENSE", "d3-7.9.0.min.js", "plot.LICENSE",
                                          "plot-0.6.17.umd.min.js", "page.js"};
    struct page page = {
        .options = options, .runs = json_array(), .machines = json_array(), .numbers = json_object()};
    struct error ignored;
    bool good = take(&page, err);
    if (good) {
        (void)json_object_set_new(page.data, "detailed",
                                  json_integer((json_int_t)json_array_size(page.runs)));
        (void)json_object_set(page.data, "runs", page.runs);
        (void)json_object_set(page.data, "machines", page.machines);
        (void)fputs(head, out);
        good = copy_part(options->share, "page.css", out, err);
        (void)fputs(middle, out);
        /* With escaped slashes, no text can end the element. */
        (void)json_dumpf(page.data, out, JSON_COMPACT | JSON_ESCAPE_SLASH | JSON_REAL_PRECISION(9));
    }
    for (size_t i = 0; good && i < sizeof scripts / sizeof *scripts; i++) {
        bool licence = strstr(scripts[i], ".LICENSE") != NULL;
        (void)fputs(licence  ? "</script>\n<!--\n"
                    : i == 4 ? "</script>\n<script>\n"
                             : "-->\n<script>\n",
                    out);
        good = copy_part(options->share, scripts[i], out, err);
    }
    (void)fputs("</script>\n</body>\n</html>\n", out);
    json_decref(page.data);
    json_decref(page.runs);
    json_decref(page.machines);
    json_decref(page.numbers);
    (void)results_close(page.results, &ignored);
    return good;
}
