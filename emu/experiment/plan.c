#include "emu/experiment/plan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emu/experiment/grid.h"
#include "emu/sim/alloc.h"

static bool no_program_runs(const struct experiment *e, const int place[EXPERIMENT_AXES])
{
    int point[EXPERIMENT_AXES];
    memcpy(point, place, sizeof point);
    for (point[0] = 0; point[0] < e->axes[0].count; point[0]++)
        if (!experiment_skipped(e, point))
            return false;
    return true;
}

/* Checks that each variable in a program's arguments has a value at the place. */
static bool has_values(const struct experiment *e, const int point[EXPERIMENT_AXES], struct error *err)
{
    const struct experiment_point *place = &e->axes[0].points[point[0]];
    for (int i = 0; i < place->program->arguments.count; i++) {
        const char *word = place->program->arguments.items[i];
        if (word[0] == '$' && !experiment_variable(e, point, word))
            return doc_wrong(&e->doc, place->program->node, err, "%s: no axis gives %s a value", place->name,
                             word);
    }
    return true;
}

/* Checks that each variable in the names of statistics has a value at the place. */
static bool has_names(const struct experiment *e, const int point[EXPERIMENT_AXES], struct error *err)
{
    bool good = true;
    for (int c = 0; c < e->column_count && good; c++)
        for (int i = 0; i < e->columns[c].statistics.count && good; i++) {
            const char *name = e->columns[c].statistics.items[i];
            if (!strchr(name, '$'))
                continue;
            char *unknown = alloc(strlen(name) + 1, 1), *filled = experiment_fill(e, point, name, unknown);
            good = filled || doc_wrong(&e->doc, e->columns[c].node, err, "%s: no axis gives %s a value",
                                       e->columns[c].name, unknown);
            free(filled);
            free(unknown);
        }
    return good;
}

/* Returns the bytes of runs[], which has a mapping of its own, so that children need not inherit it. */
static size_t plan_bytes(const struct experiment *e)
{
    return (size_t)experiment_places(e) *
           (sizeof(struct experiment_run) + (size_t)e->column_count * sizeof(double));
}

struct experiment_run *experiment_plan(const struct experiment *e, struct error *err)
{
    int places = experiment_places(e), runs = experiment_runs(e), point[EXPERIMENT_AXES], left = 0;
    void *memory =
        mmap(NULL, plan_bytes(e), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        (void)error_set(err, "%s: there is no memory for %d runs", e->doc.path, runs);
        return NULL;
    }
    (void)madvise(memory, plan_bytes(e), MADV_DONTFORK);
    struct experiment_run *plan = memory;
    double *values = (double *)(plan + places);
    bool good = true;
    for (int n = 0; n < places && good; n++) {
        experiment_place(e, n, point);
        bool skipped = n < runs ? experiment_skipped(e, point) : no_program_runs(e, point);
        plan[n].state = skipped ? EXPERIMENT_SKIPPED : EXPERIMENT_LEFT;
        plan[n].values = values + (size_t)n * (size_t)e->column_count;
        left += n < runs && !skipped;
        good = n >= runs || skipped || (has_values(e, point, err) && has_names(e, point, err));
    }
    if (good && left == 0)
        good = error_set(err, "%s: 'skip', 'where' and --only leave no run", e->doc.path);
    if (good)
        return plan;
    experiment_unplan(e, plan);
    return NULL;
}

void experiment_unplan(const struct experiment *e, struct experiment_run *runs)
{
    if (!runs)
        return;
    for (int n = 0; n < experiment_places(e); n++)
        free(runs[n].failure);
    (void)munmap(runs, plan_bytes(e));
}
