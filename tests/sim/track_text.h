/* A sink of timelines that keeps them as text, a line for each record: "GROUP/LINE: slice NAME FROM TO VALUE=N", times in ps,
 * in the order of writing. The group's own line has no name. */
#ifndef TESTS_SIM_TRACK_TEXT_H
#define TESTS_SIM_TRACK_TEXT_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu/sim/report/track.h"

enum { TRACK_TEXT_LINES = 64, TRACK_TEXT_NAME = 64 };

struct track_text {
    struct track_sink sink;
    char names[TRACK_TEXT_LINES][TRACK_TEXT_NAME]; /* "GROUP/LINE" */
    uint32_t lines;
    char text[1 << 14]; /* the records; what does not fit is lost */
    size_t used;
};

__attribute__((format(printf, 2, 3))) static inline void track_text_add(struct track_text *to,
                                                                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(to->text + to->used, sizeof to->text - to->used, format, args);
    va_end(args);
    to->used += (size_t)length < sizeof to->text - to->used ? (size_t)length : 0;
}

static inline struct track track_text_line(struct track group, const char *name)
{
    struct track_text *to = (struct track_text *)group.sink;
    uint32_t number = to->lines++ % TRACK_TEXT_LINES;
    char of[TRACK_TEXT_NAME];
    (void)strcpy(of, to->names[group.group]);
    (void)snprintf(to->names[number], TRACK_TEXT_NAME, "%.30s/%.30s", of, name);
    return (struct track){group.sink, group.group, number};
}

static inline struct track track_text_group(struct track_sink *sink, const char *name)
{
    struct track_text *to = (struct track_text *)sink;
    uint32_t number = to->lines++ % TRACK_TEXT_LINES;
    (void)snprintf(to->names[number], TRACK_TEXT_NAME, "%.60s", name);
    return (struct track){sink, number, number};
}

static inline bool track_text_write(struct track track, const struct track_record *record)
{
    static const char *const kinds[] = {"slice",   "begin", "end",        "instant",
                                        "counter", "span",  "span_begin", "span_end"};
    struct track_text *to = (struct track_text *)track.sink;
    bool lasts = record->kind == TRACK_SLICE || record->kind == TRACK_SPAN;
    track_text_add(to, "%s: %s%s%s %" PRIu64, to->names[track.line], kinds[record->kind],
                   record->name ? " " : "", record->name ? record->name : "", record->from / 1000);
    if (lasts)
        track_text_add(to, " %" PRIu64, record->to / 1000);
    for (size_t i = 0; i < record->value_count; i++) {
        const struct track_value *value = &record->values[i];
        if (value->text)
            track_text_add(to, " %s=%s", value->name, value->text);
        else
            track_text_add(to, " %s=%" PRIu64, value->name, value->number);
    }
    track_text_add(to, "\n");
    return true;
}

static inline void track_text_init(struct track_text *to)
{
    static const struct track_sink_ops ops = {
        .group = track_text_group, .line = track_text_line, .write = track_text_write};
    *to = (struct track_text){.sink = {.ops = &ops, .forms = TRACK_TIMELINE}};
}

/* Ends the trace at a time in fs. */
static inline void track_text_end(struct track_text *to, uint64_t now)
{
    OBSERVER_TELL(&to->sink.ends, struct track_end, end, now);
}

#endif
