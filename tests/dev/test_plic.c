/* The PLIC against the RISC-V PLIC specification 1.0.0. */
#include "tests/dev/rig.h"

#include "emu/dev/plic.h"

enum { CONTEXTS = 4, THRESHOLD = 0x200000, CLAIM = 0x200004 };

static struct plic *make(struct rig *rig)
{
    struct irq_line lines[CONTEXTS];
    for (unsigned i = 0; i < CONTEXTS; i++)
        lines[i] = rig_line(rig, i);
    struct plic *plic = plic_new(CONTEXTS, lines);
    assert_non_null(plic);
    return plic;
}

static uint32_t get(struct plic *plic, uint64_t offset)
{
    return (uint32_t)plic_ops.read(plic, offset, 4);
}

static void put(struct plic *plic, uint64_t offset, uint32_t value)
{
    plic_ops.write(plic, offset, 4, value);
}

static uint32_t claim(struct plic *plic, unsigned context)
{
    return get(plic, CLAIM + 0x1000 * context);
}

static void complete(struct plic *plic, unsigned context, uint32_t source)
{
    put(plic, CLAIM + 0x1000 * context, source);
}

static void input(struct plic *plic, unsigned source, bool level)
{
    struct irq_line line = plic_input(plic, source);
    irq_set(&line, level);
}

static void enable(struct plic *plic, unsigned context, unsigned source)
{
    uint64_t at = 0x2000 + 0x80 * context + 4 * (source / 32);
    put(plic, at, get(plic, at) | UINT32_C(1) << source % 32);
}

static void an_interrupt_goes_its_way(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct plic *plic = make(&rig);
    input(plic, 10, true);
    assert_int_equal(get(plic, 0x1000), 1 << 10); /* pending, though nobody is interested */
    assert_false(rig.level[1]);
    enable(plic, 1, 10);
    assert_false(rig.level[1]); /* priority 0: never */
    put(plic, 4 * 10, 1);
    assert_true(rig.level[1] && !rig.level[0]);
    assert_int_equal(claim(plic, 1), 10);
    assert_false(rig.level[1]);
    assert_int_equal(get(plic, 0x1000), 0);
    assert_int_equal(claim(plic, 1), 0); /* no second request before the completion */
    complete(plic, 1, 10);
    assert_true(rig.level[1]); /* the level is still high */
    assert_int_equal(claim(plic, 1), 10);
    input(plic, 10, false);
    complete(plic, 1, 10);
    assert_false(rig.level[1]);
    assert_int_equal(claim(plic, 1), 0);
    plic_free(plic);
}

static void a_request_outlives_its_level(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct plic *plic = make(&rig);
    put(plic, 4 * 33, 7);
    enable(plic, 0, 33);
    input(plic, 33, true);
    input(plic, 33, false);
    assert_true(rig.level[0]);
    assert_int_equal(get(plic, 0x1004), 1 << 1);
    assert_int_equal(claim(plic, 0), 33);
    assert_false(rig.level[0]);
    plic_free(plic);
}

static void priority_then_number_decides(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct plic *plic = make(&rig);
    static const struct {
        unsigned source, priority;
    } requests[] = {{1, 3}, {5, 6}, {40, 6}, {64, 6}, {96, 7}};
    for (size_t i = 0; i < 5; i++) {
        put(plic, 4 * requests[i].source, requests[i].priority);
        enable(plic, 2, requests[i].source);
        input(plic, requests[i].source, true);
    }
    static const uint32_t order[] = {96, 5, 40, 64, 1, 0};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(claim(plic, 2), order[i]);
    plic_free(plic);
}

static void the_threshold_masks_the_wire_but_no_claim(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct plic *plic = make(&rig);
    put(plic, 4 * 7, 4);
    enable(plic, 0, 7);
    put(plic, THRESHOLD, 4);
    input(plic, 7, true);
    assert_false(rig.level[0]);
    put(plic, THRESHOLD, 3);
    assert_true(rig.level[0]);
    put(plic, THRESHOLD, 7);
    assert_false(rig.level[0]);
    assert_int_equal(claim(plic, 0), 7);
    plic_free(plic);
}

static void one_of_several_contexts_gets_it(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct plic *plic = make(&rig);
    put(plic, 4 * 20, 1);
    enable(plic, 0, 20);
    enable(plic, 3, 20);
    input(plic, 20, true);
    assert_true(rig.level[0] && rig.level[3] && !rig.level[1]);
    assert_int_equal(claim(plic, 3), 20);
    assert_true(!rig.level[0] && !rig.level[3]);
    assert_int_equal(claim(plic, 0), 0);
    complete(plic, 1, 20); /* not enabled there: ignored */
    assert_false(rig.level[0]);
    complete(plic, 0, 20); /* whoever has enabled it may complete it */
    assert_true(rig.level[0] && rig.level[3]);
    complete(plic, 0, 0);
    complete(plic, 0, 97);
    complete(plic, 0, UINT32_MAX);
    plic_free(plic);
}

static void registers_hold_what_exists(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct plic *plic = make(&rig);
    for (uint64_t offset = 0; offset < 0x1000; offset += 4) {
        put(plic, offset, UINT32_MAX);
        assert_int_equal(get(plic, offset), offset >= 4 && offset <= 4 * 96 ? 7 : 0);
    }
    for (unsigned word = 0; word < 32; word++) {
        static const uint32_t masks[] = {~UINT32_C(1), UINT32_MAX, UINT32_MAX, 1};
        put(plic, 0x1000 + 4 * word, UINT32_MAX); /* read-only */
        assert_int_equal(get(plic, 0x1000 + 4 * word), 0);
        put(plic, 0x2080 + 4 * word, UINT32_MAX);
        assert_int_equal(get(plic, 0x2080 + 4 * word), word < 4 ? masks[word] : 0);
    }
    put(plic, 0x2000 + 0x80 * CONTEXTS, UINT32_MAX); /* no such context */
    assert_int_equal(get(plic, 0x2000 + 0x80 * CONTEXTS), 0);
    put(plic, THRESHOLD + 0x1000 * CONTEXTS, 1);
    assert_int_equal(get(plic, THRESHOLD + 0x1000 * CONTEXTS), 0);
    put(plic, THRESHOLD, 0xff);
    assert_int_equal(get(plic, THRESHOLD), 7);
    assert_int_equal(get(plic, PLIC_SIZE - 4), 0);
    plic_free(plic);
}

static void reset_keeps_the_levels_only(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct plic *plic = make(&rig);
    put(plic, 4 * 3, 1);
    enable(plic, 0, 3);
    input(plic, 3, true);
    assert_int_equal(claim(plic, 0), 3);
    complete(plic, 0, 3);
    assert_true(rig.level[0]);
    plic_reset(plic);
    assert_false(rig.level[0]);
    assert_int_equal(get(plic, 12) | get(plic, 0x2000), 0);
    put(plic, 4 * 3, 1);
    enable(plic, 0, 3);
    assert_true(rig.level[0]);
    plic_free(plic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interrupt_goes_its_way),
        cmocka_unit_test(a_request_outlives_its_level),
        cmocka_unit_test(priority_then_number_decides),
        cmocka_unit_test(the_threshold_masks_the_wire_but_no_claim),
        cmocka_unit_test(one_of_several_contexts_gets_it),
        cmocka_unit_test(registers_hold_what_exists),
        cmocka_unit_test(reset_keeps_the_levels_only),
    };
    return cmocka_run_group_tests_name("plic", tests, NULL, NULL);
}
