/* Counters of the engine, and the cycles that tasks spend in their steps. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/nucd/engine/state.h"

static uint64_t cycles_between(const struct engine *e, uint64_t from, uint64_t to)
{
    uint64_t period = e->parts.clock.period;
    return to > from ? to / period - from / period : 0;
}

/* The parts of an offload follow each other without gaps, so that they add up to the time from decode to
 * begin. */
static void count_begun(struct engine_task *t, uint64_t time)
{
    struct engine *e = t->engine;
    struct engine_counters *count = &e->count;
    const struct engine_times *at = &t->at;
    uint64_t clear = engine_later(at->clear, at->made), cleaned = engine_later(at->cleaned, clear);
    uint64_t free = engine_later(at->free, cleaned), sent = at->sent;
    uint64_t table = t->group ? 0 : e->config.table_clocks;
    uint64_t quick = free + engine_clocks(e, table + e->config.schedule_clocks);
    /* After `chosen`, the task waits for the link or for credits until `sent`. */
    uint64_t chosen = quick < sent ? quick : sent;
    uint64_t idle = engine_later(e->idle_since[t->accelerator], at->arrived);
    uint64_t begun = at->made - engine_generate_clocks(t);
    uint64_t overlap = engine_later(at->cleaned < begun ? at->cleaned : begun, at->ready);
    uint64_t wait = t->group ? 0 : cycles_between(e, at->freed, at->ready);
    uint64_t generator = cycles_between(e, begun, at->made);
    uint64_t transfer = cycles_between(e, free, chosen) + cycles_between(e, sent, at->arrived);
    uint64_t start = cycles_between(e, idle, time), all = wait + generator + transfer + start;
    count->wait += wait;
    count->generator += generator;
    count->transfer += transfer;
    count->start += start;
    count->dependent += cycles_between(e, at->decoded, at->freed);
    count->held += cycles_between(e, at->made, clear);
    count->cleaning += cycles_between(e, at->ready, overlap) + cycles_between(e, clear, cleaned);
    count->blocked += cycles_between(e, cleaned, free);
    count->queued += cycles_between(e, overlap, begun) + cycles_between(e, chosen, sent) +
                     cycles_between(e, at->arrived, idle);
    if (t->group)
        count->queued += cycles_between(e, at->decoded, at->ready);
    count->cycles += all;
    count->elapsed += cycles_between(e, at->decoded, time);
    bool first = count->offloads == e->since.offloads;
    count->least = first || all < count->least ? all : count->least;
    count->most = engine_later(count->most, all);
    count->offloads++;
}

/* Notes what count_begun() has added to the counters, as the task's own cycles. */
static void note_cycles(struct engine_task *t, const struct engine_counters *before)
{
    const struct engine_counters *now = &t->engine->count;
    t->cycles = (struct nucd_cycles){.offload = now->cycles - before->cycles,
                                     .wait = now->wait - before->wait,
                                     .generator = now->generator - before->generator,
                                     .transfer = now->transfer - before->transfer,
                                     .start = now->start - before->start,
                                     .dependent = now->dependent - before->dependent,
                                     .held = now->held - before->held,
                                     .cleaning = now->cleaning - before->cleaning,
                                     .blocked = now->blocked - before->blocked,
                                     .queued = now->queued - before->queued,
                                     .elapsed = now->elapsed - before->elapsed};
}

static void spread_begun(struct engine_spreads *spreads, const struct nucd_cycles *cycles)
{
    histogram_add(&spreads->offload, cycles->offload);
    histogram_add(&spreads->wait, cycles->wait);
    histogram_add(&spreads->generator, cycles->generator);
    histogram_add(&spreads->transfer, cycles->transfer);
    histogram_add(&spreads->start, cycles->start);
    histogram_add(&spreads->dependent, cycles->dependent);
    histogram_add(&spreads->held, cycles->held);
    histogram_add(&spreads->cleaning, cycles->cleaning);
    histogram_add(&spreads->blocked, cycles->blocked);
    histogram_add(&spreads->queued, cycles->queued);
}

void engine_count_begun(struct engine_task *t, uint64_t time)
{
    const struct engine_counters before = t->engine->count;
    count_begun(t, time);
    note_cycles(t, &before);
    spread_begun(&t->engine->spreads, &t->cycles);
}

void engine_count_retired(struct engine_task *t)
{
    struct engine_spreads *spreads = &t->engine->spreads;
    const struct engine_times *at = &t->at;
    if (at->begun == CLOCK_NEVER || at->ended == CLOCK_NEVER)
        return; /* the region was not observed from its first instruction to its end */
    histogram_add(&spreads->run, cycles_between(t->engine, at->begun, at->ended));
    histogram_add(&spreads->commit, cycles_between(t->engine, at->ended, at->reported));
    histogram_add(&spreads->retire, cycles_between(t->engine, at->reported, at->left));
}

