#include "emu/dev/finisher.h"

enum { FAIL = 0x3333, PASS = 0x5555, RESET = 0x7777 };

static uint64_t finisher_read(void *device, uint64_t offset, unsigned size)
{
    (void)device;
    (void)offset;
    (void)size;
    return 0;
}

static void finisher_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    const struct finisher *finisher = device;
    int code = (int)(value >> 16 & 0xff);
    (void)size;
    if (offset != 0)
        return;
    switch (value & 0xffff) {
    case PASS: finisher->exit(finisher->context, 0); break;
    case FAIL: finisher->exit(finisher->context, code ? code : 1); break;
    case RESET: finisher->reset(finisher->context); break;
    default: break;
    }
}

const struct device_ops finisher_ops = {.read = finisher_read, .write = finisher_write};
