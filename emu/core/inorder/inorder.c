#include "emu/core/inorder.h"

#include <inttypes.h>
#include <stdlib.h>

#include "emu/core/inorder/state.h"
#include "emu/sim/alloc.h"

/* Returns the counter, beside USES_SLOT, of an instruction of the class. An instruction that is executed alone has none. */
static unsigned uses_of(const struct class_info *info)
{
    if (info->alone)
        return 0;
    switch ((enum insn_unit)info->unit) {
    case UNIT_MEMORY: return USES_MEMORY;
    case UNIT_MULTIPLY: return USES_MULTIPLY;
    case UNIT_FLOAT: return USES_FLOAT;
    case UNIT_INTEGER:
    case UNIT_NONE: break;
    }
    return 0;
}

/* Returns one in each of the counters in `uses`. */
static unsigned ones(unsigned uses)
{
    return (uses & (USES_SLOT | USES_MEMORY | USES_MULTIPLY)) / USES_SLOT + (uses & USES_FLOAT) / 2;
}

/* Returns what makes the counters full at their limits. */
static unsigned start(const struct core_config *config)
{
    return USES_ALL - config->width * ones(USES_SLOT) - (config->pair_memory ? 2 : 1) * ones(USES_MEMORY) -
           (config->pair_multiply ? 2 : 1) * ones(USES_MULTIPLY) -
           (config->pair_float ? 2 : 1) * ones(USES_FLOAT);
}

static void make_rules(struct inorder *c)
{
    struct core_latency latency[INSN_COUNT];
    core_latencies_expand(&c->latency, latency);
    c->start = start(&c->config);
    for (unsigned id = 0; id < INSN_COUNT; id++) {
        bool prefetch = insn_table[id].format == FORMAT_PREFETCH;
        unsigned iclass = prefetch ? CLASS_LOAD : insn_table[id].iclass, unit = uses_of(&class_table[iclass]);
        bool load = insn_table[id].access == ACCESS_LOAD;
        bool control = iclass == CLASS_BRANCH || iclass == CLASS_JUMP;
        bool last = control && !c->config.pair_branch;
        bool slow = latency[id].interval > 1 || latency[id].latency > c->hit_clocks;
        uint64_t clocks = latency[id].latency + (load ? c->hit_clocks : 0);
        c->intervals[id] = latency[id].interval;
        c->rules[id] = (struct inorder_rule){
            .result = (uint32_t)ready_at(clocks, load ? CPI_l1 : CPI_dependency),
            .uses = (uint16_t)(USES_SLOT | unit | (slow ? SLOW_RESULT : 0) |
                               (iclass == CLASS_FMA || prefetch ? SLOW_THIRD : 0)),
            .adds = (uint16_t)(last ? USES_SLOT + ones(unit) : ones(USES_SLOT | unit)),
        };
    }
}

/* Executes the next batch, if its time has come. */
static bool next_batch(struct inorder *c)
{
    struct core *core = &c->core;
    struct event_queue *queue = core->parts.queue;
    struct hart *hart = core->parts.hart;
    uint64_t time = inorder_time(c, c->next - !((c->used + c->start) & USES_SLOT)),
             done = hart_progress(hart);
    if (time > queue->now && time >= event_queue_next(queue)) {
        event_schedule(queue, &core->event, time);
        return false;
    }
    c->number += c->at;
    c->at = 0;
    c->noting = core->observes_retired && !core->warming;
    if (c->noting || c->noting_loads)
        c->noting_loads = c->noting || inorder_notes_wait(c);
    c->stalls_told = core->observes_stalled;
    c->translating = core->parts.tlb && tlb_active(core->parts.tlb, TLB_DATA);
    if (done >= core->limit) {
        core->stream.count = 0;
        c->stop = HART_STOP_LIMIT;
        c->end = STREAM_STOP;
        return true;
    }
    if (hart->privileged)
        serial_clock(core, time);
    c->end = stream_run(&core->stream, core->limit - done);
    c->stop = HART_STOP_BREAK;
    if (c->end == STREAM_STOP && c->core.stream.count == 0 && hart->pc == c->passed)
        c->end = STREAM_STEP;
    c->passed = INORDER_NOWHERE;
    return true;
}

/* Continues the core as far as it can at this time. */
static void go_on(struct inorder *c, uint64_t now)
{
    for (;;) {
        if (c->phase == PHASE_ISSUE) {
            if (c->core.warming) {
                inorder_warm(c);
            } else if (!inorder_issue(c)) {
                c->blocked = true;
                return;
            }
        }
        if (c->phase != PHASE_ISSUE || c->end != STREAM_MORE) {
            if (!inorder_serial(c, now))
                return;
        }
        c->core.cycles = c->next - c->origin;
        if (!next_batch(c))
            return;
    }
}

static void run(struct core *core, uint64_t now)
{
    struct inorder *c = (struct inorder *)core;
    c->blocked = false;
    if (c->slept) {
        uint64_t cycle = clock_cycle(&core->parts.clock, now);
        c->slept = false;
        if (cycle > c->next) {
            c->origin += cycle - c->next;
            c->next = cycle;
            inorder_redirect(c, cycle, CPI_serialise);
        }
    }
    go_on(c, now);
    core->cycles = c->next - c->origin;
}

static void publish(struct core *core, struct stats *stats, struct scope scope)
{
    struct inorder *c = (struct inorder *)core;
    const struct stats_row counters[] = {
        {"load_misses", &c->load_misses, "accesses", "loads, or parts of them, that waited for a line"},
        {"forwarded", &c->forwarded, "instructions", "loads answered from the store buffer"},
        {"crossings", &c->crossings, "instructions", "loads and stores that cross a line"},
        {"wrong_path_lines", &c->wrong_lines, "lines", "lines fetched on wrong paths"},
    };
    stats_counters(stats, scope, counters, sizeof counters / sizeof *counters);
    predict_publish(&c->predictor, stats, scope_enter(&scope, "predict"));
}

static void release(struct core *core)
{
    struct inorder *c = (struct inorder *)core;
    predict_free(&c->predictor);
    inorder_notes_free(c->notes);
    free(c);
}

struct core *inorder_new(const struct core_config *config, const struct core_parts *parts, struct error *err)
{
    static const struct core_ops ops = {run, publish, release, &inorder_offload_events};
    struct inorder *c = alloc(1, sizeof *c);
    if (!core_init(&c->core, &ops, parts, err)) {
        free(c);
        return NULL;
    }
    c->config = *config;
    core_energy_init(&c->core.energy, parts->hart, config->energy_alu, config->energy_mul,
                     config->energy_fpu);
    c->latency = config->latency;
    c->next = c->origin = clock_cycle(&parts->clock, parts->queue->now);
    c->fetch_next = c->next;
    c->used = USES_ALL;
    c->slept = true;
    c->end = STREAM_MORE;
    predict_init(&c->predictor, &config->predict);
    c->notes = inorder_notes_new();
    inorder_fetch_init(c);
    inorder_memory_init(c);
    make_rules(c);
    inorder_serial_init(c);
    return &c->core;
}
