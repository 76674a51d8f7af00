/* Events of the Chrome trace format (array form), written one by one as text.
 *
 * The array form may lack its end, so that a file of a run that was killed loads too. Times are microseconds
 * in decimal with all nine digits of the femtoseconds; ui.perfetto.dev rounds them down to nanoseconds, and
 * slices that are told by their begin and end nest nevertheless, because rounding keeps their order.
 *
 * Source: "Trace Event Format" (Chromium project); src/trace_processor/importers/json of Perfetto.
 */
#ifndef EMU_DEBUG_TRACE_JSON_H
#define EMU_DEBUG_TRACE_JSON_H

#include "emu/debug/line.h"

/* Where an event belongs: the numbers of a process and of a track in it. No number stands for two things. */
struct json_track {
    uint32_t process, thread;
};

void json_begin(struct line_writer *out);
void json_end(struct line_writer *out);

/* Opens an event: phase as in the format ('X' a slice, 'B' and 'E' its ends, 'b' and 'e' the same of an
 * asynchronous one, 'i' an instant, 'M' a name). Further members follow, then json_event_end(). */
void json_event(struct line_writer *out, char phase, struct json_track track, const char *name);
void json_event_end(struct line_writer *out);

/* Members. Texts may hold any bytes; those outside of ASCII are taken as Latin-1. */
void json_time(struct line_writer *out, const char *key, uint64_t femtoseconds);
void json_number(struct line_writer *out, const char *key, uint64_t value);
void json_text(struct line_writer *out, const char *key, const char *value);
void json_members(struct line_writer *out, const char *key); /* its members follow */
void json_members_end(struct line_writer *out);

/* A whole event that names a process or a track, and puts it in its place among the others. */
void json_name_process(struct line_writer *out, uint32_t process, const char *name);
void json_name_thread(struct line_writer *out, struct json_track track, const char *name);

#endif
