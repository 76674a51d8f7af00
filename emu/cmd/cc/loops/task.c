#include "emu/cmd/cc/loops/state.h"

#include <string.h>

#include "isa/disasm.h"

struct copy {
    const struct assembly *assembly;
    const struct launch *launch;
};

/* Returns the suffix of the copy for a label within the loop. */
static const char *copy_suffix(void *context, const char *name)
{
    const struct copy *copy = context;
    for (size_t i = copy->launch->label; i <= copy->launch->last; i++)
        if (assembly_is_label(&copy->assembly->lines[i], name))
            return copy->launch->suffix;
    return "";
}

/* Writes the branch with the task's limit. One before the end leaves the copy of the loop, one at its end goes back. */
static void write_branch(FILE *out, const struct rewriter *r, const struct launch *l)
{
    const struct loop_task *task = l->task;
    const struct cfg_insn *branch = &r->cfg->insns[task->branch];
    unsigned counter = task->up ? task->trip.subtrahend : task->trip.minuend;
    if (task->nested)
        counter = task->nest.compared;
    bool first = branch->regs.rs1 == counter;
    (void)fprintf(out, "\t%s\tx%u,x%u,", insn_table[branch->step.insn.id].name, first ? counter : l->limit,
                  first ? l->limit : counter);
    if (task->last == task->branch)
        (void)fprintf(out, "%s%s\n", l->header, l->suffix);
    else
        (void)fprintf(out, ".Lcroft.done%s\n", l->suffix);
}

/* One of the bodies of a task. */
struct body {
    uint32_t kept;              /* registers to load at its end */
    size_t frame, slots, words; /* bytes; where slots are, and what slices need */
    bool apart;                 /* for rounds whose accesses in different ranges are apart */
};

/* Writes a line of the loop. written: what interleaves rounds has written it. */
static void write_line(FILE *out, const struct rewriter *r, const struct launch *l, const struct body *body,
                       size_t line, bool written)
{
    struct copy copy = {r->assembly, l};
    const char *text = r->assembly->lines[line].text;
    bool location = line_is_loc(text + strspn(text, " \t")) && r->options->debug;
    nest_write_prefetch(out, r, l, line);
    if (written || slice_write_branch(out, r, l, line, NULL))
        ; /* the branch back of interleaved rounds, or of a slice */
    else if (line == rewriter_line(r, l->task->branch))
        write_branch(out, r, l);
    else if (nest_write_slot(out, r, l, line, body->slots))
        return;
    else if (r->assembly->lines[line].kind != ASSEMBLY_OTHER || location)
        assembly_write(text, location ? suffix_none : copy_suffix, &copy, out);
    if (body->apart)
        nest_write_sunk(out, r, l, line);
}

static void write_body(FILE *out, const struct rewriter *r, const struct launch *l, const struct body *body)
{
    size_t at = 0;
    bool guarded = false;
    int64_t values[CROFT_NEST_VALUES];
    if (l->task->nested) /* before CROFT_NEST_APART */
        slice_copy(out, l, nest_values(l, values) - 4, body->words);
    if (l->task->nested)
        nest_write_setup(out, l, body->slots);
    else
        single_write_setup(out, l);
    slice_write_setup(out, l, body->words);
    nest_write_distances(out, r, l);
    for (size_t i = l->label; i <= l->last; i++) {
        slice_write_guard(out, r, l, i, body->words, &guarded);
        slice_write_again(out, r, l, i);
        slice_write_begin(out, r, l, i, body->words);
        bool written = body->apart && unroll_write(out, r, l, i, body->slots);
        if (!(body->apart && nest_is_sunk(r, l, i)) && !slice_drops_line(r, l, i))
            write_line(out, r, l, body, i, written);
    }
    if (l->task->last != l->task->branch)
        (void)fprintf(out, ".Lcroft.done%s:\n", l->suffix);
    for (unsigned reg = 1; reg < 32; reg++)
        if (body->kept >> reg & 1)
            (void)fprintf(out, "\tld\tx%u,%zu(sp)\n", reg, 8 * at++);
    if (body->frame)
        (void)fprintf(out, "\taddi\tsp,sp,%zu\n", body->frame);
    (void)fprintf(out, "\tret\n");
}

void task_write(FILE *out, const struct rewriter *r, const struct launch *l)
{
    uint32_t used = (uint32_t)l->task->named | UINT32_C(1) << l->limit | UINT32_C(1) << l->address |
                    UINT32_C(1) << l->bound | UINT32_C(1) << l->slice;
    for (unsigned i = 0; i < NEST_FARS; i++)
        used |= UINT32_C(1) << l->ahead[i];
    uint32_t kept = (l->launching | UINT32_C(1) << RA) & used;
    size_t slots = (size_t)__builtin_popcount(kept) * 8, at = 0,
           words = slots + (size_t)l->task->nest.slot_count * 8,
           frame = (words + (l->task->nest.slices.there ? (size_t)SLICE_WORDS * 8 : 0) + 15) / 16 * 16;
    (void)fprintf(out, "\t.align\t1\n\t.type\t%s.loop.%u, @function\n%s.loop.%u:\n", l->function, l->number,
                  l->function, l->number);
    if (frame)
        (void)fprintf(out, "\taddi\tsp,sp,-%zu\n", frame);
    for (unsigned reg = 1; reg < 32; reg++)
        if (kept >> reg & 1)
            (void)fprintf(out, "\tsd\tx%u,%zu(sp)\n", reg, 8 * at++);
    const struct body body = {kept, frame, slots, words, false}, apart = {kept, frame, slots, words, true};
    nest_write_choice(out, l);
    write_body(out, r, l, &body);
    if (l->apart) {
        struct launch other = *l;
        (void)snprintf(other.suffix, sizeof other.suffix, ".apart.%u", l->number);
        (void)fprintf(out, ".Lcroft.apart.%u:\n", l->number);
        write_body(out, r, &other, &apart);
    }
    if (l->task->nest.slices.there) {
        struct launch other = *l;
        other.phase = NEST_SLICES;
        memset(other.ahead, 0, sizeof other.ahead); /* lines ahead are those of other slices */
        (void)snprintf(other.suffix, sizeof other.suffix, ".slice.%u", l->number);
        (void)fprintf(out, ".Lcroft.slice.%u:\n", l->number);
        write_body(out, r, &other, &apart);
    }
    (void)fprintf(out, "\t.size\t%s.loop.%u, .-%s.loop.%u\n", l->function, l->number, l->function, l->number);
}
