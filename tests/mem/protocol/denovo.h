/* DeNovo (denovo.def) as a protocol: three states by word, with a directory. */
#ifndef TESTS_MEM_PROTOCOL_DENOVO_H
#define TESTS_MEM_PROTOCOL_DENOVO_H

#include "emu/mem/protocol.h"

#define PROTOCOL_ROWS "tests/mem/protocol/denovo.def"
#define PROTOCOL_HAS_DIRECTORY
#include "emu/mem/protocol/expand.h"

static const struct protocol denovo = {.name = "denovo",
                                       .grain = PROTOCOL_WORD,
                                       .state_count = sizeof states / sizeof *states,
                                       .cache_count = sizeof cache_rows / sizeof *cache_rows,
                                       .directory_count = sizeof directory_rows / sizeof *directory_rows,
                                       .states = states,
                                       .cache = cache_rows,
                                       .directory = directory_rows};

#endif
