/* Names of nested scopes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/sim/report/scope.h"

static void expect(struct scope scope, const char *name, const char *wanted)
{
    char *text = scope_path(scope, name);
    assert_string_equal(text, wanted);
    free(text);
}

static void names_are_dotted(void **state)
{
    (void)state;
    const struct scope root = scope_root(), accel = scope_at(NULL, "accel", 3),
                       l1d = scope_enter(&accel, "l1d");
    const struct scope dram = scope_enter(&root, "dram"), channel = scope_number(&dram, 12);
    expect(root, "energy", "energy");
    expect(root, NULL, "");
    expect(accel, NULL, "accel.3");
    expect(l1d, "misses", "accel.3.l1d.misses");
    expect(channel, "reads", "dram.12.reads");
    expect(scope_number(NULL, 0), "x", "0.x");
    expect(scope_at(&l1d, "way", UINT32_MAX), "uses", "accel.3.l1d.way.4294967295.uses");
    expect(scope_enter(NULL, "simt.l2"), "hits", "simt.l2.hits"); /* contains a dot */
}

static void names_are_of_any_length(void **state)
{
    (void)state;
    char part[1001], whole[3005];
    memset(part, 'a', 1000);
    part[1000] = '\0';
    const struct scope outer = scope_enter(NULL, part), inner = scope_enter(&outer, part);
    memset(whole, 'a', 3002);
    whole[1000] = whole[2001] = '.';
    whole[3002] = '\0';
    expect(inner, part, whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_dotted),
                                       cmocka_unit_test(names_are_of_any_length)};
    return cmocka_run_group_tests_name("scopes", tests, NULL, NULL);
}
