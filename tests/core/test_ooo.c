/* The out-of-order core on micro-programs, each with a bound worked out by hand. */
#include "emu/core/ooo.h"
#include "tests/core/rig.h"
#include <stdio.h>

enum { N = 1000 };

struct change {
    void (*apply)(struct ooo_config *config);
};

static struct core *make(struct rig *rig, const void *context)
{
    struct ooo_config config;
    struct error err;
    ooo_config_default(&config);
    const struct change *change = context;
    if (change)
        change->apply(&config);
    if (!ooo_config_check(&config, &err))
        fail_msg("%s", err.text);
    struct core_parts parts = rig_parts(rig);
    struct core *core = ooo_new(&config, &parts, &err);
    assert_non_null(core);
    return core;
}

static void dependent_muls(struct rig *rig)
{
    for (int i = 0; i < 10; i++)
        RIG_EMIT(rig, mulw, .rd = 5, .rs1 = 5, .rs2 = 5);
}

static void multiplies(void **state)
{
    (void)state;
    uint64_t causes[CPI_CAUSES];
    uint64_t cycles = rig_loop(&(struct rig_loop){.body = dependent_muls, .make = make, .iterations = N}, causes);
    rig_check(cycles, N, 3000, 100, "dependent mulw");
    for (int i = 0; i < CPI_CAUSES; i++)
        printf("%d %lu\n", i, causes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiplies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
