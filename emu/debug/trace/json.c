#include "emu/debug/trace/json.h"

void json_begin(struct line_writer *out)
{
    line_char(out, '[');
}

void json_end(struct line_writer *out)
{
    line_text(out, "\n]\n");
}

static void write_string(struct line_writer *out, const char *text)
{
    line_char(out, '"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c >= ' ' && *c < 0x7f && *c != '"' && *c != '\\') {
            line_char(out, (char)*c);
        } else {
            line_text(out, "\\u");
            line_hex(out, *c, 4);
        }
    }
    line_char(out, '"');
}

/* Writes a comma, unless the next item is the first after the opening bracket. */
static void write_comma(struct line_writer *out, char bracket)
{
    if (out->used == 0 || out->buffer[out->used - 1] != bracket)
        line_char(out, ',');
}

/* Keys are constants of ours that need no escaping. */
static void write_key(struct line_writer *out, const char *key)
{
    write_comma(out, '{');
    line_char(out, '"');
    line_text(out, key);
    line_text(out, "\":");
}

void json_event(struct line_writer *out, char phase, struct json_track track, const char *name)
{
    write_comma(out, '[');
    line_text(out, "\n{\"ph\":\"");
    line_char(out, phase);
    line_char(out, '"');
    json_number(out, "pid", track.process);
    json_number(out, "tid", track.thread);
    if (name)
        json_text(out, "name", name);
}

void json_event_end(struct line_writer *out)
{
    line_char(out, '}');
}

void json_time(struct line_writer *out, const char *key, uint64_t femtoseconds)
{
    const uint64_t microsecond = 1000000000;
    write_key(out, key);
    line_decimal(out, femtoseconds / microsecond);
    uint64_t rest = femtoseconds % microsecond;
    if (rest == 0)
        return;
    line_char(out, '.');
    for (uint64_t digit = microsecond / 10; rest > 0; digit /= 10) {
        line_char(out, (char)('0' + rest / digit));
        rest %= digit;
    }
}

void json_number(struct line_writer *out, const char *key, uint64_t value)
{
    write_key(out, key);
    line_decimal(out, value);
}

void json_text(struct line_writer *out, const char *key, const char *value)
{
    write_key(out, key);
    write_string(out, value);
}

void json_members(struct line_writer *out, const char *key)
{
    write_key(out, key);
    line_char(out, '{');
}

void json_members_end(struct line_writer *out)
{
    line_char(out, '}');
}

static void write_name(struct line_writer *out, const char *what, struct json_track track, const char *name)
{
    json_event(out, 'M', track, what);
    json_members(out, "args");
    json_text(out, "name", name);
    json_members_end(out);
    json_event_end(out);
}

static void write_place(struct line_writer *out, const char *what, struct json_track track, uint32_t place)
{
    json_event(out, 'M', track, what);
    json_members(out, "args");
    json_number(out, "sort_index", place);
    json_members_end(out);
    json_event_end(out);
}

void json_name_process(struct line_writer *out, uint32_t process, const char *name)
{
    struct json_track track = {process, process};
    write_name(out, "process_name", track, name);
    write_place(out, "process_sort_index", track, process);
}

void json_name_thread(struct line_writer *out, struct json_track track, const char *name)
{
    write_name(out, "thread_name", track, name);
    write_place(out, "thread_sort_index", track, track.thread);
}
