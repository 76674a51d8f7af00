#define PROTOCOL_ROWS "emu/mem/protocol/write_back.def"
#include "emu/mem/protocol/expand.h"

const struct protocol protocol_write_back = {.name = "write_back",
                                             .grain = PROTOCOL_LINE,
                                             .state_count = sizeof states / sizeof *states,
                                             .cache_count = sizeof cache_rows / sizeof *cache_rows,
                                             .states = states,
                                             .cache = cache_rows};
