#include "emu/cmd/cc/loops/state.h"

#include <inttypes.h>

#include "isa/disasm.h"

_Static_assert(offsetof(struct croft_nest_frame, contexts) < 2048, "it is in reach of sp");
_Static_assert((int)CROFT_NEST_REGISTERS == (int)NEST_REGISTERS, "slots have the same numbers");

/* Writes a loop over the batches of a nest. From task to task there are few instructions, so that the reorder buffer holds many tasks. */
static void write_batches(FILE *out, const struct launch *l)
{
    const char *batch = register_name[l->batch], *end = register_name[l->count],
               *rounds = register_name[l->xn];
    const size_t place = offsetof(struct croft_nest_frame, batches), size = sizeof(struct croft_nest_batch);
    (void)fprintf(out, "\taddi\t%s,sp,%zu\n.Lcroft.batch.%u:\n\tld\t%s,%zu(%s)\n", batch, place, l->number,
                  end, offsetof(struct croft_loop_batch, tasks), batch);
    (void)fprintf(out, "\tbeq\t%s,zero,.Lcroft.end.%u\n", end, l->number);
    launch_load_batch(out, l, batch, 0);
    launch_write_nucd(out, l, 0);
    (void)fprintf(out, "\tbne\t%s,%s,.Lcroft.task.%u.0\n\tld\t%s,%zu(%s)\n", register_name[l->carriers[0]],
                  end, l->number, rounds, offsetof(struct croft_nest_batch, rounds), batch);
    (void)fprintf(
        out, ".Lcroft.rounds.%u:\n\taddi\t%s,%s,-1\n\tbge\t%s,zero,.Lcroft.rounds.%u\n\taddi\t%s,%s,%zu\n",
        l->number, rounds, rounds, rounds, l->number, batch, batch, size);
    (void)fprintf(out, "\taddi\t%s,sp,%zu\n\tbne\t%s,%s,.Lcroft.batch.%u\n.Lcroft.end.%u:\n", end,
                  place + CROFT_NEST_BATCHES * size, batch, end, l->number, l->number);
}

/* Writes the code that copies the values of slots that tasks need to a launch's frame of so many bytes. */
static void write_slot_values(FILE *out, const struct launch *l, size_t frame)
{
    for (unsigned i = 0; i < l->task->nest.slot_count; i++)
        if (l->task->nest.needed_slots >> i & 1)
            (void)fprintf(out, "\tli\ta0,%" PRId64 "\n\tadd\ta0,a0,sp\n\tld\ta0,0(a0)\n\tsd\ta0,%zu(sp)\n",
                          (int64_t)frame + l->task->nest.slots[i],
                          offsetof(struct croft_nest_frame, registers) + (size_t)8 * (32 + i));
}

/* Returns the bytes of a task's context. */
static size_t context_size(const struct launch *l)
{
    int64_t values[CROFT_NEST_VALUES];
    return ((size_t)nest_values(l, values) * 8 + LINE - 1) / LINE * LINE;
}

void nest_write_launch(FILE *out, const struct launch *l)
{
    const char *spare = register_name[l->spare];
    uint32_t floats = launch_floats(l), carried = floats | (uint32_t)(l->task->nest.needed >> 32);
    size_t frame = (sizeof(struct croft_nest_frame) + CROFT_NEST_TASKS * context_size(l) + 64 + 15) / 16 * 16;
    (void)fprintf(out, ".Lcroft.launch.%u:\n\tlla\t%s,.Lcroft.loop.%u\n\tld\t%s,0(%s)\n\tbne\t%s,zero,%s\n",
                  l->number, spare, l->number, spare, spare, spare, l->header);
    (void)fprintf(out, "\tli\t%s,-%zu\n\tadd\tsp,sp,%s\n", spare, frame, spare);
    launch_each_place(out, "sd", launch_integers(l), offsetof(struct croft_nest_frame, registers), false);
    launch_each_place(out, "fsd", carried, offsetof(struct croft_nest_frame, floats), true);
    write_slot_values(out, l, frame);
    (void)fprintf(
        out,
        "\tlla\ta0,.Lcroft.loop.%u\n\tmv\ta1,sp\n\tcall\tcroft_nest_plan\n\tbeq\ta0,zero,.Lcroft.back.%u\n",
        l->number, l->number);
    const char *context = register_name[l->carriers[0]];
    (void)fprintf(
        out, "\tld\t%s,%zu(sp)\n\tbeq\t%s,zero,.Lcroft.tasks.%u\n\tcall\t%s.loop.%u\n.Lcroft.tasks.%u:\n",
        context, offsetof(struct croft_nest_frame, head), context, l->number, l->function, l->number,
        l->number);
    launch_write_mark(out, l, offsetof(struct croft_nest_frame, begin));
    write_batches(out, l);
    launch_write_mark(out, l, offsetof(struct croft_nest_frame, end));
    (void)fprintf(out, ".Lcroft.back.%u:\n", l->number);
    launch_each_place(out, "ld", launch_integers(l), offsetof(struct croft_nest_frame, registers), false);
    launch_each_place(out, "fld", floats, offsetof(struct croft_nest_frame, floats), true);
    (void)fprintf(out, "\tli\t%s,%zu\n\tadd\tsp,sp,%s\n\tj\t%s\n", spare, frame, spare, l->header);
}

