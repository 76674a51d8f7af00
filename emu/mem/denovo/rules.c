#include "emu/mem/denovo/rules.h"

const struct denovo_rules denovo_protocol = {
    .unit =
        {
#define UNIT(state, event, next, action)                                                                     \
    [DENOVO_WORD_##state][DENOVO_ON_##event] = {DENOVO_WORD_##next, DENOVO_DO_##action},
#include "emu/mem/denovo/unit.def"
#undef UNIT
        },
    .registry =
        {
#define REGISTRY(standing, event, next, action)                                                              \
    [DENOVO_IS_##standing][DENOVO_AT_##event] = {DENOVO_IS_##next, DENOVO_LET_##action},
#include "emu/mem/denovo/registry.def"
#undef REGISTRY
        },
    .rule =
        {
#define RULE(name, text) [DENOVO_RULE_##name] = true,
#include "emu/mem/denovo/rule.def"
#undef RULE
        },
};
