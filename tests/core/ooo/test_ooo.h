/* Shared by the tests of the out-of-order core. */
#ifndef TESTS_CORE_OOO_TEST_OOO_H
#define TESTS_CORE_OOO_TEST_OOO_H

#include "emu/core/ooo/state.h"
#include "tests/core/rig.h"

enum {
    N = 1000,                        /* iterations */
    NEAR_MISS = 2 + RIG_NEAR_CLOCKS, /* hit time of the first level, and the rig's answer */
    FAR_MISS = 2 + RIG_FAR_CLOCKS,
};

/* Makes a core; context: struct core_config, or NULL for the default. */
static inline struct core *make(struct rig *rig, const void *context)
{
    struct core_config config;
    struct core_parts parts = rig_parts(rig);
    struct error err;
    core_config_default(&config, CORE_OOO);
    if (context)
        config = *(const struct core_config *)context;
    if (!part_check(&core_kind, &config, &err))
        fail_msg("%s", err.text);
    struct core *core = ooo_new(&config, &parts, &err);
    assert_non_null(core);
    return core;
}

static inline struct core_config defaults(void)
{
    struct core_config config;
    core_config_default(&config, CORE_OOO);
    return config;
}

/* Fails unless the loop costs hundredths / 100 cycles an iteration, within one cycle, and most of the cycles beyond
 * full width have the given cause. */
static inline void expect(void (*setup)(struct rig *), void (*body)(struct rig *), uint64_t hundredths,
                          enum cpi_cause cause, const struct core_config *config,
                          const struct rig_options *options, const char *what)
{
    uint64_t causes[CPI_CAUSES];
    struct rig_loop loop = {
        .setup = setup, .body = body, .make = make, .context = config, .options = options, .iterations = N};
    uint64_t cycles = rig_loop(&loop, causes);
    rig_check(cycles, N, hundredths, 100, what);
    for (unsigned i = 0; i < CPI_CAUSES; i++)
        if (i != (unsigned)cause && i != CPI_base && causes[i] > causes[cause] + N / 4)
            fail_msg("%s: %s %llu, %s %llu", what, core_cause_name(i), (unsigned long long)causes[i],
                     core_cause_name(cause), (unsigned long long)causes[cause]);
}

/* Runs an assembled program and returns the core; the caller frees the rig. */
static inline struct ooo *run_program(struct rig *rig, const struct core_config *config, uint64_t *cycles)
{
    RIG_EMIT(rig, ecall, 0);
    if (!rig->core)
        rig->core = make(rig, config);
    *cycles = rig_run(rig);
    return (struct ooo *)rig->core;
}

#endif
