/* croft dram: drives a memory alone with a trace of accesses, and prints its bandwidth and latency. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/dram/trace.h"
#include "emu/cmd/options.h"
#include "emu/debug/trace.h"
#include "emu/dram/observers/check.h"
#include "emu/io/output.h"
#include "emu/machine/alone/memory.h"
#include "emu/schema/blame.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/quantity.h"

enum {
    OPTION_SET,
    OPTION_SIZE,
    OPTION_INTERVAL,
    OPTION_WRAP,
    OPTION_STATS,
    OPTION_CHECK,
    OPTION_TRACE,
    OPTION_SHOW
};

static const struct option_row rows[] = {
    [OPTION_SET] = {"set", 0, "NAME=VALUE", "change a key; may be repeated"},
    [OPTION_SIZE] = {"size", 0, "SIZE", "bytes of an access (one burst of the memory)"},
    [OPTION_INTERVAL] = {"interval", 0, "CLOCKS",
                         "clocks from a line of Ramulator 2's format to the next (1)"},
    [OPTION_WRAP] = {"wrap", 0, NULL, "take addresses modulo the size of the memory"},
    [OPTION_STATS] = {"stats", 0, "FILE", "write statistics (JSON); - for standard output alone"},
    [OPTION_CHECK] =
        {"check", 0, NULL,
         "check every command against the datasheet's rules, and print how many break one; status "
         "3 if any does"},
    [OPTION_TRACE] =
        {"trace", 0, "KIND[:FILE]",
         "write every command, as croft run --trace does; KIND is dram or perfetto (default FILE: "
         "trace.dram, trace.json)"},
    [OPTION_SHOW] = {"show", 0, NULL, "print the description with every key explained instead"},
};

const struct option_set dram_interface = {
    .command = "croft dram",
    .synopsis = "[options] MEMORY TRACE",
    .summary = "Drives a memory alone with a trace of accesses, and prints its bandwidth and latency.",
    .example = "croft dram hbm1 $DOC/examples/dram/copy.trace --check",
    .notes = "MEMORY is a description with a part `dram`, whose keys are those of machines, or a standard "
             "(hbm1, ddr3_1600k ...).\n"
             "TRACE has an access a line: LD ADDRESS or ST ADDRESS (Ramulator 2), or ADDRESS READ CLOCK or "
             "ADDRESS WRITE CLOCK (DRAMsim3);\n"
             "- is standard input. Accesses are aligned to their size. Each is offered in its clock, of tCK; "
             "one for which a "
             "queue has no\n"
             "room waits, and those behind it wait, too. A write is answered when it is queued.\n",
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

/* The parsed command line. */
struct request {
    const char *memory, *trace, *stats;
    const char *kind, *commands; /* of --trace, or NULL: its kind and file */
    uint64_t size, interval;     /* 0: not given */
    bool wrap, check, show;
    const char **sets; /* room for argc entries */
    size_t set_count;
};

static int take_number(enum quantity quantity, const char *option, const char *text, uint64_t *value)
{
    struct error err;
    if (!quantity_parse(quantity, text, value, &err))
        return options_usage_error(&dram_interface, "%s: %s", option, err.text);
    if (*value == 0 || *value > UINT32_MAX)
        return options_usage_error(&dram_interface, "%s: '%s' is not allowed; allowed: 1 to %" PRIu32, option,
                                   text, UINT32_MAX);
    return OPTIONS_TAKEN;
}

static int take_trace(struct request *request, const char *value)
{
    struct error err;
    if (request->kind)
        return options_usage_error(&dram_interface, "--trace: one trace at a time; '%s' is a second one",
                                   value);
    if (!trace_parse(value, &request->kind, &request->commands, &err))
        return options_usage_error(&dram_interface, "%s", err.text);
    if (strcmp(request->kind, "dram") != 0 && strcmp(request->kind, "perfetto") != 0)
        return options_usage_error(
            &dram_interface, "--trace: a memory alone has no trace of kind '%s'; allowed: dram, perfetto",
            request->kind);
    return OPTIONS_TAKEN;
}

