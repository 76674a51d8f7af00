/* A multiprocessor with scripted warps and a memory of constant latency, for tests. */
#ifndef TESTS_SIMT_SIMT_RIG_H
#define TESTS_SIMT_SIMT_RIG_H

#include "emu/hart/custom.h"
#include "emu/simt/multiprocessor.h"
#include "tests/mem/slow_memory.h"

enum { RIG_WARPS = 1024, RIG_LINE = 128, RIG_HIT = 4 };

/* One instruction of the script, which all warps execute. */
struct rig_step {
    enum insn_id id;
    uint8_t rd, rs1, rs2; /* STREAM_NONE: none */
    enum warp_event event;
    enum warp_space space;
    uint8_t size;
    uint64_t stride;  /* bytes between adjacent lanes */
    uint64_t advance; /* bytes between rounds */
    uint64_t base;
    bool spins;
    uint32_t clocks; /* clocks of the unit of a custom instruction; 0: by the instruction's class */
    uint32_t shared; /* lanes that access the scratchpad if `space` is WARP_GLOBAL */
};

struct rig_warp {
    struct simt_block *block;
    struct rig *rig;
    unsigned at, round, number;
    bool arrived;
    struct custom_waiter *waiter;
    struct event unit;
};

struct rig {
    struct event_queue queue;
    struct slow_memory memory;
    struct cache *l1;
    struct simt *simt;
    const struct rig_step *script;
    unsigned steps, rounds;
    uint32_t mask;
    uint64_t per_warp; /* bytes between the warps' addresses */
    struct stream_op op[RIG_WARPS];
    struct rig_warp warps[RIG_WARPS];
    struct simt_block blocks[SIMT_BLOCKS];
    unsigned ended;
    uint64_t done;    /* time at which the last block ended */
    char order[4096]; /* letters of warps, in the order of their steps */
    unsigned order_count;
};

static inline void rig_arrive(struct rig *rig, struct rig_warp *warp)
{
    struct simt_block *block = warp->block;
    warp->arrived = true;
    for (uint32_t i = 0; i < block->need.warps; i++)
        if (!((struct rig_warp *)block->warps[i])->arrived)
            return;
    for (uint32_t i = 0; i < block->need.warps; i++)
        ((struct rig_warp *)block->warps[i])->arrived = false;
    simt_release(rig->simt, block);
}

static inline void rig_addresses(const struct rig *rig, const struct rig_warp *warp,
                                 const struct rig_step *step, struct warp_report *report)
{
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        report->physical[lane] =
            step->base + warp->number * rig->per_warp + warp->round * step->advance + lane * step->stride;
}

static inline const struct stream_op *rig_next(void *context, void *name)
{
    struct rig *rig = context;
    struct rig_warp *warp = name;
    struct stream_op *op = &rig->op[warp->number];
    if (warp->at == rig->steps) {
        warp->at = 0;
        warp->round++;
    }
    if (warp->arrived || warp->round >= rig->rounds)
        return NULL;
    const struct rig_step *step = &rig->script[warp->at];
    *op = (struct stream_op){.pc = 0x1000 + 4 * warp->at, .id = (uint16_t)step->id, .length = 4};
    op->iclass = insn_table[step->id].iclass;
    op->rd = step->rd;
    op->rs1 = step->rs1;
    op->rs2 = step->rs2;
    op->rs3 = STREAM_NONE;
    op->size = step->size;
    return op;
}

static inline void rig_unit_done(void *owner, uint64_t now)
{
    struct rig_warp *warp = owner;
    custom_done(warp->waiter, now);
}

/* The unit of a custom instruction is done in this cycle. */
static inline void rig_ask_unit(struct rig *rig, struct rig_warp *warp, struct custom_waiter *waiter,
                                uint64_t cycle)
{
    assert_false(event_pending(&warp->unit));
    warp->waiter = custom_later(waiter);
    event_init(&warp->unit, 20, rig_unit_done, warp);
    event_schedule(&rig->queue, &warp->unit, cycle * CLOCK);
}

