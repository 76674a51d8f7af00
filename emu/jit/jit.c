#include "emu/jit/jit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/block.h"
#include "emu/hart/block_view.h"
#include "emu/hart/exec.h"
#include "emu/hart/exec/compiled.h"
#include "emu/hart/hart.h"
#include "emu/hart/mmu/mirror.h"
#include "emu/jit/emit.h"
#include "emu/jit/engine.h"
#include "emu/jit/quick/micro.h"
#include "emu/jit/quick/quick.h"
#include "emu/jit/region.h"
#include "emu/jit/worker.h"
#include "emu/sim/alloc.h"

enum { SLICE = 16384, ALWAYS_SLICE = 64 }; /* interpreted instructions between samples */

/* What compiling costs, in instructions that the interpreter executes in that time, measured at about 0.65 ns each: to load
 * LLVM, for a region, and for each of its instructions. */
enum { COST_LOAD = 5500000, COST_REGION = 3000000, COST_INSN = 140000 };

/* The bound on what is spent, the next region included: 1/SHARE of the run so far plus 1/SAVED_OF of what compiled code has executed.
 * Compiled code takes less than half of the interpreter's time as a rule, which is not measured at run time: if it saves nothing,
 * compiling takes less than half of the interpreter's time. */
enum { SHARE = 8, SAVED_OF = 512, SAVED_CALL = 2 };

/* What it costs to enter a region and to leave it: registers are loaded and stored. */
enum { COST_ENTRY = 60 };

/* Instructions before the next look at blocks that cannot be compiled yet: looking costs some 100 ns a block. */
enum { LEAST_WAIT = 1 << 17, MOST_WAIT = 1 << 23 };

/* What surrounds a hot block is compiled with it long before it is as hot, because the way between two regions costs as much as
 * some 100 instructions; but what is much colder would make it affordable later. */
static const struct region_limits on_limits = {
    .seed = 100000, .others = 5000, .near = 16, .most = COMPILED_MOST};
static const struct region_limits always_limits = {.seed = 1, .others = 1, .most = 100};

/* What the quick compiler costs, in interpreted instructions: for each of the hart's blocks, and each instruction of the region; and the
 * part of a run that it may take. */
enum { LONGEST = 1 << 22 }; /* instructions of a region between samples */
enum {
    MEMBER_SAMPLES = 8
}; /* so often the interpreter was found in a block of a region that is no entry: it becomes one */
enum { QUICK_BLOCK = 150, QUICK_INSN = 1500, QUICK_SHARE = 8, QUICK_MOST = 6000 };

/* It takes what has run a little. */
static const struct region_limits quick_limits = {.seed = 1000, .others = 50, .most = QUICK_MOST};

/* Dropped blocks are looked for at once so often between two samples, and then at the next one. */
enum { FOLLOWED_MOST = 4 };

/* Address space for the last region, besides the memory that may be used. */
#define LAST_REGION (UINT64_C(16) << 20)

/* A compiled region with its entries. */
struct compiled {
    struct compiled_region region;
    struct compiled_exit *exits;
    /* By block of the region: */
    struct compiled_entry *entries; /* run: NULL if it is no entry */
    union op **firsts;              /* first ops */
    uint32_t blocks, insns;
    uint64_t pc; /* of its first block */
    struct quick_faults faults;
    bool thorough;  /* LLVM made it */
    unsigned tries; /* how often it was made again and got no larger */
    struct compiled *next;
};

struct jit {
    struct compiler compiler; /* first: what the hart sees */
    struct hart *hart;
    enum jit_mode mode;
    const struct region_limits *limits;
    uint64_t begin;      /* the hart's instructions when the compiler was attached */
    uint64_t spent;      /* estimate for what was compiled, in interpreted instructions */
    uint64_t next;       /* the hart's instructions at the next choice */
    uint64_t quick_next; /* and at that for the quick compiler */
    struct compiled *compiled;
    uint32_t *members; /* by block: how often the interpreter was found in it since a region has it, plus 1 */
    uint8_t *closed;   /* by block: LLVM's code has it */
    uint32_t member_count;
    uint64_t regions;        /* compiled so far */
    uint64_t flushes, drops; /* of the hart's blocks when they were looked at last */
    unsigned followed;       /* how often that was between samples since the last one */
    uint64_t room;           /* memory for code */
    /* The region whose code is being made. The worker has LLVM, the memory and `code` until it is done. */
    struct compiled *making; /* NULL: none */
    struct region region;
    struct emitted emitted;
    compiled_code *code;
    struct worker worker;
    struct code_memory memory, quick; /* for LLVM's code, and the quick compiler's */
    struct row_table rows;
    bool opened, failed;
    bool thorough, quickly;         /* LLVM, or the quick compiler, compiles all */
    struct check_listener listener; /* of differences */
    struct jit_counter counter;     /* of regions that are forgotten; its function may be NULL */
};

