/* The energy ledger: events, power over time, and their statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/sim/energy.h"
#include "tests/sim/value.h"

static uint64_t thrice(const void *context)
{
    return 3 * *(const uint64_t *)context;
}

static void accounts_add_up(void **state)
{
    (void)state;
    uint64_t reads = 7, time = UINT64_C(3600000000000000000); /* an hour */
    struct energy_ledger ledger;
    energy_init(&ledger);
    energy_add(&ledger, scope_enter(NULL, "m"),
               &(struct energy_account){
                   .name = "read", .count = &reads, .unit = 512, .kind = ENERGY_PER_EVENT, .source = "s"});
    energy_add(
        &ledger, scope_root(),
        &(struct energy_account){
            .name = "m.standby", .count = &time, .unit = 1000, .kind = ENERGY_OVER_TIME, .source = "s"});
    energy_add(&ledger, scope_root(),
               &(struct energy_account){.name = "m.write",
                                        .read = thrice,
                                        .context = &reads,
                                        .unit = 2,
                                        .kind = ENERGY_PER_EVENT,
                                        .source = "s"});
    assert_int_equal(energy_of(ledger.accounts[0]), 7 * 512);
    assert_int_equal(energy_of(ledger.accounts[2]), 3 * 7 * 2);
    assert_true(energy_of(ledger.accounts[1]) == UINT64_C(3600000000000000)); /* 1 mW for an hour: 3.6 J */
    assert_true(energy_total(&ledger) == UINT64_C(3600000000000000) + 7 * 512 + 42);
    time = 999999; /* 1 mW for almost a nanosecond: 0.999999 pJ, rounded down to femtojoules */
    assert_int_equal(energy_of(ledger.accounts[1]), 999);

    struct stats *stats = stats_new();
    energy_publish(&ledger, stats);
    char *text = stats_json(stats);
    assert_non_null(strstr(text, "\"m.read.energy\": 3584"));
    assert_non_null(strstr(text, "\"energy\": 4625"));
    free(text);
    stats_free(stats);
    energy_free(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(accounts_add_up)};
    return cmocka_run_group_tests_name("energy", tests, NULL, NULL);
}
