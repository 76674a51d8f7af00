#include "emu/nucd/description.h"

#include <stdio.h>

#include "emu/core/config.h"
#include "emu/mem/cache.h"
#include "emu/nucd/engine/engines.h"
#include "emu/sim/clock.h"
#include "emu/sim/text/quantity.h"
#include "emu/sim/text/say.h"

#define PATIENCE (UINT64_C(1000) * CLOCK_SECOND)

static unsigned copies(const struct tree *tree, const char *path)
{
    const struct instance *instance = tree_find(tree, path);
    return instance ? instance->copies : 0;
}

const struct nucd_config *nucd_described(const struct tree *tree)
{
    return tree_config(tree, "nucd");
}

void nucd_be_patient(const struct tree *tree)
{
    const struct instance *nucd = tree_find(tree, "nucd");
    if (nucd && !nucd->absent)
        ((struct nucd_config *)nucd->config)->timeout = PATIENCE;
}

bool nucd_wanted(const struct tree *tree)
{
    const struct core_config *host = tree_config(tree, "host");
    return host && host->core != CORE_FUNCTIONAL && nucd_described(tree) && copies(tree, "accel") > 0;
}

unsigned nucd_count(const struct tree *tree, const char *firmware)
{
    return firmware && nucd_wanted(tree) ? copies(tree, "accel") : 0;
}

uint32_t nucd_line(const struct tree *tree)
{
    uint32_t longest = NUCD_LINE;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        if (i->kind != &cache_kind || i->parent->kind != &core_kind)
            continue;
        const struct cache_config *cache = i->config;
        longest = cache->line > longest ? cache->line : longest;
    }
    return longest;
}

struct phys nucd_program_memory(const struct tree *tree, const char *firmware, const struct phys *memory)
{
    uint64_t taken = nucd_count(tree, firmware) ? nucd_described(tree)->memory : 0;
    return phys_view(memory, memory->base, memory->size - taken, memory->base);
}

struct phys nucd_firmware_memory(const struct tree *tree, const struct phys *memory)
{
    uint64_t size = nucd_described(tree)->memory, offset = memory->size - size;
    return phys_view(memory, memory->base + offset, size, memory->base + offset);
}

/* The base must be a multiple of the size because one NAPOT entry of the PMP protects the firmware's
 * memory. */
bool nucd_check_memory(const struct tree *tree, uint64_t base, uint64_t size, uint64_t stack,
                       struct error *err)
{
    char text[QUANTITY_TEXT];
    if (!nucd_wanted(tree))
        return true;
    uint64_t bytes = nucd_described(tree)->memory;
    if ((base + size) % bytes == 0 && bytes + stack < size)
        return true;
    quantity_format(QUANTITY_SIZE, bytes, text);
    (void)error_set(err,
                    "%s is not allowed; allowed: a power of two that divides memory.base + memory.size and "
                    "leaves room for programs and user_stack.size",
                    text);
    return tree_at(tree, tree_find(tree, "nucd"), "memory", err);
}

static bool has_engines(const struct tree *tree)
{
    return nucd_wanted(tree) && engines_hosts(nucd_described(tree), 1, 1) > 0;
}

void nucd_warn_driver(const struct tree *tree)
{
    char source[TREE_SOURCE];
    if (!nucd_wanted(tree) || nucd_described(tree)->mode != NUCD_MODE_DRIVER)
        return;
    tree_source_of(tree, "nucd.mode", source);
    say_warning("nucd.mode (%s): the driver is in the kernel beneath programs of croft cc (--env kernel): "
                "here the host runs all regions",
                source);
}

void nucd_warn_inlined(const struct tree *tree, const char *machine, bool firmware)
{
    const struct nucd_config *config = nucd_described(tree);
    const char *advice = "--firmware gives the accelerators firmware that takes tasks";
    if (nucd_wanted(tree) && (firmware || !has_engines(tree)))
        return;
    if (!config)
        advice = "take a machine whose description has `nucd` and `accel`, such as -m nucd";
    else if (copies(tree, "accel") == 0)
        advice = "set accel.count to 1 or more";
    say_warning("the host ran all regions, because no core of machine '%s' can offload; %s", machine, advice);
}

void nucd_warn_hosts(const struct tree *tree)
{
    char others[64], engines[48] = "", cores[48] = "";
    unsigned hosts = copies(tree, "host"), accelerators = copies(tree, "accel");
    if (!has_engines(tree))
        return;
    const struct nucd_config *config = nucd_described(tree);
    unsigned count = engines_hosts(config, hosts, accelerators);
    if (count == hosts)
        return;
    bool few_engines = config->hosts < hosts, one = hosts - count == 1,
         few_accelerators = accelerators < hosts && config->arbitration == NUCD_PARTITION;
    (void)snprintf(others, sizeof others, one ? "host.%u does" : "host.%u to host.%u do", count, hosts - 1);
    if (few_engines)
        (void)snprintf(engines, sizeof engines, "nucd.hosts to %u%s", hosts, few_accelerators ? " and " : "");
    if (few_accelerators)
        (void)snprintf(cores, sizeof cores, "accel.count to %u or more", hosts);
    say_warning("%s is %u: %s not offload, but run%s all regions; to let %s offload, set %s%s",
                count == config->hosts ? "nucd.hosts" : "accel.count", count, others, one ? "s" : "",
                one ? "it" : "them", engines, cores);
}
