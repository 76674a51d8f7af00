#include "emu/machine/timed/windows.h"

#include <stdlib.h>
#include <string.h>

#include "emu/machine/describe/root.h"
#include "emu/machine/timed/state.h"
#include "emu/net/crossbar.h"
#include "emu/net/fabric.h"
#include "emu/net/link.h"
#include "emu/sim/alloc.h"
#include "emu/sim/host_time.h"
#include "emu/sim/text/say.h"
#include "emu/sim/threads/turns.h"
#include "emu/sim/threads/workers.h"

struct windows {
    struct turns turns;
    struct event_window of[EVENT_QUEUES];
    struct workers *workers;
    struct network **networks; /* those in pieces */
    uint32_t network_count;
    bool failed;    /* the run has ended within a window */
    bool looked;    /* at stacks */
    bool off;       /* none begins */
    uint64_t count; /* windows so far */
    uint64_t fired; /* events in them */
    double seconds; /* host time in them */
};

/* What is refused. */

static bool refuse(struct error *err, const char *what, const char *why)
{
    return error_set(err, "--threads: %s: %s; leave it out, or --threads 1", what, why);
}

/* What tells of events as they happen, in their order, or adds up what all partitions do. */
static bool check_options(const struct timed *timed, struct error *err)
{
    const struct timed_options *options = &timed->options;
    if (options->trace)
        return refuse(err, "--trace", "a trace has events in their order");
    if (options->observe)
        return refuse(err, "--log", "a log has instructions in their order");
    if (options->check_coherence || options->check_dram || options->check_tasks)
        return refuse(err, "--check", "checks watch all partitions");
    if (options->study)
        return refuse(err, "--partition-study", "it measures one thread");
    if (timed->harts[0].privileged)
        return error_set(err, "--threads: this run has virtual memory or machine mode; only user programs "
                              "(--env user) can use several threads");
    return true;
}

/* Kinds whose parts act on others only by requests, responses and what these tell. */
static bool is_plain(const struct part_kind *kind)
{
    static const struct part_kind *const plain[] = {
        &group_kind,        &dram_kind, &crossbar_kind, &network_kind, &network_router_kind,
        &network_wire_kind, &llc_kind,  &core_kind,     &simt_kind,    &link_kind};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i] == kind)
            return true;
    return false;
}

static bool check_simt(const struct instance *part, struct error *err)
{
    const struct simt_config *config = part->config;
    return !config->stack_drop || config->stack_near ||
           error_set(err,
                     "--threads: %s.stack_drop: lines of a block's stacks are dropped at once from caches of "
                     "other partitions; allowed: stack_near: true, or stack_drop: false",
                     part->path);
}

static bool check_kinds(const struct timed *timed, struct error *err)
{
    const struct machine_config *machine = timed->options.machine;
    if (timed->options.mechanism.ops)
        return error_set(
            err,
            "--threads: machine '%s' has accelerators that take tasks, which share state with all "
            "partitions",
            machine->name);
    for (const struct instance *i = tree_next(machine->tree, NULL); i; i = tree_next(machine->tree, i))
        if (i->kind->make && (!i->parent || !i->parent->kind->whole) && !is_plain(i->kind))
            return error_set(err, "--threads: %s: a part of kind %s shares state with other partitions",
                             i->path, i->kind->name);
    return timed->cut.count > 1 ||
           error_set(err, "--threads: machine '%s' is one partition: no network lies between its parts",
                     machine->name);
}

/* A prefetch that becomes needed is no longer dropped, wherever it is. */
static bool check_cache(const struct instance *cache, struct error *err)
{
    const struct instance *above = cache->parent;
    while (above && above->kind != &simt_kind)
        above = above->parent;
    return !above || ((const struct cache_config *)cache->config)->prefetch == CACHE_PREFETCH_NONE ||
           error_set(err,
                     "--threads: %s.prefetch: its prefetches are changed while they are in other partitions; "
                     "allowed: none",
                     cache->path);
}

static bool check_multiprocessors(const struct timed *timed, struct error *err)
{
    const struct machine_config *machine = timed->options.machine;
    for (const struct instance *i = tree_next(machine->tree, NULL); i; i = tree_next(machine->tree, i))
        if ((i->kind == &simt_kind && !check_simt(i, err)) ||
            (i->kind == &cache_kind && !check_cache(i, err)))
            return false;
    return machine->simt || error_set(err,
                                      "--threads: machine '%s' has no multiprocessors, whose threads several "
                                      "threads of the host could execute",
                                      machine->name);
}

/* Between partitions there are only networks, whose other sides are crossbars. These send packets at least a clock after they have got
 * them. */
