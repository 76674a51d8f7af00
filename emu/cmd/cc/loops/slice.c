#include "emu/cmd/cc/loops/state.h"

#include <inttypes.h>

#include "isa/disasm.h"

/* Of a slice's words in its frame: what the context has, and from then on what is added to counters. */
enum { WORD_START, WORD_COUNT, WORD_PEELED, WORD_STEPS };

static const struct nest_slices *slices_of(const struct launch *l)
{
    return &l->task->nest.slices;
}

static bool is_slice(const struct launch *l)
{
    return slices_of(l)->there && l->phase == NEST_SLICES;
}

bool slice_drops(const struct launch *l, int at)
{
    return slices_of(l)->there && !nest_has(slices_of(l)->kept[l->phase], at - l->task->begin);
}

bool slice_drops_line(const struct rewriter *r, const struct launch *l, size_t line)
{
    bool drops = false;
    for (int at = l->task->begin; at <= l->task->last && slices_of(l)->there; at++)
        if (rewriter_line(r, at) == line) {
            drops = true;
            if (!slice_drops(l, at))
                return false;
        }
    return drops;
}

static bool is_alone(const struct rewriter *r, const struct launch *l, size_t line)
{
    for (int at = l->task->begin; at <= l->task->last; at++)
        if (rewriter_line(r, at) == line && nest_has(slices_of(l)->alone, at - l->task->begin))
            return true;
    return false;
}

void slice_write_guard(FILE *out, const struct rewriter *r, const struct launch *l, size_t line, size_t words,
                       bool *open)
{
    const char *address = register_name[l->address];
    const bool alone = is_slice(l) && is_alone(r, l, line);
    if (alone && !*open)
        (void)fprintf(out, "\tld\t%s,%zu(sp)\n\tbeq\t%s,zero,1f\n", address, words + (size_t)8 * WORD_PEELED,
                      address);
    if (!alone && *open)
        (void)fputs("1:\n", out);
    *open = alone;
}

void slice_write_again(FILE *out, const struct rewriter *r, const struct launch *l, size_t line)
{
    for (unsigned i = 0; i < slices_of(l)->again_count && is_slice(l); i++) {
        const struct nest_again *again = &slices_of(l)->agains[i];
        if (rewriter_line(r, again->first) != line || again->store == CFG_NONE)
            continue;
        const struct insn *store = &r->cfg->insns[again->store].step.insn;
        const bool wide = store->id == INSN_fsd;
        (void)fprintf(out, "\t%s\t%c%u,%d(x%u)\n", wide ? "fld" : "ld", wide ? 'f' : 'x', store->rs2,
                      store->imm, store->rs1);
    }
}

void slice_copy(FILE *out, const struct launch *l, unsigned first, size_t words)
{
    const char *limit = register_name[l->limit];
    for (unsigned i = 0; i < WORD_STEPS && is_slice(l); i++)
        (void)fprintf(out, "\tld\t%s,%u(%s)\n\tsd\t%s,%zu(sp)\n", limit, 8 * (first + i),
                      register_name[l->carriers[0]], limit, words + (size_t)8 * i);
}

/* Returns whether slices need what the loop adds to a counter. */
static bool counts(const struct rewriter *r, const struct launch *l, unsigned reg)
{
    for (int at = slices_of(l)->first; at < slices_of(l)->branch; at++)
        if (r->cfg->insns[at].regs.rd == reg && !slice_drops(l, at))
            return true;
    return false;
}

/* Writes the product of a word and a number, to another word. */
static void write_product(FILE *out, const struct launch *l, size_t word, int64_t factor, size_t product)
{
    const char *address = register_name[l->address], *slice = register_name[l->slice];
    (void)fprintf(out, "\tld\t%s,%zu(sp)\n\tli\t%s,%" PRId64 "\n\tmul\t%s,%s,%s\n\tsd\t%s,%zu(sp)\n", address,
                  word, slice, factor, address, address, slice, address, product);
}

void slice_write_setup(FILE *out, const struct launch *l, size_t words)
{
    const struct nest_slices *slices = slices_of(l);
    for (unsigned i = 0; i < slices->counter_count && is_slice(l); i++) {
        write_product(out, l, words + (size_t)8 * WORD_START, slices->steps[i],
                      words + (size_t)8 * (WORD_STEPS + i));
        if (slices->counters[i] == slices->counter)
            write_product(out, l, words + (size_t)8 * WORD_COUNT, slices->steps[i],
                          words + (size_t)8 * WORD_COUNT);
    }
}

void slice_write_begin(FILE *out, const struct rewriter *r, const struct launch *l, size_t line, size_t words)
{
    const struct nest_slices *slices = slices_of(l);
    const char *address = register_name[l->address], *slice = register_name[l->slice];
    if (!is_slice(l) || rewriter_line(r, slices->first) != line)
        return;
    for (unsigned i = 0; i < slices->counter_count; i++)
        if (counts(r, l, slices->counters[i]))
            (void)fprintf(out, "\tld\t%s,%zu(sp)\n\tadd\tx%u,x%u,%s\n", address,
                          words + (size_t)8 * (WORD_STEPS + i), slices->counters[i], slices->counters[i],
                          address);
    (void)fprintf(out, "\tld\t%s,%zu(sp)\n\tadd\t%s,%s,x%u\n.Lcroft.begin%s:\n", slice,
                  words + (size_t)8 * WORD_COUNT, slice, slice, slices->counter, l->suffix);
}

bool slice_write_branch(FILE *out, const struct rewriter *r, const struct launch *l, size_t line,
                        const char *label)
{
    const struct nest_slices *slices = slices_of(l);
    if (!is_slice(l) || rewriter_line(r, slices->branch) != line)
        return false;
    const struct insn *branch = &r->cfg->insns[slices->branch].step.insn;
    (void)fprintf(out, "\t%s\tx%u,x%u,", insn_table[branch->id].name,
                  branch->rs1 == slices->counter ? branch->rs1 : l->slice,
                  branch->rs2 == slices->counter ? branch->rs2 : l->slice);
    if (label)
        (void)fprintf(out, "%s\n", label);
    else
        (void)fprintf(out, ".Lcroft.begin%s\n", l->suffix);
    return true;
}