static void write_form(FILE *out, const struct nest_form *form)
{
    int64_t values[4 + 2 * CROFT_NEST_TERMS + 3 * CROFT_NEST_WAYS] = {form->terms};
    _Static_assert(sizeof values == sizeof(struct croft_nest_form), "a form is written whole");
    const unsigned low = 1 + 2 * CROFT_NEST_TERMS, ways = low + 3;
    for (unsigned i = 0; i < form->terms; i++) {
        values[1 + i] = form->regs[i];
        values[1 + CROFT_NEST_TERMS + i] = form->factors[i];
    }
    values[low] = form->low;
    values[low + 1] = form->high;
    values[low + 2] = form->ways;
    for (unsigned i = 0; i < form->ways; i++) {
        values[ways + i] = form->inner[i];
        values[ways + CROFT_NEST_WAYS + i] = form->up[i];
        values[ways + 2 * CROFT_NEST_WAYS + i] = form->down[i];
    }
    launch_words(out, sizeof values / sizeof *values, values);
}

static void zeros(FILE *out, size_t count, size_t size)
{
    if (count)
        (void)fprintf(out, "\t.zero\t%zu\n", count * size);
}

/* Writes what struct croft_nest has before its lists. values: of a context. */
static void write_head(FILE *out, const struct rewriter *r, const struct launch *l, unsigned values)
{
    const struct task_nest *nest = &l->task->nest;
    const struct trip *trip = &l->task->trip;
    enum insn_id branch = (enum insn_id)r->cfg->insns[l->task->branch].step.insn.id;
    int64_t lines = nest_all_prefetched(r, l) ? INT32_MAX : r->options->cache / LINE;
    launch_words(out, 9,
                 (int64_t[]){0, 0, nest->insns, nest->far, r->options->tasks, r->options->least, lines,
                             trip->minuend < 32 ? trip->minuend : 0,
                             trip->subtrahend < 32 ? trip->subtrahend : 0});
    launch_words(out, 11,
                 (int64_t[]){(int64_t)trip->step, trip->first, l->task->up,
                             branch == INSN_bne || branch == INSN_beq, nest->counter_count, nest->range_count,
                             nest->word_count, nest->inner_count, values, l->inputs, l->outputs});
}

static void write_inners(FILE *out, const struct task_nest *nest)
{
    for (unsigned i = 0; i < nest->inner_count; i++) {
        const struct nest_extra *inner = &nest->inners[i];
        launch_words(
            out, 6,
            (int64_t[]){inner->insns, inner->times, inner->around, inner->far, inner->each, inner->differs});
        write_form(out, &inner->extra);
    }
    zeros(out, CROFT_NEST_INNERS - nest->inner_count, sizeof(struct croft_nest_inner));
}

static void write_ranges(FILE *out, const struct task_nest *nest)
{
    for (unsigned i = 0; i < nest->range_count; i++) {
        const struct nest_range *range = &nest->ranges[i];
        launch_words(
            out, 2,
            (int64_t[]){(range->read ? CROFT_LOOP_READ : 0) | (range->written ? CROFT_LOOP_WRITTEN : 0) |
                            (range->sliced ? CROFT_SLICE_READ : 0) | (range->before ? CROFT_SLICE_BEFORE : 0),
                        range->size});
        write_form(out, &range->from);
    }
    zeros(out, CROFT_NEST_RANGES - nest->range_count, sizeof(struct croft_nest_range));
}

static void write_slices(FILE *out, const struct rewriter *r, const struct nest_slices *slices)
{
    if (!slices->there) {
        zeros(out, 1, sizeof(struct croft_nest_slices));
        return;
    }
    launch_words(out, 7,
                 (int64_t[]){0, 1, slices->peeled != CFG_NONE, slices->size, slices->stride, slices->each,
                             r->cfg->insns[slices->branch].step.insn.id == INSN_bne});
    write_form(out, &slices->from);
    write_form(out, &slices->extra);
}

static void write_aparts(FILE *out, const struct rewriter *r, const struct launch *l)
{
    const struct task_nest *nest = &l->task->nest;
    int64_t aparts[CROFT_NEST_APARTS] = {0};
    _Static_assert((int)CROFT_NEST_APARTS == NEST_SINKS + NEST_UNROLLS, "each has a set");
    for (unsigned i = 0; i < nest->sink_count; i++)
        aparts[i] = nest->sinks[i].apart;
    for (unsigned i = 0; i < nest->unroll_count; i++)
        aparts[NEST_SINKS + i] = unroll_is_possible(r, l, i) ? nest->unrolls[i].apart : 0;
    launch_words(out, CROFT_NEST_APARTS, aparts);
}

void nest_write_table(FILE *out, const struct rewriter *r, const struct launch *l)
{
    const struct task_nest *nest = &l->task->nest;
    int64_t values[CROFT_NEST_VALUES] = {0}, counters[CROFT_NEST_COUNTERS] = {0},
            steps[CROFT_NEST_COUNTERS] = {0}, places[CROFT_NEST_CARRIERS] = {0};
    for (unsigned i = 0; i < nest->counter_count; i++) {
        counters[i] = nest->counters[i].reg;
        steps[i] = nest->counters[i].step;
    }
    for (unsigned i = 0; i < l->carrier_count; i++)
        places[i] = l->carriers[i];
    (void)fprintf(out, "\t.section\t.data.croft_nests,\"aw\"\n\t.align\t3\n.Lcroft.loop.%u:\n", l->number);
    write_head(out, r, l, nest_values(l, values));
    launch_words(out, CROFT_NEST_COUNTERS, counters);
    launch_words(out, CROFT_NEST_COUNTERS, steps);
    launch_words(out, CROFT_NEST_VALUES, values);
    launch_words(out, CROFT_NEST_CARRIERS, places);
    write_aparts(out, r, l);
    write_slices(out, r, &nest->slices);
    write_inners(out, nest);
    for (unsigned i = 0; i < nest->word_count; i++)
        write_form(out, &nest->words[i]);
    zeros(out, CROFT_NEST_WORDS - nest->word_count, sizeof(struct croft_nest_form));
    write_ranges(out, nest);
}