static inline void rig_step_warp(void *context, void *name, uint64_t cycle, struct custom_waiter *waiter,
                                 struct warp_report *report, bool *ended)
{
    struct rig *rig = context;
    struct rig_warp *warp = name;
    report->event = WARP_IDLE;
    report->op = rig_next(context, name);
    *ended = !warp->arrived && !report->op;
    if (!report->op)
        return;
    if (rig->order_count < sizeof rig->order - 1)
        rig->order[rig->order_count++] = (char)('a' + warp->number);
    const struct rig_step *step = &rig->script[warp->at++];
    if (step->clocks)
        rig_ask_unit(rig, warp, waiter, cycle + step->clocks);
    report->event = step->event;
    report->mask = rig->mask;
    report->taken_apart = report->handed_over = false;
    report->spins = step->spins;
    report->space = step->space;
    report->shared_mask = step->space == WARP_SHARED ? report->mask : step->shared;
    if (step->size)
        rig_addresses(rig, warp, step, report);
    if (step->event == WARP_BARRIER)
        rig_arrive(rig, warp);
}

static inline void rig_block_ended(void *context, struct simt *simt, struct simt_block *block, uint64_t now)
{
    struct rig *rig = context;
    (void)simt;
    (void)block;
    rig->ended++;
    rig->done = now;
}

static inline struct cache_config rig_cache(void)
{
    struct cache_config config;
    part_defaults(&cache_kind, 0, &config);
    config.line = RIG_LINE;
    config.hit_clocks = RIG_HIT;
    config.mshrs = 64;
    config.write_through = true;
    config.write_allocate = false;
    return config;
}

/* Creates `warps` warps in blocks of per_block, which all execute the script `rounds` times. */
static inline struct rig *rig_new(const struct simt_config *config, const struct rig_step *script,
                                  unsigned steps, unsigned rounds)
{
    struct rig *rig = calloc(1, sizeof *rig);
    const struct clock clock = {CLOCK};
    const struct cache_config cache = rig_cache();
    struct error err;
    assert_non_null(rig);
    assert_true(part_check(&simt_kind, config, &err));
    event_queue_init(&rig->queue);
    rig->memory.queue = &rig->queue;
    rig->script = script;
    rig->steps = steps;
    rig->rounds = rounds;
    rig->mask = UINT32_MAX;
    rig->l1 = cache_new("l1", &cache, &rig->queue, &clock, 2, 0, &slow_ops, &rig->memory);
    const struct simt_parts parts = {
        .name = "simt.0",
        .queue = &rig->queue,
        .clock = clock,
        .component = 3,
        .l1 = rig->l1,
        .lower_ops = &slow_ops,
        .lower = &rig->memory,
        .source = {.next = rig_next, .step = rig_step_warp, .ended = rig_block_ended, .context = rig},
    };
    rig->simt = simt_new(config, &parts);
    return rig;
}

static inline void rig_free(struct rig *rig)
{
    simt_free(rig->simt);
    cache_free(rig->l1);
    free(rig);
}

static inline void rig_place(struct rig *rig, unsigned first, unsigned warps, unsigned block)
{
    struct simt_block *b = &rig->blocks[block];
    *b = (struct simt_block){.need = {.warps = warps, .threads = warps * WARP_LANES}};
    for (unsigned i = 0; i < warps; i++) {
        rig->warps[first + i] = (struct rig_warp){.block = b, .rig = rig, .number = first + i};
        b->warps[i] = &rig->warps[first + i];
    }
    simt_place(rig->simt, b, rig->queue.now);
}

/* Runs `warps` warps in one block to their end; checks that statistics add up. */
static inline const struct simt_counters *rig_run(struct rig *rig, unsigned warps)
{
    rig_place(rig, 0, warps, 0);
    event_queue_run(&rig->queue, CLOCK_NEVER);
    assert_int_equal(rig->ended, 1);
    assert_false(simt_busy(rig->simt));
    const struct simt_counters *c = simt_counted(rig->simt);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t sum = 0;
        for (unsigned j = 0; j < SIMT_STALLS; j++)
            sum += c->stalls[i][j];
        assert_int_equal(sum, c->cycles);
    }
    assert_int_equal(c->stalls[0][SIMT_STALL_base] + c->stalls[1][SIMT_STALL_base], c->instructions);
    return c;
}

#endif
