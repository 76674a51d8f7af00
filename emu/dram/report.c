/* The statistics and energies of a memory. */
#include <stdlib.h>
#include <string.h>

#include "emu/dram/observers/banks.h"
#include "emu/sim/alloc.h"

/* A counter of one channel or of all, times a factor. */
struct dram_figure {
    struct dram_memory *memory;
    size_t offset; /* in struct dram_channel */
    uint64_t factor;
    uint32_t channel; /* number of the channel; the number of channels: all */
};

uint64_t dram_memory_sum(const struct dram_memory *memory, size_t offset)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < memory->common.config.channels; i++)
        sum += *(const uint64_t *)(const void *)((const char *)&memory->slices[i].channel + offset);
    return sum;
}

void dram_memory_sync(struct dram_memory *memory, uint64_t now)
{
    uint64_t edge = clock_cycle(&(struct clock){memory->common.config.tCK}, now);
    for (uint32_t i = 0; i < memory->common.config.channels; i++) {
        dram_channel_run(&memory->slices[i].channel, edge);
        dram_channel_settle(&memory->slices[i].channel);
    }
}

static uint64_t read_figure(const void *context)
{
    const struct dram_figure *figure = context;
    struct dram_memory *memory = figure->memory;
    dram_memory_sync(memory, memory->queue->now);
    if (figure->channel == memory->common.config.channels)
        return dram_memory_sum(memory, figure->offset) * figure->factor;
    const char *channel = (const char *)&memory->slices[figure->channel].channel;
    return *(const uint64_t *)(const void *)(channel + figure->offset) * figure->factor;
}

/* Returns the time with no bank open, summed over devices. */
static uint64_t read_closed_time(const void *context)
{
    const struct dram_figure *open = context;
    const struct dram_memory *memory = open->memory;
    const struct dram_config *config = &memory->common.config;
    uint64_t open_time = read_figure(open);
    uint64_t edges = memory->slices[0].channel.floor;
    return edges * config->tCK * config->channels * config->ranks * config->devices - open_time;
}

static const struct dram_figure *figure_new(struct dram_memory *memory, size_t offset, uint32_t channel,
                                            uint64_t factor)
{
    struct dram_figure *figure = alloc(1, sizeof *figure);
    size_t room = (memory->figure_count + 1) * sizeof *memory->figures;
    struct dram_figure **figures = alloc_resize(memory->figures, room);
    *figure = (struct dram_figure){memory, offset, factor, channel};
    memory->figures = figures;
    memory->figures[memory->figure_count++] = figure;
    return figure;
}

