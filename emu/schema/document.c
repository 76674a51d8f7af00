#include "emu/schema/document.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "emu/sim/alloc.h"
#include "emu/sim/list.h"
#include "emu/sim/text/text.h"

enum {
    DEPTH = 32,  /* nesting depth of mappings */
    KEYS = 4096, /* keys of one mapping; each new key is compared with all others */
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    const char *path;
    struct error *err;
    const unsigned char *text; /* the rest of the file behind the last scalar */
    size_t left;               /* its length in bytes */
    size_t index;              /* its position in characters, as libyaml counts them */
    unsigned line;
    struct node *latest; /* the last node, to which comments on its line belong */
    FILE *pending;       /* collects the comments of the next node in pending_text; NULL: none */
    char *pending_text;
    size_t pending_size;
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

/* Returns the length in bytes of the line break at the text; 0: there is none. */
static size_t break_length(const unsigned char *text, size_t left)
{
    if (left > 0 && (*text == '\n' || *text == '\r'))
        return left > 1 && text[0] == '\r' && text[1] == '\n' ? 2 : 1;
    if (left > 1 && text[0] == 0xc2 && text[1] == 0x85) /* U+0085 */
        return 2;
    return left > 2 && text[0] == 0xe2 && text[1] == 0x80 && (text[2] & ~1) == 0xa8 ? 3
                                                                                    : 0; /* U+2028, U+2029 */
}

/* Moves forward by one character or line break. */
static void step(struct reader *reader)
{
    size_t breaks = break_length(reader->text, reader->left), length = breaks ? breaks : 1;
    reader->line += breaks > 0;
    while (!breaks && length < reader->left && (reader->text[length] & 0xc0) == 0x80)
        length++;
    reader->index += length == 2 && *reader->text == '\r' ? 2 : 1;
    reader->text += length;
    reader->left -= length;
}

/* Gives a comment to the last node if that is on the same line, otherwise to the next one. */
static void add_comment(struct reader *reader, const unsigned char *text, int length, unsigned line)
{
    if (reader->latest && reader->latest->line == line) {
        char *comment = strndup((const char *)text, (size_t)length);
        if (!comment)
            alloc_failed();
        node_comment(reader->latest, comment);
        free(comment);
        return;
    }
    bool first = !reader->pending;
    if (first && !(reader->pending = open_memstream(&reader->pending_text, &reader->pending_size)))
        alloc_failed();
    (void)fprintf(reader->pending, "%s%.*s", first ? "" : "\n", length, (const char *)text);
}

/* Returns the comments of the next node, which the caller frees. NULL: none. */
static char *take_pending(struct reader *reader)
{
    if (!reader->pending)
        return NULL;
    if (fclose(reader->pending) != 0)
        alloc_failed();
    reader->pending = NULL;
    return reader->pending_text;
}

/* Collects the comments up to a scalar that begins at this index. Only scalars can contain a '#' that begins
 * no comment, because anchors and tags are refused. */
static void take_comments(struct reader *reader, size_t index)
{
    while (reader->left > 0 && reader->index < index) {
        if (*reader->text != '#') {
            step(reader);
            continue;
        }
        const unsigned char *begin = reader->text;
        unsigned line = reader->line;
        while (reader->left > 0 && !break_length(reader->text, reader->left))
            step(reader);
        add_comment(reader, begin, (int)(reader->text - begin), line);
    }
}

static void skip_to(struct reader *reader, size_t index)
{
    while (reader->left > 0 && reader->index < index)
        step(reader);
}

/* Replaces the current event with the next one. False with err set on bad YAML. */
static bool advance(struct reader *reader)
{
    yaml_event_delete(&reader->event);
    if (!yaml_parser_parse(&reader->parser, &reader->event))
        return yaml_failure(reader);
    if (reader->event.type == YAML_SCALAR_EVENT) {
        take_comments(reader, reader->event.start_mark.index);
        skip_to(reader, reader->event.end_mark.index);
    } else if (reader->event.type == YAML_STREAM_END_EVENT) {
        take_comments(reader, SIZE_MAX);
    }
    if (has_anchor(&reader->event)) {
        (void)error_set(reader->err,
                        "anchors, aliases and tags (& * !) are not allowed in a machine description");
        return at_event(reader);
    }
    return true;
}

static char *copy(const char *text)
{
    char *copied = alloc_text(text);
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
        struct node *node = alloc(1, sizeof *node);
        *node =
            (struct node){.name = copy(name), .comment = take_pending(reader), .line = event_line(reader)};
        reader->latest = node;
        LIST_APPEND(mapping->first, mapping->last, node, next);
        mapping->members++;
        return node;
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

/* Sets the text in which comments are found: behind the byte order mark, which libyaml does not count. */
static void find_text(struct reader *reader, const unsigned char *text, size_t length)
{
    size_t mark = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    bool wide = length >= 2 && text[0] + text[1] == 0xfe + 0xff; /* UTF-16 */
    reader->text = text + mark;
    reader->left = wide ? 0 : length - mark;
    reader->line = 1;
}

struct node *document_read(int file, const char *path, struct error *err)
{
    size_t length;
    unsigned char *text = read_all(file, path, &length, err);
    struct reader reader = {.path = path, .err = err};
    struct node *root = calloc(1, sizeof *root);
    if (!root || !yaml_parser_initialize(&reader.parser))
        alloc_failed();
    if (text) {
        yaml_parser_set_input_string(&reader.parser, text, length);
        find_text(&reader, text, length);
    }
    bool read = text && read_document(&reader, root);
    root->comment = take_pending(&reader);
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
    free(node->comment);
    free(node);
}

void node_comment(struct node *node, const char *lines)
{
    char *comment;
    if (!lines)
        return;
    if (asprintf(&comment, "%s%s%s", node->comment ? node->comment : "", node->comment ? "\n" : "", lines) <
        0)
        alloc_failed();
    free(node->comment);
    node->comment = comment;
}

const struct node *node_find(const struct node *mapping, const char *name)
{
    for (const struct node *node = mapping->first; node; node = node->next)
        if (strcmp(node->name, name) == 0)
            return node;
    return NULL;
}
