/* croft report: makes a page of an experiment's or a run's results. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/cmd/paths.h"
#include "emu/experiment/page.h"
#include "emu/io/output.h"

enum { OPTION_OUT, OPTION_EXPERIMENT };

static const struct option_row rows[] = {
    [OPTION_OUT] = {"out", 'o', "FILE", "the page (default: report.html)"},
    [OPTION_EXPERIMENT] = {"experiment", 0, "NAME",
                           "which of several experiments in results.db (default: the last)"},
};

const struct option_set report_interface = {
    .command = "croft report",
    .synopsis = "[options] RESULTS",
    .summary = "Makes an HTML page of results, with tables and figures; it needs no network.",
    .example = "croft report figure8.results -o figure8.html",
    .notes = "RESULTS is an experiment's folder, its results.db or results.json, or a file of croft run "
             "--stats.\n",
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

/* The parsed command line. */
struct request {
    const char *results, *out, *experiment;
};

static int take(void *context, int option, const char *value)
{
    struct request *request = context;
    if (option == OPTION_OUT)
        request->out = value;
    else if (option == OPTION_EXPERIMENT)
        request->experiment = value;
    else if (request->results)
        return options_usage_error(&report_interface, "one RESULTS at a time; '%s' is a second one", value);
    else
        request->results = value;
    return OPTIONS_TAKEN;
}

static bool report(const struct request *request, struct error *err)
{
    char share[PATH_MAX], machines[PATH_MAX];
    if (!paths_share("report", share, sizeof share, err) ||
        !paths_share("machines", machines, sizeof machines, err))
        return false;
    struct output *out = output_open(request->out, err);
    if (!out)
        return error_prefix(err, "--out");
    const struct page_options options = {request->results, request->experiment, share, machines};
    if (page_write(&options, output_stream(out), err))
        return output_keep(out, err) || error_prefix(err, "--out");
    output_drop(out);
    return false;
}

int cmd_report(int argc, char **argv)
{
    struct request request = {.out = "report.html"};
    struct error err;
    int status = options_parse(&report_interface, argc, argv, take, &request);
    if (status != OPTIONS_TAKEN)
        return status;
    if (!request.results)
        return options_usage_error(&report_interface, "no RESULTS given");
    if (report(&request, &err))
        return 0;
    (void)fprintf(stderr, "croft report: %s\n", err.text);
    return 1;
}
