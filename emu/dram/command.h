/* The commands that a controller sends to DRAM devices, as rows of a table. */
#ifndef EMU_DRAM_COMMAND_H
#define EMU_DRAM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of commands: those of command.def, then the standard's own in the order of its rows. A number
 * has a meaning only together with the table of its standard, which dram_commands() (standard.h) gives. */
enum dram_command {
#define DRAM_COMMAND(name, ...) DRAM_##name,
#include "emu/dram/command.def"
#undef DRAM_COMMAND
    DRAM_OWN,           /* the first of the standard's own */
    DRAM_COMMANDS = 16, /* above the number of every command */
};

enum { DRAM_OWN_COMMANDS = DRAM_COMMANDS - DRAM_OWN }; /* most that a standard can add */

/* Sets of commands, as rule rows name them. */
#define DRAM_SET(command) (1U << DRAM_##command)

/* The command bus of memories that have two. */
enum dram_bus { DRAM_BUS_ROW, DRAM_BUS_COLUMN, DRAM_BUSES };

/* What one command concerns, from the least to the greatest. */
enum dram_extent { DRAM_EXTENT_BANK, DRAM_EXTENT_GROUP, DRAM_EXTENT_RANK, DRAM_EXTENT_CHANNEL };

/* What all banks that a command concerns must be when it comes. */
enum dram_needs { DRAM_NEEDS_ANY, DRAM_NEEDS_OPEN, DRAM_NEEDS_CLOSED };

/* What these banks are afterwards. Only commands for one bank open. */
enum dram_change { DRAM_CHANGE_KEEPS, DRAM_CHANGE_OPENS, DRAM_CHANGE_CLOSES };

/* Which burst a command moves over the data bus: tCL or tCWL after it, for tBURST. */
enum dram_data { DRAM_DATA_NONE, DRAM_DATA_READ, DRAM_DATA_WRITE };

/* What a channel has done; registered as statistics by the memory. */
#define DRAM_COUNTERS(row)                                                                                   \
    row(activates, "commands", "Activate commands")                                                          \
        row(precharges, "commands", "Precharge commands, of one bank or all; auto-precharges not counted")   \
            row(reads, "bursts", "Bursts read from the devices")                                             \
                row(writes, "bursts", "Bursts written to the devices")                                       \
                    row(row_hits, "bursts", "Bursts whose row was open already")                             \
                        row(refreshes, "commands", "Refreshes of all banks of a rank")                       \
                            row(bank_refreshes, "commands", "Refreshes of one bank")                         \
                                row(forwarded, "bursts", "Reads answered from the write queue")              \
                                    row(merged, "bursts", "Writes united with a queued one")                 \
                                        row(drains, "times", "Changes from reading to writing")              \
                                            row(open_clocks, "clocks",                                       \
                                                "Clocks in which a rank had a bank open, summed over ranks")

struct dram_counters {
#define DRAM_COUNTER(name, unit, meaning) uint64_t name;
    DRAM_COUNTERS(DRAM_COUNTER)
#undef DRAM_COUNTER
    uint64_t own[DRAM_OWN_COMMANDS]; /* commands issued, for each of the standard's own */
};

/* A command: all that timing, channel, checker, traces and energies know of it. */
struct dram_command_row {
    const char *name; /* as in traces: "ACT"; NULL: the standard has no command of this number */
    const char *meaning;
    enum dram_bus bus;
    enum dram_extent extent;
    enum dram_needs needs;
    enum dram_change change;
    enum dram_data data;
    enum dram_command timed_as; /* itself, or the command of command.def whose times it keeps */
    size_t counter;             /* the offset in struct dram_counters of what it adds 1 to */

    /* The standard's own commands have a statistic and an energy account of their own. */
    const char *count;  /* name of both; NULL in command.def */
    uint64_t energy;    /* of one command in one device, femtojoules */
    const char *source; /* where the energy comes from */
};

/* Column commands of command.def move data; its others are row commands. */
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