static int take(void *context, int option, const char *value)
{
    struct request *request = context;
    switch (option) {
    case OPTION_SET: request->sets[request->set_count++] = value; break;
    case OPTION_SIZE: return take_number(QUANTITY_SIZE, "--size", value, &request->size);
    case OPTION_INTERVAL: return take_number(QUANTITY_COUNT, "--interval", value, &request->interval);
    case OPTION_WRAP: request->wrap = true; break;
    case OPTION_STATS: request->stats = value; break;
    case OPTION_CHECK: request->check = true; break;
    case OPTION_TRACE: return take_trace(request, value);
    case OPTION_SHOW: request->show = true; break;
    default:
        if (request->trace)
            return options_usage_error(&dram_interface, "one TRACE at a time; '%s' is a second one", value);
        *(request->memory ? &request->trace : &request->memory) = value;
    }
    return OPTIONS_TAKEN;
}

enum { LATENCIES = 1 << 16 }; /* counted latencies in clocks; the last count has all longer ones, too */

/* A run of a trace. The tag of a read is the time at which it was offered, that of a write UINT64_MAX. */
struct run {
    const struct request *request;
    struct alone_memory *memory;
    const struct dram_config *config;
    struct access_file trace;
    bool room;                     /* there may be room again */
    uint64_t size;                 /* of an access */
    uint64_t reads, writes, first; /* first: time of the first access */
    uint64_t last;                 /* time of the last answer */
    uint64_t waited;               /* fs for which accesses waited for room */
    uint64_t latency, answered;    /* of reads: sum in fs, and number */
    uint64_t least, longest;       /* fs */
    uint64_t *counts;              /* reads by latency in clocks */
};

static void answer(void *context, uint64_t tag, uint64_t now)
{
    struct run *run = context;
    run->last = now;
    if (tag == UINT64_MAX)
        return;
    const uint64_t latency = now - tag, clocks = latency / run->config->tCK;
    run->latency += latency;
    run->answered++;
    run->least = latency < run->least ? latency : run->least;
    run->longest = latency > run->longest ? latency : run->longest;
    run->counts[clocks < LATENCIES ? clocks : LATENCIES - 1]++;
}

static void room(void *context, uint64_t now)
{
    struct run *run = context;
    (void)now;
    run->room = true;
}

/* Offers an access at the time `due` or, while there is no room, later. False with err set if it does not fit. */
static bool offer(struct run *run, const struct access_line *access, uint64_t due, struct error *err)
{
    struct event_queue *queue = alone_memory_queue(run->memory);
    if (due > queue->now)
        event_queue_run(queue, due);
    for (;;) {
        run->room = false;
        const uint64_t tag = access->write ? UINT64_MAX : queue->now;
        const enum alone_offer offered = alone_memory_offer(alone_memory_intake(run->memory), access->write,
                                                            access->address, run->size, tag);
        if (offered == ALONE_MISFIT) {
            alone_memory_misfit(run->memory, access->write, access->address, run->size, err);
            return false;
        }
        if (offered == ALONE_TAKEN)
            break;
        while (!run->room && event_queue_step(queue))
            continue;
    }
    run->waited += queue->now - due;
    *(access->write ? &run->writes : &run->reads) += 1;
    if (run->reads + run->writes == 1)
        run->first = queue->now;
    return true;
}

/* Returns the time of an access: at its clock if it has one, and some clocks after the one before was taken. */
static uint64_t due_at(struct run *run, const struct access_line *access)
{
    const uint64_t tCK = run->config->tCK, now = alone_memory_queue(run->memory)->now;
    const uint64_t clock = (now + tCK - 1) / tCK;
    if (run->reads + run->writes == 0)
        return access->clock * tCK;
    if (run->trace.format == TRACE_RAMULATOR)
        return (clock + (run->request->interval ? run->request->interval : 1)) * tCK;
    return (access->clock > clock ? access->clock : clock + 1) * tCK;
}

/* Drives the memory with the whole trace. */
static bool drive(struct run *run, struct error *err)
{
    struct event_queue *queue = alone_memory_queue(run->memory);
    const uint64_t bytes = dram_config_bytes(run->config), most = CLOCK_NEVER / run->config->tCK / 2;
    struct access_line access;
    int status;
    while ((status = access_file_next(&run->trace, &access, err)) > 0) {
        if (run->request->wrap)
            access.address %= bytes;
        access.address -= access.address % run->size;
        if (access.clock > most) {
            (void)error_set(err, "clock %" PRIu64 " is beyond the end of simulated time, clock %" PRIu64,
                            access.clock, most);
            return access_file_at(&run->trace, err);
        }
        if (!offer(run, &access, due_at(run, &access), err))
            return access_file_at(&run->trace, err);
    }
    while (alone_memory_outstanding(run->memory) > 0 && event_queue_step(queue))
        continue;
    dram_memory_sync(alone_memory_dram(run->memory), queue->now);
    return status == 0;
}

