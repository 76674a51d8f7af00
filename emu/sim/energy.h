/* The energy ledger: what each kind of operation costs, whence the number comes, and what it adds up to. */
#ifndef EMU_SIM_ENERGY_H
#define EMU_SIM_ENERGY_H

#include <stdint.h>

#include "emu/sim/stats.h"

enum energy_kind {
    ENERGY_PER_EVENT, /* count events of `unit` femtojoules each */
    ENERGY_OVER_TIME, /* `unit` microwatts for count femtoseconds */
};

/* One account of a ledger. The component keeps counting; the ledger only reads. */
struct energy_account {
    const char *name;                      /* in its scope: "activate" */
    const uint64_t *count;                 /* NULL: call read(context) */
    uint64_t (*read)(const void *context); /* instead of count */
    const void *context;
    uint64_t unit;
    enum energy_kind kind;
    const char *source; /* where the number comes from, one line */
};

struct energy_ledger {
    struct energy_account **accounts;
    unsigned count;
};

/* An empty ledger; energy_free() releases what the functions below allocate (out of memory aborts). */
void energy_init(struct energy_ledger *ledger);
void energy_free(struct energy_ledger *ledger);

/* Opens an account like the one given, whose name becomes that in the scope, "memory.activate", and is copied; what else it
 * points to must outlive the ledger. */
void energy_add(struct energy_ledger *ledger, struct scope scope, const struct energy_account *account);

/* The energy of an account, in femtojoules, rounded down. */
uint64_t energy_of(const struct energy_account *account);

/* The sum of all accounts in femtojoules; it overflows at 18 kJ. */
uint64_t energy_total(const struct energy_ledger *ledger);

/* Registers each account as the statistic "NAME.energy" and the sum as "energy", in femtojoules. The ledger
 * must outlive stats and may not grow any more. */
void energy_publish(const struct energy_ledger *ledger, struct stats *stats);

#endif
