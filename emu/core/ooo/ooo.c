#include "emu/core/ooo.h"

#include <stdlib.h>
#include <string.h>

#include "emu/core/ooo/state.h"
#include "emu/core/warm.h"

/* Executes the batch without time, at one cycle an instruction. */
static void warm(struct ooo *o)
{
    const struct stream *stream = &o->core.stream;
    warm_batch(&o->core, &o->code, &o->predictor, 0);
    o->position = o->fetched = stream->count;
    o->retired_at += stream->count;
    o->dispatched_at = o->retired_at;
    o->core.cycles += stream->count;
    o->core.cpi[CPI_base] += stream->count;
    o->count.instructions += stream->count;
    ooo_fetch_redirect(o, o->retired_at, CPI_frontend);
    o->fetch.page = OOO_NEVER;
}

/* Executes the next batch, or sets the phase for the instruction or the stop that comes instead. Returns
 * false if the batch's time has not come. */
static bool next_batch(struct ooo *o, uint64_t now)
{
    struct core *core = &o->core;
    uint64_t done = hart_progress(core->parts.hart), time = o->dispatched_at * o->period;
    if (o->end == STREAM_STEP && ooo_ahead_begin(o))
        return true;
    if (o->end == STREAM_STEP || (o->end == STREAM_STOP && core->parts.hart->pc == o->passed)) {
        o->end = STREAM_MORE;
        o->phase = OOO_DRAIN;
        return true;
    }
    if (o->end == STREAM_STOP || done >= core->limit) {
        o->stop = o->end == STREAM_STOP ? HART_STOP_BREAK : HART_STOP_LIMIT;
        o->phase = OOO_STOPPED;
        return true;
    }
    (void)ooo_retire(o, o->tail - 1);
    if (time > now && time >= event_queue_next(core->parts.queue)) {
        event_schedule(core->parts.queue, &core->event, time);
        return false;
    }
    o->end = stream_run(&core->stream, core->limit - done);
    if (core->stream.count > 0)
        o->passed = OOO_NEVER;
    o->noting = core->observes_retired;
    o->position = o->fetched = 0;
    if (core->warming)
        warm(o);
    return true;
}

static void wake(struct ooo *o)
{
    o->slept = false;
    o->retired_at = ooo_later(o->retired_at, o->floor);
    o->dispatched_at = ooo_later(o->dispatched_at, o->floor);
    o->fetch.next = ooo_later(o->fetch.next, o->floor);
}

static void run(struct core *core, uint64_t now)
{
    struct ooo *o = (struct ooo *)core;
    ooo_callback(o, now);
    o->blocked = false;
    o->retry_at = 0;
    if (o->slept) {
        if (core->waiting && !hart_has_interrupt(core->parts.hart) && !core->parts.hart->yield) {
            core_sleep(core, now);
            return;
        }
        core->waiting = false;
        wake(o);
    }
    for (;;) {
        if (o->phase != OOO_RUN) {
            if (!ooo_serial(o, now))
                return;
        } else if (o->position < core->stream.count) {
            if (!ooo_run_batch(o) && !ooo_retire_waiting(o))
                return;
        } else if (!next_batch(o, now)) {
            return;
        }
    }
}

static void publish(struct core *core, struct stats *stats, struct scope scope)
{
    const struct ooo *o = (const struct ooo *)core;
    const struct stats_row counters[] = {
        {"rob_full", &o->count.rob_full, "instructions", "dispatches that waited for the reorder buffer"},
        {"iq_full", &o->count.issue_queue_full, "instructions", "dispatches that waited for the issue queue"},
        {"load_queue_full", &o->count.load_queue_full, "loads", "dispatches that waited for the load queue"},
        {"store_queue_full", &o->count.store_queue_full, "stores",
         "dispatches that waited for the store queue"},
        {"renames_full", &o->count.renames_full, "instructions",
         "dispatches that waited for a physical register"},
        {"forwarded", &o->count.forwarded, "loads", "loads served by stores in the core"},
        {"partial", &o->count.partial, "loads", "loads that waited for a store with part of their bytes"},
        {"order_violations", &o->count.violations, "loads",
         "loads squashed because they read before an older store to the same bytes"},
        {"order_waits", &o->count.waited, "loads", "loads that waited for addresses of older stores"},
        {"wrong_path_lines", &o->count.fetch_wrong_lines, "accesses",
         "accesses to the instruction cache on wrong paths"},
        {"held", &o->count.held, "loads", "waits of loads for bytes that an offloaded task has yet to write"},
    };
    const size_t count =
        sizeof counters / sizeof *counters - !core->parts.offload.ops; /* without tasks there is no "held" */
    stats_counters(stats, scope, counters, count);
    predict_publish(&o->predictor, stats, scope_enter(&scope, "predict"));
}

