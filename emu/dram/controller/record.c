#include "emu/dram/controller/record.h"

#include "emu/dram/controller/channel.h"

void dram_record_tell(const struct dram_channel *channel, enum dram_command command, uint32_t index,
                      uint32_t row, uint32_t column)
{
    const struct dram_common *common = channel->common;
    const struct dram_rules *rules = &common->rules;
    const enum dram_extent extent = rules->extent[command];
    const uint32_t group = rules->group_of[index] % common->config.groups;
    struct dram_record record = {.cycle = channel->floor,
                                 .command = command,
                                 .channel = channel->index,
                                 .rank = extent == DRAM_EXTENT_CHANNEL ? 0 : rules->rank_of[index],
                                 .group = extent >= DRAM_EXTENT_RANK    ? 0
                                          : extent == DRAM_EXTENT_ALIKE ? group & ~(rules->wide - 1)
                                                                        : group,
                                 .bank = extent <= DRAM_EXTENT_ALIKE ? index % common->config.banks : 0,
                                 .row = row,
                                 .column = column};
    OBSERVER_TELL(&common->observers, struct dram_observer, command, &record);
}
