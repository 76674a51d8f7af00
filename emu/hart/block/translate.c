#include "emu/hart/access.h"
#include "emu/hart/block/state.h"
#include "emu/hart/exec.h"
#include "emu/hart/fp/flags.h"
#include "emu/hart/hart.h"
#include "emu/hart/priv/csr.h"
#include "emu/hart/probe.h"
#include "emu/hart/step.h"
#include "emu/hart/stream/op.h"
#include "emu/sim/alloc.h"

enum { CALL_DEPTH = 8 /* followed calls whose returns are expected */ };

/* The state of a translation. */
struct translation {
    struct block_cache *cache;
    struct hart *hart;
    const struct block *block;
    const struct mmu_leaf *leaf;  /* that the block lies in */
    uint64_t pc;                  /* of the next instruction */
    unsigned last_rd;             /* register whose value is in acc before the next op; 0: none */
    uint64_t returns[CALL_DEPTH]; /* return addresses of followed calls, innermost last */
    unsigned depth;
    union op *fusible; /* the op just added, if it can be fused with the next; its row and source: */
    uint16_t fusible_id;
    uint8_t fusible_source;
    bool ended;
};

/* Returns the number of the block's instructions so far, with the one that was added last. */
static uint32_t retired(const struct translation *t)
{
    return t->cache->record_count - t->block->record;
}

static union op *add_slot(struct translation *t)
{
    t->fusible = NULL;
    return &t->cache->slots[t->cache->slot_count++];
}

static union op *add_op(struct translation *t, op_handler *run, const struct insn *insn)
{
    union op *op = add_slot(t);
    enum insn_role role = format_table[insn_table[insn->id].format].rd;
    op->run = run;
    op->imm = insn->imm;
    op->rd = role == ROLE_X && insn->rd == 0 ? HART_SINK : insn->rd;
    op->rs1 = insn->rs1;
    op->rs2 = insn->rs2;
    op->rs3 = insn->rs3;
    t->last_rd = role == ROLE_X ? insn->rd : 0;
    return op;
}

/* Adds the slot after an op that can leave the block, and records how many instructions retire at that exit. */
static union op *add_exit(struct translation *t, uint64_t target)
{
    struct block_cache *cache = t->cache;
    cache->exits[cache->exit_count++] = (struct exit){target, cache->slot_count, retired(t)};
    return add_slot(t);
}

/* Adds an exit to a known address. Until its target is translated, it leads to a stub made by add_stubs(). */
static void add_direct_exit(struct translation *t, union op *op, uint64_t target)
{
    op->imm = (int32_t)retired(t);
    bool near = leaf_holds(t->leaf, target);
    add_exit(t, target)->exit.to = near ? block_lookup(t->cache, t->leaf, target) : NULL;
}

static void add_go(struct translation *t, uint64_t target)
{
    const struct insn none = {0};
    add_direct_exit(t, add_op(t, t->hart->exec->go, &none), target);
    t->ended = true;
}

/* Leaves the instruction to `step`, and ends the block. */
static void add_step(struct translation *t, const struct insn *insn)
{
    union op *op = add_op(t, t->hart->exec->step, insn);
    op->imm = (int32_t)retired(t);
    add_exit(t, EXIT_INDIRECT)->link.value = t->pc;
    add_slot(t)->insn = &t->cache->records[t->cache->record_count - 1].insn;
    t->ended = true;
}

/* Stops before the instruction. */
static void add_break(struct translation *t)
{
    const struct insn none = {0};
    (void)add_op(t, t->hart->exec->stop, &none);
    t->ended = true;
}

static enum op_source choose_source(const struct translation *t, const struct insn *insn)
{
    const struct format_info *format = &format_table[insn_table[insn->id].format];
    if (t->last_rd != 0 && format->rs1 == ROLE_X && insn->rs1 == t->last_rd)
        return OP_ACC_RS1;
    if (t->last_rd != 0 && format->rs2 == ROLE_X && insn->rs2 == t->last_rd)
        return OP_ACC_RS2;
    return OP_REGISTERS;
}

/* Returns the handler for insn after the ops added so far. */
static op_handler *choose_handler(const struct translation *t, const struct insn *insn)
{
    const struct exec_table *exec = t->hart->exec;
    const struct format_info *format = &format_table[insn_table[insn->id].format];
    bool exact = insn_table[insn->id].format == FORMAT_F2E || insn_table[insn->id].format == FORMAT_XFE;
    if (exact && insn->rm == RM_DYN && !t->cache->contexts[t->cache->context].mode.fp_host)
        return exec->slow; /* frm may be reserved, which traps although nothing is rounded */
    if (format->rm && !exact) {
        if (insn->rm == RM_RTZ && exec->truncating[insn->id])
            return exec->truncating[insn->id];
        if (insn->rm != RM_DYN || !t->cache->contexts[t->cache->context].mode.fp_host)
            return exec->slow;
    }
    return exec->rows[insn->id][choose_source(t, insn)];
}

