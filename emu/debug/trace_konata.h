/* Kanata 0004: passages (emu/sim/track.h), of instructions through their cores, for the Konata pipeline viewer.
 *
 * One file for each stream, in cycles of its writer's clock: Konata shows a file's instructions in one column in the
 * order of their numbers and does not filter by thread, so cores in one file would be shuffled; a core with
 * another clock would have stages of no whole cycles; and a core asleep would hold back all others, for time
 * may not go back in a file. Several files are opened as tabs of one window.
 *
 * Stages without length are left out, but for one if all are.
 *
 * Source: docs/kanata-log-format.md of the viewer (github.com/shioyadan/Konata).
 */
#ifndef EMU_DEBUG_TRACE_KONATA_H
#define EMU_DEBUG_TRACE_KONATA_H

#include "emu/debug/trace_kind.h"

/* Passages are written in the order in which they begin; what happens to an item lies in the future of its begin, so the
 * events of several wait here until a later begin shows that nothing can come before them. */
struct konata_stream {
    struct trace_file *file; /* NULL: it could not be created */
    struct konata_event {
        uint64_t cycle;
        uint64_t order;    /* item * KONATA_STAGES + stage */
        const char *stage; /* its name; NULL: the item ends */
    } * heap;              /* the least first */
    size_t count, room;
    uint64_t cycle; /* that the file has reached */
    uint64_t items;
};

enum { KONATA_STAGES = 16 };

#endif
