#include "emu/cmd/cc/loops.h"

#include <stdlib.h>
#include <string.h>

#include "emu/cmd/cc/loops/state.h"
#include "emu/sim/alloc.h"

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
    return file || line_is_loc(word) || strncmp(word, ".cfi_", 5) == 0;
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
                launch_write_check(r->out, l, r->options);
            if (i == l->end && l->task->nested)
                nest_write_launch(r->out, l);
            else if (i == l->end)
                single_write_launch(r->out, l);
        }
        if (a->lines[i].text[0] == '#' && (a->lines[i].text[1] == '(' || a->lines[i].text[1] == ' '))
            continue; /* RTL */
        if (r->options->debug || (!skipped && !is_location(a->lines[i].text)))
            assembly_write(a->lines[i].text, a->lines[i].kind != ASSEMBLY_INSN ? suffix_none : entry_suffix,
                           r, r->out);
        for (size_t j = 0; j < r->count; j++)
            if (i == r->launches[j].end)
                task_write(r->out, r, &r->launches[j]);
    }
    for (size_t j = 0; j < r->count; j++)
        if (r->launches[j].task->nested)
            nest_write_table(r->out, r, &r->launches[j]);
        else
            single_write_table(r->out, r, &r->launches[j]);
}

/* Reports whether a loop becomes tasks. hinders: why it does not, and `need`, what would have to be known or changed; NULL: it does. */
static void report(const struct rewriter *r, const struct launch *l, const char *hinders, enum task_need need)
{
    const struct loop_task *task = l->task;
    char place[512], where[512];
    if (!r->options->report)
        return;
    assembly_place(r->assembly, rewriter_line(r, task->branch == CFG_NONE ? task->begin : task->branch),
                   place, sizeof place);
    assembly_place(r->assembly, rewriter_line(r, task->where), where, sizeof where);
    if (!hinders)
        (void)fprintf(r->options->report,
                      "%s: loop becomes tasks: %u instructions, %u arrays, %u operands%s\n", place,
                      task->insns, task->nested ? task->nest.range_count : task->range_count,
                      l->carrier_count, task->nest.slices.there ? ", in slices" : "");
    else
        (void)fprintf(r->options->report, "%s: loop does not become tasks: %s (%s)%s%s\n", place, hinders,
                      where, need ? "; needed: " : "", need ? task_need_text(need) : "");
}

static void choose(struct rewriter *r, const struct loop_tasks *tasks)
{
    r->launches = alloc(tasks->count + 1, sizeof *r->launches);
    for (size_t i = 0; i < tasks->count; i++) {
        const struct loop_task *task = &tasks->list[i];
        struct launch *l = &r->launches[r->count];
        const char *hinders = task->possible ? NULL : task->reason;
        enum task_need need = task->possible ? NEED_NONE : task->need;
        *l = (struct launch){.task = task, .number = (unsigned)r->count};
        (void)snprintf(l->suffix, sizeof l->suffix, ".task.%u", l->number);
        for (size_t j = 0; j < r->count; j++)
            if (task->begin > r->launches[j].task->begin && task->begin <= r->launches[j].task->branch &&
                !r->launches[j].task->nested) {
                hinders = "a loop around it becomes tasks";
                need = NEED_NONE;
            }
        hinders = hinders ? hinders : launch_find_lines(r, l, &need);
        hinders = hinders ? hinders : launch_find_registers(l, &need);
        l->apart = task->nest.sink_count;
        for (unsigned j = 0; j < task->nest.unroll_count && !hinders; j++)
            l->apart |= unroll_is_possible(r, l, j);
        r->count += !hinders;
        report(r, l, hinders, need);
    }
}

bool cc_loops_rewrite(const struct assembly *assembly, struct program *program,
                      const struct cc_loops_options *options, FILE *out, struct error *err)
{
    struct rewriter r = {.assembly = assembly, .program = program, .options = options, .out = out};
    struct decoder *decoder = decoder_new();
    const struct task_names task_names = rewriter_names(&r);
    bool done = program_find_entries(program, NULL, true, decoder, err);
    struct cfg cfg = cfg_build(decoder, &(struct reach_code){program_fetch, program}, program->entries,
                               program->count, NULL);
    r.cfg = &cfg;
    r.numbered = numbered_of(program);
    for (int i = 0; i < cfg.count; i++)
        cfg.insns[i].arguments = assembly->lines[rewriter_line(&r, i)].arguments;
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
