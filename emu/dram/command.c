#include "emu/dram/command.h"

const char *dram_command_name(enum dram_command command)
{
    static const char *const names[DRAM_COMMANDS] = {"ACT",  "PRE", "RD",  "WR", "REFB",
                                                     "PREA", "REF", "RDA", "WRA"};
    return names[command];
}
