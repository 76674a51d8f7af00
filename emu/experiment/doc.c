#include "emu/experiment/doc.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"

enum {
    NAMES = 64, /* maximum number of fields of a mapping */
    DEPTH = 32, /* nesting depth */
};

/* Reads the file's text and appends a NUL. */
static char *read_file(const char *path, size_t *length, struct error *err)
{
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(DOC_BYTES + 2) : NULL;
    bool good = text != NULL;
    if (good) {
        *length = fread(text, 1, DOC_BYTES + 1, file);
        text[*length] = '\0';
        good = !ferror(file) && *length <= DOC_BYTES;
    }
    if (!good) {
        (void)error_set(err, "%s: %s", path,
                        text && !ferror(file) ? "larger than 1 MiB, which is not allowed" : strerror(errno));
        free(text);
        text = NULL;
    }
    if (file)
        (void)fclose(file);
    return text;
}

static bool yaml_failure(const yaml_parser_t *parser, const char *path, struct error *err)
{
    return error_set(err, "%s:%zu: not YAML: %s", path, parser->problem_mark.line + 1,
                     parser->problem ? parser->problem : "out of memory");
}

/* Checks the nesting depth before libyaml loads the document, because loading slows down with each open level. */
static bool check_depth(const struct doc *doc, const char *text, size_t length, struct error *err)
{
    yaml_parser_t parser;
    yaml_event_t event;
    int depth = 0;
    bool more = yaml_parser_initialize(&parser) == 1;
    if (more)
        yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    while (more && depth <= DEPTH) {
        more = yaml_parser_parse(&parser, &event) == 1 && event.type != YAML_STREAM_END_EVENT;
        depth += event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT;
        depth -= event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        if (depth > DEPTH)
            (void)error_set(err, "%s:%zu: nested more than %d deep", doc->path, event.start_mark.line + 1,
                            DEPTH);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return depth <= DEPTH;
}

static bool parse(struct doc *doc, const char *text, size_t length, struct error *err)
{
    yaml_parser_t parser;
    yaml_document_t second;
    if (!check_depth(doc, text, length, err))
        return false;
    if (!yaml_parser_initialize(&parser))
        return error_set(err, "%s: out of memory", doc->path);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    bool loaded = yaml_parser_load(&parser, &doc->document),
         good = loaded || yaml_failure(&parser, doc->path, err);
    if (good && !doc_root(doc))
        good = error_set(err, "%s: the file is empty", doc->path);
    if (good) {
        if (!yaml_parser_load(&parser, &second))
            good = yaml_failure(&parser, doc->path, err);
        else {
            const yaml_node_t *root = yaml_document_get_root_node(&second);
            if (root)
                good = doc_wrong(doc, root, err, "a second document begins; a file holds one");
            yaml_document_delete(&second);
        }
    }
    if (loaded && !good)
        yaml_document_delete(&doc->document);
    yaml_parser_delete(&parser);
    return good;
}

bool doc_load(struct doc *doc, const char *path, char **text, struct error *err)
{
    size_t length;
    *doc = (struct doc){.path = path};
    char *all = read_file(path, &length, err);
    bool good = all && parse(doc, all, length, err);
    if (good && text)
        *text = all;
    else
        free(all);
    return good;
}

void doc_free(struct doc *doc)
{
    yaml_document_delete(&doc->document);
}

const yaml_node_t *doc_root(struct doc *doc)
{
    return yaml_document_get_root_node(&doc->document);
}

const yaml_node_t *doc_node(struct doc *doc, int index)
{
    return yaml_document_get_node(&doc->document, index);
}

bool doc_wrong(const struct doc *doc, const yaml_node_t *node, struct error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return error_prefix(err, "%s:%zu", doc->path, node->start_mark.line + 1);
}

const char *doc_text(const struct doc *doc, const yaml_node_t *node, const char *what, struct error *err)
{
    const char *text = (const char *)node->data.scalar.value;
    if (node->type != YAML_SCALAR_NODE) {
        (void)doc_wrong(doc, node, err, "%s: one value is expected, not a list or a mapping", what);
        return NULL;
    }
    if (strlen(text) != node->data.scalar.length) {
        (void)doc_wrong(doc, node, err, "%s: the value holds a NUL character", what);
        return NULL;
    }
    return text;
}

bool doc_number(const struct doc *doc, const yaml_node_t *node, const char *what, double *value,
                struct error *err)
{
    const char *text = doc_text(doc, node, what, err);
    char *end;
    if (!text)
        return false;
    *value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(*value))
        return doc_wrong(doc, node, err, "%s: a number is expected, not '%s'", what, text);
    return true;
}

