/* The functions of one standard, made from its rows; the includer defines DRAM_ROWS, the file of the rows,
 * and DRAM_NAME(prefix). No include guard: there is one inclusion for each standard. */

static void DRAM_NAME(config_)(struct dram_config *config)
{
#define SET(field, value, source) config->field = (value);
#define MAP(text, source)         (void)snprintf(config->map, sizeof config->map, "%s", text);
#define RULE(scope, earlier, later, clocks, source)
#define WINDOW(count, clocks, source)
#include DRAM_ROWS
#undef SET
#undef MAP
#undef RULE
#undef WINDOW
}

static void DRAM_NAME(table_)(struct dram_table *table, const struct dram_clocks *clocks)
{
#define DRAM_PARAM(name, rounding, meaning)                                                                  \
    const uint32_t name = clocks->name;                                                                      \
    (void)name;
#include "emu/dram/param.def"
#undef DRAM_PARAM
#define SET(field, value, source)
#define MAP(text, source)
#define RULE(scope, earlier, later, delay, source)                                                           \
    rule_add(table, (struct dram_rule){DRAM_SCOPE_##scope, earlier, later, delay, #delay, source});
#define WINDOW(count, span, source) window_add(table, (struct dram_window){count, span, #span, source});
#include DRAM_ROWS
#undef SET
#undef MAP
#undef RULE
#undef WINDOW
}

static const char *DRAM_NAME(source_)(const char *field)
{
#define SET(name, value, source)                                                                             \
    if (strcmp(field, #name) == 0)                                                                           \
        return source;
#define MAP(text, source)                                                                                    \
    if (strcmp(field, "map") == 0)                                                                           \
        return source;
#define RULE(scope, earlier, later, clocks, source)
#define WINDOW(count, clocks, source)
#include DRAM_ROWS
#undef SET
#undef MAP
#undef RULE
#undef WINDOW
    return NULL;
}

#undef DRAM_NAME
#undef DRAM_ROWS
