#include "emu/cmd/cc/loops/state.h"

#include <inttypes.h>

#include "isa/disasm.h"

enum {
    FRAME = (sizeof(struct croft_loop_frame) + 15) / 16 * 16,
};

#define PLACE(member) offsetof(struct croft_loop_frame, member)

static void load_carriers(FILE *out, const struct launch *l, size_t offset)
{
    for (unsigned i = 0; i < l->carrier_count; i++)
        (void)fprintf(out, "\tld\t%s,%zu(sp)\n", register_name[l->carriers[i]], offset + (size_t)8 * i);
}

/* Writes the launches of a batch. The second batch may have none. */
static void write_batch(FILE *out, const struct launch *l, unsigned batch)
{
    const size_t place = PLACE(batches) + batch * sizeof(struct croft_loop_batch);
    const char *count = register_name[l->count];
    (void)fprintf(out, "\tld\t%s,%zu(sp)\n", count, place + offsetof(struct croft_loop_batch, tasks));
    if (batch > 0)
        (void)fprintf(out, "\tbeq\t%s,zero,.Lcroft.end.%u\n", count, l->number);
    launch_load_batch(out, l, "sp", place);
    launch_write_nucd(out, l, batch);
    (void)fprintf(out, "\taddi\t%s,%s,-1\n\tbne\t%s,zero,.Lcroft.task.%u.%u\n", count, count, count,
                  l->number, batch);
}

void single_write_launch(FILE *out, const struct launch *l)
{
    const struct loop_task *task = l->task;
    const char *count = register_name[l->count];
    uint32_t floats = launch_floats(l), carried = floats;
    for (unsigned i = 0; i < task->carrier_count; i++)
        if (task->carriers[i].carry == CARRY_REGISTER && task->carriers[i].number >= 32)
            carried |= UINT32_C(1) << (task->carriers[i].number - 32);
    (void)fprintf(out, ".Lcroft.launch.%u:\n\taddi\tsp,sp,-%d\n", l->number, FRAME);
    launch_each_place(out, "sd", launch_integers(l), PLACE(registers), false);
    launch_each_place(out, "fsd", carried, PLACE(floats), true);
    (void)fprintf(
        out,
        "\tlla\ta0,.Lcroft.loop.%u\n\tmv\ta1,sp\n\tcall\tcroft_loop_plan\n\tbeq\ta0,zero,.Lcroft.back.%u\n",
        l->number, l->number);
    (void)fprintf(out, "\tld\t%s,%zu(sp)\n\tbeq\t%s,zero,.Lcroft.tasks.%u\n", count, PLACE(head), count,
                  l->number);
    load_carriers(out, l, PLACE(heads));
    (void)fprintf(out, "\tcall\t%s.loop.%u\n.Lcroft.tasks.%u:\n", l->function, l->number, l->number);
    launch_write_mark(out, l, PLACE(begin));
    for (unsigned batch = 0; batch < CROFT_LOOP_BATCHES; batch++)
        write_batch(out, l, batch);
    (void)fprintf(out, ".Lcroft.end.%u:\n", l->number);
    launch_write_mark(out, l, PLACE(end));
    (void)fprintf(out, ".Lcroft.back.%u:\n", l->number);
    launch_each_place(out, "ld", launch_integers(l), PLACE(registers), false);
    launch_each_place(out, "fld", floats, PLACE(floats), true);
    (void)fprintf(out, "\taddi\tsp,sp,%d\n\tj\t%s\n", FRAME, l->header);
}

