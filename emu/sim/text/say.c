#include "emu/sim/text/say.h"

#include <stdarg.h>
#include <stdio.h>

static void print(const char *kind, const char *format, va_list arguments)
{
    (void)fprintf(stderr, "croft run: %s", kind);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print("", format, arguments);
    va_end(arguments);
}

void say_warning(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print("warning: ", format, arguments);
    va_end(arguments);
}
