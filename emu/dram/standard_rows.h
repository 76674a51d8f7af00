/* The functions of one standard, made from its rows: the includer defines DRAM_ROWS (file) and DRAM_NAME(prefix). */

static void DRAM_NAME(config_)(struct dram_config *config)
{
    const uint64_t tCK = DRAM_TCK;
    config->tCK = tCK;
#define SET(field, value, source) config->field = (value);
#include DRAM_ROWS
#undef SET
}

static void DRAM_NAME(table_)(struct dram_table *table, const struct dram_clocks *clocks)
{
#define DRAM_PARAM(name, rounding, meaning)                                                                  \
    const uint32_t name = clocks->name;                                                                      \
    (void)name;
#include "emu/dram/param.def"
#undef DRAM_PARAM
#define RULE(scope, earlier, later, clocks, source)                                                          \
    rule_add(table, (struct dram_rule){DRAM_SCOPE_##scope, earlier, later, clocks, #clocks, source});
#define WINDOW(commands, count, clocks, source)                                                              \
    window_add(table, (struct dram_window){commands, count, clocks, #clocks, source});
#include DRAM_ROWS
#undef RULE
#undef WINDOW
}

static const char *DRAM_NAME(source_)(const char *field)
{
#define SET(name, value, source)                                                                             \
    if (strcmp(field, #name) == 0)                                                                           \
        return source;
#include DRAM_ROWS
#undef SET
    return NULL;
}

#undef DRAM_NAME
#undef DRAM_ROWS
#undef DRAM_TCK
