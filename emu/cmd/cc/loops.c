#include "emu/cmd/cc/loops.h"

#include "isa/include/croft/loops.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/analysis/loop_tasks.h"
#include "emu/cmd/code/numbered.h"
#include "emu/sim/alloc.h"
#include "isa/disasm.h"

enum { PATH = ASSEMBLY_OPERAND, LINE = 64 /* bytes of a cache line */ };

/* A loop that becomes tasks. */
struct launch {
    const struct loop_task *task;
    unsigned number;                   /* in the file */
    size_t label, first, last;         /* lines: the header's label, first and last instruction */
    char header[PATH], function[PATH]; /* label, and name of the function */
    size_t end;                        /* line of the function's .size directive */
    uint8_t carriers[TASK_CARRIERS],
        increments[TASK_CARRIERS];                /* registers; 0: the carrier does not change */
    unsigned carrier_count, inputs, outputs;      /* the last two of a nest */
    uint8_t pair, xn, count, batch, limit, spare; /* limit: in the task; spare: dead where the loop begins */
    uint8_t ahead[NEST_FARS], address;            /* of a nest's task, for prefetches; 0: there is none */
    uint32_t launching;                           /* all registers of the launch */
    char suffix[24];
};

struct rewriter {
    const struct assembly *assembly;
    struct program *program;
    const struct cc_loops_options *options;
    const struct cfg *cfg;
    struct numbered numbered;
    struct launch *launches;
    size_t count;
    size_t line; /* that is written */
    FILE *out;
};

static int64_t size_of(int64_t value)
{
    return value < 0 ? -value : value;
}

/* Answers to the analysis's questions (struct task_names). */

static size_t line_of(const struct rewriter *r, int insn)
{
    const struct numbered_place *place = numbered_place(&r->numbered, r->cfg->insns[insn].step.pc);
    return place ? place->line : 0;
}

struct wanted {
    const char *name;
    struct task_object *object;
    bool found;
};

static void match(struct program *p, const char *name, const GElf_Sym *symbol, void *context)
{
    struct wanted *wanted = context;
    (void)p;
    if (GELF_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_size == 0 ||
        strcmp(name, wanted->name) != 0)
        return;
    wanted->object->address = symbol->st_value;
    wanted->object->size = symbol->st_size;
    wanted->found = true;
}

/* Stores the name of the object in an instruction's line: lla a5,name+8 or fld fa5,name,a4. */
static const char *object_name(const struct rewriter *r, int insn, char name[ASSEMBLY_OPERAND])
{
    assembly_operand(r->assembly->lines[line_of(r, insn)].text, 1, name);
    name[strcspn(name, "+-")] = '\0';
    return name;
}

static bool find_object(void *context, int insn, struct task_object *object)
{
    const struct rewriter *r = context;
    char name[ASSEMBLY_OPERAND];
    const struct cfg_insn *at = &r->cfg->insns[insn], *next = at + 1;
    struct wanted wanted = {object_name(r, insn, name), object, false};
    program_each_symbol(r->program, match, &wanted);
    uint64_t address = wanted.found ? object->address
                                    : at->step.pc + (uint64_t)(int64_t)at->step.insn.imm +
                                          (uint64_t)(int64_t)next->step.insn.imm;
    object->constant = program_is_constant(r->program, address);
    return wanted.found || object->constant;
}

static const char *obstacle(void *context, int insn)
{
    const struct rewriter *r = context;
    const struct assembly_line *line = &r->assembly->lines[line_of(r, insn)];
    return line->kind == ASSEMBLY_FOREIGN ? "it has an assembler statement"
           : line->is_volatile            ? "it accesses a volatile object"
                                          : NULL;
}

/* Prepare a loop: find its place in the text, and registers for its launch. Return NULL, or what prevents the launch. */

static const char *find_lines(const struct rewriter *r, struct launch *l)
{
    const struct assembly *a = r->assembly;
    char text[ASSEMBLY_OPERAND];
    static const char hinders[] = "its assembler is not as expected";
    l->first = line_of(r, l->task->begin);
    l->last = line_of(r, l->task->last);
    if (l->first > l->last || strlen(assembly_last_operand(a->lines[l->last].text, text)) >= PATH)
        return hinders;
    (void)snprintf(l->header, PATH, "%s", text);
    for (l->label = l->first; !assembly_is_label(&a->lines[l->label], l->header); l->label--)
        if (l->label == 0 || (l->label < l->first && a->lines[l->label].kind == ASSEMBLY_INSN))
            return hinders;
    for (size_t i = l->first; i <= l->last; i++) {
        const char *word = a->lines[i].text + strspn(a->lines[i].text, " \t");
        if (a->lines[i].kind == ASSEMBLY_FOREIGN || strncmp(word, ".section", 8) == 0 ||
            strncmp(word, ".text", 5) == 0)
            return hinders;
    }
    for (l->end = l->last; l->end < a->count; l->end++)
        if (strncmp(a->lines[l->end].text, "\t.size\t", 7) == 0)
            break;
    if (l->end == a->count || strlen(assembly_operand(a->lines[l->end].text, 0, text)) >= PATH)
        return hinders;
    (void)snprintf(l->function, PATH, "%s", text);
    size_t length = strlen(text);
    if (length > 7 && strcmp(text + length - 7, "_region") == 0)
        return "it is in a region (CROFT_REGION) already";
    return NULL;
}

