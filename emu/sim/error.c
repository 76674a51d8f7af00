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

    char whole[2 * sizeof prefix.text + 2];
    (void)snprintf(whole, sizeof whole, "%s: %s", prefix.text, err->text);
    whole[sizeof err->text - 1] = '\0';
    memcpy(err->text, whole, sizeof err->text);
    return false;
}
