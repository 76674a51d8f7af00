#include "emu/dram/observers/banks.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

struct bank {
    struct dram_bank_count counts[DRAM_BANK_COUNTERS];
    bool fresh;   /* no burst has used the open row */
    bool yielded; /* closed for a waiting burst, and not activated since */
};

struct dram_banks {
    struct dram_observer observer;
    struct dram_memory *memory;
    struct bank *banks; /* by channel, then by number in the channel */
    uint32_t each;      /* banks of a channel */
};

/* Returns whether a burst for the bank is queued. */
static bool is_wanted(const struct dram_banks *banks, uint32_t channel, uint32_t bank)
{
    const struct dram_queue *queue = &banks->memory->slices[channel].channel.queue;
    return queue->lists[DRAM_READS][bank].first || queue->lists[DRAM_WRITES][bank].first;
}

static void count_column(struct bank *bank, enum dram_bank_counter counter)
{
    bank->counts[counter].value++;
    bank->counts[DRAM_BANK_ROW_HITS].value += !bank->fresh;
    bank->fresh = false;
}

static void count_activate(struct bank *bank)
{
    bank->counts[DRAM_BANK_ACTIVATES].value++;
    bank->counts[DRAM_BANK_ROW_CONFLICTS].value += bank->yielded;
    bank->yielded = false;
    bank->fresh = true;
}

/* Clears `yielded` of the banks that a command affects, as a refresh does: their next activates are no row conflicts. */
static void forget(struct dram_banks *all, const struct dram_record *record)
{
    const struct dram_config *config = &all->memory->common.config;
    const enum dram_extent extent = dram_commands(config)[record->command].extent;
    struct bank *bank = &all->banks[(size_t)record->channel * all->each];
    for (uint32_t number = 0; number < all->each; number++, bank++) {
        const uint32_t group = number / config->banks;
        const bool same_rank = group / config->groups == record->rank,
                   same_group = same_rank && group % config->groups == record->group,
                   same_number = number % config->banks == record->bank,
                   reached = group % config->groups / dram_config_wide(config) ==
                             record->group / dram_config_wide(config);
        if (extent == DRAM_EXTENT_CHANNEL || (extent == DRAM_EXTENT_RANK && same_rank) ||
            (extent == DRAM_EXTENT_GROUP && same_group) ||
            (extent == DRAM_EXTENT_ALIKE && same_rank && reached && same_number) ||
            (extent == DRAM_EXTENT_BANK && same_group && same_number))
            bank->yielded = false;
    }
}

static void count_command(void *context, const struct dram_record *record)
{
    struct dram_banks *all = context;
    const struct dram_config *config = &all->memory->common.config;
    const uint32_t number = (record->rank * config->groups + record->group) * config->banks + record->bank;
    struct bank *bank = &all->banks[(size_t)record->channel * all->each + number];
    switch (record->command) {
    case DRAM_ACT: count_activate(bank); break;
    case DRAM_RD:
    case DRAM_RDA: count_column(bank, DRAM_BANK_READS); break;
    case DRAM_WR:
    case DRAM_WRA: count_column(bank, DRAM_BANK_WRITES); break;
    case DRAM_PRE: bank->yielded = is_wanted(all, record->channel, number); break;
    default: forget(all, record); break;
    }
}

struct dram_banks *dram_banks_new(struct dram_memory *memory)
{
    struct dram_banks *banks = alloc(1, sizeof *banks);
    const uint32_t channels = memory->common.config.channels;
    banks->memory = memory;
    banks->each = dram_config_channel_banks(&memory->common.config);
    banks->banks = alloc((size_t)channels * banks->each, sizeof *banks->banks);
    for (size_t i = 0; i < (size_t)channels * banks->each; i++)
        for (size_t counter = 0; counter < DRAM_BANK_COUNTERS; counter++)
            banks->banks[i].counts[counter].memory = memory;
    banks->observer = (struct dram_observer){.command = count_command, .context = banks};
    return banks;
}

struct dram_observer *dram_banks_observer(struct dram_banks *banks)
{
    return &banks->observer;
}

const struct dram_bank_count *dram_banks_count(const struct dram_banks *banks, uint32_t channel,
                                               uint32_t bank, enum dram_bank_counter counter)
{
    return &banks->banks[(size_t)channel * banks->each + bank].counts[counter];
}

void dram_banks_free(struct dram_banks *banks)
{
    if (!banks)
        return;
    free(banks->banks);
    free(banks);
}
