/* The boot parameters of the kernel's driver, and its messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "emu/machine/machine.h"
#include "emu/nucd/environment/driver.h"

enum { SETS = 5 };

static const char *const sets[SETS] = {"accel.count=3", "nucd.base=0x20000000", "nucd.timeout=30 us",
                                       "nucd.queue_lines=8", "nucd.os_clocks=77"};

/* Loads machine nucd with the settings and a mode. */
static void load(struct machine_config *machine, const char *mode)
{
    const char *all[SETS + 1];
    struct error err;
    memcpy(all, sets, sizeof sets);
    all[SETS] = mode;
    if (!machine_load(machine, "nucd", "emu/machine/shipped", all, SETS + 1, &err))
        fail_msg("%s", err.text);
}

/* A unit has 8 KiB; the second half is for the host. */
static void the_driver_has_the_units(void **state)
{
    struct machine_config machine;
    struct kernel_boot boot = {.accelerators = 99};
    (void)state;
    load(&machine, "nucd.mode=driver");
    nucd_driver_boot(machine.tree, "firmware.elf", 100000000, &boot); /* 100 ns */
    assert_int_equal(boot.accelerators, 3);
    assert_int_equal(boot.unit_count, 3);
    assert_int_equal(boot.unit_base, 0x20001000);
    assert_int_equal(boot.unit_size, 0x2000);
    assert_int_equal(boot.driver.units, 3);
    assert_int_equal(boot.driver.base, 0x20001000);
    assert_int_equal(boot.driver.size, 0x2000);
    assert_int_equal(boot.driver.lines, 8);
    assert_int_equal(boot.driver.capabilities, 255);
    assert_int_equal(boot.driver.os_clocks, 77);
    assert_int_equal(boot.driver.timeout, 300);
    nucd_driver_boot(machine.tree, NULL, 100000000, &boot);
    assert_int_equal(boot.accelerators, 0);
    assert_int_equal(boot.unit_count, 0);
    assert_int_equal(boot.driver.units, 0);
    machine_free(&machine);
}

/* In other modes there is no driver. In mode none no tasks are sent, although the accelerators translate by
 * the table. */
static void other_modes_have_no_driver(void **state)
{
    static const struct {
        const char *mode;
        unsigned accelerators, units;
    } cases[] = {
        {"nucd.mode=nucd", 3, 3}, {"nucd.mode=ideal", 3, 3}, {"nucd.mode=none", 3, 0}, {"nucd=none", 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine_config machine;
        struct kernel_boot boot = {0};
        const char *without[] = {"nucd=none"};
        struct error err;
        if (strcmp(cases[i].mode, without[0]) != 0)
            load(&machine, cases[i].mode);
        else if (!machine_load(&machine, "nucd", "emu/machine/shipped", without, 1, &err))
            fail_msg("%s", err.text);
        nucd_driver_boot(machine.tree, "firmware.elf", 100000000, &boot);
        assert_int_equal(boot.accelerators, cases[i].accelerators);
        assert_int_equal(boot.unit_count, cases[i].units);
        assert_int_equal(boot.driver.units, 0);
        assert_int_equal(boot.driver.timeout, 0);
        machine_free(&machine);
    }
}

static void a_timeout_names_task_and_accelerator(void **state)
{
    struct machine_config machine;
    const struct kernel_frame frame = {.pc = 0x80001234, .value = 2};
    char text[NUCD_DRIVER_TEXT];
    (void)state;
    load(&machine, "nucd.mode=driver");
    nucd_driver_timeout(machine.tree, &frame, "main+0x10 (m.c:3)", text);
    assert_string_equal(
        text, "the task of the nucd at 0x80001234, main+0x10 (m.c:3), on accelerator 2 has not ended "
              "within 30 us (nucd.timeout)");
    machine_free(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_driver_has_the_units),
        cmocka_unit_test(other_modes_have_no_driver),
        cmocka_unit_test(a_timeout_names_task_and_accelerator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
