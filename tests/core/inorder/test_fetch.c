/* The in-order core's front end: misses of the instruction cache, wrong paths, jumps. */
#include "emu/core/inorder.h"
#include "tests/core/rig.h"

static struct core *make(struct rig *rig)
{
    struct core_config config;
    struct core_parts parts = rig_parts(rig);
    struct error err;
    core_config_default(&config, CORE_INORDER);
    struct core *core = inorder_new(&config, &parts, &err);
    assert_non_null(core);
    return core;
}

static void cold_code(struct rig *rig)
{
    for (unsigned i = 0; i < 64 * 16; i++)
        RIG_EMIT(rig, addi, .rd = 5, .imm = 1);
    RIG_EMIT(rig, ecall, 0);
}

/* Straight-line code of 64 uncached lines: each is requested when the last block of the line before has been fetched,
 * and arrives 22 cycles later instead of 2; with its 4 blocks: 24 cycles a line. From a warm cache a line takes 4
 * cycles, while its 16 instructions take 8. */
static void instruction_misses(void **state)
{
    (void)state;
    for (unsigned warm = 0; warm < 2; warm++) {
        struct rig_options options = rig_options_default();
        options.cold = !warm;
        struct rig *rig = rig_new(&options);
        rig->core = make(rig);
        cold_code(rig);
        rig_check(rig_run(rig), 64, warm ? 800 : 2400, 100, "straight code");
        assert_in_range(rig->core->cpi[CPI_frontend], warm ? 8 : 64 * 15, warm ? 9 : 64 * 17);
        rig_free(rig);
    }
}

/* When a taken branch was predicted as not taken, the front end meanwhile fetches straight on: the next line is filled
 * though none of it executes. A jump that the BTB lacks is detected at decode, before such a fetch. */
static void wrong_path_fills_the_cache(void **state)
{
    (void)state;
    for (unsigned mispredicted = 0; mispredicted < 2; mispredicted++) {
        struct rig_options options = rig_options_default();
        options.cold = true;
        struct rig *rig = rig_new(&options);
        rig->core = make(rig);
        for (unsigned i = 0; i < 12; i++)
            RIG_EMIT(rig, addi, .rd = 5, .imm = 1);
        if (mispredicted)
            rig_branch(rig, INSN_bne, 5, 0, RIG_BASE + 1024);
        else
            rig_jump(rig, 0, RIG_BASE + 1024);
        rig->at = RIG_BASE + 1024;
        RIG_EMIT(rig, ecall, 0);
        (void)rig_run(rig);
        assert_int_equal(cache_line_state(rig->l1i, RIG_BASE + 64) != CACHE_INVALID, mispredicted);
        assert_int_equal(cache_line_state(rig->l1i, RIG_BASE + 512), CACHE_INVALID);
        assert_int_equal(rig->core->cpi[CPI_branch] > 0, mispredicted);
        rig_free(rig);
    }
}

/* 64 jumps that the BTB lacks, each to the next block: detected after 2 cycles of cache and 2 of decode, so that blocks
 * are fetched 4 cycles apart. */
static void unknown_jumps(void **state)
{
    (void)state;
    struct rig *rig = rig_new(NULL);
    rig->core = make(rig);
    for (unsigned i = 0; i < 64; i++) {
        rig->at = RIG_BASE + 16 * i;
        rig_jump(rig, 0, rig->at + 16);
    }
    rig->at = RIG_BASE + 16 * 64;
    RIG_EMIT(rig, ecall, 0);
    rig_check(rig_run(rig), 64, 400, 20, "unknown jumps");
    rig_free(rig);
}

/* The message names the field. */
static void bad_configurations_are_named(void **state)
{
    (void)state;
    struct core_config config;
    struct error err;
    core_config_default(&config, CORE_INORDER);
    assert_true(part_check(&core_kind, &config, &err));
    config.width = 9;
    assert_false(part_check(&core_kind, &config, &err));
    assert_string_equal(err.text, "width: '9' is not allowed; allowed: 1 to 8");
    core_config_default(&config, CORE_INORDER);
    config.latency.of[CORE_WORK_divw].latency = 0;
    assert_false(part_check(&core_kind, &config, &err));
    assert_non_null(strstr(err.text, "latency.divw: '0'"));
    core_config_default(&config, CORE_INORDER);
    config.fetch_bytes = 24;
    assert_false(part_check(&core_kind, &config, &err));
    assert_non_null(strstr(err.text, "fetch_bytes: '24'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instruction_misses),
        cmocka_unit_test(wrong_path_fills_the_cache),
        cmocka_unit_test(unknown_jumps),
        cmocka_unit_test(bad_configurations_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
