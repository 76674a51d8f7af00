/* Cache-block operations on the out-of-order core: several are under way at a time, and fences wait for all. */
#include "tests/core/ooo/test_ooo.h"

enum { SLOTS = 8 /* at a time */, NOTHING = 60 /* more than the program takes besides, in cycles */ };

/* Returns the cycles of a program that flushes `lines` dirty lines of main memory, with a fence after every `each`. */
static uint64_t flush(unsigned lines, unsigned each)
{
    struct rig *rig = rig_new(NULL);
    rig->hart.priv.menvcfg = rig->hart.priv.senvcfg = ENVCFG_CBCFE;
    rig_warm(rig, RIG_FAR, 64 * UINT64_C(32), true);
    rig_set(rig, 20, RIG_FAR);
    for (unsigned i = 1; i <= lines; i++) {
        RIG_EMIT(rig, cbo_flush, .rs1 = 20);
        RIG_EMIT(rig, addi, .rd = 20, .rs1 = 20, .imm = 64);
        if (i % each == 0)
            RIG_EMIT(rig, fence, 0);
    }
    uint64_t cycles;
    (void)run_program(rig, NULL, &cycles);
    assert_int_equal(rig->writes, lines);
    rig_free(rig);
    return cycles;
}

/* One operation takes the write-back and then the operation on the level below. */
static void overlap(void **state)
{
    (void)state;
    const uint64_t alone = flush(1, 1), apart = flush(SLOTS, 1), together = flush(SLOTS, SLOTS);
    const uint64_t twice = flush(2 * SLOTS, 2 * SLOTS);
    assert_in_range(alone, RIG_FAR_CLOCKS, 2 * RIG_FAR_CLOCKS + NOTHING);
    assert_true(apart > SLOTS * RIG_FAR_CLOCKS);
    assert_true(together < alone + NOTHING);
    assert_true(twice > together + RIG_FAR_CLOCKS);
    assert_true(twice < 2 * alone + 2 * NOTHING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(overlap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
