/* The commands that a controller sends to DRAM devices. */
#ifndef EMU_DRAM_COMMAND_H
#define EMU_DRAM_COMMAND_H

#include <stdbool.h>

enum dram_command {
    DRAM_ACT,  /* activate: open a row of a bank */
    DRAM_PRE,  /* precharge: close a bank */
    DRAM_RD,   /* read a burst from the open row */
    DRAM_WR,   /* write one */
    DRAM_REFB, /* refresh one bank */
    DRAM_PREA, /* close all banks of a rank */
    DRAM_REF,  /* refresh all banks of a rank */
    DRAM_RDA,  /* RD, then close the bank */
    DRAM_WRA,
    DRAM_COMMANDS
};

/* Sets of commands, as rule rows name them. */
#define DRAM_SET(command) (1U << DRAM_##command)

/* Column commands move data; the others are row commands. */
static inline bool dram_command_is_column(enum dram_command command)
{
    return (DRAM_SET(RD) | DRAM_SET(WR) | DRAM_SET(RDA) | DRAM_SET(WRA)) >> command & 1;
}

/* The command is for a whole rank, not for one bank. */
static inline bool dram_command_is_rank(enum dram_command command)
{
    return command == DRAM_PREA || command == DRAM_REF;
}

/* "ACT", "REFB" ... as in traces. */
const char *dram_command_name(enum dram_command command);

#endif
