#include "emu/sim/energy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

void energy_init(struct energy_ledger *ledger)
{
    *ledger = (struct energy_ledger){0};
}

void energy_free(struct energy_ledger *ledger)
{
    for (unsigned i = 0; i < ledger->count; i++) {
        free(ledger->accounts[i]->name);
        free(ledger->accounts[i]);
    }
    free(ledger->accounts);
    energy_init(ledger);
}

static void account_add(struct energy_ledger *ledger, const char *name, struct energy_account account)
{
    struct energy_account *added = checked(malloc(sizeof *added));
    *added = account;
    added->name = checked(strdup(name));
    size_t room = (ledger->count + 1) * sizeof *ledger->accounts;
    ledger->accounts = checked(realloc(ledger->accounts, room));
    ledger->accounts[ledger->count++] = added;
}

void energy_event(struct energy_ledger *ledger, const char *name, const uint64_t *count, uint64_t femtojoules,
                  const char *source)
{
    account_add(ledger, name,
                (struct energy_account){
                    .count = count, .unit = femtojoules, .kind = ENERGY_PER_EVENT, .source = source});
}

void energy_power(struct energy_ledger *ledger, const char *name, const uint64_t *time, uint64_t microwatts,
                  const char *source)
{
    account_add(ledger, name,
                (struct energy_account){
                    .count = time, .unit = microwatts, .kind = ENERGY_OVER_TIME, .source = source});
}

uint64_t energy_of(const struct energy_account *account)
{
    if (account->kind == ENERGY_PER_EVENT)
        return *account->count * account->unit;
    /* 1 uW for 1 fs is 1e-21 J, a millionth of a femtojoule; the parts keep the product below 64 bits. */
    const uint64_t million = 1000000;
    uint64_t time = *account->count;
    return time / million * account->unit + time % million * account->unit / million;
}

uint64_t energy_total(const struct energy_ledger *ledger)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ledger->count; i++)
        sum += energy_of(ledger->accounts[i]);
    return sum;
}

static uint64_t read_account(const void *account)
{
    return energy_of(account);
}

static uint64_t read_total(const void *ledger)
{
    return energy_total(ledger);
}

void energy_publish(const struct energy_ledger *ledger, struct stats *stats)
{
    for (unsigned i = 0; i < ledger->count; i++) {
        struct energy_account *account = ledger->accounts[i];
        char name[256];
        (void)snprintf(name, sizeof name, "%s.energy", account->name);
        stats_computed(stats, name, read_account, account, "fJ", account->source);
    }
    stats_computed(stats, "energy", read_total, ledger, "fJ", "Sum of all energies");
}
