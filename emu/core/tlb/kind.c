/* The kind of a core's translation lookaside buffers. */
#include "emu/core/tlb.h"

enum { L2_WAYS = 4 };

/* By default the first levels are fully associative, and the second level has no more ways than entries. */
static void derive(void *part, const bool given[])
{
    struct tlb_config *config = part, derived = *config;
    derived.l1_ways = config->l1_entries;
    derived.l2_ways = config->l2_entries && config->l2_entries < L2_WAYS ? config->l2_entries : L2_WAYS;
    part_take(&tlb_kind, 0, config, &derived, given);
}

static bool check_level(const char *level, uint32_t entries, uint32_t ways, struct error *err)
{
    if (ways == 0 || ways > entries || entries % ways || (entries / ways & (entries / ways - 1)))
        return error_set(err, "%s_ways: %u is not allowed: %s_entries (%u) / %s_ways must be a power of two",
                         level, ways, level, entries, level);
    return true;
}

static bool check(const void *part, struct error *err)
{
    const struct tlb_config *config = part;
    return check_level("l1", config->l1_entries, config->l1_ways, err) &&
           (config->l2_entries == 0 || check_level("l2", config->l2_entries, config->l2_ways, err));
}

#define PART struct tlb_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/core/tlb/tlb.def"
};

const struct part_kind tlb_kind = {
    .name = "tlb",
    .explanation = "Translation lookaside buffers.",
    PART_CONFIG(struct tlb_config),
    .functional = "",
    .derive = derive,
    .check = check,
};
