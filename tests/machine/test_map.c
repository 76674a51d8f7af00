/* The memory map with which guests are linked (linker/croft_map.ld) is that of the built-in machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/dev/clint.h"
#include "emu/dev/plic.h"
#include "emu/machine/machine.h"
#include "emu/nucd/description.h"
#include "linker/map.h"

static void load(struct machine_config *machine, const char *name)
{
    struct error err = {.text = ""};
    if (!machine_load(machine, name, "emu/machine/shipped", NULL, 0, &err))
        fail_msg("%s", err.text);
}

static const struct device_config *device(const struct machine_config *machine, const char *path)
{
    const struct device_config *config = tree_config(machine->tree, path);
    if (!config)
        fail_msg("%s has no %s", machine->name, path);
    return config;
}

static void check_memory(const struct machine_config *machine)
{
    assert_int_equal(machine->memory->base, CROFT_DRAM_BASE);
    assert_true(machine->memory->size >= CROFT_DRAM_SIZE);
}

static void check_devices(const struct machine_config *machine)
{
    assert_int_equal(device(machine, "devices.finisher")->base, CROFT_FINISHER_BASE);
    assert_int_equal(device(machine, "devices.rtc")->base, CROFT_RTC_BASE);
    assert_int_equal(device(machine, "devices.clint")->base, CROFT_CLINT_BASE);
    assert_int_equal(device(machine, "devices.plic")->base, CROFT_PLIC_BASE);
    assert_int_equal(device(machine, "devices.uart")->base, CROFT_UART_BASE);
    assert_int_equal(device(machine, "devices.uart")->irq, CROFT_UART_IRQ);
}

static void devices_are_where_firmware_looks(void **state)
{
    static const char *const names[] = {"virt", "nucd", "ddr3"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct machine_config machine;
        load(&machine, names[i]);
        check_memory(&machine);
        check_devices(&machine);
        machine_free(&machine);
    }
}

/* Machine `functional` has no devices: bare-metal programs use its memory and HTIF. */
static void memory_is_where_programs_are_linked(void **state)
{
    (void)state;
    struct machine_config machine;
    load(&machine, "functional");
    check_memory(&machine);
    machine_free(&machine);
}

static void accelerators_are_where_their_firmware_looks(void **state)
{
    (void)state;
    struct machine_config machine;
    load(&machine, "nucd");
    assert_int_equal(nucd_described(machine.tree)->base, CROFT_NUCD_BASE);
    assert_int_equal(nucd_described(machine.tree)->irq, CROFT_NUCD_IRQ);
    assert_int_equal(machine.memory->base + machine.memory->size - nucd_described(machine.tree)->memory,
                     CROFT_NUCD_FIRMWARE);
    machine_free(&machine);
}

/* Each hart has two PLIC contexts, for machine and supervisor mode. */
static void the_board_has_inputs_for_all_harts(void **state)
{
    (void)state;
    assert_int_equal(2 * ROOT_HARTS, PLIC_CONTEXTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_where_firmware_looks),
        cmocka_unit_test(memory_is_where_programs_are_linked),
        cmocka_unit_test(accelerators_are_where_their_firmware_looks),
        cmocka_unit_test(the_board_has_inputs_for_all_harts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