static void release(struct ooo *o)
{
    free(o->rob_entries);
    free(o->classes);
    free(o->pending);
    free(o->insns);
    free(o);
}

/* Allocates a core for mask + 1 instructions that have not retired. */
static struct ooo *allocate(uint32_t mask)
{
    size_t places = (size_t)mask + 1;
    struct ooo *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->rob_mask = mask;
    o->rob_entries = aligned_alloc(sizeof *o->rob_entries, places * sizeof *o->rob_entries);
    o->classes = calloc(INSN_COUNT, sizeof *o->classes);
    o->pending = calloc(places, sizeof *o->pending);
    o->insns = calloc(places, sizeof *o->insns);
    if (o->rob_entries && o->classes && o->pending && o->insns) {
        memset(o->rob_entries, 0, places * sizeof *o->rob_entries);
        return o;
    }
    release(o);
    return NULL;
}

static void destroy(struct core *core)
{
    struct ooo *o = (struct ooo *)core;
    predict_free(&o->predictor);
    release(o);
}

static const struct core_ops ooo_ops = {
    .run = run, .publish = publish, .free = destroy, .offload = &ooo_offload_events};

static uint32_t mask_of(uint32_t entries)
{
    uint32_t size = 1;
    while (size < entries)
        size *= 2;
    return size - 1;
}

static unsigned kind_of(enum insn_id id, const struct ports_use *use)
{
    if (insn_table[id].format == FORMAT_PREFETCH)
        return OOO_LOAD;
    switch ((enum insn_access)insn_table[id].access) {
    case ACCESS_LOAD: return OOO_LOAD;
    case ACCESS_STORE: return OOO_STORE;
    default: return use->special || insn_table[id].iclass == CLASS_FMA ? OOO_SPECIAL : OOO_PLAIN;
    }
}

static void init_classes(struct ooo *o)
{
    struct core_latency table[INSN_COUNT];
    core_latencies_expand(&o->config.latency, table);
    for (unsigned id = 0; id < INSN_COUNT; id++) {
        struct ooo_class *class = &o->classes[id];
        ports_use_init(&class->use, table[id].ports, table[id].interval);
        class->latency = table[id].latency;
        class->facts = kind_of((enum insn_id)id, &class->use) << OOO_KIND_SHIFT;
    }
}

static void init_limits(struct ooo *o)
{
    const struct core_config *c = &o->config;
    o->rob = c->rob;
    o->iq = c->iq;
    o->decode_width = c->decode_width;
    o->retire_width = c->retire_width;
    o->full_width = c->decode_width < c->retire_width ? c->decode_width : c->retire_width;
    o->load_queue = c->load_queue;
    o->load_mask = mask_of(c->load_queue);
    o->store_queue = c->store_queue;
    o->store_mask = mask_of(c->store_queue);
    o->int_renames = c->int_renames;
    o->int_mask = mask_of(c->int_renames);
    o->fp_renames = c->fp_renames;
    o->fp_mask = mask_of(c->fp_renames);
    o->few_registers = c->int_renames < c->rob || c->fp_renames < c->rob;
    o->frontend_clocks = c->frontend_clocks;
    o->fetch_queue = c->fetch_queue;
    o->fetch_bytes = c->fetch_bytes;
    o->block_mask = ~((uint64_t)c->fetch_bytes - 1);
    o->taken_clocks = c->taken_clocks;
    o->late_clocks = c->late_clocks;
    o->redirect_clocks = c->redirect_clocks;
    o->speculate = c->speculate;
    o->hit_clocks = cache_configuration(o->l1d)->hit_clocks;
    o->line_bytes = cache_configuration(o->l1d)->line;
    o->line_mask = ~((uint64_t)cache_configuration(o->l1i)->line - 1);
}

struct core *ooo_new(const struct core_config *config, const struct core_parts *parts, struct error *err)
{
    struct ooo *o = allocate(mask_of(config->rob > parts->offload.kept ? config->rob : parts->offload.kept));
    if (!o) {
        (void)error_set(err, "%s: no memory for the core", parts->name);
        return NULL;
    }
    if (!core_init(&o->core, &ooo_ops, parts, err)) {
        release(o);
        return NULL;
    }
    o->config = *config;
    core_energy_init(&o->core.energy, parts->hart, config->energy_alu, config->energy_mul,
                     config->energy_fpu);
    o->l1i = parts->l1i;
    o->l1d = parts->l1d;
    o->period = parts->clock.period;
    init_classes(o);
    init_limits(o);
    predict_init(&o->predictor, &config->predict);
    ports_init(&o->ports);
    o->head = o->tail = 2 * OOO_ROB_MOST; /* leaves numbers above 0 for earlier instructions */
    o->slept = true;
    ooo_queue_reset(o, 0);
    ooo_fetch_init(o);
    ooo_execute_init(o);
    ooo_serial_init(o);
    return &o->core;
}
