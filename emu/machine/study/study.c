#include "emu/machine/study/study.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "emu/machine/study/barrier.h"
#include "emu/machine/study/parties.h"
#include "emu/machine/study/waits.h"
#include "emu/machine/study/windows.h"
#include "emu/net/fabric.h"
#include "emu/sim/alloc.h"
#include "emu/sim/host_time.h"
#include "emu/sim/text/quantity.h"
#include "emu/simt/trace/access_trace.h"

/* Events of a kind that are timed: the first FIRST, then each SAMPLE-th, a prime. From event SURE on, one counts at most MOST times
 * the mean: the host was interrupted. */
enum { FIRST = 100000, SAMPLE = 61, SURE = 1000, MOST = 64 };

/* The cost of a kind of part. */
struct cost {
    const char *name;
    uint64_t work, timed_work, timed; /* timed: events */
    double ns;                        /* of timed work */
};

/* Where the events of a component are. */
struct place {
    uint32_t partition;
    struct cost *cost;
    bool network, core;
};

/* The flits of one network in the present event. */
struct crossing {
    struct network_observer observer;
    struct study *study;
    const uint32_t *partitions; /* of routers */
    const struct topology *topology;
};

/* An access of threads in the present event. */
struct access {
    uint64_t line;
    bool store;
};

struct study {
    struct track_sink sink;
    struct cut cut;
    struct parties parties;
    struct windows *windows;
    struct windows *ends; /* these end before an event that must be in order */
    struct waits *waits;
    struct access *accesses; /* of the present event */
    size_t access_count, access_room;
    bool alone;           /* the present event must be in order: a launch, a beginning block or an atomic */
    struct place *places; /* by component */
    struct cost *costs;
    size_t cost_count;
    struct crossing *crossings;
    uint32_t *flits; /* by partition: in the present event */
    uint32_t *crossed, crossed_count;
    uint32_t grid, now; /* now: partition of the present event */
    const bool *warming;
    uint64_t events;
    double clock; /* ns that reading the clock takes */
};

static struct track open_stream(struct track_sink *sink, enum track_form form, const char *name)
{
    (void)form;
    (void)name;
    return (struct track){.sink = sink};
}

/* The present event, and with it its window, is in order. */
static void order(struct study *study, enum windows_cause cause)
{
    windows_order(study->windows, cause);
    study->alone = true;
}

/* A record of an access, or the header. */
static bool take_access(struct track stream, const void *bytes, size_t size)
{
    struct study *study = (struct study *)stream.sink; /* its first member */
    struct access_record record;
    if (size != ACCESS_RECORD || !study->windows)
        return true;
    access_record_read(bytes, &record);
    if (record.kind == ACCESS_IS_LAUNCH || record.words == 0 || record.stack)
        return true;
    if (record.kind == ACCESS_IS_ATOMIC)
        order(study, WINDOWS_ATOMIC);
    const struct access access = {record.address - 4 * (uint64_t)__builtin_ctzll(record.words),
                                  record.kind != ACCESS_IS_LOAD};
    if (windows_access(study->windows, study->now, access.line, record.words, access.store))
        windows_order(study->windows, WINDOWS_SHARED);
    if (study->access_count == study->access_room) {
        study->access_room = 2 * study->access_room + 64;
        study->accesses = alloc_resize(study->accesses, study->access_room * sizeof *study->accesses);
    }
    study->accesses[study->access_count++] = access;
    return true;
}

/* Tells `ends` of the accesses of the present event. Returns whether another partition shares a line. */
static bool tell_lines(struct study *study)
{
    bool shares = false;
    for (size_t i = 0; i < study->access_count; i++)
        shares |=
            windows_access(study->ends, study->now, study->accesses[i].line, 1, study->accesses[i].store);
    return shares;
}

