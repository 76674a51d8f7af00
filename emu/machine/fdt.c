#include "emu/machine/fdt.h"

#include <inttypes.h>
#include <libfdt.h>
#include <stdlib.h>
#include <string.h>

#include "emu/dev/clint.h"
#include "emu/dev/finisher.h"
#include "emu/dev/plic.h"
#include "emu/dev/rtc.h"
#include "emu/dev/timebase.h"
#include "emu/dev/uart16550.h"
#include "emu/hart/access.h"
#include "emu/hart/priv.h"

/* What the harts implement, in the words of the devicetree binding riscv,isa. */
static const char isa[] = "rv64imafdc_zicsr_zifencei_zicntr_zba_zbb_zbs_zicbom_zicboz_sstc";

enum {
    ROOM_FIRST = 64 << 10,
    ROOM_LAST = 4 << 20,
};

struct tree {
    void *blob;
    int status; /* of libfdt: 0, or its first error, after which nothing is done any more */
    const struct machine_config *config;
};

static uint32_t cpu_handle(uint32_t hart)
{
    return 1 + 2 * hart;
}

static uint32_t intc_handle(uint32_t hart)
{
    return 2 + 2 * hart;
}

static uint32_t plic_handle(const struct tree *tree)
{
    return (uint32_t)(2 * tree->config->harts + 1);
}

static uint32_t finisher_handle(const struct tree *tree)
{
    return (uint32_t)(2 * tree->config->harts + 2);
}

static void begin(struct tree *tree, const char *name)
{
    if (!tree->status)
        tree->status = fdt_begin_node(tree->blob, name);
}

/* A node whose name ends in its address. */
static void begin_at(struct tree *tree, const char *name, uint64_t address)
{
    char full[64];
    (void)snprintf(full, sizeof full, "%s@%" PRIx64, name, address);
    begin(tree, full);
}

static void end(struct tree *tree)
{
    if (!tree->status)
        tree->status = fdt_end_node(tree->blob);
}

static void bytes(struct tree *tree, const char *name, const void *value, size_t size)
{
    if (!tree->status)
        tree->status = fdt_property(tree->blob, name, value, (int)size);
}

static void flag(struct tree *tree, const char *name)
{
    bytes(tree, name, "", 0);
}

static void text(struct tree *tree, const char *name, const char *value)
{
    bytes(tree, name, value, strlen(value) + 1);
}

static void cell(struct tree *tree, const char *name, uint32_t value)
{
    if (!tree->status)
        tree->status = fdt_property_u32(tree->blob, name, value);
}

static void reg(struct tree *tree, uint64_t base, uint64_t size)
{
    fdt64_t value[2] = {cpu_to_fdt64(base), cpu_to_fdt64(size)};
    bytes(tree, "reg", value, sizeof value);
}

static void cells(struct tree *tree, uint32_t address, uint32_t size)
{
    cell(tree, "#address-cells", address);
    cell(tree, "#size-cells", size);
}

static void interrupt(struct tree *tree, uint64_t number)
{
    if (!tree->config->devices.plic.present)
        return;
    cell(tree, "interrupts", (uint32_t)number);
    cell(tree, "interrupt-parent", plic_handle(tree));
}

static void cpu(struct tree *tree, uint32_t hart)
{
    begin_at(tree, "cpu", hart);
    cell(tree, "phandle", cpu_handle(hart));
    text(tree, "device_type", "cpu");
    cell(tree, "reg", hart);
    text(tree, "status", "okay");
    text(tree, "compatible", "riscv");
    text(tree, "riscv,isa", isa);
    cell(tree, "riscv,cbom-block-size", CACHE_BLOCK);
    cell(tree, "riscv,cboz-block-size", CACHE_BLOCK);
    text(tree, "mmu-type", "riscv,sv48");
    begin(tree, "interrupt-controller");
    cell(tree, "#interrupt-cells", 1);
    flag(tree, "interrupt-controller");
    text(tree, "compatible", "riscv,cpu-intc");
    cell(tree, "phandle", intc_handle(hart));
    end(tree);
    end(tree);
}

static void cpus(struct tree *tree)
{
    begin(tree, "cpus");
    cells(tree, 1, 0);
    cell(tree, "timebase-frequency", TIMEBASE_HZ);
    for (uint32_t hart = 0; hart < tree->config->harts; hart++)
        cpu(tree, hart);
    begin(tree, "cpu-map");
    begin(tree, "cluster0");
    for (uint32_t hart = 0; hart < tree->config->harts; hart++) {
        char name[16];
        (void)snprintf(name, sizeof name, "core%" PRIu32, hart);
        begin(tree, name);
        cell(tree, "cpu", cpu_handle(hart));
        end(tree);
    }
    end(tree);
    end(tree);
    end(tree);
}

/* interrupts-extended: two inputs of each hart's interrupt controller, which are bits of mip. */
static void hart_inputs(struct tree *tree, uint32_t first, uint32_t second)
{
    fdt32_t value[4 * CLINT_HARTS];
    uint32_t harts = (uint32_t)tree->config->harts;
    for (uint32_t hart = 0; hart < harts; hart++) {
        fdt32_t *at = &value[4 * hart];
        at[0] = at[2] = cpu_to_fdt32(intc_handle(hart));
        at[1] = cpu_to_fdt32(first);
        at[3] = cpu_to_fdt32(second);
    }
    bytes(tree, "interrupts-extended", value, 4 * sizeof value[0] * harts);
}

