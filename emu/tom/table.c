#include "emu/tom/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/analysis/lanes.h"
#include "emu/sim/alloc.h"
#include "isa/csr.h"
#include "isa/decoder/flow.h"

enum { NONE = -1, MESSAGE = 200 };

/* An instruction of a block. */
struct step {
    uint64_t pc;
    struct insn insn;
    struct insn_registers regs;
    int next[2];      /* numbers of the instructions after it; NONE: none, or the block's end */
    uint64_t written; /* registers that all paths from the block's begin to this instruction have written */
    uint64_t same;    /* integer registers that hold one value in all threads before it */
};

struct walk {
    const struct decoder *decoder;
    const struct reach_code *code;
    const struct candidate_entry *entry;
    struct step *steps;
    int count;
    bool ends; /* some path leads to the end */
    char *message;
};

static bool fail(struct walk *walk, uint64_t pc, const char *what)
{
    (void)snprintf(walk->message, MESSAGE, "0x%" PRIx64 " %s", pc, what);
    return false;
}

static bool is_allowed(const struct insn *insn)
{
    const struct insn_info *info = &insn_table[insn->id];
    unsigned number = (unsigned)insn->imm & 0xfff;
    switch ((enum insn_class)info->iclass) {
    case CLASS_AMO:
    case CLASS_FENCE:
    case CLASS_SYSTEM:
    case CLASS_HINT:
    case CLASS_CUSTOM: return false;
    case CLASS_CSR:
        return (insn->id == INSN_csrrs || insn->id == INSN_csrrc) && insn->rs1 == 0 &&
               number >= CSR_sthread_x && number <= CSR_sthread_id && number != CSR_smp;
    default: return info->access != ACCESS_BLOCK && info->access != ACCESS_ZERO;
    }
}

static bool is_access(const struct insn *insn)
{
    return insn_table[insn->id].access == ACCESS_LOAD || insn_table[insn->id].access == ACCESS_STORE;
}

/* Adds the instruction at pc, unless it was added before. Returns its number; NONE if pc is the block's end. */
static int add(struct walk *walk, uint64_t pc)
{
    if (pc == walk->entry->end) {
        walk->ends = true;
        return NONE;
    }
    for (int i = 0; i < walk->count; i++)
        if (walk->steps[i].pc == pc)
            return i;
    if (walk->count < TOM_BLOCK)
        walk->steps[walk->count].pc = pc;
    return walk->count++;
}

/* Reads instruction `i`, and adds the instructions that may follow it. */
static bool read_step(struct walk *walk, int i)
{
    struct step *step = &walk->steps[i];
    uint32_t bits = 0;
    if (!walk->code->fetch(walk->code->context, step->pc, &bits))
        return fail(walk, step->pc, "is not code");
    step->insn = decode(walk->decoder, bits);
    if (step->insn.id == INSN_illegal)
        return fail(walk, step->pc, "is no instruction");
    unsigned flow = flow_of(&step->insn);
    if (flow & (FLOW_CALL | FLOW_INDIRECT | FLOW_RETURN))
        return fail(walk, step->pc, "is a call, a return or an indirect jump");
    if (!is_allowed(&step->insn))
        return fail(walk, step->pc, "is an instruction that no block may have");
    step->regs = insn_registers(&step->insn);
    step->written = step->same = UINT64_MAX;
    uint64_t target = step->pc + (uint64_t)(int64_t)step->insn.imm;
    int next = flow & FLOW_JUMP ? NONE : add(walk, step->pc + step->insn.length);
    int other = flow & (FLOW_JUMP | FLOW_BRANCH) ? add(walk, target) : NONE;
    walk->steps[i].next[0] = next;
    walk->steps[i].next[1] = other;
    return walk->count <= TOM_BLOCK || fail(walk, walk->entry->begin, "begins a block that is too long");
}

static uint64_t bit_of(uint8_t reg)
{
    return reg < REGISTER_NONE ? UINT64_C(1) << reg : 0;
}

/* Finds the registers that all paths have written before each instruction. */
static void find_written(struct walk *walk)
{
    walk->steps[0].written = 0;
    for (bool changes = true; changes;) {
        changes = false;
        for (int i = 0; i < walk->count; i++) {
            const struct step *step = &walk->steps[i];
            uint64_t after = step->written | bit_of(step->regs.rd);
            for (unsigned j = 0; j < 2; j++) {
                struct step *next = step->next[j] == NONE ? NULL : &walk->steps[step->next[j]];
                if (!next || !(next->written & ~after))
                    continue;
                next->written &= after;
                changes = true;
            }
        }
    }
}

/* Checks that the block reads only registers that it gets or has written. Stores the set of registers that it names. */
static bool check_registers(struct walk *walk, uint64_t *named)
{
    *named = 0;
    find_written(walk);
    for (int i = 0; i < walk->count; i++) {
        const struct step *step = &walk->steps[i];
        uint64_t reads = bit_of(step->regs.rs1) | bit_of(step->regs.rs2) | bit_of(step->regs.rs3);
        *named |= reads | bit_of(step->regs.rd);
        if (reads & ~step->written & ~walk->entry->in & ~UINT64_C(1))
            return fail(walk, step->pc, "reads a register that the entry does not send");
    }
    return true;
}

