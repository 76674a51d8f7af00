#include "emu/debug/trace_konata.h"

#include <stdlib.h>

#include "isa/disasm.h"

struct konata {
    struct trace base;
    struct konata_core *cores;
};

static bool earlier(const struct konata_event *a, const struct konata_event *b)
{
    return a->cycle != b->cycle ? a->cycle < b->cycle : a->order < b->order;
}

static void heap_push(struct konata_core *core, struct konata_event event)
{
    if (core->count == core->room) {
        core->room = core->room ? 2 * core->room : 256;
        core->heap = realloc(core->heap, core->room * sizeof *core->heap);
        if (!core->heap)
            abort();
    }
    size_t at = core->count++;
    for (size_t parent; at > 0 && earlier(&event, &core->heap[parent = (at - 1) / 2]); at = parent)
        core->heap[at] = core->heap[parent];
    core->heap[at] = event;
}

static struct konata_event heap_pop(struct konata_core *core)
{
    struct konata_event least = core->heap[0], last = core->heap[--core->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < core->count; at = child) {
        child += child + 1 < core->count && earlier(&core->heap[child + 1], &core->heap[child]);
        if (!earlier(&core->heap[child], &last))
            break;
        core->heap[at] = core->heap[child];
    }
    core->heap[at] = last;
    return least;
}

static void write_field(struct line_writer *out, uint64_t value)
{
    line_char(out, '\t');
    line_decimal(out, value);
}

static void write_cycle(struct konata_core *core, uint64_t cycle)
{
    if (cycle == core->cycle)
        return;
    line_char(&core->file->out, 'C');
    write_field(&core->file->out, cycle - core->cycle);
    line_char(&core->file->out, '\n');
    core->cycle = cycle;
}

static void write_stage(struct line_writer *out, uint64_t id, enum konata_stage stage)
{
    static const char *const names[] = {"\t0\tF\n", "\t0\tDc\n", "\t0\tIs\n", "\t0\tX\n", "\t0\tCm\n"};
    if (stage == KONATA_RETIRE) {
        line_char(out, 'R');
        write_field(out, id);
        write_field(out, id); /* all retire, in order */
        line_text(out, "\t0\n");
        return;
    }
    line_char(out, 'S');
    write_field(out, id);
    line_text(out, names[stage]);
}

/* Writes all that happens up to and in `cycle`, and goes there. */
static void advance(struct konata_core *core, uint64_t cycle)
{
    while (core->count > 0 && core->heap[0].cycle <= cycle) {
        struct konata_event event = heap_pop(core);
        write_cycle(core, event.cycle);
        write_stage(&core->file->out, event.order / KONATA_STAGES,
                    (enum konata_stage)(event.order % KONATA_STAGES));
    }
    write_cycle(core, cycle);
}

static void write_label(struct line_writer *out, uint64_t id, const struct core_note *note)
{
    char text[128];
    disasm(&note->insn, note->pc, text, sizeof text);
    char *tab = strchr(text, '\t');
    if (tab)
        *tab = ' '; /* fields are separated by tabs */
    line_char(out, 'L');
    write_field(out, id);
    line_text(out, "\t0\t");
    line_hex(out, note->pc, note->pc >> 32 ? 16 : 8);
    line_text(out, ": ");
    line_text(out, text);
    line_text(out, note->mispredicted ? " [mispredicted]\n" : "\n");
}

/* What is shown when the mouse is over the instruction. */
static void write_detail(struct line_writer *out, uint64_t id, const struct core_note *note)
{
    static const char *const levels[MEM_LEVELS] = {"L1", "L2", "memory"};
    unsigned iclass = insn_table[note->insn.id].iclass;
    bool load = iclass == CLASS_LOAD || iclass == CLASS_FLOAD;
    line_char(out, 'L');
    write_field(out, id);
    line_text(out, "\t1\tinstruction ");
    line_decimal(out, note->number);
    if (load && note->level < MEM_LEVELS) {
        line_text(out, ", loaded from ");
        line_text(out, levels[note->level]);
    }
    line_char(out, '\n');
}

