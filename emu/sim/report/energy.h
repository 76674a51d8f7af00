/* The energy ledger: the cost of each kind of operation, the source of that number, and the sums. */
#ifndef EMU_SIM_REPORT_ENERGY_H
#define EMU_SIM_REPORT_ENERGY_H

#include <stddef.h>
#include <stdint.h>

#include "emu/sim/error.h"
#include "emu/sim/report/stats.h"

enum energy_kind {
    ENERGY_PER_EVENT, /* `unit` femtojoules for each counted event */
    ENERGY_OVER_TIME, /* `unit` microwatts during `count` femtoseconds */
};

/* One account of a ledger. The component counts; the ledger only reads the counter. */
struct energy_account {
    const char *name;                      /* name within its scope: "activate" */
    const uint64_t *count;                 /* the counter; NULL: call read(context) */
    uint64_t (*read)(const void *context); /* used if count is NULL */
    const void *context;
    uint64_t unit;
    enum energy_kind kind;
    /* Names of the configuration fields from which `unit` is computed, separated by spaces; the description
     * has their sources. NULL: `unit` does not depend on fields. */
    const char *fields;
    const char *source; /* source of `unit`, one line; the ledger sets it for an account with fields */
    /* Static: what the energy is spent on, such as "l1", for the sums of groups; NULL: "other". */
    const char *group;
    /* Static: the field of the part that would tell `unit`, which is 0 because nobody has set it, and what is allowed; or
     * NULL. */
    const char *untold;
    /* Static: of energy of a part that does nothing, the fields that it depends on; else NULL. */
    const char *idle;
    const char *part; /* path of the part, set by the ledger; "": none */
};

/* A group of a ledger's accounts. */
struct energy_group {
    const struct energy_ledger *ledger;
    const char *name;
};

/* The sources of fields' values, from the description. */
struct energy_sources {
    /* Writes the value and the source of a field of the part at the dotted path `scope`. Ignores components
     * of the path that name no part, because the scope of an account may be below its part. */
    void (*of_field)(const void *context, const char *scope, const char *field, char *buffer, size_t size);
    const void *context;
};

struct energy_ledger {
    struct energy_account **accounts;
    unsigned count;
    struct energy_group *groups; /* made by energy_publish() */
    const char *part;            /* path of the part whose accounts are opened from now on; NULL: none */
    const struct energy_sources *sources; /* for accounts that are opened from now on; NULL: no description */
};

/* energy_init() makes an empty ledger; energy_free() releases what the functions below allocate. Out of memory
 * aborts. */
void energy_init(struct energy_ledger *ledger);
void energy_free(struct energy_ledger *ledger);

/* Adds a copy of the account, named by its name within the scope ("memory.activate"). Its texts are copied; count and
 * context must outlive the ledger. An account with fields gets a source like "energy_bit 2 pJ (default: TOM)" or, without
 * a description, the fields' names. */
void energy_add(struct energy_ledger *ledger, struct scope scope, const struct energy_account *account);

/* Adds accounts of the group. */
void energy_add_all(struct energy_ledger *ledger, struct scope scope, const char *group,
                    const struct energy_account *accounts, size_t count);

/* Returns the energy of an account in femtojoules, rounded down. */
uint64_t energy_of(const struct energy_account *account);

/* Returns the sum of all accounts in femtojoules; it overflows at 18 kJ. */
uint64_t energy_total(const struct energy_ledger *ledger);

/* Returns the sum of the accounts of a group in femtojoules. */
uint64_t energy_of_group(const struct energy_group *group);

/* Writes what is doubtful about the sum of all accounts, in at most one message for each kind of doubt: energies that nobody
 * has told, and idle parts that take more than half of the sum. Returns the number of messages. */
enum { ENERGY_DOUBTS = 2 };
unsigned energy_doubts(const struct energy_ledger *ledger, struct error messages[ENERGY_DOUBTS]);

/* Registers each account as the statistic "NAME.energy", the sum of each group as "energy.GROUP" if there are several
 * groups, and the sum of all as "energy", in femtojoules. The ledger must outlive stats, and no account may be added
 * afterwards. Call it once. */
void energy_publish(struct energy_ledger *ledger, struct stats *stats);

#endif
