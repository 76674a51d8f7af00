/* Commands on the command bus, and who observes them. */
#ifndef EMU_DRAM_CONTROLLER_RECORD_H
#define EMU_DRAM_CONTROLLER_RECORD_H

#include "emu/dram/command.h"
#include "emu/sim/observer.h"

struct dram_channel;

/* A command on the command bus. */
struct dram_record {
    uint64_t cycle; /* in tCK */
    enum dram_command command;
    /* group within the rank, bank within the group; 0 if the command has none */
    uint32_t channel, rank, group, bank;
    /* row: set by column commands and by commands that open a row; column (in bursts): by column commands */
    uint32_t row, column;
};

/* Receives all commands. Those of one channel come in order of time. */
struct dram_observer {
    struct observer link;
    void (*command)(void *context, const struct dram_record *record);
    void *context;
};

/* Tells the observers of a command that comes at the channel's floor. */
void dram_record_tell(const struct dram_channel *channel, enum dram_command command, uint32_t bank,
                      uint32_t row, uint32_t column);

#endif
