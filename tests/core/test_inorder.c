/* The in-order core's timing on small programs whose cost is worked out by hand. */
#include "emu/core/inorder.h"
#include "tests/core/rig.h"

enum { N = 1000 };

static struct core *make(struct rig *rig, const void *context)
{
    struct inorder_config config;
    struct core_parts parts = rig_parts(rig);
    struct error err;
    inorder_config_default(&config);
    if (context)
        config = *(const struct inorder_config *)context;
    if (!inorder_config_check(&config, &err))
        fail_msg("%s", err.text);
    struct core *core = inorder_new(&config, &parts, &err);
    assert_non_null(core);
    return core;
}

static void chain_of_multiplies(struct rig *rig)
{
    for (unsigned i = 0; i < 8; i++)
        RIG_EMIT(rig, mul, .rd = 5, .rs1 = 5, .rs2 = 5);
}

/* 8 dependent multiplies of 3 cycles; the loop's addi and bne hide in the last one's wait. */
static void dependent_multiplies(void **state)
{
    (void)state;
    uint64_t causes[CPI_CAUSES];
    struct rig_loop loop = {.body = chain_of_multiplies, .make = make, .iterations = N};
    uint64_t cycles = rig_loop(&loop, causes);
    rig_check(cycles, N, 2400, 100, "dependent multiplies");
    rig_check(causes[CPI_dependency], N, 1500, 100, "their waiting");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependent_multiplies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