void single_write_setup(FILE *out, const struct launch *l)
{
    const struct loop_task *task = l->task;
    const char *limit = register_name[l->limit], *length = NULL;
    for (unsigned i = 0; i < task->carrier_count; i++) {
        const struct task_carrier *c = &task->carriers[i];
        const char *carrier = register_name[l->carriers[i]];
        int64_t bias = 0;
        unsigned reg =
            c->carry == CARRY_RANGE ? task_range_register(&task->ranges[c->number], &bias) : c->number;
        if (c->carry == CARRY_LENGTH)
            length = carrier;
        else if (reg >= 32 && reg < REGISTERS)
            (void)fprintf(out, "\tfmv.d.x\tf%u,%s\n", reg - 32, carrier);
        else if (reg < 32 && bias == 0)
            (void)fprintf(out, "\tmv\tx%u,%s\n", reg, carrier);
        else if (reg < 32)
            (void)fprintf(out, "\tli\t%s,%" PRId64 "\n\tsub\tx%u,%s,%s\n", limit, bias, reg, carrier, limit);
    }
    unsigned counter = task->up ? task->trip.subtrahend : task->trip.minuend;
    (void)fprintf(out, "\t%s\t%s,x%u,%s\n", task->up ? "add" : "sub", limit, counter, length);
}

static void write_range(FILE *out, const struct rewriter *r, const struct task_range *range)
{
    char name[ASSEMBLY_OPERAND];
    bool object = range->from.kind == FORM_OBJECT;
    int64_t values[2 + 2 * CROFT_LOOP_TERMS] = {(range->read ? CROFT_LOOP_READ : 0) |
                                                    (range->written ? CROFT_LOOP_WRITTEN : 0),
                                                object ? 0 : range->from.terms};
    for (unsigned i = 0; i < range->from.terms && !object; i++) {
        values[2 + i] = range->from.regs[i];
        values[2 + CROFT_LOOP_TERMS + i] = range->from.factors[i];
    }
    launch_words(out, sizeof values / sizeof *values, values);
    if (object)
        (void)fprintf(out, "\t.8byte\t%s\n", rewriter_object_name(r, range->from.object, name));
    else
        launch_words(out, 1, &range->from.low);
    launch_words(out, 2, (int64_t[]){range->size, range->stride});
}

void single_write_table(FILE *out, const struct rewriter *r, const struct launch *l)
{
    const struct loop_task *task = l->task;
    const struct trip *trip = &task->trip;
    enum insn_id branch = (enum insn_id)r->cfg->insns[task->branch].step.insn.id;
    (void)fprintf(out, "\t.section\t.rodata.croft_loops,\"a\"\n\t.align\t3\n.Lcroft.loop.%u:\n", l->number);
    launch_words(
        out, 13,
        (int64_t[]){task->insns, r->options->tasks, r->options->least, trip->minuend < 32 ? trip->minuend : 0,
                    trip->subtrahend < 32 ? trip->subtrahend : 0, (int64_t)trip->step, trip->first, task->up,
                    branch == INSN_bne || branch == INSN_beq, branch == INSN_bltu || branch == INSN_bgeu,
                    task->range_count, task->counter_count, task->carrier_count});
    for (unsigned i = 0; i < CROFT_LOOP_RANGES; i++)
        if (i < task->range_count)
            write_range(out, r, &task->ranges[i]);
        else
            (void)fprintf(out, "\t.zero\t%zu\n", sizeof(struct croft_loop_range));
    for (unsigned i = 0; i < CROFT_LOOP_COUNTERS; i++) {
        const struct task_counter *c = &task->counters[i];
        launch_words(out, 3,
                     i < task->counter_count ? (int64_t[]){c->reg, c->step, c->word} : (int64_t[3]){0});
    }
    for (unsigned i = 0; i < task->carrier_count; i++) {
        const struct task_carrier *c = &task->carriers[i];
        bool real = c->carry == CARRY_REGISTER && c->number >= 32;
        int64_t carry = c->carry == CARRY_RANGE    ? CROFT_LOOP_RANGE
                        : c->carry == CARRY_LENGTH ? CROFT_LOOP_LENGTH
                        : real                     ? CROFT_LOOP_FLOAT
                                                   : CROFT_LOOP_REGISTER;
        launch_words(
            out, 5,
            (int64_t[]){carry, real ? c->number - 32 : c->number, c->input, c->output, l->carriers[i]});
    }
}
