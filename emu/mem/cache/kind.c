/* The kind "cache": its fields and their check. */
#include <inttypes.h>

#include "emu/mem/cache/state.h"

static bool is_power(uint64_t value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

static bool check_protocol(const struct cache_config *config, struct error *err)
{
    const struct protocol *protocol = cache_protocol(config);
    if (!protocol_check(protocol, err))
        return false;
    if (protocol->grain != PROTOCOL_LINE)
        return error_set(err, "protocol: %s keeps a state for each word; this cache keeps one for each line",
                         protocol->name);
    if (config->coherent != (protocol->directory_count > 0))
        return error_set(err, "protocol: %s is %sfor a coherent cache", protocol->name,
                         config->coherent ? "not " : "");
    return true;
}

static bool check(const void *part, struct error *err)
{
    const struct cache_config *config = part;
    uint64_t set = (uint64_t)config->ways * config->line;
    if (config->replacement != TAGS_LRU && !is_power(config->ways))
        return error_set(err, "ways: %" PRIu32 "; tree_plru needs a power of two", config->ways);
    if (config->size % set || !is_power(config->size / set))
        return error_set(
            err, "size: %" PRIu64 " bytes; it must be ways * line (%" PRIu64 " bytes) times a power of two",
            config->size, set);
    if (config->coherent && config->write_through)
        return error_set(err, "write_through: a coherent cache must be write-back");
    if (config->coherent && !config->write_allocate)
        return error_set(err, "write_allocate: a coherent cache must own the lines that it writes");
    if (config->prefetch != CACHE_PREFETCH_NONE && config->mshrs <= config->prefetch_reserve)
        return error_set(err,
                         "prefetch: needs more MSHRs (mshrs: %" PRIu32
                         ") than are reserved for demand accesses (prefetch_reserve: %" PRIu32 ")",
                         config->mshrs, config->prefetch_reserve);
    return check_protocol(config, err);
}

bool cache_may_join(const struct cache_config *config, const char *role, struct error *err)
{
    if (config->prefetch == CACHE_PREFETCH_NONE)
        return true;
    return error_set(
        err, "%s.prefetch: %s is not possible above a last level with coherence: denovo; allowed: none", role,
        cache_prefetch_names[config->prefetch]);
}

#define PART struct cache_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/mem/cache.def"
};

const struct part_kind cache_kind = {
    .name = "cache",
    .explanation = "A first-level cache.",
    PART_CONFIG(struct cache_config),
    .functional = "",
    .check = check,
};
