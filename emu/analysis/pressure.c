#include "emu/analysis/pressure.h"

#include <stdlib.h>

#include "emu/analysis/liveness.h"
#include "emu/sim/alloc.h"

#define UNCOUNTED (POINTERS | 1) /* x0, sp, gp, tp */

/* Units of the registers that a function's callers keep. */
struct kept {
    uint8_t units[REGISTERS];
};

/* The state of a count. */
struct count {
    const struct cfg *cfg;
    struct values values;
    struct liveness live;
    struct kept *kept; /* by function */
};

static unsigned units_of(const struct live *live, const struct facts *facts, unsigned reg)
{
    if (!(live->any >> reg & 1) || UNCOUNTED >> reg & 1)
        return 0;
    bool extended = reg < 32 && values_known(facts, reg);
    return live->high >> reg & 1 && !extended ? 2 : 1;
}

/* Adds up what is live and what callers keep. */
static unsigned total(const struct kept *kept, const struct live *live, const struct facts *facts)
{
    unsigned sum = 0;
    for (unsigned reg = 0; reg < REGISTERS; reg++) {
        unsigned units = units_of(live, facts, reg);
        sum += units > kept->units[reg] ? units : kept->units[reg];
    }
    return sum;
}

/* Returns the live registers whose values are kept over a call. */
static struct live kept_over(const struct count *count, const struct cfg_insn *call)
{
    const struct live none = {0};
    return call->next == CFG_NONE ? none : live_only(count->live.in[call->next], ~values_changed_by(call));
}

/* Adds to the callee's `kept` what the function keeps over a call, and what its own callers keep. Returns whether that grows. */
static bool keep_over(const struct count *count, const struct kept *kept, int at)
{
    const struct cfg_insn *call = &count->cfg->insns[at];
    struct kept *callee = &count->kept[count->cfg->function_at[call->target]];
    const struct live live = kept_over(count, call);
    bool grows = false;
    for (unsigned reg = 0; reg < REGISTERS; reg++) {
        unsigned units = units_of(&live, &count->values.before[at], reg);
        units = units > kept->units[reg] ? units : kept->units[reg];
        grows |= units > callee->units[reg];
        callee->units[reg] = (uint8_t)(units > callee->units[reg] ? units : callee->units[reg]);
    }
    return grows;
}

static bool keep(const struct count *count, int number)
{
    const struct cfg *cfg = count->cfg;
    const struct cfg_function *function = &cfg->functions[number];
    bool grows = false;
    for (unsigned i = 0; i < function->count; i++) {
        const struct cfg_block *block = &cfg->blocks[function->blocks[i]];
        int end = block->first + block->count - 1;
        if (cfg_is_call(&cfg->insns[end]) && cfg->insns[end].target != CFG_NONE)
            grows |= keep_over(count, &count->kept[number], end);
    }
    return grows;
}

static void find_kept(const struct count *count)
{
    for (bool grows = true; grows;) {
        grows = false;
        for (int i = 0; i < count->cfg->function_count; i++)
            grows |= keep(count, i);
    }
}

/* Returns the units that an instruction of the function needs. */
static unsigned needed(const struct count *count, const struct kept *kept, int at)
{
    const struct cfg_insn *insn = &count->cfg->insns[at];
    struct facts after = values_after(&count->values, at);
    unsigned before = total(kept, &count->live.in[at], &count->values.before[at]);
    unsigned behind = total(kept, &count->live.out[at], &after);
    if (cfg_is_call(insn) && insn->target == CFG_NONE) {
        struct live live = kept_over(count, insn);
        uint64_t changed = (CALLER_SAVED | CALLER_SAVED_FLOAT) & ~register_bit(RA);
        const struct facts nothing = {0};
        live.any |= changed;
        live.high |= changed;
        behind = total(kept, &live, &nothing);
    }
    return before > behind ? before : behind;
}

static void find_most(const struct count *count, struct pressure *pressure)
{
    const struct cfg *cfg = count->cfg;
    for (int i = 0; i < cfg->function_count; i++) {
        for (unsigned j = 0; j < cfg->functions[i].count; j++) {
            const struct cfg_block *block = &cfg->blocks[cfg->functions[i].blocks[j]];
            for (int at = block->first; at < block->first + block->count; at++) {
                unsigned units = needed(count, &count->kept[i], at);
                if (units <= pressure->units)
                    continue;
                pressure->units = units;
                pressure->where = cfg->insns[at].step.pc;
            }
        }
    }
}

static void count_units(const struct cfg *cfg, struct pressure *pressure)
{
    struct count count = {
        .cfg = cfg, .values = values_of(cfg), .kept = alloc((size_t)cfg->function_count, sizeof *count.kept)};
    count.live = liveness_of(cfg, &count.values);
    find_kept(&count);
    find_most(&count, pressure);
    free(count.kept);
    liveness_free(&count.live);
    values_free(&count.values);
}

struct pressure pressure_of(const struct decoder *decoder, const struct reach_code *code, uint64_t entry)
{
    struct cfg cfg = cfg_build(decoder, code, &entry, 1, NULL);
    struct pressure pressure = {.units = 1,
                                .named = reach_halves(&cfg.reach),
                                .where = entry,
                                .functions = (unsigned)cfg.function_count};
    if (cfg.too_large)
        pressure.units = pressure.named;
    else if (cfg.function_count)
        count_units(&cfg, &pressure);
    cfg_free(&cfg);
    return pressure;
}