int doc_items(const struct doc *doc, const yaml_node_t *node, const char *what, struct error *err)
{
    if (node->type == YAML_SEQUENCE_NODE)
        return (int)(node->data.sequence.items.top - node->data.sequence.items.start);
    (void)doc_wrong(doc, node, err, "%s: a list is expected: [one, two]", what);
    return -1;
}

const yaml_node_t *doc_item(struct doc *doc, const yaml_node_t *node, int i)
{
    return doc_node(doc, node->data.sequence.items.start[i]);
}

const char *doc_key(struct doc *doc, const yaml_node_t *node, int i)
{
    return (const char *)doc_node(doc, node->data.mapping.pairs.start[i].key)->data.scalar.value;
}

const yaml_node_t *doc_value(struct doc *doc, const yaml_node_t *node, int i)
{
    return doc_node(doc, node->data.mapping.pairs.start[i].value);
}

struct key {
    const char *text;
    int index;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : x->index - y->index;
}

/* Returns the first pair whose key an earlier pair has, too; -1: there is none. */
static int find_twin(struct doc *doc, const yaml_node_t *node, int count)
{
    int first = -1;
    struct key *keys = alloc((size_t)count + 1, sizeof *keys);
    for (int i = 0; i < count; i++)
        keys[i] = (struct key){doc_key(doc, node, i), i};
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    for (int i = 1; i < count; i++)
        if (strcmp(keys[i - 1].text, keys[i].text) == 0 && (first < 0 || keys[i].index < first))
            first = keys[i].index;
    free(keys);
    return first;
}

int doc_pairs(const struct doc *doc, const yaml_node_t *node, const char *what, struct error *err)
{
    if (node->type != YAML_MAPPING_NODE) {
        (void)doc_wrong(doc, node, err, "%s: a mapping is expected: {name: value}", what);
        return -1;
    }
    struct doc *own =
        (struct doc *)(uintptr_t)doc; /* libyaml's functions take it non-const but do not modify it */
    int count = (int)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
    for (int i = 0; i < count; i++)
        if (!doc_text(doc, doc_node(own, node->data.mapping.pairs.start[i].key), what, err))
            return -1;
    int twin = find_twin(own, node, count);
    if (twin >= 0) {
        (void)doc_wrong(doc, doc_node(own, node->data.mapping.pairs.start[twin].key), err,
                        "%s: '%s' appears twice", what, doc_key(own, node, twin));
        return -1;
    }
    return count;
}

static bool is_field(const struct doc_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0)
            return true;
    return false;
}

static bool unknown_field(const struct doc *doc, const yaml_node_t *node, const char *what, const char *name,
                          const struct doc_field *fields, size_t count, struct error *err)
{
    const char *names[NAMES];
    for (size_t i = 0; i < count && i < NAMES; i++)
        names[i] = fields[i].name;
    return doc_wrong(doc, node, err, "%s: unknown key '%s'%s", what, name,
                     nearest_hint(name, names, count < NAMES ? count : NAMES).text);
}

bool doc_fields(struct doc *doc, const yaml_node_t *node, const char *what, const struct doc_field *fields,
                size_t count, void *context, struct error *err)
{
    int pairs = doc_pairs(doc, node, what, err);
    if (pairs < 0)
        return false;
    for (int i = 0; i < pairs; i++)
        if (!is_field(fields, count, doc_key(doc, node, i)))
            return unknown_field(doc, doc_node(doc, node->data.mapping.pairs.start[i].key), what,
                                 doc_key(doc, node, i), fields, count, err);
    for (size_t f = 0; f < count; f++) {
        int i = 0;
        while (i < pairs && strcmp(fields[f].name, doc_key(doc, node, i)) != 0)
            i++;
        if (i == pairs && fields[f].required)
            return doc_wrong(doc, node, err, "%s: '%s' is missing", what, fields[f].name);
        if (i < pairs && !fields[f].read(context, doc_value(doc, node, i), err))
            return false;
    }
    return true;
}
