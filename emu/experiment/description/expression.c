#include "emu/experiment/description/expression.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <strings.h>

#include "emu/sim/alloc.h"
#include "emu/sim/text/quantity.h"

struct expression {
    const struct doc *doc;
    const yaml_node_t *node;
    const char *key;
    int names;
    sqlite3 *base;
    sqlite3_stmt *statement;
};

/* Returns whether a function of SQLite gives the same value each time, and is of use here. */
static bool is_pure(const char *name)
{
    static const char *const names[] = {"abs",   "ceil",   "ceiling", "coalesce", "exp", "floor",
                                        "glob",  "ifnull", "iif",     "like",     "ln",  "log",
                                        "log10", "log2",   "max",     "min",      "mod", "nullif",
                                        "pow",   "power",  "round",   "sign",     "sqrt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

static int deny(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)context, (void)a, (void)c, (void)d;
    bool allowed =
        action == SQLITE_SELECT || action == SQLITE_READ || (action == SQLITE_FUNCTION && is_pure(b));
    return allowed ? SQLITE_OK : SQLITE_DENY;
}

/* Writes an expression whose whole numbers are real ones, so that 1/3 is a third. */
static void write_real(const char *text, FILE *out)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$.0123456789";
    while (*text) {
        size_t length = strspn(text, word), digits = strspn(text, "0123456789");
        if (*text == '\'' || *text == '"')
            length = strcspn(text + 1, *text == '"' ? "\"" : "'") + 1;
        length = length ? length : 1;
        (void)fprintf(out, "%.*s%s", (int)length, text, digits > 0 && digits == length ? ".0" : "");
        text += length;
    }
}

/* Returns WITH place AS (SELECT ?1 AS "name", ?2 AS "other") SELECT (expression) FROM place; the caller frees it. */
static char *statement_of(const char *text, const char *const *names, int count, bool real)
{
    char *sql = NULL;
    size_t size;
    FILE *out = open_memstream(&sql, &size);
    if (!out)
        alloc_failed();
    (void)fputs("WITH place AS (SELECT 0 AS \"\"",
                out); /* first, because a parameter without a number gets the last number plus 1 */
    for (int i = 0; i < count; i++)
        (void)fprintf(out, ", ?%d AS \"%s\"", i + 1, names[i]);
    (void)fputs(") SELECT (", out);
    if (real)
        write_real(text, out);
    else
        (void)fputs(text, out);
    (void)fputs("\n) FROM place", out);
    if (fclose(out) != 0)
        alloc_failed();
    return sql;
}

struct expression *expression_read(const struct doc *doc, const yaml_node_t *node, const char *key,
                                   const char *const *names, int count, bool real, const char *help,
                                   struct error *err)
{
    const char *text = doc_text(doc, node, key, err), *rest = "";
    if (!text)
        return NULL;
    struct expression *expression = alloc(1, sizeof *expression);
    *expression = (struct expression){.doc = doc, .node = node, .key = key, .names = count};
    if (sqlite3_open(":memory:", &expression->base) != SQLITE_OK)
        alloc_failed();
    (void)sqlite3_set_authorizer(expression->base, deny, NULL);
    (void)sqlite3_db_config(expression->base, SQLITE_DBCONFIG_DQS_DML, 0, NULL); /* "name" is no text */
    char *sql = statement_of(text, names, count, real);
    bool good = sqlite3_prepare_v2(expression->base, sql, -1, &expression->statement, &rest) == SQLITE_OK;
    if (!good)
        (void)doc_wrong(doc, node, err, "%s: %s; %s", key, sqlite3_errmsg(expression->base), help);
    else if (*rest || !expression->statement)
        good = doc_wrong(doc, node, err, "%s: one expression is expected", key);
    free(sql);
    if (good)
        return expression;
    expression_free(expression);
    return NULL;
}

void expression_free(struct expression *expression)
{
    if (!expression)
        return;
    (void)sqlite3_finalize(expression->statement);
    (void)sqlite3_close(expression->base);
    free(expression);
}

void expression_begin(struct expression *expression)
{
    (void)sqlite3_reset(expression->statement);
}

void expression_bind_text(struct expression *expression, int name, const char *text)
{
    static const enum quantity kinds[] = {QUANTITY_COUNT, QUANTITY_SIZE, QUANTITY_TIME, QUANTITY_FREQUENCY,
                                          QUANTITY_BANDWIDTH};
    struct error ignored;
    uint64_t whole;
    char *end;
    double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (quantity_parse(kinds[i], text, &whole, &ignored) && whole <= INT64_MAX) {
            (void)sqlite3_bind_int64(expression->statement, name + 1, (sqlite3_int64)whole);
            return;
        }
    if (*text && *end == '\0')
        (void)sqlite3_bind_double(expression->statement, name + 1, number);
    else
        (void)sqlite3_bind_text(expression->statement, name + 1, text, -1, SQLITE_STATIC);
}

void expression_bind_number(struct expression *expression, int name, double value)
{
    (void)sqlite3_bind_double(expression->statement, name + 1, value); /* NaN is NULL there */
}

int expression_parameters(const struct expression *expression)
{
    int count = sqlite3_bind_parameter_count(expression->statement);
    return count > expression->names ? count - expression->names : 0;
}

const char *expression_parameter(const struct expression *expression, int parameter)
{
    return sqlite3_bind_parameter_name(expression->statement, parameter + 1);
}

bool expression_value(struct expression *expression, double *value, struct error *err)
{
    if (sqlite3_step(expression->statement) != SQLITE_ROW)
        return doc_wrong(expression->doc, expression->node, err, "%s: %s", expression->key,
                         sqlite3_errmsg(expression->base));
    if (sqlite3_column_type(expression->statement, 0) == SQLITE_TEXT)
        return doc_wrong(expression->doc, expression->node, err, "%s: a number is expected, not a text",
                         expression->key);
    bool none = sqlite3_column_type(expression->statement, 0) == SQLITE_NULL;
    *value = none ? NAN : sqlite3_column_double(expression->statement, 0);
    return true;
}
