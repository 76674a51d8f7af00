#include "emu/jit/jit.h"

#include <stdlib.h>

#include "emu/hart/block.h"
#include "emu/hart/block_view.h"
#include "emu/hart/exec.h"
#include "emu/hart/exec/compiled.h"
#include "emu/hart/hart.h"
#include "emu/jit/emit.h"
#include "emu/jit/region.h"
#include "emu/sim/alloc.h"

enum {
    SLICE = 16384, /* instructions between samples */
    FIRST = 512,   /* samples before LLVM is loaded, which takes as long as 8 million instructions */
    ALWAYS_SLICE = 64,
    BETWEEN = 8, /* samples between choices that are not affordable yet */
    /* Instructions that are interpreted before one is compiled: in half the time that it takes; and in three times that time
     * when many have been, so that code that changes or spreads costs little. */
    INSN_COST = 50000,
    INSN_COST_LATER = 350000,
    LATER = 2000,
};

/* Compiling an instruction takes 0.15 to 0.3 ms, and saves about 1 ns each time that it is executed. What surrounds a hot block
 * is compiled with it long before, because each region costs some ms of its own, and so does the way between two. */
static const struct region_limits on_limits = {.seed = 100000, .others = 1000, .most = 1500};
static const struct region_limits always_limits = {.seed = 1, .others = 1, .most = 100};

/* Address space for the last region, besides the memory that may be used. */
#define LAST_REGION (UINT64_C(16) << 20)

/* A compiled region with its entries. */
struct compiled {
    struct compiled_region region;
    struct compiled_exit *exits;
    struct compiled_entry *entries; /* by block of the region */
    union op **firsts;              /* first ops of these blocks; NULL: no entry */
    uint32_t blocks;
    struct compiled *next;
};

struct jit {
    struct compiler compiler; /* first: what the hart sees */
    struct hart *hart;
    enum jit_mode mode;
    const struct region_limits *limits;
    uint64_t credit; /* samples since the last region was compiled */
    uint64_t wait;   /* samples before the next choice */
    struct compiled *compiled;
    uint64_t regions, insns; /* compiled so far */
    uint64_t flushes, drops; /* of the hart's blocks when they were looked at last */
    uint64_t room;           /* memory for code */
    struct code_memory memory;
    struct row_table rows;
    bool opened, failed;
};

static void forget(struct jit *jit, struct compiled *compiled)
{
    bool kept = block_flushes(jit->hart->blocks) == jit->flushes;
    for (uint32_t i = 0; kept && i < compiled->blocks; i++) {
        union op *first = compiled->firsts[i];
        if (first && first->run == jit->hart->exec->compiled &&
            first[-1].head.compiled == &compiled->entries[i])
            first->run = compiled->entries[i].run;
    }
    free(compiled->exits);
    free(compiled->entries);
    free(compiled->firsts);
    free(compiled);
}

static void forget_all(struct jit *jit)
{
    while (jit->compiled) {
        struct compiled *next = jit->compiled->next;
        forget(jit, jit->compiled);
        jit->compiled = next;
    }
    code_memory_empty(&jit->memory);
}

/* Forgets all code if blocks have gone since. */
static void follow_blocks(struct jit *jit)
{
    const struct block_cache *blocks = jit->hart->blocks;
    if (jit->flushes != block_flushes(blocks) || jit->drops != block_drops(blocks)) {
        forget_all(jit);
        jit->flushes = block_flushes(blocks);
        jit->drops = block_drops(blocks);
    }
}

/* Lets the blocks that are entries lead to the region's code. */
static void attach(struct jit *jit, const struct region *region, struct compiled *compiled)
{
    compiled->blocks = region->count;
    compiled->entries = alloc(region->count, sizeof *compiled->entries);
    compiled->firsts = alloc(region->count, sizeof(union op *));
    for (uint32_t b = 0; b < region->count; b++) {
        union op *first = region->blocks[b].view.first;
        if (!region->blocks[b].entry)
            continue;
        bool before = first->run == jit->hart->exec->compiled;
        op_handler *run = before ? first[-1].head.compiled->run : first->run;
        compiled->entries[b] = (struct compiled_entry){&compiled->region, run, b};
        compiled->firsts[b] = first;
        first->run = jit->hart->exec->compiled;
        first[-1].head.compiled = &compiled->entries[b];
    }
}

