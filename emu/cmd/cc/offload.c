#include "emu/cmd/cc/offload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/analysis/candidate_table.h"
#include "emu/cmd/code/assembly.h"
#include "emu/cmd/code/exposed.h"
#include "emu/cmd/code/numbered.h"
#include "emu/sim/alloc.h"

/* The candidates of a linked program. */
struct found {
    struct program program;
    struct cfg cfg;
    struct candidates candidates;
    struct decoder *decoder;
};

/* A section that is not loaded. The assembler of each source adds three words of 8 bytes for each candidate with a hint:
 * number, begin, end. */
#define HINTS ".tom.hints"

/* The paper's model, as the default of `croft candidates`: 32 threads, lines of 128 bytes. */
enum { LANES = 32, LINE = 128 };

/* Finds the candidates of a program; addresses have so many bytes. */
static bool find(struct found *f, const char *path, unsigned address, bool held, struct error *err)
{
    *f = (struct found){.decoder = decoder_new()};
    if (!program_open(&f->program, path, err) ||
        !program_find_entries(&f->program, NULL, false, f->decoder, err))
        return false;
    f->cfg = cfg_build(f->decoder, &(struct reach_code){program_fetch, &f->program}, f->program.entries,
                       f->program.count, &candidate_options);
    program_mark_exposed(&f->program, f->decoder, &f->cfg);
    const struct candidate_model model = {.lanes = LANES,
                                          .line_ratio = (double)LINE / address,
                                          .held = held,
                                          .coalesced = 1,
                                          .load_misses = 0.5,
                                          .kernels = f->program.kernels};
    f->candidates = candidates_of(&f->cfg, &model, CANDIDATE_ENTRIES);
    return !f->cfg.too_large ||
           error_set(err, "%s: has more than %d reachable instructions", path, REACH_INSNS);
}

static void found_free(struct found *f)
{
    candidates_free(&f->candidates);
    cfg_free(&f->cfg);
    decoder_free(f->decoder);
    program_close(&f->program);
}

/* A candidate's place in the text. */
struct mark {
    bool placed;
    size_t unit, begin, end; /* lines of the instructions */
    /* The first of the labels at `begin`; `begin` itself if the block does not jump back there. */
    size_t labels;
};

struct marker {
    const struct cc_units *units;
    struct assembly *texts; /* by unit */
    const struct found *found;
    struct numbered numbered;
    struct mark *marks; /* by candidate */
    uint8_t **inside;   /* by unit and line: 0, or 1 + the candidate whose block has the instruction */
    size_t unit;        /* the unit that is being written */
    size_t line;
};

/* Returns the line whose first instruction is at pc, or NULL. */
static const struct numbered_place *line_at(const struct marker *m, uint64_t pc)
{
    const struct numbered_place *place = numbered_place(&m->numbered, pc);
    return place && place->pc == pc ? place : NULL;
}

/* Notes the lines of a candidate's block. Returns whether the block jumps to its own beginning. */
static bool note_lines(const struct marker *m, size_t number)
{
    const struct candidate *c = &m->found->candidates.list[number];
    const struct cfg *cfg = &m->found->cfg;
    int first = cfg_at(cfg, c->begin), *todo = alloc((size_t)cfg->count + 1, sizeof *todo), count = 0;
    bool *seen = alloc((size_t)cfg->count + 1, sizeof *seen), back = false;
    todo[count++] = first;
    seen[first] = true;
    while (count) {
        int at = todo[--count];
        const struct numbered_place *place = numbered_place(&m->numbered, cfg->insns[at].step.pc);
        const int next[] = {cfg->insns[at].next, cfg->insns[at].target};
        m->inside[place->unit][place->line] = (uint8_t)(number + 1);
        for (unsigned i = 0; i < 2; i++) {
            back |= next[i] == first;
            if (next[i] == CFG_NONE || seen[next[i]] || cfg->insns[next[i]].step.pc == c->end)
                continue;
            seen[next[i]] = true;
            todo[count++] = next[i];
        }
    }
    free(todo);
    free(seen);
    return back;
}