static bool check_wires(const struct timed *timed, struct error *err)
{
    const struct wiring *wiring = &timed->builder.plan.wiring;
    for (size_t i = 0; i < wiring->count; i++) {
        const struct instance *client = wiring->wires[i].client, *server = wiring->wires[i].server;
        const struct instance *network = client->kind == &network_kind   ? client
                                         : server->kind == &network_kind ? server
                                                                         : NULL;
        const struct instance *other = network == client ? server : client;
        if (network && other->kind != &crossbar_kind)
            return error_set(
                err, "--threads: %s: a network can be divided if crossbars are at its nodes; %s is at one",
                network->path, other->path);
        if (!network && timed->queue_of[client->number] != timed->queue_of[server->number])
            return error_set(err, "--threads: the link %s is between partitions; only networks may be",
                             client->path);
    }
    return true;
}

static bool check_networks(const struct timed *timed, struct error *err)
{
    const struct tree *tree = timed->options.machine->tree;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind == &network_kind && !cut_network_of(&timed->cut, i)->divisible)
            return error_set(err,
                             "--threads: %s: track, arbitration by loads or by an oracle, and classes other "
                             "than requests and responses look at all routers at once; leave them out",
                             i->path);
    return true;
}

/* Each thread must have multiprocessors. */
static bool check_shares(const struct timed *timed, struct error *err)
{
    const struct tree *tree = timed->options.machine->tree;
    bool has[EVENT_QUEUES] = {false};
    unsigned count = 0;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind == &simt_kind && ((const struct simt_config *)i->config)->count > 0)
            has[timed->queue_of[i->number]] = true;
    for (unsigned i = 0; i < timed->options.queues; i++)
        count += has[i];
    return count == timed->options.queues ||
           error_set(err, "--threads %u: only %u of so many parts of machine '%s' would have multiprocessors",
                     timed->options.queues, count, timed->options.machine->name);
}

bool timed_windows_check(struct timed *timed, struct error *err)
{
    if (timed->options.threads < 2)
        return true;
    if (!check_options(timed, err) || !check_kinds(timed, err) || !check_wires(timed, err) ||
        !check_networks(timed, err) || !check_multiprocessors(timed, err) || !check_shares(timed, err))
        return false;
    if (timed->options.queues < timed->options.threads)
        say_warning("--threads %u: machine '%s' has %u partitions, so %u threads execute it",
                    timed->options.threads, timed->options.machine->name, timed->cut.count,
                    timed->options.queues);
    return true;
}

/* The work. */

/* Returns whether the stacks of a part's multiprocessors, which have those of warps from `first` on, are in memories of its own queue.
 * queues[]: by number of the memory. */
static bool has_near_stacks(const struct timed *timed, const struct instance *part, uint32_t first,
                            const struct warp_memory *memory, const uint32_t *queues)
{
    const struct simt_config *config = part->config;
    const struct plan *plan = &timed->builder.plan;
    const uint64_t words = (UINT64_C(1) << memory->setup.stack_shift) / WARP_STACK_WORD;
    struct home home;
    for (uint32_t i = 0; config->stack_drop && i < config->count * config->warps; i += config->warps)
        for (uint64_t word = 0; word < words; word++) {
            home_resolve(plan->homes, memory->setup.stack_physical + warp_stack_row(memory, word, first + i),
                         &home);
            if (queues[home.module * plan->stacks + home.stack] != timed->queue_of[part->number])
                return false;
        }
    return true;
}

/* Returns a part whose multiprocessors have stacks in memories of other queues, or NULL. */
static const struct instance *find_far_stacks(const struct timed *timed, const struct warp_memory *memory)
{
    const struct plan *plan = &timed->builder.plan;
    const struct tree *tree = timed->options.machine->tree;
    const struct instance *far = NULL;
    uint32_t *queues = alloc((size_t)plan->modules * plan->stacks, sizeof *queues), first = 0;
    for (size_t i = 0; i < plan->memory_count; i++)
        queues[plan->memories[i].number] = timed->queue_of[plan->memories[i].instance->number];
    for (const struct instance *i = tree_next(tree, NULL); i && !far; i = tree_next(tree, i)) {
        const struct simt_config *config = i->config;
        if (i->kind != &simt_kind)
            continue;
        far = has_near_stacks(timed, i, first, memory, queues) ? NULL : i;
        first += config->count * config->warps;
    }
    free(queues);
    return far;
}

/* Returns whether the end of a block may act on another partition, by stacks that are not near their multiprocessor, and says so. Stacks
 * have their places when the first blocks run. */
static bool has_far_stacks(const struct timed *timed)
{
    const struct instance *far = find_far_stacks(timed, simt_grid_memory(timed_simt_grid(timed)));
    if (far)
        say_warning(
            "--threads has no effect: by `homes`, stacks of %s are in memories of other partitions, from "
            "whose caches blocks that end drop them; stack_drop: false leaves them there",
            far->path);
    return far;
}

