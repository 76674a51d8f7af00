#define PROTOCOL_ROWS "emu/mem/protocol/write_through.def"
#include "emu/mem/protocol/expand.h"

const struct protocol protocol_write_through = {.name = "write_through",
                                                .grain = PROTOCOL_LINE,
                                                .state_count = sizeof states / sizeof *states,
                                                .cache_count = sizeof cache_rows / sizeof *cache_rows,
                                                .states = states,
                                                .cache = cache_rows};
