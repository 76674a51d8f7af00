#include "emu/machine/describe/sources.h"

#include <assert.h>
#include <string.h>

/* The part below an instance whose name is the first `length` bytes of `name`, or NULL. */
static const struct instance *below(const struct instance *instance, const char *name, size_t length)
{
    for (const struct instance *i = instance->first; i; i = i->next)
        if (!i->absent && strlen(i->name) == length && strncmp(i->name, name, length) == 0)
            return i;
    return NULL;
}

void sources_of_field(const void *context, const char *scope, const char *field, char *buffer, size_t size)
{
    const struct sources *sources = context;
    const struct instance *part = sources->part;
    char value[FIELD_VALUE], source[TREE_SOURCE];
    assert(strncmp(scope, part->path, strlen(part->path)) == 0);
    for (const char *at = scope + strlen(part->path); *at;) {
        at += *at == '.';
        size_t length = strcspn(at, ".");
        const struct instance *next = below(part, at, length);
        part = next ? next : part;
        at += length;
    }
    int index = part_field_find(part->kind, field);
    assert(index >= 0);
    field_format(&part->kind->fields[index], part->config, value);
    tree_source(sources->tree, part, (unsigned)index, source);
    (void)snprintf(buffer, size, "%s %s (%s)", field, value, source);
}
