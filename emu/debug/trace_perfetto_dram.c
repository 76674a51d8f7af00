#include <inttypes.h>
#include <stdlib.h>

#include "emu/debug/trace_perfetto.h"

/* What of a bank has begun and not ended; its slices are told by begin and end, because column commands lie
 * within open rows. */
struct bank {
    struct json_track track;
    bool row, column;    /* slices that are open */
    uint64_t opened;     /* cycle of the activate */
    uint64_t row_end;    /* by auto-precharge, or CLOCK_NEVER */
    uint64_t column_end; /* unless something else comes before */
};

struct channel {
    struct json_track data_bus;
    struct json_track ranks[DRAM_RANKS];
    struct bank banks[DRAM_BANKS];
};

struct perfetto_memory {
    struct perfetto_memory *next;
    struct perfetto *perfetto;
    struct dram_config config;
    struct dram_clocks clocks;
    struct channel *channels;
};

/* A command leaves the controller front_latency after the cycle in which the queues chose it, as they run
 * without that delay. */
static uint64_t time_of(const struct perfetto_memory *memory, uint64_t cycle)
{
    return cycle * memory->config.tCK + memory->config.front_latency;
}

static void write_slice(struct perfetto_memory *memory, struct json_track track, const char *name,
                        uint64_t cycle, uint64_t clocks)
{
    struct line_writer *out = memory->perfetto->out;
    if (!trace_admit(&memory->perfetto->base))
        return;
    json_event(out, 'X', track, name);
    json_time(out, "ts", time_of(memory, cycle));
    json_time(out, "dur", clocks * memory->config.tCK);
    json_event_end(out);
}

/* Opens a slice; false when the trace is full. */
static bool write_begin(struct perfetto_memory *memory, const struct bank *bank, const char *name,
                        uint64_t cycle)
{
    struct line_writer *out = memory->perfetto->out;
    if (!trace_admit(&memory->perfetto->base))
        return false;
    json_event(out, 'B', bank->track, name);
    json_time(out, "ts", time_of(memory, cycle));
    json_event_end(out);
    return true;
}

static void write_end(struct perfetto_memory *memory, const struct bank *bank, uint64_t cycle)
{
    struct line_writer *out = memory->perfetto->out;
    json_event(out, 'E', bank->track, NULL);
    json_time(out, "ts", time_of(memory, cycle));
    json_event_end(out);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Ends what is over at `cycle`, when something new happens to the bank, or the row if `close`. */
static void settle(struct perfetto_memory *memory, struct bank *bank, uint64_t cycle, bool close)
{
    uint64_t row_end = earlier(bank->row_end, cycle);
    if (bank->column)
        write_end(memory, bank, earlier(bank->column_end, row_end));
    bank->column = false;
    if (!bank->row || (bank->row_end > cycle && !close))
        return;
    write_end(memory, bank, row_end);
    bank->row = false;
}

static void activate(struct perfetto_memory *memory, struct bank *bank, const struct dram_record *record)
{
    char name[24];
    (void)snprintf(name, sizeof name, "row %" PRIu32, record->row);
    settle(memory, bank, record->cycle, true);
    bank->row = write_begin(memory, bank, name, record->cycle);
    bank->opened = record->cycle;
    bank->row_end = CLOCK_NEVER;
}

/* When the device closes the row by itself after a column command with auto-precharge. */
static uint64_t auto_precharge(const struct dram_clocks *clocks, const struct bank *bank,
                               const struct dram_record *record)
{
    uint64_t after = record->command == DRAM_RDA ? clocks->tRTP : clocks->tCWL + clocks->tBURST + clocks->tWR;
    uint64_t least = bank->opened + clocks->tRAS;
    return record->cycle + after > least ? record->cycle + after : least;
}

static void move_data(struct perfetto_memory *memory, struct channel *channel, struct bank *bank,
                      const struct dram_record *record)
{
    const struct dram_clocks *clocks = &memory->clocks;
    bool read = record->command == DRAM_RD || record->command == DRAM_RDA;
    char name[48];
    settle(memory, bank, record->cycle, false);
    (void)snprintf(name, sizeof name, "%s %" PRIu32, dram_command_name(record->command), record->column);
    bank->column = write_begin(memory, bank, name, record->cycle);
    bank->column_end = record->cycle + clocks->tBURST;
    if (record->command == DRAM_RDA || record->command == DRAM_WRA)
        bank->row_end = auto_precharge(clocks, bank, record);
    (void)snprintf(name, sizeof name, "%s %" PRIu32 ".%" PRIu32 ".%" PRIu32, read ? "read" : "write",
                   record->rank, record->group, record->bank);
    write_slice(memory, channel->data_bus, name, record->cycle + (read ? clocks->tCL : clocks->tCWL),
                clocks->tBURST);
}

static void refresh_bank(struct perfetto_memory *memory, struct bank *bank, uint64_t cycle)
{
    settle(memory, bank, cycle, true);
    write_slice(memory, bank->track, "refresh", cycle, memory->clocks.tRFCB);
}

static void close_rank(struct perfetto_memory *memory, struct channel *channel,
                       const struct dram_record *record)
{
    uint32_t banks = dram_config_rank_banks(&memory->config);
    for (uint32_t i = 0; i < banks; i++)
        settle(memory, &channel->banks[record->rank * banks + i], record->cycle, true);
    if (record->command == DRAM_REF)
        write_slice(memory, channel->ranks[record->rank], "refresh", record->cycle, memory->clocks.tRFC);
}

static void write_command(void *context, const struct dram_record *record)
{
    struct perfetto_memory *memory = context;
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
    case DRAM_COMMANDS: break;
    }
}

