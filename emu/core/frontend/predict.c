#include "emu/core/frontend/predict.h"

#include <inttypes.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

/* Marks an empty entry: no instruction has an odd address. */
#define NOWHERE UINT64_MAX

/* Moves a 2-bit counter towards taken (up) or not taken. */
#define COUNT(counter, up) ((up) ? (counter) + ((counter) < 3) : (counter) - ((counter) > 0))
/* The tournament: the chooser selects gshare from 2 on, and moves if only one of the two is right. */
#define CHOICE(l, g, c, t) ((l) / 2 == (g) / 2 ? (c) : COUNT(c, (g) / 2 == (t)))
#define WRONG(l, g, c, t)  (((c) / 2 ? (g) / 2 : (l) / 2) != (t))
#define NEXT(l, g, c, t)                                                                                     \
    (COUNT(l, t) | COUNT(g, t) << PREDICT_GLOBAL | CHOICE(l, g, c, t) << PREDICT_CHOICE |                    \
     WRONG(l, g, c, t) * PREDICT_MISS)
#define LOCALS(g, c, t) NEXT(0, g, c, t), NEXT(1, g, c, t), NEXT(2, g, c, t), NEXT(3, g, c, t)
#define GLOBALS(c, t)   LOCALS(0, c, t), LOCALS(1, c, t), LOCALS(2, c, t), LOCALS(3, c, t)
#define CHOOSERS(t)     GLOBALS(0, t), GLOBALS(1, t), GLOBALS(2, t), GLOBALS(3, t)
const uint8_t predict_next[128] = {CHOOSERS(0), CHOOSERS(1)};

static uint8_t *new_counters(uint32_t count, unsigned shift)
{
    uint8_t *counters = alloc(count, sizeof *counters);
    for (uint32_t i = 0; i < count; i++)
        counters[i] = (uint8_t)(1 << shift);
    return counters;
}

static struct predict_target *new_targets(uint32_t count)
{
    struct predict_target *targets = alloc(count, sizeof *targets);
    for (uint32_t i = 0; i < count; i++)
        targets[i].pc = NOWHERE;
    return targets;
}

void predict_init(struct predictor *predictor, const struct predict_config *config)
{
    *predictor = (struct predictor){
        .bimodal = new_counters(config->bimodal, 0),
        .gshare = new_counters(config->gshare, PREDICT_GLOBAL),
        .chooser = new_counters(config->chooser, PREDICT_CHOICE),
        .btb = new_targets(config->btb),
        .indirect = new_targets(config->indirect),
        .returns = alloc(config->returns, sizeof *predictor->returns),
        .config = *config,
        .btb_mask = config->btb / config->btb_ways - 1,
        .btb_shift = (uint32_t)__builtin_ctz(config->btb_ways),
        .bimodal_mask = config->bimodal - 1,
        .gshare_mask = config->gshare - 1,
        .chooser_mask = config->chooser - 1,
        .history_mask = (UINT64_C(1) << config->history) - 1,
    };
}

void predict_free(struct predictor *predictor)
{
    free(predictor->bimodal);
    free(predictor->gshare);
    free(predictor->chooser);
    free(predictor->btb);
    free(predictor->indirect);
    free(predictor->returns);
}

/* Returns the BTB's entry of pc, moved to the front of its set. If there is none, a new entry without target replaces
 * the least recently used one. */
static struct predict_target *find_target(struct predictor *p, uint64_t pc)
{
    struct predict_target *set = &p->btb[(pc >> 1 & p->btb_mask) << p->btb_shift];
    struct predict_target found = {pc, NOWHERE};
    uint32_t way = 0;
    while (way < p->config.btb_ways - 1 && set[way].pc != pc)
        way++;
    if (set[way].pc == pc)
        found = set[way];
    for (; way > 0; way--)
        set[way] = set[way - 1];
    set[0] = found;
    return set;
}

enum predict_outcome predict_taken(struct predictor *p, const struct stream_op *op, uint64_t next_pc)
{
    struct predict_target *entry = find_target(p, op->pc);
    if (entry->target == next_pc)
        return PREDICT_RIGHT;
    entry->target = next_pc;
    p->count.late++;
    return PREDICT_LATE;
}

static void push_return(struct predictor *p, uint64_t pc)
{
    p->returns[p->top++ & (p->config.returns - 1)] = pc;
    p->depth += p->depth < p->config.returns;
}

static uint64_t pop_return(struct predictor *p)
{
    if (p->depth == 0)
        return NOWHERE;
    p->depth--;
    return p->returns[--p->top & (p->config.returns - 1)];
}

static uint64_t predict_indirect(struct predictor *p, uint64_t pc, uint64_t next_pc)
{
    uint64_t key = pc >> 1;
    struct predict_target *by_path = &p->indirect[(key ^ p->path) & (p->config.indirect - 1)];
    struct predict_target *by_pc = find_target(p, pc);
    uint64_t predicted = by_path->pc == pc ? by_path->target : by_pc->target;
    *by_path = (struct predict_target){pc, next_pc};
    by_pc->target = next_pc;
    p->path = p->path << 3 ^ next_pc >> 1;
    return predicted;
}

static enum predict_outcome judge(struct predictor *p, const struct stream_op *op, uint64_t predicted,
                                  uint64_t next_pc, uint64_t *wrong)
{
    if (predicted == next_pc)
        return PREDICT_RIGHT;
    (*wrong)++;
    p->wrong_pc = predicted == NOWHERE ? op->pc + op->length : predicted;
    return PREDICT_WRONG;
}

/* The unprivileged specification, table 2.1, defines which jumps push and pop. A JALR that reads and writes different
 * link registers does both. */
enum predict_outcome predict_jump(struct predictor *p, const struct stream_op *op, uint64_t next_pc)
{
    bool call = op->flags & STREAM_CALL, linked = op->rs1 == 1 || op->rs1 == 5;
    if (!(op->flags & STREAM_INDIRECT)) {
        if (call)
            push_return(p, op->pc + op->length);
        p->count.jumps++;
        return predict_taken(p, op, next_pc);
    }
    if (linked && (!call || op->rd != op->rs1)) {
        uint64_t predicted = pop_return(p);
        if (call)
            push_return(p, op->pc + op->length);
        p->count.called_back++;
        return judge(p, op, predicted, next_pc, &p->count.returns_wrong);
    }
    uint64_t predicted = predict_indirect(p, op->pc, next_pc);
    if (call)
        push_return(p, op->pc + op->length);
    p->count.indirects++;
    return judge(p, op, predicted, next_pc, &p->count.indirects_wrong);
}

void predict_publish(const struct predictor *predictor, struct stats *stats, struct scope scope)
{
    const struct {
        const char *name;
        const uint64_t *value;
        const char *meaning;
    } counters[] = {
        {"branches", &predictor->count.branches, "conditional branches"},
        {"branches_mispredicted", &predictor->count.branches_wrong,
         "conditional branches with mispredicted direction"},
        {"jumps", &predictor->count.jumps, "direct jumps and calls"},
        {"btb_misses", &predictor->count.late,
         "taken direct jumps and branches whose target came from decode"},
        {"indirect", &predictor->count.indirects, "indirect jumps and calls"},
        {"indirect_mispredicted", &predictor->count.indirects_wrong,
         "indirect jumps with mispredicted target"},
        {"returns", &predictor->count.called_back, "returns"},
        {"returns_mispredicted", &predictor->count.returns_wrong, "returns with mispredicted target"},
    };
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        stats_counter(stats, scope, counters[i].name, counters[i].value, "instructions", counters[i].meaning);
}