/* Returns the least latency in fs that a share of the reads does not exceed, to a clock. */
static uint64_t percentile(const struct run *run, uint64_t percent)
{
    uint64_t below = 0, wanted = (run->answered * percent + 99) / 100;
    for (uint64_t clocks = 0; clocks < LATENCIES - 1; clocks++) {
        below += run->counts[clocks];
        if (below >= wanted)
            return clocks * run->config->tCK;
    }
    return run->longest;
}

static void print_row_hits(const struct run *run)
{
    struct stats_value hits, reads, writes;
    const struct stats *stats = alone_memory_stats(run->memory);
    if (!stats_find(stats, "dram.row_hits", &hits) || !stats_find(stats, "dram.reads", &reads) ||
        !stats_find(stats, "dram.writes", &writes))
        return;
    const uint64_t bursts = reads.count + writes.count;
    printf("row hits    %.1f %% of %" PRIu64 " bursts\n",
           bursts ? 100.0 * (double)hits.count / (double)bursts : 0, bursts);
}

static void print_result(const struct run *run)
{
    const uint64_t accesses = run->reads + run->writes, time = run->last - run->first;
    const double ns = 1e6, seconds = (double)time * 1e-15;
    const double peak = (double)dram_config_bandwidth(run->config) * 1e-9;
    const double moved = seconds > 0 ? (double)(accesses * run->size) / seconds * 1e-9 : 0;
    char size[QUANTITY_TEXT], tCK[QUANTITY_TEXT];
    quantity_format(QUANTITY_SIZE, run->size, size);
    quantity_format(QUANTITY_TIME, run->config->tCK, tCK);
    printf("accesses    %" PRIu64 " of %s: %" PRIu64 " reads, %" PRIu64 " writes\n", accesses, size,
           run->reads, run->writes);
    printf("time        %.3f ns, %" PRIu64 " clocks of %s\n", (double)time / ns, time / run->config->tCK,
           tCK);
    printf("bandwidth   %.3f GB/s, %.1f %% of %.3f GB/s\n", moved, 100 * moved / peak, peak);
    printf("waiting     %.3f ns an access, for room in a queue\n",
           accesses ? (double)run->waited / (double)accesses / ns : 0);
    if (run->answered)
        printf("reads       %.3f ns on average, least %.3f, median %.3f, 99 %% %.3f, longest %.3f\n",
               (double)run->latency / (double)run->answered / ns, (double)run->least / ns,
               (double)percentile(run, 50) / ns, (double)percentile(run, 99) / ns, (double)run->longest / ns);
    print_row_hits(run);
}

static bool save(const struct run *run, struct error *err)
{
    struct stats *stats = alone_memory_stats(run->memory);
    const char *path = run->request->stats;
    struct error doubts[ENERGY_DOUBTS];
    for (unsigned i = energy_doubts(alone_memory_energies(run->memory), doubts); i-- > 0;)
        (void)fprintf(stderr, "croft dram: warning: %s\n", doubts[i].text);
    stats_fact_text(stats, "memory", run->request->memory);
    stats_fact_number(stats, "accesses", run->reads + run->writes);
    stats_fact_number(stats, "time", run->last - run->first);
    if (strcmp(path, "-") == 0)
        return stats_write_json(stats, stdout, err) || error_prefix(err, "--stats");
    struct output *output = output_open(path, err);
    if (!output)
        return error_prefix(err, "--stats");
    if (stats_write_json(stats, output_stream(output), err))
        return output_keep(output, err) || error_prefix(err, "--stats");
    output_drop(output);
    return error_prefix(err, "--stats");
}

