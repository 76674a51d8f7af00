#include "emu/sim/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool error_set(struct error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return false;
}

bool error_prefix(struct error *err, const char *format, ...)
{
    struct error prefix;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(prefix.text, sizeof prefix.text, format, args);
    va_end(args);

    struct error whole;
    size_t used = strlen(prefix.text);
    memcpy(whole.text, prefix.text, used);
    (void)snprintf(whole.text + used, sizeof whole.text - used, ": %s", err->text);
    *err = whole;
    return false;
}
