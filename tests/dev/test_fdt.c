/* The device tree, read back: by libfdt's checks, and by what the bindings ask for. */
#include "tests/dev/machine.h"

#include <libfdt.h>
#include <stdlib.h>

#include "emu/machine/board/fdt.h"

static void *make(const char *machine, const char *const *sets, const char *bootargs)
{
    struct machine_config config;
    struct error err = {.text = ""};
    size_t size = 0;
    machine_make(&config, machine, sets);
    void *fdt = machine_fdt(&config, NULL, bootargs, &size, &err);
    machine_free(&config);
    if (!fdt)
        fail_msg("%s", err.text);
    assert_int_equal(fdt_check_full(fdt, size), 0);
    assert_int_equal(fdt_totalsize(fdt), size);
    return fdt;
}

static int node(const void *fdt, const char *path)
{
    int offset = fdt_path_offset(fdt, path);
    if (offset < 0)
        fail_msg("%s: %s", path, fdt_strerror(offset));
    return offset;
}

/* The property is exactly these cells. */
static void assert_cells(const void *fdt, const char *path, const char *name, const uint32_t *cells,
                         size_t count)
{
    int length;
    const fdt32_t *value = fdt_getprop(fdt, node(fdt, path), name, &length);
    assert_int_equal(length, 4 * count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(fdt32_to_cpu(value[i]), cells[i]);
}

#define ASSERT_CELLS(fdt, path, name, ...)                                                                   \
    assert_cells(fdt, path, name, (const uint32_t[]){__VA_ARGS__},                                           \
                 sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void assert_text(const void *fdt, const char *path, const char *name, const char *text)
{
    assert_true(fdt_stringlist_search(fdt, node(fdt, path), name, text) >= 0);
}

static uint32_t handle(const void *fdt, const char *path)
{
    uint32_t value = fdt_get_phandle(fdt, node(fdt, path));
    assert_true(value != 0 && fdt_node_offset_by_phandle(fdt, value) == node(fdt, path));
    return value;
}

static void extensions_are_the_chosen_ones(void **state)
{
    (void)state;
    static const char list[] = "i\0m\0zicbop\0zicboz";
    void *fdt = make("virt", SETS("isa=rv64im_zicboz1p0_zicbop"), NULL);
    int size;
    assert_text(fdt, "/cpus/cpu@0", "riscv,isa", "rv64im_zicbop_zicboz");
    assert_text(fdt, "/cpus/cpu@0", "riscv,isa-base", "rv64i");
    const void *found = fdt_getprop(fdt, node(fdt, "/cpus/cpu@0"), "riscv,isa-extensions", &size);
    assert_int_equal(size, sizeof list);
    assert_memory_equal(found, list, sizeof list);
    ASSERT_CELLS(fdt, "/cpus/cpu@0", "riscv,cbop-block-size", 64);
    ASSERT_CELLS(fdt, "/cpus/cpu@0", "riscv,cboz-block-size", 64);
    assert_null(fdt_getprop(fdt, node(fdt, "/cpus/cpu@0"), "riscv,cbom-block-size", &size));
    free(fdt);
}

static void virt_is_described_as_qemu_does(void **state)
{
    (void)state;
    void *fdt = make("virt", SETS("harts=2", "memory.size=5 GiB"), "console=ttyS0 quiet");
    assert_text(fdt, "/chosen", "stdout-path", "/soc/serial@10000000");
    assert_text(fdt, "/chosen", "bootargs", "console=ttyS0 quiet");
    assert_text(fdt, "/memory@80000000", "device_type", "memory");
    ASSERT_CELLS(fdt, "/memory@80000000", "reg", 0, 0x80000000, 1, 0x40000000);
    ASSERT_CELLS(fdt, "/cpus", "timebase-frequency", 10000000);
    assert_text(
        fdt, "/cpus/cpu@1", "riscv,isa",
        "rv64imafdc_zicbom_zicbop_zicboz_zicntr_zicond_zicsr_zifencei_zihintpause_zihpm_zawrs_zfh_zfhmin_zcb_"
        "zba_zbb_zbc_zbs_sstc");
    assert_text(fdt, "/cpus/cpu@1", "mmu-type", "riscv,sv48");
    ASSERT_CELLS(fdt, "/cpus/cpu@1", "reg", 1);
    uint32_t one = handle(fdt, "/cpus/cpu@0/interrupt-controller");
    uint32_t two = handle(fdt, "/cpus/cpu@1/interrupt-controller");
    uint32_t plic = handle(fdt, "/soc/plic@c000000");
    ASSERT_CELLS(fdt, "/soc/clint@2000000", "interrupts-extended", one, 3, one, 7, two, 3, two, 7);
    ASSERT_CELLS(fdt, "/soc/clint@2000000", "reg", 0, 0x2000000, 0, 0x10000);
    ASSERT_CELLS(fdt, "/soc/plic@c000000", "interrupts-extended", one, 11, one, 9, two, 11, two, 9);
    ASSERT_CELLS(fdt, "/soc/plic@c000000", "reg", 0, 0xc000000, 0, 0x600000);
    ASSERT_CELLS(fdt, "/soc/plic@c000000", "riscv,ndev", 96);
    ASSERT_CELLS(fdt, "/soc/serial@10000000", "interrupts", 10);
    ASSERT_CELLS(fdt, "/soc/serial@10000000", "interrupt-parent", plic);
    ASSERT_CELLS(fdt, "/soc/serial@10000000", "clock-frequency", 3686400);
    ASSERT_CELLS(fdt, "/soc/rtc@101000", "interrupts", 11);
    ASSERT_CELLS(fdt, "/poweroff", "regmap", handle(fdt, "/soc/test@100000"));
    ASSERT_CELLS(fdt, "/poweroff", "value", 0x5555);
    ASSERT_CELLS(fdt, "/reboot", "value", 0x7777);
    assert_text(fdt, "/soc/test@100000", "compatible", "sifive,test0");
    ASSERT_CELLS(fdt, "/cpus/cpu-map/cluster0/core1", "cpu", handle(fdt, "/cpus/cpu@1"));
    free(fdt);
}

static void absent_devices_are_not_described(void **state)
{
    (void)state;
    void *fdt = make("virt", SETS("devices.uart=none", "devices.plic=none", "devices.rtc.base=0x5000"), NULL);
    assert_true(fdt_path_offset(fdt, "/soc/serial@10000000") == -FDT_ERR_NOTFOUND);
    assert_null(fdt_getprop(fdt, node(fdt, "/chosen"), "stdout-path", NULL));
    assert_null(fdt_getprop(fdt, node(fdt, "/chosen"), "bootargs", NULL));
    assert_null(fdt_getprop(fdt, node(fdt, "/soc/rtc@5000"), "interrupts", NULL));
    free(fdt);
    fdt = make("functional", NO_SETS, NULL);
    assert_true(fdt_first_subnode(fdt, node(fdt, "/soc")) == -FDT_ERR_NOTFOUND);
    assert_true(fdt_path_offset(fdt, "/poweroff") == -FDT_ERR_NOTFOUND);
    free(fdt);
}

static void many_harts_and_long_arguments_fit(void **state)
{
    (void)state;
    static char bootargs[300000];
    memset(bootargs, 'x', sizeof bootargs - 1);
    void *fdt = make("virt", SETS("harts=64"), bootargs);
    uint32_t last = handle(fdt, "/cpus/cpu@3f/interrupt-controller");
    int length;
    const fdt32_t *value = fdt_getprop(fdt, node(fdt, "/soc/plic@c000000"), "interrupts-extended", &length);
    assert_int_equal(length, 64 * 16);
    assert_int_equal(fdt32_to_cpu(value[255]), 9);
    assert_int_equal(fdt32_to_cpu(value[254]), last);
    assert_text(fdt, "/chosen", "bootargs", bootargs);
    free(fdt);
}

static void task_units_are_one_device_with_an_interrupt_each(void **state)
{
    (void)state;
    const struct tasks_node units = {.name = "nucd",
                                     .compatible = "undercroft,nucd",
                                     .base = 0x18000000,
                                     .size = 0x6000,
                                     .interrupt = 40,
                                     .units = 3,
                                     .queue_lines = 16,
                                     .capabilities = 7};
    struct machine_config config;
    struct error err;
    size_t size = 0;
    machine_make(&config, "virt", NO_SETS);
    void *fdt = machine_fdt(&config, &units, NULL, &size, &err);
    assert_non_null(fdt);
    assert_int_equal(fdt_check_full(fdt, size), 0);
    const char *path = "/soc/nucd@18000000";
    assert_text(fdt, path, "compatible", "undercroft,nucd");
    ASSERT_CELLS(fdt, path, "reg", 0, 0x18000000, 0, 0x6000);
    ASSERT_CELLS(fdt, path, "interrupts", 40, 41, 42);
    ASSERT_CELLS(fdt, path, "interrupt-parent", handle(fdt, "/soc/plic@c000000"));
    ASSERT_CELLS(fdt, path, "undercroft,units", 3);
    ASSERT_CELLS(fdt, path, "undercroft,queue-lines", 16);
    ASSERT_CELLS(fdt, path, "undercroft,capabilities", 7);
    free(fdt);
    machine_free(&config);
    fdt = make("virt", NO_SETS, NULL);
    assert_int_equal(fdt_path_offset(fdt, path), -FDT_ERR_NOTFOUND);
    free(fdt);
}

static void chips_have_reserved_memory(void **state)
{
    const char *memory = "/reserved-memory/axram@98000000";
    (void)state;
    void *fdt = make("axram", SETS("axram.offset=384 MiB", "axram.size=96 MiB", "axram.halves=2"), NULL);
    ASSERT_CELLS(fdt, "/reserved-memory", "#address-cells", 2);
    ASSERT_CELLS(fdt, "/reserved-memory", "#size-cells", 2);
    ASSERT_CELLS(fdt, memory, "reg", 0, 0x98000000, 0, 96 << 20);
    assert_non_null(fdt_getprop(fdt, node(fdt, "/reserved-memory"), "ranges", NULL));
    assert_non_null(fdt_getprop(fdt, node(fdt, memory), "no-map", NULL));
    assert_text(fdt, "/axram", "compatible", "undercroft,axram");
    ASSERT_CELLS(fdt, "/axram", "memory-region", handle(fdt, memory));
    ASSERT_CELLS(fdt, "/axram", "undercroft,units", 24);
    ASSERT_CELLS(fdt, "/axram", "undercroft,together", 1);
    ASSERT_CELLS(fdt, "/axram", "undercroft,piece", 256 << 10);
    free(fdt);
    fdt = make("gpu", NO_SETS, NULL);
    assert_int_equal(fdt_path_offset(fdt, "/reserved-memory"), -FDT_ERR_NOTFOUND);
    assert_int_equal(fdt_path_offset(fdt, "/axram"), -FDT_ERR_NOTFOUND);
    free(fdt);
}

static void too_long_arguments_are_refused(void **state)
{
    (void)state;
    struct machine_config config;
    struct error err;
    size_t size = 5 << 20;
    char *bootargs = malloc(size);
    assert_non_null(bootargs);
    memset(bootargs, 'x', size - 1);
    bootargs[size - 1] = '\0';
    machine_make(&config, "virt", NO_SETS);
    assert_null(machine_fdt(&config, NULL, bootargs, &size, &err));
    assert_string_equal(err.text,
                        "cannot build the device tree: FDT_ERR_NOSPACE; shorten the kernel's command line");
    machine_free(&config);
    free(bootargs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extensions_are_the_chosen_ones),
        cmocka_unit_test(virt_is_described_as_qemu_does),
        cmocka_unit_test(absent_devices_are_not_described),
        cmocka_unit_test(many_harts_and_long_arguments_fit),
        cmocka_unit_test(task_units_are_one_device_with_an_interrupt_each),
        cmocka_unit_test(chips_have_reserved_memory),
        cmocka_unit_test(too_long_arguments_are_refused),
    };
    return cmocka_run_group_tests_name("device tree", tests, NULL, NULL);
}