/* Removes the highest register from the set and returns it; 0: the set is empty. */
static uint8_t take(uint32_t *set)
{
    if (!*set)
        return 0;
    unsigned reg = 31 - (unsigned)__builtin_clz(*set);
    *set &= ~(UINT32_C(1) << reg);
    return (uint8_t)reg;
}

/* Takes a register that the loop does not name (`free`); if there is none, one that it names (`others`). */
static uint8_t take_any(uint32_t *free, uint32_t *others)
{
    uint8_t reg = take(free);
    return reg ? reg : take(others);
}

static bool varies(const struct loop_task *task, const struct task_carrier *carrier)
{
    if (carrier->carry == CARRY_RANGE)
        return task->ranges[carrier->number].stride != 0;
    for (unsigned i = 0; i < task->counter_count && carrier->carry == CARRY_REGISTER; i++)
        if (task->counters[i].reg == carrier->number)
            return true;
    return false;
}

static bool is_carried(const struct launch *l, unsigned number)
{
    return l->task->nested || varies(l->task, &l->task->carriers[number]);
}

/* Finds the registers of a nest's launch. Its tasks load what they need, so they may be any, but for the limit's. */
static bool find_nest_registers(struct launch *l, uint32_t *free, uint32_t *others)
{
    const struct task_nest *nest = &l->task->nest;
    unsigned written = 0;
    bool done = true;
    for (unsigned i = 0; i < nest->range_count; i++)
        written += nest->ranges[i].written;
    l->outputs = written < CROFT_NEST_OUTPUTS ? written : CROFT_NEST_OUTPUTS;
    l->inputs = nest->range_count - written;
    l->inputs = l->inputs < CROFT_NEST_INPUTS ? l->inputs : CROFT_NEST_INPUTS;
    l->carrier_count = 1 + l->inputs + l->outputs;
    l->limit = nest->limit_alone && nest->limit < 32 ? nest->limit : take(free);
    done = l->limit != 0;
    for (unsigned pair = 30; pair >= 6 && !l->pair; pair -= 2)
        l->pair = (uint8_t)(((*free | *others) >> pair & 3) == 3 ? pair : 0);
    *free &= ~(UINT32_C(3) << l->pair);
    *others &= ~(UINT32_C(3) << l->pair);
    for (unsigned i = 0; i < l->carrier_count; i++)
        done = (l->carriers[i] = take_any(free, others)) && done;
    return done;
}

/* Finds the registers of a loop's launch. Its operands stay where they are when the task begins. */
static bool find_loop_registers(struct launch *l, uint32_t *free, uint32_t *others)
{
    bool done = true;
    l->carrier_count = l->task->carrier_count;
    l->limit = take(free);
    done = l->limit != 0;
    for (unsigned pair = 30; pair >= 6 && !l->pair; pair -= 2)
        if ((*free >> pair & 3) == 3 && __builtin_popcount(*free) >= (int)l->carrier_count + 2)
            l->pair = (uint8_t)pair;
    for (unsigned pair = 30; pair >= 6 && !l->pair; pair -= 2)
        if ((*others >> pair & 3) == 3)
            l->pair = (uint8_t)pair;
    *free &= ~(UINT32_C(3) << l->pair);
    *others &= ~(UINT32_C(3) << l->pair);
    for (unsigned i = 0; i < l->carrier_count; i++)
        done = (l->carriers[i] = take(free)) && done;
    return done;
}

/* Finds registers that a nest's task may use besides those of its loop: for each far load one that holds what is added to its base. */
static void find_prefetch_registers(struct launch *l, uint32_t unnamed)
{
    const struct task_nest *nest = &l->task->nest;
    unnamed &= ~(UINT32_C(1) << l->limit);
    l->address = take(&unnamed);
    for (unsigned i = 0; i < nest->far_count; i++)
        l->ahead[i] = take(&unnamed);
}