static void add(struct jit *jit, const struct region *region, compiled_code *code,
                struct compiled_exit *exits)
{
    struct hart *hart = jit->hart;
    struct compiled *compiled = alloc(1, sizeof *compiled);
    compiled->exits = exits;
    compiled->region =
        (struct compiled_region){.code = code,
                                 .exits = exits,
                                 .slots = block_view_slots(hart->blocks),
                                 .memory = (uint8_t *)((uintptr_t)hart->load_bytes - hart->load_base),
                                 .drops = block_drops(hart->blocks),
                                 .store_base = hart->store_base};
    attach(jit, region, compiled);
    compiled->next = jit->compiled;
    jit->compiled = compiled;
    jit->regions++;
    jit->insns += region->insns;
}

/* Compiles the region. If the library or a part of it is missing, nothing is compiled from now on. */
static void compile(struct jit *jit, const struct region *region)
{
    struct compiled_exit *exits = NULL;
    compiled_code *code = NULL;
    if (jit->memory.used >= jit->room)
        forget_all(jit);
    jit->opened = jit->opened || row_table_open(&jit->rows);
    if (jit->opened)
        code = emit_region(&jit->rows, &jit->memory, jit->hart, region, &exits);
    jit->failed = !code;
    if (code)
        add(jit, region, code, exits);
    else
        free(exits);
}

/* Interpreting pays for compiling. */
static bool affords(const struct jit *jit, const struct region *region)
{
    uint64_t cost = jit->insns < LATER ? INSN_COST : INSN_COST_LATER;
    return jit->mode == JIT_ALWAYS || jit->credit * SLICE >= region->insns * cost;
}

/* Returns whether the hart executes code as regions do: by the handlers for which rows.c is compiled, without stops. */
static bool suits(const struct hart *hart)
{
    return hart->exec == &exec_v3 && !hart->breakpoint_count && !hart->compares && !hart->triggers.armed;
}

static void sampled(struct compiler *compiler, struct hart *hart)
{
    struct jit *jit = (struct jit *)compiler;
    struct region region;
    if (jit->failed || !suits(hart))
        return;
    follow_blocks(jit);
    jit->credit++;
    if (jit->wait > 0) {
        jit->wait--;
        return;
    }
    region_choose(&region, hart, hart->pc, jit->limits);
    if (region.count > 0 && affords(jit, &region)) {
        compile(jit, &region);
        jit->credit = 0;
    } else if (region.count > 0) {
        jit->wait = BETWEEN;
    }
    region_free(&region);
}

const char *jit_lacks(void)
{
    struct row_table *rows = alloc(1, sizeof *rows);
    const char *lacks = NULL;
    if (exec_choose(false) != &exec_v3)
        lacks = "a processor with AVX2, BMI and FMA";
    else if (!row_table_open(rows))
        lacks = "LLVM 14 (libLLVM-14.so.1)";
    row_table_close(rows);
    free(rows);
    return lacks;
}

struct jit *jit_new(struct hart *hart, enum jit_mode mode, uint64_t memory)
{
    if (mode == JIT_OFF)
        return NULL;
    bool always = mode == JIT_ALWAYS;
    struct jit *jit = alloc(1, sizeof *jit);
    jit->compiler = (struct compiler){.sampled = sampled, .slice = always ? ALWAYS_SLICE : SLICE};
    jit->hart = hart;
    jit->mode = mode;
    jit->limits = always ? &always_limits : &on_limits;
    jit->wait = always ? 0 : FIRST;
    jit->room = memory;
    jit->memory.size = memory + LAST_REGION;
    hart->compiler = &jit->compiler;
    return jit;
}

bool jit_compile(struct jit *jit, uint64_t pc)
{
    struct region region;
    if (jit->failed || !suits(jit->hart))
        return false;
    follow_blocks(jit);
    region_choose(&region, jit->hart, pc, &always_limits);
    if (region.count > 0)
        compile(jit, &region);
    bool compiled = region.count > 0 && !jit->failed;
    region_free(&region);
    return compiled;
}

uint64_t jit_entered(const struct jit *jit)
{
    return jit->compiler.entered;
}

uint64_t jit_regions(const struct jit *jit)
{
    return jit->regions;
}

void jit_free(struct jit *jit)
{
    if (!jit)
        return;
    jit->hart->compiler = NULL;
    forget_all(jit);
    if (jit->opened)
        row_table_close(&jit->rows);
    free(jit);
}
