#include "emu/hart/hart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/block.h"
#include "emu/hart/dispatch.h"
#include "emu/hart/fp.h"
#include "emu/hart/op.h"
#include "emu/hart/step.h"

const struct exec_table *exec_choose(void)
{
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma"))
        return &exec_v3;
    return &exec_base;
}

/* Memory is at least a page, so that an 8-byte access always has a window. */
enum { WIDEST_ACCESS = 8 };

bool hart_init(struct hart *hart, const struct phys *memory, const struct decoder *decoder, struct error *err)
{
    *hart = (struct hart){.memory = memory, .decoder = decoder, .exec = exec_choose(), .host_rounds = true};
    hart->load_base = memory->base;
    hart->load_last = memory->size - WIDEST_ACCESS;
    hart->load_bytes = memory->bytes;
    hart_protect(hart, memory->base);
    hart->blocks = block_cache_new(err);
    if (!hart->blocks)
        return false;
    hart->jump_cache = malloc(HART_JUMP_ENTRIES * sizeof *hart->jump_cache);
    if (!hart->jump_cache) {
        hart_free(hart);
        return error_set(err, "no memory for the jump cache: %s", strerror(errno));
    }
    block_empty_jump_cache(hart);
    return true;
}

void hart_free(struct hart *hart)
{
    block_cache_free(hart->blocks);
    free(hart->jump_cache);
    *hart = (struct hart){0};
}

void hart_protect(struct hart *hart, uint64_t first)
{
    const struct phys *memory = hart->memory;
    uint64_t offset = first - memory->base;
    if (offset > memory->size - WIDEST_ACCESS)
        offset = memory->size - WIDEST_ACCESS;
    hart->store_base = memory->base + offset;
    hart->store_last = memory->size - offset - WIDEST_ACCESS;
    hart->store_bytes = memory->bytes + offset;
}

/* Runs blocks until the budget is spent, a trap or a marker. */
static enum hart_stop run_blocks(struct hart *hart, int64_t budget)
{
    hart->origin = hart->instret + (uint64_t)budget;
    /* frm may have changed since code was translated: by steps, or from outside. */
    if (hart->host_rounds != fp_host_can(hart->frm))
        hart_flush_code(hart);
    uint32_t saved = fp_begin(hart->frm);
    const union op *op = block_at(hart, hart->pc);
    if (HART_TRAMPOLINE) {
        hart->acc = 0;
        hart->budget = budget;
        while (op)
            op = op->run(hart, op, hart->acc, hart->budget);
    } else {
        (void)op->run(hart, op, 0, budget);
    }
    hart->fflags |= (uint8_t)fp_end(saved);
    hart->instret = hart->origin - (uint64_t)hart->budget;
    return hart->stop;
}

enum hart_stop hart_run(struct hart *hart, uint64_t max_insns)
{
    if (max_insns > INT64_MAX / 2)
        max_insns = INT64_MAX / 2;
    uint64_t end = hart->instret + max_insns;
    /* A block may overrun its budget by its length, so the last instructions go one by one. */
    while (end - hart->instret > BLOCK_INSNS) {
        enum hart_stop stop = run_blocks(hart, (int64_t)(end - hart->instret - BLOCK_INSNS));
        if (stop != HART_STOP_LIMIT)
            return stop;
    }
    while (hart->instret != end) {
        struct insn insn;
        struct effects effects;
        if (!step_one(hart, &insn, &effects))
            return HART_STOP_TRAP;
        if (effects.fence_i)
            hart_flush_code(hart);
        if (effects.marker)
            return HART_STOP_MARKER;
    }
    return HART_STOP_LIMIT;
}

void hart_retire_ecall(struct hart *hart)
{
    hart->pc += 4;
    hart->instret++;
    hart->stepped[CLASS_SYSTEM]++;
}

void hart_flush_code(struct hart *hart)
{
    hart->host_rounds = fp_host_can(hart->frm);
    block_flush(hart);
}

void hart_count_classes(const struct hart *hart, uint64_t counts[CLASS_COUNT])
{
    memcpy(counts, hart->stepped, sizeof hart->stepped);
    block_count_classes(hart->blocks, counts);
}

uint64_t hart_blocks_translated(const struct hart *hart)
{
    return block_translations(hart->blocks);
}
