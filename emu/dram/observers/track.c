#include "emu/dram/observers/track.h"
#include "emu/dram/standard.h"
#include "emu/sim/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The open slices of a bank. They are written by begin and end, because column commands lie within open
 * rows. */
struct bank {
    struct track track;
    bool row, column;    /* open slices */
    uint64_t opened;     /* cycle of the activate */
    uint64_t row_end;    /* cycle of the auto-precharge, or CLOCK_NEVER */
    uint64_t column_end; /* end of the column command, unless the row closes or another command comes first */
};

struct channel {
    struct track data_bus;
    struct track ranks[DRAM_RANKS];
    struct bank banks[DRAM_BANKS];
};

struct dram_track {
    struct dram_observer observer;
    struct track_end end;
    struct track_sink *sink; /* NULL: the trace has ended */
    struct dram_config config;
    const struct dram_command_row *commands;
    struct dram_clocks clocks;
    struct channel *channels;
};

/* Returns the time at which a command leaves the controller: front_latency after its cycle, because the
 * queues run without that delay. */
static uint64_t time_of(const struct dram_track *memory, uint64_t cycle)
{
    return cycle * memory->config.tCK + memory->config.front_latency;
}

static void show_slice(const struct dram_track *memory, struct track track, const char *name, uint64_t cycle,
                       uint64_t clocks)
{
    (void)track_slice(track, name, time_of(memory, cycle), time_of(memory, cycle + clocks));
}

/* Opens a slice. Returns false if the trace is full. */
static bool show_begin(const struct dram_track *memory, const struct bank *bank, const char *name,
                       uint64_t cycle)
{
    return track_begin(bank->track, name, time_of(memory, cycle));
}

