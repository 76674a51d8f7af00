#include "emu/dev/plic.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/dev/device.h"
#include "emu/sim/alloc.h"
#include "linker/map.h"

enum {
    WORDS = PLIC_SOURCES / 32 + 1,
    PRIORITY_MASK = 7,
    PENDING = 0x1000,
    ENABLE = 0x2000,
    ENABLE_STEP = 0x80,
    CONTEXT = 0x200000,
    CONTEXT_STEP = 0x1000,
};

struct context {
    uint32_t enable[WORDS];
    uint32_t threshold;
    bool level;
    struct irq_line line;
};

struct plic {
    uint32_t pending[WORDS];
    uint32_t level[WORDS];   /* levels of the inputs */
    uint32_t claimed[WORDS]; /* claimed and not completed: the gateway sends no further request */
    uint8_t priority[PLIC_SOURCES + 1];
    unsigned count;
    struct context contexts[];
};

struct plic *plic_new(unsigned contexts, const struct irq_line *lines)
{
    assert(contexts <= PLIC_CONTEXTS);
    struct plic *plic = alloc(1, sizeof *plic + contexts * sizeof plic->contexts[0]);
    plic->count = contexts;
    for (unsigned i = 0; i < contexts; i++)
        plic->contexts[i].line = lines[i];
    return plic;
}

void plic_free(struct plic *plic)
{
    free(plic);
}

/* Returns the context's pending and enabled source with the highest priority above `threshold`; 0 if there is
 * none. Among equal priorities the lowest number wins. */
static unsigned best_source(const struct plic *plic, const struct context *context, uint32_t threshold)
{
    unsigned best = 0;
    uint32_t best_priority = threshold;
    for (unsigned word = 0; word < WORDS; word++) {
        for (uint32_t set = plic->pending[word] & context->enable[word]; set; set &= set - 1) {
            unsigned source = 32 * word + (unsigned)__builtin_ctz(set);
            if (plic->priority[source] > best_priority) {
                best = source;
                best_priority = plic->priority[source];
            }
        }
    }
    return best;
}

static void update(struct plic *plic)
{
    for (unsigned word = 0; word < WORDS; word++)
        plic->pending[word] |= plic->level[word] & ~plic->claimed[word];
    for (unsigned i = 0; i < plic->count; i++) {
        struct context *context = &plic->contexts[i];
        bool level = best_source(plic, context, context->threshold) != 0;
        if (context->level == level)
            continue;
        context->level = level;
        irq_set(&context->line, level);
    }
}

void plic_reset(struct plic *plic)
{
    memset(plic->priority, 0, sizeof plic->priority);
    memset(plic->pending, 0, sizeof plic->pending);
    memset(plic->claimed, 0, sizeof plic->claimed);
    for (unsigned i = 0; i < plic->count; i++) {
        memset(plic->contexts[i].enable, 0, sizeof plic->contexts[i].enable);
        plic->contexts[i].threshold = 0;
    }
    update(plic);
}

/* Returns the bits of word `word` that belong to existing sources. */
static uint32_t existing(uint64_t word)
{
    uint32_t mask = word == 0 ? ~UINT32_C(1) : UINT32_MAX;
    return word == WORDS - 1 ? mask & (uint32_t)((UINT64_C(1) << (PLIC_SOURCES % 32 + 1)) - 1) : mask;
}

static void snapshot_words(struct snapshot *s, const char *name, uint32_t words[WORDS])
{
    for (unsigned word = 0; word < WORDS; word++)
        words[word] = (uint32_t)snapshot_number(s, name, words[word], UINT32_MAX) & existing(word);
}

static void snapshot(void *device, struct snapshot *s)
{
    struct plic *plic = device;
    snapshot_words(s, "pending", plic->pending);
    snapshot_words(s, "level", plic->level);
    snapshot_words(s, "claimed", plic->claimed);
    for (unsigned source = 1; source <= PLIC_SOURCES; source++)
        plic->priority[source] =
            (uint8_t)snapshot_number(s, "priority", plic->priority[source], PRIORITY_MASK);
    for (unsigned i = 0; i < plic->count && i / 2 < s->harts; i++) {
        struct context *context = &plic->contexts[i];
        snapshot_words(s, "enable", context->enable);
        context->threshold = (uint32_t)snapshot_number(s, "threshold", context->threshold, PRIORITY_MASK);
        context->level = snapshot_flag(s, "line", context->level);
    }
}

static void set_input(void *device, unsigned source, bool level)
{
    struct plic *plic = device;
    uint32_t bit = UINT32_C(1) << source % 32;
    if (level)
        plic->level[source / 32] |= bit;
    else
        plic->level[source / 32] &= ~bit;
    update(plic);
}

struct irq_line plic_input(struct plic *plic, unsigned source)
{
    assert(source >= 1 && source <= PLIC_SOURCES);
    return (struct irq_line){.set = set_input, .context = plic, .number = source};
}

static uint32_t claim(struct plic *plic, const struct context *context)
{
    unsigned source = best_source(plic, context, 0);
    if (source == 0)
        return 0;
    plic->pending[source / 32] &= ~(UINT32_C(1) << source % 32);
    plic->claimed[source / 32] |= UINT32_C(1) << source % 32;
    update(plic);
    return source;
}

