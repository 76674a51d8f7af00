#include "emu/dev/finisher.h"

#include <stdlib.h>

#include "emu/dev/device.h"
#include "emu/sim/alloc.h"
#include "linker/map.h"

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

static bool peek(void *device, uint64_t offset, uint64_t *value)
{
    *value = finisher_read(device, offset, 4);
    return true;
}

static bool finisher_functional(void *device, const struct mem_access *access)
{
    return bytes_peek(access, 4, peek, device);
}

const struct device_ops finisher_ops = {
    .read = finisher_read, .write = finisher_write, .functional = finisher_functional};

static void *make(const void *config, const struct device_site *site)
{
    struct finisher *finisher = alloc(1, sizeof *finisher);
    (void)config;
    *finisher = (struct finisher){.exit = site->exit, .reset = site->restart, .context = site->context};
    return finisher;
}

static void describe(struct node_writer *writer, const void *config)
{
    static const char compatible[] = "sifive,test1\0sifive,test0\0syscon";
    uint64_t base = ((const struct device_config *)config)->base;
    node_begin_at(writer, "test", base);
    node_bytes(writer, "compatible", compatible, sizeof compatible);
    node_reg(writer, base, FINISHER_SIZE);
    node_cell(writer, "phandle", node_finisher_handle(writer));
    node_end(writer);
}

/* Writes a node that tells operating systems which value to store for an action (`compatible`). */
static void describe_value(struct node_writer *writer, const char *name, const char *compatible,
                           uint32_t value)
{
    node_begin(writer, name);
    node_text(writer, "compatible", compatible);
    node_cell(writer, "regmap", node_finisher_handle(writer));
    node_cell(writer, "offset", 0);
    node_cell(writer, "value", value);
    node_end(writer);
}

static void describe_use(struct node_writer *writer)
{
    describe_value(writer, "poweroff", "syscon-poweroff", PASS);
    describe_value(writer, "reboot", "syscon-reboot", RESET);
}

static const struct device_kind device = {
    .size = FINISHER_SIZE,
    .sizes = FINISHER_ACCESS,
    .ops = &finisher_ops,
    .make = make,
    .free = free,
    .describe = describe,
    .describe_use = describe_use,
};

static const struct part_field fields[] = {DEVICE_BASE(TEXT_VALUE(CROFT_FINISHER_BASE))};

const struct part_kind finisher_kind = {
    .name = "finisher",
    .explanation = "Test finisher (SiFive): a store to it ends or restarts the run.",
    PART_CONFIG(struct device_config),
    .extension = &device,
};
