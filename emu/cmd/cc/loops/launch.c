#include "emu/cmd/cc/loops/state.h"

#include <inttypes.h>

#include "isa/disasm.h"

const char *suffix_none(void *context, const char *name)
{
    (void)context, (void)name;
    return "";
}

uint32_t launch_floats(const struct launch *l)
{
    return (uint32_t)((l->task->live & CALLER_SAVED_FLOAT) >> 32);
}

uint32_t launch_integers(const struct launch *l)
{
    return (uint32_t)l->task->live & ~UINT32_C(0x1d);
}

void launch_each_place(FILE *out, const char *op, uint32_t set, size_t offset, bool floats)
{
    for (unsigned reg = 1 - floats; reg < 32; reg++)
        if (set >> reg & 1)
            (void)fprintf(out, floats ? "\t%s\tf%u,%zu(sp)\n" : "\t%s\tx%u,%zu(sp)\n", op, reg,
                          offset + 8 * reg);
}

void launch_write_mark(FILE *out, const struct launch *l, size_t offset)
{
    (void)fprintf(out, "\tld\t%s,%zu(sp)\n\t.insn r 0x33, 2, 0, x0, %s, x0\n", register_name[l->count],
                  offset, register_name[l->count]);
}

void launch_write_check(FILE *out, const struct launch *l, const struct cc_loops_options *options)
{
    const struct trip *trip = &l->task->trip;
    const char *spare = register_name[l->spare];
    unsigned shift = 0;
    uint64_t rounds = options->least / (l->task->insns ? l->task->insns : 1), least;
    least = trip->step * (rounds > 2 ? rounds : 2);
    while (least >> (shift + 1))
        shift++;
    (void)fprintf(out, "%s.entry:\n\tsub\t%s,x%u,x%u\n\tsrai\t%s,%s,%u\n\tbgt\t%s,zero,.Lcroft.launch.%u\n",
                  l->header, spare, trip->minuend < 32 ? trip->minuend : 0u,
                  trip->subtrahend < 32 ? trip->subtrahend : 0u, spare, spare, shift > 62 ? 62 : shift, spare,
                  l->number);
    (void)fputs("\t.balign\t32\n",
                out); /* where a core fetches blocks, a short loop shall need as few as it may */
}

void launch_load_batch(FILE *out, const struct launch *l, const char *base, size_t place)
{
    for (unsigned i = 0; i < l->carrier_count; i++) {
        (void)fprintf(out, "\tld\t%s,%zu(%s)\n", register_name[l->carriers[i]],
                      place + offsetof(struct croft_loop_batch, firsts) + (size_t)8 * i, base);
        if (l->increments[i])
            (void)fprintf(out, "\tld\t%s,%zu(%s)\n", register_name[l->increments[i]],
                          place + offsetof(struct croft_loop_batch, increments) + (size_t)8 * i, base);
    }
    (void)fprintf(out, "\tld\t%s,%zu(%s)\n\tld\t%s,%zu(%s)\n\tld\t%s,%zu(%s)\n", register_name[l->xn],
                  place + offsetof(struct croft_loop_batch, xn), base, register_name[l->pair],
                  place + offsetof(struct croft_loop_batch, xd), base, register_name[l->pair + 1],
                  place + offsetof(struct croft_loop_batch, xt), base);
}

void launch_write_nucd(FILE *out, const struct launch *l, unsigned batch)
{
    (void)fprintf(out,
                  ".Lcroft.task.%u.%u:\n\t.option push\n\t.option norvc\n\t.option norelax\n"
                  "\t.insn r 0x33, 2, 0, x0, %s, %s\n\tcall\t%s.loop.%u\n\t.option pop\n",
                  l->number, batch, register_name[l->xn], register_name[l->pair], l->function, l->number);
    for (unsigned i = 0; i < l->carrier_count; i++)
        if (l->increments[i])
            (void)fprintf(out, "\tadd\t%s,%s,%s\n", register_name[l->carriers[i]],
                          register_name[l->carriers[i]], register_name[l->increments[i]]);
}

void launch_words(FILE *out, size_t count, const int64_t *values)
{
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out, "\t.8byte\t%" PRId64 "\n", values[i]);
}
