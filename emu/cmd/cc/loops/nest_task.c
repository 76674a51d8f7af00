#include "emu/cmd/cc/loops/state.h"

#include <inttypes.h>

#include "isa/disasm.h"

static int64_t size_of(int64_t value)
{
    return value < 0 ? -value : value;
}

/* Returns what is added to the base of far load i: the address so many rounds ahead. */
static int64_t distance_of(const struct rewriter *r, const struct launch *l, unsigned i)
{
    const struct nest_far *far = &l->task->nest.fars[i];
    return r->cfg->insns[far->at].step.insn.imm + far->stride * r->options->ahead;
}

bool nest_is_prefetched(const struct rewriter *r, const struct launch *l, unsigned i)
{
    return l->address && l->ahead[i] && r->options->ahead && size_of(distance_of(r, l, i)) < INT32_MAX;
}

bool nest_all_prefetched(const struct rewriter *r, const struct launch *l)
{
    const struct task_nest *nest = &l->task->nest;
    bool all = nest->far_count < NEST_FARS;
    for (unsigned i = 0; i < nest->far_count; i++)
        all = all && nest_is_prefetched(r, l, i);
    return all;
}

void nest_write_distances(FILE *out, const struct rewriter *r, const struct launch *l)
{
    for (unsigned i = 0; i < l->task->nest.far_count; i++)
        if (nest_is_prefetched(r, l, i))
            (void)fprintf(out, "\tli\t%s,%" PRId64 "\n", register_name[l->ahead[i]], distance_of(r, l, i));
}

void nest_write_prefetch(FILE *out, const struct rewriter *r, const struct launch *l, size_t line)
{
    for (unsigned i = 0; i < l->task->nest.far_count; i++) {
        int at = l->task->nest.fars[i].at;
        if (rewriter_line(r, at) == line && nest_is_prefetched(r, l, i))
            (void)fprintf(out, "\tadd\t%s,x%u,%s\n\tori\tx0,%s,1\n", register_name[l->address],
                          r->cfg->insns[at].regs.rs1, register_name[l->ahead[i]], register_name[l->address]);
    }
}

bool nest_write_slot(FILE *out, const struct rewriter *r, const struct launch *l, size_t line, size_t base)
{
    for (int at = l->task->begin; at <= l->task->last && l->task->nest.slot_count; at++) {
        const struct cfg_insn *insn = &r->cfg->insns[at];
        bool store = insn_table[insn->step.insn.id].access == ACCESS_STORE;
        if (rewriter_line(r, at) != line || insn->regs.rs1 != SP)
            continue;
        for (unsigned i = 0; i < l->task->nest.slot_count; i++)
            if (l->task->nest.slots[i] == insn->step.insn.imm)
                (void)fprintf(out, "\t%s\tx%u,%zu(sp)\n", insn_table[insn->step.insn.id].name,
                              store ? insn->regs.rs2 : insn->regs.rd, base + (size_t)8 * i);
        return true;
    }
    return false;
}

unsigned nest_values(const struct launch *l, int64_t values[CROFT_NEST_VALUES])
{
    unsigned count = 0;
    for (unsigned reg = 1; reg < REGISTERS; reg++)
        if (l->task->nest.needed >> reg & 1)
            values[count++] = reg;
    values[count++] = CROFT_NEST_LIMIT;
    for (unsigned i = 0; i < NEST_SLOTS; i++)
        if (l->task->nest.needed_slots >> i & 1)
            values[count++] = CROFT_NEST_LIMIT + 1 + i;
    for (unsigned i = 0; i < 3 && l->task->nest.slices.there; i++)
        values[count++] = CROFT_NEST_START + i;
    if (l->apart || l->task->nest.slices.there)
        values[count++] = CROFT_NEST_APART;
    return count;
}

void nest_write_setup(FILE *out, const struct launch *l, size_t slots)
{
    int64_t values[CROFT_NEST_VALUES];
    unsigned count = nest_values(l, values), base = l->carriers[0], last;
    const char *limit = register_name[l->limit];
    while (values[count - 1] >= CROFT_NEST_APART)
        count--;
    for (; values[count - 1] > CROFT_NEST_LIMIT; count--)
        (void)fprintf(out, "\tld\t%s,%u(%s)\n\tsd\t%s,%zu(sp)\n", limit, 8 * (count - 1), register_name[base],
                      limit, slots + (size_t)(8 * (values[count - 1] - CROFT_NEST_LIMIT - 1)));
    last = count;
    for (unsigned i = 0; i < count; i++) {
        unsigned reg = values[i] == CROFT_NEST_LIMIT ? l->limit : (unsigned)values[i];
        if (reg == base)
            last = i;
        else
            (void)fprintf(out, "\t%s\t%c%u,%u(%s)\n", reg < 32 ? "ld" : "fld", reg < 32 ? 'x' : 'f', reg % 32,
                          8 * i, register_name[base]);
    }
    if (last < count)
        (void)fprintf(out, "\tld\t%s,%u(%s)\n", register_name[base], 8 * last, register_name[base]);
}

void nest_write_choice(FILE *out, const struct launch *l)
{
    int64_t values[CROFT_NEST_VALUES];
    const bool slices = l->task->nest.slices.there;
    const char *limit = register_name[l->limit];
    if (l->apart || slices)
        (void)fprintf(out, "\tld\t%s,%u(%s)\n", limit, 8 * (nest_values(l, values) - 1),
                      register_name[l->carriers[0]]);
    if (slices)
        (void)fprintf(out, "\taddi\t%s,%s,-%d\n\tbeq\t%s,zero,.Lcroft.slice.%u\n\taddi\t%s,%s,%d\n", limit,
                      limit, CROFT_NEST_SLICED, limit, l->number, limit, limit, CROFT_NEST_SLICED);
    if (l->apart)
        (void)fprintf(out, "\tbne\t%s,zero,.Lcroft.apart.%u\n", limit, l->number);
}

bool nest_is_sunk(const struct rewriter *r, const struct launch *l, size_t line)
{
    bool found = false;
    for (unsigned i = 0; i < l->task->nest.sink_count; i++)
        found |= rewriter_line(r, l->task->nest.sinks[i].store) == line;
    return found;
}

void nest_write_sunk(FILE *out, const struct rewriter *r, const struct launch *l, size_t line)
{
    for (unsigned i = 0; i < l->task->nest.sink_count; i++)
        if (!slice_drops(l, l->task->nest.sinks[i].store) &&
            rewriter_line(r, l->task->nest.sinks[i].branch) == line)
            assembly_write(r->assembly->lines[rewriter_line(r, l->task->nest.sinks[i].store)].text,
                           suffix_none, NULL, out);
}
