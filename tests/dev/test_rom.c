/* The boot ROM's contents, and the finisher. */
#include "tests/dev/rig.h"

#include "emu/dev/finisher.h"
#include "emu/dev/rom.h"
#include "isa/decode.h"
#include "isa/disasm.h"

static void the_boot_program(void **state)
{
    (void)state;
    static const char *const lines[] = {"auipc\tt0,0x0",  "csrrs\ta0,mhartid,zero", "ld\ta1,32(t0)",
                                        "addi\ta2,t0,40", "ld\tt0,24(t0)",          "jalr\tzero,0(t0)"};
    struct rom *rom = rom_new();
    struct decoder *decoder = decoder_new();
    rom_set_boot(
        rom, &(struct rom_boot){.start = 0x80000000, .fdt = 0x87e00000, .next = 0x80200000, .next_mode = 1});
    for (unsigned i = 0; i < 6; i++) {
        char text[64];
        struct insn insn = decode(decoder, (uint32_t)rom_ops.read(rom, 4 * i, 4));
        disasm(&insn, 0x1000 + 4 * i, text, sizeof text);
        assert_string_equal(text, lines[i]);
    }
    decoder_free(decoder);
    static const uint64_t words[] = {0x80000000, 0x87e00000, 0x4942534f, 2, 0x80200000, 1, 0, 0, 0};
    for (unsigned i = 0; i < 9; i++)
        assert_true(rom_ops.read(rom, 0x18 + 8 * i, 8) == words[i]);
    rom_free(rom);
}

static void reads_of_all_sizes_and_no_writes(void **state)
{
    (void)state;
    struct rom *rom = rom_new();
    rom_set_boot(rom, &(struct rom_boot){.start = UINT64_C(0x8877665544332211)});
    assert_true(rom_ops.read(rom, 0x18, 8) == UINT64_C(0x8877665544332211));
    assert_true(rom_ops.read(rom, 0x1c, 4) == 0x88776655);
    assert_true(rom_ops.read(rom, 0x1a, 2) == 0x4433);
    assert_true(rom_ops.read(rom, 0x1f, 1) == 0x88);
    rom_ops.write(rom, 0x18, 8, 0);
    assert_true(rom_ops.read(rom, 0x18, 8) == UINT64_C(0x8877665544332211));
    assert_true(rom_ops.read(rom, ROM_SIZE - 8, 8) == 0);
    rom_free(rom);
}

static void the_finisher_ends_and_restarts(void **state)
{
    (void)state;
    struct rig rig = {.code = 99};
    struct finisher finisher = {.exit = rig_exit, .reset = rig_reset, .context = &rig};
    static const struct {
        uint64_t value, code;
    } ends[] = {{0x5555, 0}, {0x15555, 0}, {0x3333, 1}, {0x73333, 7}, {0x1003333, 1}, {0x1ff3333, 255}};
    for (unsigned i = 0; i < 6; i++) {
        finisher_ops.write(&finisher, 0, 4, ends[i].value);
        assert_int_equal(rig.exits, i + 1);
        assert_true(rig.code == ends[i].code);
    }
    assert_int_equal(rig.resets, 0);
    finisher_ops.write(&finisher, 0, 4, 0x7777);
    finisher_ops.write(&finisher, 4, 4, 0x5555);
    finisher_ops.write(&finisher, 0, 4, 0x5554);
    finisher_ops.write(&finisher, 0, 4, 0);
    assert_true(rig.resets == 1 && rig.exits == 6);
    assert_int_equal(finisher_ops.read(&finisher, 0, 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_boot_program),
        cmocka_unit_test(reads_of_all_sizes_and_no_writes),
        cmocka_unit_test(the_finisher_ends_and_restarts),
    };
    return cmocka_run_group_tests_name("rom and finisher", tests, NULL, NULL);
}