static void clint(struct tree *tree)
{
    static const char compatible[] = "sifive,clint0\0riscv,clint0";
    if (!tree->config->devices.clint.present)
        return;
    begin_at(tree, "clint", tree->config->devices.clint.base);
    bytes(tree, "compatible", compatible, sizeof compatible);
    reg(tree, tree->config->devices.clint.base, CLINT_SIZE);
    hart_inputs(tree, IRQ_MSI, IRQ_MTI);
    end(tree);
}

static void plic(struct tree *tree)
{
    static const char compatible[] = "sifive,plic-1.0.0\0riscv,plic0";
    if (!tree->config->devices.plic.present)
        return;
    begin_at(tree, "plic", tree->config->devices.plic.base);
    bytes(tree, "compatible", compatible, sizeof compatible);
    reg(tree, tree->config->devices.plic.base, PLIC_SIZE);
    hart_inputs(tree, IRQ_MEI, IRQ_SEI);
    flag(tree, "interrupt-controller");
    cell(tree, "#interrupt-cells", 1);
    cell(tree, "#address-cells", 0);
    cell(tree, "riscv,ndev", PLIC_SOURCES);
    cell(tree, "phandle", plic_handle(tree));
    end(tree);
}

static void uart(struct tree *tree)
{
    if (!tree->config->devices.uart.present)
        return;
    begin_at(tree, "serial", tree->config->devices.uart.base);
    text(tree, "compatible", "ns16550a");
    reg(tree, tree->config->devices.uart.base, UART16550_SIZE);
    cell(tree, "clock-frequency", UART16550_HZ);
    interrupt(tree, tree->config->devices.uart.irq);
    end(tree);
}

static void rtc(struct tree *tree)
{
    if (!tree->config->devices.rtc.present)
        return;
    begin_at(tree, "rtc", tree->config->devices.rtc.base);
    text(tree, "compatible", "google,goldfish-rtc");
    reg(tree, tree->config->devices.rtc.base, RTC_SIZE);
    interrupt(tree, tree->config->devices.rtc.irq);
    end(tree);
}

static void finisher(struct tree *tree)
{
    static const char compatible[] = "sifive,test1\0sifive,test0\0syscon";
    if (!tree->config->devices.finisher.present)
        return;
    begin_at(tree, "test", tree->config->devices.finisher.base);
    bytes(tree, "compatible", compatible, sizeof compatible);
    reg(tree, tree->config->devices.finisher.base, FINISHER_SIZE);
    cell(tree, "phandle", finisher_handle(tree));
    end(tree);
}

static void soc(struct tree *tree)
{
    begin(tree, "soc");
    cells(tree, 2, 2);
    text(tree, "compatible", "simple-bus");
    flag(tree, "ranges");
    finisher(tree);
    rtc(tree);
    clint(tree);
    plic(tree);
    uart(tree);
    end(tree);
}

/* How the finisher is used: a value that it takes. */
static void finisher_use(struct tree *tree, const char *name, const char *compatible, uint32_t value)
{
    if (!tree->config->devices.finisher.present)
        return;
    begin(tree, name);
    text(tree, "compatible", compatible);
    cell(tree, "regmap", finisher_handle(tree));
    cell(tree, "offset", 0);
    cell(tree, "value", value);
    end(tree);
}

static void chosen(struct tree *tree, const char *bootargs)
{
    char path[64];
    begin(tree, "chosen");
    if (tree->config->devices.uart.present) {
        (void)snprintf(path, sizeof path, "/soc/serial@%" PRIx64, tree->config->devices.uart.base);
        text(tree, "stdout-path", path);
    }
    if (bootargs)
        text(tree, "bootargs", bootargs);
    end(tree);
}

static void root(struct tree *tree, const char *bootargs)
{
    begin(tree, "");
    cells(tree, 2, 2);
    text(tree, "compatible", "riscv-virtio");
    text(tree, "model", "undercroft");
    chosen(tree, bootargs);
    begin_at(tree, "memory", tree->config->memory.base);
    text(tree, "device_type", "memory");
    reg(tree, tree->config->memory.base, tree->config->memory.size);
    end(tree);
    cpus(tree);
    soc(tree);
    finisher_use(tree, "poweroff", "syscon-poweroff", 0x5555);
    finisher_use(tree, "reboot", "syscon-reboot", 0x7777);
    end(tree);
}

/* Writes the tree to blob[room] and returns libfdt's status. */
static int build(const struct machine_config *config, const char *bootargs, void *blob, int room)
{
    struct tree tree = {.blob = blob, .config = config};
    tree.status = fdt_create(blob, room);
    if (!tree.status)
        tree.status = fdt_finish_reservemap(blob);
    root(&tree, bootargs);
    return tree.status ? tree.status : fdt_finish(blob);
}

void *machine_fdt(const struct machine_config *config, const char *bootargs, size_t *size, struct error *err)
{
    int status = -FDT_ERR_NOSPACE;
    for (int room = ROOM_FIRST; status == -FDT_ERR_NOSPACE && room <= ROOM_LAST; room *= 2) {
        void *blob = calloc(1, (size_t)room);
        if (!blob) {
            (void)error_set(err, "out of memory");
            return NULL;
        }
        status = build(config, bootargs, blob, room);
        *size = fdt_totalsize(blob);
        if (status == 0)
            return blob;
        free(blob);
    }
    (void)error_set(err, "the device tree cannot be made: %s%s", fdt_strerror(status),
                    status == -FDT_ERR_NOSPACE ? "; the kernel's command line must be shorter" : "");
    return NULL;
}
