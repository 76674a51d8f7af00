/* Kanata 0004: each instruction's way through its core, for the Konata pipeline viewer.
 *
 * One file for each core, in cycles of its own clock: Konata shows a file's instructions in one column in the
 * order of their numbers and does not filter by thread, so cores in one file would be shuffled; a core with
 * another clock would have stages of no whole cycles; and a core asleep would hold back all others, for time
 * may not go back in a file. Several files are opened as tabs of one window.
 *
 * Stages: F the cycle of the fetch, Dc until dispatch, Is until issue, X until the result, Cm until
 * retirement; those without length are left out. Instructions that were fetched and thrown away are not among
 * a core's notes: the instruction before them is labelled "[mispredicted]".
 *
 * Source: docs/kanata-log-format.md of the viewer (github.com/shioyadan/Konata).
 */
#ifndef EMU_DEBUG_TRACE_KONATA_H
#define EMU_DEBUG_TRACE_KONATA_H

#include "emu/debug/trace_kind.h"

/* Notes come in program order with ascending fetch cycles; an instruction's events lie in the future of its
 * fetch, so those of several instructions wait here until a later fetch shows that nothing can come before
 * them. */
struct konata_core {
    struct konata_core *next;
    struct trace *trace;
    struct trace_file *file;
    struct konata_event {
        uint64_t cycle;
        uint64_t order; /* instruction * KONATA_STAGES + stage */
    } * heap;           /* the least first */
    size_t count, room;
    uint64_t cycle; /* that the file has reached */
    uint64_t instructions;
};

enum konata_stage {
    KONATA_FETCH,
    KONATA_DECODE,
    KONATA_ISSUE,
    KONATA_EXECUTE,
    KONATA_COMMIT,
    KONATA_RETIRE, /* no stage: the end of all */
    KONATA_STAGES = 8,
};

/* Adds an instruction; to be called in order of retirement. */
void konata_retired(void *context, const struct core *core, const struct core_note *note);

#endif
