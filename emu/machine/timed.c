#include "emu/machine/timed.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "emu/machine/timed_state.h"
#include "emu/nucd/engine.h"

#define NS   UINT64_C(1000000)
#define BEAT (10000 * NS) /* 10 us, as a system looks at its devices */

/* Instructions: more than a core can retire between two beats. */
enum { NEAR = 1 << 18 };

uint64_t timed_now(const struct timed *timed)
{
    return timed->queue.now;
}

bool timed_expired(const struct timed *timed)
{
    return timed->expired;
}

const char *timed_limit(const struct timed *timed)
{
    return timed->late ? "nucd.timeout" : "--max-time";
}

void timed_sleep(struct timed *timed, uint64_t ns)
{
    uint64_t from = timed->wake_at > timed->queue.now ? timed->wake_at : timed->queue.now;
    uint64_t room = INT64_MAX - from; /* what lies beyond is the end of simulated time */
    timed->wake_at = from + (ns < room / NS ? ns * NS : room);
}

uint64_t timed_instructions(const struct timed *timed)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < timed->count; i++)
        sum += hart_progress(&timed->harts[i]);
    return sum;
}

static uint64_t insns_left(const struct timed *timed)
{
    uint64_t all = timed_instructions(timed), most = timed->options.max_insns;
    return most == 0 ? UINT64_MAX : most > all ? most - all : 0;
}

/* What is left is shared out among the cores that are awake, again and again; while it is far, no core stops for it. */
static void share_insns(struct timed *timed)
{
    uint64_t left = insns_left(timed), awake = 0;
    for (unsigned i = 0; i < timed->count; i++)
        awake += !timed->cores[i].core->asleep;
    uint64_t share = awake > 1 ? left / awake : left;
    share = share == 0 && left > 0 ? 1 : share;
    for (unsigned i = 0; i < timed->count; i++) {
        uint64_t done = hart_progress(&timed->harts[i]), most = i == 0 ? timed->slice : UINT64_MAX;
        uint64_t end = share > NEAR ? UINT64_MAX : done + share;
        timed->cores[i].core->limit = end < most ? end : most;
    }
}

bool timed_goes_on(struct timed *timed, unsigned i)
{
    if (insns_left(timed) == 0 || (i == 0 && hart_progress(&timed->harts[0]) >= timed->slice))
        return false;
    share_insns(timed);
    return true;
}

static void beat(void *owner, uint64_t now)
{
    struct timed *timed = owner;
    event_schedule(&timed->queue, &timed->beat_event, now + BEAT);
    if (timed_signalled(timed)) /* which may have come while the hart put its flags in order */
        hart_request_yield(&timed->harts[0]);
    core_ahead_interrupted(timed->cores[0].core, now);
    share_insns(timed);
}

void timed_beat_init(struct timed *timed)
{
    event_init(&timed->beat_event, timed_component(timed), beat, timed);
}

void timed_beat_start(struct timed *timed, uint64_t now)
{
    event_schedule(&timed->queue, &timed->beat_event, now + BEAT);
}

void timed_beat_stop(struct timed *timed)
{
    event_cancel(&timed->queue, &timed->beat_event);
}

enum hart_stop timed_run(struct timed *timed, struct hart *hart, uint64_t max_insns)
{
    struct core *core = timed->cores[0].core;
    uint64_t done = hart_progress(hart);
    if (timed->expired)
        return HART_STOP_YIELD;
    timed->slice = max_insns < UINT64_MAX - done ? done + max_insns : UINT64_MAX;
    timed->stopped = false;
    uint64_t start = timed->wake_at > timed->queue.now ? timed->wake_at : timed->queue.now;
    core_wake(core, start);
    share_insns(timed);
    timed_beat_start(timed, start);
    while (!timed->stopped) {
        bool fired = event_queue_step(&timed->queue);
        assert(fired); /* the core is awake, and waits for something */
        (void)fired;
        progress_tick(&timed->progress, timed->queue.now, hart->instret);
    }
    timed_beat_stop(timed);
    progress_hide(&timed->progress);
    return timed->stop;
}

static void add_facts(const struct timed *timed, struct stats *stats)
{
    char name[64], value[64];
    (void)snprintf(value, sizeof value, "%" PRIu64 ".%015" PRIu64, timed->queue.now / CLOCK_SECOND,
                   timed->queue.now % CLOCK_SECOND);
    stats_fact_text(stats, "simulated_seconds", value);
    if (timed->options.roi)
        stats_fact_text(stats, "detail", "roi");
    for (unsigned i = 0; i < timed->count; i++) {
        const struct timed_core *core = &timed->cores[i];
        uint64_t cycles = core->core->cycles;
        double ipc = cycles ? (double)timed->harts[i].instret / (double)cycles : 0;
        (void)snprintf(name, sizeof name, "%s.ipc", core->name);
        (void)snprintf(value, sizeof value, "%.4f", ipc);
        stats_fact_text(stats, name, value);
    }
    if (timed->nucd)
        engine_add_facts(timed->nucd, stats, scope_enter(NULL, "nucd"));
}

unsigned timed_finish(struct timed *timed, struct stats *stats)
{
    unsigned findings = 0;
    progress_hide(&timed->progress);
    dram_memory_sync(&timed->memory, timed->queue.now);
    if (stats)
        add_facts(timed, stats);
    if (timed->options.roi && !timed->entered)
        fprintf(
            stderr,
            "croft run: warning: --detail roi: no region of interest was entered: no instruction has been "
            "timed (croft_roi_begin() begins one)\n");
    if (timed->options.check_dram && timed->dram_checker.violations) {
        fprintf(stderr,
                "croft: --check dram: %" PRIu64 " of %" PRIu64 " commands break a rule; the first: %s\n",
                timed->dram_checker.violations, timed->dram_checker.commands, timed->dram_checker.first.text);
        findings++;
    }
    if (timed->coherence && coherence_counted(timed->coherence)->reports) {
        const struct coherence_counters *counted = coherence_counted(timed->coherence);
        fprintf(stderr,
                "croft: --check coherence: %" PRIu64 " stale loads, %" PRIu64
                " stores to stale lines, %" PRIu64 " lost updates, at %" PRIu64 " pairs of places\n",
                counted->problems[COHERENCE_STALE_LOAD], counted->problems[COHERENCE_STALE_STORE],
                counted->problems[COHERENCE_LOST_UPDATE], counted->reports);
        findings++;
    }
    findings += timed->footprint && timed_check_summary(timed);
    return findings;
}
