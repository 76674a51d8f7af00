/* Liveness, by execution: two threads run a random program with the same values, at some instruction all registers of one
 * of them that are not live there get other values, and both must end with the same results. */
#include "tests/analysis/random_program.h"

enum { PROGRAMS = 400 };

/* Gives thread 1 other values in what is not live at its instruction. Returns the number of registers changed. */
static unsigned poison(struct rig *rig, const struct cfg *cfg, const struct liveness *liveness)
{
    int at = cfg_at(cfg, warp_pc(rig->warp, 1));
    assert_int_not_equal(at, CFG_NONE);
    const struct live live = liveness->in[at];
    unsigned changed = 0;
    for (unsigned reg = 1; reg < REGISTERS; reg++) {
        uint64_t value = warp_register(rig->warp, reg, 1), other = random_next(&rig->random);
        bool upper = reg < 32 && (live.any & ~live.high) >> reg & 1;
        if (live.any >> reg & 1 && !upper)
            continue;
        other = upper ? (other & ~UINT64_C(0xffffffff)) | (value & 0xffffffff) : other;
        warp_set_register(rig->warp, reg, 1, other);
        changed++;
    }
    return changed;
}

static void other_registers_do_not_matter(void **state)
{
    struct rig rig;
    struct warp_report report;
    uint64_t changed = 0, entry = CODE_BASE;
    (void)state;
    rig_init(&rig);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        write_program(&rig);
        struct cfg cfg = cfg_build(rig.code.decoder, &(struct reach_code){fetch, &rig}, &entry, 1, NULL);
        struct liveness live = liveness_of(&cfg, NULL);
        assert_int_equal(cfg.function_count, 2);
        for (unsigned trial = 0; trial < 10; trial++) {
            start(&rig);
            for (uint32_t left = random_below(&rig.random, 100); left && warp_pc(rig.warp, 0) != 0; left--)
                assert_int_equal(warp_step(rig.warp, &report), WARP_DONE);
            uint64_t pc = warp_pc(rig.warp, 0);
            if (pc < CODE_BASE + CALLEE_END)
                continue; /* the threads have ended, or are where their callers keep more than the convention says */
            changed += poison(&rig, &cfg, &live);
            run_out(&rig);
            compare(&rig);
        }
        liveness_free(&live);
        cfg_free(&cfg);
    }
    /* Most of 64 registers are not live. */
    assert_in_range(changed, (uint64_t)20 * 8 * PROGRAMS, (uint64_t)64 * 10 * PROGRAMS);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_registers_do_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