/* Prints what the checker has found; if `whole`, in the table, too. Returns the exit status. */
static int judge(const struct dram_checker *checker, bool whole)
{
    if (whole)
        printf("check       %" PRIu64 " of %" PRIu64 " commands break a rule\n", checker->violations,
               checker->commands);
    if (checker->violations == 0)
        return 0;
    (void)fprintf(stderr,
                  "croft dram: --check: %" PRIu64 " of %" PRIu64 " commands break a rule; the first: %s\n",
                  checker->violations, checker->commands, checker->first.text);
    return 3;
}

/* Runs the trace. Returns the exit status, or -1 with err set. */
static int run_trace(struct run *run, struct error *err)
{
    const bool table = !run->request->stats || strcmp(run->request->stats, "-") != 0;
    struct dram_checker checker = {.violations = 0};
    int status = -1;
    if (run->request->check) {
        dram_checker_init(&checker, run->config);
        dram_memory_observe(alone_memory_dram(run->memory), dram_checker_observer(&checker));
    }
    if (drive(run, err)) {
        if (table)
            print_result(run);
        if (!run->request->stats || save(run, err))
            status = run->request->check ? judge(&checker, table) : 0;
    }
    if (run->request->check)
        dram_checker_free(&checker);
    return status;
}

/* Runs the trace, and writes the commands of the memory if they are wanted. Returns the exit status, or -1 with err set. */
static int run_traced(struct run *run, struct error *err)
{
    const struct request *request = run->request;
    struct error warning, later;
    if (!request->kind)
        return run_trace(run, err);
    struct trace *trace = trace_open(request->kind, request->commands, err);
    if (!trace)
        return -1;
    dram_memory_track(alone_memory_dram(run->memory), trace_tracks(trace), "dram");
    const int status = trace_ready(trace, err) ? run_trace(run, err) : -1;
    if (trace_warning(trace, &warning))
        (void)fprintf(stderr, "croft dram: warning: %s\n", warning.text);
    const uint64_t now = alone_memory_queue(run->memory)->now;
    return trace_close(trace, now, status < 0 ? &later : err) ? status : -1;
}

struct tree *dram_tree(const char *memory, const char *const *sets, size_t set_count, struct error *err)
{
    const struct alone_source source = {.name = memory, .sets = sets, .set_count = set_count};
    return alone_memory_tree(&source, err);
}

static bool describes(void *context, const char *const *sets, size_t set_count, struct error *err)
{
    const struct request *request = context;
    struct tree *tree = dram_tree(request->memory, sets, set_count, err);
    if (tree)
        tree_free(tree);
    return tree != NULL;
}

static int run_with(const struct request *request, const struct tree *tree, struct error *err)
{
    struct run run = {.request = request, .least = UINT64_MAX};
    const struct alone_client client = {answer, room, &run};
    if (!access_file_open(&run.trace, request->trace, err))
        return -1;
    run.memory = alone_memory_new(tree, &client);
    run.config = &alone_memory_dram(run.memory)->common.config;
    run.size = request->size ? request->size : run.config->burst_bytes;
    run.counts = alloc(LATENCIES, sizeof *run.counts);
    const int status = run_traced(&run, err);
    alone_memory_free(run.memory);
    access_file_close(&run.trace);
    free(run.counts);
    return status;
}

static int run(struct request *request)
{
    if (!request->memory)
        return options_usage_error(&dram_interface, "no MEMORY given");
    if (!request->trace && !request->show)
        return options_usage_error(&dram_interface, "no TRACE given");
    struct error err;
    struct tree *tree = dram_tree(request->memory, request->sets, request->set_count, &err);
    int status = 0;
    if (!tree) {
        (void)blame_setting(request->sets, request->set_count, describes, request, &err);
        (void)fprintf(stderr, "croft dram: %s\n", err.text);
        return 2; /* the description is part of the command line */
    }
    if (request->show)
        tree_show(tree, stdout);
    else if ((status = run_with(request, tree, &err)) < 0) {
        (void)fprintf(stderr, "croft dram: %s\n", err.text);
        status = 1;
    }
    tree_free(tree);
    return status;
}

int cmd_dram(int argc, char **argv)
{
    struct request request = {.sets = alloc((size_t)argc + 1, sizeof *request.sets)};
    int status = options_parse(&dram_interface, argc, argv, take, &request);
    if (status == OPTIONS_TAKEN)
        status = run(&request);
    free(request.sets);
    return status;
}
