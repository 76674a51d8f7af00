#include "emu/cmd/candidates/nucd.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "emu/analysis/loop_tasks.h"
#include "emu/cmd/cc/loops.h"
#include "isa/include/croft/loops.h"

#define REGION "_region" /* ends the names of the functions that CROFT_REGION makes */

enum { LEAST = CC_LOOPS_LEAST };

/* The analysis of one program. */
struct looked {
    struct program *program;
    const struct cfg *cfg;
};

/* Answers to the analysis's questions. */

struct wanted {
    uint64_t address;
    struct task_object *object;
    bool found;
};

static void match(struct program *p, const char *name, const GElf_Sym *symbol, void *context)
{
    struct wanted *wanted = context;
    (void)p;
    (void)name;
    if (GELF_ST_TYPE(symbol->st_info) != STT_OBJECT || wanted->address < symbol->st_value ||
        wanted->address - symbol->st_value >= symbol->st_size)
        return;
    wanted->object->address = symbol->st_value;
    wanted->object->size = symbol->st_size;
    wanted->found = true;
}

/* The address is that of AUIPC and the instruction behind it, if that uses it: elsewhere it is not looked for. */
static bool find_object(void *context, int insn, struct task_object *object)
{
    const struct looked *looked = context;
    const struct cfg_insn *at = &looked->cfg->insns[insn], *next = at + 1;
    struct wanted wanted = {.object = object};
    if (at->next != insn + 1 || next->regs.rs1 != at->regs.rd)
        return false;
    wanted.address =
        at->step.pc + (uint64_t)(int64_t)at->step.insn.imm + (uint64_t)(int64_t)next->step.insn.imm;
    program_each_symbol(looked->program, match, &wanted);
    object->constant = program_is_constant(looked->program, wanted.address);
    return wanted.found || object->constant;
}

/* Volatile accesses and assembler statements look like others in linked code. */
static const char *no_obstacle(void *context, int insn, enum task_need *need)
{
    (void)context;
    (void)insn;
    (void)need;
    return NULL;
}

/* Returns why the loop is not offered, or NULL. */
static const char *hinders(const struct looked *looked, const struct loop_tasks *tasks, size_t number)
{
    const struct loop_task *task = &tasks->list[number];
    uint64_t offset;
    const char *function =
        symbols_name(looked->program->symbols, looked->cfg->insns[task->begin].step.pc, &offset);
    const size_t length = function ? strlen(function) : 0;
    if (!task->possible)
        return task->reason;
    if (length > strlen(REGION) && strcmp(function + length - strlen(REGION), REGION) == 0)
        return "it is in a region (CROFT_REGION) already";
    for (size_t i = 0; i < number; i++)
        if (tasks->list[i].possible && !tasks->list[i].nested && task->begin > tasks->list[i].begin &&
            task->begin <= tasks->list[i].branch)
            return "a loop around it can be divided";
    return NULL;
}

/* Returns what would have to be known of a loop that is not offered, or changed; NULL: nothing would help. */
static const char *needed(const struct loop_task *task)
{
    return task->possible ? NULL : task_need_text(task->need);
}

/* Returns the rounds from which the loop has LEAST instructions. */
static uint64_t least_rounds(const struct loop_task *task)
{
    return task->insns ? (LEAST + task->insns - 1) / task->insns : LEAST;
}

static unsigned count_ranges(const struct loop_task *task, bool written)
{
    unsigned count = 0;
    for (unsigned i = 0; i < task->range_count; i++)
        count += written ? task->ranges[i].written : task->ranges[i].read;
    for (unsigned i = 0; i < task->nest.range_count; i++)
        count += written ? task->nest.ranges[i].written : task->nest.ranges[i].read;
    return count;
}

/* Returns the operands of a task. That of a nest has one for what its registers hold, and at most three and four ranges. */
static unsigned count_operands(const struct loop_task *task)
{
    unsigned written = 0, read;
    if (!task->nested)
        return task->carrier_count;
    for (unsigned i = 0; i < task->nest.range_count; i++)
        written += task->nest.ranges[i].written;
    read = task->nest.range_count - written;
    return 1 + (read < CROFT_NEST_INPUTS ? read : CROFT_NEST_INPUTS) +
           (written < CROFT_NEST_OUTPUTS ? written : CROFT_NEST_OUTPUTS);
}

static void describe_rounds(const struct loop_task *task, char *text, size_t size)
{
    const struct trip *trip = &task->trip;
    const unsigned minuend = trip->minuend == REGISTER_NONE ? 0 : trip->minuend,
                   subtrahend = trip->subtrahend == REGISTER_NONE ? 0 : trip->subtrahend;
    if (trip->kind == TRIP_STATIC)
        (void)snprintf(text, size, "%" PRIu64, trip->count);
    else if (trip->kind == TRIP_KNOWN)
        (void)snprintf(text, size, "(x%u - x%u) / %" PRIu64, minuend, subtrahend, trip->step);
    else
        (void)snprintf(text, size, "unknown");
}

