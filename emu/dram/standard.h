/* The rules of a standard: the minimum distances between commands. */
#ifndef EMU_DRAM_STANDARD_H
#define EMU_DRAM_STANDARD_H

#include <stddef.h>

#include "emu/dram/command.h"
#include "emu/dram/config.h"

/* The places between which a rule holds. A command that affects several banks keeps the rule for each bank. */
enum dram_scope {
    DRAM_SCOPE_BANK,  /* the same bank */
    DRAM_SCOPE_GROUP, /* the same bank group, including the same bank */
    DRAM_SCOPE_RANK,  /* the same rank, including the same bank */
    DRAM_SCOPE_OTHER, /* different ranks of a channel */
};

/* A command in the set `later` must come at least `clocks` after any command in the set `earlier`. */
struct dram_rule {
    enum dram_scope scope;
    unsigned earlier, later; /* sets of DRAM_SET() */
    uint32_t clocks;
    const char *text;   /* the row's expression */
    const char *source; /* source of the row */
};

/* A rank gets at most `count` activates in any `clocks` consecutive clocks. */
struct dram_window {
    uint32_t count;
    uint32_t clocks;
    const char *text;
    const char *source;
};

enum { DRAM_RULES = 80, DRAM_WINDOWS = 4 };

struct dram_table {
    struct dram_rule rules[DRAM_RULES];
    size_t rule_count;
    struct dram_window windows[DRAM_WINDOWS];
    size_t window_count;
};

/* A standard, compiled from its rows (emu/dram/standards/rows.h). */
struct dram_rows {
    const char *name;
    const struct dram_command_row *commands;                                   /* DRAM_COMMANDS of them */
    void (*config)(struct dram_config *config);                                /* sets the defaults */
    void (*table)(struct dram_table *table, const struct dram_clocks *clocks); /* adds the rules */
    const char *(*source)(const char *field);                                  /* as dram_standard_source() */
};

/* Sets every field to the default of the standard. */
void dram_config_default(struct dram_config *config, enum dram_standard standard);

/* Returns the standard of a configuration: config->custom, or that of config->standard. */
const struct dram_rows *dram_rows(const struct dram_config *config);

/* Returns the commands of the configuration's standard, by number: DRAM_COMMANDS rows, some without a
 * name. */
const struct dram_command_row *dram_commands(const struct dram_config *config);

/* Sets *table to the rules of the configuration's standard, with the configuration's timings. */
void dram_table_init(struct dram_table *table, const struct dram_config *config);

/* Returns the source of a field's value, or NULL. Fields are named as in struct dram_config. */
const char *dram_standard_source(enum dram_standard standard, const char *field);

/* Return the clocks for which a command occupies its command bus, and those from the first of these to the one that its times
 * count from. */
uint32_t dram_command_clocks(const struct dram_config *config, enum dram_command command);
uint32_t dram_command_shift(const struct dram_config *config, enum dram_command command);

#endif
