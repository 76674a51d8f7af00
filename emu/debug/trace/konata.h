/* Kanata 0004: passages (emu/sim/report/track.h) of instructions through their cores, for the Konata pipeline
 * viewer.
 *
 * Each stream has its own file, in cycles of its writer's clock. In one file, cores would be interleaved,
 * because Konata displays a file's instructions in one column in the order of their numbers and does not
 * filter by thread; stages of a core with another clock would not be whole cycles; and a sleeping core would
 * hold back all others, because time must not go back in a file. Konata opens several files as tabs of one
 * window.
 *
 * Stages without length are left out, except for one if all are empty.
 *
 * Source: docs/kanata-log-format.md of the viewer (github.com/shioyadan/Konata). */
#ifndef EMU_DEBUG_TRACE_KONATA_H
#define EMU_DEBUG_TRACE_KONATA_H

#include "emu/debug/trace/state.h"

/* Passages are written in the order of their begins. The events of an item follow its begin, so the events of
 * several items wait here until a later begin shows that no earlier event can follow. */
struct konata_stream {
    struct trace_file *file; /* NULL: the file could not be created */
    struct konata_event {
        uint64_t cycle;
        uint64_t order;    /* item * KONATA_STAGES + stage */
        const char *stage; /* name of the stage; NULL: the item ends */
    } * heap;              /* a binary heap, the earliest event first */
    size_t count, room;
    uint64_t cycle; /* cycle that the file has reached */
    uint64_t items;
};

enum { KONATA_STAGES = 16 };

#endif
