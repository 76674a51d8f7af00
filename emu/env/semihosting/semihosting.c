#include "emu/env/semihosting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/env/semihosting/state.h"
#include "emu/hart/probe.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/say.h"

enum {
    EPOCH = 1577836800, /* 2020-01-01 00:00:00 UTC */
    NANOSECONDS = 1000000000,
    CENTISECONDS = 100,
    A0 = 10,
    A1 = 11,
};

struct semihosting *semihosting_new(const struct semihosting_options *options, struct error *err)
{
    struct semihosting *sh = alloc(1, sizeof *sh);
    sh->options = *options;
    if (!sandbox_open(&sh->sandbox, options->dir, err)) {
        free(sh);
        return NULL;
    }
    files_init(&sh->files);
    return sh;
}

void semihosting_free(struct semihosting *semihosting)
{
    if (!semihosting)
        return;
    files_free(&semihosting->files);
    sandbox_close(&semihosting->sandbox);
    free(semihosting);
}

static uint64_t put_fields(struct semihosting *sh, uint64_t address, const uint64_t *fields, unsigned count)
{
    return hart_memory_write(sh->hart, address, fields, count * sizeof *fields)
               ? 0
               : semihosting_fail(sh, EFAULT);
}

static uint64_t now(const struct semihosting *sh)
{
    return sh->options.now(sh->options.context);
}

static uint64_t do_writec(struct semihosting *sh, uint64_t address)
{
    uint8_t byte;
    if (!hart_memory_read(sh->hart, address, &byte, 1))
        return semihosting_fail(sh, EFAULT);
    sh->options.put(sh->options.context, byte);
    return 0;
}

/* Prints the string up to its terminating zero or the end of memory. */
static uint64_t do_write0(struct semihosting *sh, uint64_t address)
{
    uint8_t byte;
    for (; hart_memory_read(sh->hart, address, &byte, 1); address++) {
        if (byte == 0)
            return 0;
        sh->options.put(sh->options.context, byte);
    }
    return semihosting_fail(sh, EFAULT);
}

static uint64_t do_readc(struct semihosting *sh, uint64_t argument)
{
    (void)argument;
    int byte = sh->options.get(sh->options.context);
    return byte < 0 ? UINT64_MAX : (uint64_t)byte;
}

static uint64_t do_iserror(struct semihosting *sh, uint64_t address)
{
    uint64_t status;
    return semihosting_fields(sh, address, &status, 1) ? status >> 63 : 1;
}

static uint64_t do_clock(struct semihosting *sh, uint64_t argument)
{
    (void)argument;
    return now(sh) / (NANOSECONDS / CENTISECONDS);
}

static uint64_t do_time(struct semihosting *sh, uint64_t argument)
{
    (void)argument;
    return EPOCH + now(sh) / NANOSECONDS;
}

static uint64_t do_elapsed(struct semihosting *sh, uint64_t address)
{
    const uint64_t ticks = now(sh);
    return put_fields(sh, address, &ticks, 1);
}

static uint64_t do_tickfreq(struct semihosting *sh, uint64_t argument)
{
    (void)sh, (void)argument;
    return NANOSECONDS;
}

static uint64_t do_system(struct semihosting *sh, uint64_t argument)
{
    (void)argument;
    return semihosting_fail(sh, EPERM);
}

static uint64_t do_errno(struct semihosting *sh, uint64_t argument)
{
    (void)argument;
    return (uint64_t)sh->failed;
}

/* Fields: buffer, its size. Sets the second field to the length without the zero. */
static uint64_t do_get_cmdline(struct semihosting *sh, uint64_t address)
{
    uint64_t fields[2], used = 0;
    if (!semihosting_fields(sh, address, fields, 2))
        return UINT64_MAX;
    uint64_t length = 0;
    for (size_t i = 0; i < sh->options.argument_count; i++)
        length += strlen(sh->options.arguments[i]) + (i > 0);
    if (fields[1] <= length)
        return semihosting_fail(sh, E2BIG);
    for (size_t i = 0; i < sh->options.argument_count; i++) {
        const char *argument = sh->options.arguments[i];
        if (i > 0 && !hart_memory_write(sh->hart, fields[0] + used++, " ", 1))
            return semihosting_fail(sh, EFAULT);
        if (!hart_memory_write(sh->hart, fields[0] + used, argument, strlen(argument)))
            return semihosting_fail(sh, EFAULT);
        used += strlen(argument);
    }
    if (!hart_memory_write(sh->hart, fields[0] + used, "", 1))
        return semihosting_fail(sh, EFAULT);
    return put_fields(sh, address + 8, &length, 1);
}

/* The argument points to the address of a block: heap base, heap limit, stack base, stack limit; 0 means
 * unknown. */
static uint64_t do_heapinfo(struct semihosting *sh, uint64_t address)
{
    uint64_t block;
    if (!semihosting_fields(sh, address, &block, 1))
        return UINT64_MAX;
    const uint64_t base = sh->options.heap_base;
    const uint64_t end = base ? sh->options.memory->base + sh->options.memory->size : 0;
    const uint64_t fields[4] = {base, end, end, base};
    return put_fields(sh, block, fields, 4);
}

static uint64_t do_exit(struct semihosting *sh, uint64_t address)
{
    enum { APPLICATION_EXIT = 0x20026 };
    uint64_t fields[2];
    int status = 1;
    if (semihosting_fields(sh, address, fields, 2) && fields[0] == APPLICATION_EXIT)
        status = (int)(fields[1] & 0xff);
    sh->options.exit(sh->options.context, status);
    return 0;
}

static uint64_t (*const operations[])(struct semihosting *sh, uint64_t argument) = {
    [0x01] = semihosting_open,
    [0x02] = semihosting_close,
    [0x03] = do_writec,
    [0x04] = do_write0,
    [0x05] = semihosting_write,
    [0x06] = semihosting_read,
    [0x07] = do_readc,
    [0x08] = do_iserror,
    [0x09] = semihosting_istty,
    [0x0a] = semihosting_seek,
    [0x0c] = semihosting_flen,
    [0x0d] = semihosting_tmpnam,
    [0x0e] = semihosting_remove,
    [0x0f] = semihosting_rename,
    [0x10] = do_clock,
    [0x11] = do_time,
    [0x12] = do_system,
    [0x13] = do_errno,
    [0x15] = do_get_cmdline,
    [0x16] = do_heapinfo,
    [0x18] = do_exit,
    [0x20] = do_exit,
    [0x30] = do_elapsed,
    [0x31] = do_tickfreq,
};
enum { OPERATION_SYSTEM = 0x12 };

bool semihosting_call(struct semihosting *semihosting, struct hart *hart)
{
    struct semihosting *sh = semihosting;
    const uint64_t number = hart->x[A0];
    const bool known = number < sizeof operations / sizeof operations[0] && operations[number];
    sh->hart = hart;
    if ((!known || number == OPERATION_SYSTEM) && !sh->noted[number % SEMIHOSTING_OPERATIONS]) {
        sh->noted[number % SEMIHOSTING_OPERATIONS] = true;
        say_warning("semihosting: operation 0x%" PRIx64 " at 0x%" PRIx64 " is %s", number, hart->pc,
                    known ? "refused: SYS_SYSTEM" : "unknown");
    }
    hart->x[A0] = known ? operations[number](sh, hart->x[A1]) : semihosting_fail(sh, ENOSYS);
    return known;
}
