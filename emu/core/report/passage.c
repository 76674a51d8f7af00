#include "emu/core/report/passage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "isa/disasm.h"

enum { STAGES = 5 };

struct core_passages {
    struct core_observer observer;
    struct track stream;
};

static void describe(const void *context, char *label, char *detail, size_t size)
{
    static const char *const levels[MEM_LEVELS] = {"L1", "L2", "memory"};
    const struct core_note *note = context;
    bool loaded = insn_table[note->insn.id].access == ACCESS_LOAD && note->level < MEM_LEVELS;
    char text[128];
    disasm(&note->insn, note->pc, text, sizeof text);
    char *tab = strchr(text, '\t');
    if (tab)
        *tab = ' '; /* viewers separate fields by tabs */
    (void)snprintf(label, size, "%0*" PRIx64 ": %s%s", note->pc >> 32 ? 16 : 8, note->pc, text,
                   note->mispredicted ? " [mispredicted]" : "");
    (void)snprintf(detail, size, "instruction %" PRIu64 "%s%s", note->number, loaded ? ", loaded from " : "",
                   loaded ? levels[note->level] : "");
}

static void show(void *context, const struct core *core, const struct core_note *note)
{
    const struct core_passages *passages = context;
    const struct track_stage stages[STAGES] = {
        {"F", note->fetch},     {"Dc", note->dispatch > note->fetch ? note->fetch + 1 : note->fetch},
        {"Is", note->dispatch}, {"X", note->issue},
        {"Cm", note->complete},
    };
    (void)track_pass(passages->stream, &(struct track_passage){.number = note->number,
                                                               .thread = core->parts.number,
                                                               .stages = stages,
                                                               .stage_count = STAGES,
                                                               .end = note->retire,
                                                               .describe = describe,
                                                               .context = note});
}

struct core_passages *core_passages_new(struct track_sink *sink, const char *name)
{
    struct core_passages *passages = alloc(1, sizeof *passages);
    passages->stream = track_stream(sink, TRACK_PASSAGES, name);
    passages->observer = (struct core_observer){.retired = show, .context = passages};
    return passages;
}

void core_passages_free(struct core_passages *passages)
{
    free(passages);
}

struct core_observer *core_passages_observer(struct core_passages *passages)
{
    return &passages->observer;
}