/* Tells the counter how often a region ran that has its code. */
static void count_entries(const struct jit *jit, const struct compiled *compiled)
{
    struct jit_ran ran = {compiled->pc, compiled->blocks, compiled->insns, compiled->thorough, 0};
    for (uint32_t b = 0; b < compiled->blocks; b++)
        ran.entered += compiled->entries[b].entered;
    if (jit->counter.ran && compiled->blocks > 0)
        jit->counter.ran(jit->counter.context, &ran);
}

static void forget(struct jit *jit, struct compiled *compiled)
{
    count_entries(jit, compiled);
    bool kept = block_flushes(jit->hart->blocks) == jit->flushes;
    for (uint32_t i = 0; kept && i < compiled->blocks; i++) {
        union op *first = compiled->firsts[i];
        if (compiled->entries[i].run && first->run == jit->hart->exec->compiled &&
            first[-1].head.compiled == &compiled->entries[i])
            first->run = compiled->entries[i].run;
    }
    free(compiled->exits);
    free(compiled->faults.at);
    free(compiled->entries);
    free(compiled->firsts);
    free(compiled);
}

static void forget_making(struct jit *jit)
{
    if (!jit->making)
        return;
    worker_finish(&jit->worker);
    forget(jit, jit->making);
    region_free(&jit->region);
    jit->making = NULL;
}

static void forget_all(struct jit *jit)
{
    forget_making(jit);
    while (jit->compiled) {
        struct compiled *next = jit->compiled->next;
        forget(jit, jit->compiled);
        jit->compiled = next;
    }
    code_memory_empty(&jit->memory);
    code_memory_empty(&jit->quick);
    free(jit->members);
    free(jit->closed);
    jit->members = NULL;
    jit->closed = NULL;
    jit->member_count = 0;
}

/* Returns whether a block of the region has been dropped. */
static bool has_dropped(const struct jit *jit, const struct compiled *compiled)
{
    for (uint32_t b = 0; b < compiled->blocks; b++)
        if (compiled->firsts[b]->run == jit->hart->exec->dropped)
            return true;
    return false;
}

/* Forgets a region of the list, whose blocks are in none then. */
static void forget_at(struct jit *jit, struct compiled **at)
{
    struct compiled *compiled = *at;
    for (uint32_t b = 0; b < compiled->blocks; b++) {
        uint32_t block = block_view_find(jit->hart->blocks, compiled->firsts[b]);
        jit->members[block] = 0;
        jit->closed[block] = false;
    }
    *at = compiled->next;
    forget(jit, compiled);
}

/* Forgets the regions with blocks that have been dropped; all if blocks have been flushed. */
static void follow_blocks(struct jit *jit)
{
    const struct block_cache *blocks = jit->hart->blocks;
    if (jit->flushes != block_flushes(blocks)) {
        forget_all(jit);
    } else if (jit->drops != block_drops(blocks)) {
        forget_making(jit);
        for (struct compiled **at = &jit->compiled; *at;) {
            (*at)->region.drops = block_drops(blocks);
            if (has_dropped(jit, *at))
                forget_at(jit, at);
            else
                at = &(*at)->next;
        }
    }
    jit->flushes = block_flushes(blocks);
    jit->drops = block_drops(blocks);
}

static op_handler *dropped(struct compiler *compiler, struct compiled_entry *entry)
{
    struct jit *jit = (struct jit *)compiler;
    op_handler *run = entry->run;
    if (jit->followed == FOLLOWED_MOST)
        return run;
    jit->followed++;
    const struct compiled_region *region = entry->region;
    follow_blocks(jit);
    for (const struct compiled *compiled = jit->compiled; compiled; compiled = compiled->next)
        if (&compiled->region == region)
            return NULL;
    return run;
}