/* Returns the registers that hold one value in all threads behind the instruction. */
static uint64_t same_behind(const struct step *step)
{
    const struct insn *insn = &step->insn;
    const uint64_t from = bit_of(step->regs.rs1) | bit_of(step->regs.rs2) | bit_of(step->regs.rs3);
    bool same = !(from & ~step->same) && insn_table[insn->id].access != ACCESS_STORE;
    if (insn_table[insn->id].iclass == CLASS_CSR)
        same = lanes_of_coordinate(((unsigned)insn->imm & 0xfff) - CSR_sthread_x) == LANES_SAME;
    return same ? step->same | bit_of(step->regs.rd) : step->same & ~bit_of(step->regs.rd);
}

/* Finds the loads that all threads of a launch make at one address. */
static void find_passed(struct walk *walk, struct tom_entry *entry)
{
    walk->steps[0].same = walk->entry->same;
    for (bool changes = true; changes;) {
        changes = false;
        for (int i = 0; i < walk->count; i++)
            for (unsigned j = 0; j < 2; j++) {
                const int to = walk->steps[i].next[j];
                const uint64_t behind = same_behind(&walk->steps[i]);
                changes = changes || (to != NONE && walk->steps[to].same & ~behind);
                if (to != NONE)
                    walk->steps[to].same &= behind;
            }
    }
    entry->passed_count = 0;
    for (int i = 0; i < walk->count && entry->passed_count < TOM_PASSED; i++) {
        const struct step *step = &walk->steps[i];
        if (insn_table[step->insn.id].access == ACCESS_LOAD && !(bit_of(step->regs.rs1) & ~step->same))
            entry->passed[entry->passed_count++] = step->pc;
    }
}

bool tom_entry_passes(const struct tom_entry *entry, uint64_t pc)
{
    for (unsigned i = 0; i < entry->passed_count; i++)
        if (entry->passed[i] == pc)
            return true;
    return false;
}

/* Walks over the entry's block. Returns false with the message set if it cannot be executed elsewhere. */
static bool check_entry(struct tom_entry *entry, const struct decoder *decoder, const struct reach_code *code,
                        char message[MESSAGE])
{
    struct walk walk = {.decoder = decoder, .code = code, .entry = &entry->of, .message = message};
    uint64_t named = 0;
    entry->lowest = entry->highest = entry->of.begin;
    walk.steps = alloc(TOM_BLOCK + 2, sizeof *walk.steps);
    bool fine = add(&walk, entry->of.begin) == 0;
    for (int i = 0; fine && i < walk.count; i++)
        fine = read_step(&walk, i);
    fine = fine && (walk.ends || fail(&walk, entry->of.end, "is not where the block ends")) &&
           check_registers(&walk, &named);
    if (fine)
        find_passed(&walk, entry);
    for (int i = 0; fine && i < walk.count; i++) {
        const uint64_t pc = walk.steps[i].pc;
        entry->lowest = pc < entry->lowest ? pc : entry->lowest;
        entry->highest = pc > entry->highest ? pc : entry->highest;
        entry->accesses += is_access(&walk.steps[i].insn);
    }
    entry->instructions = (uint64_t)walk.count;
    free(walk.steps);
    entry->registers = 2 * (unsigned)__builtin_popcountll(named);
    entry->in = (unsigned)(__builtin_popcountll(entry->of.in) + __builtin_popcount(entry->of.coordinates));
    entry->out = (unsigned)__builtin_popcountll(entry->of.out);
    return fine;
}

void tom_table_init(struct tom_table *table)
{
    *table = (struct tom_table){.count = 0};
    memset(table->filter, 0xff, sizeof table->filter);
}

static void note(struct tom_table *table, uint64_t pc)
{
    unsigned bit = (unsigned)(pc / 2) % TOM_FILTER;
    table->filter[bit / 64] |= UINT64_C(1) << bit % 64;
}

static int by_begin(const void *a, const void *b)
{
    const struct tom_entry *one = a, *other = b;
    return (one->of.begin > other->of.begin) - (one->of.begin < other->of.begin);
}

void tom_table_load(struct tom_table *table, const struct candidate_entry *entries, size_t count,
                    const struct decoder *decoder, const struct reach_code *code,
                    void (*refused)(void *context, const char *message), void *context)
{
    memset(table->filter, 0, sizeof table->filter);
    for (size_t i = 0; i < count && i < CANDIDATE_ENTRIES; i++) {
        struct tom_entry entry = {.of = entries[i], .number = (unsigned)i};
        char message[MESSAGE], text[MESSAGE + 100];
        if (!check_entry(&entry, decoder, code, message)) {
            (void)snprintf(text, sizeof text,
                           "entry %zu of " CANDIDATE_SECTION
                           " is not offloaded: %s; `croft candidates` makes tables",
                           i, message);
            refused(context, text);
            continue;
        }
        table->entries[table->count++] = entry;
        note(table, entry.of.begin);
        note(table, entry.of.end);
    }
    qsort(table->entries, table->count, sizeof *table->entries, by_begin);
}

struct tom_entry *tom_table_find(struct tom_table *table, uint64_t pc)
{
    for (unsigned i = 0; i < table->count; i++)
        if (table->entries[i].of.begin == pc)
            return &table->entries[i];
    return NULL;
}