static void show_end(const struct dram_track *memory, const struct bank *bank, uint64_t cycle)
{
    track_end(bank->track, time_of(memory, cycle));
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Ends the slices that are over at `cycle`, when a new event of the bank occurs. `close`: also ends an open
 * row. */
static void settle(struct dram_track *memory, struct bank *bank, uint64_t cycle, bool close)
{
    uint64_t row_end = earlier(bank->row_end, cycle);
    if (bank->column)
        show_end(memory, bank, earlier(bank->column_end, row_end));
    bank->column = false;
    if (!bank->row || (bank->row_end > cycle && !close))
        return;
    show_end(memory, bank, row_end);
    bank->row = false;
}

static void activate(struct dram_track *memory, struct bank *bank, const struct dram_record *record)
{
    char name[24];
    (void)snprintf(name, sizeof name, "row %" PRIu32, record->row);
    settle(memory, bank, record->cycle, true);
    bank->row = show_begin(memory, bank, name, record->cycle);
    bank->opened = record->cycle;
    bank->row_end = CLOCK_NEVER;
}

/* Returns the cycle at which the device closes the row after a column command with auto-precharge. */
static uint64_t auto_precharge(const struct dram_clocks *clocks, const struct bank *bank,
                               const struct dram_record *record)
{
    uint64_t after = record->command == DRAM_RDA ? clocks->tRTP : clocks->tCWL + clocks->tBURST + clocks->tWR;
    uint64_t least = bank->opened + clocks->tRAS;
    return record->cycle + after > least ? record->cycle + after : least;
}

static void move_data(struct dram_track *memory, struct channel *channel, struct bank *bank,
                      const struct dram_record *record)
{
    const struct dram_clocks *clocks = &memory->clocks;
    bool read = record->command == DRAM_RD || record->command == DRAM_RDA;
    char name[48];
    settle(memory, bank, record->cycle, false);
    (void)snprintf(name, sizeof name, "%s %" PRIu32, memory->commands[record->command].name, record->column);
    bank->column = show_begin(memory, bank, name, record->cycle);
    bank->column_end = record->cycle + clocks->tBURST;
    if (record->command == DRAM_RDA || record->command == DRAM_WRA)
        bank->row_end = auto_precharge(clocks, bank, record);
    (void)snprintf(name, sizeof name, "%s %" PRIu32 ".%" PRIu32 ".%" PRIu32, read ? "read" : "write",
                   record->rank, record->group, record->bank);
    show_slice(memory, channel->data_bus, name,
               record->cycle + dram_command_shift(&memory->config, record->command) +
                   (read ? clocks->tCL : clocks->tCWL),
               clocks->tBURST);
}

static void refresh_bank(struct dram_track *memory, struct bank *bank, uint64_t cycle)
{
    settle(memory, bank, cycle, true);
    show_slice(memory, bank->track, "refresh", cycle, memory->clocks.tRFCB);
}

static void close_rank(struct dram_track *memory, struct channel *channel, const struct dram_record *record)
{
    uint32_t banks = dram_config_rank_banks(&memory->config);
    for (uint32_t i = 0; i < banks; i++)
        settle(memory, &channel->banks[record->rank * banks + i], record->cycle, true);
    if (record->command == DRAM_REF)
        show_slice(memory, channel->ranks[record->rank], "refresh", record->cycle, memory->clocks.tRFC);
}

/* Shows an additional command of the standard: its effect on rows, and a slice of one clock on the rank's
 * line. */
static void own_command(struct dram_track *memory, struct channel *channel, const struct dram_record *record)
{
    const struct dram_config *config = &memory->config;
    const struct dram_command_row *row = &memory->commands[record->command];
    const uint32_t step = row->extent == DRAM_EXTENT_ALIKE ? config->banks : 1;
    const uint32_t counts[] = {[DRAM_EXTENT_BANK] = 1,
                               [DRAM_EXTENT_ALIKE] = dram_config_wide(config),
                               [DRAM_EXTENT_GROUP] = config->banks,
                               [DRAM_EXTENT_RANK] = dram_config_rank_banks(config),
                               [DRAM_EXTENT_CHANNEL] = dram_config_channel_banks(config)};
    struct bank *bank =
        &channel->banks[(record->rank * config->groups + record->group) * config->banks + record->bank];
    for (uint32_t i = 0; row->change == DRAM_CHANGE_OPENS && i < counts[row->extent]; i++)
        activate(memory, &bank[i * step], record);
    for (uint32_t i = 0; row->change == DRAM_CHANGE_CLOSES && i < counts[row->extent]; i++)
        settle(memory, &bank[i * step], record->cycle, true);
    show_slice(memory, channel->ranks[record->rank], row->name, record->cycle, 1);
}

static void show_command(void *context, const struct dram_record *record)
{
    struct dram_track *memory = context;
    const struct dram_config *config = &memory->config;
    struct channel *channel = &memory->channels[record->channel];
    struct bank *bank =
        &channel->banks[(record->rank * config->groups + record->group) * config->banks + record->bank];
    switch (record->command) {
    case DRAM_ACT: activate(memory, bank, record); break;
    case DRAM_PRE: settle(memory, bank, record->cycle, true); break;
    case DRAM_RD:
    case DRAM_RDA:
    case DRAM_WR:
    case DRAM_WRA: move_data(memory, channel, bank, record); break;
    case DRAM_REFB: refresh_bank(memory, bank, record->cycle); break;
    case DRAM_PREA:
    case DRAM_REF: close_rank(memory, channel, record); break;
    default: own_command(memory, channel, record); break;
    }
}

static void name_channel(struct dram_track *memory, struct channel *channel, const char *name)
{
    const struct dram_config *config = &memory->config;
    const struct track group = track_group(memory->sink, name);
    char text[64];
    channel->data_bus = track_line(group, "data bus");
    for (uint32_t rank = 0; rank < config->ranks; rank++) {
        (void)snprintf(text, sizeof text, "rank %" PRIu32, rank);
        channel->ranks[rank] = track_line(group, text);
    }
    for (uint32_t i = 0; i < dram_config_channel_banks(config); i++) {
        uint32_t of = i / config->banks;
        (void)snprintf(text, sizeof text, "bank %" PRIu32 ".%" PRIu32 ".%" PRIu32, of / config->groups,
                       of % config->groups, i % config->banks);
        channel->banks[i].track = track_line(group, text);
        channel->banks[i].row_end = CLOCK_NEVER;
    }
}

/* Ends the slices of a bank at the cycle of time `now`, or later if one of them begins later. */
static void end_bank(struct dram_track *memory, struct bank *bank, uint64_t now)
{
    uint64_t cycle =
        now > memory->config.front_latency ? (now - memory->config.front_latency) / memory->config.tCK : 0;
    if (bank->column && cycle < bank->column_end)
        cycle = bank->column_end;
    if (bank->row && cycle < bank->opened)
        cycle = bank->opened;
    settle(memory, bank, cycle, true);
}

static void end(void *context, uint64_t now)
{
    struct dram_track *memory = context;
    for (uint32_t i = 0; i < memory->config.channels; i++)
        for (uint32_t bank = 0; bank < DRAM_BANKS; bank++)
            end_bank(memory, &memory->channels[i].banks[bank], now);
    memory->sink = NULL;
}

struct dram_track *dram_track_new(struct track_sink *sink, const char *name, const struct dram_config *config)
{
    struct dram_track *memory = calloc(1, sizeof *memory);
    if (!memory || !(memory->channels = calloc(config->channels, sizeof *memory->channels)))
        alloc_failed();
    memory->sink = sink;
    memory->config = *config;
    memory->clocks = dram_config_clocks(config);
    memory->commands = dram_commands(config);
    for (uint32_t i = 0; i < config->channels; i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "%s channel %" PRIu32, name, i);
        name_channel(memory, &memory->channels[i], text);
    }
    memory->observer = (struct dram_observer){.command = show_command, .context = memory};
    memory->end = (struct track_end){.end = end, .context = memory};
    observer_add_first(&sink->ends, &memory->end.link);
    return memory;
}

void dram_track_free(struct dram_track *track)
{
    if (!track)
        return;
    if (track->sink)
        observer_remove(&track->sink->ends, &track->end.link);
    free(track->channels);
    free(track);
}

struct dram_observer *dram_track_observer(struct dram_track *track)
{
    return &track->observer;
}
