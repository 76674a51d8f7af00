/* The energy ledger: events, power over time, and their statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/sim/report/energy.h"
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

static void describe(const void *context, const char *scope, const char *field, char *buffer, size_t size)
{
    (void)snprintf(buffer, size, "%s %s of %s", (const char *)context, field, scope);
}

/* Sources of fields are asked for when an account is opened; a source of the account's own stays. */
static void fields_have_the_sources_of_the_description(void **state)
{
    (void)state;
    const uint64_t bits = 1;
    char fields[] = "read write";
    const struct scope link = scope_at(NULL, "link", 3), request = scope_enter(&link, "request");
    const struct energy_sources sources = {describe, "the"};
    struct energy_account account = {.name = "access", .count = &bits, .unit = 5, .fields = fields};
    struct energy_ledger ledger;
    energy_init(&ledger);
    energy_add(&ledger, request, &account);
    ledger.sources = &sources;
    energy_add(&ledger, request, &account);
    memset(fields, 'x', sizeof fields - 1);
    account.fields = NULL;
    account.source = "measured";
    energy_add(&ledger, request, &account);
    assert_string_equal(ledger.accounts[0]->source, "read; write");
    assert_string_equal(ledger.accounts[1]->source,
                        "the read of link.3.request; the write of link.3.request");
    assert_string_equal(ledger.accounts[2]->source, "measured");

    struct stats *stats = stats_new();
    struct energy_ledger published = {.accounts = &ledger.accounts[2], .count = 1};
    energy_publish(&published, stats);
    char *text = stats_json(stats);
    assert_non_null(strstr(text, "\"meaning\": \"measured\""));
    free(text);
    stats_free(stats);
    free(published.groups);
    energy_free(&ledger);
}

/* A sum is doubtful if an energy is not told, or if more than half of it is that of idle parts. */
static void doubts(void **state)
{
    (void)state;
    uint64_t one = 1, two = 2;
    struct error messages[ENERGY_DOUBTS];
    struct energy_ledger ledger;
    energy_init(&ledger);
    energy_add(&ledger, scope_root(),
               &(struct energy_account){.name = "used", .count = &two, .unit = 50, .source = "s"});
    for (unsigned i = 0; i < 4; i++) {
        ledger.part = i < 2 ? "a" : "b";
        energy_add(&ledger, scope_enter(NULL, ledger.part),
                   &(struct energy_account){.name = i % 2 ? "x" : "y",
                                            .count = &one,
                                            .unit = 10 * (i + 1),
                                            .source = "s",
                                            .idle = "wires"});
    }
    assert_int_equal(energy_doubts(&ledger, messages), 0); /* 100 of 200 */
    two = 1;
    assert_int_equal(energy_doubts(&ledger, messages), 1);
    assert_string_equal(messages[0].text,
                        "idle parts take 67 % of the energy, b alone 47 %; its keys for that are wires");
    for (unsigned i = 0; i < 2; i++) {
        ledger.part = i ? "d" : "c";
        energy_add(&ledger, scope_enter(NULL, ledger.part),
                   &(struct energy_account){
                       .name = "z", .count = &one, .source = "s", .untold = "wires (this or that)"});
    }
    assert_int_equal(energy_doubts(&ledger, messages), 2);
    assert_string_equal(messages[0].text,
                        "some energy of c and of 1 other part is not counted; set c.wires (this or that)");
    energy_free(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accounts_add_up),
        cmocka_unit_test(doubts),
        cmocka_unit_test(fields_have_the_sources_of_the_description),
    };
    return cmocka_run_group_tests_name("energy", tests, NULL, NULL);
}
