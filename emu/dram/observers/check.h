/* The rule checker. It checks commands against the datasheets' rules, which it states independently, without
 * the standards' tables. It checks a command for one bank of each group (ACT4 ...) like one command for a bank
 * in each of the groups. For the other additional commands of a standard, it reads the rules of the standard's
 * rows. It compares each command with the earlier commands, rule by rule, instead of keeping times as the
 * timing state does. */
#ifndef EMU_DRAM_OBSERVERS_CHECK_H
#define EMU_DRAM_OBSERVERS_CHECK_H

#include "emu/dram/config.h"
#include "emu/dram/controller/record.h"

/* The relation between the places of two commands. The place of a command for several banks is its first
 * bank. */
enum dram_relation { DRAM_SAME_BANK, DRAM_SAME_GROUP, DRAM_SAME_RANK, DRAM_OTHER_RANK, DRAM_RELATIONS };

enum { DRAM_HISTORY = 4096 }; /* most remembered commands of a channel; a power of two */

struct dram_checker {
    struct dram_config config;
    const struct dram_command_row *rows;
    uint32_t gaps[DRAM_COMMANDS][DRAM_COMMANDS][DRAM_RELATIONS]; /* dram_checker_gap() of all pairs */
    uint32_t reach;                                              /* longest gap of any rule */
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
    struct error first; /* first violation: command, cycle, rule and distance */
};

/* Initializes a checker for memories of the configuration, which must have passed part_check(&dram_kind, ).
 * Every channel starts at cycle 0 with all banks closed. Aborts if the host has no memory. Release it with
 * dram_checker_free(). */
void dram_checker_init(struct dram_checker *checker, const struct dram_config *config);
void dram_checker_free(struct dram_checker *checker);

/* Checks the next command of its channel. Returns false if the command breaks a rule. Checking may
 * continue. */
bool dram_checker_command(struct dram_checker *checker, const struct dram_record *record);

/* Returns the observer that passes all commands to the checker. It belongs to the checker. */
struct dram_observer *dram_checker_observer(struct dram_checker *checker);

/* Returns the minimum clocks from `earlier` to `later`, without windows and command buses; 0 if there is no
 * rule. For additional commands, reads the standard's rules. */
uint32_t dram_checker_gap(const struct dram_config *config, enum dram_command earlier,
                          enum dram_command later, enum dram_relation relation);

#endif
