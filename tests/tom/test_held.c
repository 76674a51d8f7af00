/* What a packet takes for registers, by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <setjmp.h>

#include <cmocka.h>

#include "emu/tom/held.h"
#include "tests/simt/code_fixture.h"

enum { A1 = 11, FA1 = 32 + 11, LANES = 32 };

static void held_bytes(void **state)
{
    (void)state;
    static const struct {
        uint64_t base, step, mix;
        uint32_t lanes, bytes;
        unsigned reg;
    } cases[] = {
        {7, 0, 0, UINT32_MAX, 1 + 8, A1},                                      /* equal */
        {UINT64_C(0x80001000), 4, 0, UINT32_MAX, 1 + 16, A1},                  /* affine */
        {UINT64_C(0x80001000), 4, 0, 0x80000011, 1 + 16, A1},                  /* in some lanes */
        {5, 0, 3, UINT32_MAX, 1 + 4 + 32 * 4, A1},                             /* words */
        {UINT64_C(1) << 40, 0, 3, 0x0000ffff, 1 + 4 + 16 * 8, A1},             /* whole */
        {UINT64_C(0xffffffff00000000), 0, 3, UINT32_MAX, 1 + 4 + 32 * 4, FA1}, /* single precision */
        {UINT64_C(0x3ff0000000000000), 0, 3, UINT32_MAX, 1 + 4 + 32 * 8, FA1}, /* double precision */
        {9, 0, 3, 0, 0, A1},                                                   /* no lanes */
    };
    struct code_fixture code;
    struct error err;
    code_fixture_init(&code, 1 << 16,
                      (struct warp_memory_setup){.width = LANES,
                                                 .write_first = CODE_BASE,
                                                 .stack_shift = 8,
                                                 .stack_physical = CODE_BASE + 0x8000,
                                                 .stack_warps = 1});
    struct warp *warp = warp_new(&code.memory, &err);
    assert_non_null(warp);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (unsigned lane = 0; lane < LANES; lane++)
            warp_set_register(warp, cases[i].reg, lane,
                              cases[i].base + cases[i].step * lane + cases[i].mix * (lane * lane % 7));
        assert_int_equal(tom_held_bytes(warp, UINT64_C(1) << cases[i].reg, cases[i].lanes), cases[i].bytes);
    }
    warp_free(warp);
    code_fixture_free(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(held_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
