#include "emu/experiment/results/units.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "emu/experiment/grid.h"
#include "emu/sim/alloc.h"

/* What is known of a unit. */
struct unit {
    const char *name; /* NULL: nothing yet */
    bool differs;
};

static void add(struct unit *unit, const char *name)
{
    unit->differs = unit->differs || !name || (unit->name && strcmp(unit->name, name) != 0);
    unit->name = name;
}

/* Puts * in place of variables. */
static void without_variables(char *name)
{
    for (char *at = name; (at = strchr(at, '$')) != NULL;) {
        size_t length = strspn(at + 1, EXPERIMENT_NAME);
        *at++ = '*';
        memmove(at, at + length, strlen(at + length) + 1);
    }
}

/* Adds the units of the statistics that match. */
static void add_matching(struct unit *unit, const struct statistics_names *names, const char *name)
{
    const json_t *units = json_object_get(names->json, "units");
    char *pattern = alloc_text(name);
    without_variables(pattern);
    bool plain = !strchr(pattern, '*');
    for (size_t i = 0; i < names->count; i++)
        if (plain ? strcmp(pattern, names->names[i]) == 0 : fnmatch(pattern, names->names[i], 0) == 0)
            add(unit, json_string_value(json_array_get(units, i)));
    free(pattern);
}

static const char *unit_of_statistics(const struct results *results,
                                      const struct experiment_texts *statistics)
{
    struct unit unit = {NULL, false};
    const struct statistics_names *names;
    for (size_t set = 0; (names = results_names(results, set)) != NULL; set++)
        for (int i = 0; i < statistics->count; i++)
            add_matching(&unit, names, statistics->items[i] + (statistics->items[i][0] == '-'));
    return unit.differs || (unit.name && !*unit.name) ? NULL : unit.name;
}

static const char *quotient(const char *a, const char *b)
{
    if (a && b && strcmp(a, b) == 0)
        return "";
    return b && !*b ? a : NULL;
}

void experiment_units(const struct experiment *e, const struct results *results, const char *units[])
{
    for (int i = 0; i < e->column_count; i++) {
        const struct experiment_column *column = &e->columns[i];
        if (column->kind == EXPERIMENT_STATISTIC)
            units[i] = unit_of_statistics(results, &column->statistics);
        else if (column->kind == EXPERIMENT_DIVIDE) /* operands are earlier columns */
            units[i] = quotient(units[column->operands[0]], units[column->operands[1]]);
        else
            units[i] = column->kind == EXPERIMENT_VALUE || column->kind == EXPERIMENT_PRINTED ? NULL : "";
    }
}