/* Lets the blocks that are entries lead to the region's code. */
static void attach(struct jit *jit, const struct region *region, struct compiled *compiled)
{
    compiled->blocks = region->count;
    compiled->entries = alloc(region->count, sizeof *compiled->entries);
    compiled->firsts = alloc(region->count, sizeof(union op *));
    for (uint32_t b = 0; b < region->count; b++) {
        union op *first = region->blocks[b].view.first;
        compiled->firsts[b] = first;
        if (!region->blocks[b].entry)
            continue;
        bool before = first->run == jit->hart->exec->compiled;
        op_handler *run = before ? first[-1].head.compiled->run : first->run;
        compiled->entries[b] = (struct compiled_entry){
            &compiled->region, region->blocks[b].view.pc, run, b, region->blocks[b].need, 0};
        first->run = jit->hart->exec->compiled;
        first[-1].head.compiled = &compiled->entries[b];
    }
}

/* Notes that the region's blocks are in a region now. */
static void note_members(struct jit *jit, const struct region *region, bool thorough)
{
    uint32_t count = block_view_count(jit->hart->blocks), before = jit->member_count;
    if (count > before) {
        jit->members = alloc_resize(jit->members, count * sizeof *jit->members);
        memset(jit->members + before, 0, (count - before) * sizeof *jit->members);
        jit->closed = alloc_resize(jit->closed, count);
        memset(jit->closed + before, 0, count - before);
        jit->member_count = count;
    }
    for (uint32_t b = 0; b < region->count; b++) {
        uint32_t block = block_view_find(jit->hart->blocks, region->blocks[b].view.first);
        jit->members[block] = 1;
        jit->closed[block] = thorough;
    }
}

static bool overlaps(const struct compiled *compiled, const struct region *region)
{
    for (uint32_t b = 0; b < compiled->blocks; b++)
        if (region_find(region, compiled->firsts[b]))
            return true;
    return false;
}

/* Forgets the quick compiler's regions that have blocks of this one, which would go on within their code. */
static void forget_overlapping(struct jit *jit, const struct region *region)
{
    for (struct compiled **at = &jit->compiled; *at;) {
        struct compiled *compiled = *at;
        if (compiled->thorough || !overlaps(compiled, region)) {
            at = &compiled->next;
            continue;
        }
        forget_at(jit, at);
    }
}

/* Returns the region without its code, as it is compiled for the hart now. */
static struct compiled *new_compiled(const struct hart *hart, struct compiled_exit *exits)
{
    struct compiled *compiled = alloc(1, sizeof *compiled);
    const uintptr_t base = hart->exec == &exec_v3_direct ? 0 : hart->load_base;
    compiled->exits = exits;
    compiled->region = (struct compiled_region){.exits = exits,
                                                .slots = block_view_slots(hart->blocks),
                                                .memory = (uint8_t *)((uintptr_t)hart->load_bytes - base),
                                                .drops = block_drops(hart->blocks),
                                                .store_base = hart->store_base};
    return compiled;
}

static void make_code(void *context)
{
    struct jit *jit = context;
    jit->code = engine_generate(&jit->rows.llvm, jit->emitted.module, jit->emitted.function, &jit->memory);
}

/* Lets blocks lead to the code of a region, and releases what only making it needs. */
static void take(struct jit *jit, struct region *region, struct compiled *compiled, compiled_code *code)
{
    compiled->region.code = code;
    compiled->insns = region->insns;
    compiled->pc = region->blocks[0].view.pc;
    if (compiled->thorough)
        forget_overlapping(jit, region);
    attach(jit, region, compiled);
    note_members(jit, region, compiled->thorough);
    compiled->next = jit->compiled;
    jit->compiled = compiled;
    region_free(region);
}

/* Waits for the code that is being made, and lets blocks lead to it. */
static void take_code(struct jit *jit)
{
    worker_finish(&jit->worker);
    jit->failed = !jit->code;
    if (jit->failed) {
        forget_making(jit);
        return;
    }
    take(jit, &jit->region, jit->making, jit->code);
    jit->making = NULL;
}

static uint64_t cost_of(const struct jit *jit, const struct region *region)
{
    return (jit->opened ? 0 : (uint64_t)COST_LOAD) + COST_REGION + (uint64_t)COST_INSN * region->insns;
}

