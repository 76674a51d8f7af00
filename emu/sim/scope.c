#include "emu/sim/scope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The outermost name comes first, and each but the first has a dot in front. */
static void write_path(FILE *out, const struct scope *scope, const char **dot)
{
    if (!scope)
        return;
    write_path(out, scope->parent, dot);
    if (scope->name) {
        fprintf(out, "%s%s", *dot, scope->name);
        *dot = ".";
    }
    if (scope->indexed) {
        fprintf(out, "%s%" PRIu32, *dot, scope->index);
        *dot = ".";
    }
}

char *scope_path(struct scope scope, const char *name)
{
    char *text = NULL;
    size_t size = 0;
    const char *dot = "";
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    write_path(out, &scope, &dot);
    if (name)
        fprintf(out, "%s%s", dot, name);
    if (fclose(out) != 0 || !text)
        abort();
    return text;
}