/* Returns the number of events that have fired. */
static uint64_t events(const struct timed *timed)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < timed->options.queues; i++)
        sum += timed->queues[i].fired;
    return sum;
}

static void run_queue(void *context, unsigned number)
{
    const struct timed *timed = context;
    window_run(&timed->queues[number]);
}

/* Returns whether first-level caches tell each other who has the newest words. */
static bool is_coherent(const struct timed *timed)
{
    for (size_t i = 0; i < timed->builder.count; i++) {
        const struct built_part *part = &timed->builder.parts[i];
        if (part->instance->kind == &simt_kind && part->object &&
            ((const struct simt_config *)part->instance->config)->count > 0 &&
            cache_is_by_word(simt_cluster_beside(part->object, 0).l1))
            return true;
    }
    return false;
}

bool timed_windows_start(struct timed *timed, struct error *err)
{
    if (timed->options.threads < 2)
        return true;
    if (is_coherent(timed))
        return error_set(err, "--threads: coherence: denovo: the domain of first-level caches is one for all "
                              "partitions");
    struct windows *windows = alloc_checked(aligned_alloc(_Alignof(struct windows), sizeof *windows));
    memset(windows, 0, sizeof *windows);
    timed->windows = windows;
    windows->networks = alloc(timed->builder.count, sizeof *windows->networks);
    for (size_t i = 0; i < timed->builder.count; i++)
        if (timed->builder.parts[i].instance->kind == &network_kind)
            windows->networks[windows->network_count++] = fabric_network(timed->builder.parts[i].object);
    home_map_hold(timed->builder.plan.homes, "homes are fixed with --threads");
    windows->workers = workers_new(timed->options.queues, run_queue, timed, err);
    return windows->workers || error_prefix(err, "--threads");
}

void timed_windows_free(struct timed *timed)
{
    if (!timed->windows)
        return;
    workers_free(timed->windows->workers);
    free(timed->windows->networks);
    free(timed->windows);
}

/* Returns whether a window may begin: hosts only wait, and blocks only run. Lowers *end to what the first thread has to do alone. */
static bool is_quiet(const struct timed *timed, uint64_t *end)
{
    const struct scheduler *s = &timed->scheduler;
    const struct event *const own[] = {&s->time_event, &s->timer_event, &s->poll_event};
    for (unsigned i = 0; i < s->count; i++)
        if (!s->cores[i].core->asleep)
            return false;
    if (!timed->simt || !simt_grid_quiet(timed_simt_grid(timed), end))
        return false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (event_pending(own[i]) && own[i]->time < *end)
            *end = own[i]->time;
    return true;
}

bool timed_windows_step(struct timed *timed)
{
    struct windows *windows = timed->windows;
    uint64_t end = CLOCK_NEVER;
    if (!windows || windows->off || !is_quiet(timed, &end))
        return false;
    if (!windows->looked) {
        windows->looked = true;
        windows->off = has_far_stacks(timed);
        return false;
    }
    const uint64_t first = event_queue_next(timed->queues), most = first + timed->cut.lookahead;
    if (first >= end)
        return false;
    end = most < end ? most : end;
    end = first + WINDOW_MOST < end ? first + WINDOW_MOST : end;
    const double began = host_seconds();
    for (uint32_t i = 0; i < windows->network_count; i++)
        end = network_part(windows->networks[i], first, end);
    simt_grid_part(timed_simt_grid(timed));
    turns_begin(&windows->turns, windows->of, timed->queues, timed->options.queues, first, end);
    const uint64_t before = events(timed);
    workers_run(windows->workers);
    windows->count++;
    windows->fired += events(timed) - before;
    turns_end(timed->queues, timed->options.queues);
    for (uint32_t i = 0; i < windows->network_count; i++)
        network_join(windows->networks[i]);
    simt_grid_join(timed_simt_grid(timed));
    windows->failed = timed_simt_failed(timed);
    windows->seconds += host_seconds() - began;
    return true;
}

void timed_windows_facts(const struct timed *timed, struct stats *stats)
{
    const uint64_t all = events(timed);
    if (!timed->windows)
        return;
    stats_host_number(stats, "threads", timed->options.queues);
    stats_host_number(stats, "windows", (double)timed->windows->count);
    stats_host_number(stats, "seconds_in_windows", timed->windows->seconds);
    stats_host_number(stats, "events_in_windows", all ? (double)timed->windows->fired / (double)all : 0);
}

bool timed_windows_failed(const struct timed *timed)
{
    return timed->windows && timed->windows->failed;
}