/* Compiles the region, and takes it: in the background if the results come from interpreting meanwhile, too. If the library or a
 * part of it is missing, nothing is compiled from now on. */
static void compile(struct jit *jit, struct region *region, bool background)
{
    if (jit->memory.used >= jit->room / 2)
        forget_all(jit);
    jit->spent += cost_of(jit, region);
    jit->opened = jit->opened || row_table_open(&jit->rows);
    jit->failed = !jit->opened;
    if (jit->failed) {
        region_free(region);
        return;
    }
    jit->emitted = emit_region(&jit->rows, jit->hart, region);
    jit->making = new_compiled(jit->hart, jit->emitted.exits);
    jit->making->thorough = true;
    jit->region = *region;
    jit->regions++;
    if (background) {
        worker_start(&jit->worker, make_code, jit);
    } else {
        make_code(jit);
        take_code(jit);
    }
}

/* Compiles the region by the quick compiler. Returns false if it does not make the code; the region stays. */
static bool compile_quickly(struct jit *jit, struct region *region)
{
    struct compiled_exit *exits;
    struct quick_faults faults;
    if (jit->thorough)
        return false;
    if (jit->quick.used >= jit->room / 2)
        forget_all(jit);
    compiled_code *code = quick_generate(jit->hart, region, &jit->quick, &exits, &faults);
    if (!code) {
        free(faults.at);
        return false;
    }
    jit->regions++;
    struct compiled *compiled = new_compiled(jit->hart, exits);
    compiled->faults = faults;
    take(jit, region, compiled, code);
    return true;
}

/* Notes that the interpreter was found in the block at the hart's pc. */
static void note_sample(const struct jit *jit)
{
    uint32_t block = block_view_at(jit->hart->blocks, jit->hart->pc);
    if (block < jit->member_count && jit->members[block])
        jit->members[block]++;
}

/* Returns how many instructions are missing before LLVM may compile the region; 0: none. */
static uint64_t missing(const struct jit *jit, const struct region *region)
{
    uint64_t needed = cost_of(jit, region), all = jit->hart->instret - jit->begin, saved = 0,
             lost = 0; /* LLVM's code leaves the region where flags are accessed */
    if (jit->mode != JIT_ON)
        return 0;
    for (uint32_t b = 0; b < region->count; b++) {
        const struct region_block *block = &region->blocks[b];
        saved += block->executed / (jit->thorough ? 1 : SAVED_OF) +
                 block->entries * quick_calls(jit->hart, block) * SAVED_CALL;
        lost += block->entries * quick_flag_accesses(jit->hart, block) * COST_ENTRY;
    }
    saved = saved > lost ? saved - lost : 0;
    if (all / SHARE < jit->spent + needed)
        return (jit->spent + needed) * SHARE - all;
    return saved < needed ? needed - saved : 0;
}

/* Returns whether the hart executes code as regions do: by the handlers for which rows.c is compiled, without stops. */
static bool suits(const struct hart *hart)
{
    return (hart->exec == &exec_v3 || hart->exec == &exec_v3_tlb || hart->exec == &exec_v3_direct) &&
           !hart->stale && !hart->breakpoint_count && !hart->compares && !hart->triggers.armed;
}

/* Returns the region that the block with that first op enters, or NULL. */
static struct compiled *compiled_at(const struct jit *jit, const union op *first)
{
    return first->run == jit->hart->exec->compiled
               ? (struct compiled *)(uintptr_t)first[-1].head.compiled->region
               : NULL;
}

/* Returns what choosing a region costs, in interpreted instructions. */
static uint64_t choice_cost(const struct jit *jit, const struct region *region)
{
    uint64_t blocks =
        jit->hart->tlb ? HART_JUMP_ENTRIES / 16 + region->count : block_view_count(jit->hart->blocks);
    return blocks * QUICK_BLOCK;
}

/* Returns whether the block at the hart's pc may be the seed of a quick region: it is in none, or it is entered, or interpreted, often. */
static bool is_seed(const struct jit *jit, uint32_t block, bool long_run)
{
    const union op *first = block_view(jit->hart->blocks, block).first;
    const struct compiled *compiled = compiled_at(jit, first);
    if (compiled)
        return !compiled->thorough && !long_run;
    return block >= jit->member_count || !jit->members[block] || jit->members[block] > MEMBER_SAMPLES;
}