static void name_channel(struct perfetto_memory *memory, struct channel *channel, const char *name)
{
    const struct dram_config *config = &memory->config;
    struct perfetto *perfetto = memory->perfetto;
    struct json_track process = perfetto_process(perfetto, name);
    char text[64];
    channel->data_bus = perfetto_track(perfetto, process, "data bus");
    for (uint32_t rank = 0; rank < config->ranks; rank++) {
        (void)snprintf(text, sizeof text, "rank %" PRIu32, rank);
        channel->ranks[rank] = perfetto_track(perfetto, process, text);
    }
    for (uint32_t i = 0; i < dram_config_channel_banks(config); i++) {
        uint32_t group = i / config->banks;
        (void)snprintf(text, sizeof text, "bank %" PRIu32 ".%" PRIu32 ".%" PRIu32, group / config->groups,
                       group % config->groups, i % config->banks);
        channel->banks[i].track = perfetto_track(perfetto, process, text);
        channel->banks[i].row_end = CLOCK_NEVER;
    }
}

bool perfetto_watch_dram(struct trace *trace, const char *name, const struct dram_config *config,
                         struct dram_observer *observer, struct error *err)
{
    struct perfetto *perfetto = (struct perfetto *)trace;
    struct perfetto_memory *memory = trace_allocate(1, sizeof *memory);
    (void)err;
    memory->next = perfetto->memories;
    perfetto->memories = memory;
    memory->perfetto = perfetto;
    memory->config = *config;
    memory->clocks = dram_config_clocks(config);
    memory->channels = trace_allocate(config->channels, sizeof *memory->channels);
    for (uint32_t i = 0; i < config->channels; i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "%s channel %" PRIu32, name, i);
        name_channel(memory, &memory->channels[i], text);
    }
    *observer = (struct dram_observer){.command = write_command, .context = memory};
    return true;
}

/* The cycle that is under way at time now, or later where something has begun later. */
static void end_bank(struct perfetto_memory *memory, struct bank *bank, uint64_t now)
{
    uint64_t cycle =
        now > memory->config.front_latency ? (now - memory->config.front_latency) / memory->config.tCK : 0;
    if (bank->column && cycle < bank->column_end)
        cycle = bank->column_end;
    if (bank->row && cycle < bank->opened)
        cycle = bank->opened;
    settle(memory, bank, cycle, true);
}

void perfetto_end_dram(struct perfetto *perfetto, uint64_t now)
{
    for (struct perfetto_memory *memory = perfetto->memories; memory; memory = memory->next)
        for (uint32_t i = 0; i < memory->config.channels; i++)
            for (uint32_t bank = 0; bank < DRAM_BANKS; bank++)
                end_bank(memory, &memory->channels[i].banks[bank], now);
}

void perfetto_free_dram(struct perfetto *perfetto)
{
    for (struct perfetto_memory *memory = perfetto->memories, *next; memory; memory = next) {
        next = memory->next;
        free(memory->channels);
        free(memory);
    }
}