static void place_mark(struct marker *m, size_t number)
{
    const struct candidate *c = &m->found->candidates.list[number];
    const struct numbered_place *begin = line_at(m, c->begin), *end = line_at(m, c->end);
    struct mark *mark = &m->marks[number];
    if (!begin || !end || begin->unit != end->unit)
        return; /* code of a library or an object */
    *mark = (struct mark){true, begin->unit, begin->line, end->line, begin->line};
    bool back = note_lines(m, number);
    const struct assembly *a = &m->texts[mark->unit];
    for (size_t i = mark->begin;
         back && i-- > 0 && a->lines[i].kind != ASSEMBLY_INSN && a->lines[i].kind != ASSEMBLY_FOREIGN;)
        if (a->lines[i].kind == ASSEMBLY_LABEL)
            mark->labels = i;
}

/* Returns ".entry" for a label at the beginning of a block that jumps back there: jumps from outside go to the hint. */
static const char *entry_suffix(void *context, const char *name)
{
    const struct marker *m = context;
    const struct assembly *a = &m->texts[m->unit];
    for (size_t i = 0; i < m->found->candidates.count; i++) {
        const struct mark *mark = &m->marks[i];
        if (!mark->placed || mark->unit != m->unit || m->inside[m->unit][m->line] == i + 1)
            continue;
        for (size_t j = mark->labels; j < mark->begin; j++)
            if (assembly_is_label(&a->lines[j], name))
                return ".entry";
    }
    return "";
}

static bool is_jump(const char *text)
{
    const char *word = text + strspn(text, " \t");
    return (word[0] == 'b' || word[0] == 'j') && strstr(word, ".L");
}

static void write_hint(const struct assembly *a, const struct mark *mark, size_t id, FILE *out)
{
    for (size_t i = mark->labels; i < mark->begin; i++)
        if (a->lines[i].kind == ASSEMBLY_LABEL)
            (void)fprintf(out, "%.*s.entry:\n", (int)strcspn(a->lines[i].text, ":"), a->lines[i].text);
    (void)fprintf(out, "\t.insn i 0x13, 2, x0, x0, %zu\n", id);
}

/* Writes what precedes a line: labels where blocks begin and end, and the hint where a block begins. */
static void write_marks(const struct marker *m, size_t line, FILE *out)
{
    const struct assembly *a = &m->texts[m->unit];
    size_t count = m->found->candidates.count;
    for (size_t i = 0; i < count; i++) {
        const struct mark *mark = &m->marks[i];
        size_t end = mark->end; /* if another block begins there, before its hint */
        for (size_t j = 0; j < count; j++)
            if (m->marks[j].placed && m->marks[j].unit == mark->unit && m->marks[j].begin == mark->end)
                end = m->marks[j].labels;
        if (mark->placed && mark->unit == m->unit && end == line)
            (void)fprintf(out, ".Ltom.end.%zu:\n", i);
    }
    for (size_t i = 0; i < count; i++) {
        const struct mark *mark = &m->marks[i];
        if (mark->placed && mark->unit == m->unit && mark->labels == line)
            write_hint(a, mark, i, out);
        if (mark->placed && mark->unit == m->unit && mark->begin == line)
            (void)fprintf(out, ".Ltom.begin.%zu:\n", i);
    }
}

static bool write_unit(struct marker *m, size_t unit, struct error *err)
{
    const struct assembly *a = &m->texts[unit];
    FILE *out = fopen(m->units->units[unit].rewritten, "we");
    if (!out)
        return error_set(err, "%s: %s", m->units->units[unit].rewritten, strerror(errno));
    m->unit = unit;
    for (m->line = 0; m->line < a->count; m->line++) {
        const char *text = a->lines[m->line].text;
        write_marks(m, m->line, out);
        if (a->lines[m->line].kind == ASSEMBLY_INSN && is_jump(text))
            assembly_write(text, entry_suffix, m, out);
        else
            (void)fprintf(out, "%s\n", text);
    }
    for (size_t i = 0; i < m->found->candidates.count; i++)
        if (m->marks[i].placed && m->marks[i].unit == unit)
            (void)fprintf(
                out, "\t.section\t" HINTS ",\"\",@progbits\n\t.8byte\t%zu,.Ltom.begin.%zu,.Ltom.end.%zu\n", i,
                i, i);
    bool done = !ferror(out);
    done = fclose(out) == 0 && done;
    return done || error_set(err, "%s: cannot be written", m->units->units[unit].rewritten);
}

