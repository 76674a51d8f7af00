#include "emu/dram/observers/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/dram/standard.h"
#include "emu/sim/alloc.h"

struct dram_trace {
    struct dram_observer observer;
    struct track stream;
    const struct dram_command_row *commands;
};

static void write_command(void *context, const struct dram_record *record)
{
    struct dram_trace *trace = context;
    const struct dram_command_row *row = &trace->commands[record->command];
    char line[TRACK_LABEL], text[5][16] = {"-", "-", "-", "-", "-"}; /* rank, group, bank, row, column */
    const bool column = row->bus == DRAM_BUS_COLUMN;
    if (row->extent < DRAM_EXTENT_CHANNEL)
        (void)snprintf(text[0], sizeof *text, "%" PRIu32, record->rank);
    if (row->extent < DRAM_EXTENT_RANK && row->extent != DRAM_EXTENT_ALIKE)
        (void)snprintf(text[1], sizeof *text, "%" PRIu32, record->group);
    if (row->extent <= DRAM_EXTENT_ALIKE)
        (void)snprintf(text[2], sizeof *text, "%" PRIu32, record->bank);
    if (row->change == DRAM_CHANGE_OPENS || column)
        (void)snprintf(text[3], sizeof *text, "%" PRIu32, record->row);
    if (column)
        (void)snprintf(text[4], sizeof *text, "%" PRIu32, record->column);
    (void)snprintf(line, sizeof line, "%" PRIu64 " %" PRIu32 " %s %s %s %s %s %s", record->cycle,
                   record->channel, row->name, text[0], text[1], text[2], text[3], text[4]);
    (void)track_text(trace->stream, line);
}

struct dram_trace *dram_trace_new(struct track stream, const struct dram_config *config)
{
    char line[TRACK_LABEL];
    struct dram_trace *trace = alloc(1, sizeof *trace);
    trace->stream = stream;
    trace->commands = dram_commands(config);
    trace->observer = (struct dram_observer){.command = write_command, .context = trace};
    (void)snprintf(line, sizeof line, "# croft dram trace 1: %s, a cycle is %" PRIu64 " fs",
                   dram_rows(config)->name, config->tCK);
    (void)track_text(stream, line);
    (void)track_text(stream, "# cycle channel command rank group bank row column");
    return trace;
}

void dram_trace_free(struct dram_trace *trace)
{
    free(trace);
}

struct dram_observer *dram_trace_observer(struct dram_trace *trace)
{
    return &trace->observer;
}

/* Reads the next word of *at as a number below limit, or as `-`, which is 0. */
static bool read_number(char **at, uint64_t limit, uint64_t *value)
{
    char *word = strtok_r(NULL, " \t\n", at), *end;
    if (!word)
        return false;
    if (strcmp(word, "-") == 0) {
        *value = 0;
        return true;
    }
    if (*word < '0' || *word > '9')
        return false;
    *value = strtoull(word, &end, 10);
    return *end == '\0' && *value < limit;
}

static bool parse(char *text, const struct dram_command_row *commands, struct dram_record *record)
{
    char *at = NULL, *first = strtok_r(text, " \t\n", &at), *end;
    uint64_t channel, rank, group, bank, row, column;
    record->cycle = strtoull(first, &end, 10);
    if (*end || *first < '0' || *first > '9' || !read_number(&at, DRAM_CHANNELS, &channel))
        return false;
    const char *name = strtok_r(NULL, " \t\n", &at);
    if (!name)
        return false;
    record->command = 0;
    while (record->command < DRAM_COMMANDS &&
           (!commands[record->command].name || strcmp(name, commands[record->command].name) != 0))
        record->command++;
    if (record->command == DRAM_COMMANDS)
        return false;
    if (!read_number(&at, DRAM_RANKS, &rank) || !read_number(&at, DRAM_GROUPS, &group) ||
        !read_number(&at, DRAM_BANKS, &bank) || !read_number(&at, UINT32_MAX, &row) ||
        !read_number(&at, UINT32_MAX, &column) || strtok_r(NULL, " \t\n", &at))
        return false;
    record->channel = (uint32_t)channel;
    record->rank = (uint32_t)rank;
    record->group = (uint32_t)group;
    record->bank = (uint32_t)bank;
    record->row = (uint32_t)row;
    record->column = (uint32_t)column;
    return true;
}

bool dram_trace_read(FILE *in, const struct dram_command_row *commands, struct dram_record *record,
                     unsigned long *line, struct error *err)
{
    char text[256];
    while (fgets(text, sizeof text, in)) {
        ++*line;
        if (text[0] == '#' || text[strspn(text, " \t\n")] == '\0')
            continue;
        if (!strchr(text, '\n') && !feof(in))
            return error_set(err, "line %lu: too long for a command", *line);
        if (!parse(text, commands, record))
            return error_set(
                err, "line %lu: not a command; expected: cycle channel command rank group bank row column",
                *line);
        return true;
    }
    record->command = DRAM_COMMANDS;
    return !ferror(in) || error_set(err, "line %lu: read error", *line);
}
