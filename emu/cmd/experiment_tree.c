#include "emu/cmd/experiment_tree.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/nearest.h"

enum { NAMES = 64 }; /* maximum number of fields of a mapping */

/* Reads the file's text and appends a NUL. */
static char *read_file(const char *path, size_t *length, struct error *err)
{
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(TREE_BYTES + 2) : NULL;
    bool good = text != NULL;
    if (good) {
        *length = fread(text, 1, TREE_BYTES + 1, file);
        text[*length] = '\0';
        good = !ferror(file) && *length <= TREE_BYTES;
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

static bool parse(struct tree *tree, const char *text, size_t length, struct error *err)
{
    yaml_parser_t parser;
    yaml_document_t second;
    if (!yaml_parser_initialize(&parser))
        return error_set(err, "%s: out of memory", tree->path);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    bool loaded = yaml_parser_load(&parser, &tree->document),
         good = loaded || yaml_failure(&parser, tree->path, err);
    if (good && !experiment_tree_root(tree))
        good = error_set(err, "%s: the file is empty", tree->path);
    if (good) {
        if (!yaml_parser_load(&parser, &second))
            good = yaml_failure(&parser, tree->path, err);
        else {
            const yaml_node_t *root = yaml_document_get_root_node(&second);
            if (root)
                good = tree_wrong(tree, root, err, "a second document begins; a file holds one");
            yaml_document_delete(&second);
        }
    }
    if (loaded && !good)
        yaml_document_delete(&tree->document);
    yaml_parser_delete(&parser);
    return good;
}

bool experiment_tree_load(struct tree *tree, const char *path, char **text, struct error *err)
{
    size_t length;
    *tree = (struct tree){.path = path};
    char *all = read_file(path, &length, err);
    bool good = all && parse(tree, all, length, err);
    if (good && text)
        *text = all;
    else
        free(all);
    return good;
}

void experiment_tree_free(struct tree *tree)
{
    yaml_document_delete(&tree->document);
}

const yaml_node_t *experiment_tree_root(struct tree *tree)
{
    return yaml_document_get_root_node(&tree->document);
}

const yaml_node_t *tree_node(struct tree *tree, int index)
{
    return yaml_document_get_node(&tree->document, index);
}

bool tree_wrong(const struct tree *tree, const yaml_node_t *node, struct error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return error_prefix(err, "%s:%zu", tree->path, node->start_mark.line + 1);
}

const char *tree_text(const struct tree *tree, const yaml_node_t *node, const char *what, struct error *err)
{
    const char *text = (const char *)node->data.scalar.value;
    if (node->type != YAML_SCALAR_NODE) {
        (void)tree_wrong(tree, node, err, "%s: one value is expected, not a list or a mapping", what);
        return NULL;
    }
    if (strlen(text) != node->data.scalar.length) {
        (void)tree_wrong(tree, node, err, "%s: the value holds a NUL character", what);
        return NULL;
    }
    return text;
}

bool tree_number(const struct tree *tree, const yaml_node_t *node, const char *what, double *value,
                 struct error *err)
{
    const char *text = tree_text(tree, node, what, err);
    char *end;
    if (!text)
        return false;
    *value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(*value))
        return tree_wrong(tree, node, err, "%s: a number is expected, not '%s'", what, text);
    return true;
}

int tree_items(const struct tree *tree, const yaml_node_t *node, const char *what, struct error *err)
{
    if (node->type == YAML_SEQUENCE_NODE)
        return (int)(node->data.sequence.items.top - node->data.sequence.items.start);
    (void)tree_wrong(tree, node, err, "%s: a list is expected: [one, two]", what);
    return -1;
}

const yaml_node_t *tree_item(struct tree *tree, const yaml_node_t *node, int i)
{
    return tree_node(tree, node->data.sequence.items.start[i]);
}

const char *tree_key(struct tree *tree, const yaml_node_t *node, int i)
{
    return (const char *)tree_node(tree, node->data.mapping.pairs.start[i].key)->data.scalar.value;
}

const yaml_node_t *tree_value(struct tree *tree, const yaml_node_t *node, int i)
{
    return tree_node(tree, node->data.mapping.pairs.start[i].value);
}

int tree_pairs(const struct tree *tree, const yaml_node_t *node, const char *what, struct error *err)
{
    if (node->type != YAML_MAPPING_NODE) {
        (void)tree_wrong(tree, node, err, "%s: a mapping is expected: {name: value}", what);
        return -1;
    }
    struct tree *own =
        (struct tree *)(uintptr_t)tree; /* libyaml's functions take it non-const but do not modify it */
    int count = (int)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
    for (int i = 0; i < count; i++) {
        const yaml_node_t *key = tree_node(own, node->data.mapping.pairs.start[i].key);
        if (!tree_text(tree, key, what, err))
            return -1;
        for (int j = 0; j < i; j++)
            if (strcmp(tree_key(own, node, j), tree_key(own, node, i)) == 0) {
                (void)tree_wrong(tree, key, err, "%s: '%s' appears twice", what, tree_key(own, node, i));
                return -1;
            }
    }
    return count;
}

static bool is_field(const struct tree_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0)
            return true;
    return false;
}

static bool unknown_field(const struct tree *tree, const yaml_node_t *node, const char *what,
                          const char *name, const struct tree_field *fields, size_t count, struct error *err)
{
    const char *names[NAMES];
    for (size_t i = 0; i < count && i < NAMES; i++)
        names[i] = fields[i].name;
    return tree_wrong(tree, node, err, "%s: unknown key '%s'%s", what, name,
                      nearest_hint(name, names, count < NAMES ? count : NAMES).text);
}

bool tree_fields(struct tree *tree, const yaml_node_t *node, const char *what,
                 const struct tree_field *fields, size_t count, void *context, struct error *err)
{
    int pairs = tree_pairs(tree, node, what, err);
    if (pairs < 0)
        return false;
    for (int i = 0; i < pairs; i++)
        if (!is_field(fields, count, tree_key(tree, node, i)))
            return unknown_field(tree, tree_node(tree, node->data.mapping.pairs.start[i].key), what,
                                 tree_key(tree, node, i), fields, count, err);
    for (size_t f = 0; f < count; f++) {
        int i = 0;
        while (i < pairs && strcmp(fields[f].name, tree_key(tree, node, i)) != 0)
            i++;
        if (i == pairs && fields[f].required)
            return tree_wrong(tree, node, err, "%s: '%s' is missing", what, fields[f].name);
        if (i < pairs && !fields[f].read(context, tree_value(tree, node, i), err))
            return false;
    }
    return true;
}