/* Rewrites all sources. */
static bool write_hints(const struct cc_units *units, struct assembly *texts, struct found *found,
                        struct error *err)
{
    struct marker m = {
        .units = units, .texts = texts, .found = found, .numbered = numbered_of(&found->program)};
    bool done = true;
    m.marks = alloc(found->candidates.count + 1, sizeof *m.marks);
    m.inside = alloc(units->count + 1, sizeof *m.inside);
    for (size_t i = 0; i < units->count; i++)
        m.inside[i] = alloc(texts[i].count + 1, 1);
    for (size_t i = 0; i < found->candidates.count; i++)
        place_mark(&m, i);
    for (size_t i = 0; i < units->count && done; i++)
        done = write_unit(&m, i, err);
    for (size_t i = 0; i < units->count; i++)
        free(m.inside[i]);
    free(m.inside);
    free(m.marks);
    numbered_free(&m.numbered);
    return done;
}

/* Returns whether each candidate with a hint has the same begin and end in the list. */
static bool same_places(const struct program *p, const struct candidates *candidates)
{
    size_t size;
    const uint8_t *bytes = program_section(p, HINTS, &size);
    for (size_t at = 0; bytes && at + 24 <= size; at += 24) {
        uint64_t words[3];
        memcpy(words, bytes + at, sizeof words);
        const struct candidate *c = words[0] < candidates->count ? &candidates->list[words[0]] : NULL;
        if (!c || c->begin != words[1] || c->end != words[2])
            return false;
    }
    return true;
}

/* Checks that the program with hints has the same candidates, and adds their table to it. */
static bool add_table(const char *path, unsigned address, bool held, const struct found *before,
                      struct error *err)
{
    struct found after;
    bool done = find(&after, path, address, held, err);
    const struct candidates *a = &before->candidates, *b = &after.candidates;
    bool same = done && a->count == b->count && same_places(&after.program, b);
    for (size_t i = 0; same && i < a->count; i++)
        same = a->list[i].in == b->list[i].in && a->list[i].out == b->list[i].out &&
               a->list[i].tag == b->list[i].tag && a->list[i].threshold == b->list[i].threshold;
    if (done && !same)
        done =
            error_set(err,
                      "%s: its candidates with hints are not those without; compile it without --offload and "
                      "use `croft candidates --output`, which matches by address",
                      path);
    if (done) {
        size_t size;
        uint8_t *table = candidate_table_write(b, &size);
        done = program_write(&after.program, path, CANDIDATE_SECTION, table, size, err);
        free(table);
    }
    if (done && b->left_out)
        fprintf(stderr,
                "croft cc: %s: warning: %zu blocks more would save bytes, but the table has %d entries\n",
                path, b->left_out, CANDIDATE_ENTRIES);
    found_free(&after);
    return done;
}

static int compile(const struct cc_units *units, struct assembly *texts, struct error *err)
{
    char *const none[] = {NULL};
    int status = 0;
    for (size_t i = 0; i < units->count && status == 0; i++) {
        status = cc_unit_compile(units, &units->units[i], none, err);
        if (status == 0 && (!assembly_read(&texts[i], units->units[i].text, err) ||
                            !assembly_write_numbered(&texts[i], i, units->units[i].numbered, err)))
            status = -1;
    }
    return status;
}

int cc_offload(const struct cc_units *units, unsigned address, bool held, struct error *err)
{
    char path[PATH_MAX + 16];
    const char *output = units->output ? units->output : "a.out";
    struct assembly *texts = alloc(units->count + 1, sizeof *texts);
    struct found found = {0};
    if (!units->links || units->lto) {
        (void)error_set(
            err,
            "--offload numbers the candidates of a whole program: compile and link in one command, without "
            "-c, -S, -E, -flto");
        free(texts);
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/program", units->folder);
    int status = compile(units, texts, err);
    if (status == 0)
        status = cc_units_finish(units, true, path, err);
    if (status == 0) {
        status = find(&found, path, address, held, err) && write_hints(units, texts, &found, err) ? 0 : -1;
        if (status == 0)
            status = cc_units_finish(units, false, NULL, err);
        if (status == 0 && !add_table(output, address, held, &found, err))
            status = -1;
        found_free(&found);
    }
    for (size_t i = 0; i < units->count; i++)
        assembly_free(&texts[i]);
    free(texts);
    return status;
}