struct place {
    char line[SYMBOLS_TEXT], why[SYMBOLS_TEXT], range[40], rounds[48];
    const char *function;
};

static void place_of(const struct looked *looked, const struct loop_task *task, struct place *place)
{
    const struct cfg_insn *insns = looked->cfg->insns;
    struct symbols *symbols = looked->program->symbols;
    const int last = task->branch == CFG_NONE ? task->begin : task->branch;
    uint64_t offset;
    if (!symbols_line(symbols, insns[last].step.pc, place->line, sizeof place->line))
        strcpy(place->line, "-");
    if (!symbols_line(symbols, insns[task->where].step.pc, place->why, sizeof place->why))
        strcpy(place->why, "-");
    (void)snprintf(place->range, sizeof place->range, "0x%" PRIx64 "-0x%" PRIx64, insns[task->begin].step.pc,
                   insns[last].step.pc);
    place->function = symbols_name(symbols, insns[task->begin].step.pc, &offset);
    describe_rounds(task, place->rounds, sizeof place->rounds);
}

static void print_table(const struct looked *looked, const struct loop_tasks *tasks, bool all)
{
    struct place place;
    size_t others = 0;
    printf("%-25s %-28s %-22s %6s %6s %6s %8s %8s %s\n", "addresses", "source", "function", "insns", "reads",
           "writes", "operands", "from", "rounds");
    for (size_t i = 0; i < tasks->count; i++) {
        const struct loop_task *task = &tasks->list[i];
        if (hinders(looked, tasks, i)) {
            others++;
            continue;
        }
        place_of(looked, task, &place);
        printf("%-25s %-28s %-22s %6u %6u %6u %8u %8" PRIu64 " %s\n", place.range, place.line,
               place.function ? place.function : "-", task->insns, count_ranges(task, false),
               count_ranges(task, true), count_operands(task), least_rounds(task), place.rounds);
    }
    if (!all) {
        printf("%zu other loops cannot be divided into tasks (--all says why)\n", others);
        return;
    }
    for (size_t i = 0; i < tasks->count; i++) {
        if (!hinders(looked, tasks, i))
            continue;
        place_of(looked, &tasks->list[i], &place);
        const char *need = needed(&tasks->list[i]);
        printf("%-25s %-28s %-22s no: %s (%s)%s%s\n", place.range, place.line,
               place.function ? place.function : "-", hinders(looked, tasks, i), place.why,
               need ? "; needed: " : "", need ? need : "");
    }
}

static void print_json(const struct looked *looked, const struct loop_tasks *tasks, bool all)
{
    json_t *list = json_array();
    for (size_t i = 0; i < tasks->count; i++) {
        const struct loop_task *task = &tasks->list[i];
        const char *why = hinders(looked, tasks, i);
        struct place place;
        if (why && !all)
            continue;
        place_of(looked, task, &place);
        json_t *loop =
            json_pack("{s:I, s:s, s:s?, s:b, s:I, s:I, s:I, s:I, s:I, s:s}", "begin",
                      (json_int_t)looked->cfg->insns[task->begin].step.pc, "source", place.line, "function",
                      place.function, "possible", why == NULL, "instructions", (json_int_t)task->insns,
                      "ranges_read", (json_int_t)count_ranges(task, false), "ranges_written",
                      (json_int_t)count_ranges(task, true), "operands", (json_int_t)count_operands(task),
                      "least_rounds", (json_int_t)least_rounds(task), "rounds", place.rounds);
        if (why)
            (void)json_object_set_new(loop, "reason", json_string(why));
        if (why && needed(task))
            (void)json_object_set_new(loop, "needed", json_string(needed(task)));
        (void)json_array_append_new(list, loop);
    }
    json_t *root = json_pack("{s:s, s:o}", "program", looked->program->path, "loops", list);
    (void)json_dumpf(root, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(root);
}

bool candidates_print_nucd(struct program *program, const struct candidates_nucd_options *options,
                           struct error *err)
{
    struct looked looked = {.program = program};
    const struct task_names names = {find_object, no_obstacle, &looked};
    struct decoder *decoder = decoder_new();
    bool done = program_find_entries(program, options->symbol, true, decoder, err);
    if (done) {
        struct cfg cfg = cfg_build(decoder, &(struct reach_code){program_fetch, program}, program->entries,
                                   program->count, NULL);
        looked.cfg = &cfg;
        done = !cfg.too_large || error_set(err, "has more than %d reachable instructions", REACH_INSNS);
        if (done) {
            struct loop_tasks tasks = loop_tasks_of(&cfg, &names);
            if (options->json)
                print_json(&looked, &tasks, options->all);
            else
                print_table(&looked, &tasks, options->all);
            loop_tasks_free(&tasks);
        }
        cfg_free(&cfg);
    }
    decoder_free(decoder);
    return done;
}
