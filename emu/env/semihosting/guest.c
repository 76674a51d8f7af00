#include "emu/env/semihosting/state.h"

#include <errno.h>

#include "emu/hart/probe.h"

uint64_t semihosting_fail(struct semihosting *sh, int number)
{
    sh->failed = number;
    return UINT64_MAX;
}

bool semihosting_fields(struct semihosting *sh, uint64_t address, uint64_t *fields, unsigned count)
{
    if (hart_memory_read(sh->hart, address, fields, count * sizeof *fields))
        return true;
    (void)semihosting_fail(sh, EFAULT);
    return false;
}
