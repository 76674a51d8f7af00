/* Writer of Chrome trace events in the array form of the format.
 *
 * The array's end may be missing, so the file of a killed run still loads. Times are microseconds in decimal
 * with nine fractional digits (1 fs). ui.perfetto.dev rounds them down to nanoseconds; slices given by begin
 * and end events still nest, because rounding keeps their order.
 *
 * Source: "Trace Event Format" (Chromium project); src/trace_processor/importers/json of Perfetto.
 */
#ifndef EMU_DEBUG_TRACE_JSON_H
#define EMU_DEBUG_TRACE_JSON_H

#include "emu/debug/line.h"

/* The track of an event: a process number and a track number in it. All numbers in a trace are distinct. */
struct json_track {
    uint32_t process, thread;
};

void json_begin(struct line_writer *out);
void json_end(struct line_writer *out);

/* Opens an event. Phases of the format: 'X' a slice, 'B' and 'E' its begin and end, 'b' and 'e' begin and end
 * of an asynchronous slice, 'i' an instant, 'M' a name. Members follow, then json_event_end(). */
void json_event(struct line_writer *out, char phase, struct json_track track, const char *name);
void json_event_end(struct line_writer *out);

/* Write a member of the open event. Texts may hold any bytes; bytes above 0x7f are read as Latin-1. Times are
 * in fs. */
void json_time(struct line_writer *out, const char *key, uint64_t femtoseconds);
void json_number(struct line_writer *out, const char *key, uint64_t value);
void json_text(struct line_writer *out, const char *key, const char *value);
void json_members(struct line_writer *out, const char *key); /* opens an object; its members follow */
void json_members_end(struct line_writer *out);

/* Write complete events that name a process or a track and set its sort position. */
void json_name_process(struct line_writer *out, uint32_t process, const char *name);
void json_name_thread(struct line_writer *out, struct json_track track, const char *name);

#endif
