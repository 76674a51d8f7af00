/* Writes the files of single runs, which can be read without SQLite. */
#include "emu/experiment/results/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "emu/experiment/grid.h"
#include "emu/io/output.h"

enum { TEXT = 4096 };

static bool write_text(const char *base, const char *ending, const struct outcome_text *text,
                       struct error *err)
{
    char path[TEXT];
    (void)snprintf(path, sizeof path, "%s%s", base, ending);
    struct output *out = output_open(path, err);
    if (!out)
        return false;
    if (text->bytes)
        (void)fwrite(text->bytes, 1, text->size, output_stream(out));
    return output_keep(out, err);
}

static bool write_statistics(struct results *results, const struct digest *key, const char *base,
                             struct error *err)
{
    struct statistics statistics;
    if (!results_statistics(results, key, &statistics, err))
        return true; /* a failed run may have none */
    char *text = statistics_text(&statistics);
    bool good = write_text(base, ".json", &(struct outcome_text){text, strlen(text)}, err);
    free(text);
    statistics_free(&statistics);
    return good;
}

static bool write_run(struct results *results, const struct digest *key, const char *base, struct error *err)
{
    static const struct {
        enum results_text which;
        const char *ending;
    } rows[] = {{RESULTS_COMMAND, ".command"},
                {RESULTS_OUTPUT, ".out"},
                {RESULTS_MESSAGES, ".err"},
                {RESULTS_MACHINE, ".json.machine.yaml"},
                {RESULTS_INPUTS, ".inputs"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outcome_text text;
        bool good = results_read(results, key, rows[i].which, &text, err) &&
                    write_text(base, rows[i].ending, &text, err);
        free(text.bytes);
        if (!good)
            return false;
    }
    return write_statistics(results, key, base, err);
}

bool experiment_files(const struct experiment *e, const struct experiment_where *where,
                      struct results *results, const struct experiment_run *runs, struct error *err)
{
    char base[TEXT];
    int point[EXPERIMENT_AXES];
    (void)snprintf(base, sizeof base, "%s/runs", where->out);
    if (mkdir(base, 0777) != 0 && errno != EEXIST)
        return error_set(err, "%s: %s", base, strerror(errno));
    for (int n = 0; n < experiment_runs(e); n++) {
        if (!runs[n].known || (runs[n].state != EXPERIMENT_DONE && runs[n].state != EXPERIMENT_FAILED))
            continue;
        experiment_place(e, n, point);
        char *label = experiment_label(e, point);
        (void)snprintf(base, sizeof base, "%s/runs/%s", where->out, label);
        free(label);
        if (!write_run(results, &runs[n].key, base, err))
            return false;
    }
    return true;
}