/* Lists the fused pairs by their first halves; they are the same in all tables of handlers. */
static void index_fusions(struct block_cache *cache, const struct exec_table *exec)
{
    cache->fusions = alloc(INSN_COUNT + exec->fusion_count, sizeof *cache->fusions);
    for (unsigned i = 0; i < exec->fusion_count; i++) {
        uint16_t *last = &cache->fusions[exec->fusions[i].first];
        cache->fusions[INSN_COUNT + i] = *last;
        *last = (uint16_t)(i + 1);
    }
}

/* Returns the pair of the op before and an instruction, or NULL. */
static const struct exec_fusion *find_fusion(const struct translation *t, const struct insn *insn,
                                             enum op_source source)
{
    const uint16_t *fusions = t->cache->fusions;
    for (unsigned i = fusions[t->fusible_id]; i; i = fusions[INSN_COUNT + i - 1]) {
        const struct exec_fusion *fusion = &t->hart->exec->fusions[i - 1];
        if (fusion->second == insn->id && fusion->first_source == t->fusible_source &&
            fusion->second_source == source)
            return fusion;
    }
    return NULL;
}

/* Adds the op of an instruction that may be half of a fused pair: a plain instruction, or a branch as second half. */
static union op *add_fusible(struct translation *t, const struct insn *insn)
{
    const struct exec_table *exec = t->hart->exec;
    enum op_source source = choose_source(t, insn);
    op_handler *run = choose_handler(t, insn);
    bool general = run == exec->rows[insn->id][source];
    union op *first = t->fusible;
    union op *op = add_op(t, run, insn);
    t->fusible = general ? op : NULL;
    const struct exec_fusion *fusion = first && general ? find_fusion(t, insn, source) : NULL;
    if (fusion) {
        first->run = fusion->run;
        t->fusible = NULL;
    }
    t->fusible_id = insn->id;
    t->fusible_source = (uint8_t)source;
    return op;
}

static void add_branch(struct translation *t, const struct insn *insn)
{
    union op *op = add_fusible(t, insn);
    add_direct_exit(t, op, t->pc + (uint64_t)(int64_t)insn->imm);
    t->pc += insn->length;
}

/* Follows calls and forward jumps. A backward jump ends the block, so that loops are not unrolled. */
static void add_jal(struct translation *t, const struct insn *insn)
{
    uint64_t target = t->pc + (uint64_t)(int64_t)insn->imm, link = t->pc + insn->length;
    if (insn->rd != 0) {
        (void)add_op(t, choose_handler(t, insn), insn);
        add_slot(t)->link.value = link;
        if (t->depth < CALL_DEPTH)
            t->returns[t->depth++] = link;
    }
    if ((target <= t->pc && insn->rd == 0) || !leaf_holds(t->leaf, target))
        add_go(t, target);
    else
        t->pc = target;
}

static void add_jalr(struct translation *t, const struct insn *insn)
{
    bool returning = insn->rd == 0 && insn->rs1 == 1 && insn->imm == 0 && t->depth > 0;
    op_handler *run = returning ? t->hart->exec->returns : choose_handler(t, insn);
    union op *op = add_op(t, run, insn);
    op->rs2 = (uint8_t)retired(t); /* jalr has no rs2: its handler retires as many */
    add_exit(t, EXIT_INDIRECT)->link.value = t->pc + insn->length;
    if (returning) {
        t->pc = t->returns[--t->depth];
        add_slot(t)->head.pc = t->pc;
    } else {
        t->ended = true;
    }
}

/* Returns whether a CSR instruction is one for which there are handlers. */
static bool is_flags_access(const struct hart *hart, const struct insn *insn)
{
    uint64_t value;
    return flags_accesses(insn) && csr_read(hart, (unsigned)insn->imm & 0xfff, &value);
}

static void add_insn(struct translation *t, const struct insn *insn)
{
    const struct insn_info *info = &insn_table[insn->id];
    bool fp = insn_needs_fp(info);
    if (insn->id == INSN_nucd)
        t->hart->offload.translated = true;
    const bool dirty = t->cache->contexts[t->cache->context].mode.fp_dirty;
    const bool csr = info->iclass == CLASS_CSR;
    if (!t->hart->exec->rows[insn->id][OP_REGISTERS] || (fp && !dirty) ||
        (csr && !(dirty && is_flags_access(t->hart, insn)))) {
        add_step(t, insn);
        return;
    }
    switch (info->format) {
    case FORMAT_B: add_branch(t, insn); return;
    case FORMAT_J: add_jal(t, insn); return;
    case FORMAT_JALR: add_jalr(t, insn); return;
    default: break;
    }
    union op *op = add_fusible(t, insn);
    if (t->cache->described &&
        (info->access == ACCESS_LOAD || info->access == ACCESS_STORE || info->format == FORMAT_PREFETCH))
        op->rs3 = (uint8_t)(retired(t) - 1); /* its index in the block: memory operations have no rs3 */
    if (csr)
        op->rs2 = flags_writes(insn);
    if (info->format == FORMAT_UPC)
        add_slot(t)->link.value = t->pc;
    t->pc += insn->length;
}

