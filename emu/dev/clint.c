#include "emu/dev/clint.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/dev/device.h"
#include "emu/sim/alloc.h"
#include "linker/map.h"

enum { MSIP = 0, MTIMECMP = 0x4000, MTIME = 0xbff8 };

struct clint {
    unsigned harts;
    uint64_t offset; /* mtime - now, modulo 2^64 */
    struct timebase timebase;
    struct hart_inputs {
        uint64_t compare;
        bool software_level, timer_level;
        struct irq_line software, timer;
    } inputs[];
};

struct clint *clint_new(unsigned harts, const struct timebase *timebase, const struct irq_line *software,
                        const struct irq_line *timer)
{
    assert(harts <= (MTIME - MTIMECMP) / 8);
    struct clint *clint = alloc(1, sizeof *clint + harts * sizeof clint->inputs[0]);
    clint->harts = harts;
    clint->timebase = *timebase;
    for (unsigned hart = 0; hart < harts; hart++) {
        clint->inputs[hart].software = software[hart];
        clint->inputs[hart].timer = timer[hart];
    }
    clint_reset(clint);
    return clint;
}

void clint_free(struct clint *clint)
{
    free(clint);
}

static void set_software(struct clint *clint, uint64_t hart, bool level)
{
    if (clint->inputs[hart].software_level == level)
        return;
    clint->inputs[hart].software_level = level;
    irq_set(&clint->inputs[hart].software, level);
}

void clint_reset(struct clint *clint)
{
    clint->offset = 0 - timebase_now(&clint->timebase);
    for (unsigned hart = 0; hart < clint->harts; hart++) {
        clint->inputs[hart].compare = UINT64_MAX;
        set_software(clint, hart, false);
    }
    clint_update(clint);
}

void clint_snapshot(struct clint *clint, struct snapshot *s)
{
    uint64_t now = timebase_now(&clint->timebase);
    clint->offset = snapshot_number(s, "mtime", now + clint->offset, UINT64_MAX) - now;
    for (unsigned hart = 0; hart < clint->harts && hart < s->harts; hart++) {
        struct hart_inputs *inputs = &clint->inputs[hart];
        inputs->compare = snapshot_number(s, "mtimecmp", inputs->compare, UINT64_MAX);
        inputs->software_level = snapshot_flag(s, "msip", inputs->software_level);
        inputs->timer_level = snapshot_flag(s, "mtip", inputs->timer_level);
    }
}

uint64_t clint_time(const struct clint *clint)
{
    return timebase_now(&clint->timebase) + clint->offset;
}

uint64_t clint_next_event(const struct clint *clint)
{
    uint64_t time = clint_time(clint), wait = UINT64_MAX;
    for (unsigned hart = 0; hart < clint->harts; hart++) {
        uint64_t until = clint->inputs[hart].compare - time;
        if (clint->inputs[hart].compare > time && until < wait)
            wait = until;
    }
    uint64_t now = timebase_now(&clint->timebase);
    return wait < UINT64_MAX - now ? now + wait : TIMEBASE_NEVER;
}

void clint_update(struct clint *clint)
{
    uint64_t time = clint_time(clint);
    for (unsigned hart = 0; hart < clint->harts; hart++) {
        bool level = time >= clint->inputs[hart].compare;
        if (clint->inputs[hart].timer_level == level)
            continue;
        clint->inputs[hart].timer_level = level;
        irq_set(&clint->inputs[hart].timer, level);
    }
}

/* Returns the accessed half of a 64-bit register, or the whole register. */
static uint64_t part(uint64_t whole, uint64_t offset, unsigned size)
{
    return size == 8 ? whole : (uint32_t)(whole >> (offset % 8 * 8));
}

/* Returns the register after a write of `value` to the accessed half or to the whole register. */
static uint64_t merge(uint64_t whole, uint64_t offset, unsigned size, uint64_t value)
{
    if (size == 8)
        return value;
    unsigned shift = (unsigned)(offset % 8 * 8);
    return (whole & ~((uint64_t)UINT32_MAX << shift)) | (uint64_t)(uint32_t)value << shift;
}

static uint64_t clint_read(void *device, uint64_t offset, unsigned size)
{
    const struct clint *clint = device;
    if (offset < MTIMECMP) {
        uint64_t value = 0, first = (offset - MSIP) / 4;
        for (unsigned i = 0; i < size / 4 && first + i < clint->harts; i++)
            value |= (uint64_t)clint->inputs[first + i].software_level << (32 * i);
        return value;
    }
    uint64_t hart = (offset - MTIMECMP) / 8;
    if (hart < clint->harts)
        return part(clint->inputs[hart].compare, offset, size);
    return offset / 8 == MTIME / 8 ? part(clint_time(clint), offset, size) : 0;
}

static void clint_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    struct clint *clint = device;
    if (offset < MTIMECMP) {
        uint64_t first = (offset - MSIP) / 4;
        for (unsigned i = 0; i < size / 4 && first + i < clint->harts; i++)
            set_software(clint, first + i, value >> (32 * i) & 1);
        return;
    }
    uint64_t hart = (offset - MTIMECMP) / 8;
    if (hart < clint->harts)
        clint->inputs[hart].compare = merge(clint->inputs[hart].compare, offset, size, value);
    else if (offset / 8 == MTIME / 8)
        clint->offset += merge(clint_time(clint), offset, size, value) - clint_time(clint);
    else
        return;
    clint_update(clint);
    timebase_moved(&clint->timebase);
}

static bool peek(void *device, uint64_t offset, uint64_t *value)
{
    *value = clint_read(device, offset, 4);
    return true;
}

static bool clint_functional(void *device, const struct mem_access *access)
{
    return bytes_peek(access, 4, peek, device);
}

const struct device_ops clint_ops = {
    .read = clint_read, .write = clint_write, .functional = clint_functional};

static void *make(const void *config, const struct device_site *site)
{
    struct irq_line *lines = alloc(2 * site->harts, sizeof *lines);
    (void)config;
    for (unsigned hart = 0; hart < site->harts; hart++) {
        lines[hart] = site->hart_line(site->context, hart, NODE_MSI);
        lines[site->harts + hart] = site->hart_line(site->context, hart, NODE_MTI);
    }
    struct clint *clint = clint_new(site->harts, &site->timebase, lines, lines + site->harts);
    free(lines);
    return clint;
}

DEVICE_CLOCKED(clint)

static void describe(struct node_writer *writer, const void *config)
{
    static const char compatible[] = "sifive,clint0\0riscv,clint0";
    uint64_t base = ((const struct device_config *)config)->base;
    node_begin_at(writer, "clint", base);
    node_bytes(writer, "compatible", compatible, sizeof compatible);
    node_reg(writer, base, CLINT_SIZE);
    node_hart_inputs(writer, NODE_MSI, NODE_MTI);
    node_end(writer);
}

static const struct device_kind device = {
    .size = CLINT_SIZE,
    .sizes = CLINT_ACCESS,
    .ops = &clint_ops,
    .make = make,
    DEVICE_CLOCKED_ROWS,
    .describe = describe,
};

static const struct part_field fields[] = {DEVICE_BASE(TEXT_VALUE(CROFT_CLINT_BASE))};

const struct part_kind clint_kind = {
    .name = "clint",
    .explanation = "Core-local interruptor (CLINT): software interrupts and the timer, 10 MHz.",
    PART_CONFIG(struct device_config),
    .extension = &device,
};