static const char *find_registers(struct launch *l)
{
    static const char hinders[] = "there are not enough registers for its launch";
    const uint32_t pool = ~UINT32_C(0x1f); /* not zero, ra, sp, gp, tp */
    const struct loop_task *task = l->task;
    uint32_t free = pool & ~(uint32_t)task->named, others = pool & (uint32_t)task->named,
             dead = pool & ~(uint32_t)task->live;
    l->spare = take(&dead);
    bool done =
        l->task->nested ? find_nest_registers(l, &free, &others) : find_loop_registers(l, &free, &others);
    done = done && l->spare;
    done = (l->xn = take_any(&free, &others)) && done;
    done = (l->count = take_any(&free, &others)) && done;
    if (l->task->nested) {
        done = (l->batch = take_any(&free, &others)) && done;
        find_prefetch_registers(l, pool & ~(uint32_t)task->named);
    }
    for (unsigned i = 0; i < l->carrier_count; i++)
        if (is_carried(l, i))
            done = (l->increments[i] = take_any(&free, &others)) && done;
    l->launching = pool & ~(free | others) & ~(UINT32_C(1) << l->limit);
    return done && l->pair ? NULL : hinders;
}

/* Writing the rewritten text. */

static const char *no_suffix(void *context, const char *name)
{
    (void)context, (void)name;
    return "";
}

static bool is_inside(const struct launch *l, size_t line)
{
    return line >= l->label && line <= l->last;
}

/* Returns ".entry" for the header of a loop: jumps from outside the loop go to the check before it. */
static const char *entry_suffix(void *context, const char *name)
{
    const struct rewriter *r = context;
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->launches[i].header, name) == 0 && !is_inside(&r->launches[i], r->line))
            return ".entry";
    return "";
}

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

static uint32_t floats_to_keep(const struct launch *l)
{
    return (uint32_t)((l->task->live & CALLER_SAVED_FLOAT) >> 32);
}

static uint32_t integers_to_keep(const struct launch *l)
{
    return (uint32_t)l->task->live & ~UINT32_C(0x1d);
}

static void each_place(FILE *out, const char *op, uint32_t set, size_t offset, bool floats)
{
    for (unsigned reg = 1 - floats; reg < 32; reg++)
        if (set >> reg & 1)
            (void)fprintf(out, floats ? "\t%s\tf%u,%zu(sp)\n" : "\t%s\tx%u,%zu(sp)\n", op, reg,
                          offset + 8 * reg);
}

_Static_assert(offsetof(struct croft_nest_frame, contexts) < 2048, "it is in reach of sp");
_Static_assert((int)CROFT_NEST_REGISTERS == (int)NEST_REGISTERS, "slots have the same numbers");

enum {
    FRAME = (sizeof(struct croft_loop_frame) + 15) / 16 * 16,
};

#define PLACE(member) offsetof(struct croft_loop_frame, member)

static void load_carriers(FILE *out, const struct launch *l, size_t offset)
{
    for (unsigned i = 0; i < l->carrier_count; i++)
        (void)fprintf(out, "\tld\t%s,%zu(sp)\n", register_name[l->carriers[i]], offset + (size_t)8 * i);
}

static void write_mark(FILE *out, const struct launch *l, size_t offset)
{
    (void)fprintf(out, "\tld\t%s,%zu(sp)\n\t.insn r 0x33, 2, 0, x0, %s, x0\n", register_name[l->count],
                  offset, register_name[l->count]);
}

/* Writes the check before the loop: jumps to the launch if minuend - subtrahend is at least 1 << shift. */
static void write_check(FILE *out, const struct launch *l, const struct cc_loops_options *options)
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

/* Writes loads of the members of a batch but the number of tasks, relative to a register. */
static void load_batch(FILE *out, const struct launch *l, const char *base, size_t place)
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

/* Writes a nucd, its region, and the step to the next one. */
static void write_nucd(FILE *out, const struct launch *l, unsigned batch)
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

/* Writes the launches of a batch. The second batch may have none. */
static void write_batch(FILE *out, const struct launch *l, unsigned batch)
{
    const size_t place = PLACE(batches) + batch * sizeof(struct croft_loop_batch);
    const char *count = register_name[l->count];
    (void)fprintf(out, "\tld\t%s,%zu(sp)\n", count, place + offsetof(struct croft_loop_batch, tasks));
    if (batch > 0)
        (void)fprintf(out, "\tbeq\t%s,zero,.Lcroft.end.%u\n", count, l->number);
    load_batch(out, l, "sp", place);
    write_nucd(out, l, batch);
    (void)fprintf(out, "\taddi\t%s,%s,-1\n\tbne\t%s,zero,.Lcroft.task.%u.%u\n", count, count, count,
                  l->number, batch);
}