void engine_spreads_init(struct engine_spreads *spreads)
{
    /* An offload takes 150 to 200 cycles (NUCD paper, section VI-B): steps of 20 show how they spread. */
    const struct histogram offload = histogram_linear(20, 25), part = histogram_log2(3, 14),
                           after = histogram_log2(6, 14);
    *spreads = (struct engine_spreads){.offload = offload,
                                       .wait = part,
                                       .generator = part,
                                       .transfer = part,
                                       .start = part,
                                       .dependent = part,
                                       .held = part,
                                       .cleaning = part,
                                       .blocked = part,
                                       .queued = part,
                                       .run = after,
                                       .commit = part,
                                       .retire = part};
}

static void publish_spreads(const struct engine *e, struct stats *stats, struct scope scope)
{
    const struct engine_spreads *s = &e->spreads;
    const struct {
        const char *name;
        const struct histogram *histogram;
        const char *meaning;
    } rows[] = {
        {"offload_cycles", &s->offload, "offload_cycles of each task"},
        {"wait_cycles", &s->wait, "wait_cycles of each task"},
        {"generator_cycles", &s->generator, "generator_cycles of each task"},
        {"transfer_cycles", &s->transfer, "transfer_cycles of each task"},
        {"start_cycles", &s->start, "start_cycles of each task"},
        {"dependent_cycles", &s->dependent, "dependent_cycles of each task"},
        {"held_cycles", &s->held, "held_cycles of each task"},
        {"cleaning_cycles", &s->cleaning, "cleaning_cycles of each task"},
        {"blocked_cycles", &s->blocked, "blocked_cycles of each task"},
        {"queued_cycles", &s->queued, "queued_cycles of each task"},
        {"run_cycles", &s->run, "cycles of the host from the region's first instruction to its end"},
        {"commit_cycles", &s->commit,
         "cycles from the region's end to the report at the host: the write-back of the accelerator's data "
         "cache, and the link"},
        {"retire_cycles", &s->retire, "cycles from the report at the host to retirement of the nucd"},
    };
    const struct scope inner = scope_enter(&scope, "per_task");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        stats_histogram(stats, inner, rows[i].name, rows[i].histogram, "cycles/task", "tasks",
                        rows[i].meaning);
}

static void reset(void *context)
{
    struct engine *e = context;
    e->count.least = e->count.most = 0;
    e->since = e->count;
}

/* Registers the statistics of a multiprocessor's engine. */
static void publish_threads(struct engine *e, struct stats *stats, struct scope scope)
{
    const struct engine_counters *c = &e->count;
    const struct nucd_scheduler_counters *s = &e->scheduler.counters;
    const struct stats_row rows[] = {
        {"warps", &c->groups, "instructions", "nucds of warps that sent tasks"},
        {"warp_cycles", &c->group_cycles, "cycles",
         "from the issue of these nucds until their threads continue: the sum over them"},
        {"offloads", &c->offloads, "tasks", "threads' tasks whose regions have begun on accelerators"},
        {"offload_cycles", &c->cycles, "cycles",
         "of these tasks: the sum of generator_cycles, transfer_cycles and start_cycles"},
        {"generator_cycles", &c->generator, "cycles", "of offload_cycles, in the packet generator"},
        {"transfer_cycles", &c->transfer, "cycles", "of offload_cycles, in scheduler and link"},
        {"start_cycles", &c->start, "cycles", "of offload_cycles, in the accelerator's firmware"},
        {"cleaning_cycles", &c->cleaning, "cycles",
         "not in offload_cycles: cleaning the multiprocessor's caches before the packet is sent"},
        {"queued_cycles", &c->queued, "cycles",
         "not in offload_cycles: waiting for a free task, the generator, room in the write buffer, the link "
         "or credits, "
         "or in the work queue of a busy accelerator"},
        {"elapsed_cycles", &c->elapsed, "cycles",
         "all cycles from the issue of the nucd to the first instruction of the region"},
        {"table_full", &c->table_full, "times", "nucds with threads that waited for a free task"},
        {"faults", &c->faults, "tasks", "faults in regions"},
        {"transfers", &s->transfers, "transfers", "transfers sent to work queues"},
        {"coalesced", &s->coalesced, "tasks", "tasks sent in the transfer of another task"},
        {"packet_words", &s->words, "words", "8-byte words sent in packets"},
        {"buffer_full", &s->full, "times", "the packet producer found no room in the write buffer"},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof rows[0]);
    nucd_causes_publish(&e->causes, stats, scope);
    stats_on_reset(stats, reset, e);
}