static void write_start(struct konata_core *core, const struct core *of, const struct core_note *note)
{
    struct line_writer *out = &core->file->out;
    uint64_t id = core->instructions;
    line_char(out, 'I');
    write_field(out, id);
    write_field(out, note->number);
    write_field(out, of->parts.number);
    line_char(out, '\n');
    write_label(out, id, note);
    write_detail(out, id, note);
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
    return value < least ? least : value;
}

/* When each stage begins; none begins before the one in front of it. */
static void stage_cycles(const struct core_note *note, uint64_t fetch, uint64_t begin[KONATA_RETIRE + 1])
{
    uint64_t dispatch = at_least(note->dispatch, fetch);
    begin[KONATA_FETCH] = fetch;
    begin[KONATA_DECODE] = dispatch > fetch ? fetch + 1 : fetch;
    begin[KONATA_ISSUE] = dispatch;
    begin[KONATA_EXECUTE] = at_least(note->issue, dispatch);
    begin[KONATA_COMMIT] = at_least(note->complete, begin[KONATA_EXECUTE]);
    begin[KONATA_RETIRE] = at_least(note->retire, begin[KONATA_COMMIT]);
}

void konata_retired(void *context, const struct core *of, const struct core_note *note)
{
    struct konata_core *core = context;
    struct line_writer *out = &core->file->out;
    uint64_t begin[KONATA_RETIRE + 1], id = core->instructions;
    if (!trace_admit(core->trace))
        return;
    if (id == 0) {
        core->cycle = note->fetch;
        line_text(out, "C=");
        write_field(out, note->fetch);
        line_char(out, '\n');
    }
    stage_cycles(note, at_least(note->fetch, core->cycle), begin);
    advance(core, begin[KONATA_FETCH]);
    write_start(core, of, note);
    bool any = false;
    for (unsigned stage = KONATA_FETCH; stage < KONATA_RETIRE; stage++) {
        /* An instruction of no length at all still needs one stage. */
        if (begin[stage] == begin[stage + 1] && (any || stage != KONATA_COMMIT))
            continue;
        any = true;
        heap_push(core, (struct konata_event){begin[stage], id * KONATA_STAGES + stage});
    }
    heap_push(core, (struct konata_event){begin[KONATA_RETIRE], id * KONATA_STAGES + KONATA_RETIRE});
    core->instructions++;
}

static struct trace *create(void)
{
    struct konata *konata = trace_allocate(1, sizeof *konata);
    return &konata->base;
}

static void write_header(struct trace_file *file)
{
    line_text(&file->out, "Kanata\t0004\n");
}

static void begin_trace(struct trace *trace)
{
    write_header(trace->files);
}

static bool watch(struct trace *trace, const char *name, const struct clock *clock,
                  struct core_observer *observer, struct error *err)
{
    struct konata *konata = (struct konata *)trace;
    struct trace_file *file = trace_part_file(trace, name, err);
    (void)clock;
    if (!file)
        return false;
    if (file != trace->files)
        write_header(file);
    struct konata_core *core = trace_allocate(1, sizeof *core);
    core->next = konata->cores;
    konata->cores = core;
    core->trace = trace;
    core->file = file;
    *observer = (struct core_observer){.retired = konata_retired, .context = core};
    return true;
}

static void end_trace(struct trace *trace, uint64_t now)
{
    (void)now; /* all that is known of an instruction came when it retired */
    for (struct konata_core *core = ((struct konata *)trace)->cores; core; core = core->next)
        while (core->count > 0)
            advance(core, core->heap[0].cycle);
}

static void release(struct trace *trace)
{
    struct konata *konata = (struct konata *)trace;
    for (struct konata_core *core = konata->cores, *next; core; core = next) {
        next = core->next;
        free(core->heap);
        free(core);
    }
    free(konata);
}

const struct trace_ops trace_konata_ops = {
    .kind = "konata",
    .path = "trace.kanata",
    .event = "instructions",
    .create = create,
    .begin = begin_trace,
    .core = watch,
    .end = end_trace,
    .free = release,
};
