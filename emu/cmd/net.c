/* croft net: drives a network alone with synthetic traffic and prints its latency and throughput. */
#include "emu/cmd/net/write.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/io/output.h"
#include "emu/machine/alone/network.h"
#include "emu/machine/describe/sources.h"
#include "emu/machine/plan/networks.h"
#include "emu/schema/blame.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/text.h"

enum { OPTION_SET, OPTION_CSV, OPTION_SVG, OPTION_STATS, OPTION_CHECK, OPTION_SHOW };

static const struct option_row rows[] = {
    [OPTION_SET] = {"set", 0, "NAME=VALUE", "change a key; may be repeated"},
    [OPTION_CSV] = {"csv", 0, "FILE",
                    "write the table as comma-separated values too; - for standard output alone"},
    [OPTION_SVG] = {"svg", 0, "FILE", "plot latency over injection rate"},
    [OPTION_STATS] = {"stats", 0, "FILE",
                      "write links, virtual channels and energy of the last stable rate (JSON)"},
    [OPTION_CHECK] = {"check", 0, NULL, "check in every clock that no flit, credit or order is lost; slow"},
    [OPTION_SHOW] = {"show", 0, NULL, "print the description with every key explained instead"},
};

const struct option_set net_interface = {
    .command = "croft net",
    .synopsis = "[options] FILE.yaml",
    .summary = "Drives a network alone with synthetic traffic, and tabulates latency by injection rate.",
    .example = "croft net $DOC/examples/net/torus.yaml --set traffic.pattern=transpose --svg torus.svg",
    .notes =
        "FILE has two parts, `network` and `traffic`; --show prints all keys. Rates are in flits per clock "
        "and node,\n"
        "latencies in clocks of the links. A rate is stable if its mean latency stays below traffic.limit.\n"
        "A run takes traffic.warmup and traffic.measure clocks, and at most 20 times traffic.limit until the "
        "last packets\n"
        "arrive. A rate so low that no packet is made in the measurement has no latency: `no packets`.\n",
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

/* The parsed command line. */
struct request {
    const char *file, *csv, *svg, *stats;
    bool check, show;
    const char **sets; /* room for argc entries */
    size_t set_count;
};

static int take(void *context, int option, const char *value)
{
    struct request *request = context;
    switch (option) {
    case OPTION_SET: request->sets[request->set_count++] = value; break;
    case OPTION_CSV: request->csv = value; break;
    case OPTION_SVG: request->svg = value; break;
    case OPTION_STATS: request->stats = value; break;
    case OPTION_CHECK: request->check = true; break;
    case OPTION_SHOW: request->show = true; break;
    default:
        if (request->file)
            return options_usage_error(&net_interface, "one FILE at a time; '%s' is a second one", value);
        request->file = value;
    }
    return OPTIONS_TAKEN;
}

/* A described network, with its tree of names. */
struct described {
    struct tree *tree;
    const struct instance *network, *traffic;
    struct network_shape shape;
    struct traffic_trace trace;
    struct traffic_setup setup;
};

static bool read_trace(struct described *net, struct error *err)
{
    const struct traffic_config *traffic = net->traffic->config;
    const struct network_config *network = net->network->config;
    const char *file = tree_file(net->tree), *slash = strrchr(file, '/');
    char path[PATH_MAX];
    bool own = *traffic->trace == '/' || !slash;
    (void)snprintf(path, sizeof path, "%.*s%s", own ? 0 : (int)(slash - file + 1), file, traffic->trace);
    if (!traffic_trace_read(&net->trace, path, net->shape.topology.node_count, network->classes, err))
        return networks_at(net->tree, net->traffic, "trace", err);
    net->setup.trace = &net->trace;
    return true;
}

struct tree *net_tree(const char *file, const char *const *sets, size_t set_count, struct error *err)
{
    const struct alone_source source = {.name = file, .sets = sets, .set_count = set_count};
    return alone_network_tree(&source, err);
}

static bool describe_with(struct described *net, const struct request *request, const char *const *sets,
                          size_t set_count, struct error *err)
{
    *net = (struct described){.tree = net_tree(request->file, sets, set_count, err)};
    if (!net->tree)
        return false;
    net->network = tree_find(net->tree, "network");
    net->traffic = tree_find(net->tree, "traffic");
    const struct network_config *network = net->network->config;
    const struct traffic_config *traffic = net->traffic->config;
    net->setup = (struct traffic_setup){.config = traffic,
                                        .network = network,
                                        .topology = &net->shape.topology,
                                        .routing = &net->shape.routing,
                                        .check = request->check};
    if (!networks_shape(net->tree, net->network, &net->shape, err))
        return false;
    if (!traffic_fits(traffic, &net->shape.topology, err))
        return networks_at_named(net->tree, net->traffic, err);
    if (traffic->pattern == TRAFFIC_TRACE && !read_trace(net, err))
        return false;
    uint32_t flits = traffic->pattern == TRAFFIC_TRACE ? net->trace.longest : traffic->flits;
    return network_fits(network, &net->shape.topology, &net->shape.routing, flits, err) ||
           networks_at_named(net->tree, net->network, err);
}

static void forget(struct described *net)
{
    shape_free(&net->shape);
    traffic_trace_free(&net->trace);
    if (net->tree)
        tree_free(net->tree);
}

static bool describes(void *context, const char *const *sets, size_t set_count, struct error *err)
{
    struct described net;
    bool fine = describe_with(&net, context, sets, set_count, err);
    forget(&net);
    return fine;
}

static bool describe(struct described *net, struct request *request, struct error *err)
{
    if (describe_with(net, request, request->sets, request->set_count, err))
        return true;
    (void)blame_setting(request->sets, request->set_count, describes, request, err);
    return false;
}

/* Measures a rate. run: receives the run, which the caller frees; or NULL. */
static struct traffic_result measure(const struct described *net, double rate, struct traffic **run)
{
    struct traffic_result result;
    struct traffic *traffic = traffic_new(&net->setup, rate);
    traffic_run(traffic, &result);
    if (run)
        *run = traffic;
    else
        traffic_free(traffic);
    return result;
}

static void print_head(void)
{
    printf("%8s %8s %8s %9s %9s %8s %8s %8s %6s\n", "offered", "accepted", "least", "latency", "network",
           "median", "99 %", "longest", "hops");
}

static void print_result(const struct traffic_result *result)
{
    printf(result->offered < 0.0005 ? "%8.2g" : "%8.3f", result->offered);
    printf(" %8.3f %8.3f ", result->accepted, result->least_accepted);
    if (result->stable && result->packets == 0)
        printf("%9s %9s %8s %8s %8s %6.2f\n", "no", "packets", "-", "-", "-", result->hops);
    else if (result->stable)
        printf("%9.2f %9.2f %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %6.2f\n", result->latency,
               result->network_latency, result->median, result->most_of_100, result->longest, result->hops);
    else
        printf("%9s %9s %8s %8s %8s %6.2f\n", "unstable", "-", "-", "-", "-", result->hops);
}

/* Finds the highest stable rate between a stable and an unstable one. */
static double find_saturation(const struct described *net, double stable, double unstable)
{
    double precision = net->setup.config->precision / 1000.0;
    while (unstable - stable > precision) {
        double middle = (stable + unstable) / 2;
        if (measure(net, middle, NULL).stable)
            stable = middle;
        else
            unstable = middle;
    }
    return stable;
}

/* Writes the statistics of a run. */
static bool write_stats(const struct described *net, struct traffic *run, const struct traffic_result *result,
                        FILE *file, struct error *err)
{
    struct stats *stats = stats_new();
    struct energy_ledger ledger;
    const struct sources source = {net->tree, net->network};
    const struct energy_sources sources = {sources_of_field, &source};
    struct scope root = scope_root();
    energy_init(&ledger);
    ledger.sources = &sources;
    ledger.part = "network";
    network_publish(traffic_network(run), stats, scope_enter(&root, "network"));
    network_energy(traffic_network(run), &ledger, scope_enter(&root, "network"));
    energy_publish(&ledger, stats);
    char rate[32];
    (void)snprintf(rate, sizeof rate, result->offered < 1e-5 ? "%.6g" : "%.6f", result->offered);
    stats_fact_text(stats, "description", tree_file(net->tree));
    stats_fact_text(stats, "rate", rate);
    stats_fact_number(stats, "clocks", result->clocks);
    bool fine = stats_write_json(stats, file, err);
    struct error doubts[ENERGY_DOUBTS];
    for (unsigned i = energy_doubts(&ledger, doubts); i-- > 0;)
        (void)fprintf(stderr, "croft net: warning: %s\n", doubts[i].text);
    stats_free(stats);
    energy_free(&ledger);
    return fine;
}

/* Opens the file that an option names. *file is NULL for standard output ("-"). */
static bool open_file(const char *option, const char *path, struct output **file, struct error *err)
{
    *file = strcmp(path, "-") == 0 ? NULL : output_open(path, err);
    return *file || strcmp(path, "-") == 0 || error_prefix(err, "%s", option);
}

/* Keeps the file if it was written without error (`fine`), else drops it. NULL: standard output. */
static bool close_file(const char *option, struct output *file, bool fine, struct error *err)
{
    if (!file && fflush(stdout) != 0 && fine)
        return error_set(err, "%s: standard output cannot be written: %s", option, strerror(errno));
    if (file && fine)
        return output_keep(file, err) || error_prefix(err, "%s", option);
    output_drop(file);
    return fine;
}

static bool save_stats(const struct described *net, struct traffic *run, const struct traffic_result *result,
                       const char *path, struct error *err)
{
    struct output *file;
    if (!open_file("--stats", path, &file, err))
        return false;
    bool fine = write_stats(net, run, result, file ? output_stream(file) : stdout, err) ||
                error_prefix(err, "--stats: '%s'", path);
    return close_file("--stats", file, fine, err);
}

/* Measures the rates up to the first unstable one. */
static bool sweep(const struct described *net, const struct request *request, struct net_curve *curve,
                  struct error *err)
{
    double rates[TRAFFIC_RATES] = {0};
    bool trace = net->setup.config->pattern == TRAFFIC_TRACE,
         quiet = request->csv && strcmp(request->csv, "-") == 0;
    size_t count = trace ? 1 : traffic_rates(net->setup.config->rates, rates, err);
    struct traffic *last = NULL;
    if (!quiet)
        print_head();
    for (size_t i = 0; i < count; i++) {
        struct traffic *run;
        struct traffic_result *result = &curve->results[curve->count++];
        *result = measure(net, rates[i], &run);
        if (!quiet)
            print_result(result);
        if (!result->stable && last) {
            traffic_free(run);
            break;
        }
        if (last)
            traffic_free(last);
        last = run;
        (void)fflush(stdout);
        if (!result->stable)
            break;
    }
    size_t kept = curve->count - (curve->count > 1 && !curve->results[curve->count - 1].stable ? 2 : 1);
    bool fine = !request->stats || save_stats(net, last, &curve->results[kept], request->stats, err);
    traffic_free(last);
    if (trace || !net->setup.config->saturation)
        return fine;
    double stable = 0, unstable = 1;
    for (size_t i = 0; i < curve->count; i++)
        if (curve->results[i].stable)
            stable = rates[i];
        else
            unstable = rates[i];
    curve->saturation = unstable > stable ? find_saturation(net, stable, unstable) : stable;
    curve->accepted = measure(net, 1, NULL).accepted;
    if (!quiet)
        printf("saturation %.3f, accepted at 1 offered %.3f\n", curve->saturation, curve->accepted);
    return fine;
}

static bool to_file(const struct net_curve *curve, void (*write)(const struct net_curve *, FILE *),
                    const char *option, const char *path, struct error *err)
{
    struct output *file;
    if (!open_file(option, path, &file, err))
        return false;
    write(curve, file ? output_stream(file) : stdout);
    return close_file(option, file, true, err);
}

static int run(struct request *request)
{
    if (!request->file)
        return options_usage_error(&net_interface, "no FILE.yaml given");
    size_t length = strlen(request->file);
    if (length < 5 || strcmp(request->file + length - 5, ".yaml") != 0)
        return options_usage_error(&net_interface, "'%s' is no description; its name ends in .yaml",
                                   request->file);
    struct described net;
    struct error err;
    struct net_curve *curve = alloc(1, sizeof *curve);
    int status = 0;
    if (!describe(&net, request, &err)) {
        (void)fprintf(stderr, "croft net: %s\n", err.text);
        status = 2; /* the description is part of the command line */
    } else if (request->show) {
        tree_show(net.tree, stdout);
    } else {
        bool fine = sweep(&net, request, curve, &err) &&
                    (!request->csv || to_file(curve, net_write_csv, "--csv", request->csv, &err)) &&
                    (!request->svg || to_file(curve, net_write_svg, "--svg", request->svg, &err));
        if (!fine)
            (void)fprintf(stderr, "croft net: %s\n", err.text);
        status = !fine;
    }
    forget(&net);
    free(curve);
    return status;
}

int cmd_net(int argc, char **argv)
{
    struct request request = {.sets = alloc((size_t)argc + 1, sizeof *request.sets)};
    int status = options_parse(&net_interface, argc, argv, take, &request);
    if (status == OPTIONS_TAKEN)
        status = run(&request);
    free(request.sets);
    return status;
}
