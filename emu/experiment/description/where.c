/* The places of the grid that are not run: those that `skip` names or `where` excludes. Conditions are expressions of SQLite. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "emu/experiment/description/state.h"
#include "emu/experiment/grid.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/quantity.h"

/* Binds a value: a number, a quantity in its smallest unit, or a text. */
static void bind(sqlite3_stmt *statement, int parameter, const char *text)
{
    static const enum quantity kinds[] = {QUANTITY_COUNT, QUANTITY_SIZE, QUANTITY_TIME, QUANTITY_FREQUENCY,
                                          QUANTITY_BANDWIDTH};
    struct error ignored;
    uint64_t whole;
    char *end;
    double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (quantity_parse(kinds[i], text, &whole, &ignored) && whole <= INT64_MAX) {
            (void)sqlite3_bind_int64(statement, parameter, (sqlite3_int64)whole);
            return;
        }
    if (*text && *end == '\0')
        (void)sqlite3_bind_double(statement, parameter, number);
    else
        (void)sqlite3_bind_text(statement, parameter, text, -1, SQLITE_STATIC);
}

/* Returns a statement of: WITH place AS (SELECT ?1 AS "program", ?2 AS "axis", ...) SELECT (condition) FROM place; NULL with err set if the
 * condition is wrong. */
static sqlite3_stmt *prepare(struct experiment *e, sqlite3 *base, const yaml_node_t *node, struct error *err)
{
    const char *condition = doc_text(&e->doc, node, "where", err), *rest = "";
    sqlite3_stmt *statement = NULL;
    char *sql = NULL;
    size_t size;
    FILE *out = condition ? open_memstream(&sql, &size) : NULL;
    if (!condition)
        return NULL;
    if (!out)
        alloc_failed();
    (void)fputs("WITH place AS (SELECT",
                out); /* first, because a parameter without a number gets the last number plus 1 */
    for (int axis = 0; axis < e->axis_count; axis++)
        (void)fprintf(out, "%s ?%d AS \"%s\"", axis ? "," : "", axis + 1, e->axes[axis].name);
    (void)fprintf(out, ") SELECT (%s\n) FROM place", condition);
    if (fclose(out) != 0)
        alloc_failed();
    if (sqlite3_prepare_v2(base, sql, -1, &statement, &rest) != SQLITE_OK)
        (void)doc_wrong(&e->doc, node, err,
                        "where: %s; axes and $variables can be compared, as in: rob >= 2 * width",
                        sqlite3_errmsg(base));
    else if (*rest || !statement) {
        (void)doc_wrong(&e->doc, node, err, "where: one condition is expected");
        (void)sqlite3_finalize(statement);
        statement = NULL;
    }
    free(sql);
    return statement;
}

/* Evaluates a condition at a place. Returns false with err set if it has no value there. */
static bool evaluate(struct experiment *e, sqlite3_stmt *statement, const yaml_node_t *node,
                     const int point[EXPERIMENT_AXES], bool *holds, struct error *err)
{
    (void)sqlite3_reset(statement);
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
        const char *name = sqlite3_bind_parameter_name(statement, i);
        const struct experiment_point *at = i <= e->axis_count ? &e->axes[i - 1].points[point[i - 1]] : NULL;
        if (at) {
            bind(statement, i, at->value ? at->value : at->name);
            continue;
        }
        const char *value = name ? experiment_variable(e, point, name) : NULL;
        if (!value)
            return doc_wrong(&e->doc, node, err, "where: no axis gives %s a value",
                             name ? name : "a parameter");
        bind(statement, i, value);
    }
    if (sqlite3_step(statement) != SQLITE_ROW)
        return doc_wrong(&e->doc, node, err, "where: %s", sqlite3_errmsg(sqlite3_db_handle(statement)));
    *holds = sqlite3_column_int(statement, 0) != 0;
    return true;
}

/* Marks the places where one condition does not hold. */
static bool exclude(struct experiment *e, sqlite3 *base, const yaml_node_t *node, struct error *err)
{
    int point[EXPERIMENT_AXES];
    bool holds = true, good = true;
    sqlite3_stmt *statement = prepare(e, base, node, err);
    if (!statement)
        return false;
    for (int n = 0; n < experiment_runs(e) && good; n++) {
        experiment_place(e, n, point);
        if (experiment_skipped(e, point))
            continue;
        good = evaluate(e, statement, node, point, &holds, err);
        if (good && !holds)
            e->skipped[n / 8] = (unsigned char)(e->skipped[n / 8] | 1U << n % 8);
    }
    (void)sqlite3_finalize(statement);
    return good;
}

static int deny(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)context, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ? SQLITE_OK
                                                                                         : SQLITE_DENY;
}

bool experiment_read_where(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    bool one = value->type == YAML_SCALAR_NODE, good = true;
    int count = one ? 1 : doc_items(&e->doc, value, "where", err);
    sqlite3 *base = NULL;
    if (count < 0 || !experiment_measure(e, err))
        return false;
    if (sqlite3_open(":memory:", &base) != SQLITE_OK)
        alloc_failed();
    (void)sqlite3_set_authorizer(base, deny, NULL);
    for (int i = 0; i < count && good; i++)
        good = exclude(e, base, one ? value : doc_item(&e->doc, value, i), err);
    (void)sqlite3_close(base);
    return good;
}
