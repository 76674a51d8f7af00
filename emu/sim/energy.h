/* The energy ledger: what each kind of operation costs, whence the number comes, and what it adds up to. */
#ifndef EMU_SIM_ENERGY_H
#define EMU_SIM_ENERGY_H

#include <stdint.h>

#include "emu/sim/stats.h"

/* One account of a ledger. The component keeps counting; the ledger only reads. */
struct energy_account {
    char *name; /* dotted: "memory.activate" */
    const uint64_t *count;
    uint64_t unit; /* femtojoules an operation, or microwatts */
    enum energy_kind { ENERGY_PER_EVENT, ENERGY_OVER_TIME } kind;
    const char *source;
};

struct energy_ledger {
    struct energy_account **accounts;
    unsigned count;
};

/* An empty ledger; energy_free() releases what the functions below allocate (out of memory aborts). */
void energy_init(struct energy_ledger *ledger);
void energy_free(struct energy_ledger *ledger);

/* An account of `femtojoules` for each of the *count operations. The name is copied; *count and source (where
 * the number comes from, one line) must outlive the ledger. */
void energy_event(struct energy_ledger *ledger, const char *name, const uint64_t *count, uint64_t femtojoules,
                  const char *source);

/* An account of a power of `microwatts` that flows for *time femtoseconds. */
void energy_power(struct energy_ledger *ledger, const char *name, const uint64_t *time, uint64_t microwatts,
                  const char *source);

/* The energy of an account, in femtojoules, rounded down. */
uint64_t energy_of(const struct energy_account *account);

/* The sum of all accounts in femtojoules; it overflows at 18 kJ. */
uint64_t energy_total(const struct energy_ledger *ledger);

/* Registers each account as the statistic "NAME.energy" and the sum as "energy", in femtojoules. The ledger
 * must outlive stats and may not grow any more. */
void energy_publish(const struct energy_ledger *ledger, struct stats *stats);

#endif
