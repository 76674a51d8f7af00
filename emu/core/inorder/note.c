/* The in-order core's reports to observers: stalls, and notes of instructions, sent in program order once all their times
 * are known. */
#include <stdlib.h>

#include "emu/core/inorder/state.h"
#include "emu/sim/alloc.h"

/* A queue of notes that wait for a pending load, or for a note before them. It grows as needed, because independent
 * instructions keep issuing during a load. */
struct inorder_notes {
    struct core_note *notes;
    size_t first, count, room; /* room is a power of two */
    uint64_t retired;          /* retirement cycle of the last note sent */
};

enum { NOTES_ROOM = 256 };

struct inorder_notes *inorder_notes_new(void)
{
    struct inorder_notes *notes = alloc(1, sizeof *notes);
    return notes;
}

void inorder_notes_free(struct inorder_notes *notes)
{
    free(notes->notes);
    free(notes);
}

bool inorder_notes_wait(const struct inorder *c)
{
    return c->notes->count > 0;
}

static struct core_note *note_at(struct inorder_notes *notes, size_t i)
{
    return &notes->notes[(notes->first + i) & (notes->room - 1)];
}

static void grow(struct inorder_notes *notes)
{
    size_t room = notes->room ? 2 * notes->room : NOTES_ROOM;
    struct core_note *moved = alloc(room, sizeof *moved);
    for (size_t i = 0; i < notes->count; i++)
        moved[i] = *note_at(notes, i);
    free(notes->notes);
    notes->notes = moved;
    notes->first = 0;
    notes->room = room;
}

/* Sends the notes up to the first one whose completion is unknown. */
static void flush(struct inorder *c)
{
    struct inorder_notes *notes = c->notes;
    while (notes->count && note_at(notes, 0)->complete != INORDER_PENDING) {
        struct core_note *note = note_at(notes, 0);
        if (note->complete > notes->retired)
            notes->retired = note->complete;
        note->retire = notes->retired;
        OBSERVER_TELL(&c->core.observers, struct core_observer, retired, &c->core, note);
        notes->first = (notes->first + 1) & (notes->room - 1);
        notes->count--;
    }
}

void inorder_note(struct inorder *c, const struct stream_op *op, uint64_t complete, bool mispredicted)
{
    struct inorder_notes *notes = c->notes;
    if (notes->count == notes->room)
        grow(notes);
    uint64_t dispatch = c->fetched + c->fetch_clocks;
    if (complete <= c->cycle) /* the store has waited for room in the buffer */
        complete = c->cycle + 1;
    *note_at(notes, notes->count++) = (struct core_note){
        .number = c->number + c->at,
        .pc = op->pc,
        .insn = *op->insn,
        .fetch = c->fetched < c->cycle ? c->fetched : c->cycle,
        .dispatch = dispatch < c->cycle ? dispatch : c->cycle,
        .issue = c->cycle,
        .complete = complete,
        .level = MEM_LEVEL_L1,
        .mispredicted = mispredicted,
    };
    flush(c);
}

void inorder_note_load(struct inorder *c, uint64_t number, uint64_t complete, unsigned level)
{
    struct inorder_notes *notes = c->notes;
    for (size_t i = 0; i < notes->count; i++) {
        struct core_note *note = note_at(notes, i);
        if (note->number != number)
            continue;
        note->complete = complete;
        note->level = (uint8_t)level;
    }
    flush(c);
}

void inorder_stalled(struct inorder *c, unsigned cause, uint64_t from, uint64_t to)
{
    const struct clock *clock = &c->core.parts.clock;
    if (from >= to)
        return;
    OBSERVER_TELL(&c->core.observers, struct core_observer, stalled, &c->core, cause, clock_time(clock, from),
                  clock_time(clock, to));
}