/* The present event, at `time`, has happened, and its work has not been added. Without partitions, nobody waits. */
static void wait_for_others(struct study *study, uint64_t time)
{
    const bool accesses = study->access_count > 0;
    if (study->parties.count > 1 && (study->alone || accesses))
        waits_wait(study->waits, study->now);
    if (tell_lines(study) || study->alone) {
        windows_end(study->ends, time);
        (void)tell_lines(study);
    }
    study->access_count = 0;
    study->alone = false;
}

struct study *study_new(void)
{
    static const struct track_sink_ops ops = {.stream = open_stream, .bytes = take_access};
    struct study *study = alloc(1, sizeof *study);
    study->sink = (struct track_sink){.ops = &ops, .forms = TRACK_RECORDS};
    return study;
}

struct track_sink *study_sink(struct study *study)
{
    return &study->sink;
}

void study_free(struct study *study)
{
    if (!study)
        return;
    windows_free(study->windows);
    windows_free(study->ends);
    waits_free(study->waits);
    free(study->accesses);
    cut_free(&study->cut);
    parties_free(&study->parties);
    free(study->places);
    free(study->costs);
    free(study->crossings);
    free(study->flits);
    free(study->crossed);
    free(study);
}

static void flit_crosses(void *context, const struct network_hop *hop, const struct network_packet *packet)
{
    const struct crossing *crossing = context;
    struct study *study = crossing->study;
    const uint32_t partition = crossing->partitions[crossing->topology->ports[hop->out_port].router];
    (void)packet;
    if (study->flits[partition]++ == 0)
        study->crossed[study->crossed_count++] = partition;
}

static void add_work(struct study *study, uint32_t partition, enum windows_work work, double amount)
{
    windows_add(study->windows, partition, work, amount);
    windows_add(study->ends, partition, work, amount);
    waits_add(study->waits, partition, work, amount);
}

/* Adds the work of an event. Returns its units. */
static uint64_t add(struct study *study, const struct place *place)
{
    const struct cost *cost = place->cost;
    const double each = cost->timed_work ? cost->ns / (double)cost->timed_work : 0;
    uint64_t work = 0;
    if (!place->network) {
        add_work(study, place->partition, WINDOWS_EVENTS, 1);
        add_work(study, place->partition, WINDOWS_HOST, each);
        work = 1;
    }
    for (uint32_t i = 0; i < study->crossed_count; i++) {
        const uint32_t partition = study->crossed[i], flits = study->flits[partition];
        study->flits[partition] = 0;
        work += flits;
        add_work(study, partition, WINDOWS_EVENTS, flits);
        add_work(study, partition, WINDOWS_HOST, flits * each);
    }
    study->crossed_count = 0;
    return work;
}

static void time_event(struct cost *cost, uint64_t work, double ns)
{
    const double mean = cost->timed ? cost->ns / (double)cost->timed : 0;
    if (cost->timed >= SURE && ns > MOST * mean)
        ns = MOST * mean;
    cost->ns += ns > 0 ? ns : 0;
    cost->timed_work += work;
    cost->timed++;
}

static bool step(void *context, struct event_queue *queue)
{
    struct study *study = context;
    const struct event *event = event_queue_first(queue);
    if (!event)
        return false;
    const struct place *place = &study->places[event->component];
    if (place->core && *study->warming)
        return event_queue_step(queue);
    struct cost *cost = place->cost;
    const bool timed = cost->timed < FIRST || study->events % SAMPLE == 0;
    const uint64_t time = event->time;
    if (windows_reach(study->windows, time))
        waits_window(study->waits);
    (void)windows_reach(study->ends, time);
    if (event->component == study->grid)
        order(study, WINDOWS_LAUNCH);
    study->now = place->partition;
    const uint64_t start = timed ? host_nanoseconds() : 0;
    const bool fired = event_queue_step(queue);
    const double ns = timed ? (double)(host_nanoseconds() - start) - study->clock : 0;
    wait_for_others(study, time);
    const uint64_t work = add(study, place);
    study->events++;
    cost->work += work;
    if (timed)
        time_event(cost, work, ns);
    return fired;
}