/* Adds a head and a stub for every exit whose target is not translated yet, or is in another leaf. */
static void add_stubs(struct translation *t)
{
    struct block_cache *cache = t->cache;
    for (uint32_t i = t->block->exit; i < cache->exit_count; i++) {
        const struct exit *exit = &cache->exits[i];
        if (exit->target == EXIT_INDIRECT || cache->slots[exit->slot].exit.to)
            continue;
        add_slot(t)->head.pc = exit->target;
        union op *stub = add_slot(t);
        stub->run = leaf_holds(t->leaf, exit->target) ? t->hart->exec->link : t->hart->exec->far;
        stub->imm = (int32_t)exit->slot - (int32_t)(cache->slot_count - 1);
        cache->slots[exit->slot].exit.to = stub;
    }
}

static void add_record(struct translation *t, const struct insn *insn)
{
    struct block_cache *cache = t->cache;
    struct record *record = &cache->records[cache->record_count];
    *record = (struct record){t->pc, *insn, cache->slot_count};
    if (cache->described)
        stream_op_describe(&cache->ops[cache->record_count], t->pc, &record->insn);
    cache->record_count++;
}

static void add_part(struct translation *t, uint64_t pc, const uint8_t *at, unsigned length)
{
    const struct code_pages *pages = t->cache->code_pages;
    if (!at || !pages)
        return; /* a ROM, or memory to which stores are not noted */
    uint64_t offset = (uint64_t)(at - pages->bytes);
    unsigned first = (unsigned)(offset % CODE_PAGE);
    block_add_part(t->cache, offset / CODE_PAGE, pc & ~(uint64_t)(CODE_PAGE - 1), first, first + length - 1);
}

/* Fetches the next instruction, and notes the bytes that it was translated from. */
static bool fetch(struct translation *t, struct insn *insn)
{
    uint16_t parcel;
    if (!access_fetch(t->hart, t->pc, &parcel))
        return false;
    const uint8_t *low = t->hart->fetched;
    if ((parcel & 3) == 3 && !leaf_holds(t->leaf, t->pc + 2))
        return false; /* the next leaf may change alone, so `step` fetches the instruction each time */
    if (!step_fetch(t->hart, t->pc, insn))
        return false;
    bool crosses = insn->length == 4 && t->pc % CODE_PAGE == CODE_PAGE - 2;
    add_part(t, t->pc, low, crosses ? 2 : insn->length);
    if (crosses)
        add_part(t, t->pc + 2, t->hart->fetched, 2);
    return true;
}

const union op *translate(struct hart *hart, struct block_cache *cache, const struct mmu_leaf *leaf,
                          uint64_t pc)
{
    struct block *block = &cache->blocks[cache->block_count];
    if (!cache->fusions)
        index_fusions(cache, hart->exec);
    *block = (struct block){.pc = pc,
                            .physical = leaf_place(leaf, pc),
                            .mode = cache->contexts[cache->context].mode,
                            .bits = leaf->bits,
                            .slot = cache->slot_count + 1,
                            .record = cache->record_count,
                            .exit = cache->exit_count};
    struct translation t = {.cache = cache, .hart = hart, .block = block, .leaf = leaf, .pc = pc};
    union op *head = add_slot(&t);
    head->head.pc = pc;
    head->head.ops = cache->described ? &cache->ops[cache->record_count] : NULL;
    const uint32_t longest = cache->described ? BLOCK_INSNS_DESCRIBED : BLOCK_INSNS;
    while (!t.ended) {
        struct insn insn = {0};
        if (retired(&t) == longest || (retired(&t) > 0 && !leaf_holds(leaf, t.pc))) {
            add_go(&t, t.pc);
            break;
        }
        bool fetched = fetch(&t, &insn);
        add_record(&t, &insn);
        if (hart_has_breakpoint(hart, t.pc))
            add_break(&t);
        else if (fetched && !(hart->triggers.armed && trigger_may_execute(hart, t.pc)))
            add_insn(&t, &insn);
        else
            add_step(&t, &insn);
    }
    add_stubs(&t);
    cache->block_count++;
    return &cache->slots[block->slot];
}