static void complete(struct plic *plic, const struct context *context, uint64_t source)
{
    if (source < 1 || source > PLIC_SOURCES)
        return;
    uint32_t bit = UINT32_C(1) << source % 32;
    if (!(context->enable[source / 32] & bit))
        return;
    plic->claimed[source / 32] &= ~bit;
    update(plic);
}

/* Returns the context whose block of `step` bytes, the first at `first`, contains the offset. NULL if there
 * is none. */
static struct context *context_at(struct plic *plic, uint64_t offset, uint64_t first, uint64_t step)
{
    uint64_t index = (offset - first) / step;
    return index < plic->count ? &plic->contexts[index] : NULL;
}

static uint64_t plic_read(void *device, uint64_t offset, unsigned size)
{
    struct plic *plic = device;
    (void)size;
    if (offset < PENDING)
        return offset / 4 <= PLIC_SOURCES ? plic->priority[offset / 4] : 0;
    if (offset < ENABLE) {
        uint64_t word = (offset - PENDING) / 4;
        return word < WORDS ? plic->pending[word] : 0;
    }
    if (offset < CONTEXT) {
        const struct context *context = context_at(plic, offset, ENABLE, ENABLE_STEP);
        uint64_t word = offset % ENABLE_STEP / 4;
        return context && word < WORDS ? context->enable[word] : 0;
    }
    const struct context *context = context_at(plic, offset, CONTEXT, CONTEXT_STEP);
    if (!context)
        return 0;
    switch (offset % CONTEXT_STEP) {
    case 0: return context->threshold;
    case 4: return claim(plic, context);
    default: return 0;
    }
}

static void plic_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    struct plic *plic = device;
    (void)size;
    if (offset < PENDING) {
        if (offset / 4 >= 1 && offset / 4 <= PLIC_SOURCES)
            plic->priority[offset / 4] = (uint8_t)(value & PRIORITY_MASK);
    } else if (offset >= ENABLE && offset < CONTEXT) {
        struct context *context = context_at(plic, offset, ENABLE, ENABLE_STEP);
        uint64_t word = offset % ENABLE_STEP / 4;
        if (context && word < WORDS)
            context->enable[word] = (uint32_t)value & existing(word);
    } else if (offset >= CONTEXT) {
        struct context *context = context_at(plic, offset, CONTEXT, CONTEXT_STEP);
        if (context && offset % CONTEXT_STEP == 0)
            context->threshold = value & PRIORITY_MASK;
        else if (context && offset % CONTEXT_STEP == 4)
            complete(plic, context, value);
    }
    update(plic);
}

/* Refuses the claim registers, because reading one claims an interrupt. */
static bool peek(void *device, uint64_t offset, uint64_t *value)
{
    if (offset >= CONTEXT && offset % CONTEXT_STEP == 4)
        return false;
    *value = plic_read(device, offset, 4);
    return true;
}

static bool plic_functional(void *device, const struct mem_access *access)
{
    return bytes_peek(access, 4, peek, device);
}

const struct device_ops plic_ops = {.read = plic_read, .write = plic_write, .functional = plic_functional};

static void *make(const void *config, const struct device_site *site)
{
    struct irq_line *lines = alloc(2 * site->harts, sizeof *lines);
    (void)config;
    for (unsigned hart = 0; hart < site->harts; hart++) {
        lines[2 * hart] = site->hart_line(site->context, hart, NODE_MEI);
        lines[2 * hart + 1] = site->hart_line(site->context, hart, NODE_SEI);
    }
    struct plic *plic = plic_new(2 * site->harts, lines);
    free(lines);
    return plic;
}

static void free_device(void *device)
{
    plic_free(device);
}

static void reset(void *device)
{
    plic_reset(device);
}

static void describe(struct node_writer *writer, const void *config)
{
    static const char compatible[] = "sifive,plic-1.0.0\0riscv,plic0";
    uint64_t base = ((const struct device_config *)config)->base;
    node_begin_at(writer, "plic", base);
    node_bytes(writer, "compatible", compatible, sizeof compatible);
    node_reg(writer, base, PLIC_SIZE);
    node_hart_inputs(writer, NODE_MEI, NODE_SEI);
    node_flag(writer, "interrupt-controller");
    node_cell(writer, "#interrupt-cells", 1);
    node_cell(writer, "#address-cells", 0);
    node_cell(writer, "riscv,ndev", PLIC_SOURCES);
    node_cell(writer, "phandle", node_plic_handle(writer));
    node_end(writer);
}

static const struct device_kind device = {
    .size = PLIC_SIZE,
    .sizes = PLIC_ACCESS,
    .controller = true,
    .ops = &plic_ops,
    .make = make,
    .free = free_device,
    .reset = reset,
    .snapshot = snapshot,
    .describe = describe,
};

static const struct part_field fields[] = {DEVICE_BASE(TEXT_VALUE(CROFT_PLIC_BASE))};

const struct part_kind plic_kind = {
    .name = "plic",
    .explanation = "Platform-level interrupt controller (PLIC): 96 sources; contexts M and S of each hart.",
    PART_CONFIG(struct device_config),
    .extension = &device,
};