void engine_publish(struct engine *e, struct stats *stats, struct scope scope)
{
    if (!e->window) {
        publish_threads(e, stats, scope);
        return;
    }
    const struct engine_counters *c = &e->count;
    const struct nucd_scheduler_counters *s = &e->scheduler.counters;
    const struct stats_row rows[] = {
        {"offloads", &c->offloads, "tasks", "tasks whose regions have begun on accelerators"},
        {"offload_cycles", &c->cycles, "cycles",
         "from decode of the nucd to the first instruction of the region: the sum of wait_cycles, "
         "generator_cycles, transfer_cycles and start_cycles"},
        {"wait_cycles", &c->wait, "cycles",
         "of offload_cycles, until no instruction before the nucd can squash it"},
        {"generator_cycles", &c->generator, "cycles", "of offload_cycles, in the packet generator"},
        {"transfer_cycles", &c->transfer, "cycles",
         "of offload_cycles, in dependency table, scheduler and link"},
        {"start_cycles", &c->start, "cycles", "of offload_cycles, in the accelerator's firmware"},
        {"dependent_cycles", &c->dependent, "cycles",
         "not in offload_cycles: an instruction before the nucd that could still trap or squash it waited "
         "for "
         "a task"},
        {"held_cycles", &c->held, "cycles",
         "not in offload_cycles: waiting for stores of the host to retire and drain"},
        {"cleaning_cycles", &c->cleaning, "cycles", "not in offload_cycles: cleaning the host's caches"},
        {"blocked_cycles", &c->blocked, "cycles", "not in offload_cycles: blocked by older tasks"},
        {"queued_cycles", &c->queued, "cycles",
         "not in offload_cycles: waiting for the generator, room in the write buffer, the link or credits, "
         "or in the work queue of a busy accelerator"},
        {"elapsed_cycles", &c->elapsed, "cycles",
         "all cycles from decode of the nucd to the first instruction of the region"},
        {"table_full", &c->table_full, "times", "nucds that waited for a free slot of the dependency table"},
        {"squashed", &c->squashed, "tasks", "tasks squashed before they were sent; they start anew"},
        {"kept", &c->kept, "tasks", "tasks squashed after they were sent; they are not run again"},
        {"faults", &c->faults, "tasks", "faults in regions"},
        {"ordered", &c->ordered, "tasks",
         "tasks that waited at an order point (nucd.order) until older instructions and tasks were complete"},
        {"resumed", &c->resumed, "tasks", "faults after which the task was resumed"},
        {"killed", &c->killed, "tasks", "faults after which the task was killed"},
        {"returned", &c->returned, "tasks",
         "tasks left to the host because faults of younger tasks held all accelerators"},
        {"checkpoints", &c->checkpoints, "tasks",
         "tasks that left the reorder buffer before they were complete"},
        {"checkpoints_full", &c->checkpoints_full, "tasks",
         "tasks that waited for a free checkpoint to leave the reorder buffer"},
        {"foreseen", &c->foreseen, "tasks", "tasks whose accesses the oracle knew (nucd.ranges=oracle)"},
        {"unforeseen", &c->unforeseen, "tasks", "tasks for which it gave up: their declared ranges counted"},
        {"accelerator_cycles", &c->occupied, "cycles",
         "of accelerators, for this host's complete tasks: from the time at which a task is first in the "
         "work "
         "queue of an idle accelerator until the accelerator reports it"},
        {"turns", &c->turns, "times",
         "packets that were ready found no room in work queues, or only accelerators of other hosts"},
        {"turn_cycles", &c->turn_cycles, "cycles", "from then until the next transfer"},
        {"launches", &c->launches, "tasks",
         "tasks that followed another task in the reorder buffer's window"},
        {"launch_instructions", &c->gaps, "instructions",
         "host instructions from the task before to each of these"},
        {"transfers", &s->transfers, "transfers", "transfers sent to work queues"},
        {"coalesced", &s->coalesced, "tasks", "tasks sent in the transfer of another task"},
        {"packet_words", &s->words, "words", "8-byte words sent in packets"},
        {"buffer_full", &s->full, "times", "the packet producer found no room in the write buffer"},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof rows[0]);
    publish_spreads(e, stats, scope);
    nucd_causes_publish(&e->causes, stats, scope);
    stats_on_reset(stats, reset, e);
}

static void add_tenths(struct stats *stats, struct scope scope, const char *name, uint64_t tenths)
{
    char value[32], *full = scope_path(scope, name);
    (void)snprintf(value, sizeof value, "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
    stats_fact_text(stats, full, value);
    free(full);
}

void engine_add_facts(const struct engine *e, struct stats *stats, struct scope scope)
{
    const struct engine_counters *c = &e->count, *since = &e->since;
    uint64_t offloads = c->offloads - since->offloads, gaps = c->gaps - since->gaps;
    if (offloads > 0) {
        add_tenths(stats, scope, "offload_cycles.min", 10 * c->least);
        add_tenths(stats, scope, "offload_cycles.mean", 10 * (c->cycles - since->cycles) / offloads);
        add_tenths(stats, scope, "offload_cycles.max", 10 * c->most);
    }
    if (gaps > 0)
        add_tenths(stats, scope, "window", 10 * (c->launches - since->launches) * e->config.rob / gaps);
}
