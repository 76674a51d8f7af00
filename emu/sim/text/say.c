#include "emu/sim/text/say.h"

#include <stdarg.h>

/* The only state that a thread has: messages come from all rooms, at any depth. Initial-exec, because this object becomes part
 * of libraries, too. */
static _Thread_local FILE *stream_set __attribute__((tls_model("initial-exec")));

FILE *say_stream(void)
{
    return stream_set ? stream_set : stderr;
}

FILE *say_set(FILE *stream)
{
    FILE *before = stream_set;
    stream_set = stream;
    return before;
}

static void print(const char *kind, const char *format, va_list arguments)
{
    FILE *stream = say_stream();
    (void)fprintf(stream, "croft run: %s", kind);
    (void)vfprintf(stream, format, arguments);
    (void)fputc('\n', stream);
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
