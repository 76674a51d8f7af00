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

struct writer {
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

static uint32_t plic_handle(const struct writer *writer)
{
    return (uint32_t)(2 * writer->config->harts + 1);
}

static uint32_t finisher_handle(const struct writer *writer)
{
    return (uint32_t)(2 * writer->config->harts + 2);
}

static void begin(struct writer *writer, const char *name)
{
    if (!writer->status)
        writer->status = fdt_begin_node(writer->blob, name);
}

/* A node whose name ends in its address. */
static void begin_at(struct writer *writer, const char *name, uint64_t address)
{
    char full[64];
    (void)snprintf(full, sizeof full, "%s@%" PRIx64, name, address);
    begin(writer, full);
}

static void end(struct writer *writer)
{
    if (!writer->status)
        writer->status = fdt_end_node(writer->blob);
}

static void bytes(struct writer *writer, const char *name, const void *value, size_t size)
{
    if (!writer->status)
        writer->status = fdt_property(writer->blob, name, value, (int)size);
}

static void flag(struct writer *writer, const char *name)
{
    bytes(writer, name, "", 0);
}

static void text(struct writer *writer, const char *name, const char *value)
{
    bytes(writer, name, value, strlen(value) + 1);
}

static void cell(struct writer *writer, const char *name, uint32_t value)
{
    if (!writer->status)
        writer->status = fdt_property_u32(writer->blob, name, value);
}

static void reg(struct writer *writer, uint64_t base, uint64_t size)
{
    fdt64_t value[2] = {cpu_to_fdt64(base), cpu_to_fdt64(size)};
    bytes(writer, "reg", value, sizeof value);
}

static void cells(struct writer *writer, uint32_t address, uint32_t size)
{
    cell(writer, "#address-cells", address);
    cell(writer, "#size-cells", size);
}

static void interrupt(struct writer *writer, uint64_t number)
{
    if (!writer->config->devices.plic)
        return;
    cell(writer, "interrupts", (uint32_t)number);
    cell(writer, "interrupt-parent", plic_handle(writer));
}

static void cpu(struct writer *writer, uint32_t hart)
{
    begin_at(writer, "cpu", hart);
    cell(writer, "phandle", cpu_handle(hart));
    text(writer, "device_type", "cpu");
    cell(writer, "reg", hart);
    text(writer, "status", "okay");
    text(writer, "compatible", "riscv");
    text(writer, "riscv,isa", isa);
    cell(writer, "riscv,cbom-block-size", CACHE_BLOCK);
    cell(writer, "riscv,cboz-block-size", CACHE_BLOCK);
    text(writer, "mmu-type", "riscv,sv48");
    begin(writer, "interrupt-controller");
    cell(writer, "#interrupt-cells", 1);
    flag(writer, "interrupt-controller");
    text(writer, "compatible", "riscv,cpu-intc");
    cell(writer, "phandle", intc_handle(hart));
    end(writer);
    end(writer);
}

static void cpus(struct writer *writer)
{
    begin(writer, "cpus");
    cells(writer, 1, 0);
    cell(writer, "timebase-frequency", TIMEBASE_HZ);
    for (uint32_t hart = 0; hart < writer->config->harts; hart++)
        cpu(writer, hart);
    begin(writer, "cpu-map");
    begin(writer, "cluster0");
    for (uint32_t hart = 0; hart < writer->config->harts; hart++) {
        char name[16];
        (void)snprintf(name, sizeof name, "core%" PRIu32, hart);
        begin(writer, name);
        cell(writer, "cpu", cpu_handle(hart));
        end(writer);
    }
    end(writer);
    end(writer);
    end(writer);
}

/* interrupts-extended: two inputs of each hart's interrupt controller, which are bits of mip. */
static void hart_inputs(struct writer *writer, uint32_t first, uint32_t second)
{
    fdt32_t value[4 * CLINT_HARTS];
    uint32_t harts = (uint32_t)writer->config->harts;
    for (uint32_t hart = 0; hart < harts; hart++) {
        fdt32_t *at = &value[4 * hart];
        at[0] = at[2] = cpu_to_fdt32(intc_handle(hart));
        at[1] = cpu_to_fdt32(first);
        at[3] = cpu_to_fdt32(second);
    }
    bytes(writer, "interrupts-extended", value, 4 * sizeof value[0] * harts);
}

static void clint(struct writer *writer)
{
    static const char compatible[] = "sifive,clint0\0riscv,clint0";
    if (!writer->config->devices.clint)
        return;
    begin_at(writer, "clint", writer->config->devices.clint->base);
    bytes(writer, "compatible", compatible, sizeof compatible);
    reg(writer, writer->config->devices.clint->base, CLINT_SIZE);
    hart_inputs(writer, IRQ_MSI, IRQ_MTI);
    end(writer);
}

static void plic(struct writer *writer)
{
    static const char compatible[] = "sifive,plic-1.0.0\0riscv,plic0";
    if (!writer->config->devices.plic)
        return;
    begin_at(writer, "plic", writer->config->devices.plic->base);
    bytes(writer, "compatible", compatible, sizeof compatible);
    reg(writer, writer->config->devices.plic->base, PLIC_SIZE);
    hart_inputs(writer, IRQ_MEI, IRQ_SEI);
    flag(writer, "interrupt-controller");
    cell(writer, "#interrupt-cells", 1);
    cell(writer, "#address-cells", 0);
    cell(writer, "riscv,ndev", PLIC_SOURCES);
    cell(writer, "phandle", plic_handle(writer));
    end(writer);
}

static void uart(struct writer *writer)
{
    if (!writer->config->devices.uart)
        return;
    begin_at(writer, "serial", writer->config->devices.uart->base);
    text(writer, "compatible", "ns16550a");
    reg(writer, writer->config->devices.uart->base, UART16550_SIZE);
    cell(writer, "clock-frequency", UART16550_HZ);
    interrupt(writer, writer->config->devices.uart->irq);
    end(writer);
}

static void rtc(struct writer *writer)
{
    if (!writer->config->devices.rtc)
        return;
    begin_at(writer, "rtc", writer->config->devices.rtc->base);
    text(writer, "compatible", "google,goldfish-rtc");
    reg(writer, writer->config->devices.rtc->base, RTC_SIZE);
    interrupt(writer, writer->config->devices.rtc->irq);
    end(writer);
}

static void finisher(struct writer *writer)
{
    static const char compatible[] = "sifive,test1\0sifive,test0\0syscon";
    if (!writer->config->devices.finisher)
        return;
    begin_at(writer, "test", writer->config->devices.finisher->base);
    bytes(writer, "compatible", compatible, sizeof compatible);
    reg(writer, writer->config->devices.finisher->base, FINISHER_SIZE);
    cell(writer, "phandle", finisher_handle(writer));
    end(writer);
}

static void soc(struct writer *writer)
{
    begin(writer, "soc");
    cells(writer, 2, 2);
    text(writer, "compatible", "simple-bus");
    flag(writer, "ranges");
    finisher(writer);
    rtc(writer);
    clint(writer);
    plic(writer);
    uart(writer);
    end(writer);
}

/* How the finisher is used: a value that it takes. */
static void finisher_use(struct writer *writer, const char *name, const char *compatible, uint32_t value)
{
    if (!writer->config->devices.finisher)
        return;
    begin(writer, name);
    text(writer, "compatible", compatible);
    cell(writer, "regmap", finisher_handle(writer));
    cell(writer, "offset", 0);
    cell(writer, "value", value);
    end(writer);
}

static void chosen(struct writer *writer, const char *bootargs)
{
    char path[64];
    begin(writer, "chosen");
    if (writer->config->devices.uart) {
        (void)snprintf(path, sizeof path, "/soc/serial@%" PRIx64, writer->config->devices.uart->base);
        text(writer, "stdout-path", path);
    }
    if (bootargs)
        text(writer, "bootargs", bootargs);
    end(writer);
}

static void root(struct writer *writer, const char *bootargs)
{
    begin(writer, "");
    cells(writer, 2, 2);
    text(writer, "compatible", "riscv-virtio");
    text(writer, "model", "undercroft");
    chosen(writer, bootargs);
    begin_at(writer, "memory", writer->config->memory->base);
    text(writer, "device_type", "memory");
    reg(writer, writer->config->memory->base, writer->config->memory->size);
    end(writer);
    cpus(writer);
    soc(writer);
    finisher_use(writer, "poweroff", "syscon-poweroff", 0x5555);
    finisher_use(writer, "reboot", "syscon-reboot", 0x7777);
    end(writer);
}

/* Writes the writer to blob[room] and returns libfdt's status. */
static int build(const struct machine_config *config, const char *bootargs, void *blob, int room)
{
    struct writer writer = {.blob = blob, .config = config};
    writer.status = fdt_create(blob, room);
    if (!writer.status)
        writer.status = fdt_finish_reservemap(blob);
    root(&writer, bootargs);
    return writer.status ? writer.status : fdt_finish(blob);
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