/* Returns the cost of a kind of part; there is room for it. */
static struct cost *cost_of(struct study *study, const char *name)
{
    for (size_t i = 0; i < study->cost_count; i++)
        if (study->costs[i].name == name)
            return &study->costs[i];
    study->costs[study->cost_count] = (struct cost){.name = name};
    return &study->costs[study->cost_count++];
}

static void place_components(struct study *study, const struct builder *builder, uint32_t components)
{
    uint32_t first = 0; /* partition of the first core */
    size_t kinds = 2;
    for (const struct part_kind *const *kind = machine_kinds; *kind; kind++)
        kinds++;
    study->costs = alloc(kinds, sizeof *study->costs);
    study->places = alloc(components, sizeof *study->places);
    for (size_t i = builder->count; i-- > 0;) {
        const struct built_part *part = &builder->parts[i];
        const uint32_t partition = study->cut.partitions[part->instance->number];
        if (part->object && part->instance->kind == &core_kind)
            first = partition;
        for (uint32_t c = 0; part->object && c < part->components; c++)
            study->places[part->first_component + c] =
                (struct place){.partition = partition,
                               .cost = cost_of(study, part->instance->kind->name),
                               .network = part->instance->kind == &network_kind,
                               .core = part->instance->kind == &core_kind};
    }
    for (uint32_t c = 0; c < components; c++)
        if (!study->places[c].cost)
            study->places[c] = (struct place){.partition = first, .cost = cost_of(study, "run")};
}

static void watch_networks(struct study *study, const struct builder *builder)
{
    const struct cut *cut = &study->cut;
    study->crossings = alloc(cut->network_count, sizeof *study->crossings);
    for (uint32_t i = 0; i < cut->network_count; i++) {
        struct crossing *crossing = &study->crossings[i];
        *crossing = (struct crossing){.observer = {.hop = flit_crosses, .context = crossing},
                                      .study = study,
                                      .partitions = cut->partitions + cut->networks[i].first,
                                      .topology = &cut->networks[i].shape.topology};
        network_observe(fabric_network(builder_object(builder, cut->networks[i].instance)),
                        &crossing->observer);
    }
}

static double clock_cost(void)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < 1000; i++) {
        const uint64_t start = host_nanoseconds(), time = host_nanoseconds() - start;
        least = time < least ? time : least;
    }
    return (double)least;
}

bool study_watch(struct study *study, const struct builder *builder, struct scheduler *scheduler,
                 uint32_t components, uint32_t grid, const bool *warming, struct error *err)
{
    if (!cut_make(&study->cut, &builder->plan, err))
        return false;
    parties_make(&study->parties, &study->cut, builder);
    const uint64_t lookahead = study->cut.lookahead ? study->cut.lookahead : 1;
    study->windows = windows_new(lookahead, study->parties.weights, study->parties.count);
    study->ends = windows_new(lookahead, study->parties.weights, study->parties.count);
    study->waits = waits_new(study->windows);
    study->flits = alloc(study->parties.count, sizeof *study->flits);
    study->crossed = alloc(study->parties.count, sizeof *study->crossed);
    study->grid = grid;
    study->warming = warming;
    study->clock = clock_cost();
    place_components(study, builder, components);
    watch_networks(study, builder);
    scheduler->step = step;
    scheduler->step_context = study;
    return true;
}

/* Printing. */

static double total(const struct study *study, enum windows_work work)
{
    double sum = 0;
    for (uint32_t p = 0; p < study->parties.count; p++)
        sum += windows_total(study->windows, p, work);
    return sum;
}

static void print_partitions(const struct study *study, FILE *file)
{
    const double all = total(study, WINDOWS_EVENTS);
    fprintf(file, "%-32s %8s %14s %7s\n", "partition of", "weight", "work", "share");
    for (uint32_t p = 0; p < study->parties.count; p++) {
        const double work = windows_total(study->windows, p, WINDOWS_EVENTS);
        fprintf(file, "%-32s %8" PRIu64 " %14.0f %6.1f%%\n", study->parties.names[p],
                study->parties.weights[p], work, all > 0 ? 100 * work / all : 0);
    }
}

