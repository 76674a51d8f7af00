/* Compiles one standard from its rows. The including file defines DRAM_ROWS, the file of the rows, and
 * DRAM_NAME(prefix). It includes this file once for each standard; a guard protects the parts that all share.
 *
 * The rows: SET(field, value, source) sets a field of struct dram_config, and MAP(text, source) its map.
 * RULE(scope, earlier, later, clocks, source) and WINDOW(count, clocks, source) are those of standard.h, with
 * sets of commands and the names of param.def. COMMAND(name, bus, extent, needs, change, data, count, energy,
 * source, meaning) adds a command of the standard, which its rules may then name; its columns are those of
 * struct dram_command_row. Such a command keeps only the distances of rules that name it; timing, checker and
 * traces use only its row; an agent (agent.h) issues it. */
#ifndef EMU_DRAM_STANDARDS_ROWS_H
#define EMU_DRAM_STANDARDS_ROWS_H

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "emu/dram/standard.h"

/* The names that rows use. */
#define NS(x) ((uint64_t)((x)*1e6 + 0.5))
#define CK(n) ((n)*config->tCK)
enum {
    ACT = DRAM_SET(ACT),
    PREALL = DRAM_SET(PREA),
    CLOSE = DRAM_SET(PRE) | DRAM_SET(PREA),
    RD = DRAM_SET(RD),
    RDA = DRAM_SET(RDA),
    READ = RD | RDA,
    WR = DRAM_SET(WR),
    WRA = DRAM_SET(WRA),
    WRITE = WR | WRA,
    REF = DRAM_SET(REF),
    REFB = DRAM_SET(REFB),
};

/* A row of zero clocks is a limit that the configuration has disabled. */
static inline void rule_add(struct dram_table *table, struct dram_rule rule)
{
    if (rule.clocks == 0)
        return;
    assert(table->rule_count < DRAM_RULES);
    table->rules[table->rule_count++] = rule;
}

static inline void window_add(struct dram_table *table, struct dram_window window)
{
    if (window.clocks == 0)
        return;
    assert(table->window_count < DRAM_WINDOWS);
    table->windows[table->window_count++] = window;
}

#endif

/* The numbers of the standard's additional commands. */
enum {
    DRAM_NAME(before_own_) = DRAM_OWN - 1,
#define SET(field, value, source)
#define MAP(text, source)
#define RULE(scope, earlier, later, clocks, source)
#define WINDOW(count, clocks, source)
#define COMMAND(name, ...) DRAM_NAME(DRAM_##name##_),
#include DRAM_ROWS
#undef COMMAND
    DRAM_NAME(after_own_)
};
_Static_assert((int)DRAM_NAME(after_own_) <= (int)DRAM_COMMANDS, "too many commands of a standard's own");

static const struct dram_command_row DRAM_NAME(commands_)[DRAM_COMMANDS] = {
#define DRAM_COMMAND(command, bus, extent, needs, change, data, timed, counter, meaning)                     \
    [DRAM_##command] = {#command,                                                                            \
                        meaning,                                                                             \
                        DRAM_BUS_##bus,                                                                      \
                        DRAM_EXTENT_##extent,                                                                \
                        DRAM_NEEDS_##needs,                                                                  \
                        DRAM_CHANGE_##change,                                                                \
                        DRAM_DATA_##data,                                                                    \
                        DRAM_##timed,                                                                        \
                        offsetof(struct dram_counters, counter),                                             \
                        NULL,                                                                                \
                        0,                                                                                   \
                        NULL},
#include "emu/dram/command.def"
#undef DRAM_COMMAND
#define COMMAND(command, bus, extent, needs, change, data, count, energy, source, meaning)                   \
    [DRAM_NAME(DRAM_##command##_)] = {#command,                                                              \
                                      meaning,                                                               \
                                      DRAM_BUS_##bus,                                                        \
                                      DRAM_EXTENT_##extent,                                                  \
                                      DRAM_NEEDS_##needs,                                                    \
                                      DRAM_CHANGE_##change,                                                  \
                                      DRAM_DATA_##data,                                                      \
                                      (enum dram_command)DRAM_NAME(DRAM_##command##_),                       \
                                      offsetof(struct dram_counters, own) +                                  \
                                          (DRAM_NAME(DRAM_##command##_) - DRAM_OWN) * sizeof(uint64_t),      \
                                      count,                                                                 \
                                      energy,                                                                \
                                      source},
#include DRAM_ROWS
#undef COMMAND
#undef SET
#undef MAP
#undef RULE
#undef WINDOW
};

static void DRAM_NAME(config_)(struct dram_config *config)
{
#define SET(field, value, source) config->field = (value);
#define MAP(text, source)         (void)snprintf(config->map, sizeof config->map, "%s", text);
#define RULE(scope, earlier, later, clocks, source)
#define WINDOW(count, clocks, source)
#define COMMAND(...)
#include DRAM_ROWS
#undef SET
#undef MAP
#undef RULE
#undef WINDOW
#undef COMMAND
}

static void DRAM_NAME(table_)(struct dram_table *table, const struct dram_clocks *clocks)
{
#define DRAM_PARAM(name, rounding, meaning)                                                                  \
    const uint32_t name = clocks->name;                                                                      \
    (void)name;
#include "emu/dram/param.def"
#undef DRAM_PARAM
    const uint32_t tCCD4 = clocks->tCCD4, tWTR4 = clocks->tWTR4, tWTR4S = clocks->tWTR4S,
                   tCCDW = clocks->tCCDLWR > clocks->tCCDL ? clocks->tCCDLWR : clocks->tCCDL;
    (void)tCCD4;
    (void)tCCDW;
    (void)tWTR4;
    (void)tWTR4S;
    enum {
#define SET(field, value, source)
#define MAP(text, source)
#define RULE(scope, earlier, later, delay, source)
#define WINDOW(count, span, source)
#define COMMAND(name, ...) name = 1U << DRAM_NAME(DRAM_##name##_),
#include DRAM_ROWS
#undef COMMAND
#undef RULE
#undef WINDOW
        NONE = 0
    };
#define COMMAND(...)
#define RULE(scope, earlier, later, delay, source)                                                           \
    rule_add(table, (struct dram_rule){DRAM_SCOPE_##scope, earlier, later, delay, #delay, source});
#define WINDOW(count, span, source) window_add(table, (struct dram_window){count, span, #span, source});
#include DRAM_ROWS
#undef SET
#undef MAP
#undef RULE
#undef WINDOW
#undef COMMAND
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
#define COMMAND(...)
#include DRAM_ROWS
#undef SET
#undef MAP
#undef RULE
#undef WINDOW
#undef COMMAND
    return NULL;
}

#undef DRAM_NAME
#undef DRAM_ROWS
