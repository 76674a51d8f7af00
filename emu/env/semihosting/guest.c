#include "emu/env/semihosting/state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "emu/hart/probe.h"

uint64_t semihosting_fail(struct semihosting *sh, int number)
{
    sh->failed = number;
    return UINT64_MAX;
}

void semihosting_warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("croft run: warning: semihosting: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

bool semihosting_fields(struct semihosting *sh, uint64_t address, uint64_t *fields, unsigned count)
{
    if (hart_memory_read(sh->hart, address, fields, count * sizeof *fields))
        return true;
    (void)semihosting_fail(sh, EFAULT);
    return false;
}