/* Writes a loop over the batches of a nest. From task to task there are few instructions, so that the reorder buffer holds many tasks. */
static void write_batches(FILE *out, const struct launch *l)
{
    const char *batch = register_name[l->batch], *end = register_name[l->count],
               *rounds = register_name[l->xn];
    const size_t place = offsetof(struct croft_nest_frame, batches), size = sizeof(struct croft_nest_batch);
    (void)fprintf(out, "\taddi\t%s,sp,%zu\n.Lcroft.batch.%u:\n\tld\t%s,%zu(%s)\n", batch, place, l->number,
                  end, offsetof(struct croft_loop_batch, tasks), batch);
    (void)fprintf(out, "\tbeq\t%s,zero,.Lcroft.end.%u\n", end, l->number);
    load_batch(out, l, batch, 0);
    write_nucd(out, l, 0);
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

/* Stores what a nest's context holds: registers, CROFT_NEST_LIMIT, slots, and CROFT_NEST_APART if stores are sunk. Returns the number. */
static unsigned values_of_nest(const struct launch *l, int64_t values[CROFT_NEST_VALUES])
{
    unsigned count = 0;
    for (unsigned reg = 1; reg < REGISTERS; reg++)
        if (l->task->nest.needed >> reg & 1)
            values[count++] = reg;
    values[count++] = CROFT_NEST_LIMIT;
    for (unsigned i = 0; i < NEST_SLOTS; i++)
        if (l->task->nest.needed_slots >> i & 1)
            values[count++] = CROFT_NEST_LIMIT + 1 + i;
    if (l->task->nest.sink_count)
        values[count++] = CROFT_NEST_APART;
    return count;
}

/* Returns the bytes of a task's context. */
static size_t context_size(const struct launch *l)
{
    int64_t values[CROFT_NEST_VALUES];
    return ((size_t)values_of_nest(l, values) * 8 + LINE - 1) / LINE * LINE;
}

/* Writes the launch of a nest, which follows the function's code. */
static void write_nest_launch(FILE *out, const struct launch *l)
{
    const char *spare = register_name[l->spare];
    uint32_t floats = floats_to_keep(l), carried = floats | (uint32_t)(l->task->nest.needed >> 32);
    size_t frame = (sizeof(struct croft_nest_frame) + CROFT_NEST_TASKS * context_size(l) + 64 + 15) / 16 * 16;
    (void)fprintf(out, ".Lcroft.launch.%u:\n\tlla\t%s,.Lcroft.loop.%u\n\tld\t%s,0(%s)\n\tbne\t%s,zero,%s\n",
                  l->number, spare, l->number, spare, spare, spare, l->header);
    (void)fprintf(out, "\tli\t%s,-%zu\n\tadd\tsp,sp,%s\n", spare, frame, spare);
    each_place(out, "sd", integers_to_keep(l), offsetof(struct croft_nest_frame, registers), false);
    each_place(out, "fsd", carried, offsetof(struct croft_nest_frame, floats), true);
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
    write_mark(out, l, offsetof(struct croft_nest_frame, begin));
    write_batches(out, l);
    write_mark(out, l, offsetof(struct croft_nest_frame, end));
    (void)fprintf(out, ".Lcroft.back.%u:\n", l->number);
    each_place(out, "ld", integers_to_keep(l), offsetof(struct croft_nest_frame, registers), false);
    each_place(out, "fld", floats, offsetof(struct croft_nest_frame, floats), true);
    (void)fprintf(out, "\tli\t%s,%zu\n\tadd\tsp,sp,%s\n\tj\t%s\n", spare, frame, spare, l->header);
}

/* Writes the launch, which follows the function's code. */
static void write_launch(FILE *out, const struct launch *l)
{
    const struct loop_task *task = l->task;
    const char *count = register_name[l->count];
    uint32_t floats = floats_to_keep(l), carried = floats;
    for (unsigned i = 0; i < task->carrier_count; i++)
        if (task->carriers[i].carry == CARRY_REGISTER && task->carriers[i].number >= 32)
            carried |= UINT32_C(1) << (task->carriers[i].number - 32);
    (void)fprintf(out, ".Lcroft.launch.%u:\n\taddi\tsp,sp,-%d\n", l->number, FRAME);
    each_place(out, "sd", integers_to_keep(l), PLACE(registers), false);
    each_place(out, "fsd", carried, PLACE(floats), true);
    (void)fprintf(
        out,
        "\tlla\ta0,.Lcroft.loop.%u\n\tmv\ta1,sp\n\tcall\tcroft_loop_plan\n\tbeq\ta0,zero,.Lcroft.back.%u\n",
        l->number, l->number);
    (void)fprintf(out, "\tld\t%s,%zu(sp)\n\tbeq\t%s,zero,.Lcroft.tasks.%u\n", count, PLACE(head), count,
                  l->number);
    load_carriers(out, l, PLACE(heads));
    (void)fprintf(out, "\tcall\t%s.loop.%u\n.Lcroft.tasks.%u:\n", l->function, l->number, l->number);
    write_mark(out, l, PLACE(begin));
    for (unsigned batch = 0; batch < CROFT_LOOP_BATCHES; batch++)
        write_batch(out, l, batch);
    (void)fprintf(out, ".Lcroft.end.%u:\n", l->number);
    write_mark(out, l, PLACE(end));
    (void)fprintf(out, ".Lcroft.back.%u:\n", l->number);
    each_place(out, "ld", integers_to_keep(l), PLACE(registers), false);
    each_place(out, "fld", floats, PLACE(floats), true);
    (void)fprintf(out, "\taddi\tsp,sp,%d\n\tj\t%s\n", FRAME, l->header);
}

/* Writes the code that loads a nest's slots of the stack frame, from `slots` on, and its registers from the context, that of the context
 * last. */
static void write_nest_setup(FILE *out, const struct launch *l, size_t slots)
{
    int64_t values[CROFT_NEST_VALUES];
    unsigned count = values_of_nest(l, values), base = l->carriers[0], last;
    const char *limit = register_name[l->limit];
    count -= l->task->nest.sink_count > 0;
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

/* Writes the code that sets the loop's registers from the carriers, the limit last. */
static void write_setup(FILE *out, const struct launch *l)
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

/* Returns what is added to the base of far load i: the address so many rounds ahead. */
static int64_t distance_of(const struct rewriter *r, const struct launch *l, unsigned i)
{
    const struct nest_far *far = &l->task->nest.fars[i];
    return r->cfg->insns[far->at].step.insn.imm + far->stride * r->options->ahead;
}

static bool is_prefetched(const struct rewriter *r, const struct launch *l, unsigned i)
{
    return l->address && l->ahead[i] && r->options->ahead && size_of(distance_of(r, l, i)) < INT32_MAX;
}

static bool all_prefetched(const struct rewriter *r, const struct launch *l)
{
    const struct task_nest *nest = &l->task->nest;
    bool all = nest->far_count < NEST_FARS;
    for (unsigned i = 0; i < nest->far_count; i++)
        all = all && is_prefetched(r, l, i);
    return all;
}

/* Writes what a task's prefetches need. */
static void write_distances(FILE *out, const struct rewriter *r, const struct launch *l)
{
    for (unsigned i = 0; i < l->task->nest.far_count; i++)
        if (is_prefetched(r, l, i))
            (void)fprintf(out, "\tli\t%s,%" PRId64 "\n", register_name[l->ahead[i]], distance_of(r, l, i));
}

/* Writes a prefetch before the line, if that is a far load: prefetch.r (Zicbop), which assemblers and processors without that extension
 * take for a HINT. */
static void write_prefetch(FILE *out, const struct rewriter *r, const struct launch *l, size_t line)
{
    for (unsigned i = 0; i < l->task->nest.far_count; i++) {
        int at = l->task->nest.fars[i].at;
        if (line_of(r, at) == line && is_prefetched(r, l, i))
            (void)fprintf(out, "\tadd\t%s,x%u,%s\n\tori\tx0,%s,1\n", register_name[l->address],
                          r->cfg->insns[at].regs.rs1, register_name[l->ahead[i]], register_name[l->address]);
    }
}

/* Writes the line if it accesses a slot of the stack frame: a task has those in its own frame, from `base` on. Returns whether it does. */
static bool write_slot(FILE *out, const struct rewriter *r, const struct launch *l, size_t line, size_t base)
{
    for (int at = l->task->begin; at <= l->task->last && l->task->nest.slot_count; at++) {
        const struct cfg_insn *insn = &r->cfg->insns[at];
        bool store = insn_table[insn->step.insn.id].access == ACCESS_STORE;
        if (line_of(r, at) != line || insn->regs.rs1 != SP)
            continue;
        for (unsigned i = 0; i < l->task->nest.slot_count; i++)
            if (l->task->nest.slots[i] == insn->step.insn.imm)
                (void)fprintf(out, "\t%s\tx%u,%zu(sp)\n", insn_table[insn->step.insn.id].name,
                              store ? insn->regs.rs2 : insn->regs.rd, base + (size_t)8 * i);
        return true;
    }
    return false;
}

/* Returns whether the directive is .loc; .local is not. */
static bool is_loc(const char *word)
{
    return strncmp(word, ".loc", 4) == 0 && (word[4] == ' ' || word[4] == '\t');
}

/* One of the two bodies of a task. */
struct body {
    uint32_t kept;       /* registers to load at its end */
    size_t frame, slots; /* bytes; where slots are */
    bool sunk;           /* stores to one place are done once */
};

/* Writes the branch to the body whose stores to one place are done once, for rounds whose accesses are apart. */
static void write_choice(FILE *out, const struct launch *l)
{
    int64_t values[CROFT_NEST_VALUES];
    if (l->task->nest.sink_count)
        (void)fprintf(out, "\tld\t%s,%u(%s)\n\tbne\t%s,zero,.Lcroft.sunk.%u\n", register_name[l->limit],
                      8 * (values_of_nest(l, values) - 1), register_name[l->carriers[0]],
                      register_name[l->limit], l->number);
}

/* Returns whether a line is a store that is done behind its loop. */
static bool is_sunk(const struct rewriter *r, const struct launch *l, size_t line)
{
    bool found = false;
    for (unsigned i = 0; i < l->task->nest.sink_count; i++)
        found |= line_of(r, l->task->nest.sinks[i].store) == line;
    return found;
}

/* Writes the stores that are done behind the loop which ends at the line. */
static void write_sunk(FILE *out, const struct rewriter *r, const struct launch *l, size_t line)
{
    for (unsigned i = 0; i < l->task->nest.sink_count; i++)
        if (line_of(r, l->task->nest.sinks[i].branch) == line)
            assembly_write(r->assembly->lines[line_of(r, l->task->nest.sinks[i].store)].text, no_suffix, NULL,
                           out);
}

static void write_body(FILE *out, const struct rewriter *r, const struct launch *l, const struct body *body)
{
    const size_t branch = line_of(r, l->task->branch);
    struct copy copy = {r->assembly, l};
    size_t at = 0;
    if (l->task->nested)
        write_nest_setup(out, l, body->slots);
    else
        write_setup(out, l);
    write_distances(out, r, l);
    for (size_t i = l->label; i <= l->last; i++) {
        const char *word = r->assembly->lines[i].text + strspn(r->assembly->lines[i].text, " \t");
        bool location = is_loc(word) && r->options->debug;
        if (body->sunk && is_sunk(r, l, i))
            continue;
        write_prefetch(out, r, l, i);
        if (i == branch)
            write_branch(out, r, l);
        else if (write_slot(out, r, l, i, body->slots))
            continue;
        else if (r->assembly->lines[i].kind != ASSEMBLY_OTHER || location)
            assembly_write(r->assembly->lines[i].text, location ? no_suffix : copy_suffix, &copy, out);
        if (body->sunk)
            write_sunk(out, r, l, i);
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

/* Writes the task: a function that finds its operands in the launch's registers, and preserves these. */
static void write_task(FILE *out, const struct rewriter *r, const struct launch *l)
{
    uint32_t used = (uint32_t)l->task->named | UINT32_C(1) << l->limit | UINT32_C(1) << l->address;
    for (unsigned i = 0; i < NEST_FARS; i++)
        used |= UINT32_C(1) << l->ahead[i];
    uint32_t kept = (l->launching | UINT32_C(1) << RA) & used;
    size_t slots = (size_t)__builtin_popcount(kept) * 8, at = 0,
           frame = (slots + (size_t)l->task->nest.slot_count * 8 + 15) / 16 * 16;
    (void)fprintf(out, "\t.align\t1\n\t.type\t%s.loop.%u, @function\n%s.loop.%u:\n", l->function, l->number,
                  l->function, l->number);
    if (frame)
        (void)fprintf(out, "\taddi\tsp,sp,-%zu\n", frame);
    for (unsigned reg = 1; reg < 32; reg++)
        if (kept >> reg & 1)
            (void)fprintf(out, "\tsd\tx%u,%zu(sp)\n", reg, 8 * at++);
    const struct body body = {kept, frame, slots, false}, sunk = {kept, frame, slots, true};
    write_choice(out, l);
    write_body(out, r, l, &body);
    if (l->task->nest.sink_count) {
        struct launch other = *l;
        (void)snprintf(other.suffix, sizeof other.suffix, ".sunk.%u", l->number);
        (void)fprintf(out, ".Lcroft.sunk.%u:\n", l->number);
        write_body(out, r, &other, &sunk);
    }
    (void)fprintf(out, "\t.size\t%s.loop.%u, .-%s.loop.%u\n", l->function, l->number, l->function, l->number);
}

static void words(FILE *out, size_t count, const int64_t *values)
{
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out, "\t.8byte\t%" PRId64 "\n", values[i]);
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
    words(out, sizeof values / sizeof *values, values);
    if (object)
        (void)fprintf(out, "\t.8byte\t%s\n", object_name(r, range->from.object, name));
    else
        words(out, 1, &range->from.low);
    words(out, 2, (int64_t[]){range->size, range->stride});
}

static void write_table(FILE *out, const struct rewriter *r, const struct launch *l)
{
    const struct loop_task *task = l->task;
    const struct trip *trip = &task->trip;
    enum insn_id branch = (enum insn_id)r->cfg->insns[task->branch].step.insn.id;
    (void)fprintf(out, "\t.section\t.rodata.croft_loops,\"a\"\n\t.align\t3\n.Lcroft.loop.%u:\n", l->number);
    words(out, 13,
          (int64_t[]){task->insns, r->options->tasks, r->options->least,
                      trip->minuend < 32 ? trip->minuend : 0, trip->subtrahend < 32 ? trip->subtrahend : 0,
                      (int64_t)trip->step, trip->first, task->up, branch == INSN_bne || branch == INSN_beq,
                      branch == INSN_bltu || branch == INSN_bgeu, task->range_count, task->counter_count,
                      task->carrier_count});
    for (unsigned i = 0; i < CROFT_LOOP_RANGES; i++)
        if (i < task->range_count)
            write_range(out, r, &task->ranges[i]);
        else
            (void)fprintf(out, "\t.zero\t%zu\n", sizeof(struct croft_loop_range));
    for (unsigned i = 0; i < CROFT_LOOP_COUNTERS; i++) {
        const struct task_counter *c = &task->counters[i];
        words(out, 3, i < task->counter_count ? (int64_t[]){c->reg, c->step, c->word} : (int64_t[3]){0});
    }
    for (unsigned i = 0; i < task->carrier_count; i++) {
        const struct task_carrier *c = &task->carriers[i];
        bool real = c->carry == CARRY_REGISTER && c->number >= 32;
        int64_t carry = c->carry == CARRY_RANGE    ? CROFT_LOOP_RANGE
                        : c->carry == CARRY_LENGTH ? CROFT_LOOP_LENGTH
                        : real                     ? CROFT_LOOP_FLOAT
                                                   : CROFT_LOOP_REGISTER;
        words(out, 5,
              (int64_t[]){carry, real ? c->number - 32 : c->number, c->input, c->output, l->carriers[i]});
    }
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
    words(out, sizeof values / sizeof *values, values);
}

static void zeros(FILE *out, size_t count, size_t size)
{
    if (count)
        (void)fprintf(out, "\t.zero\t%zu\n", count * size);
}

static void write_nest_table(FILE *out, const struct rewriter *r, const struct launch *l)
{
    const struct task_nest *nest = &l->task->nest;
    const struct trip *trip = &l->task->trip;
    int64_t values[CROFT_NEST_VALUES] = {0}, counters[CROFT_NEST_COUNTERS] = {0},
            steps[CROFT_NEST_COUNTERS] = {0}, places[CROFT_NEST_CARRIERS] = {0};
    enum insn_id branch = (enum insn_id)r->cfg->insns[l->task->branch].step.insn.id;
    int64_t lines = all_prefetched(r, l) ? INT32_MAX : r->options->cache / LINE;
    unsigned count = values_of_nest(l, values);
    for (unsigned i = 0; i < nest->counter_count; i++) {
        counters[i] = nest->counters[i].reg;
        steps[i] = nest->counters[i].step;
    }
    for (unsigned i = 0; i < l->carrier_count; i++)
        places[i] = l->carriers[i];
    (void)fprintf(out, "\t.section\t.data.croft_nests,\"aw\"\n\t.align\t3\n.Lcroft.loop.%u:\n", l->number);
    words(out, 20,
          (int64_t[]){0,
                      0,
                      nest->insns,
                      nest->far,
                      r->options->tasks,
                      r->options->least,
                      lines,
                      trip->minuend < 32 ? trip->minuend : 0,
                      trip->subtrahend < 32 ? trip->subtrahend : 0,
                      (int64_t)trip->step,
                      trip->first,
                      l->task->up,
                      branch == INSN_bne || branch == INSN_beq,
                      nest->counter_count,
                      nest->range_count,
                      nest->word_count,
                      nest->inner_count,
                      count,
                      l->inputs,
                      l->outputs});
    words(out, CROFT_NEST_COUNTERS, counters);
    words(out, CROFT_NEST_COUNTERS, steps);
    words(out, CROFT_NEST_VALUES, values);
    words(out, CROFT_NEST_CARRIERS, places);
    for (unsigned i = 0; i < nest->inner_count; i++) {
        const struct nest_extra *inner = &nest->inners[i];
        words(
            out, 6,
            (int64_t[]){inner->insns, inner->times, inner->around, inner->far, inner->each, inner->differs});
        write_form(out, &inner->extra);
    }
    zeros(out, CROFT_NEST_INNERS - nest->inner_count, sizeof(struct croft_nest_inner));
    for (unsigned i = 0; i < nest->word_count; i++)
        write_form(out, &nest->words[i]);
    zeros(out, CROFT_NEST_WORDS - nest->word_count, sizeof(struct croft_nest_form));
    for (unsigned i = 0; i < nest->range_count; i++) {
        const struct nest_range *range = &nest->ranges[i];
        words(out, 2,
              (int64_t[]){(range->read ? CROFT_LOOP_READ : 0) | (range->written ? CROFT_LOOP_WRITTEN : 0),
                          range->size});
        write_form(out, &range->from);
    }
    zeros(out, CROFT_NEST_RANGES - nest->range_count, sizeof(struct croft_nest_range));
}

/* Returns whether the line is in a section of debug information. skipped: the line before it was. */
static bool is_debug(const char *text, bool skipped)
{
    const char *word = text + strspn(text, " \t");
    bool section = strncmp(word, ".section", 8) == 0;
    if (section)
        return strstr(word, ".debug_") != NULL;
    if (strncmp(word, ".text", 5) == 0 || strncmp(word, ".data", 5) == 0 || strncmp(word, ".bss", 4) == 0 ||
        strncmp(word, ".ident", 6) == 0)
        return false;
    return skipped;
}

static bool is_location(const char *text)
{
    const char *word = text + strspn(text, " \t");
    bool file = strncmp(word, ".file", 5) == 0 && word[5 + strspn(word + 5, " \t")] != '"';
    return file || is_loc(word) || strncmp(word, ".cfi_", 5) == 0;
}

static void write_all(struct rewriter *r)
{
    const struct assembly *a = r->assembly;
    bool skipped = false;
    for (size_t i = 0; i < a->count; i++) {
        r->line = i;
        skipped = is_debug(a->lines[i].text, skipped);
        for (size_t j = 0; j < r->count; j++) {
            const struct launch *l = &r->launches[j];
            if (i == l->label)
                write_check(r->out, l, r->options);
            if (i == l->end && l->task->nested)
                write_nest_launch(r->out, l);
            else if (i == l->end)
                write_launch(r->out, l);
        }
        if (a->lines[i].text[0] == '#' && (a->lines[i].text[1] == '(' || a->lines[i].text[1] == ' '))
            continue; /* RTL */
        if (r->options->debug || (!skipped && !is_location(a->lines[i].text)))
            assembly_write(a->lines[i].text, a->lines[i].kind != ASSEMBLY_INSN ? no_suffix : entry_suffix, r,
                           r->out);
        for (size_t j = 0; j < r->count; j++)
            if (i == r->launches[j].end)
                write_task(r->out, r, &r->launches[j]);
    }
    for (size_t j = 0; j < r->count; j++)
        if (r->launches[j].task->nested)
            write_nest_table(r->out, r, &r->launches[j]);
        else
            write_table(r->out, r, &r->launches[j]);
}

/* Reports whether a loop becomes tasks. hinders: why it does not; NULL: it does. */
static void report(const struct rewriter *r, const struct launch *l, const char *hinders)
{
    const struct loop_task *task = l->task;
    char place[512], where[512];
    if (!r->options->report)
        return;
    assembly_place(r->assembly, line_of(r, task->branch == CFG_NONE ? task->begin : task->branch), place,
                   sizeof place);
    assembly_place(r->assembly, line_of(r, task->where), where, sizeof where);
    if (!hinders)
        (void)fprintf(r->options->report, "%s: loop becomes tasks: %u instructions, %u arrays, %u operands\n",
                      place, task->insns, task->nested ? task->nest.range_count : task->range_count,
                      l->carrier_count);
    else
        (void)fprintf(r->options->report, "%s: loop does not become tasks: %s (%s)\n", place, hinders, where);
}

static void choose(struct rewriter *r, const struct loop_tasks *tasks)
{
    r->launches = alloc(tasks->count + 1, sizeof *r->launches);
    for (size_t i = 0; i < tasks->count; i++) {
        const struct loop_task *task = &tasks->list[i];
        struct launch *l = &r->launches[r->count];
        const char *hinders = task->possible ? NULL : task->reason;
        *l = (struct launch){.task = task, .number = (unsigned)r->count};
        (void)snprintf(l->suffix, sizeof l->suffix, ".task.%u", l->number);
        for (size_t j = 0; j < r->count; j++)
            if (task->begin > r->launches[j].task->begin && task->begin <= r->launches[j].task->branch &&
                !r->launches[j].task->nested)
                hinders = "a loop around it becomes tasks";
        hinders = hinders ? hinders : find_lines(r, l);
        hinders = hinders ? hinders : find_registers(l);
        r->count += !hinders;
        report(r, l, hinders);
    }
}

bool cc_loops_rewrite(const struct assembly *assembly, struct program *program,
                      const struct cc_loops_options *options, FILE *out, struct error *err)
{
    struct rewriter r = {.assembly = assembly, .program = program, .options = options, .out = out};
    struct decoder *decoder = decoder_new();
    const struct task_names task_names = {find_object, obstacle, &r};
    bool done = program_find_entries(program, NULL, true, decoder, err);
    struct cfg cfg = cfg_build(decoder, &(struct reach_code){program_fetch, program}, program->entries,
                               program->count, NULL);
    r.cfg = &cfg;
    r.numbered = numbered_of(program);
    for (int i = 0; i < cfg.count; i++)
        cfg.insns[i].arguments = assembly->lines[line_of(&r, i)].arguments;
    struct loop_tasks tasks = loop_tasks_of(&cfg, &task_names);
    choose(&r, &tasks);
    write_all(&r);
    loop_tasks_free(&tasks);
    numbered_free(&r.numbered);
    free(r.launches);
    cfg_free(&cfg);
    decoder_free(decoder);
    return done && (!ferror(out) || error_set(err, "the rewritten assembler cannot be written"));
}
