#include "emu/schema/document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "emu/sim/text.h"

enum {
    DEPTH = 32,  /* nesting depth of mappings */
    KEYS = 4096, /* keys of one mapping; each new key is compared with all others */
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    const char *path;
    struct error *err;
};

static unsigned event_line(const struct reader *reader)
{
    return (unsigned)reader->event.start_mark.line + 1;
}

/* Prefixes the message with the file and line of the current event. Returns false. */
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

/* Replaces the current event with the next one. False with err set on bad YAML. */
static bool advance(struct reader *reader)
{
    yaml_event_delete(&reader->event);
    if (!yaml_parser_parse(&reader->parser, &reader->event))
        return yaml_failure(reader);
    if (has_anchor(&reader->event)) {
        (void)error_set(reader->err,
                        "anchors, aliases and tags (& * !) are not allowed in a machine description");
        return at_event(reader);
    }
    return true;
}

static char *copy(const char *text)
{
    char *copied = strdup(text);
    if (!copied)
        abort();
    return copied;
}

/* Appends a member named by the current event to the mapping. NULL with err set if the name is not allowed. */
static struct node *add_member(struct reader *reader, struct node *mapping)
{
    if (reader->event.type != YAML_SCALAR_EVENT) {
        (void)error_set(reader->err, "a key must be a name, not a mapping or a list");
        (void)at_event(reader);
        return NULL;
    }
    const char *name = (const char *)reader->event.data.scalar.value;
    const struct node *twin = mapping->members < KEYS ? node_find(mapping, name) : NULL;
    if (strlen(name) != reader->event.data.scalar.length)
        (void)error_set(reader->err, "the name of a key contains a NUL character");
    else if (mapping->members == KEYS)
        (void)error_set(reader->err, "a mapping may have at most %d keys", KEYS);
    else if (twin)
        (void)error_set(reader->err, "%s is set twice, here and on line %u", text_quote(name).text,
                        twin->line);
    else {
        struct node *node = calloc(1, sizeof *node);
        if (!node)
            abort();
        *node = (struct node){.name = copy(name), .line = event_line(reader)};
        if (mapping->last)
            mapping->last->next = node;
        else
            mapping->first = node;
        mapping->members++;
        return mapping->last = node;
    }
    (void)at_event(reader);
    return NULL;
}

static bool read_value(struct reader *reader, struct node *node)
{
    node->line = event_line(reader);
    if (strlen((const char *)reader->event.data.scalar.value) != reader->event.data.scalar.length) {
        (void)error_set(reader->err, "%s: the value contains a NUL character", text_quote(node->name).text);
        return at_event(reader);
    }
    node->text = copy((const char *)reader->event.data.scalar.value);
    return true;
}

/* Reads the members of the mapping that has just started, up to its end. */
static bool read_mapping(struct reader *reader, struct node *mapping, unsigned depth)
{
    if (depth == DEPTH) {
        (void)error_set(reader->err, "mappings are nested more than %d deep", DEPTH);
        return at_event(reader);
    }
    for (;;) {
        if (!advance(reader))
            return false;
        if (reader->event.type == YAML_MAPPING_END_EVENT)
            return true;
        struct node *node = add_member(reader, mapping);
        if (!node || !advance(reader))
            return false;
        if (reader->event.type == YAML_SEQUENCE_START_EVENT) {
            (void)error_set(reader->err, "%s takes one value, not a list", text_quote(node->name).text);
            return at_event(reader);
        }
        if (!(reader->event.type == YAML_SCALAR_EVENT ? read_value(reader, node)
                                                      : read_mapping(reader, node, depth + 1)))
            return false;
    }
}

static bool read_document(struct reader *reader, struct node *root)
{
    if (!advance(reader) || !advance(reader)) /* stream start, document start */
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
    if (!read_mapping(reader, root, 0) || !advance(reader) || !advance(reader))
        return false;
    if (reader->event.type != YAML_STREAM_END_EVENT) {
        (void)error_set(reader->err, "a second document begins; a file holds one machine description");
        return at_event(reader);
    }
    return true;
}

/* Reads the whole file into a new buffer, which the caller frees. NULL with err set on failure. */
static unsigned char *read_all(int file, const char *path, size_t *length, struct error *err)
{
    unsigned char *text = malloc(DOCUMENT_BYTES + 1);
    ssize_t got = 1;
    for (*length = 0; text && got > 0 && *length <= DOCUMENT_BYTES; *length += got > 0 ? (size_t)got : 0)
        got = read(file, text + *length, DOCUMENT_BYTES + 1 - *length);
    if (text && got >= 0 && *length <= DOCUMENT_BYTES)
        return text;
    if (!text || got < 0)
        error_set(err, "%s: cannot be read: %s", path, strerror(text ? errno : ENOMEM));
    else
        error_set(err, "%s: larger than 1 MiB, the limit for a machine description", path);
    free(text);
    return NULL;
}

struct node *document_read(int file, const char *path, struct error *err)
{
    size_t length;
    unsigned char *text = read_all(file, path, &length, err);
    struct reader reader = {.path = path, .err = err};
    struct node *root = calloc(1, sizeof *root);
    if (!root || !yaml_parser_initialize(&reader.parser))
        abort();
    if (text)
        yaml_parser_set_input_string(&reader.parser, text, length);
    bool read = text && read_document(&reader, root);
    yaml_event_delete(&reader.event);
    yaml_parser_delete(&reader.parser);
    free(text);
    if (read)
        return root;
    node_free(root);
    return NULL;
}

void node_free(struct node *node)
{
    if (!node)
        return;
    for (struct node *member = node->first, *next; member; member = next) {
        next = member->next;
        node_free(member);
    }
    free(node->name);
    free(node->text);
    free(node);
}

const struct node *node_find(const struct node *mapping, const char *name)
{
    for (const struct node *node = mapping->first; node; node = node->next)
        if (strcmp(node->name, name) == 0)
            return node;
    return NULL;
}