static const struct counter {
    const char *name, *unit, *meaning;
    size_t offset;
} counters[] = {
#define DRAM_COUNTER(name, unit, meaning)                                                                    \
    {#name, unit, meaning, offsetof(struct dram_channel, counters.name)},
    DRAM_COUNTERS(DRAM_COUNTER)
#undef DRAM_COUNTER
};

/* Returns the offset in struct dram_channel of the command's counter. */
static size_t offset_of(const struct dram_command_row *row)
{
    return offsetof(struct dram_channel, counters) + row->counter;
}

/* Registers a counter of one channel, or the sum of all if `channel` is the number of channels. */
static void publish_counter(struct dram_memory *memory, struct stats *stats, struct scope scope,
                            uint32_t channel, const struct counter *counter)
{
    const struct dram_figure *figure = figure_new(memory, counter->offset, channel, 1);
    stats_computed(stats, scope, counter->name, read_figure, figure, counter->unit, counter->meaning);
}

static uint64_t read_bank_count(const void *context)
{
    const struct dram_bank_count *count = context;
    dram_memory_sync(count->memory, count->memory->queue->now);
    return count->value;
}

static void publish_banks(const struct dram_memory *memory, struct stats *stats, struct scope scope)
{
    static const struct {
        const char *name, *unit, *meaning;
    } rows[DRAM_BANK_COUNTERS] = {
        [DRAM_BANK_ACTIVATES] = {"activates", "commands", "Activate commands of the bank"},
        [DRAM_BANK_READS] = {"reads", "bursts", "Bursts read from the bank"},
        [DRAM_BANK_WRITES] = {"writes", "bursts", "Bursts written to the bank"},
        [DRAM_BANK_ROW_HITS] = {"row_hits", "bursts",
                                "Bursts of the bank after the first one of an open row"},
        [DRAM_BANK_ROW_CONFLICTS] = {"row_conflicts", "commands",
                                     "Activate commands of the bank after another row was closed for a "
                                     "waiting burst"},
    };
    const struct dram_config *config = &memory->common.config;
    for (uint32_t i = 0; i < config->channels; i++) {
        const struct scope channel = scope_number(&scope, i);
        for (uint32_t number = 0; number < dram_config_channel_banks(config); number++) {
            const struct scope bank = scope_at(&channel, "bank", number);
            for (enum dram_bank_counter counter = 0; counter < DRAM_BANK_COUNTERS; counter++)
                stats_computed(stats, bank, rows[counter].name, read_bank_count,
                               dram_banks_count(memory->banks, i, number, counter), rows[counter].unit,
                               rows[counter].meaning);
        }
    }
}

void dram_memory_publish(struct dram_memory *memory, struct stats *stats, struct scope scope)
{
    const struct stats_row requests[] = {
        {"read_requests", &memory->requests_read, "requests", "Read requests accepted"},
        {"write_requests", &memory->requests_write, "requests", "Write requests accepted"},
        {"read_latency", &memory->read_latency, "fs",
         "Time from request to response, summed over read requests"},
    };
    stats_counters(stats, scope, requests, sizeof requests / sizeof *requests);
    stats_histogram(stats, scope, "read_clocks", &memory->read_clocks, "clocks", "requests",
                    "Clocks of tCK from request to response of a read");
    const struct dram_command_row *own = &memory->common.rules.commands[DRAM_OWN];
    uint32_t channels = memory->common.config.channels;
    for (uint32_t channel = 0; channel <= channels; channel++) {
        struct scope of = channel < channels ? scope_number(&scope, channel) : scope;
        for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
            publish_counter(memory, stats, of, channel, &counters[i]);
        for (size_t i = 0; i < DRAM_OWN_COMMANDS && own[i].name; i++)
            publish_counter(memory, stats, of, channel,
                            &(struct counter){own[i].count, "commands", own[i].meaning, offset_of(&own[i])});
    }
    if (memory->banks)
        publish_banks(memory, stats, scope);
}

/* Opens the accounts of the standard's additional commands. */
static void charge_own(struct dram_memory *memory, struct energy_ledger *ledger, struct scope scope)
{
    const struct dram_config *config = &memory->common.config;
    const struct dram_command_row *own = &memory->common.rules.commands[DRAM_OWN];
    for (size_t i = 0; i < DRAM_OWN_COMMANDS && own[i].name; i++)
        energy_add(ledger, scope,
                   &(struct energy_account){
                       .name = own[i].count,
                       .read = read_figure,
                       .context = figure_new(memory, offset_of(&own[i]), config->channels, config->devices),
                       .unit = own[i].energy,
                       .kind = ENERGY_PER_EVENT,
                       .source = own[i].source,
                       .group = "dram"});
}

/* Returns what would tell an energy that is 0 because the standard has no source for its energies, or NULL. */
static const char *untold(const struct dram_config *config, const char *field, uint64_t unit)
{
    const bool spare = strcmp(field, "energy_io_bit") == 0 || strcmp(field, "energy_refb") == 0;
    if (unit || spare || dram_rows(config)->source("energy_read_bit"))
        return NULL;
    return "energy_act, energy_ref, energy_read_bit, energy_write_bit, power_open and power_closed: no "
           "public data sheet tells currents of this standard";
}

void dram_memory_energy(struct dram_memory *memory, struct energy_ledger *ledger, struct scope scope)
{
    const struct dram_config *config = &memory->common.config;
    uint64_t bits = 8 * (uint64_t)config->burst_bytes, devices = config->devices;
    uint64_t open = config->tCK * devices;
    const struct row {
        const char *name, *field;
        size_t offset;
        uint64_t factor, unit;
        enum energy_kind kind;
        uint64_t (*read)(const void *context);
    } rows[] = {
#define COUNTER(name) offsetof(struct dram_channel, counters.name)
        {"activate", "energy_act", COUNTER(activates), devices, config->energy_act, ENERGY_PER_EVENT,
         read_figure},
        {"refresh", "energy_ref", COUNTER(refreshes), devices, config->energy_ref, ENERGY_PER_EVENT,
         read_figure},
        {"bank_refresh", "energy_refb", COUNTER(bank_refreshes), devices, config->energy_refb,
         ENERGY_PER_EVENT, read_figure},
        {"read", "energy_read_bit", COUNTER(reads), bits, config->energy_read_bit, ENERGY_PER_EVENT,
         read_figure},
        {"write", "energy_write_bit", COUNTER(writes), bits, config->energy_write_bit, ENERGY_PER_EVENT,
         read_figure},
        {"read_io", "energy_io_bit", COUNTER(reads), bits, config->energy_io_bit, ENERGY_PER_EVENT,
         read_figure},
        {"write_io", "energy_io_bit", COUNTER(writes), bits, config->energy_io_bit, ENERGY_PER_EVENT,
         read_figure},
        {"open", "power_open", COUNTER(open_clocks), open, config->power_open, ENERGY_OVER_TIME, read_figure},
        {"closed", "power_closed", COUNTER(open_clocks), open, config->power_closed, ENERGY_OVER_TIME,
         read_closed_time},
#undef COUNTER
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct dram_figure *figure =
            figure_new(memory, rows[i].offset, config->channels, rows[i].factor);
        energy_add(ledger, scope,
                   &(struct energy_account){.name = rows[i].name,
                                            .read = rows[i].read,
                                            .context = figure,
                                            .unit = rows[i].unit,
                                            .kind = rows[i].kind,
                                            .fields = rows[i].field,
                                            .untold = untold(config, rows[i].field, rows[i].unit),
                                            .group = "dram"});
    }
    charge_own(memory, ledger, scope);
}