static void print_windows(const struct study *study, FILE *file)
{
    struct windows *windows = study->windows;
    const uint64_t count = windows_count(windows);
    const double each = count ? 100.0 / (double)count : 0;
    fprintf(file, "windows %" PRIu64 ", work in one %.1f\n", count,
            count ? total(study, WINDOWS_EVENTS) / (double)count : 0);
    fprintf(file,
            "windows in order %.1f%%: with launches or beginning blocks %.1f%%, atomics %.1f%%, shared words "
            "%.1f%%\n",
            each * (double)windows_ordered(windows), each * (double)windows_by_cause(windows, WINDOWS_LAUNCH),
            each * (double)windows_by_cause(windows, WINDOWS_ATOMIC),
            each * (double)windows_by_cause(windows, WINDOWS_SHARED));
    fprintf(file, "windows that end before such events %" PRIu64 "; waits of two threads %" PRIu64 "\n",
            windows_count(study->ends), waits_count(study->waits, 2));
}

static void print_costs(const struct study *study, FILE *file)
{
    const double all = total(study, WINDOWS_HOST);
    for (size_t i = 0; i < study->cost_count; i++) {
        const struct cost *cost = &study->costs[i];
        const double each = cost->timed_work ? cost->ns / (double)cost->timed_work : 0;
        if (cost->work)
            fprintf(file, "host %-16s %14" PRIu64 " of work, %8.0f ns each\n", cost->name, cost->work, each);
    }
    const double work = total(study, WINDOWS_EVENTS);
    struct rusage usage;
    fprintf(file, "host work %.3f s, for one unit %.0f ns, for one event %.0f ns\n", all * 1e-9,
            work > 0 ? all / work : 0, study->events ? all / (double)study->events : 0);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        fprintf(file, "host memory %.1f MiB\n", (double)usage.ru_maxrss / 1024);
}

/* More threads than two meet as a tree. */
static void print_gains(const struct study *study, const char *host, enum windows_work work, double barrier,
                        FILE *file)
{
    fprintf(file, "%sthreads   gain  in order    ends   waits\n", host);
    for (unsigned threads = 2, levels = 1; threads <= WINDOWS_MOST; threads *= 2, levels++) {
        const double wait = barrier * levels;
        fprintf(file, "%s%7u %6.2f %9.2f %7.2f %7.2f\n", host, threads,
                windows_gain(study->windows, threads, work, false, wait),
                windows_gain(study->windows, threads, work, true, wait),
                windows_gain(study->ends, threads, work, false, wait),
                waits_gain(study->waits, threads, work, wait));
    }
}

static void print_host_gains(const struct study *study, double barrier, FILE *file)
{
    print_gains(study, "host ", WINDOWS_HOST, 0, file);
    fprintf(file, "host barrier of two threads %.0f ns; with barriers:\n", barrier);
    print_gains(study, "host ", WINDOWS_HOST, barrier, file);
}

void study_print(struct study *study, FILE *file)
{
    char time[QUANTITY_TEXT];
    const double barrier = barrier_cost();
    if (study->parties.count == 1) {
        fprintf(file, "partitions 1: the machine has no links or routers at which it can be cut\n");
    } else {
        quantity_format(QUANTITY_TIME, study->cut.lookahead, time);
        fprintf(file, "partitions %u, lookahead %s (%s)\n", study->parties.count, time,
                study->cut.limit ? study->cut.limit : "nothing passes between them");
    }
    fprintf(file, "events %" PRIu64 ", work %.0f\n", study->events, total(study, WINDOWS_EVENTS));
    print_partitions(study, file);
    print_windows(study, file);
    print_gains(study, "", WINDOWS_EVENTS, 0, file);
    print_costs(study, file);
    if (!isnan(barrier))
        print_host_gains(study, barrier, file);
}