/* Compiles the code around the hart's pc by the quick compiler, if it is hot enough, and not in a region, or enters one so often that
 * a larger one would have paid. */
static void choose_quickly(struct jit *jit, bool long_run)
{
    const struct hart *hart = jit->hart;
    struct region_limits limits = quick_limits;
    struct region region;
    uint32_t seed = block_view_at(hart->blocks, hart->pc);
    if (hart->instret < jit->quick_next || seed == UINT32_MAX || !is_seed(jit, seed, long_run))
        return;
    const union op *first = block_view(hart->blocks, seed).first;
    const struct compiled *before = compiled_at(jit, first);
    const uint64_t lost =
        before ? first[-1].head.compiled->entered * COST_ENTRY >> before->tries : UINT64_MAX;
    if (before && lost < (uint64_t)before->insns * QUICK_INSN)
        return;
    limits.again = true;
    limits.closed = jit->closed;
    limits.closed_count = jit->member_count;
    region_choose(&region, hart, hart->pc, &limits);
    if (region.count == 0) {
        region_free(&region);
        return;
    }
    const uint64_t choice = choice_cost(jit, &region), cost = choice + (uint64_t)region.insns * QUICK_INSN;
    const bool pays = lost >= cost;
    jit->quick_next = hart->instret + (pays ? cost : choice) * QUICK_SHARE;
    unsigned tries = before ? before->tries + (region.insns <= before->insns) : 0;
    if (pays && compile_quickly(jit, &region))
        jit->compiled->tries = tries;
    else
        region_free(&region);
}

/* Lets LLVM compile the code around the hart's pc, if that pays. */
static void choose_thoroughly(struct jit *jit)
{
    const struct hart *hart = jit->hart;
    struct region_limits limits = *jit->limits;
    struct region region;
    uint32_t seed = block_view_at(hart->blocks, hart->pc);
    const bool quick_only = hart->tlb; /* LLVM's code does not look at the TLB */
    if (jit->making || jit->failed || hart->instret < jit->next || seed == UINT32_MAX ||
        (quick_only && jit->mode == JIT_ON))
        return;
    const struct compiled *compiled = compiled_at(jit, block_view(hart->blocks, seed).first);
    const bool closed = seed < jit->member_count && jit->closed[seed];
    bool inside = jit->mode == JIT_ON && closed;
    if ((compiled && (compiled->thorough || quick_only)) ||
        (inside && (uint64_t)jit->members[seed] * SLICE < 2 * (uint64_t)COST_REGION))
        return;
    limits.again = true;
    const bool quickly = quick_only || (jit->mode != JIT_ON && jit->regions % 2 == 0 && !closed);
    if (quickly) { /* else LLVM would make those again, and forget this region */
        limits.closed = jit->closed;
        limits.closed_count = jit->member_count;
    }
    region_choose(&region, hart, hart->pc, &limits);
    uint64_t wait = region.count > 0 ? missing(jit, &region) : 0;
    if (wait > 0)
        jit->next = hart->instret + (wait < LEAST_WAIT ? LEAST_WAIT : wait > MOST_WAIT ? MOST_WAIT : wait);
    if (region.count == 0 || wait > 0 || (quickly && compile_quickly(jit, &region)) || quick_only)
        region_free(&region);
    else
        compile(jit, &region, jit->mode == JIT_ON);
}

static void sampled(struct compiler *compiler, struct hart *hart)
{
    struct jit *jit = (struct jit *)compiler;
    bool long_run = compiler->long_run;
    compiler->long_run = false;
    jit->followed = 0;
    if ((jit->failed && jit->mode != JIT_ON) || !suits(hart))
        return;
    follow_blocks(jit);
    if (!long_run)
        note_sample(jit);
    if (jit->making && worker_is_done(&jit->worker))
        take_code(jit);
    if (jit->mode == JIT_ON)
        choose_quickly(jit, long_run);
    choose_thoroughly(jit);
}

static uintptr_t faulted(const struct compiler *compiler, uintptr_t pc)
{
    for (const struct compiled *c = ((const struct jit *)compiler)->compiled; c; c = c->next) {
        const uintptr_t code = (uintptr_t)c->region.code;
        uint32_t first = 0, last = c->faults.count;
        if (!last || pc < code || pc > code + c->faults.at[last - 1].at)
            continue;
        while (last - first > 1) {
            const uint32_t middle = (first + last) / 2;
            *(pc - code < c->faults.at[middle].at ? &last : &first) = middle;
        }
        if (code + c->faults.at[first].at == pc)
            return code + c->faults.at[first].to;
    }
    return 0;
}

