/* Statistics of all kinds of models. */
#include "emu/api/handle.h"

static void fill(struct undercroft_statistic *statistic, const struct stats_value *value)
{
    *statistic = (struct undercroft_statistic){
        .name = value->name,
        .unit = value->unit,
        .meaning = value->meaning,
        .value = value->real ? value->quotient : (double)value->count,
        .count = value->count,
        .is_real = value->real,
    };
}

int undercroft_statistic(struct undercroft *model, const char *name, struct undercroft_statistic *statistic,
                         struct undercroft_error *error)
{
    struct stats_value value;
    const int status = handle_check(model, NULL, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (!name || !statistic)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`%s` is NULL", name ? "statistic" : "name");
    if (!stats_find(model->kind->stats(model->model), name, &value))
        return handle_fail(error, UNDERCROFT_NAME, "this %s has no statistic '%.200s'", model->kind->name,
                           name);
    fill(statistic, &value);
    return UNDERCROFT_OK;
}

/* Hands statistics to the caller's function. */
struct listing {
    int (*each)(void *context, const struct undercroft_statistic *statistic);
    void *context;
};

static bool hand_out(void *context, const struct stats_value *value)
{
    const struct listing *listing = context;
    struct undercroft_statistic statistic;
    fill(&statistic, value);
    return listing->each(listing->context, &statistic) == 0;
}

int undercroft_statistics(struct undercroft *model,
                          int (*each)(void *context, const struct undercroft_statistic *statistic),
                          void *context, struct undercroft_error *error)
{
    struct listing listing = {each, context};
    const int status = handle_check(model, NULL, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (!each)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`each` is NULL");
    model->inside++;
    stats_each(model->kind->stats(model->model), hand_out, &listing);
    model->inside--;
    return UNDERCROFT_OK;
}
