#define PROTOCOL_ROWS "emu/mem/protocol/mesi.def"
#define PROTOCOL_HAS_DIRECTORY
#include "emu/mem/protocol/expand.h"

const struct protocol protocol_mesi = {.name = "mesi",
                                       .grain = PROTOCOL_LINE,
                                       .state_count = sizeof states / sizeof *states,
                                       .cache_count = sizeof cache_rows / sizeof *cache_rows,
                                       .directory_count = sizeof directory_rows / sizeof *directory_rows,
                                       .states = states,
                                       .cache = cache_rows,
                                       .directory = directory_rows};
