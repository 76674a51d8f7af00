/* The rows of a standard: which command must keep which distance from which earlier one. */
#ifndef EMU_DRAM_STANDARD_H
#define EMU_DRAM_STANDARD_H

#include <stddef.h>

#include "emu/dram/command.h"
#include "emu/dram/config.h"

/* Between which places a rule holds. A command that concerns several banks keeps it for each of them. */
enum dram_scope {
    DRAM_SCOPE_BANK,  /* the same bank */
    DRAM_SCOPE_GROUP, /* the same bank group, the same bank included */
    DRAM_SCOPE_RANK,  /* the same rank, the same bank included */
    DRAM_SCOPE_OTHER, /* different ranks of a channel */
};

/* Commands of the set `later` must not come less than `clocks` after one of the set `earlier`. */
struct dram_rule {
    enum dram_scope scope;
    unsigned earlier, later; /* sets of DRAM_SET() */
    uint32_t clocks;
    const char *text;   /* the row's expression */
    const char *source; /* whence the row comes */
};

/* In any `clocks` of a rank there are at most `count` activates. */
struct dram_window {
    uint32_t count;
    uint32_t clocks;
    const char *text;
    const char *source;
};

enum { DRAM_RULES = 64, DRAM_WINDOWS = 4 };

struct dram_table {
    struct dram_rule rules[DRAM_RULES];
    size_t rule_count;
    struct dram_window windows[DRAM_WINDOWS];
    size_t window_count;
};

/* A standard: what a file of rows gives (standard_rows.h). */
struct dram_rows {
    const char *name, *meaning;
    const struct dram_command_row *commands;                                   /* DRAM_COMMANDS of them */
    void (*config)(struct dram_config *config);                                /* sets the defaults */
    void (*table)(struct dram_table *table, const struct dram_clocks *clocks); /* adds the rules */
    const char *(*source)(const char *field);                                  /* as dram_standard_source() */
};

/* The rows that hold for a configuration: config->custom, or those of config->standard. */
const struct dram_rows *dram_rows(const struct dram_config *config);

/* The commands of the configuration's standard, by their numbers: DRAM_COMMANDS rows, some without a name. */
const struct dram_command_row *dram_commands(const struct dram_config *config);

/* The rules of the configuration's standard with its timings. */
void dram_table_init(struct dram_table *table, const struct dram_config *config);

/* Where the value of a field comes from, or NULL; fields as in `struct dram_config`. */
const char *dram_standard_source(enum dram_standard standard, const char *field);

#endif