const char *jit_lacks_llvm(void)
{
    struct row_table *rows = alloc(1, sizeof *rows);
    const char *lacks = row_table_open(rows) ? NULL : "LLVM 14 (libLLVM-14.so.1)";
    row_table_close(rows);
    free(rows);
    return lacks;
}

const char *jit_lacks(void)
{
    if (exec_choose(false) != &exec_v3)
        return "a processor with AVX2, BMI and FMA";
    return micro_row(INSN_addi, false).count ? NULL : jit_lacks_llvm();
}

static void end_process(void *context, const char *text)
{
    (void)context;
    (void)fprintf(stderr, "croft: %s\n", text);
    exit(EXIT_FAILURE);
}

static uint32_t check_entry(struct compiler *compiler, struct hart *hart, const struct compiled_entry *entry,
                            int64_t budget)
{
    return check_run(hart, entry, budget, &((struct jit *)compiler)->listener);
}

struct jit *jit_new(struct hart *hart, enum jit_mode mode, uint64_t memory)
{
    if (mode == JIT_OFF)
        return NULL;
    bool always = mode != JIT_ON;
    if (mode == JIT_CHECK) /* check.c asks the TLB where data are */
        exec_leave_mirror(hart);
    struct jit *jit = alloc(1, sizeof *jit);
    jit->compiler = (struct compiler){.sampled = sampled,
                                      .dropped = dropped,
                                      .faulted = faulted,
                                      .slice = always ? ALWAYS_SLICE : SLICE,
                                      .left = always ? ALWAYS_SLICE : SLICE,
                                      .entry = always ? 0 : COST_ENTRY,
                                      .longest = always ? INT64_MAX : LONGEST};
    jit->hart = hart;
    jit->mode = mode;
    jit->limits = always ? &always_limits : &on_limits;
    jit->begin = hart->instret;
    jit->next = hart->instret + (always ? 0 : (uint64_t)MOST_WAIT);
    jit->room = memory;
    jit->memory.size = jit->quick.size = memory + LAST_REGION;
    jit->listener.differs = end_process;
    if (mode == JIT_CHECK)
        jit->compiler.run = check_entry;
    hart->compiler = &jit->compiler;
    return jit;
}

void jit_set_listener(struct jit *jit, const struct check_listener *listener)
{
    jit->listener = *listener;
}

void jit_set_counter(struct jit *jit, const struct jit_counter *counter)
{
    jit->counter = *counter;
}

void jit_use_quick(struct jit *jit)
{
    jit->quickly = true;
}

void jit_use_llvm(struct jit *jit)
{
    jit->thorough = true;
}

bool jit_replace_row(struct jit *jit, enum insn_id a, enum insn_id b)
{
    jit->opened = jit->opened || row_table_open(&jit->rows);
    jit->thorough = true;
    for (unsigned rtz = 0; jit->opened && rtz < 2; rtz++) {
        jit->rows.functions[a][rtz] = row_table_function(&jit->rows, b, rtz);
        jit->rows.read[a][rtz] = true;
    }
    return jit->opened;
}

bool jit_compile(struct jit *jit, uint64_t pc)
{
    struct region region;
    if (jit->failed || !suits(jit->hart))
        return false;
    const bool quick_only = jit->hart->tlb || jit->quickly;
    jit_wait(jit);
    region_choose(&region, jit->hart, pc, &always_limits);
    bool compiles = region.count > 0;
    bool quickly = compiles && (quick_only || jit->regions % 2 == 0) && compile_quickly(jit, &region);
    if (!compiles || quickly || quick_only)
        region_free(&region);
    else
        compile(jit, &region, false);
    return compiles && !jit->failed && (quickly || !quick_only);
}

void jit_wait(struct jit *jit)
{
    follow_blocks(jit);
    if (jit->making)
        take_code(jit);
}

bool jit_failed(struct jit *jit)
{
    jit_wait(jit);
    return jit->failed;
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
    mirror_forget_compiler(&jit->compiler);
    forget_all(jit);
    if (jit->opened)
        row_table_close(&jit->rows);
    free(jit);
}
