/* The rule checker: re-reads commands and states the datasheets' rules in its own words, without the tables. Only
 * of a standard's own commands it knows what their rows say: it compares each of them with the commands before,
 * rule by rule, and does not share the timing state's way of keeping times. */
#ifndef EMU_DRAM_CHECK_H
#define EMU_DRAM_CHECK_H

#include "emu/dram/channel.h"

/* How the places of two commands lie, those of commands for several banks being their first bank. */
enum dram_relation { DRAM_SAME_BANK, DRAM_SAME_GROUP, DRAM_SAME_RANK, DRAM_OTHER_RANK, DRAM_RELATIONS };

enum { DRAM_HISTORY = 4096 }; /* commands of a channel that are remembered; a power of two */

struct dram_checker {
    struct dram_config config;
    const struct dram_command_row *rows;
    uint32_t gaps[DRAM_COMMANDS][DRAM_COMMANDS][DRAM_RELATIONS]; /* dram_checker_gap() of all pairs */
    uint32_t reach;                                              /* the longest time of any rule */
    struct dram_checker_channel {
        struct dram_record past[DRAM_HISTORY]; /* a ring */
        uint64_t count;
        uint64_t activates[DRAM_RANKS][32]; /* cycles of the last activates; a ring */
        uint64_t activate_count[DRAM_RANKS];
        uint64_t refreshed[DRAM_BANKS]; /* cycle of the bank's last refresh */
        uint64_t data_end;              /* cycle after the last data on the bus */
        uint32_t data_rank;
        bool open[DRAM_BANKS], data_written;
        uint32_t row[DRAM_BANKS];
    } * channels;
    struct dram_observer observer;
    uint64_t commands, violations;
    struct error first; /* the first violation: command, cycle, rule and by how much */
};

/* A checker for memories of that description, which has passed part_check(&dram_kind, ). Every channel begins at
 * cycle 0 with all banks closed. Free with dram_checker_free() (out of memory aborts). */
void dram_checker_init(struct dram_checker *checker, const struct dram_config *config);
void dram_checker_free(struct dram_checker *checker);

/* Judges the next command of its channel; false if it breaks a rule. Checking goes on afterwards. */
bool dram_checker_command(struct dram_checker *checker, const struct dram_record *record);

/* The observer, the checker's own, that passes all commands to it. */
struct dram_observer *dram_checker_observer(struct dram_checker *checker);

/* Clocks that `later` must keep from one `earlier`, 0 if any; windows and buses apart. For commands of the
 * standard's own its rules are read. */
uint32_t dram_checker_gap(const struct dram_config *config, enum dram_command earlier,
                          enum dram_command later, enum dram_relation relation);

#endif
