#include "emu/sim/report/scope.h"

#include <string.h>

#include "emu/sim/alloc.h"

enum { DIGITS = 10 }; /* decimal digits of a uint32_t */

/* Returns an upper bound of the length of the scope's path, with a dot after each name. */
static size_t room_of(const struct scope *scope)
{
    size_t room = 0;
    for (; scope; scope = scope->parent)
        room += (scope->name ? strlen(scope->name) + 1 : 0) + (scope->indexed ? DIGITS + 1 : 0);
    return room;
}

static char *put_text(char *to, const char *text)
{
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}

static char *put_number(char *to, uint32_t number)
{
    char digits[DIGITS];
    unsigned count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *to++ = digits[--count];
    return to;
}

/* Appends the path, outermost name first, with a dot after each name. */
static char *put_path(char *to, const struct scope *scope)
{
    if (scope->parent)
        to = put_path(to, scope->parent);
    if (scope->name) {
        to = put_text(to, scope->name);
        *to++ = '.';
    }
    if (scope->indexed) {
        to = put_number(to, scope->index);
        *to++ = '.';
    }
    return to;
}

char *scope_path(struct scope scope, const char *name)
{
    char *path = alloc(1, room_of(&scope) + (name ? strlen(name) : 0) + 1);
    char *end = put_path(path, &scope);
    if (name)
        end = put_text(end, name);
    else if (end > path)
        end--; /* drop the last dot */
    *end = '\0';
    return path;
}
