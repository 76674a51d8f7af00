/* Which kind of work an instruction is, and a multiprocessor's statistics. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/simt/state.h"

static const char *const works[SIMT_WORKS] = {
#define SIMT_WORK(name, ...) #name,
#include "emu/simt/work.def"
};

static const struct {
    const char *name, *meaning;
} stalls[SIMT_STALLS] = {
#define SIMT_STALL(name, meaning) {#name, meaning},
#include "emu/simt/stall.def"
};

const char *simt_work_name(enum simt_work work)
{
    return works[work];
}

enum simt_work simt_work_of(enum insn_id id)
{
    const struct insn_info *info = &insn_table[id];
    bool word = info->precision == PRECISION_W, double_precision = info->precision == PRECISION_D;
    switch ((enum insn_class)info->iclass) {
    case CLASS_MUL: return SIMT_WORK_mul;
    case CLASS_DIV: return word ? SIMT_WORK_divw : SIMT_WORK_div;
    case CLASS_LOAD:
    case CLASS_FLOAD: return SIMT_WORK_load;
    case CLASS_STORE:
    case CLASS_FSTORE: return SIMT_WORK_store;
    case CLASS_BRANCH:
    case CLASS_JUMP: return SIMT_WORK_branch;
    case CLASS_FADD:
    case CLASS_FMUL:
    case CLASS_FMA:
    case CLASS_FCVT:
    case CLASS_FMISC: return double_precision ? SIMT_WORK_fp64 : SIMT_WORK_fp32;
    case CLASS_FDIV:
    case CLASS_FSQRT: return double_precision ? SIMT_WORK_fdivd : SIMT_WORK_fdivs;
    case CLASS_AMO: return SIMT_WORK_atomic;
    case CLASS_FENCE:
    case CLASS_SYSTEM:
    case CLASS_CUSTOM: return SIMT_WORK_control;
    case CLASS_ALU:
    case CLASS_CSR:
    case CLASS_HINT:
    case CLASS_COUNT: break;
    }
    return SIMT_WORK_alu;
}

static void counter(const struct simt *simt, struct stats *stats, const char *name, const uint64_t *value,
                    const char *unit, const char *meaning)
{
    char full[160];
    (void)snprintf(full, sizeof full, "%s.%s", simt->name, name);
    stats_counter(stats, full, value, unit, meaning);
}

/* Cycles are brought up to date before they are read, and so all that add up to them. */
static uint64_t read_cycles(const void *context)
{
    return simt_counted((struct simt *)(uintptr_t)context)->cycles;
}

static void publish_stalls(struct simt *simt, struct stats *stats)
{
    char name[128];
    (void)snprintf(name, sizeof name, "%s.cycles", simt->name);
    stats_computed(stats, name, read_cycles, simt, "cycles", "clock cycles in which it had blocks");
    for (uint32_t i = 0; i < simt->config.schedulers; i++)
        for (unsigned j = 0; j < SIMT_STALLS; j++) {
            (void)snprintf(name, sizeof name, "scheduler.%u.%s", i, stalls[j].name);
            counter(simt, stats, name, &simt->counters.stalls[i][j], "cycles", stalls[j].meaning);
        }
}

void simt_publish(struct simt *simt, struct stats *stats)
{
    static const char *const buckets[SIMT_BUCKETS] = {"1", "2", "4", "8", "16", "32", "64"};
    static const char *const meanings[SIMT_BUCKETS] = {
        "global accesses of 1 request",         "global accesses of 2 requests",
        "global accesses of 3 or 4 requests",   "global accesses of 5 to 8 requests",
        "global accesses of 9 to 16 requests",  "global accesses of 17 to 32 requests",
        "global accesses of 33 to 64 requests",
    };
    const struct simt_counters *c = &simt->counters;
    char name[64];
    publish_stalls(simt, stats);
    counter(simt, stats, "instructions", &c->instructions, "instructions", "instructions of warps");
    counter(simt, stats, "thread_instructions", &c->thread_instructions, "instructions",
            "instructions of threads: active lanes, summed over the warps' instructions");
    counter(simt, stats, "apart", &c->apart, "instructions",
            "branches and jumps that sent lanes to different places");
    counter(simt, stats, "accesses", &c->accesses, "instructions",
            "loads and stores of global memory and stacks");
    counter(simt, stats, "requests", &c->requests, "requests", "lines that these were coalesced into");
    counter(simt, stats, "divergent", &c->divergent, "instructions",
            "of these accesses, those of more lines than their bytes take when packed");
    for (unsigned i = 0; i < SIMT_BUCKETS; i++) {
        (void)snprintf(name, sizeof name, "requests_of.%s", buckets[i]);
        counter(simt, stats, name, &c->requests_of[i], "instructions", meanings[i]);
    }
    counter(simt, stats, "shared.accesses", &c->shared_accesses, "instructions", "accesses to shared memory");
    counter(simt, stats, "shared.passes", &c->shared_passes, "cycles",
            "passes that these took; more than one each is bank conflicts");
    counter(simt, stats, "atomics", &c->atomics, "instructions", "atomics on global memory");
    counter(simt, stats, "atomic_requests", &c->atomic_requests, "requests",
            "requests of these: lines, and turns on the same word");
    counter(simt, stats, "barriers", &c->barriers, "barriers", "barriers that blocks have passed");
    counter(simt, stats, "blocks", &c->blocks, "blocks", "blocks that were placed here");
}
