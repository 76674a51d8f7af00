#include "emu/sim/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void alloc_failed(void)
{
    static const char text[] = "croft: the host has no memory left\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        abort();
    abort();
}

void *alloc_checked(void *memory)
{
    if (!memory)
        alloc_failed();
    return memory;
}

void *alloc(size_t count, size_t size)
{
    return alloc_checked(calloc(count ? count : 1, size ? size : 1));
}

void *alloc_resize(void *old, size_t bytes)
{
    return alloc_checked(realloc(old, bytes ? bytes : 1));
}

char *alloc_text(const char *text)
{
    return alloc_checked(strdup(text));
}

char *alloc_format(const char *pattern, ...)
{
    char *text;
    va_list values;
    va_start(values, pattern);
    const int length = vasprintf(&text, pattern, values);
    va_end(values);
    if (length < 0)
        alloc_failed();
    return text;
}
