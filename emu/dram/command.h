/* The commands that a controller sends to DRAM devices. */
#ifndef EMU_DRAM_COMMAND_H
#define EMU_DRAM_COMMAND_H

#include <stdbool.h>

enum dram_command {
    DRAM_ACT,  /* activate: open a row of a bank */
    DRAM_PRE,  /* precharge: close a bank */
    DRAM_PREA, /* close all banks of a rank */
    DRAM_RD,   /* read a burst from the open row */
    DRAM_RDA,  /* the same, then close the bank */
    DRAM_WR,
    DRAM_WRA,
    DRAM_REF,  /* refresh all banks of a rank */
    DRAM_REFB, /* refresh one bank */
    DRAM_COMMANDS
};

/* Sets of commands, as rule rows name them. */
#define DRAM_SET(command) (1U << DRAM_##command)

/* Column commands move data; the others are row commands. */
static inline bool dram_command_is_column(enum dram_command command)
{
    return command >= DRAM_RD && command <= DRAM_WRA;
}

/* The command is for a whole rank, not for one bank. */
static inline bool dram_command_is_rank(enum dram_command command)
{
    return command == DRAM_PREA || command == DRAM_REF;
}

/* "ACT", "REFB" ... as in traces. */
const char *dram_command_name(enum dram_command command);

#endif
