#include "emu/machine/outline.h"

#include <string.h>
#include <yaml.h>

#include "emu/machine/key.h"
#include "emu/machine/text.h"

enum {
    NAME_LENGTH = 256, /* of a dotted name; longer ones are unknown anyway */
    DEPTH = 8,         /* of sections in sections; the table of keys has fewer */
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    struct outline *outline;
    const char *path;
    struct error *err;
    unsigned section_lines[DEPTH][MACHINE_KEYS]; /* by depth and first key of the section: its line, or 0 */
};

static unsigned event_line(const struct reader *reader)
{
    return (unsigned)reader->event.start_mark.line + 1;
}

/* Puts file and line of the current event before the message. */
static bool at_event(struct reader *reader)
{
    return error_prefix(reader->err, "%s:%u", reader->path, event_line(reader));
}

static bool yaml_failure(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem ? parser->problem : "out of memory";
    if (parser->error == YAML_READER_ERROR)
        return error_set(reader->err, "%s: byte %zu: not YAML: %s", reader->path, parser->problem_offset,
                         problem);
    return error_set(reader->err, "%s:%zu: not YAML: %s", reader->path, parser->problem_mark.line + 1,
                     problem);
}

static bool has_anchor(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT: return true;
    case YAML_SCALAR_EVENT: return event->data.scalar.anchor || event->data.scalar.tag;
    case YAML_MAPPING_START_EVENT: return event->data.mapping_start.anchor || event->data.mapping_start.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor || event->data.sequence_start.tag;
    default: return false;
    }
}

/* Replaces the current event by the next. */
static bool advance(struct reader *reader)
{
    yaml_event_delete(&reader->event);
    if (!yaml_parser_parse(&reader->parser, &reader->event))
        return yaml_failure(reader);
    if (has_anchor(&reader->event)) {
        (void)error_set(reader->err,
                        "anchors, aliases and tags (& * !) have no place in a machine description");
        return at_event(reader);
    }
    return true;
}

static bool record_key(struct reader *reader, const char *name)
{
    int key = key_find(name);
    unsigned *line = key >= 0 ? &reader->outline->lines[key] : &reader->outline->extends_line;
    if (key < 0 && strcmp(name, "extends") != 0) {
        (void)key_unknown(name, reader->err);
        return at_event(reader);
    }
    if (*line) {
        (void)error_set(reader->err, "%s is set twice, here and on line %u", name, *line);
        return at_event(reader);
    }
    if (strlen((const char *)reader->event.data.scalar.value) != reader->event.data.scalar.length) {
        (void)error_set(reader->err, "%s: the value holds a NUL character", name);
        return at_event(reader);
    }
    *line = event_line(reader);
    return true;
}

static bool record_section(struct reader *reader, const char *name, size_t depth)
{
    int first = key_section(name);
    if (first < 0) {
        if (key_find(name) >= 0 || strcmp(name, "extends") == 0)
            (void)error_set(reader->err, "%s takes one value, not a mapping", name);
        else
            (void)key_unknown(name, reader->err);
        return at_event(reader);
    }
    unsigned *line = &reader->section_lines[depth][first];
    if (*line) {
        (void)error_set(reader->err, "section %s appears twice, here and on line %u", name, *line);
        return at_event(reader);
    }
    *line = event_line(reader);
    return true;
}

/* Takes the current event as a key of the section `name` (of that length) and appends it to the dotted name.
 */
static bool read_name(struct reader *reader, char name[NAME_LENGTH], size_t length)
{
    if (reader->event.type != YAML_SCALAR_EVENT) {
        (void)error_set(reader->err, "a key must be a name, not a mapping or a list");
        return at_event(reader);
    }
    const char *key = (const char *)reader->event.data.scalar.value;
    if (strchr(key, '.')) {
        struct quoted quoted = text_quote(key);
        (void)error_set(reader->err, "key %s: in a file, write the section and, indented beneath it, the key",
                        quoted.text);
        return at_event(reader);
    }
    int used = snprintf(name + length, NAME_LENGTH - length, "%s%s", length ? "." : "", key);
    if (used < 0 || (size_t)used >= NAME_LENGTH - length || strlen(key) != reader->event.data.scalar.length) {
        (void)key_unknown(name, reader->err);
        return at_event(reader);
    }
    return true;
}

/* Reads the keys of a mapping, whose start is the current event, up to its end; name[length] is its dotted
 * name. */
static bool read_mapping(struct reader *reader, char name[NAME_LENGTH], size_t length, size_t depth)
{
    for (;;) {
        if (!advance(reader))
            return false;
        if (reader->event.type == YAML_MAPPING_END_EVENT)
            return true;
        name[length] = '\0';
        if (!read_name(reader, name, length) || !advance(reader))
            return false;
        if (reader->event.type == YAML_SEQUENCE_START_EVENT) {
            (void)error_set(reader->err, "%s takes one value, not a list", text_quote(name).text);
            return at_event(reader);
        }
        if (reader->event.type == YAML_SCALAR_EVENT) {
            if (!record_key(reader, name))
                return false;
        } else if (!record_section(reader, name, depth) ||
                   !read_mapping(reader, name, strlen(name), depth + 1)) {
            return false; /* sections are known ones, so the recursion is as deep as the table of keys */
        }
    }
}

static bool read_document(struct reader *reader)
{
    char name[NAME_LENGTH] = "";
    if (!advance(reader) || !advance(reader)) /* start of the stream; of the document */
        return false;
    if (reader->event.type == YAML_STREAM_END_EVENT)
        return error_set(reader->err, "%s: the file is empty; a machine description has at least one key",
                         reader->path);
    if (!advance(reader))
        return false;
    if (reader->event.type != YAML_MAPPING_START_EVENT) {
        (void)error_set(reader->err, "a machine description is a mapping of keys, such as `harts: 1`");
        return at_event(reader);
    }
    if (!read_mapping(reader, name, 0, 0) || !advance(reader) || !advance(reader))
        return false;
    if (reader->event.type != YAML_STREAM_END_EVENT) {
        (void)error_set(reader->err, "a second document begins; a file holds one machine description");
        return at_event(reader);
    }
    return true;
}

bool outline_read(struct outline *outline, const char *path, const unsigned char *text, size_t length,
                  struct error *err)
{
    struct reader reader = {.outline = outline, .path = path, .err = err};
    *outline = (struct outline){0};
    if (!yaml_parser_initialize(&reader.parser))
        return error_set(err, "%s: out of memory", path);
    yaml_parser_set_input_string(&reader.parser, text, length);
    bool read = read_document(&reader);
    yaml_event_delete(&reader.event);
    yaml_parser_delete(&reader.parser);
    return read;
}
