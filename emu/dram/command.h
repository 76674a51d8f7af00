/* The commands from a controller to DRAM devices, as rows of a table. */
#ifndef EMU_DRAM_COMMAND_H
#define EMU_DRAM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of commands: those of command.def, then the standard's additional ones in the order of its
 * rows. The table of the standard, from dram_commands() (standard.h), gives a number its meaning. */
enum dram_command {
#define DRAM_COMMAND(name, ...) DRAM_##name,
#include "emu/dram/command.def"
#undef DRAM_COMMAND
    DRAM_OWN,           /* first number of an additional command */
    DRAM_COMMANDS = 16, /* more than the number of any command */
};

enum { DRAM_OWN_COMMANDS = DRAM_COMMANDS - DRAM_OWN }; /* most commands that a standard can add */

/* A set of commands, for rules. */
#define DRAM_SET(command) (1U << DRAM_##command)

/* The command buses of memories with two. */
enum dram_bus { DRAM_BUS_ROW, DRAM_BUS_COLUMN, DRAM_BUSES };

/* The banks that a command affects, from the smallest to the largest set. ALIKE: the bank of that number in each group of
 * the rank. */
enum dram_extent {
    DRAM_EXTENT_BANK,
    DRAM_EXTENT_ALIKE,
    DRAM_EXTENT_GROUP,
    DRAM_EXTENT_RANK,
    DRAM_EXTENT_CHANNEL
};

/* The required state of all affected banks. */
enum dram_needs { DRAM_NEEDS_ANY, DRAM_NEEDS_OPEN, DRAM_NEEDS_CLOSED };

/* The state of these banks after the command. Only commands for one bank, or one of each group, open rows. */
enum dram_change { DRAM_CHANGE_KEEPS, DRAM_CHANGE_OPENS, DRAM_CHANGE_CLOSES };

/* The burst that a command moves over the data bus: from tCL or tCWL after the command, for tBURST. INSIDE: the
 * data stay in the devices, but the command keeps the distances of one that moves a burst. */
enum dram_data {
    DRAM_DATA_NONE,
    DRAM_DATA_READ,
    DRAM_DATA_WRITE,
    DRAM_DATA_READ_INSIDE,
    DRAM_DATA_WRITE_INSIDE
};

/* The counters of a channel, which the memory registers as statistics. */
#define DRAM_COUNTERS(row)                                                                                   \
    row(activates, "commands", "Activate commands")                                                          \
        row(precharges, "commands", "Precharge commands, of one bank or all; without auto-precharges")       \
            row(reads, "bursts", "Bursts read from the devices")                                             \
                row(writes, "bursts", "Bursts written to the devices")                                       \
                    row(row_hits, "bursts", "Bursts whose row was already open")                             \
                        row(refreshes, "commands", "Refreshes of all banks of a rank")                       \
                            row(bank_refreshes, "commands", "Refreshes of one bank")                         \
                                row(forwarded, "bursts", "Reads answered from the write queue")              \
                                    row(merged, "bursts", "Writes merged with a queued one")                 \
                                        row(drains, "times", "Changes from reading to writing")              \
                                            row(open_clocks, "clocks",                                       \
                                                "Clocks in which a rank had a bank open, summed over ranks")

struct dram_counters {
#define DRAM_COUNTER(name, unit, meaning) uint64_t name;
    DRAM_COUNTERS(DRAM_COUNTER)
#undef DRAM_COUNTER
    uint64_t own[DRAM_OWN_COMMANDS]; /* issued commands of each additional kind */
};

/* A command: the description that timing, channel, checker, traces and energies use. */
struct dram_command_row {
    const char *name; /* as in traces: "ACT"; NULL: the standard has no command with this number */
    const char *meaning;
    enum dram_bus bus;
    enum dram_extent extent;
    enum dram_needs needs;
    enum dram_change change;
    enum dram_data data;
    enum dram_command timed_as; /* itself, or the command of command.def with the same timing */
    size_t counter;             /* offset in struct dram_counters of the counter that it increments */

    /* An additional command has its own statistic and energy account. */
    const char *count;  /* name of both; NULL in command.def */
    uint64_t energy;    /* fJ of one command in one device */
    const char *source; /* source of the energy */
};

/* Returns whether a command of command.def is a column command, which moves data. The others are row
 * commands. */
static inline bool dram_command_is_column(enum dram_command command)
{
    enum {
        COLUMNS = 0
#define DRAM_COMMAND(name, bus, ...) | (unsigned)(DRAM_BUS_##bus == DRAM_BUS_COLUMN) << DRAM_##name
#include "emu/dram/command.def"
#undef DRAM_COMMAND
    };
    return (unsigned)COLUMNS >> command & 1;
}

#endif
